"""The measure ``prediction``: accuracy of a model trained on the release, on held-out originals.

The model predicts a sensitive attribute. Links show which released records come from held-out originals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import clopper_pearson, draw_sample
from anonymizer.attacks.coverage import codes_in
from anonymizer.attacks.naive_bayes import LabelCounts, NaiveBayes
from anonymizer.errors import InputError
from anonymizer.model.adversary import Links, Original, PublishedTable, ValueCoverage
from anonymizer.model.arrays import IntArray, count
from anonymizer.model.table import Column
from anonymizer.plugins import Settings, WholeNumber, needs
from anonymizer.utility.base import Comparison, Measure, UtilityFinding


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Numbers of held-out records.

    Attributes
    ----------
    original: of each original row, shape (rows,), int64.
    release: of each released row, shape (rows,), int64; fewer in sum if some were suppressed.
    """

    original: IntArray
    release: IntArray

    @property
    def records(self) -> int:
        """Number of original records that are held out."""
        return int(self.original.sum())


def held_out(original: Original, combinations: int, number: int, random: np.random.Generator) -> HeldOut:
    """Draw originals, all equally likely, including suppressed ones; the release does not affect the draw.

    Parameters
    ----------
    combinations: number of rows of the release.
    number: of records to draw, fewer than the original has.
    """
    held = draw_sample(original.counts, number, random)
    links = original.links
    taken = _among_links(links, original.counts, held, random)
    return HeldOut(held, count(links.release, taken, combinations))


def _among_links(links: Links, records: IntArray, held: IntArray, random: np.random.Generator) -> IntArray:
    """Return the number of held-out records of each link, shape (links,), int64.

    The records of an original row are equal; one link of each row is drawn at a time.
    """
    taken = np.zeros(len(links.counts), dtype=np.int64)
    place = np.arange(len(links.counts)) - np.searchsorted(links.original, links.original)
    by_place = np.argsort(place, kind="stable")
    ends = np.cumsum(np.bincount(place))
    left, wanted = records.copy(), held.copy()
    for own in np.split(by_place, ends[:-1]):
        owners, good = links.original[own], links.counts[own]
        taken[own] = random.hypergeometric(good, left[owners] - good, wanted[owners])
        left[owners] -= good
        wanted[owners] -= taken[own]
    # Originals without a link were suppressed; holding them out takes no record out of the release.
    return taken


VALUES = 1000
"""Maximum number of values of a predicted attribute."""


class PredictionSettings(Settings):
    """Parameters of the held-out records."""

    held_out: Annotated[
        float, Field(gt=0, lt=1, description="share of the original records that are held out")
    ] = 0.2
    targets: Annotated[WholeNumber, Field(ge=1, description="maximum number of held-out records")] = 20_000


class Prediction(Measure):
    """Accuracy of a model trained on the release, predicting a sensitive attribute of held-out originals.

    A random sample of the original records is held out, and their released records are taken out of the
    release. Naive Bayes learns the rest of the release, where a published value counts in equal parts for the
    values that it covers, and predicts the sensitive values of the held-out records from their original
    quasi-identifiers. ``untouched`` is the accuracy of the same model trained on the rest of the originals,
    ``suppressed`` that of their most frequent value. The recoding was chosen with the held-out records.
    """

    name = "prediction"
    Settings = PredictionSettings
    needs_sensitive = True
    settings: PredictionSettings
    requires = (
        needs(
            "the original records",
            lambda _, comparison: (
                comparison.adversary is not None and comparison.adversary.original is not None
            ),
        ),
        needs(
            "to know the original record of each released record",
            lambda _, comparison: comparison.adversary.original.links.records,
        ),
        needs(
            "a release whose records have their own sensitive values; Anatomy publishes them per bucket",
            lambda _, comparison: comparison.adversary.grouped is None,
        ),
        needs("two original records", lambda _, comparison: comparison.original.records >= 2),
        needs(
            f"a sensitive attribute with at most {VALUES} values",
            lambda _, comparison: _predicted(comparison),
        ),
    )

    def measure(self, comparison: Comparison, random: np.random.Generator) -> Sequence[UtilityFinding]:
        adversary = comparison.adversary
        if adversary is None or adversary.original is None:
            raise InputError(f"{comparison.source}: prediction needs {self.missing_requirement(comparison)}")
        records = adversary.original.records
        number = min(round(records * self.settings.held_out), self.settings.targets, records - 1)
        held = held_out(adversary.original, len(adversary.release.counts), max(number, 1), random)
        return [
            _Task(adversary.release, adversary.original, held, name).finding(self.name)
            for name in _predicted(comparison)
        ]


def _predicted(comparison: Comparison) -> list[str]:
    return [name for name in comparison.sensitive if comparison.columns[name].size <= VALUES]


class _Task:
    """The prediction of one sensitive attribute.

    Parameters
    ----------
    held: records that are not learned from.
    name: of the sensitive attribute.
    """

    def __init__(self, release: PublishedTable, original: Original, held: HeldOut, name: str) -> None:
        self._release, self._original, self._held, self._name = release, original, held, name
        self._values = original.sensitive[name].codes
        self._size = original.sensitive[name].attribute.column.size
        self._tested = np.flatnonzero(held.original)

    def finding(self, measure: str) -> UtilityFinding:
        """Return the share of held-out records whose value is predicted correctly."""
        originals = self._of_originals()
        most = int(originals.values.argmax())
        right = self._right(NaiveBayes(self._of_release(), self._original.meanings))
        untouched = self._right(
            NaiveBayes(originals, [_itself(each.column) for each in self._original.meanings])
        )
        number = self._held.records
        low, high = clopper_pearson(right, number)
        details: dict[str, Any] = {
            "predicted": self._name,
            "model": "naive Bayes",
            "held_out": number,
            "low": low,
            "high": high,
        }
        return UtilityFinding(
            measure,
            (*self._original.names, self._name),
            right / number,
            untouched / number,
            int(self._held.original[self._values == most].sum()) / number,
            False,
            self._original.records,
            details,
        )

    def _right(self, model: NaiveBayes) -> int:
        """Return the number of held-out records that a model predicts correctly."""
        guesses = model.guesses(self._original.codes[self._tested].astype(np.int64), 1.0)
        return int(self._held.original[self._tested][guesses == self._values[self._tested]].sum())

    def _of_originals(self) -> LabelCounts:
        rest = self._original.counts - self._held.original
        sizes = [each.column.size for each in self._original.meanings]
        return LabelCounts.of(self._original.codes.astype(np.int64), self._values, rest, sizes, self._size)

    def _of_release(self) -> LabelCounts:
        release, names = self._release, self._original.names
        published = release.sensitive[self._name]
        values = codes_in(self._original.sensitive[self._name], published)[published.codes]
        known = np.flatnonzero(values >= 0)
        columns = [release.names.index(name) for name in names]
        codes = release.codes[known][:, columns].astype(np.int64)
        rest = (release.counts - self._held.release)[known]
        sizes = [len(each.sizes) for each in self._original.meanings]
        return LabelCounts.of(codes, values[known], rest, sizes, self._size)


def _itself(column: Column) -> ValueCoverage:
    """Return the coverage of a column that is released unchanged: each value covers itself."""
    every = np.arange(column.size + 1)
    numbers = np.full(column.size, np.nan) if column.numbers is None else column.numbers
    return ValueCoverage(column, every, every[:-1], numbers, numbers)
