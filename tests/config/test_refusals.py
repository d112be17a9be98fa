"""What a config may not say; tests/messages/config.ambr has the words."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from anonymizer.config.load import load_config
from tests.config.examples import SMALL, attribute, constrained, problems_of, small
from tests.helpers.messages import exchange


def in_numbers(labels: str, *others: str, **sections: Any) -> dict[str, Any]:
    attributes = {name: {"role": "insensitive"} for name in others}
    age = {"role": "quasi-identifier", "labels": labels}
    return small(attributes={"age": age, "illness": {"role": "sensitive"}, **attributes}, **sections)


K5 = {"model": "k-anonymity", "k": 5}


def scenario(known: Any, *models: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Return a config whose only scenario is of someone who knows some of the columns."""
    age, illness = {"role": "quasi-identifier"}, {"role": "sensitive"}
    return small(
        attributes={"age": age, "zip": age, "sex": age, "illness": illness},
        scenarios={"neighbour": {"known": known, "models": [*models] or [K5], **keys.pop("also", {})}},
        **{"constraints": [], **keys},
    )


REFUSED: list[tuple[dict[str, Any], str]] = [
    (scenario(["age", "zipp"]), "scenarios.neighbour.known"),
    (scenario(["age", "illness"]), "scenarios.neighbour.known"),
    (scenario([]), "scenarios.neighbour.known"),
    (scenario(["age", "zip", "age"]), "scenarios.neighbour.known"),
    (scenario("age"), "scenarios.neighbour.known"),
    (scenario({"any": 4, "of": ["age", "zip", "sex"]}), "scenarios.neighbour.known.any"),
    (scenario({"any": 0, "of": ["age", "zip"]}), "scenarios.neighbour.known.any"),
    (scenario({"any": 1, "of": []}), "scenarios.neighbour.known.of"),
    (
        scenario({"any": 2, "of": ["age", "age"]}, also={"recipient": "an insurer"}),
        "scenarios.neighbour.known.of",
    ),
    (scenario(["age"], also={"models": []}), "scenarios.neighbour.models"),
    (scenario(["age"], also={"modells": []}), "scenarios.neighbour.modells"),
    (scenario(["age"], {"model": "linkage-risk", "max": 0.1}), "scenarios.neighbour.models[0].model"),
    (scenario(["age"], also={"unit": "ward"}), "scenarios.neighbour.unit"),
    (scenario(["age"], {**K5, "unit": "person"}), "scenarios.neighbour.models[0].unit"),
    (
        scenario(["age"], {"model": "l-diversity", "l": 2, "attribute": "ilness"}),
        "scenarios.neighbour.models[0].attribute",
    ),
    (scenario(["age"], algorithm={"name": "anatomy"}), "algorithm.name"),
    (scenario(["age"], suppression={"method": "records"}), "suppression.method"),
    (scenario(["age"], suppression={"keep_rows": True, "limit": 0.1}), "suppression.keep_rows"),
    (scenario(["age"], apply="report.json"), "apply"),
    (
        scenario(["age"], {"model": "vulnerability", "max": 0.1}, algorithm={"name": "mondrian"}),
        "scenarios.neighbour.models[0]",
    ),
    (
        scenario(
            ["age"],
            {"model": "delta-disclosure", "delta": 1, "absent": "ignored"},
            algorithm={"name": "local"},
        ),
        "scenarios.neighbour.models[0]",
    ),
    (small(scenarios={}, constraints=[]), "constraints"),
    (constrained({"model": "k-anonymity", "k": 0}), "constraints[0].k"),
    (constrained({"model": "k-anonymity", "k": 1.5}), "constraints[0].k"),
    (constrained({"model": "k-anonymity", "k": True}), "constraints[0].k"),
    (constrained({"model": "k-anonymity", "k": "5"}), "constraints[0].k"),
    (constrained({"model": "k-anonymity", "k": None}), "constraints[0].k"),
    (constrained({"model": "k-anonymity"}), "constraints[0].k"),
    (constrained({"model": "k-anonimity", "k": 5}), "constraints[0].model"),
    (constrained({"model": 5}), "constraints[0].model"),
    (constrained({"k": 5}), "constraints[0].model"),
    (constrained({"model": "k-anonymity", "k": 5, "kay": 1}), "constraints[0].kay"),
    (constrained({"model": "t-closeness", "t": 1.5}), "constraints[0].t"),
    (constrained({"model": "t-closeness", "t": False}), "constraints[0].t"),
    (constrained({"model": "t-closeness", "t": float("nan")}), "constraints[0].t"),
    (constrained({"model": "k-anonymity", "k": 2, "attribute": "illness"}), "constraints[0].attribute"),
    (
        constrained({"model": "k-anonymity", "k": 2, "quasi_identifiers": "combined"}),
        "constraints[0].quasi_identifiers",
    ),
    (
        constrained({"model": "k-anonymity", "k": 2, "missing_sensitive": "value"}),
        "constraints[0].missing_sensitive",
    ),
    (constrained({"model": "l-diversity", "l": 2, "attribute": "ilness"}), "constraints[0].attribute"),
    (constrained({"model": "l-diversity", "l": 2, "attribute": "zip"}), "constraints[0].attribute"),
    (constrained({"model": "t-closeness", "t": 0.2, "distance": "hierarchical"}), "constraints[0].distance"),
    (constrained(), "constraints"),
    (small(constraints={"model": "k-anonymity"}), "constraints"),
    (small(algorithm=["mondrian"]), "algorithm"),
    (small(constraints=[5]), "constraints[0]"),
    (small(attributes={"a": {"role": "sensitive"}}), "attributes"),
    (small(attributes={"a": {"role": "quasi-identifier", "weight": 0}}), "attributes"),
    (small(attributes=[]), "attributes"),
    (small(attributes={"a": 3}), "attributes.a"),
    (small(attributes={"a": "sensitve"}), "attributes.a.role"),
    (attribute(), "attributes.x.role"),
    (attribute(role="identifer"), "attributes.x.role"),
    (attribute(role="quasi-identifier", hierachy={}), "attributes.x.hierachy"),
    (attribute(role="sensitive", type="int"), "attributes.x.type"),
    (attribute(role="quasi-identifier", format="%d.%m.%Y"), "attributes.x.format"),
    (attribute(format="%d.%m", role="quasi-identifier", type="date"), "attributes.x.format"),
    (attribute(format="%Q", role="quasi-identifier", type="date"), "attributes.x.format"),
    (attribute(format="%Y %H", role="quasi-identifier", type="date"), "attributes.x.format"),
    (attribute(format="%Y", role="insensitive"), "attributes.x.format"),
    (
        attribute(format=["%d/%m/%Y", "%m/%d/%Y"], role="quasi-identifier", type="date"),
        "attributes.x.format",
    ),
    (attribute(pivot=30, role="quasi-identifier", type="date"), "attributes.x.pivot"),
    (attribute(role="quasi-identifier", weight=10**7), "attributes.x.weight"),
    (attribute(role="quasi-identifier", weight=1e-7), "attributes.x.weight"),
    (attribute(role="quasi-identifier", weight=-1), "attributes.x.weight"),
    (attribute(role="sensitive", weight=1), "attributes.x.weight"),
    (attribute(role="sensitive", levels={"max": 1}), "attributes.x.levels"),
    (attribute(role="quasi-identifier", distance="equal"), "attributes.x.distance"),
    (attribute(role="identifier", type="text"), "attributes.x.type"),
    (attribute(role="sensitive", distance="hierarchical"), "attributes.x.distance"),
    (attribute(role="quasi-identifier", levels={"min": 2, "max": 1}), "attributes.x.levels"),
    (attribute(role="quasi-identifier", levels={"min": -1}), "attributes.x.levels.min"),
    (attribute(role="quasi-identifier", labels="middle"), "attributes.x.labels"),
    (attribute(role="sensitive", labels="midpoint"), "attributes.x.labels"),
    (in_numbers("low-high", "AGE_low"), "attributes.age.labels"),
    (in_numbers("midpoint", algorithm={"name": "microaggregation"}), "attributes.age.labels"),
    (
        in_numbers("midpoint", algorithm={"name": "anatomy"}, constraints=[{"model": "l-diversity", "l": 2}]),
        "attributes.age.labels",
    ),
    (in_numbers("low-high", algorithm={"name": "mondrian", "labels": "set"}), "attributes.age.labels"),
    (in_numbers("low-high", apply="report.json"), "attributes.age.labels"),
    (in_numbers("low-high", output={"missing": "NA"}), "attributes.age.labels"),
    (small(input={"separator": ",,"}), "input.separator"),
    (small(input={"encoding": "utf9"}), "input.encoding"),
    (small(input={"encoding": "base64"}), "input.encoding"),
    (small(input={"missing": [True]}), "input.missing[0]"),
    (small(reference="both"), "reference"),
    (small(suppression={"limit": 1.01}), "suppression.limit"),
    (small(suppression={"limit": -0.1}), "suppression.limit"),
    (small(suppression={"limit": "2 %"}), "suppression.limit"),
    (small(suppression={"limit": "2,5%"}), "suppression.limit"),
    (small(suppression={"limit": "200%"}), "suppression.limit"),
    (constrained({"model": "t-closeness", "t": "20%"}), "constraints[0].t"),
    (constrained({"model": "vulnerability", "max": "5%"}), "constraints[0].max"),
    (constrained({"model": "l-diversity", "l": "5%"}), "constraints[0].l"),
    (small(suppression={"method": "rows"}), "suppression.method"),
    (small(suppression={"keep_rows": 1}), "suppression.keep_rows"),
    (small(algorithm={"name": "latice"}), "algorithm.name"),
    (small(algorithm={"mode": "strict"}), "algorithm.mode"),
    (small(algorithm={"mdoe": "strict"}), "algorithm.mdoe"),
    (small(algorithm={"name": "mondrian", "mdoe": "strict"}), "algorithm.mdoe"),
    (small(objective={"metric": "entropy"}), "objective.metric"),
    (small(objective={"metric": "height", "aggregate": "maximum"}), "objective.aggregate"),
    (small(budget={"seconds": 0}), "budget.seconds"),
    (small(budget={"cpu_seconds": -1}), "budget.cpu_seconds"),
    (small(budget={"nodes": 2.5}), "budget.nodes"),
    (small(engine={"name": "flink"}), "engine.name"),
    (small(engine={"memory_limit": "0GB"}), "engine.memory_limit"),
    (small(engine={"memory_limit": "lots"}), "engine.memory_limit"),
    (small(engine={"options": {"threads": [1]}}), "engine.options.threads"),
    (small(output={"path": "../r.csv"}), "output.path"),
    (small(output={"path": "r.ods"}), "output.path"),
    (small(output={"order": "input"}), "output.order"),
    (small(output={"decimal": ";"}), "output.decimal"),
    (small(seed=-1), "seed"),
    (small(supression={"limit": 0}), "supression"),
    (small(zzz=1), "zzz"),
    (small(attacks=["homogeny"]), "attacks[0].attack"),
    (small(attacks=[{"attack": "linkage", "target": "illness"}]), "attacks[0].target"),
    (small(attacks=[{"attack": "homogeneity", "facts": {"recrods": 1}}]), "attacks[0].facts.recrods"),
    (small(attacks=[{"attack": "homogeneity", "overlp": 0.5}]), "attacks[0].overlp"),
    (constrained({"model": "k-anonymity", "k": 2, "maxx": 0.1}), "constraints[0].maxx"),
    (constrained({"model": "k-anonymity", "k": 2, "max": 0.1}), "constraints[0].max"),
    (small(engine={"options": {"combinations": 0}}), "engine.options.combinations"),
    (attribute(hierarchy={"mask": {"width": [5]}}), "attributes.x.hierarchy.mask.width"),
    ({}, "attributes"),
]


def given(config: dict[str, Any]) -> str:
    """Return the keys of a config that differ from the small one, in one line of YAML."""
    changed = {key: value for key, value in config.items() if value != SMALL.get(key)}
    return yaml.safe_dump(changed, default_flow_style=True, allow_unicode=True, width=10_000).strip()


@pytest.mark.parametrize(
    ("config", "where"), REFUSED, ids=[f"{where}-{given(config)[:60]}" for config, where in REFUSED]
)
def test_refused(config: dict[str, Any], where: str, message: SnapshotAssertion) -> None:
    assert exchange(given(config), f"{where}: {problems_of(config)[where]}") == message


@pytest.mark.parametrize("config", [config for config, _ in REFUSED])
def test_messages_are_free_of_jargon(config: dict[str, Any]) -> None:
    for what in problems_of(config).values():
        assert not any(word in what for word in ("pydantic", "http", "Value error", "Input should", "\0"))


@pytest.mark.parametrize(
    "constraint",
    [
        {"model": "l-diversity", "l": 2},
        {"model": "t-closeness", "t": 0.2},
        {"model": "vulnerability", "max": 0.2, "target": "attribute-inference"},
    ],
)
def test_models_of_sensitive_values_need_a_sensitive_attribute(
    constraint: dict[str, Any], message: SnapshotAssertion
) -> None:
    config = small(attributes={"age": {"role": "quasi-identifier"}}, constraints=[constraint])
    problems = problems_of(config)
    assert list(problems) == ["constraints[0]"]
    assert exchange(constraint, problems["constraints[0]"]) == message


def test_a_target_that_needs_no_sensitive_attribute_takes_none() -> None:
    config = small(
        attributes={"age": {"role": "quasi-identifier"}}, constraints=[{"model": "vulnerability", "max": 0.2}]
    )
    assert not load_config(config).constraints[0].build().needs_sensitive


def test_inference_has_nothing_to_learn_from_in_buckets() -> None:
    sensitive = {"age": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}
    for attack, algorithm, refused in (
        ("inference", "anatomy", True),
        ("definetti", "anatomy", False),
        ("inference", "lattice", False),
    ):
        risk = {"model": "inference-risk", "max": 0.6, "attack": attack}
        constraints = [{"model": "l-diversity", "l": 2}, risk]
        config = small(attributes=sensitive, constraints=constraints, algorithm={"name": algorithm})
        if not refused:
            load_config(config)
            continue
        problems = problems_of(config)
        assert list(problems) == ["constraints[1].attack"]
        message = problems["constraints[1].attack"]
        assert "record by record; set definetti, or algorithm.name to one of auto, lattice" in message


def test_problems_of_different_sections_do_not_hide_each_other() -> None:
    config = small(
        attributes={"a": {"role": "sensitive"}},
        constraints=[{"model": "k-anonymity", "k": 0, "x": 1}, {"model": "l-diversty", "l": 1}],
        seed="7",
        extra=1,
    )
    assert set(problems_of(config)) == {
        "attributes",
        "constraints[0].k",
        "constraints[0].x",
        "constraints[1].model",
        "seed",
        "extra",
    }


def test_a_wrong_role_does_not_also_count_as_no_quasi_identifier() -> None:
    assert set(problems_of(small(attributes={"a": {"role": "quasi"}}))) == {"attributes.a.role"}
