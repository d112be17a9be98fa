"""What columns tell about each other, as reasons for their roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anonymizer.config.attribute import Role
from anonymizer.profile.combinations import Pair
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.roles import RoleProposal

TELLING = 0.05
"""Share of a column's entropy from which on it is worth a word what tells it."""

THE_SAME = 0.9999
"""Share of the entropy of each that the other tells, from which on two columns say the same."""


class Relations:
    """The pairs of columns that were counted.

    Parameters
    ----------
    roles: proposed role of each column.
    """

    def __init__(self, pairs: Sequence[Pair], roles: Mapping[str, Role]) -> None:
        self._roles = roles
        self._pairs: dict[str, list[Pair]] = {name: [] for name in roles}
        for pair in pairs:
            for name in pair.columns:
                self._pairs[name].append(pair)

    def reason(self, column: ColumnFacts, verdict: RoleProposal) -> str:
        """Return the reason for a role, with what other columns have to do with it."""
        parts = [verdict.reason]
        if verdict.role is Role.QUASI_IDENTIFIER:
            parts += self._alone(column)
        if verdict.role is Role.SENSITIVE:
            parts += self._told(column.name)
        if column.missing and verdict.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
            parts.append(f"{column.missing:,} missing")
        return ", ".join(parts)

    def _alone(self, column: ColumnFacts) -> list[str]:
        """Return how many people the column singles out alone, and with the one that does it best."""
        found = [f"{column.singles:,} people unique by it alone"] if column.singles else []
        partners = [
            (pair.alone, self._other(pair, column.name))
            for pair in self._pairs[column.name]
            if self._roles[self._other(pair, column.name)] is Role.QUASI_IDENTIFIER
        ]
        alone, partner = max(partners, default=(0, ""))
        if alone > column.singles:
            found.append(f"{alone:,} people unique with {partner}")
        return found

    def verdict(self, column: ColumnFacts, verdict: RoleProposal) -> RoleProposal:
        """Return the verdict on a column by itself, unless an earlier quasi-identifier says the same."""
        for pair in self._pairs[column.name]:
            earlier, name = pair.columns
            both = self._roles[earlier] is self._roles[name] is Role.QUASI_IDENTIFIER
            if name == column.name and both and pair.told is not None and min(pair.told) >= THE_SAME:
                reason = f"{verdict.reason}, says the same as {earlier}, so that nothing is lost without it"
                return RoleProposal(Role.IDENTIFIER, reason, doubtful=True, general=True)
        return verdict

    def _told(self, name: str) -> list[str]:
        """Return which quasi-identifier tells most about a sensitive column."""
        told = [
            (pair.told[pair.columns.index(name) == 0], self._other(pair, name))
            for pair in self._pairs[name]
            if pair.told is not None and self._roles[self._other(pair, name)] is Role.QUASI_IDENTIFIER
        ]
        share, partner = max(told, default=(0.0, ""))
        return [f"{partner} tells {share:.0%} of it".replace("%", " %")] if share >= TELLING else []

    @staticmethod
    def _other(pair: Pair, name: str) -> str:
        one, other = pair.columns
        return other if one == name else one
