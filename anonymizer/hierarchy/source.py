"""The interface and the registry of hierarchy sources, and the source of a column without ``hierarchy``."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.graph import Tree, tree_of_rows
from anonymizer.model.table import Column, ValueType
from anonymizer.plugins import Registry, Settings

S = TypeVar("S", bound=BaseModel)


class OptionalSettings(Settings):
    """Parameters that are all optional: the key alone, as in ``{auto: }``, means the defaults."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "null"]})

    @model_validator(mode="before")
    @classmethod
    def _key_alone(cls, value: Any) -> Any:
        return {} if value is None else value


class HierarchySource(ABC, Generic[S]):
    """One way to build a hierarchy; ``hierarchy: {NAME: SETTINGS}`` in the config.

    A class with a ``name`` in a module of this room, or in an entry point of the group
    ``anonymizer.hierarchy_sources``, is found without registration.

    Attributes
    ----------
    name: the key in the config; a source without a name has no key.
    Settings: pydantic model that validates the value under the key.
    rule_built: whether the leaves are the distinct values of the input; if not, the source lists them.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[BaseModel]]
    rule_built: ClassVar[bool]

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def build(self, column: Column, folder: Path) -> Tree:
        """Return the tree for a column, nodes keyed ``(level, label)``, all leaves at level 0.

        Missing values are placed afterwards.

        Parameters
        ----------
        column: with the values to generalize.
        folder: that relative paths in the settings start from.

        Raises
        ------
        HierarchyError: the settings do not fit the column, or the result is not one tree.
        """

    @property
    def fixed_height(self) -> bool:
        """Whether the settings alone decide the number of levels; if not, no level of it is public."""
        return not self.rule_built

    def files(self, folder: Path) -> list[Path]:  # noqa: ARG002 - sources without files need no folder
        """Return the files of the hierarchy."""
        return []

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:
        """Return the levels that can have all of some published texts, derived without the input's values.

        Parameters
        ----------
        texts: distinct, without ``*``, ``<missing>`` and the empty text; empty if all records have ``*``.
        folder: that relative paths in the settings start from.

        Returns
        -------
        None if the settings do not decide it, as for a rule that builds a tree from the input's values.

        Raises
        ------
        HierarchyError: the result is not one tree.
        OSError: a file cannot be read.
        """
        if self.rule_built:
            return None
        counts = np.ones(len(texts), dtype=np.int64)
        tree = self.build(Column("of the release", ValueType.TEXT, tuple(texts), counts, None, None), folder)
        top = max(tree)
        by_level: dict[int, set[str]] = {}
        for level, label in tree:
            by_level.setdefault(level, set()).add(label)
        if not texts:
            return frozenset({top[0]} if top[1] == "*" else ())
        return frozenset(level for level, labels in by_level.items() if labels.issuperset(texts))

    def depends_on(self, column: Column) -> dict[str, Any]:
        """Return the properties of a column, besides a value itself, that decide the place of the value.

        In plain JSON types; if they are equal for two columns, common values have equal places. By default, a
        tree that a rule builds depends on all values and counts.
        """
        if not self.rule_built:
            return {}
        return digest([column.present, column.counts[: len(column.present)].tolist()])

    def as_for(self, column: Column, before: Mapping[str, Any]) -> HierarchySource[Any]:
        """Return a source that places the values of a column as those of an earlier one.

        Parameters
        ----------
        before: ``depends_on`` of the earlier column.

        Raises
        ------
        HierarchyError: the tree depends on the earlier values, so that there is no such source.
        """
        if self.depends_on(column) == before:
            return self
        raise HierarchyError(
            f"column '{column.name}': {self.describe()} depends on the records, so new records would get "
            "another one; use intervals, file, tree, or order with values"
        )

    def describe(self) -> str:
        """Return the name of this hierarchy in messages."""
        return f"hierarchy '{self.name}'"


class FlatSource(HierarchySource[Settings]):
    """Two levels: the value and ``*``; the source of a column without ``hierarchy``."""

    rule_built = True

    def __init__(self) -> None:
        super().__init__(Settings())

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return every value under the root."""
        return tree_of_rows([column.present])

    fixed_height = True

    def depends_on(self, column: Column) -> dict[str, Any]:  # noqa: ARG002 - on none
        """Return nothing: every value is under the root."""
        return {}

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return level 0, or level 1 if all records have ``*``."""
        return frozenset({0 if texts else 1})

    def describe(self) -> str:
        """Return the name of this hierarchy in messages."""
        return "hierarchy of two levels"


def digest(content: Any) -> dict[str, Any]:
    """Return the digest of values in plain JSON types, for ``HierarchySource.depends_on``."""
    return {"values_sha256": hashlib.sha256(json.dumps(content).encode()).hexdigest()}


HIERARCHY_SOURCES: Registry[HierarchySource[Any]] = Registry(
    "hierarchy source",
    HierarchySource,
    "anonymizer.hierarchy",
    "anonymizer.hierarchy_sources",
)
"""Every ``HierarchySource`` with a name."""


def make_source(mapping: Mapping[str, Any], where: str) -> HierarchySource[Any]:
    """Return the source for a mapping of one key, as under ``hierarchy:``.

    Parameters
    ----------
    mapping: the source's name with its settings.
    where: the place of the mapping in messages.

    Raises
    ------
    HierarchyError: not one key, or settings that the source refuses.
    InputError: no source has the name.
    """
    if len(mapping) != 1:
        raise HierarchyError(f"{where}: {sorted(mapping)}; accepted: one of {', '.join(HIERARCHY_SOURCES)}")
    [(name, value)] = mapping.items()
    kind = HIERARCHY_SOURCES[name]
    try:
        return kind(kind.Settings.model_validate(value))
    except ValidationError as error:
        faults = [
            ".".join([where, name, *map(str, fault["loc"])])
            + f": {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False, include_context=False)
        ]
        raise HierarchyError("\n".join(faults)) from None
