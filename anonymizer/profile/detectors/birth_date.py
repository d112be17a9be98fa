"""Dates of birth."""

from __future__ import annotations

from anonymizer.profile.dates import date_form
from anonymizer.profile.detectors.base import Detector, Finding, looked_at
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.words import names_any

BIRTH_TERMS = (
    *(
        "birth",
        "birthday",
        "birthdate",
        "dob",
        "born",
        "bday",
        "date of birth",
        "geb",
        "geburt",
        "geburtsdatum",
    ),
    *("geboren", "naissance", "nacimiento", "nascita", "geboorte", "nascimento"),
)
_GENERATIONS = 40
"""Years that dates of birth span at least."""

_LIFE = 125
"""Years that they span at most; so few different days say nothing."""

_OLDEST = 1895


class DatesOfBirth(Detector):
    """Days of birth, by the name of the column, or as the only dates that span generations."""

    name = "dates of birth"

    def look(self, column: ColumnFacts) -> Finding | None:
        """Read the dates, in whatever form they are written."""
        form = date_form(column)
        if form is None:
            return None
        named = names_any(column.name, BIRTH_TERMS)
        days = sorted(day for text in looked_at(column) if (day := form.read(text)) is not None)
        span = days[-1].year - days[0].year
        if not (named or (days[0].year >= _OLDEST and _GENERATIONS <= span <= _LIFE < column.distinct)):
            return None
        what = "named as dates of birth" if named else f"dates that span {span} years"
        return Finding(self.name, f"{what}, {column.distinct:,} different", certain=named, general=True)
