"""What to do with a draft whose release would lose more than half: three ways, each tried.

Leaving out the columns that lose most, beginning the costly ones at their coarsest groups, and adversaries
who know some of the columns only. The first two protect as the draft does, so that one of them may be taken;
the third protects less, which is for people to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import comb
from typing import Any

from anonymizer.commands.trial import FEW, Losing, Trial, Tried, mended_draft
from anonymizer.errors import listed, plural
from anonymizer.model.table import Role
from anonymizer.profile.proposal import Choices, Proposal, RoleProposal
from anonymizer.profile.ways import HALF, Way
from anonymizer.search.base import FULL_DOMAIN

LOOKS = 3
"""Most runs that look for the fewest columns to leave out."""

KNOWN = 3
"""Columns that an adversary of the third way knows."""

MOST_SETS = 130
"""Most sets of columns that such adversaries may know."""

MOST_COUNTED = 1_000_000
"""Most records of all these sets, times models."""

NODES = 30
"""Transformations that the lattice evaluates for them."""

MANY_NAMES = 6
"""Columns that a sentence names."""


def of_use(
    proposal: Proposal,
    choices: Choices,
    trial: Trial,
    draft: Callable[[Choices], Proposal],
    tried: Tried,
    losing: Losing,
) -> Proposal:
    """Return the draft that loses at most half, with the other ways; the same draft if it does already.

    What is left out lets others keep more, so that what is taken is mended once more.

    Parameters
    ----------
    trial: of the proposal.
    """
    if trial.loss <= HALF or proposal.rows < FEW:
        return proposal
    own = {each.name: each for each in proposal.columns if each.role is Role.QUASI_IDENTIFIER}
    costly = sorted(own, key=lambda name: -trial.losses[name])
    free = [
        name
        for name in costly
        if not own[name].answered and not own[name].question and name not in trial.named
    ]
    kept = {name: own[name].settings(Role.QUASI_IDENTIFIER) for name in own}
    first = Way(plural(len(own), "quasi-identifier"), "Nothing is left out", trial.loss, len(own))
    out = _fewest_out(proposal, free, len(own), losing)
    coarse = _coarsest(proposal, trial, kept, losing)
    fewer = _known_in_part(proposal, kept, losing)
    best = min(
        (way for way in (out, coarse) if way is not None and way.loss <= HALF),
        key=lambda way: way.of_all,
        default=None,
    )
    others = [way for way in (out, coarse, fewer) if way is not None and way is not best]
    if best is None:
        return replace(proposal, ways=(replace(first, taken=True), *others))
    if best is coarse:
        asked = replace(choices.asked, settings={**choices.asked.settings, **best.sections["attributes"]})
    else:
        roles = {
            name: RoleProposal(
                Role.DROP,
                own[name].proposed.ground,
                f"{own[name].reason}; with all columns, it would lose {trial.losses[name]:.2f} of its detail",
            )
            for name in best.sections["attributes"]
        }
        asked = replace(choices.asked, roles={**choices.asked.roles, **roles})
    choices = replace(choices, asked=asked)
    taken, _, last = mended_draft(draft(choices), choices, draft, tried, rounds=1)
    loss = best.loss if last is None else last.loss
    back = {name: kept[name] for name in best.sections["attributes"]}
    ways = (
        replace(first, sections={"attributes": back}),
        replace(best, loss=loss, taken=True),
        *(replace(way, sections=_together(back, way.sections)) for way in others),
    )
    return replace(taken, ways=ways)


def _together(back: Mapping[str, Any], sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return what another way changes in a draft that has taken the best one."""
    return {**sections, "attributes": {**back, **sections.get("attributes", {})}}


def _fewest_out(proposal: Proposal, free: Sequence[str], width: int, losing: Losing) -> Way | None:
    """Return the way that leaves out as few of some columns as possible; None without one that loses less."""
    best, low, high = None, 1, min(len(free), width - 1)
    for _ in range(LOOKS):
        if low > high:
            break
        number = (low + high) // 2
        out = {name: {"role": Role.DROP.value} for name in free[:number]}
        loss = losing(proposal, {"attributes": out})
        if loss is None or loss > HALF:
            low = number + 1
            continue
        high = number - 1
        best = Way(
            f"leaves out {_named(free[:number])}",
            f"What is left out cannot be analysed; the other {plural(width - number, 'column')} keep more",
            loss,
            width,
            number,
            {"attributes": out},
        )
    return best


def _coarsest(
    proposal: Proposal, trial: Trial, kept: Mapping[str, dict[str, Any]], losing: Losing
) -> Way | None:
    """Return the way that begins costly columns at their coarsest groups; None where none has groups."""
    groups = {
        name: {**kept[name], "levels": {**kept[name].get("levels", {}), "min": trial.heights[name] - 1}}
        for name in kept
        if trial.losses[name] > HALF and trial.heights[name] > 2
    }
    loss = losing(proposal, {"attributes": groups}) if groups else None
    if loss is None:
        return None
    return Way(
        f"begins {_named(list(groups))} at {'its' if len(groups) == 1 else 'their'} coarsest groups",
        "Nobody gets more detail of them than these groups",
        loss,
        len(kept),
        sections={"attributes": groups},
    )


def _known_in_part(proposal: Proposal, kept: Mapping[str, Any], losing: Losing) -> Way | None:
    """Return the way for adversaries who know some of the columns; None where these are too few or many."""
    models = [dict(model) for model, _ in proposal.constraints]
    sets = comb(len(kept), KNOWN)
    counted = sets * proposal.rows * len(models)
    by_units = bool(proposal.counted)
    if len(kept) <= KNOWN or sets > MOST_SETS or counted > MOST_COUNTED or by_units:
        return None
    sections = {
        "constraints": [],
        "scenarios": {"acquaintance": {"known": {"any": KNOWN, "of": list(kept)}, "models": models}},
        "algorithm": {"name": FULL_DOMAIN},
        "budget": {"nodes": NODES},
    }
    loss = losing(proposal, sections)
    if loss is None:
        return None
    return Way(
        f"protects against who knows any {KNOWN} of the {len(kept)} columns",
        "Who knows more of them may find a record",
        loss,
        len(kept),
        sections=sections,
    )


def _named(names: Sequence[str]) -> str:
    """Return names of columns in words, of many their number."""
    if len(names) > MANY_NAMES:
        return f"{', '.join(names[:MANY_NAMES])} and {plural(len(names) - MANY_NAMES, 'more column')}"
    return listed(names)
