"""A release in two files is whole, or is not there, whenever the run that writes it is killed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.run.commands import call, python, snapshot
from tests.run.grouped import anatomy_job

KILLED = """
import os, shutil, sys
from pathlib import Path
from anonymizer.release import folder as exchange_room, folder as publish
from anonymizer.release.folder import ReleaseFolder

new, target, way = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
if way == "renames":
    exchange_room.exchange_at_once = lambda *_: False

def killing(original, step, after):
    def run(*arguments):
        calls[0] += 1
        if calls[0] == step and not after:
            os._exit(9)
        result = original(*arguments)
        if calls[0] == step:
            os._exit(9)
        return result
    return run

step = 0
while True:
    directory = target / str(step)
    if (target / "before").exists():
        shutil.copytree(target / "before", directory)
    calls = [0]
    child = os.fork()
    if child == 0:
        names = ["release.qit.csv", "release.st.csv"]
        with ReleaseFolder(directory, names, [], overwrite=True) as folder:
            os.fsync = killing(os.fsync, step // 2 + 1, step % 2)
            Path.rename = killing(Path.rename, step // 2 + 1, step % 2)
            publish.swap_paths = killing(publish.swap_paths, step // 2 + 1, step % 2)
            for path in sorted((new / "share").iterdir()):
                folder.shared(path.name).write_bytes(path.read_bytes())
            folder.report.write_bytes((new / "report.json").read_bytes())
            folder.commit()
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
    step += 1
print(step)
"""


@pytest.mark.parametrize(
    ("earlier", "way"),
    [
        (True, "at once"),
        pytest.param(False, "at once", marks=pytest.mark.slow),
        pytest.param(True, "renames", marks=pytest.mark.slow),
        pytest.param(False, "renames", marks=pytest.mark.slow),
    ],
)
def test_at_every_kill_there_is_a_whole_pair_or_none(earlier: bool, way: str, tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    states = []
    for name, seed in (("before", 1), ("after", 2)):
        done = job.run("-o", tmp_path / name, "--set", f"seed={seed}")
        assert done.code == 0, done.err
        states.append(snapshot(tmp_path / name))
    before, after = states
    target = tmp_path / "killed"
    target.mkdir()
    if earlier:
        shutil.copytree(tmp_path / "before", target / "before")
    done = python("-c", KILLED, tmp_path / "after", target, way)
    assert done.code == 0, done.err
    assert int(done.out) > 12, "the run was killed at many steps"
    seen: set[bool] = set()
    for step in range(int(done.out)):
        directory = target / str(step)
        release = directory / "share" / "release.csv"
        there = release.parent.exists()
        if there:
            assert snapshot(directory / "share") in (shared(before), shared(after))
        if there in seen:
            continue
        seen.add(there)
        for command in (
            ("audit", release),
            *((each, release, "-c", job.file) for each in ("check", "attack")),
        ):
            assert call(*command).code == (0 if there else 2)
    last = target / str(int(done.out) - 1)
    assert job.run("-o", last, "--overwrite", "--set", "seed=2").code == 0
    assert shared(snapshot(last)) == shared(after)
    assert list(last.glob(".*")) == []


def shared(content: dict[str, bytes]) -> dict[str, bytes]:
    """Return what of a release folder stands in share/."""
    return {key.removeprefix("share/"): own for key, own in content.items() if key.startswith("share/")}
