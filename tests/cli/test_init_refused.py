"""What ``init`` refuses, and the words it uses."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.cli.drafting import drafted, text
from tests.helpers.messages import exchange
from tests.run.commands import call, snapshot


@pytest.mark.parametrize(
    "content",
    [
        "",
        "age,sex\n",
        "id,mail\n" + "".join(f"{n},a{n}@b.org\n" for n in range(50)),
        "diagnosis\nflu\nflu\nasthma\n",
        "a,b\n1\n",
    ],
    ids=lambda content: repr(content[:20]),
)
def test_files_that_give_no_config(content: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    done, config = drafted(tmp_path, content)
    assert (done.code, done.out) == (2, "")
    assert exchange(repr(content[:40]), done.err.rstrip(), tmp_path) == message
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
    "output", ["people.csv", "nowhere/people.yaml", "people.json", "folder.yaml", "people.yml"]
)
def test_outputs_that_are_refused(output: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "people.csv").write_text(text())
    (tmp_path / "people.yml").symlink_to(tmp_path / "people.csv")
    before = snapshot(tmp_path)
    done = call("init", tmp_path / "people.csv", "-o", tmp_path / output, "--overwrite")
    assert done.code == 2
    assert exchange(f"-o {output}", done.err.rstrip(), tmp_path) == message
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("given", [".", "..", "nowhere.csv", "people.ods"])
def test_what_is_no_data_file(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: SnapshotAssertion
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("init", given)
    assert (done.code, done.out) == (2, "")
    assert exchange(f"init {given}", done.err.rstrip()) == message
    assert not list(tmp_path.iterdir())
