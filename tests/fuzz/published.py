"""What a release says: values and labels, however they are spelled, and which record each row is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.fuzz.cases import MARK, Case
from tests.fuzz.columns import MISSING, NUMERIC, ROOT, Attribute, identity, short
from tests.fuzz.dialects import table_of

Matrix = list[dict[str, str]]


@dataclass(frozen=True)
class Published:
    """A released file.

    Attributes
    ----------
    texts: as stored, nulls empty.
    rows: labels as hierarchies have them, sensitive values by identity, others as stored.
    records: which record of the input each row is; None where the release does not say it.
    """

    texts: Matrix
    rows: Matrix
    records: list[int] | None

    @classmethod
    def read(cls, case: Case, report: Mapping[str, Any], path: Path) -> Published:
        """Read a file as its dialect says."""
        texts = table_of(path, case.output)
        grammar = Grammar(case, report)
        rows = [grammar.row(each) for each in texts]
        records = None
        if case.marked and all(MARK in row for row in rows):
            [marks] = [each.cells for each in case.attributes if each.name == MARK]
            places = {mark: i for i, mark in enumerate(marks)}
            records = [places.get(row[MARK], -1) for row in rows]
        return cls(texts, rows, records)


class Grammar:
    """What a published text means, by column."""

    def __init__(self, case: Case, report: Mapping[str, Any]) -> None:
        self.case = case
        self.numbers = report["release"].get("numbers") or {}
        self.levels = (report.get("recoding") or {}).get("levels") or {}
        self.marker = case.config["output"].get("missing")

    def row(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the values of a row."""
        own = dict(texts)
        for each in self.case.attributes:
            if each.role == "quasi-identifier":
                own[each.name] = self._label(each, texts)
            elif each.role == "sensitive" and each.name in texts:
                own[each.name] = self.value(each, texts[each.name])
        return own

    def value(self, attribute: Attribute, text: str) -> str:
        """Return a sensitive value."""
        if text == self.marker or identity(text, "text") in ("", "?", MISSING):
            return ""
        return identity(self.case.output.read(text) if attribute.kind in NUMERIC else text, attribute.kind)

    def _label(self, attribute: Attribute, texts: Mapping[str, str]) -> str:
        if attribute.labels != "range" and attribute.name in self.numbers:
            return self._of_numbers(attribute, texts)
        text = texts.get(attribute.name, "<no column>")
        if text == self.marker:
            return MISSING
        return (
            identity(self.case.output.read(text), attribute.kind)
            if attribute.kind in NUMERIC
            else identity(text, attribute.kind)
        )

    def _of_numbers(self, attribute: Attribute, texts: Mapping[str, str]) -> str:
        """Return the label of numbers that were published in its place."""
        own = self.numbers[attribute.name]
        cells = [self.case.output.read(texts[name]) for name in own["columns"]]
        if not any(cells):
            return ROOT if own["empty"] == ROOT else MISSING
        if not all(cells):
            return f"half of an interval: {cells}"
        shown = tuple(map(Fraction, cells))
        level = self.levels.get(attribute.name)
        labels = attribute.bounds or {}
        if level is not None and attribute.paths:
            labels = {
                label: labels[label] for path in attribute.paths.values() if (label := path[level]) in labels
            }
        fitting = [
            label
            for label, (low, high) in labels.items()
            if shown == ((low, high) if attribute.labels == "low-high" else ((low + high) / 2,))
        ]
        if fitting:
            # Of a value and an interval around it, the interval is true of the records of both.
            return max(fitting, key=lambda label: labels[label][1] - labels[label][0])
        return f"[{short(shown[0])}, {short(shown[-1])}]" if len(shown) == 2 else f"{cells[0]} is no midpoint"


def of_two_levels(attribute: Attribute, label: str) -> bool:
    """Tell whether a midpoint is that of other labels too, so that it does not tell its level."""
    bounds = attribute.bounds or {}
    if attribute.labels != "midpoint" or label not in bounds:
        return False
    return sum(sum(each) == sum(bounds[label]) for each in bounds.values()) > 1


def expected(case: Case, attribute: Attribute, i: int) -> tuple[str, bool]:
    """Return the text of an unchanged cell in the release, and whether its spelling counts."""
    text, marker = case.text_of(attribute, i), case.config["output"].get("missing")
    missing = attribute.role != "weight" and identity(attribute.cells[i], attribute.kind) in ("", "?", "-9")
    if missing and marker is not None:
        return marker, True
    other_sign = case.output.decimal != case.dialect.decimal and attribute.kind in NUMERIC
    if other_sign:
        return case.output.spell(attribute.cells[i]), False
    return text, True
