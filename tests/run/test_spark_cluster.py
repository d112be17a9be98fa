"""Runs on separate worker processes, one of which is killed; slow."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from anonymizer.data_spark.session import Session
from anonymizer.job.clock import RunMonitor
from tests.run.spark_runs import config, facts, people, ran, released, went_on
from tests.spark import AS_USERS, JAVA, engine, running

CLUSTER = {
    "master": "local-cluster[2,1,1024]",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": JAVA,
    "spark.sql.shuffle.partitions": 4,
    **AS_USERS,
}
RECORDS = 20_000

pytestmark = pytest.mark.spark(shared=False)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Session]:
    with running(**CLUSTER) as session:
        yield session


def executors() -> list[int]:
    """Return the processes that work for this one: children of children of its own."""
    parents: dict[int, int] = {}
    working = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(status.split("PPid:")[1].split()[0])
        if b"CoarseGrainedExecutorBackend" in command:
            working.append(int(folder.name))
    return [each for each in working if os.getpid() in ancestors(each, parents)]


def ancestors(process: int, parents: dict[int, int]) -> set[int]:
    found = set()
    while process in parents:
        process = parents[process]
        found.add(process)
    return found


def kill_while_working(session: Session, killed: list[int]) -> None:
    """Kill one worker as soon as a job runs."""
    tracker = session.spark.sparkContext.statusTracker()
    for _ in range(2000):
        if tracker.getActiveJobsIds() and (found := executors()):
            os.kill(found[0], signal.SIGKILL)
            killed.append(found[0])
            return
        time.sleep(0.02)


def test_a_killed_worker_changes_nothing(cluster: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet", RECORDS)
    expected = ran(config(data, note="insensitive"), tmp_path / "memory")
    assert len(executors()) == 2
    killed: list[int] = []
    threads: list[threading.Thread] = []

    def phase(what: str) -> None:
        if what in {"reading people.parquet", "writing"}:
            threads.append(threading.Thread(target=kill_while_working, args=(cluster, killed)))
            threads[-1].start()

    asked = load_config(config(data, engine(**CLUSTER), note="insensitive"))
    found = run(asked, tmp_path / "spark", watch=RunMonitor(phase=phase))
    for thread in threads:
        thread.join()
    assert len(killed) == 2
    assert facts(found) == facts(expected)
    assert sorted(released(tmp_path / "spark")) == sorted(released(tmp_path / "memory"))
    assert sorted(path.name for path in (tmp_path / "spark").iterdir()) == [
        "recoding.json",
        "report.html",
        "report.json",
        "share",
    ]


def test_a_worker_killed_while_regions_are_cut_changes_nothing(cluster: Session, tmp_path: Path) -> None:
    data = people(tmp_path / "people.parquet", RECORDS)
    others = {"algorithm": {"name": "mondrian"}, "attacks": []}
    expected = ran(config(data, **others), tmp_path / "memory")
    killed: list[int] = []
    threads: list[threading.Thread] = []

    def phase(what: str) -> None:
        if what.startswith("engine spark"):
            threads.append(threading.Thread(target=kill_while_working, args=(cluster, killed)))
            threads[-1].start()

    asked = load_config(config(data, engine(**CLUSTER, combinations=500), **others))
    found = run(asked, tmp_path / "spark", watch=RunMonitor(phase=phase))
    for thread in threads:
        thread.join()
    assert len(killed) == 1
    assert facts(found) == facts(expected)
    assert sorted(released(tmp_path / "spark")) == sorted(released(tmp_path / "memory"))


def test_further_records_join_a_release(cluster: Session, tmp_path: Path) -> None:
    """The records of both stand in processes of their own; test_apply_spark has releases by Spark."""
    asked = {"note": "insensitive", "attacks": []}
    in_memory = went_on(tmp_path, "memory", None, None, **asked)
    assert went_on(tmp_path, "spark", None, engine(**CLUSTER), **asked) == in_memory
