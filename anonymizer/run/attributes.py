"""The columns of a config as attributes with their hierarchies, constraints and sampling weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from anonymizer.config.attribute import AttributeSettings, HierarchySettings, Role
from anonymizer.config.model import Config
from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.data.frames import FrameRelation
from anonymizer.data.relation import Relation
from anonymizer.data.source import CSV_FILES
from anonymizer.data.table import ColumnRequest
from anonymizer.errors import DataError, InputError, suggestion
from anonymizer.hierarchy.placement import (
    LevelRange,
    Placement,
    Unknown,
    build_quasi_identifier,
    build_sensitive_attribute,
)
from anonymizer.hierarchy.source import FlatSource, HierarchySource
from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import (
    COMMA,
    POINT,
    Column,
    Numerals,
    QuasiIdentifier,
    SensitiveAttribute,
    Table,
    ValueType,
)
from anonymizer.privacy.base import (
    AttackModel,
    ClassConstraint,
    ClassModel,
    Constraint,
    PrivacyModel,
    ReleaseConstraint,
    TableConstraint,
    TableModel,
)


def describe_attributes(config: Config, table: Table) -> dict[str, Any]:
    """Return role, type and hierarchy digest by column, in the order of the config."""
    types = {each.name: each.column.type.value for each in table.quasi_identifiers}
    types |= {each.name: each.column.type.value for each in table.sensitive}
    return {
        name: {
            "role": settings.role.value,
            "type": types.get(name),
            "hierarchy_sha256": hierarchy_digest(settings.hierarchy, config.folder),
        }
        for name, settings in config.attributes.items()
    }


def hierarchy_digest(settings: HierarchySettings | None, folder: Path) -> str | None:
    """Return the SHA-256 of a hierarchy's definition: its files, wherever they lie, else its parameters.

    Of the definition, not of the tree: a tree built from the data would tell of the data.
    """
    if settings is None:
        return None
    source = settings.build()
    files = source.files(folder)
    definition = (
        {"source": settings.source, "unknown": settings.unknown.value} if files else settings.to_dict()
    )
    digest = hashlib.sha256(_canonical(definition))
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def hierarchy_files(config: Config) -> list[Path]:
    """Return the files that the hierarchies of a config are read from."""
    given = [each.hierarchy for each in config.attributes.values() if each.hierarchy is not None]
    return [path for settings in given for path in settings.build().files(config.folder)]


def _canonical(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False).encode()


def bind(
    model: PrivacyModel, attribute: str | None = None, settings: ConstraintSettings | None = None
) -> Constraint:
    """Return a model as a constraint on a sensitive attribute."""
    combined = settings is not None and settings.quasi_identifiers == "combined"
    is_value = settings is not None and settings.missing_sensitive == "value"
    if isinstance(model, ClassModel):
        return ClassConstraint(attribute, combined, is_value, model=model)
    if isinstance(model, AttackModel):
        return ReleaseConstraint(attribute, combined, is_value, model=model)
    assert isinstance(model, TableModel)
    return TableConstraint(attribute, combined, is_value, model=model)


def constraints_of(config: Config, sensitive: Sequence[str]) -> list[Constraint]:
    """Return the constraints in their order; one without ``attribute`` applies to each attribute by itself.

    Parameters
    ----------
    sensitive: names of the sensitive attributes, in the order of the file.
    """
    return [bound for settings in config.constraints for bound in _expand(settings, sensitive)]


def _expand(settings: ConstraintSettings, sensitive: Sequence[str]) -> Iterator[Constraint]:
    model: PrivacyModel = settings.build()
    if not model.needs_sensitive:
        yield bind(model)
        return
    for name in [settings.attribute] if settings.attribute is not None else sensitive:
        yield bind(model, name, settings)


def required_size(config: Config) -> int | None:
    """Return the largest k that the constraints ask for, None when none has one."""
    sizes = [getattr(settings.settings, "k", None) for settings in config.constraints]
    return max((size for size in sizes if size is not None), default=None)


def probes(attribute: SensitiveAttribute | None, models: Sequence[type[PrivacyModel]]) -> list[Constraint]:
    """Return constraints with neutral thresholds that measure all there is to measure.

    Parameters
    ----------
    attribute: a sensitive attribute; None for the models that need none.
    """
    found: list[Constraint] = []
    for model in models:
        if model.sensitive and attribute is None:
            continue
        fitting = (
            each for each in model.probes(attribute) if each.needs_sensitive == (attribute is not None)
        )
        found.extend(bind(probe, None if attribute is None else attribute.name) for probe in fitting)
    return found


def positions(config: Config, sensitive: Sequence[str]) -> list[int]:
    """Return for each bound constraint its position in the config."""
    return [
        position for position, settings in enumerate(config.constraints) for _ in _expand(settings, sensitive)
    ]


NO_SOURCES: Mapping[str, HierarchySource[Any]] = MappingProxyType({})

APPLIED_REMEDY = "leave these records out, or do the earlier run again with unknown: top"
"""What would do for values that a hierarchy lacks, where an earlier run binds the hierarchies."""


def quasi_identifiers(
    config: Config,
    columns: Mapping[str, Column],
    sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES,
) -> tuple[QuasiIdentifier, ...]:
    """Return the quasi-identifiers among some columns with their hierarchies.

    Parameters
    ----------
    sources: of hierarchies by name, in place of the config's.
    """
    return tuple(
        _quasi_identifier(config, column, config.attributes[name], sources.get(name))
        for name, column in columns.items()
        if config.attributes[name].role is Role.QUASI_IDENTIFIER
    )


def sensitive_attributes(config: Config, columns: Mapping[str, Column]) -> tuple[SensitiveAttribute, ...]:
    """Return the sensitive attributes among some columns with the hierarchies that they have."""
    return tuple(
        _sensitive_attribute(config, column, config.attributes[name])
        for name, column in columns.items()
        if config.attributes[name].role is Role.SENSITIVE
    )


def _placement(config: Config, settings: HierarchySettings | None) -> Placement:
    unknown = Unknown.ERROR if settings is None else Unknown(settings.unknown.value)
    placement = Placement(config.folder, unknown, config.input.missing)
    return placement if config.apply is None else replace(placement, remedy=APPLIED_REMEDY)


def _quasi_identifier(
    config: Config, column: Column, settings: AttributeSettings, source: HierarchySource[Any] | None
) -> QuasiIdentifier:
    levels = LevelRange()
    if settings.levels is not None:
        levels = LevelRange(settings.levels.min or 0, settings.levels.max)
    placement, weight = _placement(config, settings.hierarchy), float(settings.weight)
    if settings.hierarchy is not None:
        source = source or settings.hierarchy.build()
        return build_quasi_identifier(column, source, placement, weight, levels)
    flat = build_quasi_identifier(column, FlatSource(), placement, weight, levels)
    return replace(flat, by_range=column.numbers is not None)


def _sensitive_attribute(config: Config, column: Column, settings: AttributeSettings) -> SensitiveAttribute:
    distance = None if settings.distance is None else settings.distance.value
    if settings.hierarchy is None:
        return SensitiveAttribute(column, distance=distance)
    source = settings.hierarchy.build()
    return build_sensitive_attribute(column, source, _placement(config, settings.hierarchy), distance)


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
    if path is None or not CSV_FILES.named(path):
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


def weight_columns(config: Config) -> list[str]:
    """Return the columns of sampling weights that attacks of a config name."""
    named = (getattr(each.settings, "weights", None) for each in config.attacks)
    return sorted({name for name in named if name is not None})


def check_weight_columns(relation: Relation, names: Sequence[str]) -> None:
    """Refuse weights that a file has not.

    Raises
    ------
    InputError: naming the column.
    """
    for name in names:
        if name not in relation.columns:
            what = f"{relation.name}: has no column of weights '{name}'"
            raise InputError(f"{what}; {suggestion(name, relation.columns)}")


def weights_of(source: str, name: str, texts: Sequence[str | None], numerals: Numerals = POINT) -> FloatArray:
    """Return the weights that texts stand for, shape (texts,).

    Raises
    ------
    DataError: one is not a positive number.
    """
    found = (None if text is None else numerals.number(text) for text in texts)
    weights = np.array([np.nan if each is None else each for each in found], dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        text = texts[int(wrong[0])]
        raise DataError(f"{source}: column '{name}' holds {text!r}; a weight must be a positive number")
    return weights
