"""What a config may not say, and the words in which it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from anonymizer.config.load import load_config
from tests.config.examples import attribute, constrained, problems_of, small

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    # constraints
    (constrained({"model": "k-anonymity", "k": 0}), "constraints[0].k", "0; accepted: a whole number >= 1"),
    (
        constrained({"model": "k-anonymity", "k": 1.5}),
        "constraints[0].k",
        "1.5; accepted: a whole number >= 1",
    ),
    (
        constrained({"model": "k-anonymity", "k": True}),
        "constraints[0].k",
        "true; accepted: a whole number >= 1",
    ),
    (
        constrained({"model": "k-anonymity", "k": "5"}),
        "constraints[0].k",
        "'5'; accepted: a whole number >= 1",
    ),
    (
        constrained({"model": "k-anonymity", "k": None}),
        "constraints[0].k",
        "nothing; accepted: a whole number >= 1",
    ),
    (constrained({"model": "k-anonymity"}), "constraints[0].k", "missing; accepted: a whole number >= 1"),
    (
        constrained({"model": "k-anonimity", "k": 5}),
        "constraints[0].model",
        "'k-anonimity'; did you mean 'k-anonymity'?",
    ),
    (constrained({"model": 5}), "constraints[0].model", "5; accepted: alpha-k-anonymity, "),
    (constrained({"k": 5}), "constraints[0].model", "missing; accepted: alpha-k-anonymity, "),
    (
        constrained({"model": "k-anonymity", "k": 5, "kay": 1}),
        "constraints[0].kay",
        "unknown key; accepted: attribute, k, ",
    ),
    (
        constrained({"model": "t-closeness", "t": 1.5}),
        "constraints[0].t",
        "1.5; accepted: a number from 0 to 1",
    ),
    (
        constrained({"model": "t-closeness", "t": False}),
        "constraints[0].t",
        "false; accepted: a number from 0 to 1",
    ),
    (
        constrained({"model": "t-closeness", "t": float("nan")}),
        "constraints[0].t",
        "NaN; accepted: a number from 0 to 1",
    ),
    (
        constrained({"model": "k-anonymity", "k": 2, "attribute": "illness"}),
        "constraints[0].attribute",
        "k-anonymity does not look at sensitive attributes; remove the key",
    ),
    (
        constrained({"model": "k-anonymity", "k": 2, "quasi_identifiers": "combined"}),
        "constraints[0].quasi_identifiers",
        "k-anonymity does not look at sensitive attributes; remove the key",
    ),
    (
        constrained({"model": "k-anonymity", "k": 2, "missing_sensitive": "value"}),
        "constraints[0].missing_sensitive",
        "k-anonymity does not look at sensitive attributes; remove the key",
    ),
    (
        constrained({"model": "l-diversity", "l": 2, "attribute": "ilness"}),
        "constraints[0].attribute",
        "'ilness' is no sensitive attribute; did you mean 'illness'?",
    ),
    (
        constrained({"model": "l-diversity", "l": 2, "attribute": "zip"}),
        "constraints[0].attribute",
        "'zip' is no sensitive attribute; accepted: illness",
    ),
    (
        constrained({"model": "t-closeness", "t": 0.2, "distance": "hierarchical"}),
        "constraints[0].distance",
        "'hierarchical' needs a hierarchy, which illness lacks; give it one",
    ),
    (constrained(), "constraints", "no constraint; give at least one, such as {model: k-anonymity, k: 5}"),
    (
        small(constraints={"model": "k-anonymity"}),
        "constraints",
        "a mapping; accepted: a list, each a mapping",
    ),
    (
        small(algorithm="mondrian"),
        "algorithm",
        "'mondrian'; accepted: a mapping with the keys name, such as {name: mondrian}",
    ),
    (small(constraints=[5]), "constraints[0]", "5; accepted: a mapping with the keys model, attribute, "),
    # attributes
    (
        small(attributes={"a": {"role": "sensitive"}}),
        "attributes",
        "no quasi-identifier; give at least one column role: quasi-identifier",
    ),
    (
        small(attributes={"a": {"role": "quasi-identifier", "weight": 0}}),
        "attributes",
        "every quasi-identifier has weight 0; accepted: at least one weight > 0",
    ),
    (small(attributes=[]), "attributes", "a list; accepted: a mapping"),
    (
        small(attributes={"a": "sensitive"}),
        "attributes.a",
        "'sensitive'; accepted: a mapping with the keys role, ",
    ),
    (
        attribute(),
        "attributes.x.role",
        "missing; accepted: identifier, quasi-identifier, sensitive, insensitive",
    ),
    (attribute(role="identifer"), "attributes.x.role", "'identifer'; did you mean 'identifier'?"),
    (
        attribute(role="quasi-identifier", hierachy={}),
        "attributes.x.hierachy",
        "unknown key; did you mean 'hierarchy'?",
    ),
    (
        attribute(role="sensitive", type="int"),
        "attributes.x.type",
        "'int'; accepted: date, integer, number, text",
    ),
    (
        attribute(role="quasi-identifier", weight=10**7),
        "attributes.x.weight",
        "10000000; accepted: a number from 0",
    ),
    (
        attribute(role="quasi-identifier", weight=1e-7),
        "attributes.x.weight",
        "1E-7; accepted: 0, or a number",
    ),
    (
        attribute(role="quasi-identifier", weight=-1),
        "attributes.x.weight",
        "-1; accepted: a number from 0 to 1000000",
    ),
    (
        attribute(role="sensitive", weight=1),
        "attributes.x.weight",
        "has no effect on a column with role sensitive; accepted for quasi-identifier columns",
    ),
    (
        attribute(role="sensitive", levels={"max": 1}),
        "attributes.x.levels",
        "has no effect on a column with role sensitive; accepted for quasi-identifier columns",
    ),
    (
        attribute(role="quasi-identifier", distance="equal"),
        "attributes.x.distance",
        "has no effect on a column with role quasi-identifier; accepted for sensitive columns",
    ),
    (
        attribute(role="identifier", type="text"),
        "attributes.x.type",
        "has no effect on a column with role identifier; accepted for quasi-identifier columns and",
    ),
    (
        attribute(role="sensitive", distance="hierarchical"),
        "attributes.x.distance",
        "'hierarchical' needs a hierarchy; give the attribute one",
    ),
    (
        attribute(role="quasi-identifier", levels={"min": 2, "max": 1}),
        "attributes.x.levels",
        "min 2 is above max 1; accepted: min <= max",
    ),
    (
        attribute(role="quasi-identifier", levels={"min": -1}),
        "attributes.x.levels.min",
        "-1; accepted: a whole number >= 0",
    ),
    # the other sections
    (small(input={"separator": ",,"}), "input.separator", "',,'; accepted: one character such as"),
    (small(input={"encoding": "utf9"}), "input.encoding", "'utf9'; accepted: a text encoding such as utf-8"),
    (
        small(input={"encoding": "base64"}),
        "input.encoding",
        "'base64'; accepted: a text encoding such as utf-8",
    ),
    (small(input={"missing": [True]}), "input.missing[0]", "true; accepted: text"),
    (small(reference="both"), "reference", "'both'; accepted: input, release"),
    (small(suppression={"limit": 1.01}), "suppression.limit", "1.01; accepted: a number from 0 to 1"),
    (small(suppression={"limit": -0.1}), "suppression.limit", "-0.1; accepted: a number from 0 to 1"),
    (small(suppression={"limit": "2 %"}), "suppression.limit", "'2 %'; accepted: a number from 0 to 1"),
    (
        small(suppression={"method": "rows"}),
        "suppression.method",
        "'rows'; accepted: cells, classes, records",
    ),
    (small(suppression={"keep_rows": 1}), "suppression.keep_rows", "1; accepted: true or false"),
    (small(algorithm={"name": "latice"}), "algorithm.name", "'latice'; did you mean 'lattice'?"),
    (small(algorithm={"mode": "strict"}), "algorithm.mode", "unknown key; "),
    (small(objective={"metric": "entropy"}), "objective.metric", "'entropy'; "),
    (
        small(objective={"metric": "height", "aggregate": "maximum"}),
        "objective.aggregate",
        "metric height has no aggregate; remove the key, or use one of loss, ncp, precision",
    ),
    (small(budget={"seconds": 0}), "budget.seconds", "0; accepted: a number > 0"),
    (small(budget={"nodes": 2.5}), "budget.nodes", "2.5; accepted: a whole number >= 1"),
    (small(engine={"name": "flink"}), "engine.name", "'flink'; accepted: auto, duckdb, memory, spark"),
    (
        small(engine={"memory_limit": "0GB"}),
        "engine.memory_limit",
        "'0GB' is no memory at all; accepted: text",
    ),
    (small(engine={"memory_limit": "lots"}), "engine.memory_limit", "'lots'; accepted: text such as 4GB"),
    (small(engine={"options": {"threads": [1]}}), "engine.options.threads", "a list; accepted: "),
    (small(output={"path": "../r.csv"}), "output.path", "'../r.csv'; accepted: a file name without a folder"),
    (
        small(output={"path": "r.xlsx"}),
        "output.path",
        "'r.xlsx'; accepted: a name ending in .csv, .csv.gz, .parquet",
    ),
    (small(output={"order": "input"}), "output.order", "'input'; accepted: shuffled, sorted"),
    (small(seed=-1), "seed", "-1; accepted: a whole number >= 0"),
    (small(supression={"limit": 0}), "supression", "unknown key; did you mean 'suppression'?"),
    (small(zzz=1), "zzz", "unknown key; accepted: algorithm, apply, attacks, attributes, budget, "),
    (small(attacks=["homogeny"]), "attacks[0].attack", "'homogeny'; did you mean 'homogeneity'?"),
    ({}, "attributes", "missing; accepted: a mapping"),
]


@pytest.mark.parametrize(("config", "where", "what"), REFUSED, ids=[f"{w}: {t[:40]}" for _, w, t in REFUSED])
def test_refusals_name_the_place_the_value_and_the_remedy(
    config: dict[str, Any], where: str, what: str
) -> None:
    assert problems_of(config)[where].startswith(what)


@pytest.mark.parametrize("config", [config for config, _, _ in REFUSED])
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
def test_models_of_sensitive_values_need_a_sensitive_attribute(constraint: dict[str, Any]) -> None:
    config = small(attributes={"age": {"role": "quasi-identifier"}}, constraints=[constraint])
    what = f"{constraint['model']} needs a sensitive attribute; give a column role: sensitive"
    assert problems_of(config) == {"constraints[0]": what}


def test_a_target_that_needs_no_sensitive_attribute_takes_none() -> None:
    config = small(
        attributes={"age": {"role": "quasi-identifier"}}, constraints=[{"model": "vulnerability", "max": 0.2}]
    )
    assert not load_config(config).constraints[0].needs_sensitive


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
