"""Noise removal: the true numbers behind masked ones, from the correlations that noise does not hide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import (
    LINKED,
    NUMERIC,
    AlignedSettings,
    Attack,
    AttackResult,
    chosen,
    clopper_pearson,
)
from anonymizer.attacks.tail import Ranking, exposing
from anonymizer.model.adversary import AdversaryView, Original
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.naming import ColumnName
from anonymizer.plugins import Exact, needs


class Filter(StrEnum):
    """What is kept of each principal component of the published numbers."""

    BAYES = "bayes"
    PCA = "pca"
    SPECTRAL = "spectral"


class NoiseRemovalSettings(AlignedSettings):
    """What the adversary knows of the noise, and the interval in which a number counts as found."""

    attributes: Annotated[
        tuple[ColumnName, ...] | None,
        Field(min_length=1, description="numeric attributes to attack; default: all"),
    ] = None
    method: Annotated[
        Filter,
        Field(
            description="bayes: the expected true numbers; pca: the components with more signal than noise; "
            "spectral: those that noise alone cannot explain"
        ),
    ] = Filter.BAYES
    share: Annotated[
        Exact | None,
        Field(
            gt=0,
            description="standard deviation of the noise by that of the original attribute; default: an "
            "estimate from the correlations",
        ),
    ] = None
    width: Annotated[
        Exact,
        Field(gt=0, description="half the width of the interval, as a share of the original's deviation"),
    ] = Decimal("0.05")


@dataclass(frozen=True, eq=False)
class Filtered:
    """Numbers from which noise was removed.

    Attributes
    ----------
    values: shape as the published ones, float64.
    share: of the noise, as given or estimated.
    components: number of principal components that are kept, a part of one as such.
    """

    values: FloatArray
    share: float
    components: float


def remove_noise(published: FloatArray, counts: IntArray, method: Filter, share: float | None) -> Filtered:
    """Return what an adversary takes the true numbers for.

    The noise of each attribute is independent, of a deviation in proportion to the attribute's. On a scale on
    which it has deviation 1, its covariance is the identity, so true and published numbers have the same
    principal components, with variances L - 1 and L. Each component of the published numbers, from the mean,
    is multiplied by (L - 1) / L (``bayes``), by 1 if L - 1 > 1 (``pca``), or by 1 if L exceeds the largest
    eigenvalue of noise alone, (1 + sqrt(attributes / records))² (``spectral``); else by 0.

    Parameters
    ----------
    published: shape (rows, attributes), float64, finite; at least one row.
    counts: records of each row, shape (rows,), int64, positive.
    share: deviation of the noise by that of the original attribute. None: the noise that the smallest
        eigenvalue of the correlations leaves room for, an upper estimate.
    """
    records = int(counts.sum())
    mean = np.average(published, axis=0, weights=counts)
    centred = published - mean
    deviation = np.sqrt(np.average(centred**2, axis=0, weights=counts))
    varies = deviation > 0
    number = int(varies.sum())
    if not number:
        return Filtered(published, share or 0.0, 0.0)
    scaled = centred[:, varies] / deviation[varies]
    correlation = (scaled.T * counts) @ scaled / records
    variances, directions = np.linalg.eigh(correlation)
    ratio = np.sqrt(number / records)
    if share is None:
        # The smallest eigenvalue of noise alone is below its variance.
        least = max(float(variances[0]), 0.0) / max((1 - ratio) ** 2, ratio**2)
        noise = min(least, MOST_NOISE)
    else:
        noise = share**2 / (1 + share**2)
    if noise <= 0:
        return Filtered(published, 0.0, float(number))
    by_noise = variances / noise
    kept = {
        Filter.BAYES: lambda: np.maximum(by_noise - 1, 0) / np.maximum(by_noise, 1),
        Filter.PCA: lambda: (by_noise > 2).astype(np.float64),
        Filter.SPECTRAL: lambda: (by_noise > (1 + ratio) ** 2).astype(np.float64),
    }[method]()
    found = published.copy()
    found[:, varies] = mean[varies] + (scaled @ directions * kept) @ directions.T * deviation[varies]
    return Filtered(found, float(np.sqrt(noise / (1 - noise))), float(kept.sum()))


MOST_NOISE = 0.99
"""Largest estimated share of noise in the variance of the published numbers."""


class NoiseRemoval(Attack):
    """Share of the true numbers that lie in an interval around what remains when noise is removed.

    The adversary has the masked numbers and knows that noise was added, perhaps how much. Attributes that are
    correlated say much of each other, and noise does not. A true number counts as found if it is within
    ``width`` standard deviations of the original around the filtered one, ends included. The baseline is the
    expected success after a permutation of the filtered column; ``as_published`` is the success with the
    published numbers as they are.

    Sources: Kargupta, Datta, Wang, Sivakumar, "On the privacy preserving properties of random data
    perturbation techniques" (ICDM 2003, doi:10.1109/ICDM.2003.1250908), for ``spectral``; Huang, Du, Chen,
    "Deriving private information from randomized data" (SIGMOD 2005, doi:10.1145/1066157.1066163), for
    ``pca`` and ``bayes``.
    """

    name = "noise-removal"
    threat = None
    by_default = False
    Settings = NoiseRemovalSettings
    settings: NoiseRemovalSettings
    examples = ({"attribute": "age", "method": "bayes", "width": 0.05},)
    requires = (
        *LINKED,
        needs(
            "a quasi-identifier with numbers or dates",
            lambda _, adversary: _numeric(adversary.original),
        ),
        needs(
            "the deviation of the noise (set share), which a single column of numbers does not show",
            lambda own, adversary: own.settings.share is not None or len(_numeric(adversary.original)) > 1,
        ),
    )

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how often the true number is near the filtered one."""
        who = f"An adversary who removes noise from the published numbers ({knowledge['method']})"
        near = f"comes within {knowledge['width']:g} standard deviations of the true {knowledge['attribute']}"
        return f"{who} {near} for {success} of the records; by chance for {guess}."

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Return one result for each attacked attribute."""
        original = self.required_original(adversary)
        names = _numeric(original)
        attacked = chosen(self.settings.attributes, names, original.source, NUMERIC)
        links = self.settings.links(original)
        published = np.column_stack([_published(adversary, original, name) for name in names])
        whole: BoolArray = np.isfinite(published.sum(axis=1))
        if not whole.any():
            return []
        share = None if self.settings.share is None else float(self.settings.share)
        counts = adversary.release.counts[whole]
        filtered = remove_noise(published[whole], counts, self.settings.method, share)
        found = np.full_like(published, np.nan)
        found[whole] = filtered.values
        results = []
        for column, name in enumerate(names):
            own = original.names.index(name)
            numbers = original.meanings[own].column.numbers
            assert numbers is not None, "_numeric() checks this"
            every = numbers[original.codes[:, own]]
            true, row = every[links.original], links.release
            known = ~np.isnan(true) & whole[row]
            if name not in attacked or not known.any():
                continue
            reach = float(self.settings.width) * _deviation(every, original.counts)
            results.append(
                self._finding(
                    name,
                    _Errors(true[known], row[known], links.counts[known], reach),
                    (found[:, column], published[:, column]),
                    (whole, adversary.release.counts),
                    filtered,
                )
            )
        return results

    def _finding(
        self,
        name: str,
        errors: _Errors,
        columns: tuple[FloatArray, FloatArray],
        rows: tuple[BoolArray, IntArray],
        filtered: Filtered,
    ) -> AttackResult:
        found, published = columns
        whole, counts = rows
        targets = int(errors.counts.sum())
        success = Fraction(errors.inside(found), targets)
        baseline = errors.by_chance(found[whole], counts[whole]) / targets
        low, high = clopper_pearson(float(success) * targets, targets)
        knowledge: dict[str, Any] = {
            "attribute": name,
            "method": self.settings.method.value,
            "width": float(self.settings.width),
        }
        if self.settings.share is not None:
            knowledge["share"] = float(self.settings.share)
        details = {
            "share": filtered.share,
            "components": filtered.components,
            "as_published": errors.inside(published) / targets,
            "error": errors.root_mean_square(found),
            "error_as_published": errors.root_mean_square(published),
        }
        result = AttackResult(self.name, knowledge, success, baseline, low, high, targets, details)
        # Noise is alike for all: nobody knows whose number it moved least.
        hits = np.array([errors.inside(found)])
        nobody = Ranking(np.zeros(1), np.array([targets]), hits, np.array([targets]))
        return replace(exposing(result, nobody), ceiling=1.0)


@dataclass(frozen=True, eq=False)
class _Errors:
    """The targets of one attribute.

    Attributes
    ----------
    true: original numbers, shape (targets,), float64.
    row: released row of each, shape (targets,), int64.
    counts: records of each, shape (targets,), int64.
    reach: half the width of the interval.
    """

    true: FloatArray
    row: IntArray
    counts: IntArray
    reach: float

    def inside(self, numbers: FloatArray) -> int:
        """Return how many targets have the true number in the interval around that of their row."""
        return int(self.counts[np.abs(numbers[self.row] - self.true) <= self.reach].sum())

    def by_chance(self, numbers: FloatArray, counts: IntArray) -> Fraction:
        """Return the expected number of targets inside after a permutation of numbers of so many records."""
        order = np.argsort(numbers, kind="stable")
        ordered, known = numbers[order], np.concatenate([[0], np.cumsum(counts[order])])
        last = np.searchsorted(ordered, self.true + self.reach, "right")
        first = np.searchsorted(ordered, self.true - self.reach, "left")
        return Fraction(int(((known[last] - known[first]) * self.counts).sum()), int(known[-1]))

    def root_mean_square(self, numbers: FloatArray) -> float:
        """Return the root of the mean squared error."""
        return float(np.sqrt(np.average((numbers[self.row] - self.true) ** 2, weights=self.counts)))


def _published(adversary: AdversaryView, original: Original, name: str) -> FloatArray:
    """Return the published numbers of an attribute, shape (rows,); of an interval the middle."""
    release, meaning = adversary.release, original.meanings[original.names.index(name)]
    of_text = (meaning.low + meaning.high) / 2
    return of_text[release.codes[:, release.names.index(name)]]


def _deviation(numbers: FloatArray, counts: IntArray) -> float:
    """Return the standard deviation, by the number of records; NaN does not count."""
    known = ~np.isnan(numbers)
    mean = np.average(numbers[known], weights=counts[known])
    return float(np.sqrt(np.average((numbers[known] - mean) ** 2, weights=counts[known])))


def _numeric(original: Original) -> list[str]:
    return [
        name
        for name, meaning in zip(original.names, original.meanings, strict=True)
        if meaning.column.numbers is not None and not np.isnan(meaning.column.numbers).all()
    ]
