"""Runs in processes of their own, some at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import IO, Any

from anonymizer.flow.comparing.ended import RunResult
from anonymizer.report.comparison import RunStatus
from anonymizer.system import Closing

POLL = 0.1
"""Seconds between two looks at whether the user wants an end."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
            except BrokenPipeError:
                answer = ""
            finally:
                process.stdout.close()
                code = process.wait()
                self._running.discard(process)
                _close(process.stdin)
            messages.seek(0)
            return _ended(answer, code, messages.read())

    def _started(self, messages: IO[str]) -> subprocess.Popen[str]:
        # A session of its own: Ctrl-C on the terminal is for the comparison, which then ends its workers.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "anonymizer.flow.comparing.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            text=True,
            encoding="utf-8",
            # Modules are found where this process finds them.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            start_new_session=True,
        )
        self._running.add(process)
        if self._closed:
            process.kill()
        return process


def _close(stream: IO[str]) -> None:
    try:
        stream.close()
    except BrokenPipeError:
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
