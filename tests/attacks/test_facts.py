"""Background knowledge in words, against going through all that an adversary may know."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from anonymizer.attacks.background import BackgroundSettings
from anonymizer.attacks.vulnerability import VulnerabilitySettings
from anonymizer.errors import InputError
from tests.attacks.literature import literature
from tests.attacks.published import FEWER, one, release

Record = tuple[str, str]


def worst(records: Sequence[Record], facts: dict[str, Any], target: int, kind: str) -> Fraction:
    """Return what an adversary reaches about one record, with the known records that tell most."""
    group, value = records[target]
    others = [i for i, own in enumerate(records) if own[0] == group and i != target]
    excluded = set(facts.get("not", ()))
    if value in excluded or facts.get("where", {"q": group})["q"] != group:
        excluded = set()
    best = Fraction(0)
    for known in combinations(others, min(facts.get("records", 0), len(others))):
        left = Counter(
            own for i, (_, own) in enumerate(records)
            if i not in known and (i in others or i == target) and own not in excluded
        )  # fmt: skip
        if kind == "certain":
            reached = Fraction(set(left) == {value})
        else:
            most = [own for own, count in left.items() if count == max(left.values())]
            reached = Fraction(value in most, len(most))
        best = max(best, reached)
    return best


def expected(records: Sequence[Record], facts: dict[str, Any], kind: str) -> Fraction:
    share = Fraction(str(facts.get("share", 1)))
    plain = {key: own for key, own in facts.items() if key == "records"}
    total = Fraction(0)
    for target in range(len(records)):
        total += share * worst(records, facts, target, kind)
        total += (1 - share) * worst(records, plain, target, kind)
    return total / len(records)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Record], dict[str, Any]]:
    records = draw(st.lists(st.tuples(st.sampled_from("xy"), st.sampled_from("abc")), min_size=1, max_size=9))
    facts: dict[str, Any] = {}
    if draw(st.booleans()):
        facts["records"] = draw(st.integers(1, 3))
    if not facts or draw(st.booleans()):
        values = sorted({value for _, value in records})
        facts["not"] = draw(st.lists(st.sampled_from(values), min_size=1, max_size=2, unique=True))
        if draw(st.booleans()):
            facts["where"] = {"q": draw(st.sampled_from(sorted({group for group, _ in records})))}
        if draw(st.booleans()):
            facts["share"] = 0.25
    return records, facts


@FEWER
@given(cases())
def test_attacks_with_facts_reach_what_enumeration_finds(case: tuple[list[Record], dict[str, Any]]) -> None:
    records, facts = case
    own = release(["q", "s"], records, ["s"])
    whole = [("all", value) for _, value in records]
    for name, kind in (("homogeneity", "certain"), ("background", "certain"), ("vulnerability", "guessed")):
        aim = {"target": "attribute-inference"} if name == "vulnerability" else {}
        found = one(name, own, facts=facts, **aim)
        assert found.success == expected(records, facts, kind), name
        everybody = {key: each for key, each in facts.items() if key != "where"}
        assert found.baseline == expected(whole, everybody, kind), name


def test_an_insider_learns_two_of_seven() -> None:
    """A class of AIDS, AIDS, Heart in seven records: whoever is the third of it knows the two others."""
    rows = [("1", "AIDS"), ("1", "AIDS"), ("1", "Heart"), *(("2", each) for each in "abcd")]
    own = release(["q", "s"], rows, ["s"])
    assert one("background", own, facts=1).success == Fraction(3, 7)
    assert one("background", own, facts={"records": 1}).success == Fraction(2, 7)
    five = release(["q", "s"], [("1", "AIDS")] * 3 + [("1", "Heart")] * 2, ["s"])
    assert one("background", five, facts=1).success == 1
    assert one("background", five, facts={"records": 1}).success == 0


def test_umeko_and_heart_disease() -> None:
    """Heart disease is rare in Japan: in her class only a viral infection remains."""
    names, rows, _ = literature("ldiversity_inpatients_4anonymous")
    own = release(names, rows, names[-1:])
    classes: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in rows:
        classes[row[:-1]][row[-1]] += 1
    heart = next(value for _, *_, value in rows if value.lower().startswith("heart"))
    umeko = next(key for key, own_values in classes.items() if heart in own_values and len(own_values) == 2)
    where = {names[1]: umeko[1]}
    found = one("background", own, facts={"not": [heart], "where": where})
    plain = one("homogeneity", own).success
    rest = sum(count for value, count in classes[umeko].items() if value != heart)
    assert found.success == plain + Fraction(rest, len(rows))


@pytest.mark.parametrize(
    ("settings", "facts", "words"),
    [
        (BackgroundSettings, {}, "needs not"),
        (BackgroundSettings, {"records": 1, "where": {"q": "x"}}, "where goes with not"),
        (VulnerabilitySettings, {"records": 1}, "facts go with target: attribute-inference"),
    ],
)
def test_facts_that_say_nothing_are_refused(settings: Any, facts: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        settings.model_validate({"facts": facts})


def test_unknown_names_are_refused() -> None:
    own = release(["q", "s"], [("x", "a"), ("y", "b")], ["s"])
    for facts, words in (
        ({"not": ["c"]}, "'c' is not a value of s"),
        ({"not": ["a"], "where": {"p": "x"}}, "'p' is not a quasi-identifier"),
        ({"not": ["a"], "where": {"q": "z"}}, "no record publishes 'z' in q"),
    ):
        with pytest.raises(InputError, match=words):
            one("background", own, facts=facts)
