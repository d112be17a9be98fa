"""The gate that a candidate passes last: what attackers reach on it, asked once for each recoding."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import IntEnum
from typing import Self
from zlib import crc32

import numpy as np

from anonymizer.attacks.adversary_view import adversary_from_anatomy, scene_of_recoding
from anonymizer.attacks.base import AdversaryView
from anonymizer.model.recoding import GroupRecoding, Recoding
from anonymizer.model.table import Table
from anonymizer.privacy.base import ReleaseConstraint, describe


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
