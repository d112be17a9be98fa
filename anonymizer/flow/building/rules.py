"""A hierarchy from rules: which values make a group, by a pattern or by a comparison."""

from __future__ import annotations

import csv
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path

from anonymizer.errors import HierarchyError, InputError
from anonymizer.flow.building.base import Builder
from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.model.table import Column, ValueType

_NUMBER = r"-?\d+(?:\.\d+)?"
_COMPARISON = re.compile(rf"(<=|>=|<|>)\s*({_NUMBER})")
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})")
_NAMED = 5


class Rule(ABC):
    """Says which values are in a group."""

    @abstractmethod
    def holds(self, text: str) -> bool:
        """Tell whether a value is in the group."""


class PatternRule(Rule):
    """Texts that match a shell pattern: ``*`` any characters, ``?`` one, ``[ab]`` one of these."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def holds(self, text: str) -> bool:
        """Tell whether a text matches, case mattering."""
        return fnmatchcase(text, self._pattern)


class RangeRule(Rule):
    """Numbers between two bounds, each of which may be missing, and is in or out."""

    def __init__(self, low: Decimal | None, high: Decimal | None, *, bounds_in: bool) -> None:
        self._low = low
        self._high = high
        self._bounds_in = bounds_in

    def holds(self, text: str) -> bool:
        """Tell whether a number is between them."""
        number = Decimal(text)
        if number in (self._low, self._high):
            return self._bounds_in
        return (self._low is None or number > self._low) and (self._high is None or number < self._high)


def rule_of(text: str, kind: ValueType) -> Rule:
    """Return the rule that a text stands for in a column: ``<18``, ``18..64``, ``>=65``, else a pattern.

    >>> rule_of("18..64", ValueType.INTEGER).holds("64"), rule_of("J*", ValueType.TEXT).holds("J45")
    (True, True)
    """
    if kind not in (ValueType.INTEGER, ValueType.NUMBER):
        return PatternRule(text)
    between, compared = _RANGE.fullmatch(text), _COMPARISON.fullmatch(text)
    if between:
        return RangeRule(Decimal(between[1]), Decimal(between[2]), bounds_in=True)
    if compared:
        sign, bound = compared[1], Decimal(compared[2])
        low, high = (None, bound) if "<" in sign else (bound, None)
        return RangeRule(low, high, bounds_in="=" in sign)
    return PatternRule(text)


class RulesBuilder(Builder):
    """Groups by rules in a headerless CSV file: rule, group, group of groups; the first to hold counts."""

    name = "rules"
    takes = "FILE"

    def build(self, data: Path, column: Column) -> Tree:  # noqa: ARG002 - the column tells all
        """Return the tree of the column's values.

        Raises
        ------
        InputError: the file cannot be read, or its rows differ in length.
        HierarchyError: no rule holds for a value.
        """
        rows = self._rows()
        rules = [rule_of(row[0].strip(), column.type) for row in rows]
        chosen = {value: _first(rules, value) for value in column.present}
        without = [value for value, place in chosen.items() if place is None]
        if without:
            named = ", ".join(f"'{value}'" for value in without[:_NAMED])
            raise HierarchyError(
                f"{self.value}: no rule holds for {len(without)} of {len(chosen)} values, such as {named}; "
                f"add rules, or a last one '*' for all others"
            )
        found = [rows[place] for place in chosen.values() if place is not None]
        groups = [[row[level] for row in found] for level in range(1, len(rows[0]))]
        return tree_of_rows([list(chosen), *groups])

    def _rows(self) -> list[list[str]]:
        path = Path(self.value)
        try:
            with path.open(encoding="utf-8-sig", newline="") as stream:
                rows = [row for row in csv.reader(stream) if row]
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8 text in CSV"
            raise InputError(f"{path}: cannot be read: {reason}") from None
        lengths = {len(row) for row in rows}
        if len(lengths) != 1 or min(lengths) < 2 or any(not cell.strip() for row in rows for cell in row):
            raise InputError(
                f"{path}: accepted: one rule a row, as many cells in each, none empty, as in J*,respiratory"
            )
        return rows


def _first(rules: Sequence[Rule], value: str) -> int | None:
    return next((place for place, rule in enumerate(rules) if rule.holds(value)), None)
