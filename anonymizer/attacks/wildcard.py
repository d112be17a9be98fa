"""The wildcard check: records that are unique by their unsuppressed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from anonymizer.attacks.base import (
    Attack,
    AttackResult,
    UnitSettings,
    known_columns,
    target_of,
    targets_of,
    unit_is_known,
)
from anonymizer.attacks.tail import exposing_certain
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.arrays import BoolArray, IntArray, numbered
from anonymizer.model.owners import OwnedRecords


class Wildcard(Attack):
    """Share of records with a combination of unsuppressed values that no other record publishes.

    A suppressed cell ``*`` of the record itself matches anything, a ``*`` of another record matches nothing
    else. Records that some tools count as equal only because of the ``*`` of others are unique here.

    Where it is known whose the records are, it is the share of persons, or other units, with a record whose
    combination nobody else publishes.
    """

    name = "wildcard"
    threat = None
    of_release_alone = True
    Settings = UnitSettings
    settings: UnitSettings
    requires = (unit_is_known,)

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:  # noqa: ARG003 - always 0
        """Return the share of unique records, or of units with one."""
        known = known_columns(knowledge)
        if "unit" in knowledge:
            whom = f"{success} of the {targets_of(knowledge)}"
            what = f"unsuppressed values of {known} that no other {target_of(knowledge)} has"
            return f"{whom} have a record with {what}."
        return f"{success} of the records are the only ones with their unsuppressed values of {known}."

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Return the share of unique records.

        A record that is unique by some values is unique by all: only classes of size 1 are checked, once for
        each set of suppressed attributes.
        """
        release = adversary.release
        blanks = int((release.blanks.sum(axis=1) * release.counts).sum())
        knowledge: dict[str, Any] = {"attributes": list(release.names)}
        owned = adversary.owned_by(self.settings.unit)
        if owned is not None:
            told = _alone(release, owned)
            success, number = owned.reached(told), owned.number
            details = {"blank_cells": blanks, "unique_records": int(told.sum())}
            known = knowledge | {"unit": owned.unit}
            return [exposing_certain(self.counted(adversary, known, success, Fraction(0), details, number))]
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
        success = Fraction(unique, release.records)
        details = {"blank_cells": blanks, "unique_records": unique}
        return [exposing_certain(self.counted(adversary, knowledge, success, Fraction(0), details))]


def _alone(release: PublishedTable, owned: OwnedRecords) -> BoolArray:
    """Return which records have unsuppressed values that no other unit publishes, shape (records,), bool."""
    told = _single(release.classes().class_of[owned.release], owned.target)
    blanks = release.blanks
    blanked = np.asarray(blanks.any(axis=1), dtype=np.bool_)
    some = np.flatnonzero(told & blanked[owned.release])
    pattern_of, patterns = _patterns(blanks[owned.release[some]])
    for number, blank in enumerate(patterns):
        left = [name for name, hidden in zip(release.names, blank, strict=True) if not hidden]
        class_of = release.class_of(left)[owned.release]
        own = some[pattern_of == number]
        told[own] = _single(class_of, owned.target)[own]
    return told


def _single(class_of: IntArray, units: IntArray) -> BoolArray:
    """Return which records are in a class with a single unit, shape (records,), bool."""
    first = numbered([class_of, units], len(units))[1]
    alone: BoolArray = np.bincount(class_of[first])[class_of] == 1
    return alone


def _patterns(blanks: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return each record's set of suppressed attributes, shape (records,), and the distinct sets."""
    keys, first = numbered(blanks.T[blanks.any(axis=0)].astype(np.int64), len(blanks))
    return keys, blanks[first]
