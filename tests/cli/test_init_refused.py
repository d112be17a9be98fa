"""What ``init`` refuses, and the words it uses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.drafting import drafted, text
from tests.run.commands import call, snapshot


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file is empty"),
        ("age,sex\n", "no records"),
        ("age,age\n1,2\n", "both named 'age'"),
        ("id,mail\n" + "".join(f"{n},a{n}@b.org\n" for n in range(50)), "nothing remains to protect: 2 of 2"),
        ("diagnosis\nflu\nflu\nasthma\n", "nothing remains to protect: 0 of 1"),
        ("a,b\n1\n", "line 2 has 1 fields"),
    ],
)
def test_files_that_give_no_config(content: str, said: str, tmp_path: Path) -> None:
    done, config = drafted(tmp_path, content)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("error: ") == 1
    assert not config.exists()
    assert list(snapshot(tmp_path)) == ["people.csv"]


def test_an_existing_config_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "people.yaml").write_text("mine")
    done, config = drafted(tmp_path, text())
    assert done.code == 2
    assert "--overwrite" in done.err
    assert config.read_text() == "mine"
    assert call("init", tmp_path / "people.csv", "--overwrite").code == 0
    assert yaml.safe_load(config.read_text())["constraints"][0]["model"] == "k-anonymity"


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("people.csv", ".yaml"),
        ("nowhere/people.yaml", "no folder"),
        ("people.json", ".yaml"),
        ("folder.yaml", "is a folder"),
        ("people.yml", "is the data file"),
    ],
)
def test_outputs_that_are_refused(output: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "people.csv").write_text(text())
    (tmp_path / "people.yml").symlink_to(tmp_path / "people.csv")
    before = snapshot(tmp_path)
    done = call("init", tmp_path / "people.csv", "-o", tmp_path / output, "--overwrite")
    assert done.code == 2
    assert said in done.err
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (".", "is a directory"),
        ("..", "unknown kind of file"),
        ("nowhere.csv", "no such file; check the path"),
        ("people.xlsx", "unknown kind of file"),
    ],
)
def test_what_is_no_data_file(given: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("init", given)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not list(tmp_path.iterdir())
