"""A draft tried out: the first run of its config as far as a release, and what that shows.

What ``run --mend`` changes in a config, ``init`` has in its draft from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from anonymizer.config.model import Config
from anonymizer.config.section import plain
from anonymizer.errors import DataError, Infeasible, InputError
from anonymizer.exposure.finding import Exposure, Finding, Kind
from anonymizer.exposure.measure import detector_of
from anonymizer.job.advice import attribute_losses
from anonymizer.job.clock import UNWATCHED
from anonymizer.job.exposure import exposure_found
from anonymizer.job.remedy import settings_of
from anonymizer.job.source import DataSource
from anonymizer.model.table import Role
from anonymizer.plan.engine import engine_options
from anonymizer.plan.plan import Plan, plan_of
from anonymizer.plan.prepared import Found
from anonymizer.profile.proposal import Asked, Choices, Proposal, RoleProposal
from anonymizer.report.exposure import said_of
from anonymizer.report.facts import useless_columns
from anonymizer.report.small_counts import smallest_shown

T = TypeVar("T")

ROUNDS = 3
"""Most changes of a draft after trials."""

CELLS = 10_000_000
"""Most cells of a file that is tried."""

FEW = 100
"""Records below which no column is left out for what a release loses: all lose much, as in an example."""

COLUMNS = 150
"""Most columns of a file that is tried: reading each takes statements of its own."""


@dataclass(frozen=True)
class Trial:
    """What the release of a draft would show.

    Attributes
    ----------
    plan: of the draft.
    losses: share of its detail that each quasi-identifier loses.
    heights: levels of the hierarchy of each, without that of the values.
    starred: quasi-identifiers that are published as ``*`` for nearly all records.
    loss: of the objective.
    """

    plan: Plan
    exposure: Exposure
    losses: Mapping[str, float]
    heights: Mapping[str, int]
    starred: tuple[str, ...]
    loss: float

    @property
    def named(self) -> frozenset[str]:
        """Columns whose hidden values another column names: left out, they would be no secret either."""
        return frozenset(each.about for each in self.exposure.findings if each.about is not None)

    def asked(self, proposal: Proposal, choices: Choices) -> Asked:
        """Return what the draft should have instead, together with what was asked before.

        A role that the user chose stays, and no sensitive column is left out but one whose values nearly all
        name few.
        """
        before = choices.asked
        roles, settings = dict(before.roles), dict(before.settings)
        units = before.units
        columns = {each.name: each for each in proposal.columns}
        for finding in sorted(self.exposure.findings, key=lambda each: detector_of(each.kind).mended):
            remedy, why = finding.remedy, self._why(finding)
            few = finding.kind is Kind.RARE_VALUES and proposal.rows >= FEW
            assert remedy is not None, "a measured finding has one"
            for name, given in settings_of(self.plan, remedy, self.exposure.k).items():
                own = plain(given) if isinstance(given, Mapping) else {"role": given}
                role, new = Role(own["role"]), name not in roles and name not in settings
                if columns[name].role is role and role is not Role.QUASI_IDENTIFIER:
                    settings[name] = own
                elif new and not columns[name].answered and _may_become(columns[name].role, role, few):
                    was = columns[name].proposed
                    roles[name] = RoleProposal(role, was.ground, f"{was.reason}; {why}", was.doubtful)
            units |= {remedy.counted} if remedy.counted is not None else set()
        roles |= self._out(proposal, roles)
        return Asked(roles, settings, units, before.rules)

    def _out(self, proposal: Proposal, roles: Mapping[str, RoleProposal]) -> dict[str, RoleProposal]:
        """Return the columns to leave out, of which a release says next to nothing; never all of them."""
        if len(self.starred) >= len(self.losses) or proposal.rows < FEW:
            return {}
        columns = {each.name: each for each in proposal.columns}
        why = "published as * for at least 90 % of the records in a first release"
        return {
            name: RoleProposal(Role.DROP, own.ground, f"{own.reason}; {why}")
            for name in self.starred
            if not columns[name].answered and not columns[name].question and name not in self.named
            for own in [roles.get(name, columns[name].proposed)]
        }

    def _why(self, finding: Finding) -> str:
        """Return a finding in words."""
        said = said_of(finding, self.exposure, smallest_shown(self.plan.goal.k_of_reports))
        return f"otherwise {detector_of(finding.kind).sentence(finding, said)} in a first release"


def _may_become(now: Role, role: Role, few: bool) -> bool:
    """Return whether a draft may give a column another role on its own; ``few``: as its values are rare."""
    return few or not (now is Role.SENSITIVE and role is Role.DROP)


def trial_of(config: Config, source: DataSource) -> Trial | None:
    """Return what the first release of a config would show; None without one, or where it is not measured."""
    return _of_first(config, source, _trial)


def loss_of(config: Config, source: DataSource) -> float | None:
    """Return what the first release of a config would lose, as ``Trial.loss``; None without one."""
    return _of_first(config, source, lambda found: _mean(_losses(found)))


def _of_first(config: Config, source: DataSource, measure: Callable[[Found], T]) -> T | None:
    """Return a measure of the first release of a config; None without one."""
    try:
        with source.task(plan_of(config).for_a_look(), engine_options(config), UNWATCHED) as task:
            return measure(task.find())
    except (DataError, InputError, Infeasible):
        return None


def _losses(found: Found) -> dict[str, float]:
    merged = found.promised.merged
    losses = attribute_losses(merged.recoding).tolist()
    return {each.name: loss for each, loss in zip(merged.table.quasi_identifiers, losses, strict=True)}


def _mean(losses: Mapping[str, float]) -> float:
    return float(np.mean(list(losses.values())))


def _trial(found: Found) -> Trial | None:

    exposure, merged, losses = exposure_found(found), found.promised.merged, _losses(found)
    if exposure is None:
        return None
    return Trial(
        found.prepared.plan,
        exposure,
        losses,
        {each.name: each.hierarchy.height for each in merged.table.quasi_identifiers},
        useless_columns(merged).starred,
        _mean(losses),
    )


Tried = Callable[[Proposal], Trial | None]
"""Returns what the first release of a proposal shows."""

Losing = Callable[[Proposal, Mapping[str, Any]], float | None]
"""Returns what the first release of a proposal loses, with some sections of its config replaced."""


def mended_draft(
    proposal: Proposal,
    choices: Choices,
    draft: Callable[[Choices], Proposal],
    tried: Tried,
    rounds: int = ROUNDS,
) -> tuple[Proposal, Choices, Trial | None]:
    """Return a draft whose first release shows as little as a few trials reach, and what that shows.

    What leads to a draft without a release is taken back.

    Parameters
    ----------
    draft: returns the proposal with what trials asked for.
    tried: returns what a proposal's first release shows.
    rounds: most changes.
    """
    columns = len(proposal.columns)
    if columns > COLUMNS or proposal.rows * columns > CELLS:
        return proposal, choices, None
    kept: tuple[Proposal, Choices, Trial | None] = proposal, choices, None
    for number in range(rounds + 1):
        trial = tried(proposal)
        if trial is None:
            break
        kept = proposal, choices, trial
        asked = trial.asked(proposal, choices)
        if asked == choices.asked or number == rounds:
            break
        choices = replace(choices, asked=asked)
        proposal = draft(choices)
    return kept
