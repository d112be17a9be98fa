"""Builders for the sources that a config can name as well."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from anonymizer.errors import HierarchyError
from anonymizer.flow.building.base import Builder
from anonymizer.flow.building.named import named_source
from anonymizer.hierarchy.base import HierarchySource
from anonymizer.hierarchy.flat import FlatSource
from anonymizer.hierarchy.graph import Tree
from anonymizer.hierarchy.sources import make_source
from anonymizer.model.table import Column


class SourceBuilder(Builder):
    """A source with a key in the config."""

    source: ClassVar[str]

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """Return what would stand under the source's key."""

    def build(self, data: Path, column: Column) -> Tree:  # noqa: ARG002 - the column tells all
        """Return the tree that the source builds."""
        source = self._made()
        return source.build(column, Path())

    def _made(self) -> HierarchySource[Any]:
        """Return the source, what it refuses said of the option rather than of a config.

        Raises
        ------
        HierarchyError: the value of the option is refused.
        """
        try:
            return make_source({self.source: self.settings()}, "")
        except HierarchyError as error:
            said = "; ".join(line.partition(": ")[2] for line in str(error).splitlines())
            if "accepted: " not in said:
                said = f"not of this form; accepted: {self.usage()}"
            raise HierarchyError(f"--by {self.name}={self.value}: {said}") from None


class ValuesBuilder(Builder):
    """Every value under ``*``: what small values are merged in, for one."""

    name = "values"
    takes = None

    def build(self, data: Path, column: Column) -> Tree:  # noqa: ARG002 - the column tells all
        """Return two levels."""
        return FlatSource().build(column, Path())


class LikeBuilder(Builder):
    """A copy of a hierarchy that exists."""

    name = "like"
    takes = "FILE or the name of a ready-made hierarchy"

    def build(self, data: Path, column: Column) -> Tree:  # noqa: ARG002 - the column tells all
        """Return its tree."""
        return named_source(self.value).build(column, Path())


class AutoBuilder(SourceBuilder):
    """Groups balanced by the data's frequencies."""

    name = source = "auto"
    takes = None

    def settings(self) -> dict[str, Any]:
        """Return the defaults."""
        return {}


class DateBuilder(SourceBuilder):
    """Month, quarter, year, decade."""

    name = source = "date"
    takes = None

    def settings(self) -> dict[str, Any]:
        """Return the defaults."""
        return {}


class IntervalsBuilder(SourceBuilder):
    """Intervals of these widths."""

    name = source = "intervals"
    takes = "5,10,20"

    def settings(self) -> dict[str, Any]:
        """Return the widths."""
        return {"width": self.value.split(",")}


class MaskBuilder(SourceBuilder):
    """Characters masked from this end."""

    name = source = "mask"
    takes = "right"

    def settings(self) -> dict[str, Any]:
        """Return the end."""
        return {"from": self.value}


class OrderBuilder(SourceBuilder):
    """Groups of so many consecutive values."""

    name = source = "order"
    takes = "2,4"

    def settings(self) -> dict[str, Any]:
        """Return the sizes."""
        return {"sizes": self.value.split(",")}
