"""Anatomy from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from tests.run.commands import COLUMNS, people
from tests.run.grouped import anatomy_job, halves


def frame() -> pd.DataFrame:
    """Return the people with their age as a number and their diagnosis as a category."""
    people_frame = pd.DataFrame(people(), columns=list(COLUMNS)).astype({"age": "int64"})
    return people_frame.astype({"diagnosis": "category"})


def config(folder: Path, **settings: Any) -> dict[str, Any]:
    """Return the config of the job without its input."""
    own = anatomy_job(folder, **settings).config
    return {key: value for key, value in own.items() if key != "input"}


def test_a_frame_becomes_two(tmp_path: Path) -> None:
    result = an.anonymize(frame(), config(tmp_path, utility=["query-error"]))
    assert list(result.data.columns) == ["age", "zip", "sex", "note", "group"]
    assert result.sensitive_table is not None
    assert list(result.sensitive_table.columns) == ["group", "diagnosis", "count"]
    assert isinstance(result.sensitive_table["diagnosis"].dtype, pd.CategoricalDtype)
    sizes = result.data.groupby("group").size()
    assert sizes.equals(result.sensitive_table.groupby("group")["count"].sum().rename(None))
    report = result.report.to_dict()
    assert report["release"]["sensitive_table"] == {"path": None, "sha256": None, "rows": 60}
    assert report["utility"][0]["value"] < report["utility"][0]["suppressed"]


def test_a_frame_gives_what_a_file_gives(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    assert job.run().code == 0
    result = an.anonymize(frame(), config(tmp_path))
    assert result.sensitive_table is not None
    for own, path in zip((result.data, result.sensitive_table), halves(job), strict=True):
        assert own.to_csv(index=False) == path.read_text()


def test_a_single_table_has_no_second(tmp_path: Path) -> None:
    own = config(tmp_path, algorithm={"name": "mondrian"})
    assert an.anonymize(frame(), own).sensitive_table is None


@pytest.mark.slow
def test_frames_are_checked_and_attacked_together(tmp_path: Path) -> None:
    own = config(tmp_path)
    result = an.anonymize(frame(), own)
    measured = an.check(
        result.data, quasi_identifiers=["age", "zip", "sex"], sensitive_table=result.sensitive_table
    )
    assert dict(zip(measured["model"], measured["measured"], strict=True))["l-diversity"] == 3
    found = an.attack(result.data, frame(), own, sensitive_table=result.sensitive_table)
    assert {"homogeneity", "linkage", "definetti"} <= set(found["attack"])
    with pytest.raises(an.InputError, match="leave the second release out"):
        an.attack(result.data, None, own, second_df=frame(), sensitive_table=result.sensitive_table)


def test_one_half_alone_is_refused(tmp_path: Path) -> None:
    own = config(tmp_path)
    result = an.anonymize(frame(), own)
    assert result.sensitive_table is not None
    joined = result.data.merge(result.sensitive_table, on="group")
    for half in (result.data, joined):
        for others in ({}, {"second_df": frame()}):
            with pytest.raises(
                an.InputError, match=r"one of the two tables of an Anatomy release.*sensitive_table="
            ):
                an.attack(half, frame(), own, **others)
    with pytest.raises(an.InputError, match="one of the two tables of an Anatomy release"):
        an.attack(frame(), None, own, second_df=result.data)
    whole = frame().assign(group=1)
    assert len(an.attack(whole, frame(), own))
