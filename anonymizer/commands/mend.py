"""The option ``--mend`` of the command run: what a release shows is mended in the config that runs again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anonymizer.commands.run import run
from anonymizer.config.load import load_config, parse_override
from anonymizer.config.model import Config
from anonymizer.errors import ConfigError, Exposed, Infeasible, InputError
from anonymizer.exposure.measure import detector_of
from anonymizer.job.clock import UNWATCHED, RunMonitor
from anonymizer.job.job import Terms
from anonymizer.model.report import Report

ROUNDS = 3
"""Most rounds of changes."""


@dataclass(frozen=True)
class Attempt:
    """A config that was mended so far.

    Attributes
    ----------
    before: without the changes of the last round; None where there are none.
    mended: entries of the report about all changes.
    """

    config: Config
    before: Attempt | None = None
    mended: tuple[dict[str, Any], ...] = ()

    @property
    def rounds(self) -> int:
        """Rounds of changes so far."""
        return 0 if self.before is None else 1 + self.before.rounds

    def after(self, report: Mapping[str, Any]) -> Attempt | None:
        """Return the attempt that mends what a report found; None if nothing is left to change."""
        if self.rounds == ROUNDS or "exposure" not in report:
            return None
        loss = report["search"]["objective"]
        entries, config = [], self.config
        for entry in _entries(self._open(report["exposure"]["findings"]), self.rounds + 1, loss):
            # Some changes contradict the config, such as the loss of a column that a constraint names.
            with suppress(ConfigError):
                config = _changed(config, entry["set"])
                entries.append(entry)
        before = ({"loss_after": loss, **each} for each in self.mended)
        return Attempt(config, self, (*before, *entries)) if entries else None

    def _open(self, findings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the findings whose changes were not taken back, nor a constraint among them."""
        failed = [each["set"] for each in self.mended if "taken_back" in each]
        asked = {change for own in failed for change in own if change.startswith(NEW_CONSTRAINT)}
        return [each for each in findings if each["set"] not in failed and asked.isdisjoint(each["set"])]


def run_mended(
    config: Config,
    directory: Path,
    *,
    overwrite: bool = False,
    strict: bool = False,
    watch: RunMonitor = UNWATCHED,
) -> Report:
    """Run a config; while its release shows too much, change the config and run again, at most three times.

    No constraint becomes weaker. Changes with which no release is possible are taken back. The config of the
    release is kept beside its report.

    Parameters
    ----------
    strict: whether a release that still shows too much is refused.

    Raises
    ------
    InputError, Infeasible, AuditFailed: as for ``run``, of the config as it was given.
    Exposed: the release still shows too much, and ``strict``.
    """
    attempt = Attempt(config)
    while True:
        terms = Terms(partial(_is_refused, attempt, strict), attempt.mended)
        try:
            return run(attempt.config, directory, overwrite=overwrite, watch=watch, terms=terms)
        except Exposed as exposed:
            further = attempt.after(exposed.report.to_dict())
            if further is None:
                raise
            attempt = further
        except (Infeasible, InputError) as error:
            if attempt.before is None:
                raise
            attempt = _taken_back(attempt, attempt.before, error)


def _is_refused(attempt: Attempt, strict: bool, report: Report) -> bool:
    """Return whether a release that shows too much is no result."""
    return strict or attempt.after(report.to_dict()) is not None


def _changed(config: Config, changes: Sequence[str]) -> Config:
    """Return a config with values replaced, and the command that runs it.

    Raises
    ------
    ConfigError: they do not fit it.
    """
    changed, command = load_config(config, changes), config.command
    return changed if command is None else changed.started_by(command.changed(*changes))


NEW_CONSTRAINT = "constraints.+="
"""Beginning of an override that adds a constraint."""


def _entries(
    findings: Sequence[Mapping[str, Any]], number: int, loss: float | None
) -> Iterator[dict[str, Any]]:
    """Yield what is changed for each finding; each column is changed once in a round."""
    changed = set[tuple[str | int, ...]]()
    for each in sorted(findings, key=lambda each: detector_of(each["kind"]).mended):
        own = [change for change in each["set"] if _place(change) not in changed]
        changed |= {_place(change) for change in own}
        if own:
            yield {
                "round": number,
                "kind": each["kind"],
                "finding": each["sentence"],
                "change": each["because"],
                "set": own,
                "loss_before": loss,
            }


def _place(change: str) -> tuple[str | int, ...]:
    """Return what a change replaces; a new constraint is itself."""
    path, _ = parse_override(change)
    return (change,) if path[-1] == "+" else tuple(path)


def _taken_back(attempt: Attempt, before: Attempt, error: Exception) -> Attempt:
    """Return an attempt without the changes of its last round that may be why it failed, and say so.

    Further constraints are the first of them; without any, all changes of the round are.
    """
    last = [each for each in attempt.mended if each["round"] == attempt.rounds]
    asking = [each for each in last if any(change.startswith(NEW_CONSTRAINT) for change in each["set"])]
    failed, others = asking or last, [each for each in last if each not in (asking or last)]
    why = " ".join(str(error).splitlines()[:2])
    said = [{**each, "loss_after": None, "taken_back": why} for each in failed]
    config = before.config
    for each in others:
        config = _changed(config, each["set"])
    kept = [each for each in attempt.mended if each["round"] < attempt.rounds]
    return Attempt(config, before, (*kept, *said, *others))
