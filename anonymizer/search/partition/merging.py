"""Classes under sensitive models from below: fine ones, merged where they violate a model.

A search from the top stops at the first cut that breaks a model. From the finest classes that are large
enough, the smallest that violates a model is merged with the one that takes most of the violation away for
the loss that it costs, suppression within its limit being one more partner.

Models of the whole release count classes, or the most frequent values of all classes: there the pair of
classes is merged, again and again, that costs least for what it takes away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from anonymizer.compiled import Room
from anonymizer.model.arrays import CodeArray, IntArray, count
from anonymizer.model.recoding import Outcome
from anonymizer.plugins import Settings
from anonymizer.search.base import Control, SearchProblem, first_with
from anonymizer.search.partition.assignment import SUPPRESSED, Assignment, LocalProblem, assignment_of
from anonymizer.search.partition.kernel import (
    GONE,
    INTO,
    MODULE,
    STALE,
    WEIGHT,
    Mates,
    Parts,
    pair,
    repair,
    thin,
    weigh,
)
from anonymizer.search.partition.limits import KernelLimits
from anonymizer.search.partition.trees import priced
from anonymizer.search.partition.validity import AssignmentJudge

CLASSES = 1 << 13
"""Most classes that look for partners among each other; of more, those that follow each other do."""

POWERS = (1, 2, 4)
"""Powers of the loss with which fine classes are merged; none is best for all models."""

MERGES = 64
"""Merges after which the user may have stopped the search."""

PAIRS = 1 << 26
"""Pairs of classes that are compared for the first of all merges; of more classes, those that are near."""


def mondrian_start(
    ground: LocalProblem,
    problem: SearchProblem,
    stopped: Callable[[], bool],
    memory: dict[str, Any] | None = None,
) -> Assignment | None:
    """Return the classes of Mondrian along the hierarchies, None without any.

    It has no budget, so that the result does not depend on the clock.

    Parameters
    ----------
    problem: what the classes must satisfy, on the table of ``ground``.
    memory: of ``Control``.
    """
    found = first_with("mondrian", problem, Control(stopped=stopped, memory=memory), labels="hierarchy")
    return None if found.recoding is None or stopped() else assignment_of(ground, found.recoding)


def finest(
    ground: LocalProblem, stopped: Callable[[], bool], memory: dict[str, Any] | None = None
) -> Assignment | None:
    """Return fine classes that are large enough, whatever their sensitive values; None without any."""
    return mondrian_start(ground, by_size(ground.problem), stopped, memory)


def by_size(problem: SearchProblem) -> SearchProblem:
    """Return a problem that asks for the sizes of classes alone."""
    sizes = tuple(each for each in problem.class_constraints if each.attribute is None)
    return replace(problem, class_constraints=sizes, table_constraints=())


def repaired(
    own: Assignment, limits: KernelLimits, room: int, power: int, stopped: Callable[[], bool]
) -> Assignment | None:
    """Return classes merged until they satisfy the conditions, as far as these are known; None if stopped.

    Parameters
    ----------
    room: records that may be suppressed.
    power: of the loss beside the violation that a merge takes away.
    """
    while True:
        before, labels, left = own.classes, np.arange(own.classes), room
        # Classes in the order of their labels, so that neighbours are near.
        for start in range(0, own.classes, CLASSES):
            chosen = slice(start, start + CLASSES)
            merged = _merged(own, labels[chosen], limits, left, power, stopped)
            if merged is None:
                return None
            left -= int(own.sizes[chosen][merged == SUPPRESSED].sum())
            labels[chosen] = merged
        class_of = own.class_of.copy()
        class_of[own.first :] = labels[class_of[own.first :]]
        own = Assignment.of(own.ground, own.atoms, own.counts, class_of)
        if before <= CLASSES or own.classes == before:
            return own
        room = left


class Thinning:
    """Fewer and fewer classes of an assignment: at each step the pair that costs least is merged.

    Parameters
    ----------
    attribute: whose most frequent values are counted, so that merges cost for the correct guesses that they
        take away; None counts classes.
    stopped: whether merges end early.
    """

    def __init__(self, own: Assignment, attribute: str | None, stopped: Callable[[], bool]) -> None:
        self._own = own
        self._stopped = stopped
        number = own.classes + 1
        self._window = max(PAIRS // max(own.classes, 1), 1)
        counts = np.zeros((number, 0), dtype=np.int32)
        if attribute is not None:
            values = own.ground.atoms.sensitive[attribute].codes[own.atoms[own.first :]]
            width = int(values.max(initial=0)) + 1
            keys = (own.class_of[own.first :] + 1) * width + values
            found = count(keys, own.counts[own.first :], number * width)
            counts = found.reshape(number, width).astype(np.int32)
        parts = _parts(own, np.arange(own.classes), counts)
        mates = Mates(
            np.full(number, STALE, dtype=np.int64),
            np.full(number, np.inf),
            np.full(number, np.iinfo(np.int64).max, dtype=np.int64),
        )
        self._room = Room(MODULE, [parts, mates])
        self._parts, self._mates = self._room.values
        self.merges = 0
        self.ended = not self._paired(number)

    def resumed(self, stopped: Callable[[], bool]) -> Thinning:
        """Return the merges with another way to end them early."""
        self._stopped = stopped
        return self

    def _paired(self, number: int) -> bool:
        """Find the cheapest merge of each class; return whether that came to an end."""
        for first in range(1, number, MERGES):
            if self._stopped():
                return False
            last = min(first + MERGES, number)
            self._room.run(pair, self._parts, self._mates, first, last, self._window)
        return True

    def reach(self, merges: int) -> bool:
        """Merge until there were so many merges; return whether there were, or none is possible before."""
        while self.merges < merges and not self.ended:
            if self._stopped():
                return False
            wanted = min(self.merges + MERGES, merges)
            found = self._room.run(thin, self._parts, self._mates, self.merges, wanted, self._window)
            self.merges, self.ended = found, found < wanted
        return self.merges >= merges

    def after(self, merges: int) -> Assignment:
        """Return the classes after a number of merges, at most those that were reached."""
        own, into = self._own, self._parts.state[:, INTO].copy()
        kept = self._mates.when >= merges
        into[kept] = np.flatnonzero(kept)
        into = _ends(into)
        class_of = own.class_of.copy()
        class_of[own.first :] = into[class_of[own.first :] + 1] - 1
        return Assignment.of(own.ground, own.atoms, own.counts, class_of)


@dataclass(frozen=True, eq=False)
class Asked:
    """What regions are cut for.

    Attributes
    ----------
    settings: of Mondrian.
    """

    problem: SearchProblem
    settings: Settings

    def same(self, other: Asked) -> bool:
        """Return whether the same regions are cut."""
        mine, theirs = self.problem, other.problem
        objects = ((own.table, own.metric, own.source, own.unit_limit) for own in (mine, theirs))
        values = (
            (own.class_constraints, own.table_constraints, own.limit, own.keep_rows, own.moving_reference)
            for own in (mine, theirs)
        )
        return (
            all(one is its for one, its in zip(*objects, strict=True))
            and next(values) == next(values)
            and (mine.suppression, mine.k, self.settings) == (theirs.suppression, theirs.k, other.settings)
        )


@dataclass
class Known:
    """Cuts and merges that are known, for searches of one table.

    Attributes
    ----------
    begun: merges for limits of the whole release, by the classes that they begin with.
    cuts: outcomes of cuts that no budget ended, by what they are cut for.
    repairs: merged classes by those before, the conditions, and the room and power of ``repaired``.
    """

    begun: list[tuple[Assignment, str | None, Thinning]] = field(default_factory=list)
    cuts: list[tuple[Asked, Outcome]] = field(default_factory=list)
    repairs: list[tuple[Assignment, KernelLimits, tuple[int, int], Assignment]] = field(default_factory=list)

    @classmethod
    def of(cls, control: Control) -> Known:
        """Return what the searches know together that share the memory of a control; else nothing."""
        if control.memory is None:
            return cls()
        found: Known = control.memory.setdefault("partition", cls())
        return found

    def cut(self, asked: Asked, control: Control, cut: Callable[[], Outcome]) -> Outcome:
        """Return the outcome of cuts, which were made before if they are known."""
        for before, outcome in self.cuts:
            if before.same(asked):
                return outcome
        outcome = cut()
        if asked.problem.table.combinations > REMEMBERED:
            return outcome
        if not (outcome.interrupted or control.exhausted(outcome.evaluated, len(outcome.steps))):
            self.cuts = [*self.cuts[-KEPT:], (asked, outcome)]
        return outcome

    def repaired(
        self,
        own: Assignment,
        limits: KernelLimits,
        room: int,
        power: int,
        stopped: Callable[[], bool],
    ) -> Assignment | None:
        """Return what ``repaired`` does."""
        for before, asked, given, found in self.repairs:
            if given == (room, power) and asked.same(limits) and before.same(own):
                return found.on(own.ground)
        merged = repaired(own, limits, room, power, stopped)
        if merged is not None:
            self.repairs = [*self.repairs[-KEPT:], (own, limits, (room, power), merged)]
        return merged

    def thinning(self, own: Assignment, attribute: str | None, stopped: Callable[[], bool]) -> Thinning:
        """Return the merges of some classes."""
        for before, name, thinning in self.begun:
            if name == attribute and before.same(own):
                return thinning.resumed(stopped)
        thinning = Thinning(own, attribute, stopped)
        if not thinning.ended:
            self.begun = [*self.begun[-KEPT:], (own, attribute, thinning)]
        return thinning


REMEMBERED = 1 << 18
"""Most distinct rows of a table whose cuts are remembered: of more, they take memory."""

KEPT = 3
"""Cuts, repairs and sequences of merges that are known beside the newest of each."""


def thinned(
    own: Assignment, judge: AssignmentJudge, stopped: Callable[[], bool], known: Known | None = None
) -> Assignment | None:
    """Return classes merged until they satisfy the models of the whole release; None if that fails.

    The number of merges is doubled, then halved, as more of them satisfy what fewer do.

    Parameters
    ----------
    known: merges of earlier searches; None if no other search begins with these classes.
    """
    for attribute in _guessed(own.ground.problem):
        found = _thinned_by(own, attribute, judge, known or Known(), stopped)
        if found is not None:
            return found
    return None


def _thinned_by(
    own: Assignment,
    attribute: str | None,
    judge: AssignmentJudge,
    known: Known,
    stopped: Callable[[], bool],
) -> Assignment | None:
    while not stopped():
        if (
            attribute is not None
            and own.classes * own.ground.atoms.sensitive[attribute].attribute.column.size > COUNTS
        ):
            return None
        thinning = known.thinning(own, attribute, stopped)
        failing, merges = 0, 1
        while thinning.reach(merges) and not judge.admits(thinning.after(merges)):
            failing, merges = merges, 2 * merges
        merges = min(merges, thinning.merges)
        found = thinning.after(merges)
        if merges == 0:
            return own if judge.admits(own) else None
        if stopped():
            return None
        if not judge.admits(found):
            # No class has others around it any more: those that are left are nearer in a new order.
            own = found
            continue
        while merges - failing > 1 and not stopped():
            middle = (merges + failing) // 2
            fewer = thinning.after(middle)
            if judge.admits(fewer):
                found, merges = fewer, middle
            else:
                failing = middle
        return found
    return None


COUNTS = 1 << 27
"""Most counts of values in classes that are tabulated."""


def _guessed(problem: SearchProblem) -> list[str | None]:
    """Return what models of the whole release count: the values of an attribute, or classes (None)."""
    return list(dict.fromkeys(each.attribute for each in problem.table_constraints))


def _parts(own: Assignment, chosen: IntArray, counts: CodeArray) -> Parts:
    """Return some classes as the kernel merges them, behind one of suppressed records.

    Parameters
    ----------
    counts: of their values, shape (1 + chosen, values), int32.
    """
    number = len(chosen) + 1
    state = np.zeros((number, 3), dtype=np.int64)
    state[1:, WEIGHT], state[:, INTO] = own.sizes[chosen], np.arange(number)
    labels = np.concatenate([np.zeros((1, own.nodes.shape[1]), np.int32), own.nodes[chosen].astype(np.int32)])
    return Parts(priced(own.ground.trees), labels, state, counts, np.zeros(number))


def _ends(into: IntArray) -> IntArray:
    """Return the class that each one is in at the end, given the one that it was merged into."""
    while (into != into[into]).any():
        into = into[into]
    return into


def _merged(
    own: Assignment,
    chosen: IntArray,
    limits: KernelLimits,
    room: int,
    power: int,
    stopped: Callable[[], bool],
) -> IntArray | None:
    """Return the class that each of some becomes part of, ``SUPPRESSED`` for none; None if stopped."""
    number = len(chosen) + 1
    place = np.full(own.classes, 0, dtype=np.int64)
    place[chosen] = np.arange(1, number)
    parts = _parts(own, chosen, limits.counts_of(own, place, number))
    arrays = Room(MODULE, [parts, limits.limits])
    parts, given = arrays.values
    arrays.run(weigh, parts, given)
    left = 1
    while left > 0:
        if stopped():
            return None
        left = arrays.run(repair, parts, given, MERGES, room, power)
    into = _ends(parts.state[:, INTO].copy())
    return np.where(into[1:] == GONE, SUPPRESSED, chosen[np.maximum(into[1:], 1) - 1])
