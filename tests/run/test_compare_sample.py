"""Three algorithms by two k on a part of the sample: killed, gone on with, and compared by hand."""

from __future__ import annotations

import subprocess
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.run.commands import PROGRAM, ROOT, call

RECORDS = 200
OPTIONS = ["--vary", "constraints.0.k=2,10", "--vary", "budget.seconds=0.5", "--workers", "2"]
for name in ("lattice", "mondrian", "local"):
    OPTIONS += ["--algorithm", name]


def beaten(run: dict[str, Any], others: list[dict[str, Any]]) -> bool:
    """Say whether another run is as good in both and better in one, by the numbers that are printed."""
    loss, low = run["loss"]["loss"], run["risk"]["low"]
    return any(
        other["loss"]["loss"] <= loss
        and other["risk"]["high"] <= low
        and (other["loss"]["loss"] < loss or other["risk"]["high"] < low)
        for other in others
    )


@pytest.mark.slow
def test_three_algorithms_by_two_k(tmp_path: Path) -> None:
    desk, output = tmp_path / "desk", tmp_path / "output"
    desk.mkdir()
    config = (ROOT / "examples" / "full_domain.yaml").read_text(encoding="utf-8")
    (desk / "full_domain.yaml").write_text(f"{config}\nattacks: [linkage, homogeneity]\n", encoding="utf-8")
    with (ROOT / "examples" / "sample.csv").open(encoding="utf-8") as stream:
        (desk / "sample.csv").write_text("".join(islice(stream, RECORDS + 1)), encoding="utf-8")
    command = ["compare", str(desk / "full_domain.yaml"), "-o", str(output), *OPTIONS]
    process = subprocess.Popen([*PROGRAM, *command], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    # A slow machine says between results what is still running.
    results = (line for line in process.stderr if "  running" not in line)
    assert len(list(islice(results, 2))) == 2
    process.kill()
    process.communicate()
    kept = {path.name: path.stat().st_mtime_ns for path in (output / "runs").glob("*.json")}
    assert 2 <= len(kept) < 6

    done = call(*command, "--json")
    assert done.code == 0, done.err
    assert f"{len(kept)}/6  reused from an earlier comparison" in done.err
    after = {path.name: path.stat().st_mtime_ns for path in (output / "runs").glob("*.json")}
    assert len(after) == 6
    assert {name: after[name] for name in kept} == kept

    runs = done.json["runs"]
    assert [each["status"] for each in runs] == ["satisfied"] * 6
    assert {each["risk"]["attack"] for each in runs} == {runs[0]["risk"]["attack"]}
    expected = {each["run"] for each in runs if not beaten(each, runs)}
    assert [each["run"] for each in done.json["recommended"]] == [done.json["advice"]["run"]]
    assert {each["run"] for each in runs if each["unbeaten"]} == expected
    page = (output / "compare.html").read_text(encoding="utf-8")
    assert all(str(each["run"]) in page for each in runs)
    assert not list(output.glob("share*"))
