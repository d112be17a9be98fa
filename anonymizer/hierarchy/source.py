"""The interface and the registry of hierarchy sources, and the hierarchy of a column without one."""

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
    """Parameters that may all be left out: the key alone, as in ``{auto: }``, stands for the defaults."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "null"]})

    @model_validator(mode="before")
    @classmethod
    def _key_alone(cls, value: Any) -> Any:
        return {} if value is None else value


class HierarchySource(ABC, Generic[S]):
    """One way to come by a hierarchy; ``hierarchy: {NAME: SETTINGS}`` in the config.

    A class with a ``name`` in a module of this room, or behind an entry point of the group
    ``anonymizer.hierarchy_sources``, takes part by being there.

    Attributes
    ----------
    name: the key in the config; a source without one cannot be named there.
    Settings: pydantic model that validates the value under the key.
    rule_built: whether the leaves are exactly the distinct values of the input, rather than those listed.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[BaseModel]]
    rule_built: ClassVar[bool]

    def __init__(self, settings: S) -> None:
        self.settings = settings

    @abstractmethod
    def build(self, column: Column, folder: Path) -> Tree:
        """Return the tree for a column, nodes keyed ``(level, label)``, all leaves at level 0.

        Missing values are no business of a source: they are placed afterwards.

        Parameters
        ----------
        column: whose values the hierarchy is for.
        folder: what relative paths in the settings are relative to.

        Raises
        ------
        HierarchyError: the settings do not fit the column, or what they name is not one tree.
        """

    def files(self, folder: Path) -> list[Path]:  # noqa: ARG002 - sources without files need no folder
        """Return the files that the hierarchy is read from."""
        return []

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:
        """Return the levels at which all of some published texts can be, told without the input's values.

        Parameters
        ----------
        texts: distinct, without ``*``, ``<missing>`` and the empty text; none where all records have ``*``.
        folder: what relative paths in the settings are relative to.

        Returns
        -------
        None where the settings alone do not tell, as for a tree that a rule builds from the input's values.

        Raises
        ------
        HierarchyError: what the settings name is not one tree.
        OSError: a file is not at hand.
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
        """Return what of a column, beside a value itself, decides where the value stands.

        In plain JSON types; where it is equal for two columns, values that both have stand alike. A source
        whose tree is built by a rule is taken to look at all values and counts, unless it knows better.
        """
        if not self.rule_built:
            return {}
        looked_at = [column.present, column.counts[: len(column.present)].tolist()]
        return {"values_sha256": hashlib.sha256(json.dumps(looked_at).encode()).hexdigest()}

    def as_for(self, column: Column, before: Mapping[str, Any]) -> HierarchySource[Any]:
        """Return the source that places the values of a column as those of an earlier one were placed.

        Parameters
        ----------
        before: what the tree of the earlier column depended on, see ``depends_on``.

        Raises
        ------
        HierarchyError: there is none, as the tree grew from the earlier values.
        """
        if self.depends_on(column) == before:
            return self
        raise HierarchyError(
            f"column '{column.name}': {self.describe()} depends on the records that it is built for, so "
            "further records would get another one; use a hierarchy that does not: intervals, file, tree, or "
            "order with values"
        )

    def describe(self) -> str:
        """Return what a message calls this hierarchy."""
        return f"hierarchy '{self.name}'"


class FlatSource(HierarchySource[Settings]):
    """Two levels: the value and ``*``. It has no name, as leaving ``hierarchy`` out is how to ask for it."""

    rule_built = True

    def __init__(self) -> None:
        super().__init__(Settings())

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return every value under the root."""
        return tree_of_rows([column.present])

    def depends_on(self, column: Column) -> dict[str, Any]:  # noqa: ARG002 - on none
        """Return nothing: every value stands under the root."""
        return {}

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the level of values, or that of ``*`` where there is nothing else."""
        return frozenset({0 if texts else 1})

    def describe(self) -> str:
        """Return what a message calls this hierarchy."""
        return "hierarchy of two levels"


HIERARCHY_SOURCES: Registry[HierarchySource[Any]] = Registry(
    "hierarchy source",
    HierarchySource,
    "anonymizer.hierarchy",
    "anonymizer.hierarchy_sources",
)
"""Every ``HierarchySource`` with a name."""


def make_source(mapping: Mapping[str, Any], where: str) -> HierarchySource[Any]:
    """Return the source that a mapping of one key, as under ``hierarchy:``, describes.

    Parameters
    ----------
    mapping: the source's name, to the value that its settings validate.
    where: what messages call the place of the mapping.

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
