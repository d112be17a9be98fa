"""A table of a database as a release: made in one transaction that ends when all else is in place."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path

from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions, TableName
from anonymizer.errors import OutputError
from anonymizer.system import Closing

COMMENT = "anonymizer release"
"""How the comment of a released table begins; a table without it is never replaced."""


class ReleaseTable(Closing):
    """A table that a release is written to: ``write``, ``read`` and ``commit`` in a with statement.

    What is written is to be seen by nobody else before ``commit``; leaving without it undoes all.

    Attributes
    ----------
    source: what messages call the database; never with a password.
    table: as the config names it.
    overwrite: whether an earlier release may be replaced.
    """

    def __init__(self, source: str, table: TableName, *, overwrite: bool) -> None:
        self.source = source
        self.table = table
        self.overwrite = overwrite

    @property
    def title(self) -> str:
        """What reports and messages call the table."""
        return f"{self.source}#{self.table}"

    @abstractmethod
    def check(self) -> None:
        """Check before a search what can be: that the database is there and the table may be made.

        Raises
        ------
        OutputError: it may not.
        """

    @abstractmethod
    def write(self, release: Path, options: EngineOptions) -> None:
        """Begin a transaction, and make a table of the rows of a Parquet file in their order.

        Raises
        ------
        OutputError: the database refuses.
        """

    @abstractmethod
    def read(self, scratch: Path, options: EngineOptions) -> Relation:
        """Open what was written, as it is read inside the transaction.

        Parameters
        ----------
        scratch: a folder for temporary files.

        Raises
        ------
        DataError: it cannot be read.
        """

    @abstractmethod
    def commit(self, sha256: str) -> None:
        """Replace the earlier release, say in the table's comment what it is, and end the transaction.

        Parameters
        ----------
        sha256: of the release; see ``digest``.

        Raises
        ------
        OutputError: the database refuses; all is as it was.
        """

    @abstractmethod
    def close(self) -> None:
        """Undo what was not committed, and leave the database; a second call does nothing."""

    def refuse_existing(self, found: str | None, *, exists: bool) -> None:
        """Check that nothing but an earlier release that is to be replaced has the table's name.

        Parameters
        ----------
        found: the comment of what has it.

        Raises
        ------
        OutputError: there is another table, or a release that may not be replaced.
        """
        if not exists:
            return
        if found is None or not found.startswith(COMMENT):
            raise OutputError(
                f"{self.source}: '{self.table}' exists and is not a release, which its comment would say; "
                "set output.table to another name, or drop it yourself"
            )
        if not self.overwrite:
            raise OutputError(
                f"{self.source}: table '{self.table}' holds a release; replace it with --overwrite, "
                "or set output.table to another name"
            )

    def refusal(self, reason: str) -> OutputError:
        """Return the error for a database that refuses."""
        return OutputError(
            f"{self.source}: table '{self.table}' cannot be written: {reason}; nothing was released"
        )


def described(sha256: str) -> str:
    """Return the comment of a released table."""
    return f"{COMMENT}, SHA-256 of its sorted CSV {sha256}"
