"""The deFinetti attack on releases in two tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from random import Random

import numpy as np
import pytest

from anonymizer.adversary.candidate import adversary_of
from anonymizer.attacks.definetti import AnatomyFeatures
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, AnatomyRelease, AnatomyTruth
from anonymizer.model.classes import SensitiveCounts
from anonymizer.model.recoding import GroupRecoding
from anonymizer.model.table import SensitiveAttribute
from anonymizer.testing.samples import tables
from tests.attacks.literature import rows_of
from tests.attacks.published import attack, one, run
from tests.helpers.build import column

QUICK = {"chains": 4, "sweeps": 512, "tolerance": 1.1, "draws": 50}


def in_groups(
    names: Sequence[str], people: Sequence[tuple[str, ...]], values: Sequence[tuple[str, str]]
) -> AnatomyRelease:
    """Return records, each with its group last, and the values of each group."""
    rows = sorted(Counter(people).items(), key=lambda row: (row[0][-1], row[0]))
    groups = sorted({row[-1] for row, _ in rows})
    labels, codes = [], []
    for position in range(len(names)):
        texts = sorted({row[position] for row, _ in rows})
        labels.append(tuple(texts))
        codes.append([texts.index(row[position]) for row, _ in rows])
    own, _ = column("s", sorted({value for _, value in values}), numeric=False)
    pairs = sorted(
        ((groups.index(group), own.texts.index(value)), n) for (group, value), n in Counter(values).items()
    )
    owners = np.array([group for (group, _), _ in pairs])
    sensitive = SensitiveCounts(
        SensitiveAttribute(own),
        np.searchsorted(owners, np.arange(len(groups) + 1)),
        np.array([value for (_, value), _ in pairs]),
        np.array([number for _, number in pairs]),
    )
    return AnatomyRelease(
        "release.qit.csv",
        tuple(names),
        tuple(labels),
        np.array(codes, dtype=np.int32).T,
        tuple(groups),
        np.array([groups.index(row[-1]) for row, _ in rows]),
        np.array([number for _, number in rows]),
        sensitive,
    )


def scene(grouped: AnatomyRelease) -> AdversaryView:
    return AdversaryView(grouped.tuples, grouped=grouped)


def paired(number: int = 300, seed: int = 0) -> AnatomyRelease:
    """Return pairs of people, of whom the older has the second illness in nine of ten, and who has which."""
    random = Random(seed)
    people, values, dealt = [], [], Counter[tuple[tuple[str, str], str]]()
    for group in range(number):
        name, secrets = f"{group:04}", random.sample("uvw", 2)
        for secret in secrets:
            young = (secret == "u") == (random.random() < 0.9)
            person = (str(random.randrange(20, 40) if young else random.randrange(60, 80)), name)
            people.append(person)
            values.append((name, secret))
            dealt[person, secret] += 1
    table = in_groups(("age",), people, values)
    rows = {
        (table.labels[0][code], table.groups[group]): row
        for row, (code, group) in enumerate(zip(table.codes[:, 0], table.group, strict=True))
    }
    texts = table.sensitive.attribute.column.texts
    true = sorted((rows[person], texts.index(secret), n) for (person, secret), n in dealt.items())
    return replace(table, truth=AnatomyTruth(*(np.array(part) for part in zip(*true, strict=True))))


@pytest.mark.slow
def test_table_6_of_kifer() -> None:
    people = [(row[1], row[2]) for row in rows_of("kifer2009_table6_qit")[1:]]
    values = [(row[0], row[1]) for row in rows_of("kifer2009_table6_st")[1:]]
    table = in_groups(("smoker",), people, values)
    view = AnatomyFeatures(10).view(scene(table), ("smoker",), "s")
    found = one("definetti", scene(table), chains=8, sweeps=2048, tolerance=1.01, draws=3000)
    assert found.details["judged_by"] == "the model's own chances, which nothing confirms"
    assert found.success == found.details["expected"] > found.baseline == 0.5
    assert found.knowledge["target"] == "as the model expects"
    assert view.true is None
    assert view.groups.people == found.records == 12


def test_the_truth_judges_where_it_is_known() -> None:
    found = one("definetti", scene(paired()), **QUICK)
    assert found.baseline == Fraction(1, 2)
    assert found.success > 0.65
    assert found.records == 600
    assert found.details["judged_by"] == "the true values"
    assert "target" not in found.knowledge
    assert found.details["features"] == "published"
    assert len(found.details["bins"]["age"]) == 10
    assert 400 < found.details["abs"] < 900
    assert found.details["random_worlds"] == {"abs": 1000.0, "ssq": 500.0}


def test_an_original_of_another_release_is_refused() -> None:
    table = paired(4)
    assert table.truth is not None
    strange = replace(table.truth, values=(table.truth.values + 1) % 3)
    with pytest.raises(
        InputError, match=r"bucket 000\d does not have the sensitive values of its original records"
    ):
        one("definetti", scene(replace(table, truth=strange)), **QUICK)


def test_groups_publish_no_nodes_to_be_like() -> None:
    lacking = attack("definetti", features="similar").missing_requirement(scene(paired(4)))
    assert lacking == "generalized values, which an Anatomy release does not have"
    with pytest.raises(InputError, match="cannot know 'shoe'"):
        run("definetti", scene(paired(4)), knowledge=["shoe"])


@pytest.mark.parametrize(
    ("labels", "bins"),
    [
        (("10", "9", "1", "<missing>", "100"), [(1, 9), (10, 100)]),
        (("2020-01-01", "2020-01-02", "2021-01-01"), [(737425, 737425), (737426, 737791)]),
        (("10", "9", "x", "y"), []),
    ],
)
def test_published_numbers_and_dates_are_binned(
    labels: tuple[str, ...], bins: list[tuple[float, float]]
) -> None:
    people = [(label, "g") for label in labels]
    table = in_groups(("q",), people, [("g", "u"), *[("g", "v")] * (len(labels) - 1)])
    (coding,) = AnatomyFeatures(2).view(scene(table), ("q",), "s").codings
    assert coding.bins == bins
    of = dict(zip(table.labels[0], coding.code.tolist(), strict=True))
    assert (
        len(set(of.values())) == coding.feature.values == len(bins) + len({"<missing>"} & set(labels))
        or not bins
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_candidate_in_groups_is_seen_with_its_truth(seed: int) -> None:
    random = np.random.default_rng(seed)
    for table in islice(tables(seed), 3):
        rows = len(table.counts)
        removed = random.random(rows) < 0.2
        removed[0] = False
        group = np.full(rows, -1)
        group[~removed] = np.unique(random.integers(0, 4, int((~removed).sum())), return_inverse=True)[1]
        levels = [attribute.minimum for attribute in table.quasi_identifiers]
        recoding = GroupRecoding(table, levels, group, removed)
        seen = adversary_of(table, recoding)
        assert seen.grouped is not None
        assert seen.grouped.truth is not None
        records = int(table.counts[~removed].sum())
        assert seen.grouped.records == int(seen.grouped.truth.counts.sum()) == records
        assert seen.grouped.sensitive.counts.sum() == records
        secrets = table.sensitive_codes(table.sensitive_names[0])
        largest = [
            max(
                int(table.counts[(group == own) & (secrets == value)].sum())
                for value in set(secrets.tolist())
            )
            for own in range(recoding.groups)
        ]
        found = one("definetti", seen, **{**QUICK, "sweeps": 32})
        assert found.baseline == Fraction(sum(largest), records)
        assert found.records == records
