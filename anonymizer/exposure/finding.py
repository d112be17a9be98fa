"""Findings about a release, each with the number that it rests on, and the verdict of them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from anonymizer.model.table import Role, ValueType

ROWS_ARE_PERSONS = "rows-are-persons"
"""The warning that rows may be no persons, as it is acknowledged."""


class Kind(StrEnum):
    """What is found, by harm: the first is the worst."""

    SINGLED_OUT = "singled-out"
    UNIT = "unit"
    UNDONE = "undone"
    COMPUTED = "computed"
    PREDICTS = "predicts"
    RARE_VALUES = "rare-values"


@dataclass(frozen=True)
class Remedy:
    """What mends a finding.

    Attributes
    ----------
    words: what to do.
    roles: new role of each column.
    grouped: columns whose values are released in groups that enough units share, of texts with the fewest
        records of a value that stays as it is, else None.
    rounded: width and beginning of the intervals whose middle is released, of each column.
    counted: key of units that k is to count, too; None without one.
    like: sensitive column whose constraints the new sensitive ones get, too; None without one.
    types: of the values of all these columns.
    """

    words: str
    roles: Mapping[str, Role] = field(default_factory=dict)
    grouped: Mapping[str, int | None] = field(default_factory=dict)
    rounded: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    counted: str | None = None
    like: str | None = None
    types: Mapping[str, ValueType] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """Something that a release shows beyond its constraints.

    Attributes
    ----------
    columns: that show it, the one that does most first.
    about: the column that is shown, such as the sensitive one that is predicted; None without one.
    records: that it holds for, or units where these are counted.
    share: of all of them; for ``PREDICTS`` the share of right guesses.
    threshold: of the config; more exceeds it.
    how: in words, such as the function that computes a column.
    sources: columns that compute the first one; empty for other kinds.
    remedy: what mends it; None before it is known.
    """

    kind: Kind
    columns: tuple[str, ...]
    records: int
    share: float
    threshold: float
    about: str | None = None
    how: str = ""
    sources: tuple[str, ...] = ()
    remedy: Remedy | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The finding as ``acknowledge`` names it, once for each column that it is acknowledged by."""
        return tuple(f"{self.kind}:{name}" for name in (*self.columns, *([self.about] if self.about else [])))


@dataclass(frozen=True)
class Exposure:
    """What an acquaintance sees, and the findings that exceed their thresholds.

    Attributes
    ----------
    unit, units: what is counted, and how many there are.
    k: fewest of them that a value is expected to have.
    unique, below_k: units that are alone, and in classes with fewer than k, by the published
        quasi-identifiers and all insensitive columns that are not acknowledged as unknown outside.
    with_sensitive: the same with the sensitive columns too, as another extract of the source would show.
    findings: those that exceed their thresholds and are not acknowledged, the worst first.
    acknowledged: findings that exceed their thresholds, but are acknowledged.
    public: whether each kind exceeds its threshold that the release alone shows, counting records.
    unused: acknowledged findings that did not occur.
    left_out: what was not looked at, in words.
    beside: insensitive columns that acquaintances see beside the quasi-identifiers.
    few: computes what mends it that some units are alone, where they are too few for a finding; None where
        none are, or where there is a finding.
    """

    unit: str
    units: int
    k: int
    unique: int
    below_k: int
    with_sensitive: tuple[int, int]
    findings: tuple[Finding, ...]
    acknowledged: tuple[Finding, ...] = ()
    public: Mapping[Kind, bool] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    few: Callable[[], Remedy | None] = field(default=lambda: None, repr=False)

    def share(self, units: int) -> float:
        """Return a number of units as a share of all."""
        return units / self.units if self.units else 0.0


def by_harm(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return findings, the worst first: by kind, then by share, then by name."""
    order = list(Kind)
    return tuple(sorted(findings, key=lambda each: (order.index(each.kind), -each.share, each.columns)))
