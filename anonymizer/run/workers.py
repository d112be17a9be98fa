"""Runs in worker processes of their own, several at a time, none leaving a release.

A worker process reads one line of JSON from standard input, the job, and writes one to standard output, the
result of the run in plain types. Standard input stays open as long as the parent process lives; at its end
the run is aborted.
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
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TextIO

from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.errors import AuditFailed, Infeasible, InputError, ReportLike
from anonymizer.model.report import Report
from anonymizer.report.comparison import RunStatus
from anonymizer.run.job import run
from anonymizer.system import Closing, process_apart

UNSAID = ("INFEASIBLE: ", "UNDECIDED: ")
NOTHING_WRITTEN = "Nothing was written."


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    Attributes
    ----------
    reason: why there is no release; empty when there is one.
    report: of the run, without its steps; None when it did not come to one.
    """

    status: RunStatus
    seconds: float
    reason: str = ""
    report: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain JSON types."""
        return {
            "status": self.status.value,
            "seconds": round(self.seconds, 3),
            "reason": self.reason,
            "report": self.report,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RunResult:
        """Return what ``to_dict`` gave.

        Raises
        ------
        KeyError, ValueError: it did not give this.
        """
        return cls(
            RunStatus(content["status"]), float(content["seconds"]), content["reason"], content["report"]
        )


def run_to_result(work: Callable[[], Report]) -> RunResult:
    """Do a run and return how it ended; only errors that are nobody's intent pass through."""
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
        return RunResult(RunStatus.FAILED, after(), f"verification failed: {_reason(str(error))}")
    return RunResult(RunStatus.SATISFIED, after(), "", _without_steps(report))


def _without_steps(report: ReportLike) -> dict[str, Any]:
    """Return a report without its steps, which may be as many as there are candidates."""
    return {key: value for key, value in report.to_dict().items() if key != "steps"}


def _reason(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip() != NOTHING_WRITTEN]
    for prefix in UNSAID:
        lines[0] = lines[0].removeprefix(prefix)
    return "; ".join(lines)


POLL = 0.1
"""Seconds between two looks at whether the user wants an end."""


class WorkerPool(Closing):
    """Worker processes, some at a time: ``with WorkerPool(4) as pool``; the end of it ends them."""

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
        """Yield how each job ended, by its number, in the order in which they end; fewer when stopped."""
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
            except OSError:  # a broken pipe, which Windows calls otherwise
                answer = ""
            finally:
                process.stdout.close()
                code = process.wait()
                self._running.discard(process)
                _close(process.stdin)
            messages.seek(0)
            return _ended(answer, code, messages.read())

    def _started(self, messages: IO[str]) -> subprocess.Popen[str]:
        # Ctrl-C on the terminal is for the comparison, which then ends its workers.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "anonymizer.run.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
            encoding="utf-8",
            # Modules are found where this process finds them.
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


def _close(stream: IO[str]) -> None:
    try:
        stream.close()
    except OSError:
        return


def _ended(answer: str, code: int, messages: str) -> RunResult:
    """Return what a worker answered; without an answer, how its process ended."""
    try:
        return RunResult.from_dict(json.loads(answer))
    except (ValueError, KeyError, TypeError):
        return RunResult(RunStatus.FAILED, 0.0, _death(code, messages))


def _death(code: int, messages: str) -> str:
    if code < 0:
        return f"its process was ended by signal {-code}; with too little memory, try --workers 1"
    lines = messages.strip().splitlines()
    return f"its process ended with code {code}: {lines[-1] if lines else 'it said nothing'}"


PATIENCE = 5.0
"""Seconds for cleaning up when whoever started the run is gone."""


def job_of(config: Config, folder: Path) -> dict[str, Any]:
    """Return the job of a run.

    Parameters
    ----------
    folder: where its release may stand until it was verified.
    """
    return {
        "config": config.to_dict(),
        "name": config.source,
        "beside": str(config.folder.absolute()),
        "folder": str(folder),
    }


def main() -> None:
    """Do the run that standard input asks for."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with, args=(sys.stdin,), daemon=True).start()
    answer = _own_output()
    config = load_config(job["config"]).located(Origin(job["name"], Path(job["beside"])))
    with tempfile.TemporaryDirectory(dir=job["folder"]) as folder:
        found = run_to_result(lambda: run(config, Path(folder) / "release"))
    with answer:
        json.dump(found.to_dict(), answer)


def _own_output() -> TextIO:
    """Return standard output for the answer alone; what libraries print there goes to standard error."""
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def _end_with(stream: TextIO) -> None:
    """Wait for the end of a stream, then end this process, by force if it takes long."""
    stream.read()
    _thread.interrupt_main()
    threading.Event().wait(PATIENCE)
    os._exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(1)
