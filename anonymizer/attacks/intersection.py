"""Intersection: two releases of the same people leave fewer candidate values than each alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import (
    LINKED,
    SECOND,
    AlignedUnitSettings,
    Attack,
    AttackResult,
    KnowledgeSettings,
    Targets,
    chosen,
    clopper_pearson,
    subject_of,
    targets_of,
    unit_is_known,
)
from anonymizer.attacks.coverage import codes_in
from anonymizer.attacks.joins import CoveringJoin, spans
from anonymizer.attacks.tail import Ranking, exposing
from anonymizer.model.adversary import AdversaryView, Original, PublishedTable
from anonymizer.model.arrays import BoolArray, IntArray, count, number_lists, numbered, starts_of
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.owners import OwnedRecords
from anonymizer.model.units import RECORD
from anonymizer.plugins import WholeNumber, needs

MOST = 100_000
"""Default maximum number of targets."""

ENTRIES = 1 << 22
"""Maximum number of candidate records of several targets in memory."""


class IntersectionSettings(KnowledgeSettings, AlignedUnitSettings):
    """What the adversary knows of a target in both releases."""

    targets: Annotated[WholeNumber, Field(ge=1, description="maximum number of targets")] = MOST


@dataclass(frozen=True, eq=False)
class _Targets:
    """Distinct targets, and those of links from original to released records.

    Attributes
    ----------
    codes: values of the known attributes, shape (rows, attributes), int64; distinct.
    row: position in ``codes`` of each target, shape (targets,), int64.
    value: true sensitive value, shape (targets,), int64.
    of_link: target of each link, shape (links,), int64.
    """

    codes: IntArray
    row: IntArray
    value: IntArray
    of_link: IntArray


@dataclass(frozen=True, eq=False)
class _Candidates:
    """The candidate values of each row of targets in one release.

    Where persons are counted, a value implies another if all candidates who have it have the other too.

    Attributes
    ----------
    keys: row × size + value, ascending, distinct, int64; size is the number of values.
    group_of: rows with the same candidate records, -1 for none, shape (rows,), int64.
    implied: (group × size + implied value) × size + value that implies it, ascending, int64.
    """

    keys: IntArray
    group_of: IntArray
    implied: IntArray

    def implying(self, targets: _Targets, size: int) -> IntArray:
        """Return the values that imply each target's value as keys, target × size + value."""
        group = self.group_of[targets.row]
        wanted = (group * size + targets.value) * size
        starts = np.searchsorted(self.implied, wanted)
        lengths = np.where(group < 0, 0, np.searchsorted(self.implied, wanted + size) - starts)
        places, of_target = spans(starts, lengths)
        return of_target * size + self.implied[places] % size


class Intersection(Attack):
    """Share of targets for whom the candidate values of two releases have only the true one in common.

    The record of a target is in the first release; the adversary believes the target to be in both. The
    candidates in a release are the records whose published values all cover the target's. A release without
    candidates is ignored. The baseline is the larger of the two successes with one release alone.

    Where it is known whose the records of both releases are, targets are persons, or other units. A value is
    certain if one candidate of either release has it in each pair of candidates with a value in common, and a
    person counts if the true value of one of the records is certain. If each person has one record, this is
    the rule on records.

    Source: Ganta, Kasiviswanathan, Smith, "Composition attacks and auxiliary information in data privacy"
    (KDD 2008, doi:10.1145/1401890.1401926), intersection attack.
    """

    name = "intersection"
    threat = None
    Settings = IntersectionSettings
    settings: IntersectionSettings
    examples = ({"sensitive": "illness"},)
    requires = (
        SECOND,
        needs(
            "a sensitive attribute that both releases have",
            lambda _, adversary: _shared(adversary.release, adversary.second),
        ),
        needs(
            "original records (--original; without them, the attack release-linkage compares the two "
            "releases)",
            lambda _, adversary: adversary.original is not None,
        ),
        *LINKED,
        unit_is_known,
        needs(
            f"unit: {RECORD}, or original records that have the key of the {{own.unit}} and can be matched "
            "to both releases",
            lambda own, adversary: own.unit in (None, RECORD) or own._owned(adversary) is not None,
        ),
    )

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return for how many targets two releases leave one value."""
        certain = f"is certain of {knowledge['sensitive']} for {success} of the {targets_of(knowledge)}"
        return f"{subject_of(knowledge)} and has both releases {certain}; with one release for {guess}."

    def _owned(self, adversary: AdversaryView) -> tuple[OwnedRecords, OwnedRecords] | None:
        """Return the records of the units that are counted in both releases; None: records are."""
        owned, other = self.settings.owned(adversary), adversary.second_original
        if owned is None or other is None or other.owners is None:
            return None
        return owned, OwnedRecords(other.owners, owned.unit)

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Return one result for each sensitive attribute that both releases have."""
        original = self.required_original(adversary)
        assert adversary.second is not None, "it is a requirement"
        owned, names = self._owned(adversary), self._known(adversary)
        links = self.settings.links(original)
        targets = Targets.drawn(links, None if owned is None else owned[0], self.settings.targets, random)
        rows, number = targets.original, targets.number
        sampled = len(rows) < (links.records if owned is None else len(owned[0].release))
        found = []
        for sensitive in _shared(adversary.release, adversary.second):
            values = adversary.release.sensitive[sensitive].codes[targets.release]
            aims = _targets(original, names, rows, values)
            *told, left = self._told(adversary, names, sensitive, aims, owned)
            success, alone, also = (Fraction(targets.reached(each), number) for each in told)
            exact = float(success)
            low, high = clopper_pearson(float(success * number), number) if sampled else (exact, exact)
            knowledge: dict[str, Any] = {"attributes": list(names), "sensitive": sensitive}
            if owned is not None:
                knowledge["unit"] = owned[0].unit
            details = {
                "first_alone": float(alone),
                "second_alone": float(also),
                "second": adversary.second.source,
                "sampled": sampled,
            }
            baseline = max(alone, also)
            result = AttackResult(self.name, knowledge, success, baseline, low, high, number, details)
            # The fewer values are left, the surer; where none is left, nothing is known. The surest record
            # of a target counts.
            left = np.where(left == 0, np.inf, left)
            fewest = np.full(number, np.inf)
            np.minimum.at(fewest, targets.target, left)
            reached = np.bincount(targets.target[told[0]], minlength=number) > 0
            ranking = Ranking.of(-fewest, reached.astype(np.float64))
            found.append(exposing(result, ranking, estimated=sampled))
        return found

    def _known(self, adversary: AdversaryView) -> tuple[str, ...]:
        assert adversary.original is not None
        assert adversary.second_original is not None
        both = tuple(name for name in adversary.original.names if name in adversary.second_original.names)
        what = "a quasi-identifier of both releases"
        return chosen(self.settings.knowledge, both, adversary.original.source, what)

    def _told(
        self,
        adversary: AdversaryView,
        names: tuple[str, ...],
        sensitive: str,
        targets: _Targets,
        owned: tuple[OwnedRecords, OwnedRecords] | None,
    ) -> tuple[BoolArray, BoolArray, BoolArray, IntArray]:
        """Return for which links the true value is certain, by both releases, the first and the second.

        And how many values both leave for each.
        """
        assert adversary.original is not None
        assert adversary.second is not None
        assert adversary.second_original is not None
        values = adversary.release.sensitive[sensitive]
        size = values.attribute.column.size + 1  # the last one is for values that only the second release has
        one, two = owned or (None, None)
        other = _same_codes(values, adversary.second.sensitive[sensitive])
        first, second = (
            _candidates(release, original, names, codes, targets.codes, size, _units_of(owners))
            for release, original, codes, owners in (
                (adversary.release, adversary.original, values.codes, one),
                (adversary.second, adversary.second_original, other, two),
            )
        )
        both, also = first.keys, second.keys
        together = np.concatenate(
            [
                np.intersect1d(both, also, assume_unique=True),
                also[~np.isin(also // size, both // size)],
                both[~np.isin(both // size, also // size)],
            ]
        )
        return (
            _certain(np.sort(together), targets, size, first, second)[targets.of_link],
            _certain(first.keys, targets, size, first)[targets.of_link],
            _certain(second.keys, targets, size, second)[targets.of_link],
            _left(together, targets, size)[targets.of_link],
        )


def _shared(first: PublishedTable, second: PublishedTable) -> list[str]:
    return [name for name in first.sensitive_names if name in second.sensitive]


def _same_codes(values: SensitiveCodes, other: SensitiveCodes) -> IntArray:
    """Return the second release's values as codes of the first; unknown values share one more code."""
    codes = codes_in(values, other)
    return np.where(codes < 0, values.attribute.column.size, codes)[other.codes]


def _units_of(owned: OwnedRecords | None) -> tuple[IntArray, IntArray] | None:
    """Return the released row and the unit of each record, both of shape (records,); None without owners."""
    return None if owned is None else (owned.release, owned.target)


def _targets(original: Original, names: Sequence[str], rows: IntArray, values: IntArray) -> _Targets:
    """Return the distinct targets of links.

    Parameters
    ----------
    rows, values: position in the original and true value of each link, shape (links,), int64.
    """
    positions = [original.names.index(name) for name in names]
    codes = original.codes[rows][:, positions].astype(np.int64)
    row, first = numbered(codes.T, len(codes))
    of_link, one = numbered([row, values], len(row))
    return _Targets(codes[first], row[one], values[one], of_link)


def _candidates(
    release: PublishedTable,
    original: Original,
    names: Sequence[str],
    values: IntArray,
    rows: IntArray,
    size: int,
    owned: tuple[IntArray, IntArray] | None,
) -> _Candidates:
    """Return the candidate values of each row of targets.

    Parameters
    ----------
    values: sensitive value of each released row, shape (combinations,), int64.
    rows: known values of the targets, shape (rows, attributes), int64; distinct.
    owned: released row and unit of each record, both of shape (records,), int64; None: records are counted.
    """
    meanings = [original.meanings[original.names.index(name)] for name in names]
    positions = [release.names.index(name) for name in names]
    published = release.codes[:, positions].astype(np.int64)
    look, first = numbered(published.T, len(published))
    pairs = np.unique(look * size + values)
    starts = np.searchsorted(pairs, np.arange(len(first) + 1) * size)
    held = None if owned is None else _Held.of(look[owned[0]], owned[1], values[owned[0]], len(first))
    group_of, groups = np.full(len(rows), -1, dtype=np.int64), 0
    found, implied = [], [np.zeros(0, dtype=np.int64)]
    for block, covering in CoveringJoin(meanings, published[first]).blocks(rows):
        lengths = np.diff(starts)[covering.published]
        places, of_pair = spans(starts[covering.published], lengths)
        keys = block[covering.original][of_pair] * size + pairs[places] % size
        found.append(np.unique(keys))
        if held is not None and len(covering.original):
            lists = number_lists(covering.original, covering.published, len(first))
            begin = np.flatnonzero(starts_of(covering.original))
            group_of[block[covering.original[begin]]] = groups + lists
            some = np.unique(lists, return_index=True)[1]
            ends = np.append(begin, len(covering.original))
            places, own = spans(begin[some], ends[some + 1] - begin[some])
            implied += held.implied(groups + lists[some], own, covering.published[places], size)
            groups += int(lists.max()) + 1
    return _Candidates(np.unique(np.concatenate(found)), group_of, np.sort(np.concatenate(implied)))


@dataclass(frozen=True, eq=False)
class _Held:
    """The distinct units with each value in each distinct published row.

    Attributes
    ----------
    starts: row i has the entries from ``starts[i]`` to ``starts[i + 1]``, shape (rows + 1,), int64.
    units, values: shape (entries,), int64.
    """

    starts: IntArray
    units: IntArray
    values: IntArray

    @classmethod
    def of(cls, rows: IntArray, units: IntArray, values: IntArray, number: int) -> _Held:
        """Return them by the row, unit and value of each record, shape (records,), and the number of rows."""
        first = numbered([rows, units, values], len(rows))[1]
        first = first[np.argsort(rows[first], kind="stable")]
        starts = np.searchsorted(rows[first], np.arange(number + 1))
        return cls(starts, units[first], values[first])

    def implied(self, groups: IntArray, own: IntArray, rows: IntArray, size: int) -> Iterator[IntArray]:
        """Yield the implied values of groups of published rows as keys, see ``_Candidates``.

        Parameters
        ----------
        groups: their numbers, shape (groups,), int64.
        own, rows: position in ``groups``, ascending, and published row of each member, shape (members,).
        """
        lengths = np.diff(self.starts)[rows]
        weights = np.bincount(own, weights=lengths, minlength=len(groups)).cumsum() // ENTRIES
        ends = np.searchsorted(own, np.append(np.flatnonzero(np.diff(weights, prepend=-1)), len(groups)))
        for begin, end in pairwise(ends.tolist()):
            places, of_member = spans(self.starts[rows[begin:end]], lengths[begin:end])
            group = groups[own[begin:end][of_member]]
            yield _implications(group, self.units[places], self.values[places], size)


def _implications(groups: IntArray, units: IntArray, values: IntArray, size: int) -> IntArray:
    """Return which values of a group all have units that have another value too, as keys.

    Parameters
    ----------
    groups, units, values: of each entry, shape (entries,), int64.
    """
    first = numbered([groups, units, values], len(groups))[1]
    groups, units, values = groups[first], units[first], values[first]
    having, number = np.unique(groups * size + values, return_counts=True)
    unit, _ = numbered([groups, units], len(groups))
    order = np.argsort(unit, kind="stable")
    groups, values, lengths = groups[order], values[order], np.bincount(unit)
    starts = np.cumsum(lengths) - lengths
    places, of_entry = spans(np.repeat(starts, lengths), np.repeat(lengths, lengths))
    other = values[places] != values[of_entry]
    places, of_entry = places[other], of_entry[other]
    # The value that another one implies comes first, so that those that imply it are together.
    keys = (groups[of_entry] * size + values[places]) * size + values[of_entry]
    keys, common = np.unique(keys, return_counts=True)
    implying = keys // size // size * size + keys % size
    implied: IntArray = keys[common == number[np.searchsorted(having, implying)]]
    return implied


def _left(candidates: IntArray, targets: _Targets, size: int) -> IntArray:
    """Return the number of candidate values of each target, shape (targets,), int64."""
    numbers = count(candidates // size, np.ones(len(candidates), dtype=np.int64), len(targets.codes))
    return numbers[targets.row]


def _certain(candidates: IntArray, targets: _Targets, size: int, *releases: _Candidates) -> BoolArray:
    """Return for which targets all candidate values but the true one imply it, shape (targets,), bool.

    Parameters
    ----------
    candidates: values that the releases leave together, row × size + value, ascending, distinct.
    releases: with the values that imply others; a value is excluded if it implies the true one in any.
    """
    left = _left(candidates, targets, size)
    excluded = np.unique(np.concatenate([each.implying(targets, size) for each in releases]))
    target = excluded // size
    among = np.isin(targets.row[target] * size + excluded % size, candidates)
    gone = count(target[among], np.ones(int(among.sum()), dtype=np.int64), len(left))
    true = np.isin(targets.row * size + targets.value, candidates)
    certain: BoolArray = (left > 0) & (gone + true == left)
    return certain
