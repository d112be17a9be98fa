"""``an.compare``: the same numbers as the command, from a DataFrame."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import anonymizer as an
from tests.run.commands import COLUMNS, Job, people


def test_the_numbers_are_those_of_the_single_runs(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    frame = pd.DataFrame(people(), columns=list(COLUMNS)).assign(age=lambda own: own["age"].astype("int64"))
    before = frame.copy()
    found = an.compare(frame, job.file, algorithms=["lattice", "mondrian"], vary={"constraints.0.k": [3, 61]})
    pd.testing.assert_frame_equal(frame, before)
    assert found["algorithm"].tolist() == ["lattice", "lattice", "mondrian", "mondrian"]
    assert found["constraints.0.k"].tolist() == ["3", "61"] * 2
    assert found["status"].tolist() == ["satisfied", "infeasible"] * 2
    for place, name in ((0, "lattice"), (2, "mondrian")):
        config = an.load_config(job.file, [f"algorithm={{name: {name}}}", "attacks=[vulnerability, linkage]"])
        report = an.anonymize(frame, config).report
        assert found.loc[place, "loss"] == report["loss"]["loss"]
        assert found.loc[place, "linkage nearest euclidean success"] == report["attacks"][2]["success"]
    assert found["unbeaten"].dtype == bool
    assert found["unbeaten"].any()
    gains = {
        name: (found[f"{name} success"] - found[f"{name} baseline"]).max()
        for name in (column.removesuffix(" success") for column in found if column.endswith(" success"))
    }
    # The k of the config limits re-identification only.
    limited = {name: gain for name, gain in gains.items() if "attribute-inference" not in name}
    assert gains[found.attrs["attack"]] == max(limited.values())
    assert isinstance(found.attrs["headline"], str)


def test_what_no_run_can_use_is_an_error_of_the_input(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    with pytest.raises(an.InputError, match="age"):
        an.compare(pd.DataFrame({"x": [1, 2]}), job.file, vary={"constraints.0.k": [1, 2]})
