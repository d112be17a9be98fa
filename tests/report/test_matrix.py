"""What the models claim to stop, and when a number contradicts them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.attacks.base import ATTACKS, Attack
from anonymizer.plan.goal import bind
from anonymizer.plugins import Settings as PlugInSettings
from anonymizer.plugins import Threat
from anonymizer.privacy.base import PRIVACY_MODELS, Constraint, PrivacyModel
from anonymizer.privacy.k_anonymity import KAnonymity
from anonymizer.report.build import attack_matrix
from anonymizer.report.wording import contradictions
from tests.helpers import build

TABLE = {
    "k-anonymity": {"linkage", "re-identification"},
    "alpha-k-anonymity": {"linkage", "re-identification", "homogeneity"},
    "l-diversity": {"homogeneity", "background knowledge"},
    "entropy-l-diversity": {"homogeneity", "background knowledge"},
    "recursive-cl-diversity": {"homogeneity", "background knowledge"},
    "t-closeness": {"skewness", "similarity"},
    "basic-beta-likeness": {"skewness"},
    "enhanced-beta-likeness": {"skewness"},
    "delta-disclosure": {"skewness", "inference"},
}


@pytest.mark.parametrize("name", TABLE)
def test_the_claims_are_those_of_the_overview(name: str) -> None:
    assert {threat.value for threat in PRIVACY_MODELS[name].mitigates} == TABLE[name]


@pytest.mark.parametrize("name", PRIVACY_MODELS)
def test_every_model_says_what_it_mitigates(name: str) -> None:
    """A model that bounds none of the seven threats says so, too."""
    own = PRIVACY_MODELS[name]
    assert any("mitigates" in vars(base) for base in own.__mro__ if base is not PrivacyModel)


@pytest.mark.parametrize(("model", "attack"), [("interval-risk", "interval"), ("uniqueness", "uniqueness")])
def test_a_model_of_no_threat_is_measured_by_such_an_attack(model: str, attack: str) -> None:
    assert ATTACKS[attack].threat is None
    assert build.model(model, {"max": 0.1}).attack().name == attack  # type: ignore[attr-defined]


def entry(attack: str, success: float, low: float, **knowledge: Any) -> dict[str, Any]:
    return {"attack": attack, "success": success, "low": low, "baseline": 0.1, "knowledge": knowledge}


def bound(*models: PrivacyModel) -> list[Constraint]:
    """Return constraints on the attribute ``ill``, of those models that protect one."""
    return [bind(each, "ill" if each.needs_sensitive else None) for each in models]


def row(threat: Threat, *attacks: dict[str, Any], k: int | None = 5) -> dict[str, Any]:
    claims = bound(build.model("k-anonymity", {"k": 5}), build.model("l-diversity", {"l": 2}))
    rows = {each["threat"]: each for each in attack_matrix(claims, attacks, k)}
    assert list(rows) == [each.value for each in Threat]
    return rows[threat.value]


def test_a_threat_without_an_attack_has_no_number() -> None:
    found = row(Threat.HOMOGENEITY)
    assert found == {
        "threat": "homogeneity",
        "claimed_by": ["l-diversity"],
        "success": None,
        "baseline": None,
        "contradicted": False,
        "contradictions": [],
    }


@pytest.mark.parametrize(
    ("threat", "attack", "contradicted"),
    [
        (Threat.HOMOGENEITY, entry("homogeneity", 0.1, 0.1), False),
        (Threat.HOMOGENEITY, entry("homogeneity", 0.2, 0.2), True),
        (Threat.LINKAGE, entry("linkage", 0.2, 0.2), False),
        (Threat.LINKAGE, entry("linkage", 0.21, 0.21), True),
        (Threat.LINKAGE, entry("linkage", 0.25, 0.19), False),
        (Threat.RE_IDENTIFICATION, entry("vulnerability", 0.3, 0.3, target="re-identification"), True),
        (Threat.SKEWNESS, entry("skewness", 0.9, 0.9), False),
    ],
)
def test_a_claim_is_contradicted_by_more_than_it_allows(
    threat: Threat, attack: dict[str, Any], contradicted: bool
) -> None:
    found = row(threat, attack)
    assert found["contradicted"] is contradicted
    assert found["success"] == attack["success"]


class Unlimited(KAnonymity):
    """A model that stops linkage and says no limit."""

    class Settings(PlugInSettings):
        """None."""


@pytest.mark.parametrize(("k", "contradicted"), [(None, True), (5, False)])
def test_a_model_without_a_limit_is_held_to_the_k_of_the_config_or_the_baseline(
    k: int | None, *, contradicted: bool
) -> None:
    found = attack_matrix(bound(Unlimited(Unlimited.Settings())), [entry("linkage", 0.15, 0.15)], k)
    assert found[0]["contradicted"] is contradicted


@pytest.mark.parametrize(("low", "contradicted"), [(0.3, False), (0.31, True)])
def test_a_model_with_a_limit_of_its_own_is_held_to_it(low: float, contradicted: bool) -> None:
    models = [build.model("linkage-risk", {"max": 0.3}), build.model("l-diversity", {"l": 2})]
    (found,) = (
        each
        for each in attack_matrix(bound(*models), [entry("linkage", low, low)], None)
        if each["threat"] == "linkage"
    )
    assert found["claimed_by"] == ["linkage-risk"]
    assert found["contradicted"] is contradicted


@pytest.mark.parametrize(
    ("low", "known", "contradicted"), [(0.5, {}, False), (0.51, {}, True), (0.51, {"unit": "person"}, False)]
)
def test_values_guessed_from_groups_are_inference(
    low: float, known: dict[str, str], contradicted: bool
) -> None:
    """A maximum share of records is not one of persons."""
    models = [build.model("inference-risk", {"max": 0.5})]
    (found,) = (
        each
        for each in attack_matrix(bound(*models), [entry("definetti", low, low, **known)], 5)
        if each["threat"] == "inference"
    )
    assert found["claimed_by"] == ["inference-risk"]
    assert found["contradicted"] is contradicted


@pytest.mark.parametrize(
    ("name", "loose", "strict"),
    [
        ("alpha-k-anonymity", {"alpha": 1, "k": 3}, {"alpha": 0.999, "k": 3}),
        ("p-sensitive-k-anonymity", {"p": 1, "k": 3}, {"p": 2, "k": 3}),
        ("l-diversity", {"l": 1}, {"l": 2}),
        ("entropy-l-diversity", {"l": 1}, {"l": 1.001}),
    ],
)
def test_a_model_that_allows_a_single_value_does_not_claim_to_stop_homogeneity(
    name: str, loose: dict[str, Any], strict: dict[str, Any]
) -> None:
    for parameters, claims in ((loose, False), (strict, True)):
        model = build.model(name, parameters)
        assert (Threat.HOMOGENEITY in model.mitigates) is claims
        rows = attack_matrix(bound(model), [entry("homogeneity", 0.2, 0.2, sensitive="ill")], 5)
        (found,) = (each for each in rows if each["threat"] == "homogeneity")
        assert found["contradicted"] is claims


FOUND = entry("vulnerability", 0.3, 0.3, target="re-identification", attributes=["age"])


@pytest.mark.parametrize(
    ("name", "parameters", "limit"),
    [
        ("k-anonymity", {"k": 3}, 1 / 3),
        ("k-anonymity", {"k": 4}, 0.25),
        ("alpha-k-anonymity", {"alpha": 0.5, "k": 4}, 0.25),
        ("p-sensitive-k-anonymity", {"p": 2, "k": 4}, 0.25),
        ("vulnerability", {"max": 0.2}, 0.2),
        ("prosecutor-risk", {"max": 0.2}, 0.2),
        ("prosecutor-risk", {"max": 0.2, "at": "mean"}, 0.2),
        ("prosecutor-risk", {"max": 0.1, "at": {"share-above": 0.2}}, 0.28),
        ("prosecutor-risk", {"max": 0.2, "at": {"share-above": 0.2}}, 0.36),
        ("marketer-risk", {"max": 0.2}, 0.2),
        ("household-risk", {"max": 0.2}, 0.2),
        ("household-risk", {"max": 0.4, "at": "mean"}, 0.4),
    ],
)
def test_every_model_of_who_a_record_is_has_its_own_limit(
    name: str, parameters: dict[str, Any], limit: float
) -> None:
    rows = attack_matrix(bound(build.model(name, parameters)), [FOUND], 100)
    (found,) = (each for each in rows if each["threat"] == "re-identification")
    broken = [{"attack": 0, "constraint": 0, "allowed": pytest.approx(limit)}]
    assert found["contradictions"] == (broken if limit < 0.3 else [])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("k-map", {"k": 100}),
        ("journalist-risk", {"max": 0.01}),
        ("journalist-risk", {"max": 0.01, "at": "mean"}),
        ("marketer-risk", {"max": 0.01, "against": "population"}),
        ("household-risk", {"max": 0.01, "against": "population"}),
        ("population-uniqueness", {"max": 0.01}),
        ("delta-presence", {"max": 0.01}),
    ],
)
def test_a_target_known_to_be_in_the_data_contradicts_no_model_of_a_population(
    name: str, parameters: dict[str, Any]
) -> None:
    claims = bound(build.model(name, parameters))
    rows = attack_matrix(claims, [FOUND, entry("linkage", 0.9, 0.9)], None)
    assert any(each["claimed_by"] for each in rows)
    assert not any(each["contradicted"] for each in rows)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(1, 9))
def test_what_satisfies_k_anonymity_is_not_contradicted_by_vulnerability(sizes: list[int], k: int) -> None:
    success = sum(size * (1 / size) for size in sizes) / sum(sizes)  # rounded, as attacks on units are
    found = entry("vulnerability", success, success, target="re-identification")
    rows = attack_matrix(bound(build.model("k-anonymity", {"k": k})), [found | {"baseline": 0}], None)
    (own,) = (each for each in rows if each["threat"] == "re-identification")
    assert own["contradicted"] is (Fraction(len(sizes), sum(sizes)) > Fraction(1, k))


def test_each_contradicted_constraint_is_named_once_with_its_own_limit() -> None:
    asked = [("k-anonymity", {"k": 4}), ("household-risk", {"max": 0.2}), ("household-risk", {"max": 0.1})]
    claims = bound(*(build.model(name, each) for name, each in asked), build.model("k-map", {"k": 100}))
    told = FOUND | {"high": 0.3}
    report = {
        "attack_matrix": attack_matrix(claims, [told], 100),
        "attacks": [told],
        "constraints": [{"model": each.model.name, "attribute": None} for each in claims],
    }
    ((attack, said),) = contradictions(report)
    assert attack is told
    allowed = "k-anonymity (25 %) and household-risk (10 %, the success without the release)"
    assert f"than {allowed} allow. An adversary" in said


@pytest.mark.parametrize(
    ("claim", "attack", "compared"),
    [
        (None, None, True),
        (None, "person", False),
        (None, "household", False),
        ("person", None, True),
        ("person", "person", True),
        ("person", "household", True),
        ("household", "household", True),
        ("household", "person", True),
        ("household", None, True),
        ("ward", None, True),
        ("ward", "person", False),
    ],
)
def test_a_claim_is_contradicted_by_what_it_is_about_only(
    claim: str | None, attack: str | None, compared: bool
) -> None:
    """A class of k persons has k records, one of k records may be of a single person."""
    knowledge = {"target": "re-identification", **({} if attack is None else {"unit": attack})}
    found = entry("vulnerability", 0.9, 0.9, **knowledge) | {"details": {"each_guess": 0.6}}
    claims = [bind(build.model("k-anonymity", {"k": 5}), None, unit=claim)]
    rows = attack_matrix(claims, [found], 5, persons=True)
    assert any(each["contradicted"] for each in rows) is compared
    # Of a household without persons, each guess is about a record.
    rows = attack_matrix(claims, [found], 5)
    assert any(each["contradicted"] for each in rows) is (compared or (claim, attack) == (None, "household"))


@pytest.mark.parametrize("unit", [None, "person", "household"])
def test_a_maximum_of_an_attack_is_one_of_all_its_guesses(unit: str | None) -> None:
    claims = [bind(build.model("linkage-risk", {"max": 0.5}), None, unit=unit)]
    for target in (None, "person", "household"):
        known = {} if target is None else {"unit": target}
        found = entry("linkage", 0.6, 0.55, **known) | {"details": {"each_guess": 0.2}}
        rows = attack_matrix(claims, [found], None, persons=True)
        assert any(each["contradicted"] for each in rows) is (target == unit)


@pytest.mark.parametrize(
    ("attack", "knowledge"),
    [("definetti", {}), ("vulnerability", {"target": "attribute-inference"}), ("inference", {})],
)
@pytest.mark.parametrize(("success", "contradicted"), [(0.868, True), (0.84, False)])
def test_a_limit_on_guesses_is_contradicted_whoever_guesses(
    attack: str, knowledge: dict[str, Any], success: float, contradicted: bool
) -> None:
    """A guess from the class alone succeeds in 86.8 %: no excuse for a model that promises 84 %."""
    claims = bound(build.model("inference-risk", {"max": 0.84, "attack": "inference"}))
    found = entry(attack, success, 0.8, sensitive="ill", **knowledge) | {"baseline": 0.868}
    rows = {each["threat"]: each for each in attack_matrix(claims, [found], None)}
    assert rows["inference"]["contradicted"] is contradicted
    other = found | {"knowledge": found["knowledge"] | {"sensitive": "other"}}
    assert not any(each["contradicted"] for each in attack_matrix(claims, [other], None))
    assert not any(
        each["contradicted"]
        for each in attack_matrix(bound(build.model("k-anonymity", {"k": 9})), [found], None)
    )


def test_a_baseline_that_knows_the_classes_is_not_called_one_without_the_release() -> None:
    claims = bound(build.model("delta-disclosure", {"delta": 1}))
    found = entry("definetti", 0.9, 0.89, sensitive="ill", attributes=["age"]) | {
        "baseline": 0.868,
        "high": 0.91,
    }
    report = {
        "attack_matrix": attack_matrix(claims, [found], None),
        "attacks": [found],
        "constraints": [{"model": "delta-disclosure", "attribute": "ill"}],
    }
    ((_, said),) = contradictions(report)
    assert "(86.8 %, the success from the class alone)" in said
    assert "without the release" not in said


def test_a_mean_over_persons_is_not_contradicted_by_records() -> None:
    """One of a hundred persons has a hundred records, each alone in its class."""
    claims = [bind(build.model("vulnerability", {"max": 0.2}), None, unit="person")]
    for unit, contradicted in (({}, False), ({"unit": "person"}, True), ({"unit": "household"}, False)):
        found = entry("vulnerability", 0.5, 0.5, target="re-identification", **unit)
        assert any(each["contradicted"] for each in attack_matrix(claims, [found], None)) is contradicted


def test_a_mean_over_records_is_not_contradicted_by_persons() -> None:
    claims = bound(build.model("marketer-risk", {"max": 0.3}))
    for unit, contradicted in (({}, True), ({"unit": "person"}, False)):
        found = entry("vulnerability", 0.9, 0.9, target="re-identification", **unit)
        assert any(each["contradicted"] for each in attack_matrix(claims, [found], None)) is contradicted


def test_guessing_a_value_is_no_re_identification() -> None:
    inferred = entry("vulnerability", 0.9, 0.9, target="attribute-inference", sensitive="s")
    assert row(Threat.RE_IDENTIFICATION, inferred)["success"] is None


def test_a_limit_on_guessing_values_does_not_claim_to_stop_re_identification() -> None:
    for target, mitigates in (
        ("re-identification", {Threat.RE_IDENTIFICATION}),
        ("attribute-inference", set()),
    ):
        model = build.model("vulnerability", {"max": 0.5, "target": target})
        assert model.mitigates == mitigates
        claimed = {each["threat"]: each["claimed_by"] for each in attack_matrix(bound(model), [], None)}
        assert (claimed["re-identification"] == ["vulnerability"]) is bool(mitigates)
        assert sum(map(len, claimed.values())) == len(mitigates)


def test_an_attack_says_which_threat_it_measures() -> None:
    with pytest.raises(TypeError, match="Silent: has no threat"):
        type("Silent", (Attack,), {"name": "silent"})


def test_an_attack_of_another_distribution_has_its_row() -> None:
    found = type("Found", (Attack,), {"name": "found", "threat": Threat.SIMILARITY})
    ATTACKS.add(found)
    try:
        assert row(Threat.SIMILARITY, entry("found", 0.4, 0.4))["success"] == 0.4
    finally:
        ATTACKS.remove("found")


def disclosing(attribute: str, success: float, beyond: float) -> dict[str, Any]:
    """Return a result of homogeneity on an attribute."""
    found = entry("homogeneity", success, success, sensitive=attribute) | {"baseline": 0.0}
    return found | {"details": {"base_rate": 0.925, "beyond_guess": beyond}}


@pytest.mark.parametrize(
    ("attack", "contradicted"),
    [
        (disclosing("ill", 0.6, 0.6), True),
        (disclosing("date", 0.6, 0.6), False),  # l-diversity protects another attribute
        (disclosing("ill", 0.6, 0.0), False),  # the value is missing, or what a guess says anyway
    ],
)
def test_claims_and_attacks_are_joined_by_attribute_and_a_guess_is_no_gain(
    attack: dict[str, Any], contradicted: bool
) -> None:
    found = row(Threat.HOMOGENEITY, attack)
    assert found["contradicted"] is contradicted
    assert bool(found["contradictions"]) is contradicted


def test_a_contradiction_names_the_attack_the_constraint_and_what_it_allows() -> None:
    found = row(Threat.LINKAGE, entry("linkage", 0.1, 0.1), entry("linkage", 0.3, 0.3))
    assert found["contradictions"] == [{"attack": 1, "constraint": 0, "allowed": 0.2}]


@pytest.mark.parametrize(
    ("parameters", "adversary", "contradicted"),
    [
        ({}, {"attributes": ["age", "zip"]}, True),
        ({"knowledge": ["age"]}, {"attributes": ["age"]}, True),
        ({"knowledge": ["age"]}, {"attributes": ["age", "zip"]}, False),
        ({"knowledge": {"of": ["age"], "noise": 0.1}}, {"attributes": ["age"]}, False),
        ({"knowledge": {"of": ["age"], "noise": 0.1}}, {"attributes": ["age"], "noise": 0.1}, True),
        ({"noise": 0.1}, {"attributes": ["age"]}, False),
        ({"overlap": 0.5}, {"attributes": ["age"], "overlap": 1.0}, False),
        ({"overlap": 0.5}, {"attributes": ["age"], "overlap": 0.5}, True),
    ],
)
def test_linkage_risk_is_about_its_own_adversary(
    parameters: dict[str, Any], adversary: dict[str, Any], contradicted: bool
) -> None:
    claim = build.model("linkage-risk", {"max": 0.15, **parameters})
    (found, *_) = attack_matrix(bound(claim), [entry("linkage", 0.2, 0.2, **adversary)], None)
    assert found["contradicted"] is contradicted


@pytest.mark.parametrize(
    ("name", "parameters", "values"),
    [
        ("l-diversity", {"l": 2}, 2),
        ("l-diversity", {"l": 3}, 3),
        ("entropy-l-diversity", {"l": 2}, 2),
        ("entropy-l-diversity", {"l": 2.1}, 3),
        ("recursive-cl-diversity", {"c": 3, "l": 2}, 2),
        ("recursive-cl-diversity", {"c": 3, "l": 4}, 4),
        ("recursive-cl-diversity", {"c": 1, "l": 2}, 3),
        ("recursive-cl-diversity", {"c": 3, "l": 1}, 1),
    ],
)
def test_l_values_stop_two_facts_less(name: str, parameters: dict[str, Any], values: int) -> None:
    model = build.model(name, parameters)
    assert (Threat.BACKGROUND in model.mitigates) is (values > 2)
    told: list[tuple[Any, bool]] = [(number, values > max(2, number + 1)) for number in range(4)]
    told += [
        ({"not": ["a"]}, values > 2),
        ({"not": ["a", "b"], "where": {"zip": "1*"}, "share": 0.3}, values > 3),
    ]
    told += [({"records": 1}, False), ({"not": ["a"], "probability": 0.9, "sure": 0.8}, False)]
    for facts, contradicted in told:
        assert contradicts(model, "background", "background knowledge", facts) is contradicted


def contradicts(model: PrivacyModel, attack: str, threat: str, facts: Any) -> bool:
    """Return whether an attack with some facts that succeeds contradicts a model."""
    rows = attack_matrix(bound(model), [entry(attack, 0.2, 0.2, sensitive="ill", facts=facts)], 5)
    (found,) = (each for each in rows if each["threat"] == threat)
    return bool(found["contradicted"])


@pytest.mark.parametrize(
    ("name", "parameters", "stopped"),
    [
        ("l-diversity", {"l": 2}, 0),
        ("l-diversity", {"l": 3}, 1),
        ("p-sensitive-k-anonymity", {"p": 2, "k": 3}, 0),
        ("p-sensitive-k-anonymity", {"p": 3, "k": 3}, 1),
        ("alpha-k-anonymity", {"alpha": 0.5, "k": 3}, 0),
        ("alpha-k-anonymity", {"alpha": 0.3, "k": 3}, 2),
        ("belief", {"max": 0.15}, 0),
    ],
)
def test_certainty_after_excluding_values_contradicts_who_promises_enough_of_them(
    name: str, parameters: dict[str, Any], stopped: int
) -> None:
    model = build.model(name, parameters)
    for number in (1, 2, 3):
        facts = {"not": ["a", "b", "c"][:number]}
        assert contradicts(model, "homogeneity", "homogeneity", facts) is (number <= stopped)
