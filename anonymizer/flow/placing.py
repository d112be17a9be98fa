"""Columns as attributes, their values placed in the hierarchies that a config gives them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from anonymizer.config.attribute import AttributeSettings, HierarchySettings, Role
from anonymizer.config.model import Config
from anonymizer.hierarchy.placement import (
    LevelRange,
    Placement,
    Unknown,
    build_quasi_identifier,
    build_sensitive_attribute,
)
from anonymizer.hierarchy.source import FlatSource, HierarchySource
from anonymizer.model.table import Column, QuasiIdentifier, SensitiveAttribute

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
