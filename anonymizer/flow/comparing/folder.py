"""The folder of a comparison: results of runs, kept for the next time, and what is shown of them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from anonymizer.errors import OutputError
from anonymizer.flow.comparing.ended import RunResult
from anonymizer.report.comparison import RunStatus

RUNS = "runs"
SHOWN = ("compare.csv", "compare.html")
KEPT = (RunStatus.SATISFIED, RunStatus.INFEASIBLE, RunStatus.UNDECIDED)
"""What another run of the same would find again; what was refused or failed is tried once more."""


class ComparisonFolder:
    """Where a comparison keeps each result as soon as it is there, by the fingerprint of its run.

    Parameters
    ----------
    directory: made when it does not exist.
    inputs: every file that the runs read; none may be part of the output.

    Raises
    ------
    OutputError: the folder cannot be written, or holds something else.
    """

    def __init__(self, directory: Path, inputs: Sequence[Path]) -> None:
        self.directory = directory
        self._check(inputs)
        try:
            (directory / RUNS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _refusal(directory, error) from error

    def _check(self, inputs: Sequence[Path]) -> None:
        runs = self.directory / RUNS
        outputs = [self.directory / name for name in SHOWN]
        for given in inputs:
            own = any(given.resolve() == path.resolve() or _same(given, path) for path in outputs)
            if own or given.resolve().is_relative_to(runs.resolve()):
                raise OutputError(
                    f"{given}: is an input and stands where output goes; choose another with -o"
                )
        strange = next((path for path in outputs if os.path.lexists(path)), None)
        if strange is not None and not runs.is_dir():
            raise OutputError(f"{strange}: is not of a comparison; move it away, or choose another with -o")

    def kept(self, fingerprint: str) -> RunResult | None:
        """Return the result of a run, None when there is none that can be read."""
        try:
            content = json.loads(self._path(fingerprint).read_text(encoding="utf-8"))
            return RunResult.from_dict(content) if content["fingerprint"] == fingerprint else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, fingerprint: str, found: RunResult) -> None:
        """Keep the result of a run, if another would find the same.

        Raises
        ------
        OutputError: it cannot be written.
        """
        if found.status in KEPT:
            content = {"fingerprint": fingerprint, **found.to_dict()}
            self._write(self._path(fingerprint), json.dumps(content, ensure_ascii=False) + "\n")

    def show(self, name: str, text: str) -> None:
        """Write one of the files that are shown, replacing an earlier one.

        Raises
        ------
        OutputError: it cannot be written.
        """
        self._write(self.directory / name, text)

    def _path(self, fingerprint: str) -> Path:
        return self.directory / RUNS / f"{fingerprint[:32]}.json"

    def _write(self, path: Path, text: str) -> None:
        """Write a file that appears whole or not at all."""
        staged = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with staged.open("w", encoding="utf-8", newline="") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            staged.replace(path)
        except OSError as error:
            staged.unlink(missing_ok=True)
            raise _refusal(self.directory, error) from error


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _refusal(directory: Path, error: OSError) -> OutputError:
    reason = error.strerror or type(error).__name__
    return OutputError(f"{directory}: cannot be written: {reason}; choose another with -o")
