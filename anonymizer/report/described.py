"""What the tables of a release show of each column, as their recipient could find out.

Everything follows from the tables, the config and the levels of the public report. As in the rest of the
public report, values that few records have are not named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.labelled import ReadNumbers, labelled
from anonymizer.data.relation import Relation
from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.coded import CodedSource
from anonymizer.hierarchy.source import FlatSource
from anonymizer.model.dates import iso_moment
from anonymizer.model.labels import (
    CLOSED,
    MISSING,
    SUPPRESSED,
    Form,
    NumberColumns,
    NumberLabels,
    in_natural_order,
)
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import POINT_SIGN, Code, Role, ValueType
from anonymizer.report.legend import content_of, pseudonym_of
from anonymizer.report.meaning import has_form, is_number_range, number_in
from anonymizer.report.public import public_levels, source_of

MOST_VALUES = 200
"""Maximum number of values of a column that are listed one by one."""

MOST_NUMBERS = 20
"""The same for numbers and dates that are no groups."""


class Part(StrEnum):
    """What became of the value of a record."""

    EXACT = "exact"
    GENERALIZED = "generalized"
    SUPPRESSED = "suppressed"
    MISSING = "missing"


class Listing(StrEnum):
    """Whether the values of a column are listed, or why they are not."""

    LISTED = "listed"
    MANY = "many"
    NEVER = "never"
    NOT_COUNTED = "not counted"


@dataclass(frozen=True)
class PublishedValue:
    """A published value.

    Attributes
    ----------
    text: empty for a null.
    part: None if the text does not tell a group from a value.
    level: of a quasi-identifier; None if it is not known.
    code: that stands for it in a file with labels; None without one.
    """

    text: str
    part: Part | None
    level: int | None = None
    code: Code | None = None


@dataclass(frozen=True)
class DescribedColumn:
    """A column of a released table.

    Attributes
    ----------
    table: position of the table in the release.
    name: in the table.
    attribute: of the config; None for the groups and counts of Anatomy.
    kind: of its texts.
    rows: of the table; of values with counts beside them, the records that they count.
    values: in their order, if they are listed.
    rare: whether it has further values, each in few records.
    parts: records by what became of their value, without ``EXACT`` and ``GENERALIZED`` where the texts do not
        tell them apart; None if they were not counted.
    ends: the smallest and the largest of the numbers or dates that are not rare; None without such values.
    absent: texts of missing values.
    """

    table: int
    name: str
    attribute: str | None
    kind: ValueType
    rows: int
    listing: Listing
    values: tuple[PublishedValue, ...] = ()
    rare: bool = False
    parts: Mapping[Part, int] | None = None
    ends: tuple[str, str] | None = None
    absent: tuple[str, ...] = ()


def described_columns(
    content: Mapping[str, Any],
    tables: Sequence[Relation],
    folder: Path,
    smallest: int,
    counted: Callable[[str], bool] = lambda _: True,
) -> tuple[DescribedColumn, ...]:
    """Return what released tables show of each column, in their order.

    Parameters
    ----------
    content: ``config``, ``attributes``, ``recoding`` and ``release`` of a report.
    tables: as they are stored.
    folder: that relative paths of hierarchies start from.
    smallest: values of fewer records are not named.
    counted: whether the values of a column of the config are at hand without another pass over the records.
    """
    return Describer(content, tables, folder, smallest, counted).columns()


class Describer:
    """Describes the columns of a release, of which some can be told while their values are at hand.

    The parameters are those of ``described_columns``.
    """

    def __init__(
        self,
        content: Mapping[str, Any],
        tables: Sequence[Relation],
        folder: Path,
        smallest: int,
        counted: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._release = _Release(content, folder, smallest)
        self._tables = [table.stored for table in tables]
        self._counted = counted
        self._told: dict[str, DescribedColumn] = {}

    def tell(self, name: str, counts: Counts) -> None:
        """Describe a column of the first table, unless it has numbers in place of its values.

        Parameters
        ----------
        counts: records of each text.
        """
        if name in self._tables[0].columns and not self._release.in_numbers(name):
            self._told[name] = self._release.column(0, self._tables[0], name, lambda _: True, counts)

    def columns(self) -> tuple[DescribedColumn, ...]:
        """Return all columns in their order."""
        return tuple(
            (self._told.get(name) if place == 0 else None)
            or self._release.column(place, table, name, self._counted)
            for place, table in enumerate(self._tables)
            for name in table.columns
        )


def decimal_sign(content: Mapping[str, Any]) -> str:
    """Return the sign before fractions in a release."""
    if content["release"]["separator"] is None:
        return POINT_SIGN
    config = content["config"]
    sign: str = config["output"].get("decimal") or config["input"]["decimal"]
    return sign


Counts = Mapping[str | None, int]

ByText = Callable[[str], tuple[Part | None, int | None]]
"""Returns whether a text is a value or a group, and its level; None for what is not known."""


class _Known(NamedTuple):
    """What is known of the texts of a column that are neither missing nor ``*``.

    Attributes
    ----------
    part, level: of all of them, unless it depends on the text.
    """

    part: Part | None = None
    level: int | None = None
    by_text: ByText | None = None

    def of(self, text: str) -> tuple[Part | None, int | None]:
        """Return whether a text is a value or a group, and its level."""
        return (self.part, self.level) if self.by_text is None else self.by_text(text)

    def divided(self, texts: Iterable[str], counts: Counts, records: int) -> dict[Part, int]:
        """Return the records with values and with groups; nothing if some texts do not tell.

        Parameters
        ----------
        records: with these texts.
        """
        parts = {Part.EXACT: 0, Part.GENERALIZED: 0}
        if self.by_text is None:
            return {} if self.part is None else {**parts, self.part: records}
        for text in texts:
            part, _ = self.by_text(text)
            if part is None:
                return {}
            parts[part] += counts[text]
        return parts


class _Release:
    """What is known of a release beside its tables."""

    def __init__(self, content: Mapping[str, Any], folder: Path, smallest: int) -> None:
        config, self._levels = content["config"], public_levels(content)
        recoding = {**content["recoding"], "levels": self._levels}
        self._content = {"config": config, "recoding": recoding, "release": content["release"]}
        self._folder, self._smallest = folder, smallest
        self._attributes: Mapping[str, Mapping[str, Any]] = content["attributes"]
        self._settings: Mapping[str, Mapping[str, Any]] = config["attributes"]
        self._decimal = decimal_sign(content)
        self._marker: str | None = config["output"].get("missing")
        self._absent = frozenset({None, *config["input"]["missing"], self._marker, MISSING, ""})
        numbers = content["release"].get("numbers", {})
        self._numbers = {name: self._read(name, each) for name, each in numbers.items()}
        self._owners = {own: name for name, each in numbers.items() for own in each["columns"]}

    def _read(self, name: str, entry: Mapping[str, Any]) -> ReadNumbers:
        own = NumberColumns(name, NumberLabels(self._settings[name]["labels"]))
        return ReadNumbers(own, entry["empty"], entry["high"] == "excluded")

    def in_numbers(self, name: str) -> bool:
        """Return whether a column has numbers in place of labels."""
        return name in self._owners

    def column(
        self,
        place: int,
        table: Relation,
        name: str,
        counted: Callable[[str], bool],
        counts: Counts | None = None,
    ) -> DescribedColumn:
        """Return what a column of a table shows.

        Parameters
        ----------
        counts: records of each text, if they are at hand.
        """
        attribute = self._owners.get(name, name)
        settings = self._settings.get(attribute, {})
        bare = DescribedColumn(place, name, attribute, ValueType.TEXT, table.rows, Listing.NEVER)
        if "grouping" in self._content["recoding"] and name in (GROUP, COUNT):
            return replace(bare, attribute=None, kind=ValueType.INTEGER)
        if name == pseudonym_of(self._content) or not settings:
            return bare
        if not counted(attribute):
            text = table.is_text(name) and settings["role"] == Role.QUASI_IDENTIFIER
            kind = ValueType.TEXT if text else ValueType(settings.get("type") or ValueType.TEXT)
            return replace(bare, kind=kind, listing=Listing.NOT_COUNTED)
        counts = _counts(place, table, name) if counts is None else counts
        if name in self._owners:
            return self._of_numbers(bare, table, counts)
        labels = table.labels.get(name, ColumnLabels())
        return self._of_texts(bare, settings, counts, labels)

    def _of_numbers(self, bare: DescribedColumn, table: Relation, counts: Counts) -> DescribedColumn:
        """Return what a column of numbers in place of labels shows; both of a pair have the same parts."""
        assert bare.attribute is not None, "numbers belong to a quasi-identifier"
        texts = [text for text in counts if text]
        both = labelled(table, self._numbers, self._decimal)
        shown = Part.EXACT if (self._levels or {}).get(bare.attribute) == 0 else Part.GENERALIZED
        special = {SUPPRESSED: Part.SUPPRESSED, MISSING: Part.MISSING}
        parts = dict.fromkeys(Part, 0)
        for label, records in both.dictionary(bare.attribute):
            parts[special.get(label or "", shown)] += records
        kind = _kind_of(texts, self._decimal)
        named = [text for text in texts if counts[text] >= self._smallest]
        return replace(bare, kind=kind, parts=parts, ends=self._ends(kind, named), absent=("",))

    def _of_texts(
        self, bare: DescribedColumn, settings: Mapping[str, Any], counts: Counts, labels: ColumnLabels
    ) -> DescribedColumn:
        """Return what a column shows that has one text for each record."""
        absent = self._absent | (labels.absent.keys() - {SUPPRESSED})
        hidden = settings["role"] == Role.QUASI_IDENTIFIER or "labels" in settings
        stars = counts.get(SUPPRESSED, 0) if hidden else 0
        missing = {text: counts[text] for text in absent if text in counts}
        special = {*absent, *([SUPPRESSED] if hidden else [])}
        texts = [text for text in counts if text is not None and text not in special]
        named = [text for text in texts if counts[text] >= self._smallest]
        kind = ValueType.TEXT
        if settings.get("type") != ValueType.TEXT:
            kind = _kind_of([*texts, *([SUPPRESSED] if stars else [])], self._decimal)
        known = self._known(str(bare.attribute), settings, texts)
        rows = sum(counts.values())
        parts = {Part.SUPPRESSED: stars, Part.MISSING: sum(missing.values())}
        described = replace(
            bare,
            kind=kind,
            rows=rows,
            listing=Listing.MANY,
            rare=len(named) < len(texts),
            parts={**known.divided(texts, counts, rows - sum(parts.values())), **parts},
            ends=self._ends(kind, named),
            absent=self._written(missing),
        )
        if len(texts) > (MOST_VALUES if kind is ValueType.TEXT else MOST_NUMBERS):
            return described
        coded = {**labels.codes, **labels.absent}
        own = [PublishedValue(text, *known.of(text)) for text in in_natural_order(named, self._decimal)]
        own += [PublishedValue(SUPPRESSED, Part.SUPPRESSED)] if stars else []
        own += [PublishedValue(text, Part.MISSING) for text in described.absent]
        values = tuple(replace(each, code=coded.get(each.text)) for each in own)
        return replace(described, listing=Listing.LISTED, values=values)

    def _written(self, missing: Iterable[str | None]) -> tuple[str, ...]:
        """Return how texts of missing values are written; a release is opened with nulls for the marker."""
        marker = self._marker
        return tuple(sorted({text or "" if marker is None else marker for text in missing}))

    def _ends(self, kind: ValueType, texts: Sequence[str]) -> tuple[str, str] | None:
        """Return the smallest and the largest of some numbers or dates; None for texts, or without any."""
        if kind is ValueType.TEXT or not texts:
            return None
        if kind is ValueType.DATE:
            return min(texts), max(texts)
        plain = {text: float(text.replace(self._decimal, POINT_SIGN)) for text in texts}
        return min(texts, key=plain.__getitem__), max(texts, key=plain.__getitem__)

    def _known(self, name: str, settings: Mapping[str, Any], texts: Sequence[str]) -> _Known:
        """Return what is known of the texts of a column that are neither missing nor ``*``."""
        if settings["role"] != Role.QUASI_IDENTIFIER:
            return _Known(Part.GENERALIZED if "labels" in settings else Part.EXACT)
        level = None if self._levels is None else self._levels.get(name)
        if level is not None:
            return _Known(Part.EXACT if level == 0 else Part.GENERALIZED, level)
        if self._content["recoding"].get("aggregate") is not None:
            return _Known(Part.GENERALIZED)
        return self._known_by_text(name, settings, texts)

    def _known_by_text(self, name: str, settings: Mapping[str, Any], texts: Sequence[str]) -> _Known:
        """Return the same for a column whose level varies by record, or is not public."""
        forms, source = content_of(self._content, name)[1], source_of(settings)
        codes = self._attributes.get(name, {}).get("codes")
        source = source if codes is None else CodedSource(source, codes)
        if self._content["config"]["algorithm"].get("labels") in ("interval", "set"):
            return _Known(by_text=self._by_form(forms))
        if isinstance(source, FlatSource):
            return _Known(by_text=self._by_form([CLOSED], 0))
        try:
            levels = source.levels_by_text(texts, self._folder)
        except (OSError, HierarchyError):
            return _Known()  # without its file, or with texts that do not fit it
        if levels is not None:
            return _Known(by_text=lambda text: _known_level(levels[text], shown=source.fixed_height))
        told = self._told_by_form(settings, texts, forms)
        return _Known(by_text=self._by_form(forms)) if told else _Known()

    def _by_form(self, forms: Sequence[Form], level: int | None = None) -> ByText:
        """Return what tells groups, which have one of some forms, from values, which have a level."""

        def known(text: str) -> tuple[Part, int | None]:
            group = any(has_form(text, form, self._decimal) for form in forms)
            return (Part.GENERALIZED, None) if group else (Part.EXACT, level)

        return known

    def _told_by_form(self, settings: Mapping[str, Any], texts: Sequence[str], forms: Sequence[Form]) -> bool:
        """Return whether the form of a text tells a group from a value.

        In a column of texts it does not if some texts are ranges of numbers: values may be such ranges, too.
        """
        if settings.get("type") not in (None, "text"):
            return True
        ranges = [text for text in texts if is_number_range(text, self._decimal)]
        others = [text for text in texts if not any(has_form(text, form, self._decimal) for form in forms)]
        numbers = all(number_in(text, self._decimal) is not None for text in others)
        return not ranges or (settings.get("type") is None and bool(others) and numbers)


def _counts(place: int, table: Relation, name: str) -> Counts:
    """Return the records of each text; in the second table of Anatomy, those that it counts."""
    if place == 0:
        return dict(table.dictionary(name))
    groups = table.group_counts([name, COUNT])
    each = np.array([int(text or 0) for text in groups.values[1]], dtype=np.int64)
    records = np.zeros(len(groups.values[0]), dtype=np.int64)
    np.add.at(records, groups.codes[:, 0], each[groups.codes[:, 1]] * groups.counts)
    return dict(zip(groups.values[0], records.tolist(), strict=True))


def _known_level(possible: frozenset[int], *, shown: bool) -> tuple[Part | None, int | None]:
    """Return whether a text is a value or a group, and its level, by the levels that it can have.

    Parameters
    ----------
    shown: whether levels are public.
    """
    level = next(iter(possible)) if shown and len(possible) == 1 else None
    if possible == {0}:
        return Part.EXACT, level
    return (Part.GENERALIZED if possible and 0 not in possible else None), level


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _kind_of(texts: Sequence[str], decimal: str) -> ValueType:
    """Return the type of some texts: of their records, not of the values that they stand for."""
    if not texts:
        return ValueType.TEXT
    whole = r"-?(?:0|[1-9][0-9]*)"
    # CSVW has no exponents beside decimal commas.
    exponent = r"(?:[eE][+-]?[0-9]+)?" if decimal == POINT_SIGN else ""
    number = rf"{whole}(?:{re.escape(decimal)}[0-9]+)?{exponent}"
    for kind, pattern in ((ValueType.INTEGER, whole), (ValueType.NUMBER, number)):
        if all(map(re.compile(pattern).fullmatch, texts)):
            return kind
    days = all(map(_DAY.fullmatch, texts)) and all(iso_moment(text) is not None for text in texts)
    return ValueType.DATE if days else ValueType.TEXT
