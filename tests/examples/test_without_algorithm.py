"""Every example without its algorithm: what a config asks for decides, and it runs as before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.run.commands import call

EXAMPLES = Path(__file__).parents[2] / "examples"
QUICK = ("minimal.yaml",)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.name, marks=[] if path.name in QUICK else [pytest.mark.slow])
        for path in sorted(EXAMPLES.glob("*.yaml"))
    ],
)
def test_it_runs_without_its_algorithm(name: str, tmp_path: Path) -> None:
    shutil.copytree(
        EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("*release*", "__pycache__")
    )
    path = tmp_path / "examples" / name
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config.pop("algorithm", None)
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    done = call("run", path, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "report.json").is_file()
