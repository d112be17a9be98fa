"""Runs of configs in worker processes, at most so many at a time, each measured.

A worker process reads one line of JSON from standard input, the job, and writes one to standard output, the
result of the run in plain types. Standard input stays open as long as the parent process lives; at its end
the run is aborted. A process for each run measures its memory alone.
"""

from __future__ import annotations

import _thread
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, TextIO

from anonymizer.commands.run import run as run_job
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.errors import AuditFailed, Infeasible, InputError, ReportLike
from anonymizer.job.clock import Phase, RunMonitor
from anonymizer.model.report import Report
from anonymizer.report.comparison import RunStatus
from anonymizer.search.base import SEARCH_ALGORITHMS
from anonymizer.system import Closing, peak_memory, process_apart

VERDICTS = ("INFEASIBLE: ", "UNDECIDED: ")
NOTHING_WRITTEN = "Nothing was written."


@dataclass(frozen=True)
class Cost:
    """What a run in a process of its own took.

    Attributes
    ----------
    cpu_seconds: of the run in processor time, user and system, of all threads.
    search_cpu_seconds: of these, those of the search.
    peak_bytes: largest resident memory of the process; None where the system does not say.
    """

    cpu_seconds: float
    search_cpu_seconds: float
    peak_bytes: int | None


class Meter:
    """Measures what a run takes in this process, and its search."""

    def __init__(self) -> None:
        self._began = self._turned = time.process_time()
        self._searching, self._search = False, 0.0

    def begin(self, phase: Phase) -> None:
        """Note that a phase begins, perhaps again, and the one before ends."""
        now = time.process_time()
        if self._searching:
            self._search += now - self._turned
        self._searching, self._turned = phase is Phase.SEARCH, now

    @property
    def cost(self) -> Cost:
        """What was taken so far."""
        now = time.process_time()
        search = self._search + (now - self._turned if self._searching else 0.0)
        return Cost(round(now - self._began, 3), round(search, 3), peak_memory())


@dataclass(frozen=True)
class RunResult:
    """The result of a run.

    Attributes
    ----------
    reason: why there is no release; empty if there is one.
    report: of the run, without its steps; None if the run ended before its report.
    cost: of its process; None without one that ended by itself.
    """

    status: RunStatus
    seconds: float
    reason: str = ""
    report: dict[str, Any] | None = None
    cost: Cost | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result in plain JSON types."""
        cost = None if self.cost is None else asdict(self.cost)
        return {
            **vars(self),
            "status": self.status.value,
            "seconds": round(self.seconds, 3),
            "cost": cost,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RunResult:
        """Return the result that ``to_dict`` made.

        Raises
        ------
        KeyError, ValueError: the content is not from ``to_dict``.
        """
        status, cost = RunStatus(content["status"]), content["cost"]
        return cls(
            status,
            float(content["seconds"]),
            content["reason"],
            content["report"],
            None if cost is None else Cost(**cost),
        )


def run_to_result(work: Callable[[], Report]) -> RunResult:
    """Return the result of a run; only unexpected errors are raised."""
    started = time.monotonic()

    def after() -> float:
        return time.monotonic() - started

    try:
        report = work()
    except Infeasible as error:
        content = _without_steps(error.report)
        return RunResult(RunStatus(content["status"]), after(), _reason(str(error)), content)
    except InputError as error:
        return RunResult(RunStatus.REFUSED, after(), _reason(str(error)))
    except AuditFailed as error:
        return RunResult(RunStatus.FAILED, after(), _reason(str(error)))
    return RunResult(RunStatus.SATISFIED, after(), "", _without_steps(report))


def _without_steps(report: ReportLike) -> dict[str, Any]:
    """Return a report without its steps, of which there may be one for every candidate."""
    return {key: value for key, value in report.to_dict().items() if key != "steps"}


def _reason(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip() != NOTHING_WRITTEN]
    for prefix in VERDICTS:
        lines[0] = lines[0].removeprefix(prefix)
    return "; ".join(lines)


POLL = 0.1
"""Seconds between two checks of whether the user wants to stop."""


class WorkerPool(Closing):
    """Worker processes, at most ``workers`` at a time; closing the pool ends them."""

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers)
        self._running: set[subprocess.Popen[str]] = set()
        self._closed = False

    def close(self) -> None:
        """End the workers; a second call does nothing."""
        self._closed = True
        for process in list(self._running):
            process.kill()
        self._threads.shutdown(cancel_futures=True)

    def results(
        self, jobs: Mapping[int, Mapping[str, Any]], stopped: Callable[[], bool]
    ) -> Iterator[tuple[int, RunResult]]:
        """Yield the number and result of each job, in the order in which they end; fewer when stopped."""
        numbers: dict[Future[RunResult], int] = {
            self._threads.submit(self._do, job): number for number, job in jobs.items()
        }
        left = set(numbers)
        while left and not stopped():
            done, left = wait(left, timeout=POLL, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=numbers.__getitem__):
                yield numbers[future], future.result()

    def _do(self, job: Mapping[str, Any]) -> RunResult:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as messages:
            try:
                process = self._started(messages)
            except OSError as error:
                return RunResult(RunStatus.FAILED, 0.0, f"its process could not be started: {error.strerror}")
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(job) + "\n")
                process.stdin.flush()
                answer = process.stdout.read()
            except OSError:  # a broken pipe, under another name on Windows
                answer = ""
            finally:
                process.stdout.close()
                code = process.wait()
                self._running.discard(process)
                with suppress(OSError):
                    process.stdin.close()
            messages.seek(0)
            return _ended(answer, code, messages.read())

    def _started(self, messages: IO[str]) -> subprocess.Popen[str]:
        # Ctrl-C on the terminal reaches the parent only, which then ends its workers.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "anonymizer.commands.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
            encoding="utf-8",
            # The worker finds modules in the same folders as this process.
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
                "PYTHONIOENCODING": "utf-8:backslashreplace",
            },
            **process_apart(),
        )
        self._running.add(process)
        if self._closed:
            process.kill()
        return process


def _ended(answer: str, code: int, messages: str) -> RunResult:
    """Return the answer of a worker; without an answer, the end of its process."""
    try:
        return RunResult.from_dict(json.loads(answer))
    except (ValueError, KeyError, TypeError):
        return RunResult(RunStatus.FAILED, 0.0, _death(code, messages))


def _death(code: int, messages: str) -> str:
    if code < 0:
        return f"its process was ended by signal {-code}; with too little memory, try --workers 1"
    lines = messages.strip().splitlines()
    return f"its process ended with code {code}: {lines[-1] if lines else 'no message'}"


PATIENCE = 5.0
"""Seconds for cleaning up after the parent process has ended."""


def job_of(config: Config, folder: Path, plug_ins: Sequence[str] = ()) -> dict[str, Any]:
    """Return the job of a run.

    Parameters
    ----------
    folder: for the release until it is verified.
    plug_ins: ``MODULE:CLASS`` of search algorithms that no distribution names.
    """
    return {
        "plug_ins": list(plug_ins),
        "config": config.to_dict(),
        "name": config.source,
        "beside": str(config.folder.absolute()),
        "folder": str(folder),
    }


def main() -> None:
    """Do the job on standard input."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with, args=(sys.stdin,), daemon=True).start()
    answer = _own_output()
    for each in job["plug_ins"]:
        SEARCH_ALGORITHMS.enlist(each)
    config = load_config(job["config"]).located(Origin(job["name"], Path(job["beside"])))
    meter = Meter()
    with tempfile.TemporaryDirectory(dir=job["folder"]) as folder:
        watch = RunMonitor(begun=meter.begin)
        found = run_to_result(lambda: run_job(config, Path(folder) / "release", watch=watch))
    with answer:
        json.dump(replace(found, cost=meter.cost).to_dict(), answer)


def _own_output() -> TextIO:
    """Return standard output for the answer alone; output of libraries goes to standard error."""
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def _end_with(stream: TextIO) -> None:
    """Wait for the end of a stream, then end this process, by force after some seconds."""
    stream.read()
    _thread.interrupt_main()
    threading.Event().wait(PATIENCE)
    os._exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(1)
