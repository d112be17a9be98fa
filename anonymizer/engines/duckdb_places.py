"""Packed keys in the SQL of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.engines.places import Place, names_of


def code_sql(place: Place) -> str:
    """Return SQL for the code of a column, of the keys."""
    return f"((w{place.word} // {place.unit}) % {place.size})"


def packed_sql(places: Sequence[Place], codes: Sequence[str]) -> list[str]:
    """Return SQL for each key, given SQL for the code of each column."""
    words: list[list[str]] = [[] for _ in names_of(places)]
    for place, code in zip(places, codes, strict=True):
        words[place.word].append(f"{code}::BIGINT * {place.unit}")
    return [f"{' + '.join(terms)} AS w{word}" for word, terms in enumerate(words)]
