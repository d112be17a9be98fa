"""Intersection: two releases of the same people leave fewer candidate values than each alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.adversary_view import same_values
from anonymizer.attacks.attribute_disclosure import KnowledgeSettings
from anonymizer.attacks.base import AlignedSettings, Attack, AttackResult, clopper_pearson, draw_sample
from anonymizer.attacks.generalized_values import CoveringJoin, spans
from anonymizer.errors import InputError, suggestion
from anonymizer.model.adversary import AdversaryView, Original, PublishedTable
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.counting import count, group_keys
from anonymizer.plugins import WholeNumber

MOST = 100_000
"""Targets, unless asked for more."""


class IntersectionSettings(KnowledgeSettings, AlignedSettings):
    """What the adversary knows of a target who is in both releases."""

    targets: Annotated[WholeNumber, Field(ge=1, description="maximum number of targets")] = MOST


@dataclass(frozen=True, eq=False)
class _Targets:
    """People who look different, and how many of each kind there are.

    Attributes
    ----------
    codes: their values of the known attributes, shape (kinds of person, attributes), int64; distinct.
    person: position in ``codes`` of each kind of target, shape (targets,), int64.
    value: its true sensitive value, shape (targets,), int64.
    counts: records, shape (targets,), int64.
    """

    codes: IntArray
    person: IntArray
    value: IntArray
    counts: IntArray


class Intersection(Attack):
    """Share of targets whose candidate values in two releases have one in common, which is theirs.

    A target is a person whose record is in the first release and who is believed to be in both. Their
    candidates in a release are the records whose published values all stand for theirs. A release without
    candidates says nothing. The baseline is the larger of the shares that one release alone gives away.

    Source: Ganta, Kasiviswanathan, Smith, "Composition attacks and auxiliary information in data privacy"
    (KDD 2008, doi:10.1145/1401890.1401926), intersection attack.
    """

    name = "intersection"
    threat = None
    Settings = IntersectionSettings
    settings: IntersectionSettings

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """A second release with a sensitive attribute of the first, and original records, are needed."""
        if scene.second is None or scene.second_original is None:
            return "a second release"
        if not _shared(scene.release, scene.second):
            return "a sensitive attribute that both releases have"
        return self.settings.missing_requirement(scene)

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Attack each sensitive attribute that both releases have."""
        lacking = self.missing_requirement(scene)
        if lacking is not None or scene.original is None or scene.second is None:
            raise InputError(f"{scene.release.source}: the attack intersection needs {lacking}")
        links = self.settings.links(scene.original)
        own = draw_sample(links.counts, self.settings.targets, random)
        sampled = int(own.sum()) < links.records
        names = self._known(scene)
        found = []
        for sensitive in _shared(scene.release, scene.second):
            values = scene.release.sensitive[sensitive]
            targets = _targets(scene.original, names, links.original, values.codes[links.release], own)
            found.append(self._attack(scene, names, sensitive, targets, sampled=sampled))
        return found

    def _known(self, scene: AdversaryView) -> tuple[str, ...]:
        assert scene.original is not None
        assert scene.second_original is not None
        both = tuple(name for name in scene.original.names if name in scene.second_original.names)
        for name in self.settings.knowledge or ():
            if name not in both:
                what = f"{scene.original.source}: '{name}' is not a quasi-identifier of both releases"
                raise InputError(f"{what}; {suggestion(name, both)}")
        return tuple(name for name in both if name in (self.settings.knowledge or both))

    def _attack(
        self,
        scene: AdversaryView,
        names: tuple[str, ...],
        sensitive: str,
        targets: _Targets,
        *,
        sampled: bool,
    ) -> AttackResult:
        assert scene.original is not None
        assert scene.second is not None
        assert scene.second_original is not None
        values = scene.release.sensitive[sensitive]
        size = values.attribute.column.size + 1  # the last stands for all that only the second release has
        first = _candidates(scene.release, scene.original, names, values.codes, targets.codes, size)
        other = _same_codes(values, scene.second.sensitive[sensitive])
        second = _candidates(scene.second, scene.second_original, names, other, targets.codes, size)
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
            "second": scene.second.source,
            "sampled": sampled,
        }
        baseline = Fraction(max(alone, also), number)
        return AttackResult(self.name, knowledge, success, baseline, low, high, number, details)


def _shared(first: PublishedTable, second: PublishedTable) -> list[str]:
    return [name for name in first.sensitive_names if name in second.sensitive]


def _same_codes(values: SensitiveCodes, other: SensitiveCodes) -> IntArray:
    """Return another release's values as codes of the first one's column; one more for those it has not."""
    same = same_values(values, other)
    codes = np.full(len(same.sizes), values.attribute.column.size)
    codes[same.sizes > 0] = same.values
    return codes[other.codes]


def _targets(
    original: Original, names: Sequence[str], combinations: IntArray, values: IntArray, counts: IntArray
) -> _Targets:
    """Return the targets by what is known of them.

    Parameters
    ----------
    combinations, values, counts: position in the original, true value and records of each kind of link.
    """
    some = counts > 0
    positions = [original.names.index(name) for name in names]
    codes = original.codes[combinations[some]][:, positions].astype(np.int64)
    person, first = _distinct(codes, [original.meanings[position].column.size for position in positions])
    return _Targets(codes[first], person, values[some], counts[some])


def _distinct(codes: IntArray, sizes: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return the number of each row among the distinct ones, and where each of these occurs."""
    keys, number = np.zeros(len(codes), dtype=np.int64), 1
    for column, size in zip(codes.T, sizes, strict=True):
        keys, distinct = group_keys(keys * size + column, number * size)
        number = len(distinct)
    first = np.empty(number, dtype=np.int64)
    first[keys] = np.arange(len(keys))
    return keys, first


def _candidates(
    release: PublishedTable,
    original: Original,
    names: Sequence[str],
    values: IntArray,
    people: IntArray,
    size: int,
) -> IntArray:
    """Return which values each person may have: keys person × size + value, ascending, distinct."""
    meanings = [original.meanings[original.names.index(name)] for name in names]
    positions = [release.names.index(name) for name in names]
    published = release.codes[:, positions].astype(np.int64)
    look, first = _distinct(published, [len(release.labels[position]) for position in positions])
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
    """Tell which targets have one candidate value, which is the true one; candidates as keys, ascending."""
    people = candidates // size
    numbers = count(people, np.ones(len(people), dtype=np.int64), len(targets.codes))
    wanted = targets.person * size + targets.value
    certain: BoolArray = (numbers[targets.person] == 1) & np.isin(wanted, candidates)
    return certain
