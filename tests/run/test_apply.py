"""Further records get the recoding of an earlier run, and its release goes on with them."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from tests.helpers.messages import exchange
from tests.run.applied import expected, first_run, go_on, multiset, published, released
from tests.run.commands import COLUMNS, Job, assert_message, call, people, snapshot


def report(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.slow
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), share=st.floats(0.3, 0.9), alone=st.booleans())
def test_the_first_recoding_and_nothing_else(
    seed: int, share: float, alone: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("applied")
    rows = people(240, seed)
    cut = int(share * len(rows))
    job = first_run(folder, rows[:cut])
    done = go_on(job, rows[cut:], "--set", "suppression.limit=1", batch="require" if alone else "warn")
    levels = report(folder / "first")["recoding"]["levels"]
    new = [published(row, levels) for row in rows[cut:]]
    before = released(folder / "first")
    wanted, suppressed = expected(before, new, 3, 2, alone=alone)
    if suppressed == len(new):
        assert done.code == 1
        return
    assert done.code == 0, done.err
    assert released(folder / "second") == wanted
    after = report(folder / "second")
    assert after["release"]["suppressed_records"] == suppressed
    assert (after["release"]["rows"], after["input"]["rows"]) == (len(wanted), len(new))
    assert after["applied"]["rows_before"] == len(before)
    assert after["applied"]["rows_added"] == len(new) - suppressed
    assert not alone or after["applied"]["difference"] is None
    assert call("audit", folder / "second" / "share" / "release.csv").code == 0


def test_the_order_of_the_records_changes_nothing(tmp_path: Path) -> None:
    rows = people(200, 5)
    job = first_run(tmp_path, rows[:120])
    assert go_on(job, rows[120:]).code == 0
    shuffled = rows[120:]
    Random(1).shuffle(shuffled)
    assert go_on(job, shuffled, to="again").code == 0
    for name in ("release.csv", "report.public.json"):
        one, other = (tmp_path / folder / "share" / name for folder in ("second", "again"))
        assert one.read_bytes() == other.read_bytes()


def test_an_applied_run_is_applied_again(tmp_path: Path) -> None:
    rows = people(260, 6)
    job = first_run(tmp_path, rows[:120])
    assert go_on(job, rows[120:200]).code == 0
    done = go_on(job, rows[200:], to="third", report="second/report.json")
    assert done.code == 0, done.err
    assert report(tmp_path / "third")["release"]["rows"] == 260
    assert report(tmp_path / "third")["applied"]["rows_before"] == 200
    recodings = [(tmp_path / name / "recoding.json").read_bytes() for name in ("first", "second", "third")]
    assert len(set(recodings)) == 1
    assert not multiset(released(tmp_path / "first")) - multiset(released(tmp_path / "third"))


def test_the_difference_is_told_to_the_steward_alone(tmp_path: Path) -> None:
    rows = people(200, 7)
    job = first_run(tmp_path, rows[:180])
    done = go_on(job, rows[180:], "--set", "suppression.limit=0.5")
    assert done.code == 0, done.err
    assert "isolate the new records" in done.out
    assert "k-anonymity k=3 measures" in done.out
    public = (tmp_path / "second" / "share" / "report.public.json").read_text(encoding="utf-8")
    told = json.loads(public)
    assert "isolate" not in public
    assert "first" not in public
    own = report(tmp_path / "second")["applied"]
    assert own["rows_added"] >= 3
    assert told["applied"] == {"rows_before": own["rows_before"], "rows_added": own["rows_added"]}
    assert "recoding_file" not in told
    assert "apply" not in told["config"]


def test_few_added_are_not_counted_in_public(tmp_path: Path) -> None:
    rows = people(200, 7)
    job = first_run(tmp_path, rows)
    assert go_on(job, rows[:2]).code == 0
    told = json.loads((tmp_path / "second" / "share" / "report.public.json").read_text(encoding="utf-8"))
    assert told["applied"] == {"rows_before": None, "rows_added": None}


def test_what_few_added_records_were_cannot_be_subtracted_in_public(tmp_path: Path) -> None:
    rows = people(200, 7)
    job = first_run(tmp_path, rows)
    assert go_on(job, [*rows[:2], *strangers(8)], "--set", "suppression.limit=0.9").code == 0
    told = json.loads((tmp_path / "second" / "share" / "report.public.json").read_text(encoding="utf-8"))
    assert told["applied"] == {"rows_before": None, "rows_added": None}
    assert told["release"]["suppressed_records"] == 8
    assert told["input"]["rows"] is None
    assert set(told["loss"].values()) == {None}
    assert told["search"]["objective"] is None


@pytest.mark.quick(1)
@pytest.mark.parametrize("metric", ["loss", "discernibility", "average-class-size"])
def test_sizes_of_classes_of_the_new_records_are_not_told_in_public(metric: str, tmp_path: Path) -> None:
    rows = people(200, 7)
    job = first_run(tmp_path, rows[:150], objective={"metric": metric})
    assert go_on(job, rows[150:], "--set", "suppression.limit=0.5").code == 0
    told = json.loads((tmp_path / "second" / "share" / "report.public.json").read_text(encoding="utf-8"))
    assert told["loss"]["discernibility"] is told["loss"]["average_class_size"] is None
    assert told["search"]["objective"] is None
    assert call("audit", tmp_path / "second" / "share" / "release.csv").code == 0


def strangers(number: int) -> list[tuple[str, ...]]:
    """Return records that no class of the small job has."""
    return [(f"stranger {i}", "75", "9999", "F", "flu", "note 1") for i in range(number)]


def test_a_refusal_says_what_would_work(tmp_path: Path, message: SnapshotAssertion) -> None:
    rows = people(200, 8)
    job = first_run(tmp_path, rows[:150])
    before = snapshot(tmp_path / "first")
    refused = done = go_on(job, [*rows[150:], *strangers(10)])
    assert done.code == 1
    assert exchange("10 records in no class of the earlier release", done.err.strip(), tmp_path) == message
    suggestion = done.err.split("--set ")[1].split()[0]
    assert suggestion.startswith("suppression.limit=0.")
    assert not (tmp_path / "second").exists()
    assert snapshot(tmp_path / "first") == before
    done = go_on(job, [*rows[150:], *strangers(10)], "--set", suggestion)
    assert done.code == 0, done.err
    assert f"{report(tmp_path / 'second')['release']['suppressed_records']} of 60" in refused.err


def test_otherwise_the_new_records_are_searched_alone(tmp_path: Path) -> None:
    rows = people(200, 8)
    job = first_run(tmp_path, rows[:100])
    new = [*rows[100:], *strangers(6), ("x", "75", "9999", "M", "asthma", "note 2")]
    assert go_on(job, new, "--set", "suppression.limit=0").code == 1
    done = go_on(job, new, "--set", "suppression.limit=0", otherwise="search")
    assert done.code == 0, done.err
    after = report(tmp_path / "second")
    assert after["applied"]["recoding"] == "searched"
    assert after["applied"]["difference"] is None
    assert after["recoding"]["levels"] != report(tmp_path / "first")["recoding"]["levels"]
    assert not multiset(released(tmp_path / "first")) - multiset(released(tmp_path / "second"))
    third = go_on(job, rows[:50], to="third", report="second/report.json")
    assert third.code == 0, third.err


def test_nothing_to_find_is_a_refusal_too(tmp_path: Path) -> None:
    job = first_run(tmp_path, people(100, 8))
    done = go_on(job, strangers(5), otherwise="search")
    assert done.code == 1
    assert "INFEASIBLE" in done.err
    assert not (tmp_path / "second").exists()


def test_earlier_records_are_never_lost_to_a_moved_reference(tmp_path: Path) -> None:
    rows = [("a", str(20 + i % 40), "0117", "F", ("flu", "cancer")[i % 2], "") for i in range(80)]
    job = first_run(tmp_path, rows, suppression={"limit": 0.5})
    job.constraints({"model": "k-anonymity", "k": 3}, {"model": "t-closeness", "t": 0.2})
    assert job.rows(rows).run("-o", tmp_path / "first", "--overwrite", "--quiet").code == 0
    new = [("b", str(20 + i % 40), "0228", "M", "stroke", "") for i in range(80)]
    done = go_on(job, new, "--set", "suppression.limit=1")
    assert done.code == 1
    assert "no new record would be released" in done.err
    assert not (tmp_path / "second").exists()


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["release.csv.gz", "release.parquet"])
def test_other_formats_go_on_as_well(name: str, tmp_path: Path) -> None:
    rows = people(200, 9)
    job = first_run(tmp_path, rows[:150], output={"path": name})
    done = go_on(job, rows[150:])
    assert done.code == 0, done.err
    assert call("audit", tmp_path / "second" / "share" / name).code == 0
    job.set("output", path="release.csv")
    assert go_on(job, rows[150:], to="third").code == 0
    rows_of = [report(tmp_path / folder)["release"]["rows"] for folder in ("second", "third")]
    assert rows_of == [len(released(tmp_path / "third"))] * 2


def test_nulls_and_empty_texts_of_one_column_go_on(tmp_path: Path) -> None:
    def parquet(notes: list[str | None]) -> bytes:
        columns = dict(zip(COLUMNS, zip(*people(len(notes), 9), strict=True), strict=True))
        table = pyarrow.table({**columns, "note": pyarrow.array(notes, pyarrow.string())})
        with pyarrow.BufferOutputStream() as stream:
            pyarrow.parquet.write_table(table, stream)
            return bytes(stream.getvalue())

    job = Job(tmp_path, data=parquet([None, "", ""] * 50))
    job.set("input", path="people.parquet").set("output", path="release.csv")
    assert job.run("-o", tmp_path / "first", "--quiet").code == 0
    job.data = parquet([None, ""] * 25)
    job.set("apply", report="first/report.json")
    done = job.run("-o", tmp_path / "second", "--quiet", "--set", "suppression.limit=0.5")
    assert done.code == 0, done.err


def test_equal_numbers_are_spelled_as_before(tmp_path: Path) -> None:
    rows = [
        ("a", f"{age}.0", "0117", "F", illness, "")
        for age in (20, 30)
        for illness in ("flu", "cancer", "flu")
    ]
    job = first_run(tmp_path, rows, output={"path": "release.csv"})
    job.attribute("age", role="quasi-identifier", type="number")
    assert job.rows(rows).run("-o", tmp_path / "first", "--overwrite", "--quiet").code == 0
    done = go_on(job, [("b", "20", "0117", "F", "asthma", ""), ("b", "3e1", "0117", "F", "asthma", "")])
    assert done.code == 0, done.err
    assert {row[0] for row in released(tmp_path / "second")} == {"20.0", "30.0"}


@pytest.mark.page
def test_the_page_tells_of_both(tmp_path: Path) -> None:
    rows = people(200, 3)
    job = first_run(tmp_path, rows[:150])
    assert go_on(job, rows[150:]).code == 0
    page = (tmp_path / "second" / "report.html").read_text(encoding="utf-8")
    assert f"{len(released(tmp_path / 'first')):,} records that were released before" in page
    assert "are those of the new records" in page


def test_the_earlier_release_is_not_replaced(tmp_path: Path) -> None:
    rows = people(200, 3)
    job = first_run(tmp_path, rows[:150])
    before = snapshot(tmp_path / "first")
    done = go_on(job, rows[150:], "--overwrite", to="first")
    assert done.code == 2
    assert_message(done.err, ("would be replaced by the output", "-o"))
    assert snapshot(tmp_path / "first") == before


def test_attacks_have_the_release_alone(tmp_path: Path) -> None:
    rows = people(200, 3)
    job = first_run(tmp_path, rows[:150])
    done = go_on(job, rows[150:], "--set", "attacks=[homogeneity, uniqueness]")
    assert done.code == 0, done.err
    after = report(tmp_path / "second")
    assert [each["records"] for each in after["attacks"]] == [after["release"]["rows"]] * 2
    done = go_on(job, rows[150:], "--set", "attacks=[linkage]", to="third")
    assert done.code == 2
    assert_message(done.err, ("linkage needs",))
    assert not (tmp_path / "third").exists()
