"""The wildcard check: records that are unique by their unsuppressed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from anonymizer.attacks.base import Attack, AttackResult, known_columns
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import BoolArray, IntArray, numbered


class Wildcard(Attack):
    """Share of records with a combination of unsuppressed values that no other record publishes.

    A suppressed cell ``*`` of the record itself matches anything, a ``*`` of another record matches nothing
    else. Records that some tools count as equal only because of the ``*`` of others are unique here.
    """

    name = "wildcard"
    threat = None
    of_release_alone = True

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:  # noqa: ARG003 - always 0
        """Return the share of unique records."""
        known = known_columns(knowledge)
        return f"{success} of the records are the only ones with their unsuppressed values of {known}."

    def missing_requirement(self, adversary: AdversaryView) -> str | None:  # noqa: ARG002 - the interface's
        """Return None: the release is enough."""
        return None

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Return the share of unique records.

        A record that is unique by some values is unique by all: only classes of size 1 are checked, once for
        each set of suppressed attributes.
        """
        release = adversary.release
        classes = release.classes()
        alone = np.flatnonzero(classes.sizes[classes.class_of] == 1)
        pattern_of, patterns = _patterns(release.blanks[alone])
        unique = 0
        for number, blank in enumerate(patterns):
            if not blank.any():  # unique by all attributes
                unique += int((pattern_of == number).sum())
                continue
            left = [name for name, hidden in zip(release.names, blank, strict=True) if not hidden]
            unique += int((release.count_matching(alone[pattern_of == number], left) == 1).sum())
        blanks = int((release.blanks.sum(axis=1) * release.counts).sum())
        return [
            self.counted(
                adversary,
                {"attributes": list(release.names)},
                Fraction(unique, release.records),
                Fraction(0),
                {"blank_cells": blanks, "unique_records": unique},
            )
        ]


def _patterns(blanks: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return each record's set of suppressed attributes, shape (records,), and the distinct sets."""
    keys, first = numbered(blanks.T[blanks.any(axis=0)].astype(np.int64), len(blanks))
    return keys, blanks[first]
