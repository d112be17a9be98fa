"""The role that a column is proposed, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.config.attribute import Role
from anonymizer.model.table import ValueType
from anonymizer.profile.detectors.base import Finding
from anonymizer.profile.facts import NEARLY_ALL, ColumnFacts
from anonymizer.profile.ready_match import match_listed, named_for
from anonymizer.profile.words import PERSONAL, SENSITIVE, names_any


@dataclass(frozen=True)
class RoleProposal:
    """A proposed role.

    Attributes
    ----------
    role: proposed.
    reason: why, in counts and never by a value.
    doubtful: whether somebody who knows the data may well decide otherwise.
    flag: what identifying thing the values look like, None if nothing.
    general: whether what would be dropped may be published in general form instead.
    """

    role: Role
    reason: str
    doubtful: bool = False
    flag: str | None = None
    general: bool = False


def role_of(column: ColumnFacts, found: Sequence[Finding]) -> RoleProposal:
    """Return the role that a column is proposed by itself; the first rule that applies decides.

    Parameters
    ----------
    found: what the detectors find in it, what is certain first.
    """
    if column.distinct == 0:
        return RoleProposal(Role.INSENSITIVE, "no values at all")
    if column.distinct == 1 and not column.missing and column.rows > 1:
        return RoleProposal(
            Role.INSENSITIVE, f"one value in all {column.rows:,} records: it tells nobody apart"
        )
    subject = _subject(column)
    if found and (found[0].certain or subject is None or column.type is ValueType.TEXT):
        doubtful = not found[0].certain or found[0].general
        reason = f"looks like {found[0].what}: {found[0].reason}"
        return RoleProposal(Role.IDENTIFIER, reason, doubtful, found[0].what, found[0].general)
    if subject is not None:
        return _sensitive(column, subject)
    return _by_distinctness(column)


def _sensitive(column: ColumnFacts, subject: str) -> RoleProposal:
    """Return the verdict on a column that people do not want to be known.

    Values that nearly all differ stay what is to be protected, but somebody has to know that they are
    released as they are: an exact wage finds its person in the books of the employer.
    """
    reason = f"{_values(column)}, {subject}"
    if column.distinctness >= NEARLY_ALL and column.singles > 1:
        told = f"released as they are, {column.singles:,} of them would be recognised by whoever has them too"
        return RoleProposal(Role.SENSITIVE, f"{reason}; {told}", doubtful=True)
    return RoleProposal(Role.SENSITIVE, reason, doubtful=_doubtful(column))


def _by_distinctness(column: ColumnFacts) -> RoleProposal:
    known = names_any(column.name, PERSONAL) or match_listed(column) is not None
    if column.type is ValueType.TEXT and column.distinctness >= NEARLY_ALL and not known:
        reason = (
            f"{column.distinct:,} different texts in {column.present:,} records single out nearly everybody"
        )
        return RoleProposal(Role.IDENTIFIER, reason, doubtful=True)
    return RoleProposal(Role.QUASI_IDENTIFIER, _values(column), doubtful=not known)


def _values(column: ColumnFacts) -> str:
    noun = "value" if column.distinct == 1 else "values"
    return f"{column.distinct:,} {noun}"


def _subject(column: ColumnFacts) -> str | None:
    """Return what makes a column sensitive, None if nothing does."""
    for subject, terms in SENSITIVE.items():
        if names_any(column.name, terms):
            return f"named as {subject}"
    match = match_listed(column)
    if match is not None and match.name in ("icd10", "religion"):
        return f"most of them are in the ready hierarchy {match.name}"
    return None


def _doubtful(column: ColumnFacts) -> bool:
    """Tell whether a sensitive column may as well be known to others, or of no interest to anybody."""
    sure = any(names_any(column.name, SENSITIVE[subject]) for subject in ("health", "money"))
    return not sure or named_for(column, "occupation") or column.distinct <= 1
