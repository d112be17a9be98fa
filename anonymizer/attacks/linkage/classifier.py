"""Record linkage by a classifier of pairs, which is taught by true links of other records.

The features of a pair are its differences in each attribute and, by several distances, how it stands among
the pairs of the same record and of the same class: its chance over all one-to-one assignments. Boosted trees
learn from one half of the targets to tell the true class among the likeliest ones, and link the other half,
and the other way round, so that nobody's own link is learned from. Their score is a likelihood, by which
records are linked one to one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.boosting import Bins, Growth, Tree, grow
from anonymizer.attacks.linkage.chances import scaled, steepness_of
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Distance,
    Distancing,
    Euclidean,
    LargestRank,
    Linked,
    Linking,
    Mahalanobis,
    RankDistance,
    SwapPartners,
)
from anonymizer.attacks.linkage.linkers import nearest
from anonymizer.attacks.linkage.sinkhorn import expected_links
from anonymizer.attacks.pace import step
from anonymizer.model.arrays import FloatArray, IntArray

CANDIDATES = 60
"""Classes of each original that the classifier tells apart: the likeliest ones by any distance."""

CONTRASTS = 19
"""Other candidates, drawn at random, with which a true class is compared to learn."""

TREES = 80
"""Number of trees."""

FOLDS = 2
"""Parts of the originals; each is linked by what was learned from the others."""

TAUGHT = 2000
"""Maximum number of originals to learn from."""

FEWEST = 20
"""Originals from which on there is something to learn; of fewer, the likelihood is the score."""

TOGETHER = 1 << 23
"""Maximum number of pairs whose chances are scaled together; of more, each original is by itself."""

KEPT = 4000
"""Maximum number of originals whose features are kept."""

FAR = 3.0
"""How much more surprising a class is that is no candidate than the least likely candidate."""


class ClassifierLinking(Linking):
    """Links each original by boosted trees over features of pairs, learned from other originals.

    Sources: classifiers of pairs in record linkage, Christen, "Data Matching" (Springer 2012), chapter 6; the
    loss is that of a choice among candidates, McFadden, "Conditional logit analysis of qualitative choice
    behavior" (1974).

    Parameters
    ----------
    likelihood: the distance by the likelihood of the adversary's errors.
    """

    name = "classifier"
    # It learns from few targets if there are more draws.
    draws = 2

    def __init__(self, likelihood: Distancing) -> None:
        self._likelihood = likelihood

    def work(self, space: ComparisonSpace) -> int:
        """Return the number of compared values, by each distance."""
        passes = sum(each.effort(space) for each in self._distances(space))
        return 2 * passes * super().work(space)

    def _distances(self, space: ComparisonSpace) -> list[Distancing]:
        partners = [SwapPartners] if SwapPartners.fits(space) else []
        return [self._likelihood, Euclidean, Mahalanobis, RankDistance, LargestRank, *partners]

    def link(self, space: ComparisonSpace, random: np.random.Generator) -> Linked:
        """Return the links by the likelihood of the classifier, one to one where all are compared."""
        distance = self.classified(space, random)
        return expected_links(distance, random) if distance.together else self.alone(distance)

    @staticmethod
    def alone(distance: ClassifiedDistance) -> Linked:
        """Return the links of each original by itself."""
        return nearest(distance)

    def classified(self, space: ComparisonSpace, random: np.random.Generator) -> ClassifiedDistance:
        """Return the distance that the classifier has learned."""
        features = PairFeatures(space, [each(space) for each in self._distances(space)])
        return ClassifiedDistance(features, random)


def compared_together(space: ComparisonSpace) -> bool:
    """Return whether all pairs of an original and a class are few enough to scale their chances."""
    return len(space.records) * len(space.sizes) <= TOGETHER


class PairFeatures:
    """The features of pairs of an original and a class.

    Parameters
    ----------
    distances: the first one is by likelihood.
    """

    def __init__(self, space: ComparisonSpace, distances: list[Distance]) -> None:
        self.space = space
        self.together = compared_together(space)
        self._distances = distances
        self._by_rank, self._by_value = RankDistance(space), Euclidean(space)
        self._steep = [steepness_of(each) for each in distances]
        everyone = np.arange(len(space.records))
        self._chances = [self._scaled(*each, everyone) for each in self._weighted] if self.together else []
        self._kept: tuple[IntArray, FloatArray] | None = None
        if self.together and len(everyone) <= KEPT:
            self._kept = self._compared(everyone)
            self._chances.clear()

    @property
    def _weighted(self) -> list[tuple[Distance, float]]:
        return list(zip(self._distances, self._steep, strict=True))

    @property
    def width(self) -> int:
        """Number of values in memory per pair."""
        return 4 * len(self._distances)

    def _scaled(self, distance: Distance, steep: float, everyone: IntArray) -> FloatArray:
        """Return the logarithm of the chances of all pairs over all one-to-one assignments, float32."""
        surprise = np.concatenate([distance.rows(block) for block in distance.blocks(everyone)])
        chances = scaled(-steep * surprise, self.space.records, self.space.sizes)
        chances /= self.space.records[:, None] * self.space.sizes
        return np.log(np.maximum(chances, NEVER)).astype(np.float32)

    def _chance(self, number: int, originals: IntArray) -> FloatArray:
        """Return the logarithms of the chances of some originals by one distance."""
        if self.together:
            return self._chances[number][originals].astype(np.float64)
        logarithms: FloatArray = -self._steep[number] * self._distances[number].rows(originals)
        logarithms -= logarithms.max(axis=1, keepdims=True)
        return logarithms

    def of(self, originals: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the candidates of some originals and the features of these pairs.

        Returns
        -------
        Classes, shape (originals, candidates), int64; features, shape (originals, candidates, features),
        float32, first the chance by the likelihood.
        """
        if self._kept is not None:
            candidates, features = self._kept
            return candidates[originals], features[originals]
        return self._compared(originals)

    def _compared(self, originals: IntArray) -> tuple[IntArray, FloatArray]:
        space = self.space
        number = min(CANDIDATES, len(space.sizes))
        chances = [self._chance(place, originals) for place in range(len(self._distances))]
        ranks = np.stack([_ranks(own, number) for own in chances])
        candidates = np.argpartition(ranks.min(axis=0), number - 1, axis=1)[:, :number]
        found = []
        for own, rank in zip(chances, ranks, strict=True):
            found += _standing(own, rank, candidates)
        places = np.arange(len(originals))[:, None], candidates
        for distance in (self._by_value, self._by_rank):
            gaps = [distance.differences(position, originals)[places] for position in range(len(space.names))]
            sizes = [np.abs(each) for each in gaps]
            found += [*gaps, *sizes, *np.sort(np.stack(sizes), axis=0)]
        found += [np.log(space.sizes)[candidates], np.log(space.breadth)[candidates]]
        return candidates, np.stack(found, axis=-1).astype(np.float32)


NEVER = 1e-30
"""Smallest chance of a link."""


def _ranks(chances: FloatArray, number: int) -> IntArray:
    """Return the rank of the likeliest classes of each original, ``number`` of the others, shape as given."""
    likeliest = np.argpartition(-chances, number - 1, axis=1)[:, :number]
    order = np.argsort(-np.take_along_axis(chances, likeliest, axis=1), axis=1, kind="stable")
    ranks = np.full(chances.shape, number, dtype=np.int64)
    np.put_along_axis(ranks, np.take_along_axis(likeliest, order, axis=1), np.arange(number)[None, :], axis=1)
    return ranks


def _standing(chances: FloatArray, ranks: IntArray, candidates: IntArray) -> list[FloatArray]:
    """Return how pairs stand among those of the same original, by one distance: three features."""
    own = np.take_along_axis(chances, candidates, axis=1)
    rank = np.take_along_axis(ranks, candidates, axis=1)
    ordered = np.sort(own, axis=1)
    best_other = np.where(rank == 0, ordered[:, -2:][:, :1], ordered[:, -1:])
    return [own, own - best_other, np.log1p(rank)]


@dataclass(frozen=True, eq=False)
class _Classifier:
    """What was learned from some originals: trees over the bins of features."""

    bins: Bins
    trees: list[Tree]

    def scores(self, features: FloatArray) -> FloatArray:
        """Return the scores of pairs, shape as of the features without the last axis."""
        codes = self.bins.codes(features.reshape(-1, features.shape[-1]))
        total = np.zeros(codes.shape[1])
        for tree in self.trees:
            total += tree(codes)
        return total.reshape(features.shape[:-1])


class ClassifiedDistance(Distance):
    """The surprise at a class by the classifiers of an original's fold.

    Attributes
    ----------
    fold: of each original, shape (originals,), int64.
    learned: whether there were enough links to learn from.
    """

    name = "classified"
    # A class that covers a row need not be the most likely one.
    exact = False
    surprise = True

    def __init__(self, features: PairFeatures, random: np.random.Generator) -> None:
        super().__init__(features.space)
        self._features = features
        number = len(self.space.records)
        self.fold = np.empty(number, dtype=np.int64)
        self.fold[random.permutation(number)] = np.arange(number) % FOLDS
        taught = np.unique(self.space.truth.original)
        folds = [taught[self.fold[taught] != fold] for fold in range(FOLDS)]
        self.learned = min(len(own) for own in folds) >= FEWEST
        self._classifiers = [self._learn(own, random) for own in folds] if self.learned else []
        self._scored: tuple[IntArray, FloatArray] | None = None
        if self.together:
            every = [self._score(block) for block in self.blocks(np.arange(number))]
            candidates, scores = zip(*every, strict=True)
            self._scored = np.concatenate(candidates), np.concatenate(scores)

    @property
    def together(self) -> bool:
        """Whether all originals are compared."""
        return self._features.together

    @property
    def width(self) -> int:
        return self._features.width

    @property
    def details(self) -> dict[str, object]:
        """Whether something was learned."""
        return {"learned": self.learned, "folds": FOLDS}

    def rows(self, originals: IntArray) -> FloatArray:
        """Return the surprises, shape (originals, classes)."""
        if self._scored is None:
            candidates, scores = self._score(originals)
        else:
            candidates, scores = self._scored[0][originals], self._scored[1][originals]
        found: FloatArray = np.repeat((FAR - scores.min(axis=1))[:, None], len(self.space.sizes), axis=1)
        np.put_along_axis(found, candidates, -scores, axis=1)
        found += scores.max(axis=1, keepdims=True)
        return found

    def _score(self, originals: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the candidates of some originals and their scores, shape (originals, candidates) each."""
        candidates, features = self._features.of(originals)
        if not self.learned:
            return candidates, features[..., 0]
        scores = np.empty(candidates.shape)
        for fold, classifier in enumerate(self._classifiers):
            own = self.fold[originals] == fold
            scores[own] = classifier.scores(features[own])
        return candidates, scores

    def _learn(self, originals: IntArray, random: np.random.Generator) -> _Classifier:
        """Return what the true links of some originals teach."""
        if len(originals) > TAUGHT:
            originals = np.sort(random.choice(originals, TAUGHT, replace=False))
        parts = [self._lessons(block, random) for block in self.blocks(originals)]
        features, truth = (np.concatenate(each) for each in zip(*parts, strict=True))
        return _boosted(features, truth, random)

    def _lessons(self, originals: IntArray, random: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the features of some candidates of originals, and the shares of true links among these.

        Originals without a true class among the candidates teach nothing.
        """
        candidates, features = self._features.of(originals)
        truth, classes = self.space.truth, len(self.space.sizes)
        keys = truth.original * classes + truth.release
        order = np.argsort(keys)
        wanted = originals[:, None] * classes + candidates
        place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        counts = np.where(keys[order][place] == wanted, truth.counts[order][place], 0)
        drawn = np.where(counts > 0, -1.0, random.random(candidates.shape))
        number = min(CONTRASTS + 1, candidates.shape[1])
        some = np.argpartition(drawn, number - 1, axis=1)[:, :number]
        shares = np.take_along_axis(counts, some, axis=1).astype(np.float64)
        taught = shares.sum(axis=1) > 0
        shares = shares[taught] / shares[taught].sum(axis=1, keepdims=True)
        return np.take_along_axis(features, some[..., None], axis=1)[taught], shares


def _boosted(features: FloatArray, truth: FloatArray, random: np.random.Generator) -> _Classifier:
    """Return trees for the choice of the true class among the candidates of each original.

    Parameters
    ----------
    features: shape (originals, candidates, features).
    truth: share of the original's true links, shape (originals, candidates), 1 in each row.
    """
    if not len(features):
        return _Classifier(Bins(tuple(np.empty((features.shape[-1], 0)))), [])
    flat = features.reshape(-1, features.shape[-1])
    bins, growth, loop = Bins.of(flat), Growth(), object()
    codes, scores, trees = bins.codes(flat), np.zeros(truth.shape), []
    for number in range(TREES):
        step(loop, number, TREES)
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances = odds / odds.sum(axis=1, keepdims=True)
        slope, curvature = (truth - chances).ravel(), (chances * (1 - chances)).ravel()
        tree, added = grow(codes, slope, curvature, growth, random)
        scores += added.reshape(scores.shape)
        trees.append(tree)
    return _Classifier(bins, trees)
