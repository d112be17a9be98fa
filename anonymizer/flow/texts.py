"""What the texts of an input leave in doubt, said where a run takes them as they are."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.config.model import Config
from anonymizer.flow.constraints import required_size
from anonymizer.model.table import COMMA, Column, ValueType
from anonymizer.profile.column_statistics import BLANKS, SAMPLE, differing_by_blanks, writing_of
from anonymizer.report.distribution import smallest_shown


def text_warnings(config: Config, columns: Sequence[Column]) -> list[str]:
    """Return which columns have values that differ by blanks, or numbers that are read as text.

    Values so few that their number could tell of somebody are not counted.
    """
    smallest = smallest_shown(required_size(config))
    warnings = []
    for column in columns:
        if column.type is not ValueType.TEXT:
            continue
        differing = differing_by_blanks(column.present)
        if differing:
            number = f"{differing:,}" if differing >= smallest else "a few"
            warnings.append(f"column '{column.name}': {number} of its values differ {BLANKS}")
        if _is_read_as_text(column):
            warnings.append(
                f"column '{column.name}' holds numbers with decimal commas, which are read as text; "
                "set input.decimal to ','"
            )
    return warnings


def _is_read_as_text(column: Column) -> bool:
    """Tell whether the texts of a column, or of many of them some, are numbers in any case."""
    texts = column.present[:: len(column.present) // SAMPLE + 1]
    found = writing_of({column.name: [(text, 1) for text in texts]}, None)
    return column.numerals != COMMA and found.numerals == COMMA
