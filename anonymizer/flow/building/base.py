"""What a way to build a hierarchy is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar

from anonymizer.errors import InputError
from anonymizer.hierarchy.graph import Tree
from anonymizer.model.table import Column


class Builder(ABC):
    """One way to build a hierarchy for a column of a data file; ``--by NAME`` or ``--by NAME=VALUE``.

    A class with a ``name`` in a module of this room, or behind an entry point of the group
    ``anonymizer.hierarchy_builders``, takes part by being there.

    Attributes
    ----------
    name: how the command line names it.
    takes: what stands after ``=``, such as ``widths``; None where nothing does.

    Parameters
    ----------
    value: what stands after ``=``; the empty text where nothing does.

    Raises
    ------
    InputError: a value that is missing, or one too many.
    """

    name: ClassVar[str]
    takes: ClassVar[str | None]

    def __init__(self, value: str) -> None:
        if self.takes is None and value:
            raise InputError(f"--by {self.name}={value}: takes no value; accepted: {self.usage()}")
        if self.takes is not None and not value:
            raise InputError(f"--by {self.name}: needs a value; accepted: {self.usage()}")
        self.value = value

    @classmethod
    def usage(cls) -> str:
        """Return how it is asked for."""
        return cls.name if cls.takes is None else f"{cls.name}={cls.takes}"

    @abstractmethod
    def build(self, data: Path, column: Column) -> Tree:
        """Return the tree for a column.

        Parameters
        ----------
        data: the file that the column is of.
        column: as read from it, with a value at least.

        Raises
        ------
        InputError: the value does not fit the column, or what it names is not there.
        HierarchyError: the values make no tree.
        """
