"""How a run ended, in plain types that pass between processes and into files."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anonymizer.errors import AuditFailed, Infeasible, InputError
from anonymizer.model.report import Report
from anonymizer.report.comparison import RunStatus

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


def _without_steps(report: Report) -> dict[str, Any]:
    """Return a report without its steps, which may be as many as there are candidates."""
    return {key: value for key, value in report.to_dict().items() if key != "steps"}


def _reason(message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip() != NOTHING_WRITTEN]
    for prefix in UNSAID:
        lines[0] = lines[0].removeprefix(prefix)
    return "; ".join(lines)
