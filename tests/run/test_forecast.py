"""A draft with many quasi-identifiers says what its release will lose, and which columns cost most."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.commands.init import WIDEST
from anonymizer.config.load import load_config
from anonymizer.errors import InputError
from anonymizer.job import advice
from anonymizer.job.advice import MANY, Forecast
from anonymizer.job.source import input_path, open_as
from anonymizer.job.table import prepare
from anonymizer.plan.plan import plan_of
from tests.helpers.messages import exchange
from tests.run.commands import call


def wide(columns: int, records: int = 400) -> pd.DataFrame:
    """Return independent columns of two values, the first two of forty."""
    random = np.random.default_rng(3)
    values = {f"q{at:02}": random.integers(40 if at < 2 else 2, size=records) for at in range(columns)}
    return pd.DataFrame(values)


def drafted(folder: Path, frame: pd.DataFrame) -> tuple[str, Path]:
    """Write a table, draft its config with every column as a quasi-identifier, and return what it says."""
    frame.to_csv(folder / "data.csv", index=False)
    done = call("init", folder / "data.csv", "--qi", ",".join(frame.columns))
    assert done.code == 0, done.err
    return done.out, folder / "data.yaml"


@pytest.mark.slow
def test_a_wide_draft_warns_and_the_release_loses_as_much(tmp_path: Path, message: SnapshotAssertion) -> None:
    out, config = drafted(tmp_path, wide(14))
    (warning,) = [line for line in out.splitlines() if "quasi-identifiers is a lot" in line]
    assert exchange("14 columns, two of 40 values", warning) == message
    assert warning.removeprefix("Warning: ") in " ".join(
        config.read_text(encoding="utf-8").replace("\n#", "").split()
    )
    done = call("run", config, "-o", tmp_path / "out", "-q", "--set", "algorithm={name: mondrian}")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    loss = report["loss"]["loss"]
    assert f"{100 * loss:.0f} % of their detail" in warning


@pytest.mark.parametrize("columns", [MANY - 1, 4])
def test_a_narrow_draft_is_not_tried(tmp_path: Path, columns: int) -> None:
    out, config = drafted(tmp_path, wide(columns))
    assert "expect to lose" not in out + config.read_text(encoding="utf-8")


def test_a_draft_that_loses_little_is_silent(tmp_path: Path) -> None:
    out, _ = drafted(tmp_path, pd.DataFrame({f"q{at}": [1, 2] * 200 for at in range(12)}))
    assert "expect to lose" not in out


@pytest.mark.slow
def test_a_very_wide_draft_is_not_tried_and_says_so(tmp_path: Path, message: SnapshotAssertion) -> None:
    out, config = drafted(tmp_path, wide(WIDEST + 1))
    (warning,) = [line for line in out.splitlines() if "quasi-identifiers is a lot" in line]
    assert exchange(f"{WIDEST + 1} columns", warning) == message
    assert "expect to lose" not in out + config.read_text(encoding="utf-8")


def test_a_draft_that_run_refuses_is_written_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(problem: object) -> None:
        raise InputError("column 'q03': no")

    monkeypatch.setattr("anonymizer.commands.init.forecast", refused)
    monkeypatch.setattr("anonymizer.commands.init.trial_of", lambda *_: None)
    out, config = drafted(tmp_path, wide(12))
    assert "Warning: 'run' refuses this draft: column 'q03': no" in out
    assert "'run' refuses this draft: column 'q03': no" in config.read_text(encoding="utf-8")


def test_a_draft_of_a_frame_warns_too() -> None:
    frame = wide(14)
    found = an.init(frame, qi=list(frame.columns))
    assert any("quasi-identifiers is a lot" in each for each in found.warnings)


def test_nothing_is_named_where_nothing_gains() -> None:
    found = Forecast(12, None, 0.7, "mondrian", 500, 9_000, ("a", "b"), (0.7, 0.699))
    assert found.warning() == (
        "12 quasi-identifiers is a lot: with its constraints, expect to lose 70 % of their detail (measured "
        "by mondrian on 500 of the records; with all of them it is less)"
    )


@pytest.mark.parametrize(("ks", "keys"), [((20,), ["constraints.0.k=10"]), ((20, 10), [])])
def test_advice_halves_k_where_one_key_does_it(tmp_path: Path, ks: tuple[int, ...], keys: list[str]) -> None:
    """What is measured is what the named key changes."""
    wide(3).to_csv(tmp_path / "data.csv", index=False)
    config = load_config(
        {
            "input": {"path": str(tmp_path / "data.csv")},
            "attributes": {name: {"role": "quasi-identifier"} for name in wide(3).columns},
            "constraints": [{"model": "k-anonymity", "k": k} for k in ks],
        }
    )
    plan = plan_of(config)
    with open_as(config, input_path(config)) as relation:
        problem = prepare(plan, relation).problem
    changes = list(advice._weaker(plan.goal, problem, ()))
    assert [key for change in changes for key in change.overrides] == keys
    assert all(change.problem.minimum_size == 10 for change in changes)
