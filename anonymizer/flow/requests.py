"""The columns that a config has read, as it says they are written."""

from __future__ import annotations

from collections.abc import Iterable

from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.data.frames import FrameRelation
from anonymizer.data.open import CSV_SUFFIXES
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest
from anonymizer.errors import InputError
from anonymizer.model.table import COMMA, ValueType


def column_request(config: Config, name: str) -> ColumnRequest:
    """Return how a config has a column read."""
    return typed_request(config, name, config.attributes[name].type)


def typed_request(config: Config, name: str, kind: ValueType | None) -> ColumnRequest:
    """Return how a config has a column read whose type is known from elsewhere; None to detect it."""
    return ColumnRequest(name, kind, config.input.numerals)


def requests(config: Config, names: Iterable[str]) -> list[ColumnRequest]:
    """Return how a config has some columns read, in the order of the names."""
    return [column_request(config, name) for name in names]


def check_number_formats(config: Config, relation: Relation) -> None:
    """Refuse a release that would write numbers in two ways, of which a reader takes one for the other.

    Stored numbers are written into a text file with a decimal point; read again with decimal commas, 1.125
    would be a thousand times as much.

    Raises
    ------
    InputError: naming the column.
    """
    if config.input.numerals != COMMA or isinstance(relation, FrameRelation):
        return
    path = config.output.path
    if path is None or not path.lower().endswith(CSV_SUFFIXES):
        return
    for name in relation.columns:
        if config.attributes[name].role is Role.IDENTIFIER or relation.is_text(name):
            continue
        if any(text is not None and "." in text for text, _ in relation.dictionary(name)):
            raise InputError(
                f"{relation.name}: column '{name}' stores numbers, which {path} would have with "
                "decimal points, while input.decimal is ','; set output.path to a .parquet, or remove "
                "input.decimal"
            )
