"""What plain words and numbers in YAML stand for."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.config.document import parse_yaml, scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("NO", "NO"),
        ("off", "off"),
        ("0", 0),
        ("-12", -12),
        ("01234", "01234"),
        ("00", "00"),
        ("1_000", "1_000"),
        ("0x1f", "0x1f"),
        ("1:30", "1:30"),
        ("2021-03-01", "2021-03-01"),
        ("0.10", Decimal("0.10")),
        (".5", Decimal("0.5")),
        ("5.", Decimal(5)),
        ("1e-3", Decimal("0.001")),
        ("-2.5E2", Decimal(-250)),
        (".", "."),
        ("e5", "e5"),
        ("01.5", "01.5"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1.2.3", "1.2.3"),
    ],
)
def test_plain_scalars(text: str, value: Any) -> None:
    found = scalar(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["'5'", '"5"', "!!str 5", "|-\n  5"])
def test_quotes_and_a_tag_make_text(text: str) -> None:
    assert parse_yaml(f"a: {text}\n", "c")[0] == {"a": "5"}


def test_an_alias_repeats_its_value() -> None:
    data, _ = parse_yaml("a: &x {b: 1}\nc: *x\n", "c")
    assert data == {"a": {"b": 1}, "c": {"b": 1}}


def test_lines_are_those_of_keys_and_items() -> None:
    _, lines = parse_yaml("a:\n  b: 1\n  c:\n    - 5\n    - {d: 1}\n", "c")
    assert lines == {
        ("a",): 1,
        ("a", "b"): 2,
        ("a", "c"): 3,
        ("a", "c", 0): 4,
        ("a", "c", 1): 5,
        ("a", "c", 1, "d"): 5,
    }


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_numbers_keep_every_digit(number: Decimal) -> None:
    found = scalar(format(number, "f"))
    assert found == number
    assert isinstance(found, int | Decimal)
