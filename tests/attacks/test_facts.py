"""Background knowledge in words, against going through all that an adversary may know."""

from __future__ import annotations

import re
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
from anonymizer.config.load import load_config
from anonymizer.errors import InputError
from tests.attacks.literature import literature
from tests.attacks.published import FEWER, one, release

Record = tuple[str, str]


def worst(
    records: Sequence[Record], facts: dict[str, Any], target: int, kind: str, told: bool, of: str
) -> Fraction:
    """Return what an adversary reaches about one record, with the known records that tell most.

    Parameters
    ----------
    told: whether the adversary was told that the target has none of the values; this may be wrong.
    of: published value of the target.
    """
    group, value = records[target]
    others = [i for i, own in enumerate(records) if own[0] == group and i != target]
    applies = told and facts.get("where", {"q": of})["q"] == of
    excluded = set(facts.get("not", ())) if applies else set()
    weight = 1 - Fraction(str(facts.get("probability", 1)))
    best = Fraction(0)
    for known in combinations(others, min(facts.get("records", 0), len(others))):
        left: Counter[str] = Counter()
        for i in [*others, target]:
            if i not in known:
                own = records[i][1]
                left[own] += weight if own in excluded else 1  # type: ignore[assignment]
        total, most = sum(left.values()), max(left.values())
        if kind == "certain":
            reached = Fraction(total > 0 and left[value] >= Fraction(str(facts.get("sure", 1))) * total)
        else:
            ties = [own for own, mass in left.items() if mass == most]
            reached = Fraction(most > 0 and value in ties, len(ties))
        best = max(best, reached)
    return best


def expected(
    records: Sequence[Record], facts: dict[str, Any], kind: str, published: Sequence[str] | None = None
) -> Fraction:
    """Return the mean over all records, whether something is known of them, and whether it is right.

    Parameters
    ----------
    published: value of each record; None for its class.
    """
    shown = [group for group, _ in records] if published is None else published
    share, right = (Fraction(str(facts.get(key, 1))) for key in ("share", "probability"))
    total = Fraction(0)
    for target, (_, value) in enumerate(records):
        unheard = worst(records, facts, target, kind, False, shown[target])
        heard = worst(records, facts, target, kind, True, shown[target])
        # Where it would be right, nothing is said against the value that the target has.
        silent = right if value in facts.get("not", ()) else Fraction(0)
        total += share * ((1 - silent) * heard + silent * unheard) + (1 - share) * unheard
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
        if draw(st.booleans()):
            facts["probability"] = draw(st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9, 0.3333333333333333333]))
    if facts.get("probability") or draw(st.booleans()):
        facts["sure"] = draw(st.sampled_from([0.51, 0.6, 0.75, 0.9, 0.99]))
    return records, facts


@FEWER
@given(cases())
def test_attacks_with_facts_reach_what_enumeration_finds(case: tuple[list[Record], dict[str, Any]]) -> None:
    records, facts = case
    own = release(["q", "s"], records, ["s"])
    whole = [("all", value) for _, value in records]
    for name, kind in (("homogeneity", "certain"), ("background", "certain"), ("vulnerability", "guessed")):
        aim = {"target": "attribute-inference"} if name == "vulnerability" else {}
        given_facts = {key: each for key, each in facts.items() if key != "sure" or kind == "certain"}
        found = one(name, own, facts=given_facts, **aim)
        assert found.success == expected(records, facts, kind), name
        assert found.baseline == expected(whole, facts, kind, [group for group, _ in records]), name
        if kind == "certain" and "sure" not in given_facts:
            assert found.baseline <= found.success, name


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


def test_heart_disease_is_rare_in_japan_but_possible() -> None:
    """Two have a virus, two heart disease; what the adversary was told is right with 90 %.

    Virus has 20 of 22 parts. One in ten of those with heart disease is told of wrongly, and guessed wrongly;
    nothing is said of the others, whom a tie leaves.
    """
    own = release(["q", "s"], [("1", "virus")] * 2 + [("1", "heart")] * 2, ["s"])
    facts: dict[str, Any] = {"not": ["heart"], "probability": 0.9}
    found = one("vulnerability", own, facts=facts, target="attribute-inference")
    assert found.success == Fraction(2 * 1 + Fraction(9, 10) * 2 * Fraction(1, 2), 4)
    assert one("background", own, facts={**facts, "sure": 0.9}).success == Fraction(2, 4)
    assert one("background", own, facts={**facts, "sure": 0.91}).success == 0
    assert one("background", own, facts={"not": ["heart"]}).success == Fraction(2, 4)


@pytest.mark.parametrize("probability", ["0.8", "0.83333333333333333333333333333333", "0.8" + "3" * 60])
@pytest.mark.parametrize("sure", ["0.9", "0.8999", "0.9" + "0" * 40 + "1"])
def test_long_decimals_stay_exact(probability: str, sure: str) -> None:
    own = release(["q", "s"], [("1", "virus")] * 3 + [("1", "heart")] * 2, ["s"])
    facts = {"not": ["heart"], "probability": probability, "sure": sure}
    virus = 3 / (3 + 2 * (1 - Fraction(probability)))
    certain = Fraction(3, 5) if virus >= Fraction(sure) else 0
    assert one("homogeneity", own, facts=facts).success == certain


@pytest.mark.parametrize(
    ("settings", "facts", "words"),
    [
        (BackgroundSettings, {}, "needs not"),
        (BackgroundSettings, {"records": 1, "where": {"q": "x"}}, "where goes with not"),
        (VulnerabilitySettings, {"records": 1}, "facts go with target: attribute-inference"),
        (BackgroundSettings, {"records": 1, "probability": 0.5}, "probability goes with not"),
        (BackgroundSettings, {"not": ["a"], "probability": 0.9}, "make no value certain; add sure"),
        (BackgroundSettings, {"records": 1, "sure": 0.5}, "greater than"),
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


@pytest.mark.parametrize(
    ("key", "value", "accepted"),
    [
        ("sure", 0.4, "a number > 0.5 and <= 1"),
        ("share", 0, "a number > 0 and <= 1"),
        ("probability", 1.5, "a number > 0 and <= 1"),
    ],
)
def test_the_accepted_range_is_said(key: str, value: float, accepted: str) -> None:
    config = {
        "attributes": {"q": {"role": "quasi-identifier"}, "s": {"role": "sensitive"}},
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "attacks": [{"attack": "homogeneity", "facts": {"not": ["a"], key: value}}],
    }
    with pytest.raises(InputError, match=re.escape(f"facts.{key}: {value}; accepted: {accepted}")):
        load_config(config)


@pytest.mark.parametrize(
    ("values", "excluded", "label"),
    [
        (("flu", "cold"), "flu ", " x"),
        (("ä", "cold"), "a\u0308", "x "),
        (("1", "2"), "1.0", "10.0"),
        (("12345678901234567", "12345678901234568"), "12345678901234567.0", "1e1"),
    ],
)
def test_facts_name_values_in_any_spelling(values: tuple[str, str], excluded: str, label: str) -> None:
    published = "10" if label[0].isdigit() else "x"
    numeric = values[0].isdigit()
    own = release(["q", "s"], [(published, values[0]), (published, values[1])], ["s"], numeric=numeric)
    plain = one("background", own, facts={"not": [values[0]], "where": {"q": published}})
    found = one("background", own, facts={"not": [excluded], "where": {"q": label}})
    assert (found.success, found.baseline) == (plain.success, plain.baseline)


@pytest.mark.parametrize(
    ("texts", "value"),
    [(("01", "1"), "1.0"), (("1", "2"), "01"), (("1", "2"), "3"), (("flu", "cold"), "Flu")],
)
def test_facts_do_not_take_other_values(texts: tuple[str, str], value: str) -> None:
    numeric = texts == ("1", "2")
    own = release(["q", "s"], [("x", texts[0]), ("x", texts[1])], ["s"], numeric=numeric)
    with pytest.raises(InputError, match=r"^facts: '.*' is not a value of s"):
        one("background", own, facts={"not": [value]})
    labelled = release(["q", "s"], [(texts[0], "a"), (texts[1], "b")], ["s"])
    with pytest.raises(InputError, match=r"^facts: where: no record publishes"):
        one("background", labelled, facts={"not": ["a"], "where": {"q": value}})
