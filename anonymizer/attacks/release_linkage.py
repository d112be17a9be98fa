"""Linkage of two releases: the records of one person found in both, without the original records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy
from pydantic import Field

from anonymizer.attacks.base import (
    SECOND,
    Attack,
    AttackResult,
    KnowledgeSettings,
    PairingSettings,
    chosen,
    clopper_pearson,
    draw_sample,
    known_columns,
)
from anonymizer.attacks.joins import spans
from anonymizer.attacks.linkage.attack import LEAST, WORK, DistanceName, LinkageMethod
from anonymizer.attacks.linkage.distances import (
    CategoryGaps,
    Gaps,
    NumberGaps,
    Numbers,
    centred_scale,
    standard_scale,
)
from anonymizer.attacks.linkage.families import FAMILIES
from anonymizer.attacks.linkage.learned import PASSES, learn, targets_of_links
from anonymizer.attacks.linkage.local_search import Fast
from anonymizer.attacks.linkage.pairs import SMALL
from anonymizer.attacks.links import links_of_pairs
from anonymizer.attacks.pace import step
from anonymizer.attacks.tail import Ranking, exposing
from anonymizer.model.adversary import AdversaryView, Links, PublishedTable, ReleasePair, Truth, ValueCoverage
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count, numbered
from anonymizer.model.labels import SUPPRESSED
from anonymizer.plugins import Rule, WholeNumber, needs

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

TIED = 1e-9
"""Relative difference below which distances, and difference below which log-likelihoods, are equal."""

CELLS = 1 << 21
"""Compared values in memory."""

EXPECTED = "as the model expects"
"""The aim of an attack without the true links."""


class ReleaseLinkageSettings(KnowledgeSettings, PairingSettings):
    """The compared attributes, the method of linkage and the source of the true links."""

    linkage: Annotated[
        LinkageMethod,
        Field(
            description="nearest: values that overlap most likely; learned: by weights that are learned from "
            "the true links"
        ),
    ] = LinkageMethod.NEAREST
    distance: Annotated[
        DistanceName | None,
        Field(description="with learned: the family of distances; default: weighted-mean"),
    ] = None
    targets: Annotated[
        WholeNumber | None,
        Field(
            ge=1, description="maximum number of records to link; default: all, or as many as can be compared"
        ),
    ] = None

    together = (
        Rule(
            lambda own: own.linkage not in (LinkageMethod.NEAREST, LinkageMethod.LEARNED),
            f"linkage: {{own.linkage}}; accepted: {LinkageMethod.NEAREST}, {LinkageMethod.LEARNED}",
        ),
        Rule(
            lambda own: own.linkage is LinkageMethod.NEAREST and own.distance is not None,
            "distance needs linkage: learned; remove it",
        ),
        Rule(
            lambda own: own.distance is not None and own.distance not in FAMILIES,
            f"distance: {{own.distance}}; accepted: {', '.join(FAMILIES)}",
        ),
    )

    @property
    def by(self) -> DistanceName:
        """The family of learned distances."""
        return self.distance or DistanceName.WEIGHTED_MEAN

    def links(self, pair: ReleasePair) -> tuple[Links | None, Truth]:
        """Return the true links and their source; None if they are unknown."""
        if self.aligned or self.key is not None:
            return pair.aligned_links, Truth.BY_POSITION if self.aligned else Truth.BY_KEY
        return (pair.links, pair.truth) if pair.links.records else (None, Truth.UNKNOWN)


@dataclass(frozen=True, eq=False)
class _Attribute:
    """The published texts of one attribute in both releases.

    Attributes
    ----------
    gaps: from the values of the domain to the texts of the second release.
    first, second: coverage of the texts.
    mass: share of the records that each value has, shape (values,), float64.
    comparable: whether the numbers of both are in the same units, so that overlaps mean something.
    """

    gaps: Gaps
    first: ValueCoverage
    second: ValueCoverage
    mass: FloatArray
    comparable: bool

    @cached_property
    def _members(self) -> tuple[csr_matrix, csr_matrix]:
        return _matrix(self.first), _matrix(self.second)

    def gap(self, texts: IntArray) -> FloatArray:
        """Return the least gap between values that texts of both releases cover, with its sign.

        Parameters
        ----------
        texts: of the first release, shape (texts,).

        Returns
        -------
        Shape (texts, texts of the second), float64; 0 iff both cover a common value, if units are the same.
        """
        lengths = self.first.sizes[texts]
        places, _ = spans(self.first.starts[texts], lengths)
        values, at = np.unique(self.first.values[places], return_inverse=True)
        found = np.full((len(texts), len(self.second.sizes)), 1.0)
        if not len(values):
            return found
        gaps = self.gaps.rows(values)[at.reshape(-1)]
        some = lengths > 0
        starts = (np.cumsum(lengths) - lengths)[some]
        above = np.minimum.reduceat(np.where(gaps >= 0, gaps, np.inf), starts)
        below = np.minimum.reduceat(np.where(gaps < 0, -gaps, np.inf), starts)
        found[some] = np.where(below < above, -below, above)
        return found

    def overlap(self, texts: IntArray) -> FloatArray:
        """Return the mass of the values that texts of both cover, shape (texts, texts of the second)."""
        one, other = self._members
        weighed: csr_matrix = one[texts].multiply(self.mass[None, :]).tocsr()
        shared: FloatArray = (weighed @ other.T).toarray()
        return shared

    def masses(self) -> tuple[FloatArray, FloatArray]:
        """Return the mass of the values of each text, of the first and of the second release."""
        one, other = self._members
        return one @ self.mass, other @ self.mass

    def likelihood(self, texts: IntArray) -> FloatArray:
        """Return log P(both texts | one person) - log P(both texts | two persons); 0 in other units.

        Shape (texts, texts of the second), float64; negative infinity without a common value.
        """
        if not self.comparable:
            return np.zeros((len(texts), len(self.second.sizes)))
        one, other = self.masses()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.overlap(texts) / (one[texts][:, None] * other[None, :])
            found: FloatArray = np.log(np.nan_to_num(ratio, nan=0.0))
        return found

    def difference(self, texts: IntArray) -> FloatArray:
        """Return the difference that weights are learned on: the gap, and the share that does not overlap.

        Between single numbers the gap alone. With its sign, shape (texts, texts of the second), float64.
        """
        gap = self.gap(texts)
        single = max(self.first.sizes.max(), self.second.sizes.max()) <= 1
        if not self.comparable or (single and isinstance(self.gaps, NumberGaps)):
            return gap
        one, other = self.masses()
        shared = self.overlap(texts)
        together = one[texts][:, None] + other[None, :] - shared
        apart = 1 - np.divide(shared, together, out=np.zeros_like(shared), where=together > 0)
        found: FloatArray = np.where(gap < 0, gap - apart, gap + apart)
        return found


def _matrix(meaning: ValueCoverage) -> csr_matrix:
    shape = len(meaning.sizes), meaning.column.size
    return scipy.sparse.csr_matrix(
        (np.ones(len(meaning.values)), meaning.values, meaning.starts), shape=shape
    )


@dataclass(frozen=True, eq=False)
class _Space:
    """The distinct rows of both releases in the compared attributes.

    Attributes
    ----------
    names: of the attributes.
    attributes: their texts.
    rows, classes: texts of the rows of the first and of the second release, shape (rows, attributes), int64.
    records, sizes: records of each, int64.
    truth: true links from rows to classes; None if unknown.
    """

    names: tuple[str, ...]
    attributes: list[_Attribute]
    rows: IntArray
    records: IntArray
    classes: IntArray
    sizes: IntArray
    truth: Links | None

    @property
    def cells(self) -> int:
        """Number of compared values per row."""
        return len(self.classes) * len(self.names)

    def of_rows(
        self, position: int, rows: IntArray, how: Callable[[_Attribute, IntArray], FloatArray]
    ) -> FloatArray:
        """Return a table of one attribute for some rows and all classes, shape (rows, classes)."""
        texts, row_of = np.unique(self.rows[rows, position], return_inverse=True)
        table = how(self.attributes[position], texts)
        return np.take(np.take(table, self.classes[:, position], axis=1), row_of.reshape(-1), axis=0)

    def differences(self, position: int, rows: IntArray) -> FloatArray:
        """Return the differences of one attribute that weights are learned on, shape (rows, classes)."""
        return self.of_rows(position, rows, _Attribute.difference)

    def blocks(self, rows: IntArray) -> list[IntArray]:
        """Return rows in blocks whose comparisons fit in memory."""
        size = max(CELLS // len(self.classes), 1)
        return [rows[start : start + size] for start in range(0, len(rows), size)]


@dataclass(frozen=True, eq=False)
class _Candidates:
    """The most likely classes of each row.

    Attributes
    ----------
    chance: that a linked record is the right one, as the model expects, shape (rows,), float64.
    covered: whether a class has values in common with the row in all attributes, shape (rows,), bool.
    right: chance that a record of each true link is linked correctly, shape (links,), float64.
    """

    chance: FloatArray
    covered: BoolArray
    right: FloatArray


@dataclass(frozen=True, eq=False)
class _Made:
    """Links of records of two releases.

    Attributes
    ----------
    right: chance that each link is right, shape (links,), float64; of records if true links are unknown.
    worth: records of each, shape (links,), int64.
    sure: the adversary's own chance, shape (links,), float64.
    details: for the report.
    others: as ``right``, by what was learned from other links; None if nothing was learned.
    """

    right: FloatArray
    worth: IntArray
    sure: FloatArray
    details: dict[str, Any]
    others: FloatArray | None = None


class ReleaseLinkage(Attack):
    """The share of the records of one release that are linked to the same person's record in another.

    The adversary has both releases and no original records. A record is linked to the nearest one of the
    other release: the sum of squared gaps between the values that both texts cover, 0 if they overlap in all
    attributes; then to the most likely one, with P(both texts | one person) / P(both texts | two persons) =
    m(a and b) / (m(a) m(b)) for each attribute, where m is the share of the records that have the values, as
    both releases spread them over what their texts cover. Ties of n count 1/n.

    With the true links, success is the share of linked persons of both files. Without them it is what the
    model expects: the likelihood of the linked record by those of all records of the other release, for
    persons who are in both, attributes being independent; a record that overlaps with none counts as a guess.

    Sources: Fellegi, Sunter, "A theory for record linkage" (JASA 64, 1969), for the ratio of likelihoods;
    learned weights as in the attack ``linkage``.
    """

    name = "release-linkage"
    threat = None
    compares_releases = True
    Settings = ReleaseLinkageSettings
    settings: ReleaseLinkageSettings
    examples = ({"linkage": "nearest"},)
    requires = (
        SECOND,
        needs(
            "a quasi-identifier that both releases have (if it has another name in one, set columns, such as "
            "columns: {{age: AGE}})",
            lambda _, adversary: adversary.pair is not None,
        ),
        needs(
            "two releases with as many rows, because of aligned: true",
            lambda own, adversary: not own.settings.aligned or own.true_links(adversary) is not None,
        ),
        needs(
            "records with equal values of '{own.settings.key}' in both releases, because of key",
            lambda own, adversary: (
                own.settings.key is None
                or ((links := own.true_links(adversary)) is not None and links.records)
            ),
        ),
        needs(
            "true links to learn from (set key, a column of both releases, or aligned: true if row i of both "
            "is the same person, or give the original records)",
            lambda own, adversary: (
                own.settings.linkage is not LinkageMethod.LEARNED or own.true_links(adversary) is not None
            ),
        ),
    )

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how many records of one release are linked to the other."""
        who = f"An adversary who has both releases and compares {known_columns(knowledge)}"
        chance = f"by chance {guess}"
        if knowledge.get("target") != EXPECTED:
            return f"{who} correctly links {success} of the records that are in both; {chance}."
        if "unlinked" in knowledge:
            chance += (
                "; how many of these links are right is unknown, as no original record fits both releases by "
                "the hierarchies of the config"
            )
        return (
            f"{who} is expected to link {success} of the records of the first to the same person's record in "
            f"the second; {chance}."
        )

    def true_links(self, adversary: AdversaryView) -> Links | None:
        """Return the links that are known to be right, None if there are none."""
        return None if adversary.pair is None else self.settings.links(adversary.pair)[0]

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Link the records of the first release with those of the second."""
        self.require(adversary)
        pair, other = adversary.pair, adversary.second
        assert pair is not None, "it is a requirement"
        assert other is not None, "so is the second release"
        links, truth = self.settings.links(pair)
        names = self._known(adversary, pair)
        passes = PASSES if self.settings.linkage is LinkageMethod.LEARNED else 1
        space = _space(adversary.release, other, pair, names, links)
        counts = space.records if space.truth is None else space.truth.counts
        most = self.settings.targets or max(WORK // (passes * space.cells), LEAST)
        drawn = draw_sample(counts, most, random)
        if space.truth is not None:
            kept = Links(space.truth.original, space.truth.release, drawn)
            space = _space(adversary.release, other, pair, names, None, kept)
        rows = np.flatnonzero(drawn) if space.truth is None else np.unique(space.truth.original)
        details: dict[str, Any] = {
            "second": other.source,
            "truth": truth.value,
            "sampled": int(drawn.sum()) < int(counts.sum()),
        }
        learns = self.settings.linkage is LinkageMethod.LEARNED
        made = self._learned(space, rows, random) if learns else _by_model(space, rows, drawn)
        result = self._finding(space, made.right, made.worth, details | made.details)
        honest = made.right if made.others is None else made.others
        further = [] if made.others is None else [Ranking.of(made.sure, made.right, made.worth)]
        result = exposing(result, Ranking.of(made.sure, honest, made.worth), further=further)
        if space.truth is None and adversary.original is not None:
            result = replace(result, knowledge={**result.knowledge, "unlinked": True})
        return [result]

    def _learned(self, space: _Space, rows: IntArray, random: np.random.Generator) -> _Made:
        """Link by learned weights, which say who is nearest; how sure that is, the model says."""
        assert space.truth is not None, "it is a requirement"
        family, breadth = FAMILIES[self.settings.by](len(space.names)), np.ones(len(space.sizes))
        targets = targets_of_links(space.truth, len(space.names), space.differences, space.sizes, breadth)
        learned = learn(targets, family, Fast(), random)
        held_out = learned.held_out
        share = None if held_out is None else held_out.right / held_out.records
        details = learned.details(space.names) | {"held_out": share}
        sure = _nearest(space, rows).chance[np.searchsorted(rows, space.truth.original)]
        return _Made(learned.shares, space.truth.counts, sure, details, learned.others)

    def _known(self, adversary: AdversaryView, pair: ReleasePair) -> tuple[str, ...]:
        what = "a quasi-identifier of both releases"
        return chosen(self.settings.knowledge, pair.names, adversary.release.source, what)

    def _finding(
        self, space: _Space, right: FloatArray, worth: IntArray, details: dict[str, Any]
    ) -> AttackResult:
        targets = int(worth.sum())
        links = float(right @ worth)
        low, high = clopper_pearson(links, targets) if details["sampled"] else (links / targets,) * 2
        knowledge: dict[str, Any] = {"attributes": list(space.names), "linkage": self.settings.linkage.value}
        if self.settings.linkage is LinkageMethod.LEARNED:
            knowledge["distance"] = self.settings.by.value
        ceiling = 1.0
        if space.truth is None:
            knowledge["target"] = EXPECTED
        else:
            own = space.truth.counts / space.sizes[space.truth.release]
            ceiling = max(float(own.sum()) / targets, links / targets)
        baseline = Fraction(1, int(space.sizes.sum()))
        result = AttackResult(self.name, knowledge, links / targets, baseline, low, high, targets, details)
        return replace(result, ceiling=ceiling)


def _by_model(space: _Space, rows: IntArray, drawn: IntArray) -> _Made:
    """Link with the nearest, then the most likely record."""
    found = _nearest(space, rows)
    expected = float(found.chance @ _weights(space, rows, drawn)) / int(drawn.sum())
    covered = float(found.covered @ _weights(space, rows, drawn)) / int(drawn.sum())
    details = {"expected": expected, "overlapping": covered}
    if space.truth is None:
        return _Made(found.chance, drawn[rows], found.chance, details)
    sure = found.chance[np.searchsorted(rows, space.truth.original)]
    return _Made(found.right, space.truth.counts, sure, details)


def _space(
    first: PublishedTable,
    second: PublishedTable,
    pair: ReleasePair,
    names: Sequence[str],
    links: Links | None,
    truth: Links | None = None,
) -> _Space:
    """Return the distinct rows of both releases in some attributes.

    Parameters
    ----------
    links: true links between the rows of the releases.
    truth: true links between the distinct rows, in place of them.
    """
    found = []
    for table in (first, second):
        codes = table.codes[:, [table.names.index(name) for name in names]].astype(np.int64)
        row_of, at = numbered(codes.T, len(codes))
        found.append((codes[at], row_of, count(row_of, table.counts, len(at))))
    (rows, row_of, records), (classes, class_of, sizes) = found
    if links is not None:
        truth = links_of_pairs(row_of[links.original], class_of[links.release], links.counts)
    positions = [pair.names.index(name) for name in names]
    attributes = [
        _attribute(
            pair.first[position],
            pair.second[position],
            _counts(first, pair.names[position]),
            _counts(second, pair.names[position]),
            [_whole(table, pair.names[position]) for table in (first, second)],
        )
        for position in positions
    ]
    return _Space(tuple(names), attributes, rows, records, classes, sizes, truth)


def _counts(table: PublishedTable, name: str) -> IntArray:
    """Return the records of each text of an attribute, shape (texts,), int64."""
    position = table.names.index(name)
    return count(table.codes[:, position].astype(np.int64), table.counts, len(table.labels[position]))


def _whole(table: PublishedTable, name: str) -> IntArray:
    """Return whether each text of an attribute is ``*``, shape (texts,), int64."""
    labels = table.labels[table.names.index(name)]
    return np.array([label == SUPPRESSED for label in labels], dtype=np.int64)


def _attribute(
    first: ValueCoverage,
    second: ValueCoverage,
    counts: IntArray,
    others: IntArray,
    whole: Sequence[IntArray],
) -> _Attribute:
    mass = np.zeros(first.column.size)
    for meaning, records in ((first, counts), (second, others)):
        spread = np.repeat(records / np.maximum(meaning.sizes, 1), meaning.sizes)
        mass += np.bincount(meaning.values, weights=spread, minlength=len(mass)) / max(int(records.sum()), 1)
    mass = mass / max(float(mass.sum()), SMALL)
    numbers = first.column.numbers
    if numbers is None or np.isnan(numbers).all():
        return _Attribute(CategoryGaps(second), first, second, mass, comparable=True)
    own, other = _numbers(first, counts, whole[0]), _numbers(second, others, whole[1])
    if own is None or other is None or other.resembles(own) or _overlapping(first, second, counts, whole):
        scale = standard_scale(own or other or Numbers.of(first.column))
        return _Attribute(NumberGaps(second, scale, scale), first, second, mass, comparable=True)
    gaps = NumberGaps(second, centred_scale(own), centred_scale(other))
    return _Attribute(gaps, first, second, mass, comparable=False)


def _overlapping(
    first: ValueCoverage, second: ValueCoverage, counts: IntArray, whole: Sequence[IntArray]
) -> bool:
    """Return whether ranges of numbers overlap for half or more of the records, so that units are the same.

    ``*`` overlaps with everything and does not count.
    """
    own, other = (np.flatnonzero(each == 0) for each in whole)
    if not ((first.low < first.high)[own].any() or (second.low < second.high)[other].any()):
        return False
    places, _ = spans(second.starts[other], second.sizes[other])
    known = np.zeros(second.column.size, dtype=bool)
    known[second.values[places]] = True
    texts = np.repeat(np.arange(len(first.sizes)), first.sizes)
    met = np.bincount(texts, weights=known[first.values], minlength=len(first.sizes)) > 0
    return 2 * int(counts[own][met[own]].sum()) >= int(counts[own].sum())


def _numbers(meaning: ValueCoverage, counts: IntArray, whole: IntArray) -> Numbers | None:
    """Return the middles of the texts with their records, without ``*``; None if there are none."""
    some = np.flatnonzero((whole == 0) & ~np.isnan(meaning.low) & (counts > 0))
    if not len(some):
        return None
    values, at = np.unique((meaning.low[some] + meaning.high[some]) / 2, return_inverse=True)
    return Numbers(values, count(at.reshape(-1), counts[some], len(values)))


def _nearest(space: _Space, rows: IntArray) -> _Candidates:
    """Link rows with the nearest, then the most likely classes."""
    chance, covered = np.zeros(len(rows)), np.zeros(len(rows), dtype=bool)
    right = np.zeros(0 if space.truth is None else len(space.truth.counts))
    blocks, done = space.blocks(np.arange(len(rows))), 0
    for block in blocks:
        step(blocks, done, len(rows))
        own = rows[block]
        gaps, ratios = np.zeros((2, len(own), len(space.classes)))
        for position in range(len(space.names)):
            gaps += np.square(space.of_rows(position, own, _Attribute.gap))
            ratios += space.of_rows(position, own, _Attribute.likelihood)
        least = gaps.min(axis=1, keepdims=True)
        near = gaps <= least * (1 + TIED)
        covered[block] = np.isfinite(ratios).any(axis=1) & all(each.comparable for each in space.attributes)
        ratios[~near & ~covered[block][:, None]] = -np.inf
        ratios[near & ~covered[block][:, None]] = 0.0
        best = ratios.max(axis=1, keepdims=True)
        likely = np.exp(ratios - best)
        chosen = (ratios >= best - TIED) & near
        # A record that overlaps with none is a guess to the model.
        expected = 1 / (likely @ space.sizes)
        chance[block] = np.where(covered[block], expected, 1 / space.sizes.sum())
        if space.truth is not None:
            first, last = (np.searchsorted(space.truth.original, own, side) for side in ("left", "right"))
            links, row = spans(first, last - first)
            alike = chosen @ space.sizes
            hit = chosen[row, space.truth.release[links]]
            right[links] = np.where(hit, 1 / alike[row], 0.0)
        done += len(block)
    return _Candidates(chance, covered, right)


def _weights(space: _Space, rows: IntArray, drawn: IntArray) -> FloatArray:
    """Return the drawn records of each row, shape (rows,), float64."""
    if space.truth is None:
        return drawn[rows].astype(np.float64)
    every = count(space.truth.original, space.truth.counts, len(space.rows))
    return every[rows].astype(np.float64)
