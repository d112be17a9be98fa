"""Runs of microaggregation for the tests."""

from __future__ import annotations

from collections import Counter

from anonymizer.model.recoding import Outcome
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.microaggregation.algorithm import Microaggregation, MicroaggregationSettings


def search(own: SearchProblem, control: Control | None = None, **settings: object) -> Outcome:
    plug_in = Microaggregation(MicroaggregationSettings.model_validate(settings))
    return plug_in.search(own, control or Control())


def published(outcome: Outcome) -> Counter[tuple[str, ...]]:
    """Return the published records."""
    recoding = outcome.recoding
    assert recoding is not None
    records: Counter[tuple[str, ...]] = Counter()
    columns = recoding.published()
    for row, count in enumerate(recoding.table.counts.tolist()):
        if not recoding.removed[row]:
            records[tuple(own.labels[own.codes[row]] for own in columns)] += count
    return records
