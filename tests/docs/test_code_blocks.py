"""What the documentation shows is what happens: Python runs, commands print what is shown, YAML is read."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from anonymizer.cli.main import main
from anonymizer.config.document import parse_yaml
from anonymizer.config.load import load_config
from anonymizer.config.model import Config
from tests.docs.pages import ROOT, blocks, name, pages

LONG = ("README.md", "tour.md", "tutorial.md", "attack-a-release.md", "benchmark.md", "compare.md")
"""Pages whose commands take more than a few seconds."""

LONG_PYTHON = ("python.md",)
"""Pages whose Python does."""

WITH_PYTHON = [
    pytest.param(page, id=name(page), marks=[pytest.mark.slow] if page.name in LONG_PYTHON else [])
    for page in pages()
    if blocks(page, "python")
]

WITH_COMMANDS = [
    pytest.param(page, id=name(page), marks=[pytest.mark.slow] if page.name in LONG else [])
    for page in pages()
    if blocks(page, "console")
]
YAML = [
    pytest.param(block.text, id=f"{name(page)}:{block.line}")
    for page in pages()
    for block in blocks(page, "yaml")
]

BASE: dict[str, Any] = {
    "attributes": {
        "age": {"role": "quasi-identifier"},
        "diagnosis": {"role": "sensitive", "hierarchy": {"tree": {"*": ["flu", "asthma"]}}},
        "income": {"role": "sensitive"},
    },
    "constraints": [{"model": "k-anonymity", "k": 5}],
}
"""What a block that shows a part of a config is a part of."""


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Return a folder with the examples in it, as a reader has them."""
    shutil.copytree(
        ROOT / "examples",
        tmp_path / "examples",
        ignore=shutil.ignore_patterns("*-release", "release", "comparison", "__pycache__"),
    )
    return tmp_path


def test_there_is_something_to_run() -> None:
    assert len(WITH_PYTHON) >= 3
    assert len(WITH_COMMANDS) >= 3
    assert len(YAML) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_PYTHON)
def test_python_runs(page: Path, desk: Path) -> None:
    """The blocks of one page run one after the other. What small tables show is ignored."""
    script = desk / "page.py"
    quiet = (
        "import warnings\nimport anonymizer\nwarnings.simplefilter('ignore', anonymizer.AnonymizerWarning)"
    )
    lines = [quiet, *(block.text for block in blocks(page, "python"))]
    script.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=desk,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.quick(3)
@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_print_what_is_shown(
    page: Path, desk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands of one page run one after the other; a line ``...`` stands for any lines."""
    monkeypatch.chdir(desk)
    for block in blocks(page, "console"):
        for command, expected in _sessions(block.text):
            words = shlex.split(command, comments=True)
            assert words[0] == "anonymizer", command
            code = main(words[1:])
            out, err = capsys.readouterr()
            message = err[err.index("error:") :] if "error:" in err else ""
            asked = re.search(r"# exit (\d+)$", command)
            assert code == (int(asked[1]) if asked else 0), out + err
            assert re.fullmatch(_pattern(expected), _settled(out + message)), f"{command}\n{out}{message}"


def _sessions(text: str) -> list[tuple[str, str]]:
    """Return each command of a console block with what it prints."""
    found = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)
    assert found[0] == "", "a console block begins with a command"
    return list(zip(found[1::2], found[2::2], strict=True))


def _settled(text: str) -> str:
    """Leave out how many candidates were evaluated, which is not promised, and white space at line ends."""
    text = re.sub(r"[\d,]+ evaluated", "N evaluated", text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def _pattern(expected: str) -> str:
    lines = ["(?s:.*)" if line == "..." else re.escape(line) for line in _settled(expected).splitlines()]
    return "\n".join(lines)


@pytest.mark.parametrize("text", YAML)
def test_yaml_is_accepted(text: str) -> None:
    data, _ = parse_yaml(text, "block")
    if isinstance(data, list):
        data = {"constraints": data}
    if not set(data) <= set(Config.model_fields):
        data = {"attributes": data}
    attributes = {**BASE["attributes"], **data.get("attributes", {})}
    load_config({**BASE, **data, "attributes": attributes})
