"""What a killed run leaves is whole, and is cleared away by the next run."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anonymizer.release.folder import EARLIER, PREFIX, remove_leftovers
from anonymizer.system import LockedFolder
from tests.release.published import check_whole, expected, publish, state


def test_leftovers_of_a_dead_run_are_removed_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    for name in ("dead", "alive"):
        (tmp_path / f"{PREFIX}{name}").mkdir()
        (tmp_path / f"{PREFIX}{name}" / "share").mkdir()
    claim = LockedFolder(tmp_path / f"{PREFIX}alive")
    publish(tmp_path, "one")
    assert [path.name for path in tmp_path.glob(".*")] == [f"{PREFIX}alive"]
    claim.remove()
    assert state(tmp_path) == expected("one")


def test_what_a_dead_run_took_from_its_place_goes_back(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    staging = tmp_path / f"{PREFIX}dead"
    staging.mkdir()
    (tmp_path / "share").rename(staging / f"share{EARLIER}")
    (staging / f"report.json{EARLIER}").write_text("older still")
    remove_leftovers(tmp_path)
    assert state(tmp_path) == expected("one")


KILLED = """
import sys
from pathlib import Path
from anonymizer.release import folder as exchange
from tests.release.published import publish
if sys.argv[2] == "renames":
    exchange.exchange_at_once = lambda *_: False
print("ready", flush=True)
for version in range(100_000):
    publish(Path(sys.argv[1]), f"{version} " * 20_000, overwrite=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", ["at once", "renames"])
def test_a_kill_at_any_moment_leaves_a_whole_release(way: str, tmp_path: Path) -> None:
    rng = random.Random(way)
    data = tmp_path / "data.csv"
    data.write_text("a\n1\n")
    directory = tmp_path / "release"
    for _ in range(6):
        command = [sys.executable, "-c", KILLED, str(directory), way]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(rng.uniform(0.0, 0.06))
            process.send_signal(signal.SIGKILL)
        if way == "at once" and (directory / "share").exists():
            check_whole(directory)
        elif directory.exists():
            remove_leftovers(directory)
            if (directory / "share").exists():
                check_whole(directory)
    publish(directory, "last", overwrite=True)
    assert state(directory) == expected("last")
    assert data.read_text() == "a\n1\n"
