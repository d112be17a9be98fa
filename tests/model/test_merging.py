"""Rows that are published alike as one: what follows from a release is the same."""

from __future__ import annotations

from collections import Counter
from copy import copy
from random import Random

import numpy as np
from hypothesis import assume, given

from anonymizer.loss.base import LOSS_METRICS
from anonymizer.model.classes import released
from anonymizer.model.recoding import FullDomainRecoding, NodeRecoding, Recoding
from anonymizer.report.facts import attribute_losses, distributions
from tests import strategies
from tests.helpers import build
from tests.helpers.recodings import highest, levels_between, lowest, node
from tests.loss.test_regions import recoded


def published_rows(recoding: Recoding) -> Counter[tuple[object, ...]]:
    table = recoding.table
    columns = [[own.labels[code] for code in own.codes] for own in recoding.published()]
    sensitive = [table.sensitive_codes(name).tolist() for name in table.sensitive_names]
    fates = zip(recoding.suppressed.tolist(), recoding.removed.tolist(), strict=True)
    found: Counter[tuple[object, ...]] = Counter()
    rows = zip(*columns, *sensitive, fates, table.counts.tolist(), strict=True)
    for *row, records in rows:
        found[tuple(row)] += records
    return found


@given(random=strategies.randoms())
def test_merged_rows_publish_the_same(random: Random) -> None:
    data = strategies.table(random)
    levels = levels_between(random, lowest(data), highest(data))
    found = node(random, data, levels, random.choice((None, 1, 2, 3)))
    assume(found is not None)
    recoding = found.released(build.table(data)).recoding
    merged = recoding.merged
    assert published_rows(merged) == published_rows(recoding)
    assert merged.levels == recoding.levels
    rows = np.column_stack([merged.table.codes, merged.suppressed, merged.removed])
    assert len(np.unique(rows, axis=0)) == len(rows) <= recoding.table.combinations
    own = released(recoding, 2)
    expected = sorted(len(rows) for rows in found.classes if rows[0] not in found.suppressed)
    assert sorted(own.class_sizes.tolist()) == expected
    assert own.suppressed == len(found.suppressed)


def assert_merged(recoding: Recoding) -> None:
    merged = recoding.merged
    assert published_rows(merged) == published_rows(recoding)
    own, before = released(recoding, 2), released(_unmerged(recoding), 2)
    assert sorted(own.class_sizes.tolist()) == sorted(before.class_sizes.tolist())
    assert (own.suppressed, own.kept_suppressed) == (before.suppressed, before.kept_suppressed)
    for metric in LOSS_METRICS.values():
        assert metric().value(own) == metric().value(before)
    assert attribute_losses(own.merged) == attribute_losses(before)
    assert distributions(own.merged) == distributions(before)


def _unmerged(recoding: Recoding) -> Recoding:
    """Return the same recoding, which says of itself that no rows can be merged."""
    alone = copy(recoding)
    vars(alone)["merged"] = alone
    return alone


@given(random=strategies.randoms())
def test_rows_of_a_region_become_one(random: Random) -> None:
    recoding, _ = recoded(random)
    assert recoding.merged.table.combinations <= recoding.table.combinations
    assert_merged(recoding)


@given(random=strategies.randoms())
def test_rows_with_the_same_nodes_become_one(random: Random) -> None:
    """The lowest common node of each region, some of them suppressed and some of these still there."""
    data = strategies.table(random)
    table = build.table(data)
    regions = random.randint(1, table.combinations)
    region_of = np.array([random.randrange(regions) for _ in range(table.combinations)])
    region_of = np.unique(region_of, return_inverse=True)[1].astype(np.int64)
    nodes = np.zeros((int(region_of.max()) + 1, len(table.quasi_identifiers)), dtype=np.int32)
    for position, attribute in enumerate(table.quasi_identifiers):
        for region in range(len(nodes)):
            codes = table.quasi_identifier_codes(position)[region_of == region]
            chains = attribute.hierarchy.ancestors[:, attribute.leaf[codes]]
            nodes[region, position] = next(own[0] for own in chains if len(set(own.tolist())) == 1)
    fate = np.array([random.choice((0, 0, 1, 2)) for _ in range(len(nodes))])[region_of]
    recoding = NodeRecoding(table, nodes, fate > 0, fate > 1, region_of=region_of)
    assert recoding.merged.table.combinations <= table.combinations
    assert_merged(recoding)
    alone = NodeRecoding(table, nodes[region_of], fate > 0, fate > 1)
    assert alone.merged is alone
    assert published_rows(alone) == published_rows(recoding)


class _Finer(FullDomainRecoding):
    """Tells rows apart by more than their nodes."""


def test_a_recoding_that_tells_more_apart_is_left_as_it_is() -> None:
    table = build.table(strategies.table(Random(1)))
    nothing = np.zeros(table.combinations, dtype=np.bool_)
    recoding = _Finer(table, [0] * len(table.quasi_identifiers), nothing, nothing)
    assert recoding.merged is recoding
