"""A proposal for a file: what each column is, how it generalizes, and what must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anonymizer.config.attribute import Role
from anonymizer.data.csv import index_warnings
from anonymizer.data.relation import Relation
from anonymizer.errors import DataError
from anonymizer.model.table import POINT, Numerals
from anonymizer.profile.combinations import WIDEST, JointUniqueness, UniquenessProfile
from anonymizer.profile.constraints import constraints, proposed_k
from anonymizer.profile.counted_combinations import combinations_of
from anonymizer.profile.detectors.registry import findings
from anonymizer.profile.drafts import Draft
from anonymizer.profile.facts import ColumnFacts
from anonymizer.profile.fitting import HierarchyDrafter
from anonymizer.profile.measure import measure
from anonymizer.profile.relations import Relations
from anonymizer.profile.roles import RoleProposal, role_of

COUNTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


@dataclass(frozen=True)
class ColumnProposal:
    """A column with its role.

    Attributes
    ----------
    facts: what was measured.
    verdict: what was proposed, and why.
    role: as decided: the proposed one, or what the user said.
    reason: for the role, in counts and never by a value.
    draft: the hierarchy of a quasi-identifier; of an identifier, what would publish it in general form.
    answered: whether the user was asked for the role.
    """

    facts: ColumnFacts
    verdict: RoleProposal
    role: Role
    reason: str
    draft: Draft | None = None
    answered: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether somebody has yet to look at the role."""
        return self.verdict.doubtful and not self.answered

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.facts.name

    def settings(self, role: Role) -> dict[str, Any]:
        """Return the column's section of the config in a role."""
        section: dict[str, Any] = {"role": role.value}
        if role not in COUNTED:
            return section
        draft = self.draft if role is Role.QUASI_IDENTIFIER else None
        section["type"] = ((draft.type if draft else None) or self.facts.type).value
        if draft is not None and draft.hierarchy is not None:
            section["hierarchy"] = dict(draft.hierarchy)
        return section


@dataclass(frozen=True)
class Proposal:
    """What is proposed for a file.

    Attributes
    ----------
    rows: records of the file.
    separator: between its fields, None for what is no text file.
    missing: texts that stand for a missing value.
    columns: in the order of the file.
    constraints: settings of each model with its reason.
    together: how far the quasi-identifiers single people out, all at once.
    numerals: how its texts write numbers.
    warnings: what its texts leave in doubt.
    """

    rows: int
    separator: str | None
    missing: tuple[str, ...]
    columns: tuple[ColumnProposal, ...]
    constraints: tuple[tuple[Mapping[str, Any], str], ...] = field(hash=False)
    together: JointUniqueness
    numerals: Numerals = POINT
    warnings: tuple[str, ...] = ()


Decide = Callable[[ColumnProposal], Role]


def as_proposed(column: ColumnProposal) -> Role:
    """Decide on a doubtful column as it was proposed."""
    return column.role


def propose(relation: Relation, decide: Decide = as_proposed) -> Proposal:
    """Profile an open input and propose a config for it.

    Parameters
    ----------
    decide: asked for the role of each doubtful column, in the order of the file.

    Raises
    ------
    DataError: there is no column by which people could be recognised and that could be published.
    """
    measured = measure(relation)
    counter = combinations_of(relation)
    columns = _with_roles(measured.columns, counter)
    columns = [_decided(each, decide) for each in columns]
    columns = _with_something_to_protect(relation.name, columns)
    fitting = HierarchyDrafter(relation, measured.missing)
    columns = [_drafted(each, fitting) for each in columns]
    quasi_identifiers = [each.name for each in columns if each.role is Role.QUASI_IDENTIFIER]
    sensitive = [each.facts for each in columns if each.role is Role.SENSITIVE]
    return Proposal(
        relation.rows,
        relation.separator,
        measured.missing,
        tuple(columns),
        tuple(constraints(relation.rows, sensitive)),
        counter.together(quasi_identifiers, proposed_k(relation.rows)),
        measured.numerals,
        (*index_warnings(relation.unmatched_columns), *measured.warnings),
    )


def _decided(column: ColumnProposal, decide: Decide) -> ColumnProposal:
    if not column.verdict.doubtful:
        return column
    return replace(column, role=decide(column), answered=decide is not as_proposed)


def _with_roles(measured: tuple[ColumnFacts, ...], counter: UniquenessProfile) -> list[ColumnProposal]:
    verdicts = {column.name: role_of(column, findings(column)) for column in measured}
    counted = [column for column in measured if verdicts[column.name].role in COUNTED]
    narrow = [column for column in counted if column.distinct <= WIDEST]
    relations = Relations(counter.pairs(narrow), {name: each.role for name, each in verdicts.items()})
    columns = []
    for column in measured:
        verdict = relations.verdict(column, verdicts[column.name])
        reason = relations.reason(column, verdict)
        columns.append(ColumnProposal(column, verdict, verdict.role, reason))
    return columns


def _with_something_to_protect(name: str, columns: list[ColumnProposal]) -> list[ColumnProposal]:
    """Keep one quasi-identifier at least: if need be, what an identifier says in general form."""
    if any(each.role is Role.QUASI_IDENTIFIER for each in columns):
        return columns
    general = [each for each in columns if each.verdict.general]
    if not general:
        dropped = sum(each.role is Role.IDENTIFIER for each in columns)
        kept = len(columns) - dropped
        raise DataError(
            f"{name}: nothing remains to protect: {dropped} of {len(columns)} columns identify people and "
            f"would be dropped, and by the other {kept} nobody would be recognised; a config needs a "
            "quasi-identifier: add a column, or choose one with --interactive"
        )
    return [replace(each, role=Role.QUASI_IDENTIFIER) if each in general else each for each in columns]


def _drafted(column: ColumnProposal, fitting: HierarchyDrafter) -> ColumnProposal:
    general = column.role is Role.IDENTIFIER and column.verdict.general
    if column.role is Role.QUASI_IDENTIFIER or general:
        return replace(column, draft=fitting.draft(column.facts))
    return column
