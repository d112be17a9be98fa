"""Every example that names its algorithm, without it: what a config asks for decides, and it runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from tests.run.commands import call

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMED = {
    path.name for path in EXAMPLES.glob("*.yaml") if "algorithm" in yaml.safe_load(path.read_text("utf-8"))
}
AS_SAMPLE = "full_domain.yaml"
"""Without its algorithm it is the sample with fewer constraints; ``test_configs.py`` runs that."""


def test_the_others_run_without_one() -> None:
    assert {"minimal.yaml", "sample.yaml"}.isdisjoint(NAMED)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(NAMED - {AS_SAMPLE}))
def test_it_runs_without_its_algorithm(name: str, tmp_path: Path) -> None:
    shutil.copytree(
        EXAMPLES, tmp_path / "examples", ignore=shutil.ignore_patterns("*release*", "__pycache__")
    )
    sample = tmp_path / "examples" / "sample.csv"
    sample.write_text("\n".join(sample.read_text(encoding="utf-8").splitlines()[:3001]), encoding="utf-8")
    path = tmp_path / "examples" / name
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config.pop("algorithm")
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    done = call("run", path, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "report.json").is_file()
