"""Intersection: two releases of the same people leave fewer candidate values than each alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.adversary_view import CoveringJoin, codes_in, spans
from anonymizer.attacks.base import (
    AlignedSettings,
    Attack,
    AttackResult,
    KnowledgeSettings,
    chosen,
    clopper_pearson,
    draw_sample,
    subject_of,
)
from anonymizer.model.adversary import AdversaryView, Original, PublishedTable
from anonymizer.model.arrays import BoolArray, IntArray, count, numbered
from anonymizer.model.classes import SensitiveCodes
from anonymizer.plugins import WholeNumber

MOST = 100_000
"""Default maximum number of targets."""


class IntersectionSettings(KnowledgeSettings, AlignedSettings):
    """What the adversary knows of a target in both releases."""

    targets: Annotated[WholeNumber, Field(ge=1, description="maximum number of targets")] = MOST


@dataclass(frozen=True, eq=False)
class _Targets:
    """Distinct targets with their numbers of records.

    Attributes
    ----------
    codes: values of the known attributes, shape (rows, attributes), int64; distinct.
    person: position in ``codes`` of each target, shape (targets,), int64.
    value: true sensitive value, shape (targets,), int64.
    counts: records, shape (targets,), int64.
    """

    codes: IntArray
    person: IntArray
    value: IntArray
    counts: IntArray


class Intersection(Attack):
    """Share of targets for whom the candidate values of two releases have only the true one in common.

    The record of a target is in the first release; the adversary believes the target to be in both. The
    candidates in a release are the records whose published values all cover the target's. A release without
    candidates is ignored. The baseline is the larger of the two successes with one release alone.

    Source: Ganta, Kasiviswanathan, Smith, "Composition attacks and auxiliary information in data privacy"
    (KDD 2008, doi:10.1145/1401890.1401926), intersection attack.
    """

    name = "intersection"
    threat = None
    Settings = IntersectionSettings
    settings: IntersectionSettings

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return for how many records two releases leave one value."""
        certain = f"is certain of {knowledge['sensitive']} for {success} of the records"
        return f"{subject_of(knowledge)} and has both releases {certain}; with one release for {guess}."

    def missing_requirement(self, adversary: AdversaryView) -> str | None:
        """Return the missing second release, common sensitive attribute, original or links, if any."""
        if adversary.second is None:
            return "a second release (--second of the command attack, or second_df in Python)"
        if not _shared(adversary.release, adversary.second):
            return "a sensitive attribute that both releases have"
        if adversary.original is None:
            return "original records (--original); without them, release-linkage compares the two releases"
        return self.settings.missing_requirement(adversary)

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Return one result for each sensitive attribute that both releases have."""
        original = self.required_original(adversary)
        assert adversary.second is not None, "it is a requirement"
        links = self.settings.links(original)
        own = draw_sample(links.counts, self.settings.targets, random)
        sampled = int(own.sum()) < links.records
        names = self._known(adversary)
        found = []
        for sensitive in _shared(adversary.release, adversary.second):
            values = adversary.release.sensitive[sensitive]
            targets = _targets(original, names, links.original, values.codes[links.release], own)
            found.append(self._attack(adversary, names, sensitive, targets, sampled=sampled))
        return found

    def _known(self, adversary: AdversaryView) -> tuple[str, ...]:
        assert adversary.original is not None
        assert adversary.second_original is not None
        both = tuple(name for name in adversary.original.names if name in adversary.second_original.names)
        what = "a quasi-identifier of both releases"
        return chosen(self.settings.knowledge, both, adversary.original.source, what)

    def _attack(
        self,
        adversary: AdversaryView,
        names: tuple[str, ...],
        sensitive: str,
        targets: _Targets,
        *,
        sampled: bool,
    ) -> AttackResult:
        assert adversary.original is not None
        assert adversary.second is not None
        assert adversary.second_original is not None
        values = adversary.release.sensitive[sensitive]
        size = values.attribute.column.size + 1  # the last one is for values that only the second release has
        first = _candidates(adversary.release, adversary.original, names, values.codes, targets.codes, size)
        other = _same_codes(values, adversary.second.sensitive[sensitive])
        second = _candidates(adversary.second, adversary.second_original, names, other, targets.codes, size)
        together = np.concatenate(
            [
                np.intersect1d(first, second, assume_unique=True),
                second[~np.isin(second // size, first // size)],
                first[~np.isin(first // size, second // size)],
            ]
        )
        hit, alone, also = (
            int(targets.counts[_certain(candidates, targets, size)].sum())
            for candidates in (np.sort(together), first, second)
        )
        number = int(targets.counts.sum())
        success = Fraction(hit, number)
        low, high = clopper_pearson(hit, number) if sampled else (float(success), float(success))
        knowledge: dict[str, Any] = {"attributes": list(names), "sensitive": sensitive}
        details = {
            "first_alone": alone / number,
            "second_alone": also / number,
            "second": adversary.second.source,
            "sampled": sampled,
        }
        baseline = Fraction(max(alone, also), number)
        return AttackResult(self.name, knowledge, success, baseline, low, high, number, details)


def _shared(first: PublishedTable, second: PublishedTable) -> list[str]:
    return [name for name in first.sensitive_names if name in second.sensitive]


def _same_codes(values: SensitiveCodes, other: SensitiveCodes) -> IntArray:
    """Return the second release's values as codes of the first; unknown values share one more code."""
    codes = codes_in(values, other)
    return np.where(codes < 0, values.attribute.column.size, codes)[other.codes]


def _targets(
    original: Original, names: Sequence[str], combinations: IntArray, values: IntArray, counts: IntArray
) -> _Targets:
    """Return the distinct targets.

    Parameters
    ----------
    combinations, values, counts: position in the original, true value and records of each kind of link.
    """
    some = counts > 0
    positions = [original.names.index(name) for name in names]
    codes = original.codes[combinations[some]][:, positions].astype(np.int64)
    person, first = numbered(codes.T, len(codes))
    return _Targets(codes[first], person, values[some], counts[some])


def _candidates(
    release: PublishedTable,
    original: Original,
    names: Sequence[str],
    values: IntArray,
    people: IntArray,
    size: int,
) -> IntArray:
    """Return the candidate values of each target as keys, target × size + value, ascending, distinct."""
    meanings = [original.meanings[original.names.index(name)] for name in names]
    positions = [release.names.index(name) for name in names]
    published = release.codes[:, positions].astype(np.int64)
    look, first = numbered(published.T, len(published))
    pairs = np.unique(look * size + values)
    starts = np.searchsorted(pairs, np.arange(len(first) + 1) * size)
    found = []
    for block, covering in CoveringJoin(meanings, published[first]).blocks(people):
        lengths = np.diff(starts)[covering.published]
        places, of_pair = spans(starts[covering.published], lengths)
        keys = block[covering.original][of_pair] * size + pairs[places] % size
        found.append(np.unique(keys))
    return np.unique(np.concatenate(found))


def _certain(candidates: IntArray, targets: _Targets, size: int) -> BoolArray:
    """Return which targets have only the true value as candidate, shape (targets,), bool."""
    people = candidates // size
    numbers = count(people, np.ones(len(people), dtype=np.int64), len(targets.codes))
    wanted = targets.person * size + targets.value
    certain: BoolArray = (numbers[targets.person] == 1) & np.isin(wanted, candidates)
    return certain
