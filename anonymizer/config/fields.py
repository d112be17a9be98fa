"""The JSON Schema of a settings class's fields, bounds of exact numbers included."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo

from anonymizer.config.words import JsonSchema

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def key_of(name: str, field: FieldInfo) -> str:
    """Return the key that a field has in the config: its alias if there is one."""
    return field.validation_alias if isinstance(field.validation_alias, str) else name


def keys(model: type[BaseModel]) -> dict[str, str]:
    """Return the field names of a settings class by their key in the config."""
    return {key_of(name, field): name for name, field in model.model_fields.items()}


@lru_cache(maxsize=512)
def field_schema(model: type[BaseModel], name: str) -> JsonSchema:
    """Return the schema of one field of a settings class, its ``$defs`` beside it."""
    field = model.model_fields[name]
    annotation: Any = Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
    schema = TypeAdapter(annotation).json_schema()
    schema.update(field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {})
    if field.examples:
        schema["examples"] = field.examples
    return _with_bounds(schema, field)


def _with_bounds(schema: JsonSchema, field: FieldInfo) -> JsonSchema:
    """Add the bounds of a field whose own schema lacks them, as that of an exact number does."""
    for limit in field.metadata:
        for attribute, keyword in _BOUNDS.items():
            bound = getattr(limit, attribute, None)
            if bound is not None:
                number = int(bound) if bound == int(bound) else float(bound)
                _add_bound(schema, keyword, number)
    return schema


def with_field_bounds(properties: JsonSchema, model: type[BaseModel]) -> JsonSchema:
    """Return the properties of a settings class with the bounds of its exact numbers."""
    names = keys(model)
    return {
        key: _with_bounds(dict(value), model.model_fields[names[key]]) for key, value in properties.items()
    }


def _add_bound(schema: JsonSchema, keyword: str, number: int | float) -> None:
    for part in [schema, *schema.get("anyOf", [])]:
        if part.get("type") in {"integer", "number"}:
            part.setdefault(keyword, number)


def plain(value: Any) -> Any:
    """Return a dumped setting in plain JSON types; a decimal becomes the number that reads back as itself.

    A decimal with more digits than a JSON reader keeps becomes a text, which the config accepts as well.
    """
    match value:
        case Decimal():
            return _number(value)
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case str():
            return str(value)
        case _:
            return value


def _number(value: Decimal) -> int | float | str:
    if value == value.to_integral_value() and value.adjusted() < 16:
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)
