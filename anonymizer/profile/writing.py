"""How a file writes numbers, and what in its texts a reader would take for one value though it is two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from anonymizer.data.table import key_of
from anonymizer.model.table import COMMA, POINT, Numerals, ValueType
from anonymizer.profile.missing import ABSENT, BESIDE_NUMBERS

ENOUGH = 5
"""Different numbers that look like thousands from which on it is worth a word."""

BLANKS = (
    "from others only by blanks before or behind, which makes them other values; take the blanks out of the "
    "file, as str.strip() of pandas does"
)

Texts = Sequence[tuple[str, int]]
"""Distinct texts of a column, or a sample, with their records."""

_POINTED_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3})+")
_COMMA_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_DIGITS = re.compile(r"\d")
_NO_NUMBERS = frozenset({*ABSENT, *BESIDE_NUMBERS})

_with_point = key_of(ValueType.NUMBER, POINT)
_with_comma = key_of(ValueType.NUMBER, COMMA)


@dataclass(frozen=True)
class NumberFormat:
    """How a file writes numbers.

    Attributes
    ----------
    numerals: of all its columns.
    warnings: columns of which they may not be true, with examples whose digits are all 9.
    """

    numerals: Numerals
    warnings: tuple[str, ...]


def writing_of(columns: Mapping[str, Texts], separator: str | None) -> NumberFormat:
    """Return how a file writes numbers, told from the columns whose texts are all numbers.

    Decimal commas are what a file has where a column can be read in no other way and no column has points
    that can only be decimal.

    Parameters
    ----------
    columns: texts by column.
    separator: of its fields, None for what is no text file.
    """
    known = {
        name: [each for each in texts if each[0] not in _NO_NUMBERS]
        for name, texts in columns.items()
        if any("," in text or "." in text for text, _ in texts)
    }
    commas = [name for name, texts in known.items() if _is_comma(texts)]
    points = [name for name, texts in known.items() if _is_point(texts)]
    numerals = COMMA if commas and not points else POINT
    warnings = [*_mixed_columns(known), *_mixed_file(commas, points)]
    if numerals == POINT:
        warnings += _thousands(known, separator)
    return NumberFormat(numerals, tuple(warnings))


def blank_warnings(columns: Mapping[str, Texts]) -> list[str]:
    """Return which columns have values that differ only by blanks before or behind them."""
    return [
        f"column '{name}': {whitespace_warning(number)}"
        for name, texts in columns.items()
        if (number := differing_by_blanks([text for text, _ in texts]))
    ]


def differing_by_blanks(texts: Sequence[str]) -> int:
    """Return how many of some distinct texts become another one of them without the blanks at their ends.

    >>> differing_by_blanks(["34", " 34 ", "35", " 36"])
    1
    """
    return len(texts) - len({text.strip() for text in texts})


def whitespace_warning(number: int) -> str:
    """Return what is said of values that differ from others by blanks alone."""
    told = "1 value differs" if number == 1 else f"{number:,} values differ"
    return f"{told} {BLANKS}"


def _is_comma(texts: Texts) -> bool:
    """Tell whether texts are all numbers with decimal commas, some of which can be nothing else."""
    decisive = any(
        ("," in text and not _COMMA_THOUSANDS.fullmatch(text)) or text.count(".") > 1 for text, _ in texts
    )
    return decisive and all(_with_comma(text) is not None for text, _ in texts)


def _is_point(texts: Texts) -> bool:
    """Tell whether texts are all numbers with decimal points, some of which can be nothing else."""
    decisive = any("." in text and not _POINTED_THOUSANDS.fullmatch(text) for text, _ in texts)
    return decisive and all(_with_point(text) is not None for text, _ in texts)


def _mixed_columns(columns: Mapping[str, Texts]) -> Iterator[str]:
    for name, texts in columns.items():
        commas = [each for each in texts if _with_point(each[0]) is None and _with_comma(each[0]) is not None]
        points = [each for each in texts if _with_comma(each[0]) is None and _with_point(each[0]) is not None]
        both = sum(_with_comma(text) is not None and _with_point(text) is not None for text, _ in texts)
        if commas and points and len(commas) + len(points) + both == len(texts):
            yield (
                f"column '{name}' mixes decimal commas and points: {_example(commas)}, {_example(points)}; "
                "it is read as text: write all of them one way"
            )


def _mixed_file(commas: Sequence[str], points: Sequence[str]) -> Iterator[str]:
    if commas and points:
        yield (
            f"decimal commas in {_listed(commas)}, decimal points in {_listed(points)}: those with commas "
            "are read as text; write all of them one way"
        )


def _thousands(columns: Mapping[str, Texts], separator: str | None) -> Iterator[str]:
    """Yield what is said of numbers that are read as written with decimal points, and may not be."""
    for name, texts in columns.items():
        grouped = [each for each in texts if _COMMA_THOUSANDS.fullmatch(each[0])]
        plain = sum(_with_point(text) is not None for text, _ in texts)
        if grouped and len(grouped) + plain == len(texts):
            yield (
                f"column '{name}' has commas in numbers: {_example(grouped)}; it is read as text: if they "
                "stand between thousands, take them out, if before a fraction, set input.decimal to ','"
            )
        pointed = [each for each in texts if "." in each[0]]
        numbers = len(pointed) >= ENOUGH and plain == len(texts) and separator not in (None, ",")
        if numbers and all(_POINTED_THOUSANDS.fullmatch(text) for text, _ in pointed):
            yield (
                f"column '{name}' has three digits behind every point: {_example(pointed)}; if the points "
                "stand between thousands, set input.decimal to ','"
            )


def _example(texts: Texts) -> str:
    """Return in how many records of those looked at texts stand, with the most frequent of their forms."""
    forms: dict[str, int] = {}
    for text, records in texts:
        form = _DIGITS.sub("9", text)
        forms[form] = forms.get(form, 0) + records
    best = max(forms, key=lambda form: (forms[form], form))
    records = sum(forms.values())
    return f"{records:,} {'record' if records == 1 else 'records'} like {best}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
