"""Drafts for DataFrames, and releases by the names of quasi-identifiers alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from tests.helpers.messages import exchange
from tests.run.commands import COLUMNS, people


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Return made-up people, with a column that init takes for a quasi-identifier."""
    made = pd.DataFrame(people(200), columns=list(COLUMNS))
    return made.assign(age=made["age"].astype("int64"))


def test_a_draft_is_a_mapping_to_edit_and_to_run(frame: pd.DataFrame) -> None:
    draft = an.init(frame)
    assert list(draft["attributes"]) == list(COLUMNS)
    assert draft["constraints"][0] == {"model": "k-anonymity", "k": 5}
    assert an.anonymize(frame, draft).report.status == "satisfied"
    draft["attributes"]["zip"] = "insensitive"
    draft["constraints"][0]["k"] = 3
    draft["constraints"].append({"model": "alpha-k-anonymity", "alpha": 0.9, "k": 2})
    report = an.anonymize(frame, draft).report
    assert report["constraints"][0]["measured"] >= 3
    assert report["attributes"]["zip"]["role"] == "insensitive"


def test_a_draft_says_why(frame: pd.DataFrame) -> None:
    columns = an.init(frame).columns
    assert list(columns.index) == list(COLUMNS)
    assert list(columns.columns) == ["role", "reason", "doubtful", "distinct", "missing"]
    assert columns.loc["name", "role"] == "identifier"
    assert columns.loc["diagnosis", ["role", "distinct"]].tolist() == ["sensitive", 4]
    assert columns["reason"].str.len().min() > 0


def test_a_draft_is_yaml_with_its_reasons(frame: pd.DataFrame, tmp_path: Path) -> None:
    draft = an.init(frame)
    draft["attributes"]["note"] = {"role": "identifier"}
    draft["seed"] = 7
    text = draft.to_yaml()
    assert yaml.safe_load(text) == dict(draft)
    assert text.count("  # ") >= len(COLUMNS)
    path = tmp_path / "draft.yaml"
    path.write_text(text, encoding="utf-8")
    assert an.load_config(path) == an.load_config(draft)


def test_the_same_frame_gives_the_same_draft(frame: pd.DataFrame) -> None:
    assert an.init(frame).to_yaml() == an.init(frame.copy()).to_yaml()


def test_roles_may_be_given(frame: pd.DataFrame) -> None:
    draft = an.init(frame, qi=["age", "note"], sensitive=["zip"])
    roles = {name: own["role"] for name, own in draft["attributes"].items()}
    assert [roles[name] for name in ("age", "note", "zip")] == ["quasi-identifier"] * 2 + ["sensitive"]
    assert {"model": "l-diversity", "l": 3, "attribute": "zip"} in draft["constraints"]


@pytest.mark.defaults
def test_names_are_enough(frame: pd.DataFrame) -> None:
    before = frame.copy()
    result = an.anonymize(frame, qi=["age", "sex"], sensitive=["diagnosis"], k=7)
    constraints = {each["model"]: each for each in result.report["constraints"]}
    assert constraints["k-anonymity"]["parameters"] == {"k": 7}
    assert constraints["k-anonymity"]["measured"] >= 7
    assert constraints["l-diversity"]["attribute"] == "diagnosis"
    assert [each["attack"] for each in result.report["attacks"]]
    pd.testing.assert_frame_equal(frame, before)


def test_columns_that_were_not_named_are_neither_lost_nor_leaked_in_silence(frame: pd.DataFrame) -> None:
    result = an.anonymize(frame, qi=["age"], sensitive=["diagnosis"])
    roles = {name: each["role"] for name, each in result.report["attributes"].items()}
    said = " ".join(result.report["warnings"])
    for name in ("name", "zip", "sex", "note"):
        assert f"{name!r}" in said
        assert (name in result.data.columns) == (roles[name] != "identifier")
    assert "columns that you did not name are left out (identifier, as init proposes): 'name'" in said
    assert "'age'" not in said
    # What a person could be found by is generalized although nobody named it.
    assert set(result.data["zip"]).isdisjoint(frame["zip"])


def test_without_k_it_is_five(frame: pd.DataFrame) -> None:
    constraints = an.anonymize(frame, qi=["age", "sex"]).report["constraints"]
    assert constraints[0]["parameters"] == {"k": 5}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"sensitive": ["diagnosis"]},
        {"k": 3},
        {"qi": "age"},
        {"qi": ["age", "zipp"]},
        {"qi": ["age"], "sensitive": ["age"]},
        {"qi": ["age"], "k": 0},
        {"qi": ["age"], "k": "five"},
        {"config": {"attributes": {}}, "qi": ["age"]},
        {"config": {"attributes": {}}, "k": 5},
    ],
    ids=str,
)
def test_wrong_calls(frame: pd.DataFrame, given: dict[str, Any], message: SnapshotAssertion) -> None:
    with pytest.raises(an.InputError) as caught:
        an.anonymize(frame, **given)
    assert exchange(given, caught.value) == message
