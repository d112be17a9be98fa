"""What looks for one kind of exposure: it finds, says what it found, and names what mends it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from anonymizer.errors import listed, plural
from anonymizer.exposure.finding import Finding, Kind
from anonymizer.exposure.records import ReleasedRecords
from anonymizer.model.table import Role

MOST_NAMES = 6
"""Columns that a sentence names."""


@dataclass(frozen=True)
class Said:
    """The numbers of a finding in words.

    Attributes
    ----------
    number: of units, a small one masked.
    of: the number, and of how many units it is.
    share: in percent.
    few: the units that a value is expected to have, such as 5 records.
    """

    number: str
    of: str
    share: str
    few: str


@dataclass(frozen=True)
class Remedy:
    """What mends a finding.

    Attributes
    ----------
    words: what to do.
    roles: new role of each column.
    withheld: columns that are read, but no longer released.
    """

    words: str
    roles: Mapping[str, Role] = field(default_factory=dict)
    withheld: tuple[str, ...] = ()


class Detector(ABC):
    """Looks for one kind of exposure.

    Class attributes
    ----------------
    kind: of its findings.
    setting: name of its threshold in the config.
    public: whether the release alone shows what it finds.
    """

    kind: ClassVar[Kind]
    setting: ClassVar[str]
    public: ClassVar[bool] = False

    @abstractmethod
    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        """Yield what exceeds the threshold."""

    def left_out(self, records: ReleasedRecords) -> str | None:  # noqa: ARG002 - most look at everything
        """Return what was not looked at; None if everything was."""
        return None

    @abstractmethod
    def sentence(self, finding: Finding, said: Said) -> str:
        """Return what was found, without a capital letter and a dot."""

    @abstractmethod
    def remedy(self, finding: Finding, roles: Mapping[str, Role]) -> Remedy:
        """Return what mends a finding."""


def named(columns: Sequence[str]) -> str:
    """Return names of columns as a list in words, without an end that nobody reads.

    >>> named(["a", "b"]), named([f"q{n}" for n in range(9)])[-18:]
    ("'a' and 'b'", 'and 3 more columns')
    """
    shown = [f"'{each}'" for each in columns[:MOST_NAMES]]
    more = len(columns) - len(shown)
    return listed([*shown, *([plural(more, "more column")] if more else [])])


def as_role(columns: Sequence[str], role: Role, words: str) -> Remedy:
    """Return the remedy that gives columns a role; ``words`` have a place for their names."""
    return Remedy(words.format(named(columns)), dict.fromkeys(columns, role))
