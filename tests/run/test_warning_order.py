"""Warnings of a run by harm: privacy first, then the data, and what needs nothing apart."""

from __future__ import annotations

import copy
import json
import pickle
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import anonymizer as an
from anonymizer.model.report import Report
from anonymizer.model.warning import Harm, Warned, harm_of, ordered
from tests.run.commands import call

CONFIG: dict[str, Any] = {
    "input": {"path": "people.csv", "missing": ["", "-9999"]},
    "attributes": {
        "id": "identifier",
        "sex": "quasi-identifier",
        "note": "insensitive",
        "illness": "sensitive",
    },
    "constraints": [{"model": "k-anonymity", "k": 3}],
    "acknowledge": ["rare-values:note"],
}
SAID = {
    "no constraint protects the sensitive attribute 'illness'": Harm.PRIVACY,
    "column 'id' repeats": Harm.PRIVACY,
    "input.missing: no column has '-9999'": Harm.DATA,
    "spaces around the values of column 'note'": Harm.NOTE,
    "acknowledge: rare-values:note did not occur": Harm.NOTE,
}
"""Beginnings of the warnings of the job, and their harm."""


def people() -> pd.DataFrame:
    rows = [(f"p{number // 2}", "fm"[number % 2], " a", "flu") for number in range(40)]
    return pd.DataFrame(rows, columns=["id", "sex", "note", "illness"])


def job(folder: Path) -> Path:
    people().to_csv(folder / "people.csv", index=False)
    path = folder / "people.yaml"
    path.write_text(
        yaml.safe_dump({**CONFIG, "attributes": {**CONFIG["attributes"], "note": "quasi-identifier"}})
    )
    return path


def harms(warnings: list[str]) -> list[Harm]:
    """Return the harm of warnings by their texts alone."""
    return [next(harm for text, harm in SAID.items() if each.startswith(text)) for each in warnings]


@pytest.mark.page
def test_the_worst_is_read_first_and_notes_stand_apart(tmp_path: Path) -> None:
    done = call("run", job(tmp_path), "-o", tmp_path / "out", "--quiet")
    assert done.code == 0, done.err
    warnings = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["warnings"]
    assert all(isinstance(each, str) for each in warnings)
    assert set(harms(warnings)) == set(Harm)
    assert harms(warnings) == sorted(harms(warnings))
    assert len(warnings) == len(SAID)
    printed = re.findall(r"^(Warning|Note): (.*)$", done.out, re.MULTILINE)
    assert [text for _, text in printed] == warnings
    for kind, text in printed:
        assert (kind == "Note") is (harms([text]) == [Harm.NOTE])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    shown, notes = (
        re.findall(f'<div class="{name}">(.*?)</div>', page, re.DOTALL) for name in ("warnings", "notes")
    )
    assert (shown[0].count("<li>"), notes[0].count("<li>")) == (3, 2)
    assert page.index('<div class="warnings">') < page.index('<div class="notes">')


def test_python_orders_them_too_and_keeps_their_harm_in_copies() -> None:
    config = {key: own for key, own in CONFIG.items() if key != "input"}
    config["input"] = {"missing": ["", "-9999"]}
    report = an.anonymize(people(), config).report
    for each in (report, copy.deepcopy(report), pickle.loads(pickle.dumps(report)), Report(report.to_dict())):
        found = each["warnings"]
        assert [harm_of(own) for own in found] == harms(found) == sorted(harms(found))


@given(st.lists(st.tuples(st.text(), st.sampled_from([None, *Harm]))))
def test_order_is_by_harm_and_else_as_given(drawn: list[tuple[str, Harm | None]]) -> None:
    warnings = [text if harm is None else Warned(text, harm) for text, harm in drawn]
    found = ordered(warnings)
    expected = [
        text for each in Harm for text, harm in drawn if (Harm.PRIVACY if harm is None else harm) is each
    ]
    assert found == expected


@pytest.mark.page
@pytest.mark.parametrize("quiet", [True, False])
def test_a_run_without_notes_has_no_such_heading(tmp_path: Path, quiet: bool) -> None:
    path = job(tmp_path)
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    del config["acknowledge"], config["input"]["missing"]
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    people().assign(note="a").to_csv(tmp_path / "people.csv", index=False)
    done = call("run", path, "-o", tmp_path / "out", *(["--quiet"] if quiet else []))
    assert "Note: " not in done.out
    assert '<div class="notes">' not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


COLUMNS: dict[str, list[Any]] = {
    "a: 'rare', name": ["x", "y", "z", ""] * 30,
    "skewed": ["no"] * 108 + ["yes"] * 12,
    "wage": [1000 + 37 * number for number in range(120)],
    "constant": ["same"] * 120,
}


@pytest.mark.quick(5)
@pytest.mark.parametrize("config", ["", "person", "scenario", "anatomy"])
@pytest.mark.parametrize("name", COLUMNS)
def test_the_command_that_protects_a_sensitive_attribute_runs_as_printed(
    name: str, config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = {
        "who": [number // 2 for number in range(120)],
        "sex": ["f", "m", "m", "f"] * 30,
        name: COLUMNS[name],
    }
    pd.DataFrame(table).to_csv("people.csv", index=False)
    own: dict[str, Any] = {
        "input": {"path": "people.csv", **({"person": "who"} if config == "person" else {})},
        "attributes": {"who": "identifier", "sex": "quasi-identifier", name: "sensitive"},
    }
    constraints = [{"model": "k-anonymity", "k": 3}]
    own |= {"scenarios": {"near": {"known": ["sex"], "models": constraints}}} if config == "scenario" else {}
    own |= {} if config == "scenario" else {"constraints": constraints}
    own |= {"algorithm": {"name": "anatomy"}} if config == "anatomy" else {}
    Path("job.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    done = call("run", "job.yaml", "--quiet")
    warning = f"Warning: no constraint protects the sensitive attribute '{name}'"
    assert warning in done.out
    commands = re.findall(r"^  add one: anonymizer (.*)$", done.out, re.MULTILINE)
    assert len(commands) == (name != "constant")
    for each in commands:
        again = call(*shlex.split(each), "--quiet")
        assert again.code == 0, again.err
        assert warning not in again.out
