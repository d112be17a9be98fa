"""Merging classes: for leftovers that no class takes, and for models of the whole table."""

from __future__ import annotations

import numpy as np

from anonymizer.model.arrays import IntArray
from anonymizer.search.local_recoding.assignment import Assignment
from anonymizer.search.local_recoding.nearest import cheapest_partner, disjoint

SEEDS = 512
"""Most classes that look for a partner at once."""


def merged(assignment: Assignment, seeds: IntArray, most: int) -> Assignment:
    """Merge some classes, each with the one with which that costs least, in at most so many pairs.

    The cheapest pairs come first; only the first ``SEEDS`` classes are looked at.
    """
    own, seeds = assignment, seeds[:SEEDS]
    partner, rise = cheapest_partner(own, seeds)
    possible = np.flatnonzero(rise < np.inf)
    order = possible[np.argsort(rise[possible], kind="stable")]
    pairs = np.stack([seeds, partner], axis=1)[order]
    groups = np.repeat(np.arange(len(pairs)), 2)
    pairs = pairs[disjoint(groups, pairs.ravel(), -rise[order], own.classes)][:most]
    labels = np.arange(own.classes)
    labels[pairs[:, 0]] = pairs[:, 1]
    class_of = own.class_of.copy()
    class_of[own.first :] = labels[class_of[own.first :]]
    return Assignment.of(own.ground, own.atoms, own.counts, class_of)
