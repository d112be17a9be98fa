"""Groups of the values that are left most often: the procedure of the paper on Anatomy, rounds at once."""

from __future__ import annotations

from math import gcd

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.model.table import Table
from anonymizer.search.grouping.deal import NOBODY, Records, all_distinct, values_in
from anonymizer.search.grouping.mix import Grouping


class Largest(Grouping):
    """Each group takes a record of each of the values of which most are left, so that these go together.

    Who is left in the end joins a group by chance that has not its value.

    Source: Xiao, Tao, "Anatomy: Simple and Effective Privacy Preservation" (VLDB 2006), figure 3.
    """

    name = "largest"

    def mixed(
        self,
        seats: IntArray,
        records: Records,
        table: Table,  # noqa: ARG002  it looks at values alone
        random: np.random.Generator,
    ) -> IntArray:
        """Return the groups of the procedure; those that were dealt where it makes fewer, or more."""
        groups, seated = len(seats), records.queue[np.isin(records.queue, seats)]
        counts = np.bincount(records.value[seated], minlength=len(records.counts)).astype(np.int64)
        size = len(seated) // groups
        if len(seated) // size != groups:
            return seats
        drawn = rounds(counts, size, groups)
        left = np.repeat(np.arange(len(counts)), counts - np.bincount(drawn.ravel(), minlength=len(counts)))
        chosen = _with_left(drawn, left, random)
        own = np.argsort(records.value[seated], kind="stable")
        places = np.flatnonzero(chosen.ravel() != NOBODY)
        found = np.full(chosen.size, NOBODY, dtype=np.int64)
        found[places[np.argsort(chosen.ravel()[places], kind="stable")]] = seated[own]
        normalize_input = found.reshape(chosen.shape)
        return normalize_input if all_distinct(values_in(normalize_input, records.value)) else seats


def rounds(counts: IntArray, size: int, number: int) -> IntArray:
    """Draw one of each of the values of which most are left, in each of some rounds.

    Of values of which equally many are left some are drawn in turn. As long as the same values are ahead of
    these, and others behind, whole turns are taken at once: there are about as many steps as values.

    Parameters
    ----------
    counts: how many there are of each value, shape (values,), int64.
    size: values in a round; in none are fewer left.
    number: of rounds.

    Returns
    -------
    The values of each round, shape (rounds, size), int64.
    """
    left, drawn, done = counts.copy(), [], 0
    while done < number:
        order = np.argsort(-left, kind="stable")
        tied = int(left[order[size - 1]])
        ahead, equal = order[left[order] > tied], order[left[order] == tied]
        own = size - len(ahead)
        behind = int(left[left < tied].max(initial=0))
        lead = int(left[ahead].min()) - tied if len(ahead) else None
        block = min(_rounds_at_once(own, len(equal), tied - behind, lead), number - done)
        turn = equal[np.arange(block * own) % len(equal)].reshape(block, own)
        values = np.concatenate([np.tile(ahead, (block, 1)), turn], axis=1)
        left -= np.bincount(values.ravel(), minlength=len(left))
        drawn.append(values)
        done += block
    return np.concatenate(drawn)


def _rounds_at_once(own: int, equal: int, above: int, lead: int | None) -> int:
    """Return for how many rounds the tied values are drawn in turn before others are as many.

    Parameters
    ----------
    own: tied values in a round.
    equal: tied values.
    above: how many more there are of a tied value than of the next.
    lead: how many more there are of what is always drawn than of a tied value; None where nothing is.
    """
    each, turns = own // gcd(own, equal), equal // gcd(own, equal)
    full = above // each
    if lead is not None and turns > each:
        full = min(full, lead // (turns - each))
    return max(full * turns, 1)


def _with_left(drawn: IntArray, left: IntArray, random: np.random.Generator) -> IntArray:
    """Return the values of groups with those that are left, each in a group by chance that lacks it."""
    width = drawn.shape[1]
    chosen = np.concatenate([drawn, np.full((len(drawn), len(left)), NOBODY, dtype=np.int64)], axis=1)
    for place, value in enumerate(left.tolist(), start=width):
        free = np.flatnonzero(~(chosen == value).any(axis=1))
        if len(free):
            chosen[free[int(random.integers(len(free)))], place] = value
    return chosen
