"""Names of columns that meet names from another place: a config, an option, a second file.

Two names are one column if their identities are equal, as for texts. A config takes the names of its input,
and other files that are read for it take the names of the config, so that all else compares names exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, TypeVar

from pydantic import AfterValidator

from anonymizer.model.identity import text_identity

V = TypeVar("V")


class Spellings:
    """Names of columns, by which other spellings of them are found.

    Names of equal identity are found by themselves only.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)
        shared = Counter(map(text_identity, self._names))
        self._by_identity = {
            text_identity(name): name for name in self._names if shared[text_identity(name)] == 1
        }

    def of(self, name: str) -> str:
        """Return the name that a text is a spelling of; the text itself if there is none.

        >>> Spellings(["age", "K\\u00f6ln"]).of(" Ko\\u0308ln") == "K\\u00f6ln", Spellings(["age"]).of("Age")
        (True, 'Age')
        """
        return name if name in self._names else self._by_identity.get(text_identity(name), name)


def respelled(columns: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    """Return the names that columns have, by the columns that are another spelling of exactly one of them."""
    own, wanted = list(columns), Spellings(names)
    given = {column: wanted.of(column) for column in own}
    often = Counter(given.values())
    return {column: name for column, name in given.items() if name != column and often[name] == 1}


_COLUMNS: ContextVar[Spellings | None] = ContextVar("names of the columns of a config", default=None)


@contextmanager
def columns_named(names: Iterable[str]) -> Iterator[None]:
    """Read names of columns in a config as these, where they are other spellings of them."""
    token = _COLUMNS.set(Spellings(names))
    try:
        yield
    finally:
        _COLUMNS.reset(token)


def _not_blank(name: str) -> str:
    if not name.strip():
        raise ValueError(f"{name!r} is blank; accepted: a name with at least one letter or digit")
    return name


def _as_column(name: str) -> str:
    columns = _COLUMNS.get()
    return name if columns is None else columns.of(name)


Name = Annotated[str, AfterValidator(_not_blank)]
"""A name that the user chooses, such as that of a scenario."""

ColumnName = Annotated[Name, AfterValidator(_as_column)]
"""The name of a column in a config."""


def in_spelling_of(columns: Iterable[str], given: Mapping[str, V]) -> dict[str, V]:
    """Return a mapping whose keys have the spelling of columns."""
    spellings = Spellings(columns)
    return {spellings.of(name): value for name, value in given.items()}
