"""What a row of a table of features says, and the conflicts that follow for a config or an entry of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from anonymizer.errors import listed
from anonymizer.model.features import Feature, Limit, Supporting

C = TypeVar("C")
"""What a table is asked about: a config, or an entry of one."""

KeyPath = tuple[str | int, ...]
"""The place of a key."""

Words = Mapping[str, str | Callable[[], str]]
"""What stands for the names in a text; a function for what takes long."""


NO_WORDS: Words = MappingProxyType({})


class Stage(Enum):
    """When a row is asked."""

    CONFIG = "when the config is read"
    APPEND = "when new records are compared with the earlier run"
    FRAME = "before a run on a DataFrame"
    COMPARE = "before a comparison of runs"
    START = "before the engine starts"
    STORED = "when the engine keeps the distinct rows"
    BEYOND = "when the distinct rows do not fit in memory"
    SEARCH = "when a search begins without them"
    CHOICE = "when an algorithm is chosen for the config"
    COMPARED = "when the records are compared with other people without them"


@dataclass(frozen=True)
class Use:
    """A use of a feature in a config: the path of its key, and words about it."""

    path: KeyPath
    words: Words = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """Who carries out a feature in a config: its path, what it supports, and words about it."""

    path: KeyPath
    supporter: Supporting
    words: Words = field(default_factory=dict)


@dataclass(frozen=True)
class Side(Generic[C]):
    """A part of a config that carries out features.

    Attributes
    ----------
    name: of the able ones in texts, such as ``algorithms``.
    asked: returns what a config has of it.
    able: returns the names that support a feature.
    stage: when it is asked.
    """

    name: str
    asked: Callable[[C], Iterable[Asked]]
    able: Callable[[Feature], list[str]] = lambda _: []
    stage: Stage = Stage.CONFIG


class Conflict(NamedTuple):
    """Two parts of a config that do not go together: the path of one of them, and a message."""

    path: KeyPath
    what: str


@dataclass(frozen=True)
class Cell(Generic[C]):
    """What a feature needs to be supported by, or another feature that it excludes.

    Texts may name the words of the table, such as ``{algorithm}``, the able ones of a side, such as
    ``{algorithms}``, and the words of the use and of who is asked.

    Attributes
    ----------
    text: why not, and after a semicolon what would do instead.
    here: whether the problem is at the key of the feature, not at that of the other part.
    key: of a constraint at which the problem is.
    unless: a feature whose row says it where a config uses that, too.
    at: when it is asked; None: with its side.
    """

    by: Side[C] | Feature
    text: str
    here: bool = False
    key: str = ""
    unless: Feature | None = None
    at: Stage | None = None

    @property
    def stage(self) -> Stage:
        """When it is asked."""
        return self.at or (self.by.stage if isinstance(self.by, Side) else Stage.CONFIG)

    def conflicts(self, feature: Feature, use: Use, asking: Asking[C]) -> Iterator[Conflict]:
        """Yield the conflicts of a use of a feature."""
        if self.unless is not None and any(asking.uses_of(self.unless)):
            return
        if isinstance(self.by, Feature):
            for other in asking.uses_of(self.by):
                yield self._conflict(
                    asking.words_of(feature, other.words, use.words), use, other.path, Limit()
                )
            return
        for each in self.by.asked(asking.about):
            limit, able = each.supporter.limits.get(feature), feature in each.supporter.supports
            if limit is not None or not able:
                given = {"given": " with the parameters given here" if able else ""}
                path = (*each.path, self.key) if self.key else each.path
                words = asking.words_of(feature, given, each.words, use.words)
                yield self._conflict(words, use, path, limit or Limit())

    def _conflict(self, words: _Words, use: Use, path: KeyPath, limit: Limit) -> Conflict:
        what, _, remedy = self.text.partition("; ")
        text = "; ".join(each for each in (limit.what or what, limit.remedy or remedy) if each)
        return Conflict(use.path if self.here else path, text.format_map(words))


class _Words(dict[str, Any]):
    """Words for texts; the names that support a feature are looked up if asked for."""

    def __init__(self, words: Words, able: Mapping[str, Side[Any]], feature: Feature) -> None:
        super().__init__(words)
        self._able, self._feature = able, feature

    def __missing__(self, name: str) -> _Able | str:
        if name not in self._able:
            return f"{{{name}}}"  # a plug-in may have braces in its words
        return _Able(self._able[name].able(self._feature))

    def __getitem__(self, name: str) -> Any:
        found = super().__getitem__(name)
        return found() if callable(found) else found


class _Able(list[str]):
    """Names: with commas, with "or" between all (``:or``), or as a list in words (``:listed``)."""

    def __format__(self, form: str) -> str:
        return listed(self, "or") if form == "listed" else (f" {form} " if form else ", ").join(self)


@dataclass(frozen=True)
class Need(Generic[C]):
    """What a feature needs besides: a name that is defined, or another key.

    Attributes
    ----------
    lacking: returns the message about a use; None if it has what it needs.
    always: whether it is asked even if the row reports its first problem only.
    stage: when it is asked.
    """

    lacking: Callable[[C, Use], str | None]
    always: bool = False
    stage: Stage = Stage.CONFIG

    def conflicts(self, _: Feature, use: Use, asking: Asking[C]) -> Iterator[Conflict]:
        """Yield the problem of a use."""
        what = self.lacking(asking.about, use)
        if what is not None:
            yield Conflict(use.path, what)


class Row(Generic[C]):
    """A feature: how a config uses it, and what that asks for.

    Parameters
    ----------
    uses: returns the uses in a config, none if it does not use it.
    first: whether only the first problem of a use is reported.
    """

    def __init__(
        self,
        feature: Feature,
        uses: Callable[[C], Iterable[Use]],
        *cells: Cell[C] | Need[C],
        first: bool = False,
    ) -> None:
        self.feature, self.uses, self.cells, self._first = feature, uses, cells, first

    def asks(self, side: Side[C]) -> bool:
        """Return whether the config alone says that a side has to support the feature."""
        cells = [each for each in self.cells if isinstance(each, Cell)]
        return any(each.by is side and each.stage in (Stage.CONFIG, Stage.CHOICE) for each in cells)

    def conflicts(self, asking: Asking[C]) -> Iterator[Conflict]:
        """Yield the conflicts of the feature."""
        cells = [each for each in self.cells if each.stage is asking.stage]
        for use in self.uses(asking.about) if cells else ():
            known = False
            for cell in cells:
                if known and self._first and not (isinstance(cell, Need) and cell.always):
                    continue
                found = list(cell.conflicts(self.feature, use, asking))
                known = known or bool(found)
                yield from found


class Table(Generic[C]):
    """The rows of all features.

    Parameters
    ----------
    groups: the problems of a group are reported if those before it have none.
    sides: whose able ones texts may name.
    """

    def __init__(self, groups: Iterable[Iterable[Row[C]]], sides: Iterable[Side[C]] = ()) -> None:
        self.groups = tuple(map(tuple, groups))
        self.rows = {row.feature: row for group in self.groups for row in group}
        self.sides = {side.name: side for side in sides}


@dataclass(frozen=True)
class Asking(Generic[C]):
    """A question to a table.

    Attributes
    ----------
    about: a config or an entry of one; only rows know what it is.
    words: that every text may name.
    stage: when it is asked.
    """

    table: Table[C]
    about: C
    words: Words
    stage: Stage = Stage.CONFIG

    def conflicts(self) -> Iterator[Conflict]:
        """Yield what does not go together.

        Of the config alone only the first group of rows with a conflict is reported.
        """
        for group in self.table.groups:
            found = [each for row in group for each in row.conflicts(self)]
            yield from found
            if found and self.stage is Stage.CONFIG:
                return

    def uses_of(self, other: Feature) -> Iterable[Use]:
        """Return the uses of another feature."""
        return self.table.rows[other].uses(self.about)

    def words_of(self, feature: Feature, *further: Words) -> _Words:
        """Return the words that every text may name, and further ones."""
        words = dict(self.words)
        for each in further:
            words.update(each)
        return _Words(words, self.table.sides, feature)
