"""What `init` learns from a first release of its draft, which is run with the draft that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
import yaml

import anonymizer as an
from anonymizer.commands.init import init
from anonymizer.model.table import Role
from anonymizer.profile.proposal import ColumnProposal
from tests.run.commands import call


def people(number: int = 400, **columns: Any) -> pd.DataFrame:
    random = Random(2)
    return pd.DataFrame(
        {
            "age": [random.randint(18, 80) for _ in range(number)],
            "sex": [random.choice("fm") for _ in range(number)],
            **columns,
        }
    )


def boats(number: int = 400) -> dict[str, list[str]]:
    random = Random(6)
    survived = [random.random() < 0.4 for _ in range(number)]
    return {
        "boat": [random.choice("ABCD") if each else "" for each in survived],
        "survived": ["yes" if each else "no" for each in survived],
    }


FARES = [f"{7 + number % 150 * 3.25:.2f}" for number in range(400)]
RARE = ["flu", "cold"] * 194 + [f"illness {number}" for number in range(12)]

FILES = {
    "singled out": {"deck": [str(number % 45) for number in range(400)]},
    "rare numbers": {"fare": FARES},
    "rare texts": {"illness": RARE},
    "a secret told": boats(),
}


def drafted(folder: Path, frame: pd.DataFrame, *options: str) -> tuple[Path, Mapping[str, Any]]:
    frame.to_csv(folder / "people.csv", index=False)
    config = folder / "people.yaml"
    done = call("init", folder / "people.csv", "-o", config, *options)
    assert done.code == 0, done.err
    columns: Mapping[str, Any] = yaml.safe_load(config.read_text(encoding="utf-8"))["attributes"]
    return config, columns


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", FILES)
def test_the_first_release_shows_little(name: str, tmp_path: Path) -> None:
    config, _ = drafted(tmp_path, people(**FILES[name]))
    done = call("run", config, "--strict", "--json")
    assert done.code == 0, done.err
    assert done.json["exposure"]["findings"] == []


@pytest.mark.slow
def test_without_a_trial_it_would_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anonymizer.commands.init.trial_of", lambda *_: None)
    for name in ("singled out", "rare texts", "a secret told"):
        config, _ = drafted(tmp_path, people(**FILES[name]), "--overwrite")
        assert call("run", config, "--overwrite").out.startswith("SATISFIED, BUT"), name


def test_a_secret_that_a_column_tells_makes_it_one(tmp_path: Path) -> None:
    config, columns = drafted(tmp_path, people(**boats()))
    assert columns["boat"]["role"] == "sensitive"
    assert "gives 'survived' away" in " ".join(config.read_text(encoding="utf-8").replace("#", "").split())


def test_roles_that_the_user_gives_stay(tmp_path: Path) -> None:
    _, columns = drafted(tmp_path, people(**boats()), "--drop", "boat", "--sensitive", "survived")
    assert columns["boat"] == {"role": "drop"}
    assert columns["survived"]["role"] == "sensitive"


def test_every_question_is_asked_once(tmp_path: Path) -> None:
    """A draft that changes is made anew, with the answers that are there."""
    people(**FILES["singled out"], note=["some", "words"] * 200).to_csv(tmp_path / "a.csv", index=False)
    asked: list[str] = []

    def answer(column: ColumnProposal) -> Role:
        asked.append(column.name)
        return column.role

    init(tmp_path / "a.csv", decide=answer)
    assert len(asked) == len(set(asked)) > 0


def test_a_frame_is_tried_too() -> None:
    draft = an.init(people(**boats()))
    assert draft["attributes"]["boat"]["role"] == "sensitive"


@pytest.mark.slow
def test_what_a_draft_said_of_the_file_stays(tmp_path: Path) -> None:
    """Nothing was known outside, whatever a trial makes of the answers."""
    random = Random(8)
    answers = {f"q{number}": [random.choice("12345") for _ in range(400)] for number in range(12)}
    pd.DataFrame(answers).to_csv(tmp_path / "answers.csv", index=False)
    done = call("init", tmp_path / "answers.csv")
    assert "No column has a name or values that are known outside" in done.out
