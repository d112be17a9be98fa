"""Records of a relation to be written together with further ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anonymizer.engines.base import Relation


@dataclass(frozen=True)
class AppendedFile:
    """A file of further records.

    Attributes
    ----------
    path: of the file.
    compare: called with it once it is read; raises where it is not what was to be written.
    """

    path: Path
    compare: Callable[[Relation], None]


class AppendWriter(ABC):
    """Writes the records of a relation and of a file, all in one order, so that nothing tells them apart.

    The file has the same columns as the relation, in whatever order, and is of the kind that the relation
    was read from: CSV for what was separated text, else Parquet.
    """

    @abstractmethod
    def write_csv(self, further: AppendedFile, path: Path, separator: str, secret: bytes | None) -> None:
        """Write UTF-8 CSV with a header; gzipped for ``.gz``.

        Parameters
        ----------
        further: the file.
        secret: random bytes that shuffle the records; None to sort them by all columns, left to right, texts
            by code point, a null as the empty text.

        Raises
        ------
        OutputError: the file cannot be written.
        DataError: a column holds another type in the further records, or what the relation reads has changed.
        """

    @abstractmethod
    def write_parquet(self, further: AppendedFile, path: Path, secret: bytes | None) -> None:
        """Write Parquet, columns in their own type; all else is as for ``write_csv``."""
