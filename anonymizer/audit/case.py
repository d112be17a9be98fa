"""A release and its report, side by side, with what an audit finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from anonymizer.audit.claims import ABSENT, Claims, Key
from anonymizer.audit.reported import ReportClaims
from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.classes import Classes
from anonymizer.model.table import Role
from anonymizer.plan.plan import Plan
from anonymizer.privacy.base import Constraint
from anonymizer.report.legend import nothing_verified


class AuditVerdict(StrEnum):
    """What an audit says of a release: the first words of its output."""

    VERIFIED = "VERIFIED"
    NOT_VERIFIED = "NOT VERIFIED"
    NOT_MEASURED = "NOT MEASURED"


@dataclass
class ReleaseAudit:
    """The result of an audit.

    Attributes
    ----------
    verified: whether the first constraint was measured, and nothing contradicts the report.
    verdict: the same in a word, which tells a contradiction from constraints that could not be measured.
    constraints: measured on the file; ``measured`` and ``satisfied`` are None for those that need more.
    findings: disagreements, which make ``verified`` False, and unverifiable constraints.
    not_checked: keys of the report that were not compared, a section as one if none of its keys was; and
        further properties that the files do not show.
    signature: fingerprint of the ``key`` that the release is signed with, its ``parts``, and whether it is
        ``valid``: every part as it was signed; None without one.
    """

    verified: bool = False
    verdict: AuditVerdict = AuditVerdict.VERIFIED
    constraints: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    signature: dict[str, Any] | None = None

    def refute(self, finding: str) -> None:
        """Add a disagreement."""
        self.verdict = AuditVerdict.NOT_VERIFIED
        self.findings.append(finding)

    def conclude(self) -> None:
        """Set the verdict at the end: without a measure of the first constraint, nothing is verified."""
        measured = [each["satisfied"] is not None for each in self.constraints]
        if self.verdict is AuditVerdict.VERIFIED and nothing_verified(measured):
            self.verdict = AuditVerdict.NOT_MEASURED
        self.verified = self.verdict is AuditVerdict.VERIFIED

    def to_dict(self) -> dict[str, Any]:
        """Return the result as ``--json`` prints it."""
        return {name: value for name, value in vars(self).items() if name != "verdict"}


@dataclass(frozen=True, eq=False)
class AuditedReport:
    """A report whose claims are verified.

    Attributes
    ----------
    path: of its file.
    reported: what must be in it.
    claims: all of it.
    found: receives the result.
    """

    path: Path
    reported: ReportClaims
    claims: Claims
    found: ReleaseAudit


@dataclass(frozen=True, eq=False)
class Unmeasured:
    """A constraint that the release does not suffice to measure.

    Attributes
    ----------
    key: of the constraint in the report.
    title: its name in findings.
    place: among the constraints of the result.
    missing: why it is not measured.
    """

    constraint: Constraint
    key: Key
    title: str
    place: int
    missing: str = "not verifiable from the release alone"


@dataclass(frozen=True, eq=False)
class AuditCase:
    """A release and its report, opened and counted.

    Attributes
    ----------
    config: the one in the report.
    plan: of that config.
    relations: the released tables, one or two.
    classes: its equivalence classes; for Anatomy, the buckets.
    judged: returns the classes that a constraint judges, for Anatomy the buckets or the exact rows; with
        True, by sensitive values read as texts.
    sensitive: names of the sensitive attributes.
    look: returns the view of an adversary with the release alone.
    unmeasured: constraints that only the input can measure, until it does.
    """

    report: AuditedReport
    config: Config
    plan: Plan
    relations: Sequence[Relation]
    classes: Classes
    judged: Callable[[Constraint, bool], Classes]
    sensitive: Sequence[str]
    look: Callable[[], AdversaryView]
    unmeasured: list[Unmeasured] = field(default_factory=list)

    @property
    def claims(self) -> Claims:
        """The claims of the report."""
        return self.report.claims

    @property
    def found(self) -> ReleaseAudit:
        """The result, which receives measurements and unverifiable claims."""
        return self.report.found

    @cached_property
    def scene(self) -> AdversaryView:
        """The view of an adversary with the release alone, counted on first use."""
        return self.look()

    @property
    def in_groups(self) -> bool:
        """Whether this is an Anatomy release."""
        return len(self.relations) == 2

    @property
    def appended(self) -> bool:
        """Whether losses and suppressed records are those of appended records, not of the whole release."""
        return self.claims.get(("applied",)) is not ABSENT

    @property
    def quasi_identifiers(self) -> Mapping[str, Mapping[str, int]]:
        """The number of records of each published text, by quasi-identifier; a null is the empty text."""
        return {
            name: {text or "": records for text, records in self.relations[0].dictionary(name)}
            for name in self.relations[0].columns
            if name in self.config.with_role(Role.QUASI_IDENTIFIER)
        }


def missing_cells(relation: Relation, name: str) -> tuple[int, int]:
    """Return the numbers of nulls and of empty texts in a column."""
    nulls = relation.profiling.spread(name, 1).nulls
    return nulls, relation.profiling.count_matching(name, "") if relation.is_text(name) else 0
