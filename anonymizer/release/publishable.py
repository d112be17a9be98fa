"""What is published of an input, ready to be written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from anonymizer.data.relation import (
    CountedRows,
    CountedWriter,
    Projection,
    RecodedRows,
    RecodedWriter,
    Relation,
)
from anonymizer.errors import AuditFailed
from anonymizer.release.formats import release_format
from anonymizer.release.order import RowOrder
from anonymizer.release.write import write_release


class Publishable(ABC):
    """One table of a release."""

    @abstractmethod
    def write(self, path: Path, order: RowOrder) -> None:
        """Write it as the suffix of the path says.

        Raises
        ------
        OutputError: the suffix is unknown, or the file cannot be written.
        """

    def compare(self, release: Relation) -> None:  # noqa: B027 - most need nothing more than the audit
        """Compare what was written, and read back, with what was to be written, beyond what the audit does.

        Raises
        ------
        AuditFailed: it is something else.
        """


@dataclass(frozen=True, eq=False)
class FromRecords(Publishable):
    """Found by looking at every record once more."""

    relation: Relation
    projection: Projection

    def write(self, path: Path, order: RowOrder) -> None:
        """Write the records."""
        write_release(self.relation, self.projection, path, order)


@dataclass(frozen=True, eq=False)
class FromTable(Publishable):
    """Found from the frequency table, which tells all that is published."""

    writer: CountedWriter
    rows: CountedRows

    def write(self, path: Path, order: RowOrder) -> None:
        """Write the rows as often as they count."""
        release_format(path).write_counted(self.writer, order.normalize_input(self.rows), path)


@dataclass(frozen=True, eq=False)
class FromEngine(Publishable):
    """Found by the engine, which joins the records to what becomes of them."""

    writer: RecodedWriter
    rows: RecodedRows

    def write(self, path: Path, order: RowOrder) -> None:
        """Write the records."""
        release_format(path).write_recoded(self.writer, self.rows, path, order.secret())

    def compare(self, release: Relation) -> None:
        """Compare whole records: the audit does not see what stands beside the columns that it counts."""
        reader = release.recoded_writer
        if reader is None or not isinstance(self.writer, type(reader)):
            raise AuditFailed(f"{release.name}: was read back by another engine than it was written by")
        if reader.own_checksum(self.rows.labels) != self.writer.checksum(self.rows):
            raise AuditFailed(f"{release.name}: some record is not one of the input as recoded")
