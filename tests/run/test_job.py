"""The stages of a job, each alone: prepare, search, publish, verify; and all from a source to a sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from anonymizer.config.load import load_config
from anonymizer.data.open import OPTIONS, open_file
from anonymizer.data.relation import Relation, ReleaseQuery
from anonymizer.errors import AuditFailed, DataError, Infeasible, InputError
from anonymizer.job.clock import UNWATCHED
from anonymizer.job.job import Job, publish
from anonymizer.job.report import input_facts
from anonymizer.job.search import SearchTask
from anonymizer.job.sinks import FrameSink
from anonymizer.job.source import frame_source
from anonymizer.job.table import prepare
from anonymizer.job.verify import shape_of, verify
from anonymizer.plan.plan import Plan, plan_of
from anonymizer.plan.prepared import Found
from tests.run.commands import COLUMNS, CONFIG, people, read_rows
from tests.run.tampering import TAMPERS, Tamper, rewrite

SHAPES: dict[str, dict[str, Any]] = {
    "one table": {},
    "a pair": {"algorithm": {"name": "anatomy"}, "constraints": [{"model": "l-diversity", "l": 2}]},
}


def plan(**sections: Any) -> Plan:
    """Return the plan of the small config with other sections."""
    kept = {key: deepcopy(each) for key, each in CONFIG.items() if key != "input"}
    return plan_of(load_config({**kept, **sections}))


@contextmanager
def records(folder: Path) -> Iterator[Relation]:
    """Open the made-up people."""
    path = folder / "people.csv"
    pd.DataFrame(people(), columns=list(COLUMNS)).to_csv(path, index=False)
    with open_file(path) as relation:
        yield relation


def found_by(asked: Plan, relation: Relation) -> Found:
    """Search."""
    return SearchTask(asked, relation, input_facts("people.csv", relation), UNWATCHED).find()


def test_a_plan_says_what_the_config_does() -> None:
    asked = plan(attacks=["vulnerability"], seed=7)
    assert asked.columns.released(COLUMNS) == list(COLUMNS[1:])
    assert [each.model.name for each in asked.goal.planned] == ["k-anonymity", "l-diversity"]
    assert (asked.goal.k, asked.goal.seed, asked.seed_is_default) == (3, 7, False)
    assert [each.name for each in asked.assessment.attacks] == ["vulnerability"]
    assert asked.columns.digest("sex") is None
    assert asked.columns.digest("age") != asked.columns.digest("zip")
    assert load_config(asked.shown).to_dict() == asked.shown


def test_prepare_tells_records_apart_by_what_is_known_of_them(tmp_path: Path) -> None:
    with records(tmp_path) as relation:
        prepared = prepare(plan(), relation)
    table = prepared.problem.table
    assert [each.name for each in table.quasi_identifiers] == ["age", "zip", "sex"]
    assert list(table.sensitive_names) == ["diagnosis"]
    assert (table.records, prepared.problem.limit, prepared.problem.k) == (60, 6, 3)
    assert table.combinations == len({row[1:5] for row in people()})


def test_prepare_refuses_a_column_without_a_role(tmp_path: Path) -> None:
    asked = plan()
    known = {name: each for name, each in asked.columns.items() if name != "note"}
    with records(tmp_path) as relation, pytest.raises(InputError, match=r"note.*has no role"):
        prepare(replace(asked, columns=replace(asked.columns, by_name=known)), relation)


def test_a_search_promises_what_its_recoding_has(tmp_path: Path) -> None:
    with records(tmp_path) as relation:
        promised = found_by(plan(), relation).promised
    assert promised.class_sizes.min() >= 3
    assert promised.class_sizes.sum() + promised.suppressed == 60
    assert promised.suppressed <= 6


def test_a_search_without_a_release_says_why(tmp_path: Path) -> None:
    too_much = [{"model": "k-anonymity", "k": 61}]
    with records(tmp_path) as relation, pytest.raises(Infeasible, match="k-anonymity"):
        found_by(plan(constraints=too_much), relation)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_published_alone_is_verified(shape: str, tmp_path: Path) -> None:
    asked = plan(**SHAPES[shape])
    with records(tmp_path) as relation:
        found, own = found_by(asked, relation), shape_of(asked, relation)
        paths = [tmp_path / f"{number}.csv" for number in range(len(own.columns))]
        for query, path in zip(own.queries(found, None), paths, strict=True):
            query.copy(path, ",")
        tables = [open_file(path) for path in paths]
        audited = verify(own, tables, found)
        for table in tables:
            table.close()
    assert audited.rows == 60 - found.promised.suppressed
    assert sorted(audited.sizes) == sorted(found.promised.class_sizes)
    assert all(each.satisfied for each in audited.measurements)
    assert (audited.second is None) == (len(paths) == 1)


@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.__name__)
def test_verification_alone_finds_a_tampered_file(tamper: Tamper, tmp_path: Path) -> None:
    asked, path = plan(), tmp_path / "release.csv"
    with records(tmp_path) as relation:
        found, own = found_by(asked, relation), shape_of(asked, relation)
        own.queries(found, None)[0].copy(path, ",")
        with open_file(path) as release:
            assert verify(own, [release], found).rows == release.rows
        rewrite(path, tamper)
        with open_file(path) as release, pytest.raises((AuditFailed, DataError), match=r"release\.csv"):
            verify(own, [release], found)


def test_verification_alone_finds_records_in_another_group(tmp_path: Path) -> None:
    asked = plan(**SHAPES["a pair"])
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    with records(tmp_path) as relation:
        found, own = found_by(asked, relation), shape_of(asked, relation)
        for query, path in zip(own.queries(found, None), (first, second), strict=True):
            query.copy(path, ",")
        group, rows = len(own.columns[0]) - 1, read_rows(first)
        other = next(row for row in rows if row[group] != rows[0][group] and row[:group] != rows[0][:group])
        rows[0][group], other[group] = other[group], rows[0][group]
        pd.DataFrame(rows, columns=list(own.columns[0])).to_csv(first, index=False)
        with open_file(first) as one, open_file(second) as two, pytest.raises(AuditFailed, match="buckets"):
            verify(own, [one, two], found)


class LyingSink(FrameSink):
    """Changes what it was given before it is read back."""

    def __init__(self, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
        super().__init__(OPTIONS)
        self._change = change

    def write(self, tables: Sequence[ReleaseQuery], source: Relation) -> None:
        """Write something else."""
        super().write(tables, source)
        self.frames = [self._change(each) for each in self.frames]


def test_publish_reads_back_what_the_sink_has() -> None:
    asked, frame = plan(), pd.DataFrame(people(), columns=list(COLUMNS))
    with frame_source(frame).open(OPTIONS) as relation:
        found, own = found_by(asked, relation), shape_of(asked, relation)
        assert publish(own, found, FrameSink(OPTIONS), UNWATCHED).audited.rows >= 54
        with pytest.raises(AuditFailed):
            publish(own, found, LyingSink(lambda made: made.iloc[1:]), UNWATCHED)


def test_a_job_goes_from_a_source_to_a_sink() -> None:
    source, sink = frame_source(pd.DataFrame(people(), columns=list(COLUMNS))), FrameSink(OPTIONS)
    done = Job(plan(), OPTIONS).run(source, sink)
    assert done.report["release"]["rows"] == len(sink.frames[0])
    assert list(sink.frames[0].columns) == list(COLUMNS[1:])
    with pytest.raises(AuditFailed):
        Job(plan(), OPTIONS).run(source, LyingSink(lambda made: made.assign(sex="F")))
