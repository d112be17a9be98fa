"""What the words of ARX mean in a config; whatever means something else, or nothing, is named."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.errors import HierarchyError
from anonymizer.model.table import ValueType
from anonymizer.profile.carried import PLACEHOLDER, Carried, Notes, carry_over, kind_of, strptime_format
from anonymizer.profile.carried_columns import file_names, stored_tree
from anonymizer.profile.deid import Project, ProjectColumn, Selection
from anonymizer.profile.hierarchy_files import hierarchy_files
from tests.profile.deid_files import INSENSITIVE, QI, SENSITIVE

COLUMNS = (
    ProjectColumn("age", QI, "Integer", hierarchy="input/hierarchies/age.csv"),
    ProjectColumn("illness", SENSITIVE, hierarchy="input/hierarchies/illness.csv"),
    ProjectColumn("grade", SENSITIVE, "Ordinal", "low\nhigh"),
    ProjectColumn("note", INSENSITIVE),
)
SELECTION = Selection(np.array([True, False, True]))


def carried(*models: str, **further: Any) -> tuple[Carried, Notes]:
    """Carry over a project with these models."""
    notes = Notes()
    own: dict[str, Any] = {"metric": "Loss (0.5/1.0/1.0)", "limit": Decimal(0), "suppressed": (QI,)}
    project = Project(Path("a.deid"), "3.9.2", "", ";", COLUMNS, models, **{**own, **further})
    return carry_over(project, notes), notes


ILLNESS = " for attribute 'illness'"
MODELS: dict[str, list[dict[str, Any]]] = {
    "5-anonymity": [{"model": "k-anonymity", "k": 5}],
    f"distinct-2-diversity{ILLNESS}": [{"model": "l-diversity", "l": 2, "attribute": "illness"}],
    f"shannon-entropy-2.50-diversity{ILLNESS}": [
        {"model": "entropy-l-diversity", "l": Decimal("2.5"), "attribute": "illness"}
    ],
    f"entropy-3.0-diversity{ILLNESS}": [
        {"model": "entropy-l-diversity", "l": Decimal(3), "attribute": "illness"}
    ],
    f"recursive-(4.0,3)-diversity{ILLNESS}": [
        {"model": "recursive-cl-diversity", "c": Decimal(4), "l": 3, "attribute": "illness"}
    ],
    "recursive-(4.0,3)-diversity": [{"model": "recursive-cl-diversity", "c": Decimal(4), "l": 3}],
    f"0.2-closeness with equal ground-distance{ILLNESS}": [
        {"model": "t-closeness", "t": Decimal("0.2"), "distance": "equal", "attribute": "illness"}
    ],
    f"0.2-closeness with hierarchical distance{ILLNESS}": [
        {"model": "t-closeness", "t": Decimal("0.2"), "distance": "hierarchical", "attribute": "illness"}
    ],
    f"0.2-closeness with ordered distance{ILLNESS}": [
        {"model": "t-closeness", "t": Decimal("0.2"), "distance": "ordered", "attribute": "illness"}
    ],
    f"1.0-disclosure privacy{ILLNESS}": [
        {
            "model": "delta-disclosure",
            "delta": Decimal("0.693147180560"),
            "absent": "ignored",
            "attribute": "illness",
        }
    ],
    f"basic-1.5-likeness{ILLNESS}": [
        {"model": "basic-beta-likeness", "beta": Decimal("1.5"), "attribute": "illness"}
    ],
    f"enhanced-1.0-likeness{ILLNESS}": [
        {"model": "enhanced-beta-likeness", "beta": Decimal(1), "attribute": "illness"}
    ],
    "(0.05)-avg-reidentification-risk": [{"model": "prosecutor-risk", "max": Decimal("0.05"), "at": "mean"}],
    "(<0.05)-avg-reidentification-risk": [{"model": "prosecutor-risk", "max": Decimal("0.05"), "at": "mean"}],
    "(0.05, 0.2 (0.21), 0.01)-avg-reidentification-risk": [
        {"model": "prosecutor-risk", "max": Decimal("0.05"), "at": "mean"},
        {"model": "prosecutor-risk", "max": Decimal("0.01"), "at": {"share-above": Decimal("0.21")}},
    ],
    "(0.05, 0.2 (0.2), 0.0)-avg-reidentification-risk": [
        {"model": "prosecutor-risk", "max": Decimal("0.05"), "at": "mean"},
        {"model": "prosecutor-risk", "max": Decimal("0.2"), "at": "highest"},
    ],
    "(0.1)-sample-uniqueness": [{"model": "k-anonymity", "k": 2}],
    "(<0.1)-sample-uniques": [{"model": "k-anonymity", "k": 2}],
    "(1.0E-4)-population-uniqueness (dankar)": [{"model": "k-anonymity", "k": 2}],
    "(<1.0E-4-population-uniques (dankar)": [{"model": "k-anonymity", "k": 2}],
    "(6)-map estimated as (3)-anonymity (Poisson)": [{"model": "k-anonymity", "k": 3}],
    "(6)-map estimated as (unknown)-anonymity (Poisson)": [{"model": "k-anonymity", "k": 6}],
}
AS_IN_ARX = ("anonymity", "distinct", "shannon", "entropy-3", "recursive", "0.2-", "basic", "enhanced")


@pytest.mark.parametrize("model", MODELS)
def test_models(model: str) -> None:
    found, notes = carried(model)
    assert [dict(each.settings) for each in found.constraints] == MODELS[model]
    assert {each.model for each in found.constraints} == {model}
    assert not notes.left_out
    same = model.startswith(AS_IN_ARX) or model == "5-anonymity"
    assert [model in line for line in notes.changed] == ([] if same else [True])
    for each in found.constraints:
        ConstraintSettings.model_validate(each.settings)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("(1.0,1.0E-5)-DP", "has no counterpart here"),
        ("profitability (prosecutor)[benefit=1200.0, loss=300.0]", "has no counterpart here"),
        ("D_PRESENCE", "has no counterpart here"),
        ("distinct-2-diversity for attribute 'note'", "'note' is not sensitive"),
        ("distinct-2-diversity for attribute 'nobody'", "'nobody' is not sensitive"),
        ("0.2-closeness with hierarchical ground-distance for attribute 'grade'", "no hierarchy"),
        (f"1.2-closeness with equal ground-distance{ILLNESS}", "accepted: "),
        ("(0.0,0.2)-presence", "all records are selected"),
        ("99999999999999999999-anonymity", "has no counterpart here"),
    ],
)
def test_models_that_are_left_out(model: str, reason: str) -> None:
    found, notes = carried(model)
    assert [each.settings for each in found.constraints] == [PLACEHOLDER]
    (told,) = notes.left_out
    assert told.startswith(f"privacy model {model}: ")
    assert reason in told
    assert "k-anonymity with k = 5 stands in" in notes.changed[0]


def test_a_selection_is_a_sample_of_its_population() -> None:
    found, notes = carried(
        "(6)-map", "(0.0,0.2)-presence", "Inclusion", selection=SELECTION, limit=Decimal(1)
    )
    assert [each.settings["model"] for each in found.constraints] == ["k-map", "delta-presence"]
    assert (found.selected, found.population, found.keep_rows) == (True, True, False)
    assert any("keep_rows does not go with" in line for line in notes.changed)
    found, notes = carried("5-anonymity", "Inclusion", selection=SELECTION)
    assert (found.selected, found.population) == (True, False)
    assert notes.changed == ["privacy model Inclusion: data.csv has the selected records, and no others"]


def test_a_selection_without_a_model_or_unread() -> None:
    found, notes = carried("5-anonymity", selection=SELECTION)
    assert not found.selected
    assert "selection of 2 of 3 records: no model of the project uses it" in notes.changed[0]
    found, notes = carried("5-anonymity", "Inclusion", objects=False)
    assert "ALL its records are taken" in notes.left_out[0]
    found, notes = carried("(6)-map", objects=False)
    assert "the selection of records cannot be read" in notes.left_out[0]
    found, notes = carried("(6)-map")
    assert found.constraints[0].settings == {"model": "k-anonymity", "k": 6}


@pytest.mark.parametrize(
    ("metric", "aggregate", "objective", "changed", "left_out"),
    [
        ("Loss (0.5/1.0/1.0)", "GEOMETRIC_MEAN", {"metric": "loss", "aggregate": "geometric-mean"}, 0, 0),
        ("Loss", "", {"metric": "loss"}, 0, 0),
        ("Loss (0.2/0.4/1.0)", "MAXIMUM", {"metric": "loss", "aggregate": "maximum"}, 0, 1),
        ("Loss (0.5/1.0/1.0)", "RANK", {"metric": "loss", "aggregate": "arithmetic-mean"}, 1, 0),
        ("Monotonic discernability (DM*)", "", {"metric": "discernibility"}, 1, 0),
        ("Non-monotonic discernability", "", {"metric": "discernibility"}, 0, 0),
        ("Average equivalence class size", "", {"metric": "average-class-size"}, 0, 0),
        ("Height", "SUM", {"metric": "height"}, 0, 0),
        ("Non-monotonic precision", "", {"metric": "precision"}, 0, 0),
        ("MetricNMEntropy", "", {"metric": "nonuniform-entropy"}, 0, 0),
        ("Normalized non-uniform entropy", "", {"metric": "nonuniform-entropy"}, 1, 0),
        ("EntropyBasedInformationLoss", "", {"metric": "loss"}, 0, 1),
        ("Classification accuracy", "", {"metric": "loss"}, 0, 1),
        ("", "", {"metric": "loss"}, 0, 1),
    ],
)
def test_quality_measures(
    metric: str, aggregate: str, objective: dict[str, str], changed: int, left_out: int
) -> None:
    found, notes = carried("5-anonymity", metric=metric, aggregate=aggregate)
    assert found.objective == objective
    assert (len(notes.changed), len(notes.left_out)) == (changed, left_out)


def test_suppression() -> None:
    found, notes = carried("5-anonymity", limit=Decimal("1.0"), suppressed=(QI, SENSITIVE))
    assert (found.keep_rows, str(found.limit)) == (True, "1")
    assert "keep_rows" in notes.changed[0]
    assert "suppression of sensitive columns" in notes.left_out[0]
    assert not carried("5-anonymity")[0].keep_rows


def test_suppression_can_satisfy_a_highest_risk() -> None:
    found, notes = carried("(0.05, 0.2 (0.21), 0.01)-avg-reidentification-risk", limit=Decimal("0.1"))
    assert found.constraints[1].settings == {
        "model": "prosecutor-risk",
        "max": Decimal("0.21"),
        "at": "highest",
    }
    assert "stricter: no record may have a risk above 0.21, instead of a share of 0.01" in notes.changed[0]


def test_models_with_a_reference_take_that_of_the_input() -> None:
    assert carried(f"0.2-closeness with equal ground-distance{ILLNESS}")[0].reference == "input"
    assert carried("5-anonymity")[0].reference is None


@pytest.mark.parametrize(
    ("pattern", "form"),
    [
        ("dd.MM.yyyy", "%d.%m.%Y"),
        ("d/M/yy", "%d/%m/%y"),
        ("yyyy-MM-dd'T'HH:mm:ss'Z'", "%Y-%m-%dT%H:%M:%SZ"),
        ("yyyy-MM-dd hh:mm:ss", "%Y-%m-%d %H:%M:%S"),
        ("MM/dd/yyyy hh:mm:ss a", "%m/%d/%Y %I:%M:%S %p"),
        ("EEE, dd MMM yyyy HH:mm:ss zzz", "%a, %d %b %Y %H:%M:%S %Z"),
        ("d ''MMMM'' yyyy", "%d '%B' %Y"),
        ("yyyy", "%Y"),
        ("HH:mm:ss", None),
        ("yyyy-'W'ww", None),
        ("", None),
    ],
)
def test_formats_of_dates(pattern: str, form: str | None) -> None:
    assert strptime_format(pattern) == form


@given(st.text(st.sampled_from("yMdHhmsSaEzZ'.-/ %T"), max_size=20))
def test_every_pattern_is_a_format_or_none(pattern: str) -> None:
    form = strptime_format(pattern)
    assert form is None or "%" in form


def test_types() -> None:
    notes = Notes()
    kinds = {
        kind: kind_of(ProjectColumn("x", QI, kind, form), notes).type
        for kind, form in {
            "String": "",
            "Integer": "",
            "Decimal": "#,##0.00",
            "Ordinal": "low\nhigh",
            "Date/Time": "Default",
            "dd.MM.yyyy": "",
            "Date": "HH:mm",
        }.items()
    }
    assert kinds == {
        "String": ValueType.TEXT,
        "Integer": ValueType.INTEGER,
        "Decimal": ValueType.NUMBER,
        "Ordinal": ValueType.TEXT,
        "Date/Time": ValueType.DATE,
        "dd.MM.yyyy": ValueType.DATE,
        "Date": ValueType.TEXT,
    }
    order, times = notes.left_out
    assert "order of the 2 values of 'x' (Ordinal)" in order
    assert "format HH:mm of the dates of 'x': read as text" in times


# Hierarchies


def test_hierarchies_become_one_tree() -> None:
    whole = stored_tree('1;<5;*\n2;<5;*\n"9;";5+;*\n1;<5;*\n', ";")
    assert (whole.rows, whole.highest, whole.top) == (
        [["1", "<5", "*"], ["2", "<5", "*"], ["9;", "5+", "*"]],
        2,
        2,
    )
    assert not whole.mended
    rootless = stored_tree("1,<5\n9,5+\n", ",")
    assert (rootless.rows, rootless.highest, rootless.top) == ([["1", "<5", "*"], ["9", "5+", "*"]], 1, 2)
    assert "has no root" in rootless.mended[0]
    single = stored_tree("a\n\nb\n", ";")
    assert (single.rows, single.highest, single.top) == ([["a", "*"], ["", "*"], ["b", "*"]], 0, 1)
    empty = stored_tree("a;;*\n;;*\n", ";")
    assert empty.rows == [["a", "a", "*"], ["", "<empty>", "*"]]
    assert "without a label" in empty.mended[0]


@pytest.mark.parametrize(("source", "message"), [("", "is empty"), ("a;b\nc\n", "different lengths")])
def test_hierarchies_that_are_none(source: str, message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        stored_tree(source, ";")


@given(st.lists(st.text(max_size=12), max_size=8))
def test_names_of_files_stay_in_their_folder(names: list[str]) -> None:
    found = [*file_names(names)]
    assert len({each.casefold() for each in found}) == len(names)
    assert all(
        Path(each).name == each and not each.startswith(".") and each.endswith(".csv") for each in found
    )


def test_files_beside_the_data(tmp_path: Path) -> None:
    (tmp_path / "hierarchies").mkdir()
    for name in (
        "adult.csv",
        "age.csv",
        "adult_hierarchy_age.csv",
        "Adult_hierarchy_marital-status.CSV",
        "other_hierarchy_sex.csv",
        "hierarchies/sex.csv",
        "hierarchies/age.csv",
        "hierarchies/adult_hierarchy_zip.csv",
        "hierarchies/job.txt",
    ):
        (tmp_path / name).write_text("1,*\n")
    columns = ["age", "sex", "zip", "marital-status", "job", "race"]
    found = hierarchy_files(tmp_path / "adult.csv", "adult", columns)
    assert {column: path.relative_to(tmp_path).as_posix() for column, path in found.items()} == {
        "age": "adult_hierarchy_age.csv",
        "marital-status": "Adult_hierarchy_marital-status.CSV",
        "sex": "hierarchies/sex.csv",
        "zip": "hierarchies/adult_hierarchy_zip.csv",
    }
    assert not hierarchy_files(tmp_path / "second.csv", "second", ["sex", "race"])
