"""Plug-ins that claim what is not so, or cannot be loaded: one message that names them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anonymizer as an
from anonymizer.attacks.base import ATTACKS, Attack, AttackResult
from anonymizer.cli.main import main
from anonymizer.errors import PlugInFault
from anonymizer.model.recoding import Outcome
from anonymizer.plugins import Registry, Settings
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice

PEOPLE = pd.DataFrame({"age": ["20", "20", "30", "30", "40", "50"], "sex": list("ffmmff")})


def asked(**sections: Any) -> dict[str, Any]:
    roles = dict.fromkeys(PEOPLE, "quasi-identifier")
    return {"attributes": roles, "constraints": [{"model": "k-anonymity", "k": 2}], "attacks": [], **sections}


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ({"objective": 0.001, "bound": None}, "says that its release loses 0.001, but loss is"),
        ({"objective": float("nan"), "bound": None}, "says that its release loses nan"),
        ({"bound": 0.99}, "says that no release loses less than 0.99, but its own loses"),
        ({"recoding": None}, "ended with SATISFIED and no recoding"),
    ],
)
def test_a_search_that_claims_what_is_not_so(claim: dict[str, Any], message: str) -> None:
    class Boaster(Lattice):
        name = "boaster"

        def search(self, problem: SearchProblem, control: Control) -> Outcome:
            return replace(super().search(problem, control), **claim)

    SEARCH_ALGORITHMS.add(Boaster)
    try:
        with pytest.raises(PlugInFault, match=f"algorithm boaster {message}"):
            an.anonymize(PEOPLE, asked(algorithm={"name": "boaster"}))
    finally:
        SEARCH_ALGORITHMS.remove("boaster")


class NoParameters(Settings):
    """An attack without parameters."""


@pytest.mark.parametrize(
    ("success", "message"),
    [
        (Fraction(6, 5), "has success 1.2, which is no share of its targets"),
        (float("nan"), "has success nan, which is no share of its targets"),
        (None, "returned NoneType; mend 'run': results are AttackResult"),
    ],
)
def test_an_attack_that_reaches_what_none_can(success: Any, message: str) -> None:
    class Seer(Attack):
        name = "seer"
        threat = None
        Settings = NoParameters
        by_default = False

        def missing_requirement(self, adversary: Any) -> str | None:
            return None

        def run(self, adversary: Any, random: Any) -> Sequence[AttackResult]:
            if success is None:
                return None  # type: ignore[return-value]
            return [AttackResult(self.name, {}, success, Fraction(0), 0.0, 1.0, 1, {})]

    ATTACKS.add(Seer)
    try:
        with pytest.raises(PlugInFault, match=f"attack seer {message}"):
            an.anonymize(PEOPLE, asked(attacks=["seer"]))
    finally:
        ATTACKS.remove("seer")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:Model", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("pathlib:Pth", "cannot be loaded: AttributeError"),
        ("pathlib:Path", "is no thing: a subclass of Thing with a name is needed"),
    ],
)
def test_a_broken_entry_point_is_named_with_its_distribution(
    value: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[anonymizer.things]\nodd = {value}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("anonymizer.plugins._installed", _entry_points)

    class Thing:
        name = "thing"

    registry: Registry[Any] = Registry("thing", Thing, "anonymizer.masking", "anonymizer.things")
    with pytest.raises(PlugInFault) as fault:
        list(registry)
    said = str(fault.value)
    assert said.startswith(f"thing 'odd' of the distribution broken ({value}) {message}")
    assert said.endswith("mend its entry point, or uninstall it")


def test_an_error_in_the_code_of_a_plug_in_names_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    about = tmp_path / "careless-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: careless\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anonymizer.attacks]\ncareless = careless:Careless\n")
    (tmp_path / "careless.py").write_text(
        "from anonymizer.plugin import Attack\n"
        "class Careless(Attack):\n"
        "    name, threat = 'careless', None\n"
        "    def missing_requirement(self, adversary): return None\n"
        "    def run(self, adversary, random): return 1 / 0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("anonymizer.plugins._installed", _entry_points)
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    config = {**asked(), "input": {"path": "people.csv"}, "attacks": ["careless"]}
    (tmp_path / "job.json").write_text(json.dumps(config))
    monkeypatch.setattr(ATTACKS, "_classes", None)
    monkeypatch.setitem(ATTACKS.__dict__, "_alone", False)
    assert main(["run", str(tmp_path / "job.json")]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == (
        "error: plug-in 'careless' of the distribution careless failed: ZeroDivisionError: division by zero; "
        "report it to its authors, or leave it out of the config"
    )
    assert not (tmp_path / "job-release").exists()


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points()
