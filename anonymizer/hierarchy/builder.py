"""Builders of hierarchies for ``hierarchy build --by``: rules, columns of the data, config sources.

A rule assigns values to a group by a pattern or by a comparison.
"""

from __future__ import annotations

import csv
import re
from abc import ABC, abstractmethod
from decimal import Decimal
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from anonymizer.errors import HierarchyError, InputError, plural, suggestion
from anonymizer.hierarchy.file import FileSettings, FileSource, spelled_once
from anonymizer.hierarchy.ready import ReadySettings, ReadySource, ready_names
from anonymizer.hierarchy.source import FlatSource, HierarchySource, Tree, make_source, tree_of_rows
from anonymizer.model.identity import text_identity
from anonymizer.model.table import Column, ValueType
from anonymizer.plugins import Registry, path_fault, shortened_path
from anonymizer.system import check_file


class Builder(ABC):
    """One way to build a hierarchy for a column of a data file; ``--by NAME`` or ``--by NAME=VALUE``.

    A class with a ``name`` in a module of this room, or in an entry point of the group
    ``anonymizer.hierarchy_builders``, is found without registration.

    Attributes
    ----------
    name: on the command line.
    takes: example of a value after ``=``; None for a builder without value.
    rule: for values that an example does not explain, what they are.

    Parameters
    ----------
    value: the text after ``=``, or the empty text.

    Raises
    ------
    InputError: the value is missing, or there must not be one.
    """

    name: ClassVar[str]
    takes: ClassVar[str | None]
    rule: ClassVar[str] = ""

    def __init__(self, value: str) -> None:
        if self.takes is None and value:
            raise InputError(f"--by {self.name}={value}: takes no value; accepted: {self.usage()}")
        if self.takes is not None and not value:
            raise InputError(f"--by {self.name}: needs a value; accepted: {self._accepted()}")
        self.value = value

    @classmethod
    def usage(cls) -> str:
        """Return the form of the option."""
        return cls.name if cls.takes is None else f"{cls.name}={cls.takes}"

    @classmethod
    def _accepted(cls) -> str:
        return f"{cls.rule}, such as {cls.usage()}" if cls.rule else cls.usage()

    @abstractmethod
    def build(self, data: Path, column: Column) -> Tree:
        """Return the tree for a column.

        Parameters
        ----------
        data: the file of the column.
        column: as read from it, with at least one value.

        Raises
        ------
        InputError: the value does not fit the column, or names a file or column that does not exist.
        HierarchyError: the values do not form a tree.
        """


class ColumnsBuilder(Builder):
    """Level i publishes the value of the i-th of some columns: the county of a town, then its state."""

    name = "columns"
    takes = "COUNTY,STATE"

    def build(self, data: Path, column: Column) -> Tree:
        """Return the tree.

        Raises
        ------
        HierarchyError: a value occurs with two values of the next column.
        InputError: a column is named twice.
        DataError: there is no such column.
        """
        names = [name.strip() for name in self.value.split(",")]
        if len({column.name, *names}) <= len(names):
            raise InputError(
                f"--by {self.name}={self.value}: a column is named twice, in this list or in "
                f"--column ('{column.name}'); name each column once, from fine to coarse"
            )
        # The schema lists what builds hierarchies without DuckDB.
        from anonymizer.data.open import open_file  # noqa: PLC0415
        from anonymizer.data.table import ColumnRequest, encode, read_columns  # noqa: PLC0415

        with open_file(data) as relation:
            requests = [ColumnRequest(column.name, column.type, generalized=True), *map(ColumnRequest, names)]
            read = list(read_columns(relation, requests).values())
            combinations = encode(relation, read).codes
        known = combinations[combinations[:, 0] < len(column.present)]
        for place, (fine, coarse) in enumerate(pairwise((column.name, *names))):
            pairs = np.unique(known[:, [place, place + 1]], axis=0)
            several = np.flatnonzero(pairs[1:, 0] == pairs[:-1, 0])
            if len(several):
                (value, first), (_, second) = (
                    (read[place].column.texts[one], read[place + 1].column.texts[other])
                    for one, other in pairs[several[0] : several[0] + 2]
                )
                raise HierarchyError(
                    f"--by {self.name}={self.value}: '{value}' of column '{fine}' occurs with several values "
                    f"of '{coarse}', such as '{first}' and '{second}'; name columns from fine to coarse"
                )
        levels = [
            [each.column.texts[code] for code in codes]
            for each, codes in zip(read, known.T.tolist(), strict=True)
        ]
        return tree_of_rows(levels)


def named_source(source: str) -> HierarchySource[Any]:
    """Return the hierarchy of a file, or the ready-made one of that name if no such file exists.

    Raises
    ------
    InputError: neither exists.
    """
    fault = path_fault(source)
    if fault is not None:
        raise InputError(f"{shortened_path(source)}: {fault}")
    if source in ready_names() and not Path(source).is_file():
        return ReadySource(ReadySettings(source))
    if not Path(source).exists():
        raise InputError(f"{source}: no such file or ready hierarchy; {suggestion(source, ready_names())}")
    return FileSource(FileSettings(source))


BUILDERS: Registry[Builder] = Registry(
    "builder", Builder, "anonymizer.hierarchy", "anonymizer.hierarchy_builders"
)
"""Every ``Builder`` with a name."""


def make_builder(text: str) -> Builder:
    """Return the builder for ``NAME`` or ``NAME=VALUE``.

    Raises
    ------
    InputError: no builder has the name, the value is missing, or there must not be one.
    """
    name, _, value = text.partition("=")
    if name not in BUILDERS:
        raise InputError(f"--by {text}: unknown; {suggestion(name, BUILDERS)}")
    return BUILDERS[name](value)


def usages() -> str:
    """Return the forms of all builders."""
    return ", ".join(kind.usage() for _, kind in sorted(BUILDERS.items()))


_NUMBER = r"-?\d+(?:\.\d+)?"
_COMPARISON = re.compile(rf"(<=|>=|<|>)\s*({_NUMBER})")
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")
_NAMED = 5


class Rule(ABC):
    """Decides which values are in a group."""

    @abstractmethod
    def matches(self, text: str) -> bool:
        """Return whether a value is in the group."""


class PatternRule(Rule):
    """Texts that match a shell pattern: ``*`` any characters, ``?`` one, ``[ab]`` one of these."""

    def __init__(self, pattern: str) -> None:
        self._pattern = text_identity(pattern)

    def matches(self, text: str) -> bool:
        """Return whether a text matches; case matters."""
        return fnmatchcase(text_identity(text), self._pattern)


class RangeRule(Rule):
    """Numbers between two bounds, both included or both excluded; None is no bound."""

    def __init__(self, low: Decimal | None, high: Decimal | None, *, bounds_in: bool) -> None:
        self._low = low
        self._high = high
        self._bounds_in = bounds_in

    def matches(self, text: str) -> bool:
        """Return whether a number is between the bounds."""
        number = Decimal(text)
        if number in (self._low, self._high):
            return self._bounds_in
        return (self._low is None or number > self._low) and (self._high is None or number < self._high)


def rule_of(text: str, kind: ValueType) -> Rule:
    """Return the rule of a text: of numbers ``7``, ``<18``, ``18..64`` or ``>=65``, otherwise a pattern.

    >>> rule_of("18..64", ValueType.INTEGER).matches("64"), rule_of("J*", ValueType.TEXT).matches("J45")
    (True, True)
    """
    if kind not in (ValueType.INTEGER, ValueType.NUMBER):
        return PatternRule(text)
    between, compared = _RANGE.fullmatch(text), _COMPARISON.fullmatch(text)
    if re.fullmatch(_NUMBER, text):
        return RangeRule(Decimal(text), Decimal(text), bounds_in=True)
    if between:
        return RangeRule(Decimal(between[1]), Decimal(between[2]), bounds_in=True)
    if compared:
        sign, bound = compared[1], Decimal(compared[2])
        low, high = (None, bound) if "<" in sign else (bound, None)
        return RangeRule(low, high, bounds_in="=" in sign)
    return PatternRule(text)


class RulesBuilder(Builder):
    """Groups by rules in a headerless CSV file: rule, group, group of groups; the first match decides."""

    name = "rules"
    takes = "FILE"

    def build(self, data: Path, column: Column) -> Tree:  # noqa: ARG002 - only the column is used
        """Return the tree of the column's values.

        Raises
        ------
        InputError: the file cannot be read, or its rows differ in length.
        HierarchyError: no rule matches a value.
        """
        rows = self._rows()
        rules = [rule_of(row[0], column.type) for row in rows]
        chosen = {
            value: next((place for place, rule in enumerate(rules) if rule.matches(value)), None)
            for value in column.present
        }
        without = [value for value, place in chosen.items() if place is None]
        if without:
            named = ", ".join(f"'{value}'" for value in without[:_NAMED])
            raise HierarchyError(
                f"{self.value}: no rule matches {len(without)} of {len(chosen)} values, such as {named}; add "
                "rules, or a last rule '*' for all other values"
            )
        found = [rows[place] for place in chosen.values() if place is not None]
        groups = [spelled_once([row[level] for row in found]) for level in range(1, len(rows[0]))]
        return tree_of_rows([list(chosen), *groups])

    def _rows(self) -> list[list[str]]:
        path = Path(self.value)
        try:
            with check_file(path).open(encoding="utf-8-sig", newline="") as stream:
                reader = csv.reader(stream)
                rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if row]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text in CSV"
            raise InputError(f"{path}: cannot be read: {reason}; check the path") from None
        accepted = "accepted: a rule and its groups in each row, as in J*,respiratory"
        if not rows:
            raise InputError(f"{path}: has no rows; {accepted}")
        number = len(rows[0][1])
        for line, row in rows:
            if len(row) != number:
                fault = f"has {plural(len(row), 'cell')}, but the first row has {number}"
            elif not all(row):
                fault = "has an empty cell"
            elif number < 2:
                fault = "has no group"
            else:
                continue
            raise InputError(f"{path} line {line}: {fault}; {accepted}")
        return [row for _, row in rows]


class SourceBuilder(Builder):
    """The hierarchy source of the config that has the same name, with its defaults or one parameter.

    Attributes
    ----------
    parameter: that ``--by NAME=VALUE`` sets; of an example with several values, to a list.
    """

    parameter: ClassVar[str]

    def build(self, data: Path, column: Column) -> Tree:  # noqa: ARG002 - only the column is used
        """Return the tree of the source.

        Raises
        ------
        HierarchyError: the source refuses the value or the column.
        """
        settings: dict[str, Any] = {}
        if self.takes is not None:
            settings[self.parameter] = self.value.split(",") if "," in self.takes else self.value
        try:
            source = make_source({self.name: settings}, "")
        except HierarchyError as error:  # of a config; here it is an option
            said = "; ".join(line.partition(": ")[2] for line in str(error).splitlines())
            if "accepted: " not in said:
                said = f"wrong form; accepted: {self._accepted()}"
            raise HierarchyError(f"--by {self.name}={self.value}: {said}") from None
        return source.build(column, Path())


class ValuesBuilder(Builder):
    """Every value under ``*``, such as for merging small values."""

    name = "values"
    takes = None

    def build(self, data: Path, column: Column) -> Tree:  # noqa: ARG002 - only the column is used
        """Return two levels."""
        return FlatSource().build(column, Path())


class LikeBuilder(Builder):
    """A copy of an existing hierarchy."""

    name = "like"
    takes = "FILE or the name of a ready-made hierarchy"

    def build(self, data: Path, column: Column) -> Tree:  # noqa: ARG002 - only the column is used
        return named_source(self.value).build(column, Path())


class AutoBuilder(SourceBuilder):
    """Groups balanced by the data's frequencies."""

    name = "auto"
    takes = None


class DateBuilder(SourceBuilder):
    """Month, quarter, year, decade."""

    name = "date"
    takes = None


class FrequencyBuilder(SourceBuilder):
    """Frequent values by themselves, the others merged."""

    name = "frequency"
    takes = None


class IntervalsBuilder(SourceBuilder):
    """Intervals of these widths."""

    name = "intervals"
    takes = "5,10,20"
    rule = "ascending widths, each a multiple of the previous one"
    parameter = "width"


class MaskBuilder(SourceBuilder):
    """Characters masked from one end."""

    name = "mask"
    takes = "right or left"
    parameter = "from"


class OrderBuilder(SourceBuilder):
    """Groups of consecutive values of these sizes."""

    name = "order"
    takes = "2,4"
    rule = "ascending sizes of groups, each a multiple of the previous one"
    parameter = "sizes"
