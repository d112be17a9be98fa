"""Linkage by adversaries whose values are off or unknown, and the likelihood of what they know."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizer.attacks.coverage import meaning_of
from anonymizer.attacks.joins import CoveringJoin
from anonymizer.attacks.linkage.attack import KnownValues, Linkage, with_errors
from anonymizer.attacks.linkage.distances import (
    CONFUSIONS,
    SURPRISE,
    ComparisonSpace,
    Coverage,
    ErrorRates,
    Euclidean,
    Likelihood,
    Mahalanobis,
    RankDistance,
)
from anonymizer.attacks.linkage.linkers import ordered_m
from anonymizer.model.adversary import Links, ValueCoverage
from anonymizer.model.table import QuasiIdentifier, ValueType
from tests import strategies
from tests.attacks.published import invalid
from tests.helpers.linkage import TREE, UNLEARNED, attribute, frame_scene, linkage, noisy
from tests.helpers.messages import exchange
from tests.twins.linkage import likelihood, taken_for

NUMBERS = [1, 2, 5, 9, 12, 15, 40]
TEXTS = ["*", "1", "2", "[2, 9]", "{1, 15}", "[9, 40]", "40"]
LETTERS = ["*", "a", "b", "ab", "cd", "{a, c}", "d"]
KINDS = ("noise", "missing", "year", "typing", "coding")


def letters() -> QuasiIdentifier:
    return attribute(["a", "b", "c", "d"], TREE)


def space_of(
    meanings: list[ValueCoverage], originals: list[list[int]], classes: list[list[int]]
) -> ComparisonSpace:
    codes, texts = (np.unique(np.array(rows, dtype=np.int32), axis=0) for rows in (originals, classes))
    nothing = np.zeros(0, dtype=np.int64)
    return ComparisonSpace(
        tuple("abc"[: len(meanings)]),
        tuple(meanings),
        codes,
        np.ones(len(codes), dtype=np.int64),
        texts,
        np.ones(len(texts), dtype=np.int64),
        Links(nothing, nothing, nothing),
        # Few single numbers would be taken for numbers in other units, where no distance is 0.
        each=False,
    )


def counted(own: QuasiIdentifier, random: Random) -> QuasiIdentifier:
    """Return an attribute with random numbers of records."""
    counts = np.array([random.randint(1, 9) for _ in own.column.texts])
    return replace(own, column=replace(own.column, counts=counts))


def covered_by(meaning: ValueCoverage, text: int) -> list[str]:
    return [
        meaning.column.texts[code] for code in meaning.values[meaning.starts[text] : meaning.starts[text + 1]]
    ]


@given(strategies.randoms())
def test_the_likelihood_is_that_of_the_definition(random: Random):
    number, letter = counted(attribute(NUMBERS), random), counted(letters(), random)
    meanings = [meaning_of(number, TEXTS), meaning_of(letter, LETTERS)]
    shares = [random.random() + 0.01 for _ in (*KINDS, "correct")]
    rates = {
        kind: share / sum(shares) * random.choice((0, 1)) for kind, share in zip(KINDS, shares, strict=False)
    }
    originals = [[random.randrange(-1, 7), random.randrange(-1, 4)] for _ in range(9)]
    classes = [[random.randrange(7), random.randrange(7)] for _ in range(9)]
    space = space_of(meanings, originals, classes)
    distance = Likelihood(space, ErrorRates(**rates))
    # Where hardly any class covers an original, numbers are taken for swapped ones.
    assume(not distance.details)
    found = distance.rows(np.arange(len(space.records)))
    parents = [["*"] * len(NUMBERS), [TREE[value][1] for value in TREE]]
    columns = [number.column, letter.column]
    records = [dict(zip(own.texts, own.counts.tolist(), strict=True)) for own in columns]
    taken = [
        taken_for(own.texts, above, numeric)
        for own, above, numeric in zip(columns, parents, (True, False), strict=True)
    ]
    for row, codes in enumerate(space.originals):
        for column, texts in enumerate(space.classes):
            expected = 1.0
            for position, own in enumerate(columns):
                if codes[position] < 0:
                    continue
                known = own.texts[codes[position]]
                covered = covered_by(meanings[position], texts[position])
                value = likelihood(known, covered, records[position], taken[position], rates, SURPRISE)
                expected *= min(value, 1.0)
            assert np.exp(-found[row, column]) == pytest.approx(expected, rel=1e-9)


@given(strategies.randoms())
def test_unknown_values_contribute_nothing_and_are_covered_by_everything(random: Random):
    """A row without a value is as far from every class as the other values alone."""
    meanings = [meaning_of(attribute(NUMBERS), TEXTS), meaning_of(letters(), LETTERS)]
    originals = [[random.randrange(7), random.randrange(4)] for _ in range(6)]
    classes = [[random.randrange(7), random.randrange(7)] for _ in range(6)]
    full = space_of(meanings, originals, classes)
    unknown = replace(full, originals=np.column_stack([full.originals[:, 0], np.full(len(full.records), -1)]))
    alone = replace(
        full,
        names=("a",),
        meanings=(meanings[0],),
        originals=full.originals[:, :1],
        classes=full.classes[:, :1],
    )
    assume(unknown.by_covering)
    rows = np.arange(len(full.records))
    for kind in (Euclidean, RankDistance, Coverage, Mahalanobis):
        assert kind(unknown).rows(rows) == pytest.approx(kind(alone).rows(rows), abs=1e-9)
    texts = full.classes.astype(np.int64)
    pairs = {
        (int(block[one]), int(other))
        for block, found in CoveringJoin(meanings, texts).blocks(unknown.originals.astype(np.int64))
        for one, other in zip(found.original, found.published, strict=True)
    }
    expected = np.nonzero(Coverage(unknown).rows(rows) == 0)
    assert pairs == set(zip(*(each.tolist() for each in expected), strict=True))
    for column in range(len(texts)):
        owns = meanings[1].covers(np.full(len(rows), -1), np.full(len(rows), texts[column, 1]))
        assert owns.all()


@pytest.mark.parametrize("numeric", [True, False])
@pytest.mark.parametrize("kind", sorted(CONFUSIONS))
def test_confused_values_are_drawn_equally_often(kind: str, numeric: bool):
    own = attribute(NUMBERS) if numeric else letters()
    parents = ["*"] * len(NUMBERS) if numeric else [TREE[value][1] for value in TREE]
    texts = own.column.texts
    taken = taken_for(texts, parents, numeric)[kind]
    confusion = CONFUSIONS[kind](meaning_of(own, ["*"]))
    for code, value in enumerate(texts):
        drawn = confusion.drawn(np.full(4000, code), np.random.default_rng(code))
        shares = np.bincount(drawn, minlength=len(texts)) / 4000
        others = taken[value] or [value]
        expected = [others.count(text) / len(others) for text in texts]
        assert shares == pytest.approx(expected, abs=0.04)


def test_dates_are_a_year_off():
    own = attribute([737119, 737484, 737849, 738215])
    texts = ("2019-02-28", "2020-02-29", "2021-02-28", "2022-03-01")
    numbers = np.array([737118.0, 737484.0, 737849.0, 738215.0])
    dated = replace(own, column=replace(own.column, type=ValueType.DATE, texts=texts, numbers=numbers))
    confusion = CONFUSIONS["year"](meaning_of(dated, ["*"]))
    drawn = confusion.drawn(np.ones(1000, dtype=np.int64), np.random.default_rng(0))
    assert set(drawn.tolist()) == {0, 2}


@pytest.mark.quick(3)
@pytest.mark.parametrize("linking", ["nearest", "assignment", "probabilistic"])
@pytest.mark.parametrize("knowledge", [{"noise": 0.2}, {"missing": 0.2}, {"noise": 0.1, "year": 0.5}])
def test_drawn_errors_leave_an_interval(knowledge: dict[str, float], linking: str):
    """Other errors give other links, so that one draw of them is an estimate even of all records."""
    original = pd.DataFrame({name: np.arange(60) * step % 61 for name, step in (("a", 7), ("b", 11))})
    scene = frame_scene(original, original)
    options = {"aligned": True, "linkage": linking, "knowledge": knowledge}
    found = [linkage(scene, seed, **options) for seed in range(12)]
    assert len({each.success for each in found}) > 1
    mean = sum(each.success for each in found) / len(found)
    for each in found:
        assert each.records == 60
        assert each.details["estimated"]
        assert not each.details["sampled"]
        assert each.low < each.success < each.high or each.success == each.high == 1
    # In an assignment, an error moves the links of others, too, so that its success varies more.
    covered = sum(each.low <= mean <= each.high for each in found)
    assert covered >= (9 if linking == "assignment" else 11)


def test_errors_are_drawn_at_their_shares():
    original, _ = noisy(12, records=2000)
    given_scene = frame_scene(original.round(0), original.round(0))
    adversary = given_scene.original
    rates = ErrorRates(noise=0.1, missing=0.2, year=0.1)
    known = with_errors(adversary, adversary.links, rates, np.random.default_rng(0))
    assert known.links.records == known.records == 2000
    unknown = (known.codes < 0) * known.counts[:, None]
    assert unknown.sum(axis=0) / 2000 == pytest.approx(0.2, abs=0.03)
    assert with_errors(adversary, adversary.links, ErrorRates(), np.random.default_rng(0)).records == 2000


def people(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return random people, and the same in intervals of ten."""
    random = np.random.default_rng(seed)
    original = pd.DataFrame({name: random.integers(20, 80, 90) for name in ("a", "b", "c")})
    low = original // 10 * 10
    return original, low.map(str).radd("[").add(", ").add((low + 9).map(str)).add("]")


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    "parameters",
    [
        *UNLEARNED,
        {"linkage": "learned"},
        {"distance": "likelihood"},
        {"distance": "coverage"},
        {"linkage": "learned", "distance": "likelihood"},
        {"linkage": "assignment", "distance": "likelihood"},
    ],
    ids=str,
)
def test_every_way_to_link_copes_with_errors(parameters):
    scene = frame_scene(*people(3))
    exact = linkage(scene, aligned=True, **parameters)
    knowledge = {"of": ["a", "b", "c"], "noise": 0.1, "missing": 0.15, "year": 0.1, "typing": 0.05}
    found = linkage(scene, aligned=True, knowledge=knowledge, **parameters)
    assert 0.1 < found.success < exact.success <= exact.ceiling + 1e-9
    assert exact.ceiling == pytest.approx(found.ceiling)
    assert found.knowledge["missing"] == 0.15
    text = Linkage.sentence(found.knowledge, "1 %", "2 %")
    assert "10 % wrong, 15 % unknown, 10 % a year or one off and 5 % mistyped of the values" in text


@given(strategies.randoms(), st.integers(1, 7))
def test_a_closer_value_counts_no_less_for_a_match(random: Random, outcomes: int):
    """Ratios of m to u that fall, by pooling, are those of the formula of all intervals."""
    m, u = (np.array([[random.random() + 0.001 for _ in range(outcomes)]]) for _ in range(2))
    m, u = m / m.sum(), u / u.sum()
    found = ordered_m(m, u)
    for place, ratio in enumerate((found / u)[0]):
        means = [
            [m[0, first : last + 1].sum() / u[0, first : last + 1].sum() for last in range(place, outcomes)]
            for first in range(place + 1)
        ]
        assert ratio == pytest.approx(min(max(own) for own in means))
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_probabilistic_linkage_learns_that_matches_are_closer(noise: float):
    """Dependent attributes make pairs of records alike or unlike together; unlike pairs are no matches."""
    random = np.random.default_rng(8)
    kind = random.integers(0, 3, 120)
    drawn = {name: kind * 20 + random.integers(0, 12, 120) for name in ("a", "b", "c", "d")}
    original = pd.DataFrame(drawn)
    low = original // 4 * 4
    release = low.map(str).radd("[").add(", ").add((low + 3).map(str)).add("]")
    known = {"noise": noise} if noise else None
    given_scene = frame_scene(original, release)
    found = linkage(given_scene, aligned=True, linkage="probabilistic", knowledge=known, targets=30)
    for name in original:
        m, u = (list(found.details[letter][name].values()) for letter in ("m", "u"))
        ratios = np.array(m) / u
        assert (np.diff(ratios) <= 1e-9 * ratios[:-1]).all()
    plain = linkage(given_scene, aligned=True, knowledge=known, targets=30)
    assert found.success > plain.success / 2


def test_who_knows_nothing_of_a_column_links_as_without_it():
    scene = frame_scene(*people(4))
    alone = linkage(scene, aligned=True, knowledge=["a"]).success
    unknown = linkage(scene, aligned=True, knowledge={"of": ["a"], "missing": 0.999}).success
    assert unknown < alone / 3


@pytest.mark.parametrize(
    "parameters",
    [
        {"knowledge": {"noise": 1.5}},
        {"knowledge": {"nois": 0.1}},
        {"knowledge": {"noise": 0.6, "missing": 0.5}},
        {"knowledge": {"noise": 0.1}, "noise": 0.1},
    ],
    ids=str,
)
def test_errors_that_make_no_sense_are_refused(parameters, message):
    assert exchange(parameters, invalid("linkage", parameters)) == message


def test_the_mapping_of_columns_alone_is_the_list():
    settings = [Linkage.Settings.model_validate({"knowledge": known}) for known in (["a"], {"of": ["a"]})]
    assert settings[0].names == settings[1].names == ("a",)
    assert settings[0].rates == settings[1].rates == ErrorRates() == KnownValues().rates


def test_likelihood_links_masked_numbers_by_their_errors():
    """Numbers with noise cover nothing: where one column is noisier, it counts less than for Euclid."""
    random = np.random.default_rng(2)
    original = pd.DataFrame({name: random.normal(0, 10, 200).round(2) for name in ("a", "b", "c")})
    masked = (original + random.normal(0, (0.5, 0.5, 9), original.shape)).round(2)
    scene = frame_scene(original, masked)
    plain = linkage(scene, aligned=True, standardise="original").success
    assert linkage(scene, aligned=True, distance="likelihood", standardise="original").success > plain + 0.05
