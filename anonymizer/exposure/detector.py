"""What looks for one kind of exposure: it finds, says what it found, and names what mends it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

from anonymizer.errors import listed, plural
from anonymizer.exposure.counted import CountedRelease
from anonymizer.exposure.finding import Finding, Kind, Remedy
from anonymizer.exposure.records import ReleasedRecords
from anonymizer.model.table import Role

MOST_NAMES = 6
"""Columns that a sentence names."""


class Said(NamedTuple):
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


class Detector(ABC):
    """Looks for one kind of exposure.

    Class attributes
    ----------------
    kind: of its findings.
    setting: name of its threshold in the config.
    mended: place of its kind in the order of mending: a column that tells a secret is first of all a secret.
    says, says_about: in few words, what a column of a finding does, and what is done to the one it shows;
        ``share``, ``about``, ``by`` and ``sources`` stand for the finding's.
    public: whether the release alone shows what it finds.
    counts_households: whether it counts the records of a household as one.
    """

    kind: ClassVar[Kind]
    setting: ClassVar[str]
    mended: ClassVar[int]
    says: ClassVar[str]
    says_about: ClassVar[str] = "given away by {by} ({share})"
    public: ClassVar[bool] = False
    counts_households: ClassVar[bool] = False

    @abstractmethod
    def find(self, records: ReleasedRecords, threshold: float) -> Iterator[Finding]:
        """Yield what exceeds the threshold."""

    def may_find(self, release: CountedRelease, threshold: float) -> bool:  # noqa: ARG002 - most cannot tell
        """Return whether records have to be read; False only if nothing exceeds the threshold.

        Asked of those that are not public, which look at more than what is published.
        """
        return True

    def left_out(
        self,
        release: ReleasedRecords | CountedRelease,  # noqa: ARG002 - most look at everything
    ) -> str | None:
        """Return what was not looked at; None if everything was."""
        return None

    @abstractmethod
    def sentence(self, finding: Finding, said: Said) -> str:
        """Return what was found, without a capital letter and a dot."""

    @abstractmethod
    def remedy(self, finding: Finding, records: ReleasedRecords) -> Remedy:
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


def as_known(columns: Sequence[str], words: str = "make {}") -> Remedy:
    """Return the remedy that takes columns for what adversaries know."""
    what = "quasi-identifiers" if len(columns) > 1 else "a quasi-identifier"
    return as_role(columns, Role.QUASI_IDENTIFIER, f"{words} {what}")
