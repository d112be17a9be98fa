"""Labels of intervals as numbers, and back."""

from __future__ import annotations

import doctest
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model import labels
from anonymizer.model.labels import UNKNOWN, Interval, NumberColumns, NumberLabels, interval_of, number_text

FORMS = [NumberLabels.MIDPOINT, NumberLabels.LOW_HIGH]
TENTHS = st.integers(-(10**9), 10**9).map(lambda tenths: Fraction(tenths, 10))


def test_the_examples_of_the_module() -> None:
    assert doctest.testmod(labels).failed == 0


@pytest.mark.parametrize(
    ("label", "low", "high", "closed"),
    [
        ("20-24", 20, 24, True),
        ("-40 to -21", -40, -21, True),
        ("[20, 22.5)", 20, "22.5", False),
        ("[20,30)", 20, 30, False),
        ("[3, 10]", 3, 10, True),
        ("<20", None, 20, False),
        ("<=20", None, 20, True),
        ("65+", 65, None, True),
        (">=65", 65, None, True),
        ("7.5", "7.5", "7.5", True),
    ],
)
def test_labels_of_hierarchies(label: str, low: object, high: object, closed: bool) -> None:
    ends = [None if end is None else Fraction(str(end)) for end in (low, high)]
    assert interval_of(label, ".") == Interval(ends[0], ends[1], closed)


@pytest.mark.parametrize(
    "label", ["*", "<missing>", "young", "24-20", "[30, 20)", "20-", "", "a..f", "1e999"]
)
def test_other_labels(label: str) -> None:
    assert interval_of(label, ".") is None


def test_decimal_commas() -> None:
    assert interval_of("[20,5, 22,5)", ",") == Interval(Fraction(41, 2), Fraction(45, 2), closed=False)
    assert interval_of("20,5", ".") is None


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [("[20, 22.5)", 20, 22), ("[20, 30)", 20, 29), ("<20", None, 19), ("20-29", 20, 29), ("65+", 65, None)],
)
def test_whole_numbers_include_their_ends(given: str, low: int | None, high: int | None) -> None:
    found = interval_of(given, ".")
    assert found is not None
    assert found.of_whole_numbers() == Interval(
        None if low is None else Fraction(low), None if high is None else Fraction(high)
    )


@given(st.sampled_from(FORMS), TENTHS, TENTHS, st.sampled_from([".", ","]))
def test_numbers_are_read_as_the_label_they_were_written_for(
    form: NumberLabels, one: Fraction, other: Fraction, decimal: str
) -> None:
    own = NumberColumns("age", form)
    label = own.label(Interval(min(one, other), max(one, other)))
    assert label is not None
    written = own.written(label, decimal)
    assert len(written) == len(own.columns)
    assert own.read(written, decimal, "*") == label
    numbers = [Fraction(text.replace(decimal, ".")) for text in written]
    middle = (one + other) / 2
    assert numbers == ([middle] if form is NumberLabels.MIDPOINT else sorted([one, other]))


@given(st.sampled_from(FORMS), st.sampled_from(UNKNOWN))
def test_unknown_values_are_empty_fields(form: NumberLabels, label: str) -> None:
    own = NumberColumns("age", form)
    written = own.written(label, ".")
    assert set(written) == {""}
    assert own.read(written, ".", label) == label


def test_open_ends() -> None:
    own = NumberColumns("age", NumberLabels.LOW_HIGH)
    labels = [own.label(Interval(None, Fraction(19))), own.label(Interval(Fraction(65), None))]
    assert [own.written(str(label), ".") for label in labels] == [("", "19"), ("65", "")]
    assert [own.read(own.written(str(label), "."), ".", "*") for label in labels] == labels
    assert NumberColumns("age", NumberLabels.MIDPOINT).label(Interval(Fraction(65), None)) is None


def test_numbers_that_64_bits_do_not_hold() -> None:
    assert number_text(Fraction(2**53 + 1)) is None
    assert number_text(Fraction(1, 3)) is None
    assert number_text(Fraction(10**400)) is None
    assert number_text(Fraction(1, 10)) == "0.1"


@pytest.mark.parametrize("label", ["{1, 2}", "a", "[1, x]", "..", "[1, 2]"])
def test_a_label_that_is_no_midpoint_is_never_written(label: str) -> None:
    with pytest.raises(ValueError, match=r"is not a"):
        NumberColumns("age", NumberLabels.MIDPOINT).written(label, ".")
