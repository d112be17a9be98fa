"""Searches: from a problem to an outcome, under a budget, with attack checks and progress.

The attack check is the last test of a candidate; attacks run once per recoding.
"""

from __future__ import annotations

import hashlib
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import ClassVar, Self
from zlib import crc32

import numpy as np

from anonymizer.attacks.adversary_view import adversary_from_anatomy, scene_of_recoding
from anonymizer.loss.base import LossMetric
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.out_of_core import TableSource
from anonymizer.model.outcome import Outcome
from anonymizer.model.recoding import GroupRecoding, Recoding
from anonymizer.model.table import Table
from anonymizer.plugins import Registry
from anonymizer.plugins import Settings as PlugInSettings
from anonymizer.privacy.base import ClassConstraint, ReleaseConstraint, TableConstraint, describe


@dataclass(frozen=True)
class Progress:
    """How far a search is.

    Attributes
    ----------
    evaluated, candidates: candidates looked at, of how many.
    best, bound: loss of the best found, proven lower bound; None without one.
    """

    evaluated: int
    candidates: int
    best: float | None
    bound: float | None


@dataclass
class Control:
    """A budget, a way to stop, and a listener.

    Attributes
    ----------
    seconds, nodes, steps: the budget; None is no limit.
    stopped: asked at every step whether the user wants the search to end.
    listen: told the progress, at most every tenth of a second.
    below: objective that another search has reached; an algorithm may end without a recoding, as infeasible,
        where it finds that none is below it.
    """

    seconds: float | None = None
    nodes: int | None = None
    steps: int | None = None
    stopped: Callable[[], bool] = lambda: False
    listen: Callable[[Progress], None] | None = None
    below: float = math.inf
    started: float = field(default_factory=time.monotonic)
    _told: float = 0.0

    @property
    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.monotonic() - self.started

    @property
    def unlimited(self) -> bool:
        """Whether there is no budget."""
        return self.seconds is None and self.nodes is None and self.steps is None

    def out_of_time(self) -> bool:
        """Tell whether the user wants the search to end, or its seconds are over."""
        return self.stopped() or (self.seconds is not None and self.elapsed >= self.seconds)

    def exhausted(self, evaluated: int, steps: int) -> bool:
        """Tell whether the budget is spent."""
        return (
            (self.seconds is not None and self.elapsed >= self.seconds)
            or (self.nodes is not None and evaluated >= self.nodes)
            or (self.steps is not None and steps >= self.steps)
        )

    def tell(self, progress: Callable[[], Progress]) -> None:
        """Pass the progress on if somebody listens and it is time."""
        now = time.monotonic()
        if self.listen is not None and now - self._told >= 0.1:
            self._told = now
            self.listen(progress())


class Stage(IntEnum):
    """When an attack is run; each has randomness of its own, so that it draws targets of its own."""

    SEARCH = 0
    AUDIT = 1


class AttackCheck:
    """Attacks candidates that satisfy all other constraints, and remembers what it found.

    Parameters
    ----------
    constraints: that attacks measure; without any, every candidate passes.
    seed: of the run.
    """

    def __init__(self, constraints: Sequence[ReleaseConstraint] = (), seed: int = 0) -> None:
        self.constraints = tuple(constraints)
        self._seed = seed
        self._reached: dict[tuple[bytes, str], float] = {}
        self._refused: dict[bytes, tuple[str, ...]] = {}

    @property
    def open(self) -> bool:
        """Whether every candidate passes."""
        return not self.constraints

    def asking(self, constraints: Sequence[ReleaseConstraint]) -> Self:
        """Return a gate with other constraints that knows what this one knows."""
        other = type(self)(constraints, self._seed)
        other._reached, other._refused = self._reached, self._refused
        return other

    def broken(self, table: Table, recoding: Recoding) -> tuple[str, ...]:
        """Return the first constraint that an attacker breaks on a candidate, with what he reached.

        Parameters
        ----------
        table: the searched one.
        recoding: of it; at least one record is released.

        Returns
        -------
        Names for the steps of a search; none when the candidate passes.
        """
        if self.open:
            return ()
        key = fingerprint(recoding)
        if key in self._refused:
            return self._refused[key]
        scene: AdversaryView | None = None
        for constraint in self.constraints:
            asked = key, _asked(constraint)
            if asked not in self._reached:
                scene = scene or _scene(table, recoding)
                self._reached[asked] = constraint.measured(scene, self.random(constraint, Stage.SEARCH))
            if not constraint.holds(self._reached[asked]):
                return (f"{describe(constraint)} {self._reached[asked]:.4g}",)
        return ()

    def excess(self, recoding: Recoding) -> float:
        """Return how many times what is allowed attackers reached on a candidate, 1 where unknown."""
        key, found = fingerprint(recoding), [1.0]
        for constraint in self.constraints:
            reached, allowed = self._reached.get((key, _asked(constraint))), constraint.model.allowed_success
            if reached is not None and allowed:
                found.append(reached / float(allowed))
        return max(found)

    def refused(self, recoding: Recoding) -> bool:
        """Tell whether a candidate was refused; a search that asks the gate does not return one."""
        return bool(self._refused) and fingerprint(recoding) in self._refused

    def refuse(self, recoding: Recoding, names: Sequence[str]) -> None:
        """Let a candidate never pass again.

        Parameters
        ----------
        names: of what it failed after it had passed.
        """
        self._refused[fingerprint(recoding)] = tuple(names)

    def random(self, constraint: ReleaseConstraint, stage: Stage) -> np.random.Generator:
        """Return the randomness of an attack: nothing else that is run changes it."""
        return np.random.default_rng([self._seed, crc32(describe(constraint).encode()), stage])


def _scene(table: Table, recoding: Recoding) -> AdversaryView:
    if isinstance(recoding, GroupRecoding):
        return adversary_from_anatomy(table, recoding)
    return scene_of_recoding(table, recoding)


def _asked(constraint: ReleaseConstraint) -> str:
    return f"{describe(constraint)} {sorted(constraint.parameters().items())}"


def fingerprint(recoding: Recoding) -> bytes:
    """Return what tells a recoding of a table from every other one of it."""
    found = hashlib.blake2b(digest_size=16)
    found.update(np.packbits(np.stack([recoding.suppressed, recoding.removed])).tobytes())
    if recoding.owner is not None:
        found.update(recoding.owner.tobytes() + recoding.table.counts.tobytes())
    for column in (*recoding.published(), *recoding.class_columns()):
        found.update(repr(column.labels).encode() + column.codes.tobytes())
    return found.digest()


class SuppressionMethod(StrEnum):
    """What is suppressed of a class that fails a constraint."""

    CLASSES = "classes"
    RECORDS = "records"
    CELLS = "cells"


@dataclass(frozen=True, eq=False)
class SearchProblem:
    """What a search is asked.

    Attributes
    ----------
    table: the frequency table with its hierarchies and the levels that may be used.
    class_constraints, table_constraints: all must hold on the release.
    metric: to be minimised.
    limit: most records that may be suppressed.
    keep_rows: whether suppressed records stay, with ``*`` in every quasi-identifier, where that class holds.
    moving_reference: whether p is that of the release instead of the input's.
    k: of the config's k-anonymity, None without one.
    suppression: what is suppressed of a class that fails.
    gate: attackers that must not break the release either.
    seed: of everything random.
    source: finer tables of the same records, where ``table`` tells them apart at the highest allowed levels
        only, as one that tells all apart does not fit in memory; None where ``table`` does.
    most: combinations that may be held in memory where there is a source.
    placing: whether it is asked in which region each combination of the source is at the end, as what is
        released is not in the table.
    """

    table: Table
    class_constraints: tuple[ClassConstraint, ...]
    table_constraints: tuple[TableConstraint, ...]
    metric: LossMetric
    limit: int
    keep_rows: bool
    moving_reference: bool
    k: int | None
    suppression: SuppressionMethod = SuppressionMethod.CLASSES
    gate: AttackCheck = field(default_factory=AttackCheck)
    seed: int = 0
    source: TableSource | None = None
    most: int = 0
    placing: bool = False

    @property
    def minimum_size(self) -> int:
        """No class with fewer records satisfies every constraint."""
        return max((each.model.minimum_size for each in self.class_constraints), default=1)

    def admits(self, suppressed: int) -> bool:
        """Tell whether so many records may be suppressed: all of them only where they stay, with ``*``."""
        return suppressed <= self.limit and (suppressed < self.table.records or self.keep_rows)


class NoSettings(PlugInSettings):
    """The parameters of an algorithm that has none."""


class SearchAlgorithm(ABC):
    """Proposes recodings until one satisfies every constraint and none better is left.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    suppressions: the methods of suppression that it can use.
    in_groups: whether what it finds is published in two tables, joined by the group of each record.
    out_of_core: whether a source of tables will do, where the frequency table does not fit in memory.
    by_codes: whether what it finds beyond memory tells of any record, by its codes, what becomes of it; else
        only columns that are in the table can be released then.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]] = NoSettings
    suppressions: ClassVar[frozenset[SuppressionMethod]] = frozenset({SuppressionMethod.CLASSES})
    in_groups: ClassVar[bool] = False
    out_of_core: ClassVar[bool] = False
    by_codes: ClassVar[bool] = True

    def __init__(self, settings: PlugInSettings | None = None) -> None:
        self.settings = settings if settings is not None else self.Settings()

    def out_of_core_gaps(self, problem: SearchProblem) -> Iterator[str]:  # noqa: ARG002 - of any problem
        """Say what of its parameters or of a problem it cannot do where the table does not fit in memory.

        Asked only where it can do anything at all then.
        """
        yield from ()

    @abstractmethod
    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the best recoding found, with what is proven about it.

        Deterministic: the same problem and the same number of steps give the same outcome.
        """


SEARCH_ALGORITHMS: Registry[SearchAlgorithm] = Registry(
    "search algorithm", SearchAlgorithm, "anonymizer.search", "anonymizer.search_algorithms"
)


def search_with(name: str, problem: SearchProblem, control: Control) -> Outcome:
    """Return what another algorithm finds with its default parameters, to start from or to compare with.

    Algorithms do not import each other: they are loaded where they are used.
    """
    return SEARCH_ALGORITHMS[name]().search(problem, control)
