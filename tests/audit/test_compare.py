"""A file against a recoding: a mistake in merging rows, which the file shares, is noticed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizer.audit.compare import unpromised_records
from anonymizer.audit.fingerprint import fingerprint
from anonymizer.core.recoding import FullDomainRecoding, Recoding
from anonymizer.engines.base import Groups
from tests import strategies
from tests.helpers import build
from tests.helpers.recodings import highest, levels_between, lowest, node


def some_recoding(random: Random) -> Recoding:
    data = strategies.table(random)
    levels = levels_between(random, lowest(data), highest(data))
    found = node(random, data, levels, random.choice((None, 1, 2, 3)))
    assume(found is not None)
    return found.released(build.table(data)).recoding


def written(recoding: Recoding) -> Groups:
    """Return what a file of a recoding is counted as."""
    table, kept = recoding.table, ~recoding.removed
    published = recoding.published()
    sensitive = [each.column.texts for each in table.sensitive]
    codes = [own.codes for own in published]
    codes += [table.sensitive_codes(name) for name in table.sensitive_names]
    return Groups(
        (*(own.labels for own in published), *sensitive),
        np.stack(codes, axis=1)[kept].astype(np.int32),
        table.counts[kept],
    )


def rows(groups: Groups) -> Counter[tuple[str | None, ...]]:
    texts = [groups.texts(column) for column in range(len(groups.values))]
    found: Counter[tuple[str | None, ...]] = Counter()
    for row, records in zip(zip(*texts, strict=True), groups.counts.tolist(), strict=True):
        found[row] += records
    return found


@given(random=st.randoms(use_true_random=False))
def test_merged_rows_have_the_fingerprint_of_all(random: Random) -> None:
    recoding = some_recoding(random)
    assert fingerprint(recoding.merged) == fingerprint(recoding)


@given(random=st.randoms(use_true_random=False))
def test_a_file_that_was_merged_wrongly_is_not_what_was_promised(random: Random) -> None:
    recoding = some_recoding(random)
    merged = recoding.merged
    codes = merged.table.codes.copy()
    first = len(merged.table.quasi_identifiers)
    codes[:, first:] = np.roll(codes[:, first:], 1, axis=0)
    table = replace(merged.table, codes=codes)
    wrong = FullDomainRecoding(table, merged.levels or (), merged.suppressed, merged.removed)
    # What is looked up where the recoding is asked for its merged rows.
    vars(recoding)["merged"] = wrong
    groups = written(wrong)
    expected = (rows(groups) - rows(written(recoding))).total()
    assert unpromised_records("release", groups, recoding) == expected
