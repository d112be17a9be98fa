"""Advice about a release that says little: the columns that lose most, and changes with their measured gain.

The gains are those of quick searches on a part of the records. What they do is bounded by numbers of rows and
columns, never by time, so that the same run gives the same advice. A draft with many quasi-identifiers is
tried in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from math import inf
from typing import Any, NamedTuple

import numpy as np

from anonymizer.adversary.candidate import adversary_of
from anonymizer.attacks.base import draw_sample
from anonymizer.config.load import load_config
from anonymizer.config.section import dotted
from anonymizer.errors import ConfigError, InputError, Interrupted, listed, plural
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.arrays import FloatArray
from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import QuasiIdentifier, Role, Table
from anonymizer.plan.goal import Goal
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found
from anonymizer.search.base import (
    QUICK,
    SEARCH_ALGORITHMS,
    AttackCheck,
    Control,
    SearchAlgorithm,
    SearchProblem,
)

MUCH = 0.5
"""Loss from which on a run looks for better settings."""

STARS = 0.9
"""Loss from which on nearly every cell is ``*``: other algorithms are tried then, and attacked if need be."""

CELLS = 60_000
"""Maximum number of cells, rows times quasi-identifiers, that a quick search reads."""

UNIT_CELLS = 100_000
"""The same where persons or other units are counted: all records are read then, or no search is made."""

ATTACKED_CELLS = 20_000
"""The same where each release is attacked."""

SEARCHES = 60
"""Maximum number of quick searches times quasi-identifiers."""

COLUMNS = 5
"""Maximum number of columns that are left out, one at a time."""

NODES = 150
"""Maximum number of candidates of a quick search in the lattice."""

NARROW = 10
"""Maximum number of quasi-identifiers whose lattice is searched quickly."""

SHOWN = 3
"""Maximum number of changes that are reported."""

LIMITS = (Decimal("0.02"), Decimal("0.05"), Decimal("0.1"))
"""Suppression limits to try."""

LEAST = 0.005
"""Minimum gain of a change that is reported."""

ROUNDED = 0.005
"""Relative error of a number of three digits."""


class Change(NamedTuple):
    """A change of the config.

    Attributes
    ----------
    what: it does, in words.
    overrides: as for ``--set``.
    problem: the changed one.
    without: positions of the quasi-identifiers that it leaves out.
    search: another algorithm; None for the quick one.
    """

    what: str
    overrides: tuple[str, ...]
    problem: SearchProblem
    without: tuple[int, ...] = ()
    search: SearchAlgorithm | None = None


def advice_of(found: Found, stopped: Callable[[], bool]) -> dict[str, Any] | None:
    """Return the ``advice`` entry of the report; None if the release says enough.

    It has the columns that lose most, and at most three changes, those that gain most first. A gain is the
    decrease of the mean loss of all quasi-identifiers that stay, measured by the same quick search.

    Parameters
    ----------
    stopped: returns whether the user wants the run to end; nothing is measured then.
    """
    from anonymizer.report.facts import useless_columns  # noqa: PLC0415 - forecasts need no report

    problem, merged = found.prepared.problem, found.promised.merged
    if found.prepared.plan.goal.algorithm.in_groups or problem.has_scenarios:
        # Without a column, a scenario would name one that is missing.
        return None
    losses = attribute_losses(merged.recoding)
    named = useless_columns(merged)
    attributes = merged.table.quasi_identifiers
    if _mean(losses, attributes) < MUCH and not (named.starred or named.coarse):
        return None
    order = sorted(range(len(losses)), key=lambda at: (-losses[at], at))
    columns = [
        {
            "attribute": attributes[at].name,
            "loss": float(f"{losses[at]:.3g}"),
            "published_as": named.form(attributes[at].name),
        }
        for at in order
        if losses[at] >= MUCH
    ]
    starred = tuple(at for at, each in enumerate(attributes) if each.name in named.starred)
    return {"columns": columns, **_measured(found.prepared.plan, problem, losses, starred, stopped)}


MANY = 9
"""Number of quasi-identifiers from which on a draft is tried."""

DRAFT_CELLS = 200_000
"""Maximum number of cells, rows times quasi-identifiers, that show what a draft loses."""

FIRST_LOOK = 25_000
"""Cells that are tried first: more records lose less, so a draft that loses little of these needs no more."""


class Forecast(NamedTuple):
    """What a config is expected to lose.

    Attributes
    ----------
    attributes: number of quasi-identifiers.
    k: of k-anonymity, None without.
    loss: mean over the quasi-identifiers, measured by ``algorithm`` on some records.
    tried, records: number of these, and of all.
    columns: those in which the release keeps most, at the cost of the others.
    others: mean loss of the others, with and without these.
    """

    attributes: int
    k: int | None
    loss: float
    algorithm: str
    tried: int
    records: int
    columns: tuple[str, ...]
    others: tuple[float, float]

    def warning(self) -> str:
        """Return the warning of a draft."""
        asked = "its constraints" if self.k is None else f"k = {self.k}"
        tried = "all records"
        if self.tried < self.records:
            tried = f"{self.tried:,} of the records; with all of them it is less"
        words = (
            f"{self.attributes} quasi-identifiers is a lot: with {asked}, expect to lose "
            f"{100 * self.loss:.0f} % of their detail (measured by {self.algorithm} on {tried})"
        )
        before, after = self.others
        if before - after < LEAST:
            return words
        most, number = listed([f"'{name}'" for name in self.columns]), len(self.columns)
        these = "it" if number == 1 else f"these {number}"
        return (
            f"{words}. {most} cost{'s' if number == 1 else ''} the others most: the other "
            f"{self.attributes - number} columns lose {100 * before:.0f} % of their detail, and would lose "
            f"{100 * after:.0f} % if you drop {these}"
        )


def forecast(problem: SearchProblem) -> Forecast | None:
    """Return what Mondrian loses on a problem; None if that is little, or takes long to find out."""
    attributes = problem.table.quasi_identifiers
    if problem.source is not None or not problem.table.measure.plain or not problem.gate.open:
        return None
    search = SEARCH_ALGORITHMS[QUICK]()
    part = _part(problem, FIRST_LOOK // len(attributes))
    trial = Control(explained=False)
    before = _searched(search, part, trial)
    some = part.table.records < problem.table.records
    if some and before is not None and _mean(before, attributes) >= MUCH:
        part = _part(problem, DRAFT_CELLS // len(attributes))
        before = _searched(search, part, trial)
    if before is None or _mean(before, attributes) < MUCH:
        return None
    dearest = tuple(_by_bits_kept(part.table, before)[:SHOWN])
    after = _searched(search, _without(part, dearest, ()).problem, trial)
    others = [_mean(each, attributes, dearest) for each in (before, before if after is None else after)]
    return Forecast(
        len(attributes),
        problem.k,
        _mean(before, attributes),
        search.name,
        part.table.records,
        problem.table.records,
        tuple(attributes[at].name for at in dearest),
        (others[0], others[1]),
    )


def _measured(
    plan: Plan,
    problem: SearchProblem,
    losses: FloatArray,
    starred: tuple[int, ...],
    stopped: Callable[[], bool],
) -> dict[str, Any]:
    """Return the changes that gain, and how they were measured; none where a search would take long.

    Parameters
    ----------
    losses: of each quasi-identifier in the release, shape (attributes,).
    """
    width, attacked = len(problem.table.quasi_identifiers), not problem.gate.open
    stars = _mean(losses, problem.table.quasi_identifiers) >= STARS
    search = _search_of(plan.goal, width, attacked=attacked)
    quick = (
        problem.source is None
        # A part of the records has a part of each person's.
        and (problem.table.measure.plain or width * problem.table.records <= UNIT_CELLS)
        and problem.table.population is None
        and not plan.counting.needs_households
        and plan.counting.pseudonym is None
        and (not attacked or (stars and not plan.counting.units))
        and problem.suppression in search.suppressions()
        and _judges_quickly(problem)
    )
    most = ATTACKED_CELLS if attacked else UNIT_CELLS if not problem.table.measure.plain else CELLS
    part = _part(problem, most // width) if quick else problem
    trial = Control(explained=False, stopped=stopped, memory={})
    before: FloatArray | None = None
    if quick:
        # What attacks leave of a release of stars needs no search to be known.
        before = losses if attacked else _searched(search, part, trial)
    changes = [] if before is None else _gains(plan, search, part, before, starred, trial)
    if stopped():
        changes = []
    records = part.table.records if changes else 0
    return {"measured_by": search.name if changes else None, "records": records, "changes": changes}


def _search_of(goal: Goal, width: int, *, attacked: bool) -> SearchAlgorithm:
    """Return the quick search that measures changes: the plan's own where it is quick."""
    own = goal.algorithm
    if own.name == QUICK or (own.full_domain and width <= NARROW and not attacked):
        return own
    return SEARCH_ALGORITHMS[QUICK]()


def _judges_quickly(problem: SearchProblem) -> bool:
    """Return whether a candidate's suppressed records are found without an integer programme for each class.

    Those of single records are where the conditions are on one attribute, under a fixed reference, and count
    records.
    """
    if problem.suppression is not SuppressionMethod.RECORDS:
        return problem.suppression is SuppressionMethod.CLASSES
    constraints = problem.class_constraints
    moving = problem.moving_reference and any(each.model.uses_reference for each in constraints)
    conditions = {(each.attribute, each.combined) for each in constraints if each.attribute is not None}
    return len(conditions) <= 1 and not moving and problem.table.measure.plain


def _part(problem: SearchProblem, most: int) -> SearchProblem:
    """Return the problem of some records, drawn by the seed, with ``loss`` as its objective."""
    table = problem.table
    counts = draw_sample(table.counts, most, np.random.default_rng([problem.seed, len("advice")]))
    kept = counts > 0
    part = replace(table, codes=table.codes[kept], measure=replace(table.measure, records=counts[kept]))
    limit = problem.limit * part.records // table.records
    metric = LeafShareLoss()
    metric.by_weights = part.sampling is not None
    gate = AttackCheck(problem.gate.constraints, problem.seed, seen=adversary_of)
    return replace(problem, table=part, limit=limit, metric=metric, gate=gate)


def _searched(search: SearchAlgorithm, problem: SearchProblem, trial: Control) -> FloatArray | None:
    """Return the loss of each quasi-identifier in the best recoding found; None without one.

    Parameters
    ----------
    trial: its ``memory`` is of searches of the same problem, with all or fewer columns.
    """
    try:
        if search.name == QUICK:
            # It cuts to its end, as its first cuts do not show which columns cost most; merging what it cut
            # lowers the losses of all.
            outcome = search.first(problem, trial)
        else:
            outcome = search.search(problem, replace(trial, nodes=NODES))
    except (InputError, Interrupted):  # the algorithm does not support the problem, or the user ends the run
        return None
    return None if outcome.recoding is None else attribute_losses(outcome.recoding)


def attribute_losses(recoding: Recoding) -> FloatArray:
    """Return the loss of each quasi-identifier, by the weights of the table if any, shape (attributes,)."""
    table, metric = recoding.table, LeafShareLoss()
    people = None if table.sampling is None else table.row_people
    positions = range(len(table.quasi_identifiers))
    return np.array([metric.mean(recoding, position, people) for position in positions])


def _mean(losses: FloatArray, attributes: Sequence[QuasiIdentifier], without: Sequence[int] = ()) -> float:
    """Return the weighted mean of the losses, without some attributes."""
    weights = np.array([each.weight for each in attributes], dtype=np.float64)
    weights[list(without)] = 0
    return float(losses @ weights / weights.sum()) if weights.sum() else 0.0


def _objective(mean: float, attributes: Sequence[QuasiIdentifier], without: Sequence[int]) -> float:
    """Return an objective that is at least that of a recoding with this mean loss of the other attributes."""
    weights = np.array([each.weight for each in attributes], dtype=np.float64)
    if not weights.sum():
        return inf
    share = float(weights[list(without)].sum() / weights.sum())
    return mean * (1 - share) + share + 1e-9


def _gains(
    plan: Plan,
    search: SearchAlgorithm,
    part: SearchProblem,
    before: FloatArray,
    starred: tuple[int, ...],
    trial: Control,
) -> list[dict[str, Any]]:
    """Return the changes that gain most, measured.

    Parameters
    ----------
    before: losses without a change.
    trial: how they were measured, with what that search keeps for others.
    """
    attributes = part.table.quasi_identifiers
    columns = _by_bits_kept(part.table, before)[:COLUMNS]
    most = SHOWN if not part.table.measure.plain else max(SHOWN, SEARCHES // len(attributes))
    tried = _changes(plan.goal, search, part, before, starred, columns)
    changes = list(islice((each for each in tried if _is_allowed(plan, each)), most))
    found: dict[int, dict[str, Any]] = {}
    # Columns gain most: after these, the others need not be searched further than to what is shown.
    for place in sorted(range(len(changes)), key=lambda at: not changes[at].without):
        change = changes[place]
        old = _mean(before, attributes, change.without)
        gains = sorted(each["gain"] for each in found.values())
        enough = gains[-SHOWN] * (1 - ROUNDED) if len(gains) >= SHOWN else LEAST
        below = _objective(old - enough, attributes, change.without)
        # Without a column, the problem is the same at fewer levels.
        memory = trial.memory if change.without else None
        own = replace(trial, below=below, memory=memory)
        after = _searched(change.search or search, change.problem, own)
        if after is None:
            continue
        new = _mean(after, attributes, change.without)
        if old - new >= LEAST:
            found[place] = {
                "change": change.what,
                "left_out": [attributes[at].name for at in change.without],
                "set": list(change.overrides),
                "command": None,
                "loss_before": float(f"{old:.3g}"),
                "loss_after": float(f"{new:.3g}"),
                "gain": float(f"{old - new:.3g}"),
            }
    best = [found[place] for place in sorted(found, key=lambda at: (-found[at]["gain"], at))[:SHOWN]]
    if plan.command is not None:
        # Two runs of a config have the same report, wherever they write it.
        for number, each in enumerate(best, start=1):
            each["command"] = str(plan.command.changed(*each["set"]).beside(number))
    return best


def _is_allowed(plan: Plan, change: Change) -> bool:
    """Return whether the changed config is valid: an attack, say, may name a column to be left out."""
    try:
        load_config(plan.shown, change.overrides)
    except ConfigError:
        return False
    return True


def _changes(
    goal: Goal,
    search: SearchAlgorithm,
    part: SearchProblem,
    before: FloatArray,
    starred: tuple[int, ...],
    dearest: Sequence[int],
) -> Iterator[Change]:
    """Yield the changes to try: one of each kind first, then further columns.

    Parameters
    ----------
    before: losses without a change, shape (attributes,).
    starred: columns that the release publishes as ``*``.
    dearest: columns to leave out, one at a time.
    """
    wide = search.name != goal.algorithm.name and (goal.algorithm.full_domain or not part.gate.open)
    other = (f"algorithm={{name: {search.name}}}",) if wide else ()
    # A release of stars because of attacks says nothing about columns.
    columns = [_without(part, (at,), other) for at in dearest if part.gate.open]
    if part.gate.open and 1 < len(starred) < len(part.table.quasi_identifiers):
        yield _without(part, starred, other)
    yield from columns[:1]
    stars = _mean(before, part.table.quasi_identifiers) >= STARS
    yield from _other_labels(goal, part, starred)
    if search.full_domain or stars:
        yield from _other_search(goal, part)
        yield from _suppressing_more(part, other)
    yield from _weaker(goal, part, other)
    yield from columns[1:]


def _by_bits_kept(table: Table, losses: FloatArray) -> list[int]:
    """Return the positions of the quasi-identifiers, those first of which a release keeps most bits.

    What it keeps of one, it cannot keep of the others: on Adult and on correlated numbers, these were the
    columns without which the others lost least.
    """
    if len(table.quasi_identifiers) == 1:
        return []
    kept = []
    for attribute, loss in zip(table.quasi_identifiers, losses.tolist(), strict=True):
        shares = attribute.column.counts[attribute.column.counts > 0] / attribute.column.counts.sum()
        kept.append(float(-(shares * np.log2(shares)).sum()) * (1 - loss))
    return sorted(range(len(kept)), key=lambda at: (-kept[at], at))


def _without(part: SearchProblem, positions: tuple[int, ...], other: tuple[str, ...]) -> Change:
    """Return the change that leaves out columns: at their top they split no class."""
    own = list(part.table.quasi_identifiers)
    for at in positions:
        own[at] = replace(own[at], minimum=own[at].hierarchy.height, maximum=own[at].hierarchy.height)
    names = [own[at].name for at in positions]
    dropped = [f"{dotted(('attributes', name))}={Role.DROP.value}" for name in names]
    what = f"leave out {listed(names)}"
    problem = replace(part, table=replace(part.table, quasi_identifiers=tuple(own)))
    return Change(what, (*other, *dropped), problem, positions)


def _other_labels(goal: Goal, part: SearchProblem, starred: tuple[int, ...]) -> Iterator[Change]:
    """Yield intervals where the algorithm publishes numbers without a hierarchy as ``*``."""
    own = goal.algorithm
    attributes = [part.table.quasi_identifiers[at] for at in starred]
    bare = [each.name for each in attributes if each.by_range]
    found = own.in_intervals() if bare else None
    if found is not None:
        override, search = found
        yield Change(f"publish {listed(bare)} as intervals", (override,), part, search=search)


def _other_search(goal: Goal, part: SearchProblem) -> Iterator[Change]:
    """Yield the quick algorithm in place of another one."""
    own, quick = goal.algorithm.name, SEARCH_ALGORITHMS[QUICK]()
    if own != QUICK and part.suppression in quick.suppressions():
        what, override = f"search with {QUICK} instead of {own}", f"algorithm={{name: {QUICK}}}"
        yield Change(what, (override,), part, search=quick)


def _suppressing_more(part: SearchProblem, other: tuple[str, ...]) -> Iterator[Change]:
    own = part.unit_limit
    number, most, unit = (
        (part.table.records, part.limit, "record") if own is None else (own.number, own.most, own.unit)
    )
    for limit in LIMITS:
        more = int(limit * number)
        if more > most:
            what = f"suppress up to {float(100 * limit):g} % of the {unit}s"
            problem = replace(part, limit=more) if own is None else part.losing_at_most(more)
            yield Change(what, (*other, f"suppression.limit={limit}"), problem)
            return


FEWEST = 5
"""Smallest k that advice proposes."""


def _weaker(goal: Goal, part: SearchProblem, other: tuple[str, ...]) -> Iterator[Change]:
    """Yield the problem with half of the k of its only k-anonymity."""
    found = [(path, each) for path, each in goal.entries.items() if each.model.name == "k-anonymity"]
    if len(found) != 1:
        # What is measured has to be what the one key changes.
        return
    ((path, planned),) = found
    k = planned.model.k or FEWEST
    if k <= FEWEST or k != part.k:
        return
    half = max(FEWEST, k // 2)
    constraints = tuple(
        replace(each, model=each.model.loosened(each.model.thresholds[0], half))
        if each.model.name == planned.model.name
        else each
        for each in part.class_constraints
    )
    yield Change(
        f"a weaker constraint: classes of at least {plural(half, planned.unit or 'record')}",
        (*other, f"{dotted(path[:-1])}.{path[-1]}.k={half}"),
        replace(part, class_constraints=constraints, k=half),
    )
