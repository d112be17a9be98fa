"""codebook.csv: what each column and each published value of a release means, for people and for programs.

A function of the public report and of what the released tables show. It has one row for each column, then one
for each of its values.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from io import StringIO
from pathlib import PurePath
from typing import Any, NamedTuple

from anonymizer.errors import listed
from anonymizer.hierarchy.source import HIERARCHY_SOURCES
from anonymizer.model.labels import MASKED, MISSING, PERIODS, RANGES, SUPPRESSED, Form
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import Role, ValueType
from anonymizer.report.columns import share_of
from anonymizer.report.described import (
    MOST_NUMBERS,
    MOST_VALUES,
    DescribedColumn,
    Listing,
    Part,
    PublishedValue,
    decimal_sign,
)
from anonymizer.report.legend import content_of, in_numbers, listed_left, pseudonym_of
from anonymizer.report.meaning import is_number_range, meaning_of, middle_of
from anonymizer.report.small_counts import is_small_count

HEAD = (
    "table",
    "column",
    "label",
    "type",
    "role",
    "entry",
    "value",
    "code",
    "meaning",
    "level",
    "generalized",
    "suppressed",
    "missing",
    "use",
)
"""Columns of the codebook."""

WORDS = frozenset({"meaning", "use"})
"""Its columns of prose, which another version may word differently."""

MOST_LEAVES = 50
"""Maximum number of values of a group that are listed."""

SOME = "some"
"""Share that would tell a small one beside it."""


class Entry(StrEnum):
    """What a row of the codebook is about."""

    COLUMN = "column"
    VALUE = "value"
    OTHERS = "other values"


def codebook(public: Mapping[str, Any], columns: Sequence[DescribedColumn], smallest: int) -> str:
    """Return the codebook of a release.

    Parameters
    ----------
    public: content of the public report.
    columns: of the released tables.
    smallest: counts of records below it are masked.
    """
    stream = StringIO(newline="")
    writer = csv.DictWriter(stream, HEAD, lineterminator="\n")
    writer.writeheader()
    writer.writerows(codebook_rows(public, columns, smallest))
    return stream.getvalue()


def codebook_rows(
    public: Mapping[str, Any], columns: Sequence[DescribedColumn], smallest: int
) -> Iterator[dict[str, str]]:
    """Yield the rows of the codebook, by ``HEAD``; parameters as for ``codebook``."""
    for column in columns:
        for row in _Described(public, column, smallest).rows():
            yield {name: row.get(name, "") for name in HEAD}


def table_names(public: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the released tables without their folder."""
    release = public["release"]
    paths = [release["path"], *([release["sensitive_table"]["path"]] if "sensitive_table" in release else [])]
    return tuple(PurePath(path).name for path in paths)


class _Described(NamedTuple):
    """A column of a release with its public report."""

    public: Mapping[str, Any]
    column: DescribedColumn
    smallest: int

    def rows(self) -> Iterator[dict[str, str]]:
        """Yield the row of the column and those of its values."""
        column, use = self.column, self._use()
        common = {
            "table": table_names(self.public)[column.table],
            "column": column.name,
            "label": self.label,
            "type": column.kind.value,
            "role": self._role(),
        }
        shares = {} if column.parts is None else shares_of(column.parts, column.rows, self.smallest)
        level = self._level()
        yield {
            **common,
            "entry": Entry.COLUMN,
            "meaning": "; ".join([column_meaning(self.public, column), *self._remarks()]),
            "level": "" if level is None else str(level),
            **{part.value: shares[part] for part in Part if part in shares and part is not Part.EXACT},
            "use": use,
        }
        for each in column.values:
            yield {
                **common,
                "entry": Entry.VALUE,
                "value": each.text,
                "code": "" if each.code is None else str(each.code),
                "meaning": self._meaning(each),
                "level": "" if each.level is None else str(each.level),
                "use": self._use_of(each),
            }
        if column.values and column.rare:
            what = f"further values, each of fewer than {self.smallest} records, which are not listed here"
            yield {**common, "entry": Entry.OTHERS, "meaning": what}

    @property
    def label(self) -> str:
        """The label of the column, such as the text of a question; empty without one."""
        known = self.public["attributes"].get(self.column.attribute, {})
        return str(known.get("label", ""))

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self.public["config"]["attributes"].get(self.column.attribute, {})
        return settings

    def _role(self) -> str:
        if self.column.attribute is None:
            return self.column.name
        is_pseudonym = self.column.attribute == pseudonym_of(self.public)
        return "pseudonym" if is_pseudonym else str(self._settings.get("role", ""))

    def _level(self) -> int | None:
        levels = self.public["recoding"].get("levels") or {}
        level: int | None = levels.get(self.column.attribute)
        return level

    def _remarks(self) -> Iterator[str]:
        """Yield which values are not listed, and in which form and range they are."""
        column, least = self.column, f"{self.smallest} records or more"
        if column.listing is Listing.MANY:
            most = MOST_VALUES if column.kind is ValueType.TEXT else MOST_NUMBERS
            yield f"more than {most} values, not listed"
        if column.listing is Listing.NOT_COUNTED:
            yield "values not listed, as the records did not fit into memory"
        if column.kind is ValueType.NUMBER and decimal_sign(self.public) != ".":
            yield f"{decimal_sign(self.public)} before the fraction"
        if column.ends is not None and not column.values:
            yield f"from {column.ends[0]} to {column.ends[1]}, of the values that {least} have"

    def _meaning(self, value: PublishedValue) -> str:
        if value.part is Part.SUPPRESSED:
            return "any value: hidden"
        if value.part is Part.MISSING:
            return "the value was missing in the original"
        if value.part is Part.EXACT:
            return "this value"
        left = self.public["release"].get("left_by", {}).get(self.column.attribute, {}).get(value.text)
        if left is not None:
            return f"another value than {listed_left(left)}, unknown which"
        known = self._of_form(value, content_of(self.public, str(self.column.attribute))[1])
        return known or self._of_hierarchy(value)

    def _of_form(self, value: PublishedValue, forms: Sequence[Form]) -> str | None:
        return meaning_of(value.text, forms, decimal_sign(self.public))

    @property
    def _usual_forms(self) -> Sequence[Form]:
        """The forms of the groups of a hierarchy whose own are not known."""
        kind = self._settings.get("type")
        by_kind = RANGES if kind in ("integer", "number") else PERIODS.values() if kind == "date" else ()
        return (*by_kind, *MASKED.values())

    def _of_hierarchy(self, value: PublishedValue) -> str:
        """Return what the name of a group means: its values, if the public report has the hierarchy."""
        hierarchy = self._settings.get("hierarchy") or {}
        name = next((key for key in hierarchy if key in HIERARCHY_SOURCES), None)
        if name is None:
            return "one of several similar values" if value.part is Part.GENERALIZED else "this value"
        codes = self.public["attributes"].get(self.column.attribute, {}).get("codes", {})
        leaves = [
            codes.get(each, each)
            for each in (_leaves_under(hierarchy[name], value.text) if name == "tree" else ())
        ]
        if leaves:
            more = len(leaves) - MOST_LEAVES
            shown = [*leaves[:MOST_LEAVES], *([f"{more} others"] if more > 0 else [])]
            return f"one of {listed(shown)}, unknown which" if len(shown) > 1 else shown[0]
        known = self._of_form(value, self._usual_forms) if value.part is Part.GENERALIZED else None
        if known is not None:
            return known
        parameters = hierarchy[name]
        named = f" {parameters}" if isinstance(parameters, str) else ""
        what = "a group" if value.part is Part.GENERALIZED else "a value or a group"
        return f"{what} of the hierarchy {name}{named}"

    def _use(self) -> str:
        """Return what may be computed from the column."""
        column, role = self.column, self._role()
        if column.attribute is None:
            what = {
                GROUP: "links a group of records with its sensitive values; its order and size mean nothing",
                COUNT: "sums give the number of records with a value",
            }
            return what[column.name]
        if role == "pseudonym":
            return "tells which rows are of one person; nothing else"
        if "grouping" in self.public["recoding"] and role == Role.SENSITIVE:
            return "counts of values, overall and by group; not which record has which value"
        if role == Role.WEIGHT:
            return "as the weight of a record in counts, sums and means"
        return f"{self._computable()}{self._but()}"

    def _computable(self) -> str:
        parts, numeric = self.column.parts, self.column.kind is not ValueType.TEXT
        if self.public["recoding"].get("aggregate") is not None and self._is_generalized:
            return "means of many records; spread and extremes are understated"
        if self.column.name in self._numbers_of("high"):
            return "bounds of a mean: the mean of the lower and that of the upper ends"
        if numeric and self._is_generalized:
            return "estimates of means; not spread within groups, nor extremes"
        if parts is not None and parts.get(Part.EXACT) == 0 and parts.get(Part.GENERALIZED) == 0:
            return "nothing: all values are hidden or missing"
        if not self._is_generalized:
            return "counts, means, sums, quantiles" if numeric else "counts and shares of values"
        return self._of_groups()

    def _of_groups(self) -> str:
        """Return what can be computed from groups."""
        sign, texts = decimal_sign(self.public), [each.text for each in self.column.values]
        middles = [middle_of(text, sign) for text in texts if is_number_range(text, sign)]
        what = "counts and shares of groups"
        if self._varies:
            what += ", of which some lie in others"
        if not any(middles):
            return what
        but = "" if all(middles) else ", which groups without an end do not have"
        return f"{what}; an estimate of the mean from the middles of ranges{but}"

    def _but(self) -> str:
        parts = self.column.parts or {}
        hidden = [part.value for part in (Part.SUPPRESSED, Part.MISSING) if parts.get(part)]
        left = parts.get(Part.EXACT, 1) or parts.get(Part.GENERALIZED, 1)
        if not (hidden and left):
            return ""
        chosen = "; what is suppressed is not drawn by chance" if parts.get(Part.SUPPRESSED) else ""
        return f"; without {' and '.join(hidden)} values{chosen}"

    def _numbers_of(self, key: str) -> Sequence[str]:
        """Return the columns of numbers in place of the labels of this column, if their entry has a key."""
        entry = self.public["release"].get("numbers", {}).get(self.column.attribute, {})
        columns: Sequence[str] = entry.get("columns", ())
        return columns if entry.get(key) is not None else ()

    @property
    def _is_generalized(self) -> bool:
        """Whether some of the values are groups, or may be."""
        if self._role() != Role.QUASI_IDENTIFIER:
            return "labels" in self._settings
        parts = self.column.parts
        if parts is not None:
            return parts.get(Part.GENERALIZED, 1) > 0
        return self._level() != 0

    @property
    def _varies(self) -> bool:
        """Whether records have values of different levels."""
        parts = self.column.parts or {}
        levels = self.public["recoding"].get("levels")
        return levels is None and self._role() == Role.QUASI_IDENTIFIER and parts.get(Part.GENERALIZED, 1) > 0

    def _use_of(self, value: PublishedValue) -> str:
        """Return what may be computed from one value where the column does not say it."""
        if value.text == SUPPRESSED and value.part is Part.SUPPRESSED:
            return "nothing"
        if value.part is Part.MISSING or value.text == MISSING:
            return "nothing"
        middle = middle_of(value.text, decimal_sign(self.public)) if value.part is Part.GENERALIZED else None
        return "" if middle is None else f"its middle is {middle}"


def column_meaning(public: Mapping[str, Any], column: DescribedColumn) -> str:
    """Return what a column contains, as README.txt says it."""
    if column.attribute is None:
        return (
            "number of a group of records" if column.name == GROUP else "records of the group with the value"
        )
    if column.attribute == pseudonym_of(public):
        return "a random number for each person, the same in all rows of one"
    own = public["release"].get("numbers", {}).get(column.attribute)
    if own is None:
        return content_of(public, column.attribute)[0]
    return in_numbers(public, column.attribute)


def shares_of(parts: Mapping[Part, int], rows: int, smallest: int) -> dict[Part, str]:
    """Return the shares of parts of the records, so masked that no small one follows from the others.

    >>> parts = {Part.GENERALIZED: 88, Part.SUPPRESSED: 2, Part.MISSING: 10}
    >>> list(shares_of(parts, 100, 5).values())
    ['88 %', 'under 5 %', 'some']
    >>> shares_of({Part.GENERALIZED: 98, Part.SUPPRESSED: 2}, 100, 5)[Part.GENERALIZED]
    'over 95 %'
    """
    shares = {part: share_of(records, rows, smallest) for part, records in parts.items()}
    masked = [part for part in parts if is_small_count(parts[part], smallest)]
    others = sorted((part for part in parts if parts[part] >= smallest), key=lambda part: parts[part])
    shown = [part for part in others if rows - parts[part] >= smallest]
    if masked and sum(parts[part] for part in masked) < smallest and shown:
        shares[shown[0]] = SOME
    return shares


def _leaves_under(tree: Any, group: str) -> list[str]:
    """Return the values below a group in a nested mapping; empty for a value, or if it has no such group."""
    for name, below in tree.items() if isinstance(tree, Mapping) else ():
        if str(name) == group:
            return _leaves(below)
        found = _leaves_under(below, group)
        if found:
            return found
    return []


def _leaves(below: Any) -> list[str]:
    if isinstance(below, Mapping):
        return [leaf for name, own in below.items() for leaf in (_leaves(own) or [str(name)])]
    if below is None:
        return []
    return [str(each) for each in (below if isinstance(below, list) else [below])]
