"""The table of what goes with what: every feature has its row, and what a plug-in says decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from anonymizer.config.entries import ENTRIES
from anonymizer.config.features import ALGORITHM, METHOD, TABLE, conflicts, suitable_algorithms
from anonymizer.config.load import load_config
from anonymizer.config.search import OBJECTIVE
from anonymizer.config.section import dotted
from anonymizer.data.relation import Engine, EngineFolder, Relation
from anonymizer.errors import ConfigError
from anonymizer.model.feature_rows import Cell, Side, Stage
from anonymizer.model.features import Feature, Limit
from anonymizer.model.recoding import Outcome
from anonymizer.plan.engine import engine_options
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchAlgorithm, SearchProblem

CONFIG: dict[str, Any] = {
    "input": {"person": "pid"},
    "attributes": {"age": "quasi-identifier", "ill": "sensitive", "pid": "identifier"},
    "constraints": [{"model": "k-anonymity", "k": 2}],
}


class Foreign(SearchAlgorithm):
    """An algorithm of another distribution."""

    name = "foreign"

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return nothing: only configs are read here."""
        raise NotImplementedError


@pytest.fixture
def foreign() -> Iterator[type[Foreign]]:
    yield SEARCH_ALGORITHMS.add(Foreign)
    SEARCH_ALGORITHMS.remove("foreign")


def refused(config: dict[str, Any], *overrides: str) -> list[str]:
    try:
        load_config(config, overrides)
    except ConfigError as error:
        return [f"{each.where}: {each.what}" for each in error.problems]
    return []


def test_every_feature_has_one_row() -> None:
    rows = [row.feature for group in TABLE.groups for row in group]
    assert len(rows) == len(set(rows))
    # What a constraint alone is asked for has rows of its own.
    assert {*rows, *ENTRIES.rows, *OBJECTIVE.rows} == set(Feature)


def test_what_a_row_asks_for_somebody_supports() -> None:
    for row in TABLE.rows.values():
        for cell in row.cells:
            if isinstance(cell, Cell) and isinstance(cell.by, Side) and cell.by in (ALGORITHM, METHOD):
                assert cell.by.able(row.feature), row.feature


def test_a_plug_in_is_refused_with_what_it_does_not_know(
    foreign: type[Foreign], monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = "algorithm.name: foreign counts records only; accepted: auto, lattice, local, "
    (found,) = refused(CONFIG, "algorithm=foreign")
    assert found.startswith(counting)
    monkeypatch.setattr(foreign, "supports", frozenset({Feature.CLASSES, Feature.UNITS}))
    assert refused(CONFIG, "algorithm=foreign") == []
    (found,) = refused(CONFIG, "algorithm=foreign", "suppression.whole=person")
    assert found.startswith("suppression.whole: algorithm foreign can suppress some records of a person")


def test_a_plug_in_is_named_where_it_is_able(foreign: type[Foreign], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "supports", frozenset({Feature.WHOLE}))
    (found,) = refused(CONFIG, "algorithm=local", "suppression.whole=person")
    assert "one of auto, foreign, lattice, mondrian, with" in found


def test_parameters_may_rule_a_feature_out(foreign: type[Foreign], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(foreign, "supports", frozenset({Feature.CLASSES, Feature.UNITS, Feature.UNIT_LIMIT}))
    limits = {Feature.UNIT_LIMIT: Limit("with {this}, {unit}s are not counted", "set that")}
    monkeypatch.setattr(foreign, "limits", limits)
    found = refused(CONFIG, "algorithm=foreign", "suppression.unit=person")
    assert found == ["suppression.unit: with {this}, persons are not counted; set that"]


def test_algorithms_of_a_comparison_support_what_the_config_uses() -> None:
    scenario = {"known": ["age"], "models": [{"model": "k-anonymity", "k": 2, "unit": "record"}]}
    config = load_config({**CONFIG, "scenarios": {"friend": scenario}})
    assert "anatomy" not in suitable_algorithms(config)
    config = load_config(CONFIG, ["suppression.whole=person"])
    assert suitable_algorithms(config) == ["auto", "lattice", "mondrian"]


class Elsewhere(Engine):
    """An engine of another distribution that writes anything in any order."""

    name = "elsewhere"
    supports = frozenset({Feature.SHUFFLED, Feature.TEXT_INPUT, Feature.TEXT_OUTPUT})

    def has_option(self, name: str) -> bool:
        """Return that it has none."""
        return False

    def open(self, *_: object) -> Relation:  # type: ignore[override]
        """Open nothing: only configs are read here."""
        raise NotImplementedError

    def folder(self, *_: object, **__: object) -> EngineFolder:  # type: ignore[override]
        """Write nothing."""
        raise NotImplementedError


def test_an_engine_says_what_it_supports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizer.config.search.engine_names", lambda: ["elsewhere"])
    monkeypatch.setattr("anonymizer.config.features.engine_named", lambda _: Elsewhere())
    keys = ["engine.name=elsewhere", "output.order=shuffled", "input.path=people.csv"]
    config = load_config(CONFIG, [*keys, "output.decimal=','"])
    found = [(dotted(each.path), each.what) for each in conflicts(config, Stage.START)]
    assert found == [("output.decimal", "',': accepted with elsewhere: that of the input")]
    (refusal,) = refused(CONFIG, *keys, "suppression.whole=person")
    assert refusal == (
        "engine.name: engine elsewhere does not support suppression.whole; accepted: auto, memory, duckdb; "
        "or remove suppression.whole"
    )


@pytest.mark.parametrize(
    ("path", "refused_by"),
    [
        ("people.sav", True),
        ("people.DTA", True),
        ("hdfs://host/people.xlsx", True),
        ("people.jsonl.gz", True),
        ("people.sas7bdat", True),
        ("people.feather", True),
        ("people.parquet", False),
        ("folder", False),
        ("people.v2", False),
    ],
)
def test_other_engines_read_no_files_of_an_office(
    path: str, refused_by: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anonymizer.config.search.engine_names", lambda: ["elsewhere"])
    monkeypatch.setattr("anonymizer.config.features.engine_named", lambda _: Elsewhere())
    config = load_config(CONFIG, ["engine.name=elsewhere", f"input.path={path}"])
    found = [each.what for each in conflicts(config, Stage.START) if each.path == ("input", "path")]
    what = f"{path}: elsewhere reads Parquet, a file or a folder; convert it, or set engine.name: duckdb"
    assert (what in found) is refused_by
    assert any(each.startswith(path) and each != what for each in found) is path.startswith("hdfs")


def test_other_engines_read_no_formats_of_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizer.config.search.engine_names", lambda: ["elsewhere"])
    monkeypatch.setattr("anonymizer.config.features.engine_named", lambda _: Elsewhere())
    monkeypatch.setattr("anonymizer.data.open.input_suffixes", lambda: (".fixed",))
    config = load_config(CONFIG, ["engine.name=elsewhere", "input.path=people.fixed"])
    (found,) = conflicts(config, Stage.START)
    assert found.what.startswith("people.fixed: elsewhere reads Parquet")


def test_two_tables_are_not_written_into_a_database() -> None:
    output = {"database": "people.duckdb", "table": "released"}
    config = load_config({**CONFIG, "input": {}, "algorithm": "anatomy", "output": output})
    with pytest.raises(ConfigError) as error:
        engine_options(config)
    assert [str(each) for each in error.value.problems] == [
        "output.table: algorithm anatomy releases two tables; set output.path instead, to write them as files"
    ]


@pytest.mark.parametrize(
    ("stage", "key", "what"),
    [
        (
            Stage.STORED,
            "suppression.whole=person",
            "ROWS, so the run is out of core and cannot suppress whole",
        ),
        (
            Stage.STORED,
            "suppression.method=records",
            "DATA: with suppression.method records, constraints can",
        ),
        (
            Stage.STORED,
            "algorithm=local",
            "DATA: algorithm local can count persons and other units in memory",
        ),
        (Stage.SEARCH, "algorithm=local", "algorithm local (accepted: auto, lattice, mondrian)"),
        (Stage.SEARCH, "suppression.method=records", "suppression.method records (accepted: classes)"),
        (Stage.SEARCH, "utility=[query-error]", "utility, which compares the release with the original"),
        (Stage.SEARCH, "attacks=[definetti]", "attacks[0]: definetti of original values (accepted: features"),
        (Stage.BEYOND, "objective.unit=person", "ROWS, so the run is out of core, where losses cannot count"),
        (Stage.COMPARED, "input.control=others.csv", "ROWS, so the run is out of core and cannot compare"),
    ],
)
def test_what_needs_records_in_memory(stage: Stage, key: str, what: str) -> None:
    words = {"rows": "ROWS", "input": "DATA"}
    assert list(conflicts(load_config(CONFIG), stage, words)) == []
    (found,) = conflicts(load_config(CONFIG, [key]), stage, words)
    assert found.what.startswith(what)


@pytest.mark.parametrize(
    ("model", "unit", "what"),
    [
        ({"model": "k-map", "k": 2}, "household", "k-map counts records only; set unit: record"),
        (
            {"model": "household-risk", "max": 0.5},
            "household",
            "household-risk counts records only; set unit:",
        ),
        (
            {"model": "journalist-risk", "max": 0.5, "at": "mean"},
            "household",
            "journalist-risk with at: mean",
        ),
        (
            {"model": "belief", "max": 0.5},
            "household",
            "belief with attack: definetti counts records only; set",
        ),
        (
            {"model": "vulnerability", "max": 0.5},
            "household",
            "vulnerability cannot count households; set unit:",
        ),
    ],
)
def test_a_model_is_refused_with_units_that_it_does_not_count(
    model: dict[str, Any], unit: str, what: str
) -> None:
    config = {**CONFIG, "input": {"household": "pid"}, "constraints": [{**model, "unit": unit}]}
    (found,) = refused(config)
    assert found.startswith(f"constraints[0].unit: {what}")
