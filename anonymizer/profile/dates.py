"""Dates in the forms that people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from anonymizer.model.table import ValueType
from anonymizer.profile.facts import ColumnFacts

_LOOKED_AT = 500


@dataclass(frozen=True)
class DateForm:
    """A way to write a date.

    Attributes
    ----------
    format: as for ``strptime``; empty for ISO 8601.
    hierarchy: settings of a hierarchy that suits it.
    """

    format: str
    hierarchy: Mapping[str, Any]

    def read(self, text: str) -> date | None:
        """Return the day that a text stands for, None where it is of another form."""
        try:
            if not self.format:
                return datetime.fromisoformat(text).date()
            return datetime.strptime(text, self.format).date()
        except ValueError:
            return None


_YEAR_LAST = {"mask": {"from": "left", "steps": [3, 6]}}
_YEAR_LAST_MONTH_FIRST = {"mask": {"from": "left", "steps": [6]}}
_YEAR_FIRST = {"mask": {"from": "right", "steps": [3, 6]}}
_COMPACT = {"mask": {"from": "right", "steps": [2, 4]}}
ISO = DateForm("", {"date": {"levels": ["month", "quarter", "year", "decade"]}})
FORMS = (
    ISO,
    DateForm("%d.%m.%Y", _YEAR_LAST),
    DateForm("%d/%m/%Y", _YEAR_LAST),
    DateForm("%d-%m-%Y", _YEAR_LAST),
    DateForm("%m/%d/%Y", _YEAR_LAST_MONTH_FIRST),
    DateForm("%m-%d-%Y", _YEAR_LAST_MONTH_FIRST),
    DateForm("%Y/%m/%d", _YEAR_FIRST),
    DateForm("%Y.%m.%d", _YEAR_FIRST),
    DateForm("%Y%m%d", _COMPACT),
)
_COMPACT_DAY = re.compile(r"(18|19|20)\d{6}")


def date_form(column: ColumnFacts) -> DateForm | None:
    """Return how the dates of a column are written, None where it holds something else."""
    if column.type is ValueType.DATE:
        return ISO
    if column.type is ValueType.NUMBER or not column.texts:
        return None
    step = -(-len(column.texts) // _LOOKED_AT)
    texts = column.texts[::step]
    compact = column.type is ValueType.INTEGER
    if compact and not all(_COMPACT_DAY.fullmatch(text) for text in texts):
        return None
    forms = FORMS[-1:] if compact else FORMS
    return next((form for form in forms if all(form.read(text) for text in texts)), None)
