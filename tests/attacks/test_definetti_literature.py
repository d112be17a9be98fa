"""The deFinetti attack on the tables of Kifer (SIGMOD 2009)."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from anonymizer.attacks.definetti import SamplerSettings
from tests.attacks.exchangeable import dealt, spread
from tests.attacks.literature import literature, rows_of
from tests.attacks.published import one, release
from tests.twins import exchangeable as twin


def anatomised(table: str, width: int) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
    """Return the people and the values of each group, in the order of the groups."""
    people, secrets = defaultdict(list), defaultdict(list)
    for row in rows_of(f"{table}_qit")[1:]:
        people[row[-1]].append(tuple(row[1 : 1 + width]))
    for group, secret in rows_of(f"{table}_st")[1:]:
        secrets[group].append(secret)
    return list(people.values()), [secrets[group] for group in people]


def test_table_1_under_three_models() -> None:
    """The 200th tuple smokes like 99 others, who all have cancer; 100 do neither."""
    rows = rows_of("kifer2009_table1")[1:]
    known = [(smoker, cancer) for _, smoker, cancer in rows[:-1]]
    assert len(known) == 199
    assert rows[-1][1:] == ["y", ""]
    together = {own: Fraction(known.count(("y", own)) + 1) for own in "yn"}
    assert together["y"] / sum(together.values()) == Fraction(100, 101)
    naive = {
        own: Fraction(secrets + 1, 201) * Fraction(known.count(("y", own)) + 1, secrets + 2)
        for own in "yn"
        for secrets in [sum(cancer == own for _, cancer in known)]
    }
    assert naive["y"] / sum(naive.values()) == Fraction(1_020_000, 1_030_201)
    # Random worlds: whatever the others have, both values of one more tuple are as likely.
    assert Fraction(1, len("yn")) == Fraction(1, 2)


def test_table_6_by_all_worlds() -> None:
    people, secrets = anatomised("kifer2009_table6", 1)
    found = twin.posterior(people, secrets, [2])
    assert found[5][1]["Cancer"] == Fraction(5, 32)
    # The paper prints 0.16, which is this rounded.
    assert round(float(found[5][1]["Cancer"]), 2) == 0.16


@pytest.mark.slow
def test_table_6_by_the_sampler() -> None:
    people, secrets = anatomised("kifer2009_table6", 1)
    case = dealt(people, secrets)
    found = case.sampled(SamplerSettings(8, 2048, 1.0000001, 10**9))
    entry = case.entry(5, 1, "Cancer")
    assert case.groups.shares[entry] == 0.5
    assert found.chances[entry] == pytest.approx(5 / 32, abs=3 * spread(found)[entry])
    assert spread(found)[entry] < 0.01


def test_table_5_leaves_each_value_at_a_quarter_under_random_worlds() -> None:
    people, secrets = anatomised("kifer2009_table5", 3)
    assert [len(own) for own in people] == [4, 4, 4]
    case = dealt(people, secrets)
    assert set(case.groups.shares.tolist()) == {0.25}
    found = case.sampled(SamplerSettings(4, 512, 1.0000001, 10**9))
    by_kind = np.add.reduceat(found.chances, case.groups.first[:-1])
    assert by_kind == pytest.approx(np.ones(12))


@pytest.mark.parametrize("table", ["kifer2009_table3", "kifer2009_table4"])
def test_generalized_tables_leave_the_shares_of_a_class(table: str) -> None:
    """All records of a class are published equal, so AIDS has 3/4 in the first."""
    names, rows, answers = literature(table)
    assert answers["published"]["random_worlds_P_AIDS_group_1"] == "3/4"
    found = one("definetti", release(names, rows, names[-1:]))
    assert found.success == found.baseline == Fraction(7, 12)
    assert found.low == found.high == 7 / 12
    assert found.details["chains"] is None
    assert found.details["features"] == "published"
