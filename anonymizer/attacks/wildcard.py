"""The wildcard check: records that are unique on what is left of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from anonymizer.attacks.base import Attack, AttackResult
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.counting import group_keys


class Wildcard(Attack):
    """Share of records that no other record of the release has all published values of.

    A blank ``*`` tells nothing, so of a record only the values that are left count; another record has them
    when it publishes the same ones. Who makes records "match" through the blanks of others, as some tools do,
    leaves them unique by this count.
    """

    name = "wildcard"
    threat = None
    of_release_alone = True

    def missing_requirement(self, scene: AdversaryView) -> str | None:  # noqa: ARG002 - the interface's
        """Nothing but the release is needed."""
        return None

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Count the records that are unique on what is left.

        Whoever is unique on some of the values is so on all of them, blanks included: only records alone in
        their class are looked at, once for each set of blanks.
        """
        release = scene.release
        classes = release.classes()
        alone = np.flatnonzero(classes.sizes[classes.class_of] == 1)
        pattern_of, patterns = _patterns(release.blanks[alone])
        unique = 0
        for number, blank in enumerate(patterns):
            if not blank.any():  # alone by all there is to know
                unique += int((pattern_of == number).sum())
                continue
            left = [name for name, hidden in zip(release.names, blank, strict=True) if not hidden]
            unique += int((release.count_matching(alone[pattern_of == number], left) == 1).sum())
        blanks = int((release.blanks.sum(axis=1) * release.counts).sum())
        return [
            self.counted(
                scene,
                {"attributes": list(release.names)},
                Fraction(unique, release.records),
                Fraction(0),
                {"blank_cells": blanks, "unique_records": unique},
            )
        ]


def _patterns(blanks: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return which set of blanks each record has, shape (records,), and the sets, one a row."""
    keys, number = np.zeros(len(blanks), dtype=np.int64), 1
    for column in blanks.T[blanks.any(axis=0)]:
        keys, distinct = group_keys(keys * 2 + column, number * 2)
        number = len(distinct)
    first = np.empty(number if len(blanks) else 0, dtype=np.int64)
    first[keys] = np.arange(len(keys))
    return keys, blanks[first]
