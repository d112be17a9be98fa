"""Conditions of the programme, and which of them weights break."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.learning.family import Family
from anonymizer.attacks.learning.rows import Rows
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray

NOTHING = 1e-12
"""A gap that no weights bring below minus this needs no condition."""
BROKEN = 1e-5
"""A condition is broken when it misses 0 by more than this."""
STRICT = 1e-9
"""A gap of less than this, its least value in the family being -1, is a tie."""


@dataclass(frozen=True, eq=False)
class Cuts:
    """Conditions K_i + row @ w >= 0, where K_i is 1 for an original that is linked wrongly.

    Attributes
    ----------
    record: the original of each, shape (cuts,), int64.
    rows: shape (cuts, weights), float64; at least -1 for all weights of the family.
    """

    record: IntArray
    rows: FloatArray

    def __add__(self, other: Cuts) -> Cuts:
        """Return both."""
        return Cuts(np.concatenate([self.record, other.record]), np.concatenate([self.rows, other.rows]))


class Separation:
    """Finds the conditions that weights break most, of those that some gaps make.

    A gap divided by its least value in the family is a condition: no smaller big M would be right.

    Parameters
    ----------
    excluded: originals without conditions, shape (records,).
    """

    def __init__(self, rows: Rows, family: Family, excluded: BoolArray) -> None:
        depth = -family.least(rows.gaps)
        useful = (depth > NOTHING) & ~excluded[rows.record]
        self._record = rows.record[useful]
        self._rows = rows.gaps[useful] / depth[useful, None]

    def broken(self, weights: FloatArray, wrong: FloatArray) -> Cuts:
        """Return, for each original, the condition that is missed most, if one is.

        Parameters
        ----------
        wrong: K_i, shape (records,); -2 asks for the condition that is nearest to it, broken or not.
        """
        missed = self._rows @ weights + wrong[self._record]
        order = np.lexsort((missed, self._record))
        _, first = np.unique(self._record[order], return_index=True)
        most = order[first]
        most = most[missed[most] < -BROKEN]
        return Cuts(self._record[most], self._rows[most])


@dataclass(frozen=True, eq=False)
class Widest:
    """The weights that fulfil conditions by the widest margin.

    Attributes
    ----------
    weights: shape (weights,).
    contradiction: originals of which no weights link all rightly, ties being wrong; none where the margin is
        positive, shape (originals,), int64.
    """

    weights: FloatArray
    contradiction: IntArray


def widest(cuts: Cuts, family: Family, cone: FloatArray) -> Widest | None:
    """Return the weights of the largest least ``row @ w``; None where the solver finds none.

    Where it is 0, a mixture of the rows has no positive value in the family: their originals contradict each
    other. The mixture is the dual solution, and it is checked.

    Parameters
    ----------
    cone: further conditions of the family, rows that must give at least 0, shape (conditions, weights).
    """
    # Takes longer to import than most commands take.
    from scipy.optimize import linprog  # noqa: PLC0415

    size = len(family.total)
    conditions = np.concatenate([family.cone, cone])
    left = np.zeros((len(cuts.rows) + len(conditions), size + 1))
    left[:, :size] = -np.concatenate([cuts.rows, conditions])
    left[: len(cuts.rows), size] = 1.0
    found = linprog(
        np.append(np.zeros(size), -1.0),
        left,
        np.zeros(len(left)),
        np.append(family.total, 0.0)[None],
        [1.0],
        bounds=(None, None),
        method="highs",
    )
    if found.status != 0:
        return None
    shares = np.maximum(-found.ineqlin.marginals[: len(cuts.rows)], 0.0)
    mixture = shares @ cuts.rows
    contradictory = float(-family.least(-mixture[None])[0]) <= STRICT * float(shares.sum())
    record = np.unique(cuts.record[shares > 0]) if contradictory else np.empty(0, dtype=np.int64)
    return Widest(found.x[:size], record)
