"""``--vary``: keys with the values that a comparison tries."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.config.load import as_texts, parse_override, variations
from anonymizer.errors import ConfigError
from tests.helpers.messages import exchange


@pytest.mark.parametrize(
    ("text", "overrides"),
    [
        ("constraints.0.k=2,5", ("constraints.0.k=2", "constraints.0.k=5")),
        ("suppression.limit=0, 0.02", ("suppression.limit=0", "suppression.limit=0.02")),
        ("suppression.method=classes", ("suppression.method=classes",)),
        (
            "attributes.age.levels={max: 1},{max: 2}",
            ("attributes.age.levels={max: 1}", "attributes.age.levels={max: 2}"),
        ),
        (
            'attributes."a.b".levels.max=1,2',
            ('attributes."a.b".levels.max=1', 'attributes."a.b".levels.max=2'),
        ),
        ("algorithm.labels='a, b','5'", ('algorithm.labels="a, b"', 'algorithm.labels="5"')),
    ],
)
def test_each_value_is_an_override(text: str, overrides: tuple[str, ...]) -> None:
    (found,) = variations([text])
    assert found.overrides == overrides


TEXTS = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\x85  \ufeff\ufffe\uffff")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(VALUES)
@example({":": None})
@example({"0:0": ""})
def test_a_value_survives_the_way_through_texts(value: Any) -> None:
    (found,) = variations(as_texts({"constraints.0.k": [value]}))
    (override,) = found.overrides
    assert parse_override(override) == (("constraints", "0", "k"), value)
    assert shlex.split(shlex.quote(override)) == [override]


def test_everything_that_is_wrong_is_said_at_once(message: SnapshotAssertion) -> None:
    wrong = [
        "k",
        "=5",
        "constraints.0.k=",
        "constraints.0.k=[",
        "constraints.0.k=3,3",
        "suppression.limit=0.02,0.020",
        "seed=1,2",
        "attacks=[linkage]",
        "attributes.age.weight=1,2",
        "algorithm.name=local",
        "budget.seconds=1,2",
        "budget[seconds]=3",
        "budget.seconds=3",
        "budget={seconds: 3}",
    ]
    with pytest.raises(ConfigError) as raised:
        variations(wrong)
    assert exchange("--vary " + " --vary ".join(wrong), raised.value) == message


def test_one_and_true_are_two_values() -> None:
    (found,) = variations(["suppression.keep_rows=true,1"])
    assert found.values == ("true", "1")
