"""Warnings about texts: spaces around them, values that look alike or missing, codes that no column has.

What makes two texts one value is a rule (``anonymizer.data.values``); these are the doubts that remain.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from anonymizer.data.relation import Relation
from anonymizer.data.values import number_key
from anonymizer.errors import plural
from anonymizer.model.identity import looking_alike, text_identity
from anonymizer.model.labels import SUPPRESSED
from anonymizer.model.table import Column, ValueType
from anonymizer.model.warning import Harm, Warned, with_harm

EMPTY = ""

CLEAR = (EMPTY, "?", "#N/A", "N/A", "n/a", "NULL", "null", "NaN", "nan", "<NA>", "\\N", SUPPRESSED)
"""Texts that are missing values in every column."""

BESIDE_NUMBERS = ("NA", "na", "None", "none", "-", "--", ".", "unknown", "Unknown", "missing", "Missing")
"""Texts that are missing values in a column whose other texts are numbers or dates."""

MOST_KEYS = 50_000
"""Maximum number of keys of a column that are compared by their looks."""

LISTED = 10
"""Maximum number of columns that a warning names."""

_WORDS = frozenset(text_identity(word).casefold() for word in (*CLEAR, *BESIDE_NUMBERS) if word)


def begins_or_ends_with_blank(texts: Iterable[str]) -> bool:
    """Return whether a text begins or ends with a space."""
    return any(text != text.strip() for text in texts)


def padding_warnings(numbers: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return warnings about columns of numbers, and of texts, with spaces around values."""
    found = (("numbers", numbers), ("values", texts))
    said = (f"spaces around the {what} of {shown_columns(own)} are ignored" for what, own in found if own)
    return with_harm(Harm.NOTE, said)


def shown_columns(names: Sequence[str]) -> str:
    """Return some columns by name, more than ten by their number too."""
    shown = ", ".join(f"'{name}'" for name in names[:LISTED])
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"


def sensitive_warnings(column: Column, smallest: int = 0) -> Iterator[str]:
    """Yield warnings about texts of a sensitive column that look like others, or like missing values.

    Parameters
    ----------
    smallest: count of records that may be shown; smaller ones are replaced by words.
    """
    if column.type is not ValueType.TEXT:
        return
    counts = dict(zip(column.present, column.counts.tolist(), strict=False))
    groups = looking_alike(counts)
    if groups:
        number = sum(len(group) - 1 for group in groups)
        example = max(groups, key=lambda group: sum(counts[text] for text in group))
        first, second = sorted(example, key=lambda text: (-counts[text], text))[:2]
        differ = "1 of its values looks" if number == 1 else f"{_few(number, smallest)} of its values look"
        yield (
            f"sensitive column '{column.name}': {differ} like others, such as {first!r} and {second!r}"
            f"{_apart(first, second)}, but each counts as a value of its own, so that two spellings of one "
            "illness are two values to l-diversity; write them alike in the file"
        )
    words = [text for text in counts if text_identity(text).casefold() in _WORDS]
    for text in sorted(words, key=lambda text: (-counts[text], text))[:LISTED]:
        yield (
            f"sensitive column '{column.name}' has {text!r} in {_few(counts[text], smallest)} records, which "
            "looks like a missing value, but counts as a value; if it means one, add it to input.missing"
        )


def _apart(first: str, second: str) -> str:
    """Return the characters in which two texts that are printed alike differ, in parentheses; else ""."""
    others = sorted({each for each in {*first} ^ {*second} if not each.isascii()})
    return f" ({', '.join(f'U+{ord(each):04X}' for each in others)})" if others else ""


def _few(number: int, smallest: int) -> str:
    return f"{number:,}" if number >= smallest else "a few"


def key_warnings(
    relation: Relation,
    units: Mapping[str, str],
    unnamed: Mapping[str, str] = MappingProxyType({}),
    smallest: int = 0,
) -> Iterator[str]:
    """Yield warnings about keys that differ, but look alike.

    Parameters
    ----------
    units: column of each unit, by its name.
    unnamed: unit of each column that may be a key, though the config does not say so, by its name.
    smallest: as for ``sensitive_warnings``.
    """
    named = {column: unit for unit, column in units.items()}
    for column, unit in {**unnamed, **named}.items():
        if column not in relation.columns:
            continue
        groups = looking_alike(relation.similar_texts(column, MOST_KEYS))
        pairs = sum(len(group) * (len(group) - 1) // 2 for group in groups)
        if pairs:
            number = plural(pairs, "pair") if pairs >= smallest else "a few pairs"
            yield (
                f"column '{column}' has {number} of keys that differ only in capitals, leading zeros, "
                f"punctuation or the like. Each pair may be one {unit}, but counts as two; write each key in "
                "one way in the file"
            ) + ("" if column in named else f", and set input.{unit}: {column} to protect {unit}s")


def unused_code_warnings(
    relation: Relation, codes: Collection[str], columns: Sequence[str] | None = None
) -> list[str]:
    """Return a warning about codes of missing values that no column has.

    Parameters
    ----------
    columns: that may have them; None for all.
    """
    # With one marker for all missing values, codes are read as nulls.
    unused = [] if relation.marker is not None else [code for code in dict.fromkeys(codes) if code.strip()]
    for name in relation.columns if columns is None else columns:
        if unused and relation.profiling.count_matching(name, "|".join(map(_pattern, unused))):
            unused = [code for code in unused if not relation.profiling.count_matching(name, _pattern(code))]
    if not unused:
        return []
    shown = ", ".join(map(repr, unused))
    what = f"input.missing: no column has {shown}; check how the file writes missing values"
    return [Warned(what, Harm.DATA)]


def _pattern(code: str) -> str:
    """Return a regular expression for the spellings of a code, the same in Python's ``re`` and RE2."""
    identity = text_identity(code)
    forms = {identity, unicodedata.normalize("NFD", identity)}
    number = number_key(identity)
    if isinstance(number, Decimal):
        whole, _, fraction = f"{abs(number):f}".partition(".")
        sign = "-" if number < 0 else "[+]?"
        digits = fraction.rstrip("0")
        end = f"[.,]{digits}0*" if digits else "(?:[.,]0*)?"
        forms_of_number = [f"{sign}0*{whole.lstrip('0') or '0'}{end}"]
    else:
        forms_of_number = []
    patterns = [*map(re.escape, sorted(forms)), *forms_of_number]
    return rf"\s*(?:{'|'.join(patterns)})\s*"
