"""Links that lead nowhere, and what is no file, wherever a path can stand: refused at once."""

from __future__ import annotations

import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anonymizer as an
from anonymizer.errors import InputError
from anonymizer.system import WINDOWS
from tests.run.commands import call

pytestmark = pytest.mark.skipif(WINDOWS, reason="Windows has other special files")

CONFIG = """
input: {path: a.csv}
attributes: {q: {role: quasi-identifier}, s: sensitive}
constraints: [{model: k-anonymity, k: 2}]
"""
PLACES = [
    "input.path={}",
    "input.population={{path: {}}}",
    "input.control={}",
    "attributes.q.hierarchy={{file: {}}}",
    "apply={}",
    "input={{database: {}, table: t}}",
    "output={{database: {}, table: t}}",
]


@pytest.fixture(autouse=True)
def _in_time() -> Iterator[None]:
    """Fail where a pipe or device is read, rather than waiting for its end."""

    def stop(*_: Any) -> None:
        raise TimeoutError("something was read that has no end")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 20)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    (tmp_path / "a.csv").write_text("q,s\n1,x\n1,y\n")
    (tmp_path / "c.yaml").write_text(CONFIG)
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("sock.csv")
    return tmp_path


NAMES = {"loop.csv": "loop", "pipe.csv": "named pipe", "zero.csv": "device", "sock.csv": "socket"}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "said"), NAMES.items())
def test_a_run_refuses_them(folder: Path, name: str, said: str, place: str) -> None:
    done = call("run", "c.yaml", "-o", "out", "--set", place.format(name))
    assert done.code == 2, done.out
    assert re.search(rf"{name}.*({said}|too many levels)", done.err, re.IGNORECASE), done.err
    assert not (folder / "out" / "share").exists()


@pytest.mark.quick(2)
@pytest.mark.parametrize(("name", "said"), NAMES.items())
def test_other_commands_refuse_them(folder: Path, name: str, said: str) -> None:
    commands = [
        ["check", name, "--qi", "q"],
        ["init", name, "-o", "d.yaml"],
        ["attack", name, "-c", "c.yaml"],
        ["attack", "a.csv", "-c", "c.yaml", "--original", name],
        ["audit", "a.csv", "--report", name],
        ["hierarchy", "validate", name, "--data", "a.csv", "--column", "q"],
        ["hierarchy", "build", "--data", name, "--column", "q", "--by", "auto", "-o", "h.csv"],
        ["compare", "c.yaml", "-o", "cmp", "--algorithm", "mondrian", "--algorithm", "lattice"],
    ]
    source = f"{{role: quasi-identifier, hierarchy: {{file: {name}}}}}"
    (folder / "c.yaml").write_text(CONFIG.replace("{role: quasi-identifier}", source))
    for command in commands:
        done = call(*command)
        assert done.code == 2, (command, done.out, done.err)
        assert name in done.err, (command, done.err)


def test_a_config_that_is_a_pipe_is_refused(folder: Path) -> None:
    os.mkfifo(folder / "pipe.yaml")
    with pytest.raises(InputError, match="is a named pipe"):
        an.load_config(folder / "pipe.yaml")


def test_links_to_files_are_followed(folder: Path) -> None:
    (folder / "link.csv").symlink_to("a.csv")
    assert call("run", "c.yaml", "-o", "out", "--set", "input.path=link.csv").code == 0


def test_paths_are_followed_in_one_place() -> None:
    package = Path(an.__file__).parent
    own = {"system.py", "distribution.py", "ready.py"}  # the last two follow the path of the package
    found = [
        path.name
        for path in package.rglob("*.py")
        if path.name not in own and re.search(r"\.resolve\(|realpath\(", path.read_text(encoding="utf-8"))
    ]
    assert found == []
