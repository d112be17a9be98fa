"""A draft tried out: the first run of its config as far as a release, and what that shows.

What ``run --mend`` changes in a config, ``init`` has in its draft from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from anonymizer.config.model import Config
from anonymizer.config.section import plain
from anonymizer.errors import DataError, Infeasible, InputError
from anonymizer.exposure.finding import Exposure, Finding
from anonymizer.exposure.measure import detector_of
from anonymizer.job.clock import UNWATCHED
from anonymizer.job.exposure import exposure_found
from anonymizer.job.remedy import place_of_mending, settings_of
from anonymizer.job.source import DataSource
from anonymizer.model.recoding import Bound
from anonymizer.model.table import Role
from anonymizer.plan.engine import engine_options
from anonymizer.plan.plan import Plan, plan_of
from anonymizer.profile.proposal import Asked, Choices, Proposal, RoleProposal
from anonymizer.report.exposure import said_of
from anonymizer.report.facts import smallest_shown

ROUNDS = 3
"""Most trials of a draft."""

CELLS = 10_000_000
"""Most cells of a file that is tried."""

COLUMNS = 150
"""Most columns of a file that is tried: reading each takes statements of its own."""


@dataclass(frozen=True)
class Trial:
    """What the release of a draft would show.

    Attributes
    ----------
    plan: of the draft.
    """

    plan: Plan
    exposure: Exposure

    def asked(self, proposal: Proposal, choices: Choices) -> Asked:
        """Return what the draft should have instead, together with what was asked before.

        A role that the user chose stays, and no sensitive column is left out.
        """
        before = choices.asked
        roles, settings = dict(before.roles), dict(before.settings)
        units = before.units
        columns = {each.name: each for each in proposal.columns}
        for finding in sorted(self.exposure.findings, key=lambda each: place_of_mending(each.kind)):
            remedy, why = finding.remedy, self._why(finding)
            assert remedy is not None, "a measured finding has one"
            for name, given in settings_of(self.plan, remedy, self.exposure.k).items():
                own = plain(given) if isinstance(given, Mapping) else {"role": given}
                role, new = Role(own["role"]), name not in roles and name not in settings
                if columns[name].role is role and name not in roles and role is not Role.QUASI_IDENTIFIER:
                    settings[name] = own
                elif new and not columns[name].answered and _may_become(columns[name].role, role):
                    was = columns[name].proposed
                    roles[name] = RoleProposal(role, was.ground, f"{was.reason}; {why}", was.doubtful)
            units |= {remedy.counted} if remedy.counted is not None else set()
        return Asked(roles, settings, units, before.rules)

    def _why(self, finding: Finding) -> str:
        """Return a finding in words."""
        said = said_of(finding, self.exposure, smallest_shown(self.plan.k_of_reports))
        return f"otherwise {detector_of(finding).sentence(finding, said)} in a first release"


def _may_become(now: Role, role: Role) -> bool:
    """Return whether a draft may give a column another role on its own."""
    return not (now is Role.SENSITIVE and role is Role.DROP)


def trial_of(config: Config, source: DataSource) -> Trial | None:
    """Return what the first release of a config would show; None without one, or where it is not measured."""
    try:
        # Whether a value has the text of missing ones does not change what is shown.
        plan = replace(plan_of(config), bound=Bound.NONE, marker=None)
        with source.task(plan, engine_options(config), UNWATCHED) as task:
            found = task.find()
            exposure = exposure_found(found)
            return None if exposure is None else Trial(found.prepared.plan, exposure)
    except (DataError, InputError, Infeasible):
        return None


def mended_draft(
    proposal: Proposal,
    choices: Choices,
    draft: Callable[[Choices], Proposal],
    tried: Callable[[Proposal], Trial | None],
) -> Proposal:
    """Return a draft whose first release shows as little as a few trials reach.

    Parameters
    ----------
    draft: returns the proposal with what trials asked for.
    tried: returns what a proposal's first release shows.
    """
    for _ in range(ROUNDS):
        columns = len(proposal.columns)
        trial = tried(proposal) if columns <= COLUMNS and proposal.rows * columns <= CELLS else None
        if trial is None or not trial.exposure.findings:
            break
        asked = trial.asked(proposal, choices)
        if asked == choices.asked:
            break
        choices = replace(choices, asked=asked)
        proposal = draft(choices)
    return proposal
