"""``audit``: the claims of a report verified from the released file alone, as a recipient would do it.

Each check compares some figures of a report with the files. A figure that no check compares is listed as not
checked, see ``Claims``. So a new figure of the report either gets a check or appears in that list.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from anonymizer.attacks.adversary_view import largest_links, meaning_of, possible_links, same_values
from anonymizer.attacks.base import LINKS, USED, AttackResult, marked
from anonymizer.attacks.similarity import Similarity
from anonymizer.audit.claims import ABSENT, PUBLIC_DIGITS, Claims, Key, agrees, as_reported, parse_report
from anonymizer.audit.classes import (
    NO_UNIT_COLUMNS,
    UnitColumns,
    classes_for,
    count_classes,
    measure,
    read_pair,
    verifiable,
)
from anonymizer.config.attribute import AttributeSettings
from anonymizer.config.document import distinct_keys
from anonymizer.config.files import ReportedText
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.data.labelled import ReadNumbers, labelled
from anonymizer.data.relation import Projection, Relation, changed
from anonymizer.data.source import CsvDialect, is_url, sha256_of
from anonymizer.data.table import read_columns
from anonymizer.errors import AuditFailed, ConfigError, HierarchyError, InputError, OutputError
from anonymizer.hierarchy.ready import ready_folder
from anonymizer.hierarchy.source import FlatSource, HierarchySource
from anonymizer.loss.base import all_losses, loss_key, weighted_losses
from anonymizer.model.adversary import AdversaryView, Links, PublishedTable, ValueCoverage
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray, count
from anonymizer.model.classes import Classes, SensitiveCodes, released
from anonymizer.model.recoding import (
    COUNT,
    GROUP,
    FullDomainRecoding,
    LocalSuppressionRecoding,
    NodeRecoding,
    Outcome,
    Recoding,
    Status,
    distinct_nodes,
    renumbered,
)
from anonymizer.model.table import (
    MISSING,
    SUPPRESSED,
    NumberColumns,
    NumberLabels,
    Numerals,
    QuasiIdentifier,
    Role,
    SensitiveAttribute,
    Table,
    ValueType,
    exact,
)
from anonymizer.model.units import PERSON
from anonymizer.privacy.base import ClassConstraint, Constraint, CountedConstraint, ReleaseConstraint
from anonymizer.release.anatomy import find_anatomy_files, pair_named
from anonymizer.release.folder import PUBLIC_REPORT, RECODING
from anonymizer.report.build import ATTACK_KEYS, PUBLIC_DETAILS, attack_entry, attack_matrix
from anonymizer.report.scenarios import scenario_facts
from anonymizer.run.assessment import run_timed
from anonymizer.run.earlier_release import parse_kept
from anonymizer.run.plan import Plan, PlannedColumn, PlannedHierarchy, plan_of
from anonymizer.run.prepare import Prepared, attacked, countable_constraints, prepare_table, put_in_bands
from anonymizer.run.shape import (
    Found,
    attribute_in_groups,
    numbers_entry,
    numbers_of,
    read_release,
    scene_of_release,
    shape_of,
)
from anonymizer.run.source import open_as, open_own_release, open_release
from anonymizer.search.base import SearchProblem
from anonymizer.search.mondrian.algorithm import LabelName, MondrianSettings, labelling_of
from anonymizer.search.mondrian.labelling import Labelling
from anonymizer.search.mondrian.regions import Regions, Segments
from anonymizer.system import check_file, real_path

IDENTITY = ("model", "attribute", "parameters")
"""The keys that identify a reported constraint in the config."""

ACCEPTED = "accepted: report.public.json or report.json of a run that ended with a release"


class ReportedTable(BaseModel):
    """The sensitive table of an Anatomy release."""

    sha256: str


class ReportedNumbers(BaseModel):
    """The numbers in place of the labels of a quasi-identifier."""

    empty: Literal["*", "<missing>"]


class ReportedRelease(ReportedText):
    """The released file; counts that the public report hides are None."""

    sha256: str
    rows: int | None
    classes: int | None
    sensitive_table: ReportedTable | None = None
    numbers: dict[str, ReportedNumbers] = Field(default_factory=dict)


class ReportedAttribute(BaseModel):
    """A column."""

    type: ValueType | None


class ReportedConstraint(BaseModel):
    """A constraint with its measurement; infinity is the text ``Infinity``."""

    model: str
    attribute: str | None
    parameters: dict[str, Any]
    measured: Any
    satisfied: bool
    worst_classes: int | None


class ReportClaims(BaseModel):
    """The claims of a report."""

    version: int = Field(alias="schema", strict=True, ge=1, le=1)
    config: dict[str, Any]
    attributes: dict[str, ReportedAttribute]
    release: ReportedRelease
    constraints: list[ReportedConstraint]


def read_reported(path: Path) -> ReportClaims:
    """Read a report, public or internal.

    Raises
    ------
    InputError: it is missing, not JSON, or not the report of a release.
    """
    try:
        content = check_file(path).read_bytes()
    except OSError:
        raise InputError(
            f"{path}: report not found; a release cannot be verified without it. The command run writes it "
            "next to the release: ask the publisher for it, and put it there or give its path with --report"
        ) from None
    return parse_report(ReportClaims, path, content, ACCEPTED)


LARGEST_NUMBER = 1e30
"""Above every number in a report."""

MOST_CHARACTERS = 40
"""Maximum length of a number in a report."""


def read_content(path: Path) -> dict[str, Any]:
    """Return the content of a report that ``read_reported`` accepts, in plain JSON types."""
    try:
        content: dict[str, Any] = json.loads(
            check_file(path).read_bytes(),
            object_pairs_hook=distinct_keys,
            parse_constant=_plain_number,
            parse_int=lambda text: _plain_number(text, int),
            parse_float=lambda text: _plain_number(text, float),
        )
    except ValueError as error:
        raise InputError(f"{path}: {error}; give the report as anonymizer wrote it") from None
    return content


def _plain_number(text: str, kind: type[int] | type[float] | None = None) -> float:
    """Refuse numbers that no run writes: infinite ones, and those above every squared number of records."""
    number = None if kind is None or len(text) > MOST_CHARACTERS else kind(text)
    if number is None or not abs(number) < LARGEST_NUMBER:
        shown = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
        raise ValueError(f"the number {shown} is out of range")
    return number


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
    verified: whether a constraint was measured, and nothing measured or compared contradicts the report.
    verdict: the same in a word, which tells a contradiction from constraints that could not be measured.
    constraints: measured on the file; ``measured`` and ``satisfied`` are None for those that need more.
    findings: disagreements, which make ``verified`` False, and unverifiable constraints.
    not_checked: keys of the report that were not compared, a section as one if none of its keys was; and
        further properties that the files do not show.
    """

    verified: bool = False
    verdict: AuditVerdict = AuditVerdict.VERIFIED
    constraints: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    def refute(self, finding: str) -> None:
        """Add a disagreement."""
        self.verdict = AuditVerdict.NOT_VERIFIED
        self.findings.append(finding)

    def conclude(self) -> None:
        """Set the verdict at the end: if no constraint was measured, nothing is verified."""
        unknown = [each["satisfied"] is None for each in self.constraints]
        if self.verdict is AuditVerdict.VERIFIED and unknown and all(unknown):
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


def check_verdict(case: AuditCase) -> None:
    """The report states that the release satisfies its constraints and was verified."""
    case.claims.agree(("schema",))
    case.claims.compare(("status",), "satisfied")
    case.claims.compare(("release", "verified"), found=True)


def check_names(case: AuditCase) -> None:
    """The files have the names in the config, and are in share/."""
    output, claims = case.config.output, case.claims
    if output.path is None or "://" in output.path:
        return
    path = PurePath(output.path)
    names = list(pair_named(Path(path.name)).names) if case.in_groups else [path.name]
    own = claims.get(("release", "path"))
    # An internal report of a release on another file system has the whole path, the public one the name.
    elsewhere = claims.internal and isinstance(own, str) and "://" in own and own.endswith(f"/{names[0]}")
    found = own if elsewhere else f"share/{names[0]}"
    if claims.compare(("release", "path"), found):
        claims.agree(("config", "output", "path"))
    if case.in_groups:
        claims.compare(("release", "sensitive_table", "path"), f"share/{names[1]}")


def check_attributes(case: AuditCase) -> None:
    """Roles, types and hierarchies of the columns are those of the config."""
    claims, config = case.claims, case.config
    described = claims.get(("attributes",))
    if isinstance(described, Mapping) and set(described) != set(config.attributes):
        claims.refute(("attributes",), "has other columns than the config of the report")
        return
    claims.compare(("input", "columns"), len(config.attributes))
    for name, settings in config.attributes.items():
        if claims.compare(("attributes", name, "role"), settings.role.value):
            claims.agree(("config", "attributes", name, "role"))
        _check_type(claims, case.plan.columns[name], name)
        _check_hierarchy(claims, case.plan.hierarchy(name), name)


def _check_type(claims: Claims, column: PlannedColumn, name: str) -> None:
    """A type is the declared one, or that of the groups; only the internal report has detected types."""
    key = ("attributes", name, "type")
    if column.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        claims.compare(key, None)
    elif column.type is not None:
        if claims.compare(key, column.type.value):
            claims.agree(("config", *key))
    elif claims.get(key) is None and not claims.internal:
        claims.agree(key)


def _check_hierarchy(claims: Claims, planned: PlannedHierarchy | None, name: str) -> None:
    key = ("attributes", name, "hierarchy_sha256")
    if planned is None:
        claims.compare(key, None)
        return
    if claims.get(key) is None:
        claims.refute(key, "the config of the report has a hierarchy, but its digest is missing")
        return
    try:
        digest = planned.digest()
    except (OSError, InputError):
        return
    if claims.compare(key, digest) and not planned.files:
        claims.agree(("config", "attributes", name, "hierarchy"))


def check_counts(case: AuditCase) -> None:
    """The numbers of rows and classes are correct."""
    claims = case.claims
    claims.compare(("release", "rows"), case.classes.records)
    claims.compare(("release", "classes"), case.classes.number)
    if case.in_groups:
        claims.compare(("release", "sensitive_table", "rows"), case.relations[1].rows)
        sizes = case.classes.sizes
        claims.expect(("recoding",), ("grouping",))
        claims.compare(("recoding", "groups"), len(sizes))
        _check_group_numbers(case)
        claims.compare(("recoding", "smallest_group"), int(sizes.min()))
        claims.compare(("recoding", "largest_group"), int(sizes.max()))


def _check_group_numbers(case: AuditCase) -> None:
    """Buckets are numbered from 1 without gaps, in digits alone."""
    found = {text or "" for text, _ in case.relations[0].dictionary(GROUP)}
    strange = sorted(found - {str(number) for number in range(1, len(found) + 1)})
    if strange:
        what = f"buckets should be numbered from 1 to {len(found)}, found '{strange[0]}'"
        case.claims.refute(("recoding", "groups"), what)


def check_order(case: AuditCase) -> None:
    """A sorted release is in the order of its values, so the order discloses nothing more."""
    key = ("config", "output", "order")
    if case.config.output.order.value != "sorted" or not all(each.ordered for each in case.relations):
        return
    for relation in case.relations:
        numbers = (GROUP, COUNT) if case.in_groups else (case.config.input.pseudonym or "",)
        if not rows_ascend(relation.stored, numbers):
            what = 'the report says "sorted", found rows in another order, which can disclose hidden values'
            case.claims.refute(key, what)
            return
    case.claims.agree(key)


def rows_ascend(relation: Relation, counted: Collection[str] = ()) -> bool:
    """Return whether the rows of a file are sorted by all columns, left to right, texts by code point.

    Parameters
    ----------
    counted: columns of whole numbers without leading zeros, which are sorted as such: by length, then digits.
    """
    tied = np.ones(max(relation.rows - 1, 0), dtype=bool)
    for column in relation.columns:
        for codes in _orders(relation, column, by_length=column in counted):
            if not (tied & (codes[1:] < codes[:-1])).any():
                break
        else:
            return False
        tied &= codes[1:] == codes[:-1]
    return True


def _orders(relation: Relation, column: str, *, by_length: bool) -> Iterator[IntArray]:
    """Yield codes of a column whose order may be that of its rows, those that part missing values first.

    Missing values are sorted as the marker, or as the empty text: before, after or among those texts of the
    column that are equal to it. As values, nulls are sorted last.
    """
    codes, texts = relation.codes(column).astype(np.int64), [text for text, _ in relation.dictionary(column)]
    if by_length:
        yield _ranks([(len(text or ""), text or "") for text in texts])[codes]
        return
    absent = [text is None or (relation.marker is not None and text == MISSING) for text in texts]
    if not any(absent):
        yield codes
        return
    shown = [
        (relation.marker or "" if gone else text or "", gone)
        for text, gone in zip(texts, absent, strict=True)
    ]
    yield _ranks(shown)[codes]
    yield _ranks([(text, not gone) for text, gone in shown])[codes]
    if relation.marker is None:
        yield codes
    yield _ranks([text for text, _ in shown])[codes]


def _ranks(values: Sequence[Any]) -> IntArray:
    place = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return np.array([place[value] for value in values], dtype=np.int64)


def check_texts(case: AuditCase) -> None:
    """In a file with types, recoded columns are texts without nulls.

    Raises
    ------
    InputError: a recoded column is not.
    """
    relation = case.relations[0]
    if relation.separator is not None:
        return
    for name in case.quasi_identifiers:
        if not relation.is_text(name) or missing_cells(relation, name)[0]:
            what = f"column '{name}' is recoded, but does not contain texts only"
            raise InputError(f"{relation.name}: {what}")


def missing_cells(relation: Relation, name: str) -> tuple[int, int]:
    """Return the numbers of nulls and of empty texts in a column."""
    nulls = relation.profiling.spread(name, 1).nulls
    return nulls, relation.profiling.count_matching(name, "") if relation.is_text(name) else 0


def check_suppression(case: AuditCase) -> None:
    """Suppressed records are those of the input that are not in the release, and within the limit."""
    claims, settings = case.claims, case.config.suppression
    key, rows = ("release", "suppressed_records"), case.classes.records
    if case.appended:
        before = claims.number(("applied", "rows_before"))
        if before is not None and not settings.keep_rows:
            claims.compare(("applied", "rows_added"), rows - int(before))
        return
    records, suppressed = claims.number(("input", "rows")), claims.number(key)
    if records is not None:
        removed = int(records) - rows
        if not settings.keep_rows:
            claims.compare(key, removed)
        elif suppressed is not None:
            kept_suppressed = int(suppressed) - removed
            if removed < 0 or not 0 <= kept_suppressed <= _rows_of_stars(case):
                claims.refute(
                    key, f"the report says {suppressed}, found {_rows_of_stars(case)} rows of * alone"
                )
            elif not _rows_of_stars(case):
                # A class at all roots is published like suppressed records.
                claims.agree(key)
        if settings.unit is not None:
            case.found.findings.append(
                f"suppression.limit (unit: {settings.unit}): not verifiable from the release alone, "
                f"which does not show which records belong to one {settings.unit}"
            )
        elif suppressed is not None and suppressed > settings.most(int(records)):
            what = f"{suppressed} of {records} records exceed suppression.limit {settings.limit}"
            claims.refute(key, what)
    _check_suppressed_cells(case)


def _rows_of_stars(case: AuditCase) -> int:
    """Count the records whose quasi-identifiers are all ``*``."""
    table = case.scene.release
    return int(table.counts[table.blanks.all(axis=1)].sum())


def _check_suppressed_cells(case: AuditCase) -> None:
    """Suppressed cells are the ``*`` in columns with other values too, except in rows of ``*`` alone."""
    claims = case.claims
    table = case.scene.release
    blanks = table.blanks
    alone = np.logical_and.reduce(blanks, axis=1)
    cells = dict(zip(table.names, (table.counts @ (blanks & ~alone[:, None])).tolist(), strict=True))
    if case.config.suppression.method.value != "cells":
        claims.compare(("release", "suppressed_cells"), 0)
        for name, found in cells.items():
            if found and _at_the_lowest(claims, name):
                what = f"the config does not suppress cells, found {found} in '{name}'"
                claims.refute(("release", "suppressed_cells"), what)
        return
    claims.expect(("recoding",), ("blanked_cells",))
    claims.expect(("recoding", "blanked_cells"), cells)
    if blanks.all(axis=0).any() or (alone.any() and not case.config.suppression.keep_rows):
        # A column of * alone can be at its root, so its suppressed cells cannot be counted.
        return
    certain = {name for name, found in cells.items() if not found or _at_the_lowest(claims, name)}
    _compare_cells(claims, ("release", "suppressed_cells"), sum(cells.values()), exact=certain == set(cells))
    for name in claims.section(("recoding", "blanked_cells")):
        _compare_cells(claims, ("recoding", "blanked_cells", name), cells.get(name, 0), exact=name in certain)


def _at_the_lowest(claims: Claims, name: str) -> bool:
    """Return whether a column is published at level 0, so a ``*`` is not from its hierarchy."""
    levels = claims.get(("recoding", "levels"))
    return isinstance(levels, dict) and levels.get(name) == 0


def _compare_cells(claims: Claims, key: Key, found: int, *, exact: bool) -> None:
    """Compare a number of suppressed cells; an upper bound if a hierarchy has ``*`` below its top."""
    claimed = claims.number(key)
    if exact or (claimed is not None and claimed > found):
        claims.compare(key, found)


def check_constraints(case: AuditCase) -> None:
    """Every constraint of the config is satisfied, with the reported measurement."""
    claims = case.claims
    bound = [each for each in case.plan.constraints(case.sensitive) if each.scenario is None]
    if not _are_claimed(claims, bound, ("constraints",)):
        claims.refute(("constraints",), "the constraints of the report are not those of the config in it")
        return
    if not bound:
        claims.agree(("config", "constraints"))
        claims.agree(("constraints",))
    for path in case.plan.paths(case.sensitive)[: len(bound)]:
        claims.agree(("config", *path))
    _judge_all(case, bound, ("constraints",))


def check_scenarios(case: AuditCase) -> None:
    """Every scenario of the config is satisfied, with the reported knowledge and measurements."""
    claims, given = case.claims, case.plan.shown.get("scenarios", {})
    if not given and claims.get(("scenarios",)) is ABSENT:
        return
    constraints = case.plan.constraints(case.sensitive)
    for name, settings in given.items():
        own, key = [each for each in constraints if each.scenario == name], ("scenarios", name)
        if not _are_claimed(claims, own, (*key, "constraints")):
            claims.refute(key, "the models of the report are not those of the config in it")
            continue
        # The models are compared with the config, and they with the release.
        claims.agree(("config", *key))
        for figure, found in scenario_facts(name, settings, own).items():
            claims.compare((*key, figure), found)
        _judge_all(case, own, (*key, "constraints"))
    for name in claims.section(("scenarios",)):
        if name not in given:
            claims.refute(("scenarios", name), "is not a scenario of the config in the report")


def _are_claimed(claims: Claims, constraints: Sequence[Constraint], section: Key) -> bool:
    """Return whether a section of the report has these constraints, whatever it says of them."""
    entries = claims.get(section)
    own = [[each.model.name, each.attribute, each.parameters()] for each in constraints]
    claimed = [[claims.get((*section, at, name)) for name in IDENTITY] for at in range(len(own))]
    number = len(entries) if isinstance(entries, list) else 0
    return number == len(own) and agrees(claimed, as_reported(own))


def _judge_all(case: AuditCase, constraints: Sequence[Constraint], section: Key) -> None:
    """Measure the constraints of a section of the report."""
    for position, constraint in enumerate(constraints):
        for name in IDENTITY:
            case.claims.agree((*section, position, name))
        _judge(case, constraint, (*section, position))


def _judge(case: AuditCase, constraint: Constraint, key: Key) -> None:
    """Measure one constraint, or note the claim of the report if the file does not suffice."""
    claims = case.claims
    claim = dict(claims.get(key))
    title = constraint.model.name + (f" of {constraint.attribute}" if constraint.attribute else "")
    scenario = {} if constraint.scenario is None else {"scenario": constraint.scenario}
    if constraint.scenario is not None:
        title = f"{constraint.scenario}: {title}"
    claims.compare((*key, "satisfied"), found=True)
    if isinstance(constraint, ReleaseConstraint) and constraint.of_release_alone:
        found = asdict(attacked(constraint, case.scene, np.random.default_rng(0)))
        case.found.constraints.append(found)
        _compare_measure(claims, key, title, found)
        return
    classes = case.judged(constraint, False)
    at_hand = not isinstance(constraint, ReleaseConstraint) and _reference_at_hand(
        case.plan, constraint, classes
    )
    if not at_hand:
        claims.compare((*key, "verifiable_from_release"), found=False)
    if isinstance(constraint, ReleaseConstraint) or not (at_hand and verifiable(classes, constraint)):
        unknown = {"measured": None, "satisfied": None, "verifiable_from_release": False}
        case.unmeasured.append(Unmeasured(constraint, key, title, len(case.found.constraints)))
        case.found.constraints.append({**claim, **unknown, **scenario})
        return
    found = asdict(measure(classes, [constraint])[0])
    if _type_is_hidden(case, constraint) and not agrees(
        claim.get("measured"), as_reported(found["measured"])
    ):
        # A value that is only in the input can turn the type from number to text.
        read = asdict(measure(case.judged(constraint, True), [constraint])[0])
        hidden = claim.get("measured") is None and not found["satisfied"]
        if hidden or agrees(claim.get("measured"), as_reported(read["measured"])):
            found = read
    case.found.constraints.append({**found, **scenario})
    if _compare_measure(claims, key, title, found) and _uses_reference(constraint):
        claims.agree(("config", "reference"))


def _measure_with_input(case: AuditCase, prepared: Prepared, recoding: Recoding, *, certain: bool) -> None:
    """Measure, as the run did, the constraints that the release does not suffice for.

    Parameters
    ----------
    prepared: the input.
    recoding: of its distinct rows to those of the release.
    certain: whether no other recoding fits, so that it is known whose the released records are.
    """
    measurable = countable_constraints(prepared.constraints)
    asked = [each for each in measurable if certain or _counts_records(each, prepared.plan)]
    if not case.unmeasured or not asked:
        return
    own = replace(prepared, constraints=tuple(asked))
    outcome = Outcome(Status.SATISFIED, recoding, None, None, 0, 0)
    shape = shape_of(own.plan, own.encoded.relation)
    counted = shape.count(case.relations, Found(own, outcome, released(recoding, case.plan.k))).measurements
    known = {_identity(each): measured for each, measured in zip(asked, counted, strict=True)}
    for each in list(case.unmeasured):
        measured = known.get(_identity(each.constraint))
        if measured is not None:
            case.unmeasured.remove(each)
            entry = case.found.constraints[each.place]
            entry |= asdict(measured)
            _compare_measure(case.claims, each.key, each.title, entry)
            if not isinstance(each.constraint, ReleaseConstraint) and _uses_reference(each.constraint):
                case.claims.agree(("config", "reference"))


def _counts_records(constraint: CountedConstraint, plan: Plan) -> bool:
    """Return whether a constraint is measured on the classes of the release, whosever its records are."""
    return constraint.unit is None and not constraint.model.needs_households and plan.pseudonym is None


def _identity(constraint: Constraint) -> tuple[Any, ...]:
    """Return what distinguishes a constraint from the others of a config; equal ones measure the same."""
    return constraint.scenario, constraint.model.name, constraint.attribute, str(constraint.parameters())


def _note_unmeasured(case: AuditCase) -> None:
    """Note the claims of the report about constraints that could not be measured."""
    for each in case.unmeasured:
        holds = "holds" if case.claims.get((*each.key, "satisfied")) is True else "fails"
        case.found.findings.append(f"{each.title}: {each.missing}; the report says it {holds}")


def _compare_measure(claims: Claims, key: Key, title: str, found: Mapping[str, Any]) -> bool:
    """Compare a claim with what was measured; return whether it is the same and satisfied."""
    same = [
        claims.compare((*key, name), found[name])
        for name in ("measured", "worst_classes", "verifiable_from_release")
    ]
    if not found["satisfied"]:
        claims.refute(key, f"{title} is violated, measured {found['measured']}")
    return bool(same[0] and found["satisfied"])


def _type_is_hidden(case: AuditCase, constraint: Constraint) -> bool:
    """Return whether the report hides the type of the attribute of a constraint."""
    name = constraint.attribute
    return name is not None and case.claims.get(("attributes", name, "type")) is None


def _uses_reference(constraint: CountedConstraint) -> bool:
    return isinstance(constraint, ClassConstraint) and constraint.model.uses_reference


def _reference_at_hand(plan: Plan, constraint: CountedConstraint, classes: Classes) -> bool:
    """Return whether a constraint needs neither the input's distribution nor a hierarchy built from it."""
    if not plan.moving_reference and _uses_reference(constraint):
        return False
    if constraint.attribute not in plan.grown:
        return True
    counts, _ = classes.sensitive_counts(constraint.attribute, combined=constraint.combined)
    return not constraint.model.along_hierarchy(counts.attribute)


def check_levels(case: AuditCase) -> None:
    """The published texts are of the reported level, if the hierarchy is available."""
    claims, config = case.claims, case.config
    levels = claims.get(("recoding", "levels"))
    if not isinstance(levels, Mapping):
        return
    texts = case.quasi_identifiers
    if set(levels) != set(texts):
        claims.refute(("recoding", "levels"), "has other columns than the quasi-identifiers")
        return
    suppresses_cells = config.suppression.keep_rows or config.suppression.method.value == "cells"
    for name, level in levels.items():
        if case.appended:
            continue
        settings = config.attributes[name].hierarchy
        if not _has_known_labels(config.attributes[name]):
            continue
        source = FlatSource() if settings is None else settings.build()
        if level is None and not (claims.internal or source.fixed_height):
            # The number of such a level depends on suppressed records.
            claims.agree(("recoding", "levels", name))
            continue
        shown = [text for text in texts[name] if text not in ("", SUPPRESSED, MISSING)]
        # A column of * alone does not determine its level if * is not only the root.
        if not shown and (SUPPRESSED not in texts[name] or suppresses_cells):
            continue
        try:
            possible = source.levels_of(shown, config.folder)
        except (OSError, HierarchyError):
            continue
        if possible is None or (not possible and settings is not None and settings.unknown.value == "top"):
            continue
        if shown and not suppresses_cells and _has_wrong_stars(case, name, level, source):
            what = f"the report says {level}, which has no '{SUPPRESSED}'"
            claims.refute(("recoding", "levels", name), what)
            continue
        if type(level) is not int or level not in possible:
            found = ", ".join(map(str, sorted(possible))) or "no level of the hierarchy"
            claims.refute(
                ("recoding", "levels", name), f"the report says {level}, the published texts {found}"
            )
        elif len(possible) == 1:
            claims.agree(("recoding", "levels", name))


def _has_known_labels(settings: AttributeSettings) -> bool:
    """Return whether the hierarchy's labels are published; a date may be a month or a year itself."""
    return settings.dates.days and settings.number_labels is NumberLabels.RANGE


def _has_wrong_stars(case: AuditCase, name: str, level: Any, source: HierarchySource[Any]) -> bool:
    """Return whether a column publishes ``*`` at a level of its hierarchy without ``*``."""
    settings = case.config.attributes[name].hierarchy
    if SUPPRESSED not in case.quasi_identifiers[name]:
        return False
    if settings is not None and settings.unknown.value == "top":
        return False
    levels_with_star = source.levels_of([SUPPRESSED], case.config.folder)
    return levels_with_star is not None and level not in levels_with_star


def check_losses(case: AuditCase) -> None:
    """Losses that follow from class sizes and levels are those of the release."""
    claims, levels = case.claims, case.claims.get(("recoding", "levels"))
    known: dict[str, Any] = {} if case.appended else _losses_of_sizes(case)
    if isinstance(levels, Mapping) and all(type(each) is int for each in levels.values()):
        known["height"] = sum(levels.values())
    elif levels is None:
        known["height"] = None
    for name, loss in known.items():
        claims.compare(("loss", name), loss)
    if not case.appended:
        _check_objective(case, known)


def _losses_of_sizes(case: AuditCase) -> dict[str, Any]:
    """Return the losses that sizes of classes and the number of suppressed records determine."""
    claims, sizes, found = case.claims, case.classes.sizes, {}
    if len(sizes):
        average = Fraction(int(sizes.sum()), len(sizes)) / (case.plan.k or int(sizes.min()))
        found["average_class_size"] = float(average)
    suppressed, records = claims.number(("release", "suppressed_records")), claims.number(("input", "rows"))
    if suppressed is not None and records is not None:
        kept_suppressed = int(suppressed) - (int(records) - case.classes.records)
        kept = int((sizes.astype(object) ** 2).sum()) - kept_suppressed**2
        found["discernibility"] = kept + int(suppressed) * int(records)
    return found


def _check_objective(case: AuditCase, known: Mapping[str, Any]) -> None:
    """The objective equals the loss of its name, by its weights, and the gap follows from both.

    Parameters
    ----------
    known: recomputed losses, unrounded; the others are as reported.
    """
    claims, key, shown = case.claims, ("search", "objective"), case.claims.section(("loss",))
    aggregate = claims.get(("config", "objective", "aggregate"))
    metric = loss_key(str(claims.get(("config", "objective", "metric"))))
    losses = {name: known.get(name, claims.number(("loss", name))) for name in shown}
    for asked, section in (("weights", "weighted_loss"), ("unit", "unit_loss")):
        if claims.get(("config", "objective", asked)) not in (ABSENT, None):
            own = claims.section((section,))
            losses = {name: claims.number((section, name)) for name in losses if name in own}
    if aggregate in ("arithmetic-mean", ABSENT) and losses.get(metric) is not None:
        # A search can count in floats, and these are rounded.
        if isinstance(claims.get(key), float):
            losses = {name: loss if loss is None else float(loss) for name, loss in losses.items()}
        same = claims.compare(key, losses[metric])
        # If another loss is equal, by chance or after rounding, the objective does not determine the metric.
        digits = None if claims.internal else PUBLIC_DIGITS
        tied = [name for name, loss in losses.items() if agrees(claims.get(key), loss, digits)]
        if same and tied == [metric]:
            claims.agree(("config", "objective", "metric"))
    objective, bound = (claims.number(("search", name)) for name in ("objective", "bound"))
    if objective is None or bound is None or not claims.internal:
        return
    if objective:
        claims.compare(("search", "gap"), (objective - bound) / objective)
    else:
        claims.compare(("search", "bound"), objective)
        claims.compare(("search", "gap"), 0.0)


def check_attacks(case: AuditCase) -> None:
    """An attack that needs only the release has the reported success."""
    claims, attacks = case.claims, case.config.attacks
    entries = claims.get(("attacks",))
    written = claims.get(("config", "attacks"))
    # The config lacks attacks of plug-ins that are not installed.
    if not isinstance(entries, list) or not isinstance(written, list) or len(written) != len(attacks):
        return
    for position in range(len(entries)):
        claims.expect(("attacks", position), ATTACK_KEYS if claims.internal else ATTACK_KEYS[:-2])
    if not attacks:
        if entries:
            claims.refute(("attacks",), "has attacks that are not in the config of the report")
        claims.agree(("attacks",))
        claims.agree(("config", "attacks"))
        return
    asked = {each.attack for each in attacks}
    named = {str(each.get("attack")) if isinstance(each, Mapping) else str(each) for each in entries}
    if asked != named:
        claims.refute(("attacks",), f"has {_names(named)}, the config of the report has {_names(asked)}")
        return
    built = [each.build() for each in attacks]
    own = [
        each
        for each in built
        if each.of_release_alone
        and each.missing_requirement(case.scene) is None
        and not (isinstance(each, Similarity) and _trees_missing(case))
    ]
    found = [
        each.finding
        for each in run_timed(
            own, 0, lambda attack, random: marked(attack.run(case.scene, random), case.scene)
        )
    ]
    repeated = {each.name for each in own}
    for position, settings in enumerate(attacks):
        if settings.attack in repeated:
            _agree_options(claims, position, settings.attack)
    _compare_findings(claims, entries, found, repeated, set(case.config.input.unit_columns))


def _agree_options(claims: Claims, position: int, attack: str) -> None:
    """Note the options of a repeated attack that its entries show as checked.

    The effect of other options, such as the size of a population, is in the details of the internal report.
    """
    key = ("config", "attacks", position)
    entries = claims.get(("attacks",))
    shown = [
        each.get("knowledge")
        for each in entries
        if isinstance(each, Mapping) and each.get("attack") == attack
    ]
    known = [each for each in shown if isinstance(each, Mapping)]
    options = claims.section(key)
    if claims.internal or not options:
        claims.agree(key)
    for name, value in options.items():
        key_shown = "attributes" if name == "knowledge" else name
        same = any(_same_option(each.get(key_shown), value) for each in known)
        if name == "attack" or value is None or same:
            claims.agree((*key, name))


def _same_option(shown: Any, value: Any) -> bool:
    """Return whether an entry shows an option; exact decimals are texts in it."""
    return agrees(shown, value) or (isinstance(value, (int, float)) and shown == str(value))


def _trees_missing(case: AuditCase) -> bool:
    """Return whether a sensitive attribute has a hierarchy that is missing or built from the input."""
    known = case.scene.disclosing.sensitive
    return any(
        case.config.attributes[name].hierarchy is not None and own.attribute.hierarchy is None
        for name, own in known.items()
    )


def _compare_findings(
    claims: Claims,
    entries: Sequence[Any],
    found: Sequence[AttackResult],
    repeated: set[str],
    units: set[str],
) -> None:
    """Compare the entries of repeated attacks with their findings, which are in the same order.

    Entries on units of the config are not compared: a release does not say whose its records are.
    """
    if not all(isinstance(each, Mapping) for each in entries):
        claims.refute(("attacks",), "has an entry that is not a mapping")
        return
    places = [at for at, each in enumerate(entries) if each.get("attack") in repeated]
    for position in set(range(len(entries))) - set(places):
        claims.agree(("attacks", position, "attack"))
    if len(places) != len(found):
        claims.refute(("attacks",), f"has {len(places)} entries of {_names(repeated)}, found {len(found)}")
        return
    for position, finding in zip(places, found, strict=True):
        known = entries[position].get("knowledge")
        if isinstance(known, Mapping) and known.get("unit") in units and known.get(LINKS) != USED:
            continue
        entry = attack_entry(finding, 0.0)
        for name in ("attack", "knowledge", "success", "baseline", "low", "high", "records"):
            claims.compare(("attacks", position, name), entry[name])
        if claims.internal:
            claims.compare(("attacks", position, "details"), entry["details"])
        for name in PUBLIC_DETAILS:
            if not claims.internal and name in entry["details"]:
                claims.compare(("attacks", position, "details", name), entry["details"][name])


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def check_matrix(case: AuditCase) -> None:
    """The table of threats follows from the reported constraints and attacks."""
    claims, entries = case.claims, case.claims.get(("attacks",))
    rows = claims.get(("attack_matrix",))
    if not isinstance(entries, list) or not isinstance(rows, list):
        return
    try:
        # The lowest and highest figures before rounding, with hidden ones at either end.
        bounds = [_matrix(case, entries, slack, hidden) for slack in (-1.0, 1.0) for hidden in (0.0, 1.0)]
    except (KeyError, TypeError, AttributeError):
        # A run does not write such an entry.
        return
    if len(rows) != len(bounds[0]):
        claims.refute(("attack_matrix",), f"has {len(rows)} rows, found {len(bounds[0])}")
        return
    for position, found in enumerate(zip(*bounds, strict=True)):
        row = found[0]
        names = [name for name in row if claims.internal or name != "contradictions"]
        claims.expect(("attack_matrix", position), names)
        certain = {name for name in row if all(each[name] == row[name] for each in found)}
        for name in ("threat", "claimed_by", "success", "contradicted", "contradictions"):
            if name in certain and name in names:
                claims.compare(("attack_matrix", position, name), row[name])
        verdict = ("attack_matrix", position, "contradicted")
        if "success" in certain and row["success"] is None and claims.get(verdict) is None:
            # The public report has no verdict on a threat without a measurement.
            claims.agree(verdict)
        if {"success", "baseline"} <= certain:
            _check_baseline(claims, position, row)


FIGURES = ("success", "baseline", "low", "high")
"""Figures of an attack; the public report hides those that would disclose the input."""


def _matrix(case: AuditCase, entries: Sequence[Any], slack: float, hidden: float) -> list[dict[str, Any]]:
    """Return the table of reported entries, with the lowest or highest figures before rounding.

    Parameters
    ----------
    slack: -1 for the lowest, 1 for the highest.
    hidden: value of every figure that the report hides.
    """
    constraints = [each for each in case.plan.constraints(case.sensitive) if each.scenario is None]
    # Half a unit in the third digit is at most 0.5 %, for both sides of a comparison.
    share = 0.0 if case.claims.internal else 0.02 * slack
    shown = [
        each
        | ({"details": {"each_guess": hidden}} if each["success"] is None else {})
        | {name: hidden for name in FIGURES if each[name] is None}
        for each in entries
    ]
    shown = [each | {"low": each["low"] * (1 + share), "details": _scaled(each, 1 + share)} for each in shown]
    return attack_matrix(constraints, shown, case.plan.k, persons=PERSON in case.plan.units)


def _scaled(entry: Mapping[str, Any], factor: float) -> dict[str, Any]:
    """Return the details of an attack with the figure that decides about a claim before rounding."""
    details = dict(entry.get("details") or {})
    if details.get("beyond_guess") is not None:
        details["beyond_guess"] *= factor
    return details


def _check_baseline(claims: Claims, position: int, row: Mapping[str, Any]) -> None:
    """Compare the baseline of the worst attack; after rounding, other attacks may be equally bad."""
    if row["success"] is None or claims.internal:
        claims.compare(("attack_matrix", position, "baseline"), row["baseline"])
        return
    key = ("attack_matrix", position, "baseline")
    entries = claims.get(("attacks",))
    tied = [each.get("baseline") for each in entries if each.get("success") == row["success"]]
    claims.compare(key, claims.get(key) if claims.get(key) in tied else row["baseline"])


CHECKS: Sequence[Callable[[AuditCase], None]] = (
    check_verdict,
    check_names,
    check_attributes,
    check_counts,
    check_order,
    check_texts,
    check_suppression,
    check_constraints,
    check_scenarios,
    check_levels,
    check_losses,
    check_attacks,
    check_matrix,
)
"""The checks that need the release and a report, in the order of their findings."""


TextArray = NDArray[np.object_]

AGGREGATING = ("microaggregation",)
"""Algorithms that publish numbers which are not in the input, so records cannot be matched."""


def check_input(case: AuditCase) -> list[str]:
    """Compare a release with the input, if the report is internal and the input is available.

    Returns
    -------
    Names of the comparisons that were not made.

    Raises
    ------
    InputError: the input cannot be read with the config.
    """
    nothing = [AGAINST_THE_INPUT, *([GROUP_ORDER] if case.in_groups else [])]
    folder = None if case.appended else _folder_of_input(case)
    if folder is None:
        return [*nothing, COLUMN_ORDER]
    config = case.config.located(Origin(str(case.report.path), folder))
    with open_as(config, config.folder / str(config.input.path)) as source:
        _check_facts(case, source)
        _check_column_order(case, source)
        plan = plan_of(config)
        put_in_bands(plan, source)
        _check_untouched(case, source)
        job = prepare_table(plan, source)
        if job.problem.source is not None:
            return nothing
        table = job.problem.table
        if case.in_groups:
            _check_lowest(case, table)
        columns = [each.column for each in table.quasi_identifiers]
        for column in (*columns, *(each.column for each in table.sensitive)):
            case.claims.compare(("attributes", column.name, "type"), column.type.value)
        if case.claims.get(("search", "algorithm")) in AGGREGATING:
            return nothing
        matched = _matched(case, table)
        if case.in_groups:
            _check_group_order(case, table)
            return [AGAINST_THE_INPUT]
        return [] if _check_losses(case, job, matched) else nothing


def check_recoding_file(case: AuditCase) -> None:
    """Compare the hash of recoding.json, if it is next to the report."""
    claims, key = case.claims, ("recoding_file",)
    path = case.report.path.parent / RECODING
    if not claims.internal or not path.is_file():
        return
    claims.expect((), key)
    if claims.get(key) is not ABSENT:
        claims.compare((*key, "path"), RECODING)
        claims.compare((*key, "sha256"), sha256_of(path))


def _folder_of_input(case: AuditCase) -> Path | None:
    """Return the folder that the path of the input is relative to; None if the input is not available."""
    claims, given, report = case.claims, case.config.input.path, case.report.path
    if given is None or "://" in given or not claims.internal:
        return None
    sha256 = claims.get(("input", "sha256"))
    # A relative path to a report in the current folder does not show the folder above.
    for folder in (report.absolute().parent.parent, report.parent, Path()):
        path = folder / given
        if path.is_file() and sha256_of(path) == sha256:
            return folder
    return None


def _check_facts(case: AuditCase, source: Relation) -> None:
    claims = case.claims
    claims.compare(("input", "sha256"), source.sha256)
    claims.compare(("input", "path"), case.config.input.path)
    claims.agree(("config", "input", "path"))
    claims.compare(("input", "rows"), source.rows)
    claims.compare(("input", "columns"), len(source.columns))
    claims.compare(("input", "separator"), source.separator)


def _check_column_order(case: AuditCase, source: Relation) -> None:
    """Check that the columns are in the order of the input; another order could disclose something.

    Raises
    ------
    InputError: they are not.
    """
    release = case.relations[0]
    own = [name for name in release.columns if name in source.columns]
    if own != [name for name in source.columns if name in release.columns]:
        raise InputError(f"{release.name}: the columns are in another order than in the input")


def _check_untouched(case: AuditCase, source: Relation) -> None:
    """Compare the columns that are released unchanged.

    Raises
    ------
    InputError: a column has other values, or nulls instead of empty texts, or the reverse.
    """
    release, roles = case.relations[0], case.config.attributes
    removed = source.rows - release.rows
    for name in release.columns:
        if name not in roles or roles[name].role is Role.QUASI_IDENTIFIER or not roles[name].released:
            continue
        if source.changed_records(name, release) != (0, removed):
            raise InputError(f"{release.name}: column '{name}' does not contain the values of the input")
        if release.separator is None and any(
            own > given
            for own, given in zip(missing_cells(release, name), missing_cells(source, name), strict=True)
        ):
            raise InputError(
                f"{release.name}: column '{name}' has nulls instead of empty texts, or the reverse"
            )


def _check_lowest(case: AuditCase, table: Table) -> None:
    """Compare the quasi-identifiers of an Anatomy release, which are published at their lowest levels.

    Raises
    ------
    InputError: a column has other values.
    """
    release, nothing = case.relations[0], np.zeros(table.combinations, dtype=bool)
    lowest = [each.minimum for each in table.quasi_identifiers]
    for column in FullDomainRecoding(table, lowest, nothing, nothing).published():
        records = count(column.codes.astype(np.int64), table.counts, len(column.labels)).tolist()
        known = zip(column.labels, records, strict=True)
        if changed(known, release.dictionary(column.name)) != (0, table.records - release.rows):
            what = f"column '{column.name}' does not contain the values of the input"
            raise InputError(f"{release.name}: {what}")


@dataclass(frozen=True, eq=False)
class _Matched:
    """A match of the records of the input with those of the release.

    Attributes
    ----------
    table: of the input, its distinct rows split into parts.
    owner: distinct row of each part, shape (parts,), ascending.
    published: distinct row of the release for each part, -1 for removed records, shape (parts,).
    possible: all pairs of a distinct row of the input and one of the release that generalizes it.
    certain: whether no other match fits, so that it is known whose the released records are.
    """

    table: Table
    owner: IntArray
    published: IntArray
    possible: tuple[IntArray, IntArray]
    certain: bool


def _matched(case: AuditCase, table: Table) -> _Matched:
    """Match every record of the release with a different record of the input.

    A released record generalizes the quasi-identifiers of its match and has the same sensitive values.

    Raises
    ------
    InputError: a record has no match.
    """
    own = case.scene.release
    meanings = [
        _meaning(case, each, own.labels[own.names.index(each.name)]) for each in table.quasi_identifiers
    ]
    published = [own.codes[:, own.names.index(each.name)] for each in table.quasi_identifiers]
    columns = [table.codes[:, place] for place in range(len(published))]
    for each in () if case.in_groups else table.sensitive:
        codes = table.sensitive_codes(each.name)
        meanings.append(same_values(SensitiveCodes(each, codes.astype(np.int64)), own.sensitive[each.name]))
        published.append(own.sensitive[each.name].codes.astype(np.int32))
        columns.append(codes)
    possible = possible_links(meanings, np.column_stack(columns), np.column_stack(published))
    possible = _as_recoded(case, table, possible)
    links = largest_links(possible, table.counts, own.counts)
    lacking = own.records - links.records
    if lacking:
        raise InputError(f"{own.source}: {lacking:,} records cannot be matched with records of the input")
    return _parts(table, links, possible)


def _as_recoded(
    case: AuditCase, table: Table, possible: tuple[IntArray, IntArray]
) -> tuple[IntArray, IntArray]:
    """Return those pairs of rows that agree with recoding.json, if the run kept it; all of them without.

    Published nodes of cuts may overlap, so that values alone do not tell where the cuts put a record.
    """
    path = case.report.path.parent / RECODING
    if not case.claims.internal or not path.is_file():
        return possible
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != case.claims.get(("recoding_file", "sha256")):
        return possible
    (sources, targets), own = possible, case.scene.release
    applied = parse_kept(str(path), content).applied_to(table)
    same = ~applied.uncovered[sources]
    starred = np.ones(len(same), dtype=np.bool_)
    for column in applied.recoding(np.zeros(table.combinations, dtype=np.bool_)).published():
        place = own.names.index(column.name)
        shown = np.array(own.labels[place], dtype=object)[own.codes[targets, place]]
        same &= shown == np.array(column.labels, dtype=object)[column.codes[sources]]
        starred &= shown == SUPPRESSED
    kept = same | starred if case.config.suppression.keep_rows else same
    return sources[kept], targets[kept]


def _meaning(case: AuditCase, attribute: QuasiIdentifier, labels: Sequence[str | None]) -> ValueCoverage:
    """Return the values that published texts cover, by the recoding in the report.

    A hierarchy may repeat a label at several levels for other values, so texts alone are ambiguous.
    """
    read = meaning_of(attribute, labels, case.config.input.missing)
    level = case.claims.get(("recoding", "levels", attribute.name))
    own = _values_by_node(attribute)
    if type(level) is int and 0 <= level <= attribute.hierarchy.height:
        own = _values_at(attribute, level)
    parts = [
        own[label] if label in own and label != SUPPRESSED else read.values[start:end]
        for label, start, end in zip(labels, read.starts[:-1], read.starts[1:], strict=True)
    ]
    starts = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return replace(read, starts=starts, values=np.concatenate(parts).astype(np.int64))


def _values_at(attribute: QuasiIdentifier, level: int) -> Mapping[str | None, IntArray]:
    """Return the codes of the values that each label of a level covers."""
    nodes = attribute.nodes(level)
    labels = attribute.column.texts if level == 0 else attribute.hierarchy.labels
    names = labels if level == 0 else [labels[node] for node in nodes.tolist()]
    own: dict[str | None, list[int]] = {}
    for code, name in enumerate(names):
        own.setdefault(name, []).append(code)
    return {name: np.array(codes, dtype=np.int64) for name, codes in own.items()}


def _values_by_node(attribute: QuasiIdentifier) -> Mapping[str | None, IntArray]:
    """Return the codes of the values that each label covers in a local recoding."""
    canonical, labels = distinct_nodes(attribute)
    tree, leaves = attribute.hierarchy, attribute.leaf
    order = np.argsort(leaves, kind="stable")
    nodes = np.unique(canonical)
    starts, ends = (np.searchsorted(leaves[order], each[nodes]) for each in (tree.first_leaf, tree.last_leaf))
    return {
        labels[node]: np.sort(order[start:end])
        for node, start, end in zip(nodes.tolist(), starts, ends, strict=True)
    }


def _check_group_order(case: AuditCase, table: Table) -> None:
    """Compare the numbers of buckets with the order of their published rows, all that they may disclose."""
    grouped = case.scene.grouped
    assert grouped is not None, "an Anatomy release has buckets"
    nodes = []
    for position, name in enumerate(grouped.names):
        attribute = next(each for each in table.quasi_identifiers if each.name == name)
        meaning = _meaning(case, attribute, grouped.labels[position])
        own = attribute.nodes(attribute.minimum)[meaning.values[meaning.starts[:-1]]]
        nodes.append(own[grouped.codes[:, position]])
    ranks = np.unique(np.column_stack(nodes), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    group = np.repeat(grouped.group, grouped.counts)
    values = np.repeat(grouped.sensitive.values, grouped.sensitive.counts)
    published = (np.repeat(ranks, grouped.counts), values)
    if (renumbered(group, len(grouped.groups), published) != group).any():
        what = "buckets are not numbered in the order of their published rows, so numbers can disclose more"
        case.claims.refute(("recoding", "groups"), what)


def _parts(table: Table, links: Links, possible: tuple[IntArray, IntArray]) -> _Matched:
    """Return the distinct rows of a table in parts, each linked to one distinct row of the release."""
    left = table.counts - count(links.original, links.counts, table.combinations)
    removed_rows = np.flatnonzero(left)
    owner = np.concatenate([links.original, removed_rows])
    published = np.concatenate([links.release, np.full(len(removed_rows), -1)])
    order = np.argsort(owner, kind="stable")
    counts = np.concatenate([links.counts, left[removed_rows]])[order]
    parts = table.split(owner[order], counts)
    return _Matched(parts, owner[order], published[order], possible, links.forced)


def _check_losses(case: AuditCase, prepared: Prepared, matched: _Matched) -> bool:
    """Compare levels, losses and constraints that follow from the match with those of the report.

    Returns
    -------
    Whether the published texts were compared with a recoding of the input.
    """
    claims, own, problem = case.claims, case.scene.release, prepared.problem
    table = problem.table
    removed = matched.published < 0
    texts = _texts(own, table, matched)
    kept_suppressed = np.zeros(len(removed), dtype=bool)
    if case.config.suppression.keep_rows:
        all_stars = np.logical_and.reduce([each == SUPPRESSED for each in texts]) & ~removed
        number = _kept_suppressed(case, matched)
        if number is None or number == int(matched.table.counts[all_stars].sum()):
            kept_suppressed = all_stars
        elif number:
            # Some of these rows belong to a class at all roots, indistinguishable from suppressed ones.
            return False
    fate = (removed | kept_suppressed, removed)
    along_hierarchies = _recoding(case, matched, texts, fate)
    settings = _mondrian_settings(case, along_hierarchies)
    regions = None if settings is None else _regions(case, problem, settings, matched, texts, fate)
    recoding = regions or along_hierarchies
    if recoding is None:
        if case.config.algorithm.name == "local":
            what = "local publishes generalized values of the hierarchies; found other texts"
            case.claims.refute(("search", "algorithm"), what)
        return False
    for column, shown in zip(recoding.published(), texts, strict=True):
        promised = np.array(column.labels, dtype=object)[column.codes]
        if (promised != shown)[~removed].any():
            what = "the published texts are not of the reported level"
            claims.refute(("recoding", "levels", column.name), what)
            return True
    for name in claims.section(("recoding", "levels")):
        claims.agree(("recoding", "levels", name))
    for name, read in numbers_of(recoding).items():
        claims.compare(("release", "numbers", name), numbers_entry(read))
    for key, loss in _losses(recoding, case.plan.k, certain=_certain(matched, recoding)).items():
        claims.compare(key, loss)
    _measure_with_input(case, prepared, recoding, certain=matched.certain)
    if not matched.certain:
        case.unmeasured[:] = [replace(each, missing=SEVERAL_MATCHES) for each in case.unmeasured]
    return settings is None or regions is not None


def _losses(recoding: Recoding, k: int | None, *, certain: bool) -> dict[tuple[str, str], float | None]:
    """Return the losses of a recoding by their keys in the report.

    Parameters
    ----------
    certain: whether all matches with the input agree on the suppressed values.
    """
    own = released(recoding, k)
    found = {("loss", name): loss for name, loss in all_losses(own).items()}
    if not certain:
        del found["loss", "nonuniform_entropy"]
    # Records with equal values match alike, whatever their weights, and may be published differently.
    elif recoding.table.sampling is not None and recoding.levels is not None:
        section = "weighted_loss" if recoding.table.sampling.unit is None else "unit_loss"
        found |= {(section, name): loss for name, loss in weighted_losses(own).items()}
    return found


def _kept_suppressed(case: AuditCase, matched: _Matched) -> int | None:
    """Return how many rows of ``*`` alone are suppressed in the report; None if all of them must be."""
    levels = case.claims.section(("recoding", "levels"))
    attributes = matched.table.quasi_identifiers
    suppressed = case.claims.number(("release", "suppressed_records"))
    if suppressed is None or not all(_has_stars(each, levels.get(each.name)) for each in attributes):
        return None
    return int(suppressed) - int(matched.table.counts[matched.published < 0].sum())


def _has_stars(attribute: QuasiIdentifier, level: Any) -> bool:
    """Return whether a level has the label ``*``, as a hierarchy may below its root; None is the root's."""
    height = attribute.hierarchy.height
    level = height if level is None else level
    if not isinstance(level, int) or not 0 <= level < height:
        return bool(level == height)
    return SUPPRESSED in {attribute.hierarchy.labels[node] for node in np.unique(attribute.nodes(level))}


def _mondrian_settings(case: AuditCase, along_hierarchies: Recoding | None) -> MondrianSettings | None:
    """Return the settings of Mondrian; None for another algorithm.

    Mondrian chosen by ``auto`` publishes either nodes or intervals.
    """
    given = case.config.algorithm
    if given.name == "mondrian":
        settings: MondrianSettings = given.settings
        return settings
    if given.name != "auto" or case.claims.get(("search", "algorithm")) != "mondrian":
        return None
    labels = LabelName.INTERVAL if along_hierarchies is None else LabelName.HIERARCHY
    return MondrianSettings(labels=labels)


def _texts(own: PublishedTable, table: Table, matched: _Matched) -> list[TextArray]:
    """Return the published texts of the parts by quasi-identifier; those of removed records are arbitrary."""
    found = []
    for each in table.quasi_identifiers:
        position = own.names.index(each.name)
        labels = np.array([label or "" for label in own.labels[position]], dtype=object)
        found.append(labels[own.codes[np.maximum(matched.published, 0), position]])
    return found


def _regions(
    case: AuditCase,
    problem: SearchProblem,
    settings: MondrianSettings,
    matched: _Matched,
    texts: Sequence[TextArray],
    fate: tuple[BoolArray, BoolArray],
) -> Recoding | None:
    """Return the recoding that Mondrian derives from the values in each class, if it is the published one.

    Returns
    -------
    None if the match is ambiguous, because records fit several classes.

    Raises
    ------
    InputError: a label is wider than the values that can be in its class.
    """
    labelling = labelling_of(problem, settings)
    _, class_of = np.unique(case.scene.release.codes, axis=0, return_inverse=True)
    region_of = np.append(class_of.reshape(-1), class_of.max() + 1)[matched.published]
    recoding = _by_regions(labelling, matched.table, region_of, fate)
    for column, shown in zip(recoding.published(), texts, strict=True):
        if (np.array(column.labels, dtype=object)[column.codes] != shown)[~fate[1]].any():
            _refuse_wide_labels(case, labelling, matched, problem.table)
            return None
    return recoding


def _refuse_wide_labels(case: AuditCase, labelling: Labelling[Any], matched: _Matched, table: Table) -> None:
    """Check that labels cover no more than the values of all records that can be in their class.

    Raises
    ------
    InputError: a label covers more.
    """
    own, (source, target) = case.scene.release, matched.possible
    classes, class_of = np.unique(own.codes, axis=0, return_inverse=True)
    pairs = np.unique(np.column_stack([source, class_of.reshape(-1)[target]]), axis=0)
    parts = table.split(pairs[:, 0], np.ones(len(pairs), dtype=np.int64))
    widest = _by_regions(labelling, parts, pairs[:, 1])
    for column in widest.published():
        position = own.names.index(column.name)
        labels = np.array([label or "" for label in own.labels[position]], dtype=object)
        shown = labels[classes[pairs[:, 1], position]]
        wide = (np.array(column.labels, dtype=object)[column.codes] != shown) & (shown != SUPPRESSED)
        if wide.any():
            raise InputError(
                f"{own.source}: column '{column.name}' contains '{shown[wide][0]}', which is wider than the "
                "values of the input in its class"
            )


def _by_regions(
    labelling: Labelling[Any],
    table: Table,
    region_of: IntArray,
    fate: tuple[BoolArray, BoolArray] | None = None,
) -> Recoding:
    """Return the recoding that Mondrian derives from regions.

    Parameters
    ----------
    table: of the input, its distinct rows split into parts.
    region_of: region of each part, shape (parts,), every region with at least one.
    fate: the suppressed parts, and the removed ones among them, whole regions each.
    """
    order, number = np.argsort(region_of, kind="stable"), int(region_of.max(initial=-1)) + 1
    regions = Regions(order, table.counts[order], Segments(region_of[order], number))
    suppressed, removed = np.zeros((2, number), dtype=bool)
    if fate is not None:
        suppressed[region_of[fate[0]]] = removed[region_of[fate[1]]] = True
    return labelling.recoding(table, regions, suppressed, removed)


def _recoding(
    case: AuditCase, matched: _Matched, texts: Sequence[TextArray], fate: tuple[BoolArray, BoolArray]
) -> Recoding | None:
    """Return the recoding with the published texts; None if a text is not a node of its hierarchy.

    Parameters
    ----------
    fate: the suppressed parts, and the removed ones among them.
    """
    levels = case.claims.get(("recoding", "levels"))
    attributes = matched.table.quasi_identifiers
    if isinstance(levels, Mapping):
        own = [levels.get(each.name) for each in attributes]
        heights = [each.hierarchy.height for each in attributes]
        if any(
            type(level) is not int or not 0 <= level <= height
            for level, height in zip(own, heights, strict=True)
        ):
            case.claims.refute(("recoding", "levels"), "has a level that is not in its hierarchy")
            return None
        full = FullDomainRecoding(matched.table, [int(level) for level in own if level is not None], *fate)
        return _with_suppressed_cells(case, full, texts, fate[1])
    found = [_nodes(each, shown, fate[0]) for each, shown in zip(attributes, texts, strict=True)]
    nodes = [each for each in found if each is not None]
    if len(nodes) < len(attributes):
        return None
    return NodeRecoding(matched.table, np.column_stack(nodes), *fate)


def _with_suppressed_cells(
    case: AuditCase, full: FullDomainRecoding, texts: Sequence[TextArray], removed: BoolArray
) -> Recoding:
    """Return a full-domain recoding with the local suppression of the published texts, if there is one."""
    if case.config.suppression.method.value != "cells":
        return full
    nothing = np.zeros(len(removed), dtype=bool)
    base = FullDomainRecoding(full.table, full.levels, nothing, nothing)
    blanks = np.column_stack([each == SUPPRESSED for each in texts])
    blanks[removed] = True
    return LocalSuppressionRecoding(full.table, base, blanks, removed=removed)


def _nodes(attribute: QuasiIdentifier, shown: TextArray, suppressed: BoolArray) -> CodeArray | None:
    """Return the node of each published text; None if a text is not a node of the hierarchy."""
    canonical, labels = distinct_nodes(attribute)
    known = {labels[node]: node for node in np.unique(canonical).tolist()}
    found = [0 if hidden else known.get(text) for text, hidden in zip(shown, suppressed, strict=True)]
    return None if None in found else np.array(found, dtype=np.int32)


def _certain(matched: _Matched, recoding: Recoding) -> bool:
    """Return whether all matches agree on the suppressed values."""
    if not (matched.published < 0).any():
        return True
    if recoding.levels is None:
        return False
    # If all or none of the records with equal published rows are released, every match releases the same.
    table, kept = recoding.table.unweighted, np.zeros_like(recoding.suppressed)
    as_published, everything = (
        FullDomainRecoding(table, recoding.levels, suppressed, removed).merged.table.combinations
        for suppressed, removed in ((recoding.suppressed, recoding.removed), (kept, kept))
    )
    return as_published == everything


JUDGED = ("input", "attributes", "constraints", "scenarios", "reference", "suppression", "output")
"""Sections of a config that state the promises of a release."""

OF_PLUG_INS = ("algorithm", "objective", "attacks", "utility")
"""Sections that may name plug-ins which only the publisher has installed; they are skipped then."""

LEFT_OUT = "optional keys that config leaves out"
"""Never checked: whether the run had settings that the config in the report omits."""

BY_NAME = (
    "run names hierarchy files without folders in the public report: ask the publisher for the report as run "
    "wrote it, and put the files next to it"
)
"""Remedy for a path that ``run`` does not write."""

SEVERAL_MATCHES = "not measured, as records of the input fit several rows of the release"
"""Why a constraint on units is not measured with the input."""

AGAINST_THE_INPUT = "values of the release against the input"
"""Not checked without the input."""

AROUND_VALUES = "bytes of the files around their values"
"""Not checked if values are written differently: quotes, metadata of Parquet, the header of gzip."""

COLUMN_ORDER = "order of the columns"
"""Not checked without the input."""

COLUMN_TYPES = "types of the columns"
"""Not checked for files with types, such as Parquet, except in recoded columns."""

MISSING_CELLS = "missing cells: null or empty text"
"""Not checked if a column of the release has both."""

MOST_REWRITTEN = 1_000_000
"""Maximum number of rows of a file that is rewritten to compare its bytes."""

GROUP_ORDER = "order of the numbers of groups"
"""Not checked for an Anatomy release without the input."""


def audit_release(path: Path, report: Path | None = None) -> ReleaseAudit:
    """Verify a release.

    Parameters
    ----------
    report: public or internal report; default: ``report.public.json`` next to the release. Paths of
        hierarchies are relative to its folder; the path of the input of an internal report to that folder,
        its parent, or the current folder.

    Raises
    ------
    InputError: the report is missing or not a report, or the release is missing.
    """
    pair = find_anatomy_files(path)
    if pair is None and not is_url(str(path)) and not path.exists():
        raise InputError(f"{path}: no such file; give the released file")
    if any((folder / PUBLIC_REPORT).is_file() for folder in (path, path / "share")):
        raise InputError(f"{path}: is the folder of a release; give the released file in it")
    given = report if report is not None else path.with_name(PUBLIC_REPORT)
    claimed = AuditedReport(given, read_reported(given), Claims(read_content(given)), ReleaseAudit())
    claims, found = claimed.claims, claimed.found
    files = [path] if pair is None else [pair.records, pair.values]
    if _same_files(files, claimed):
        with _noting(found), ExitStack() as stack:
            config = _judged(claimed)
            written = claimed.reported.release
            relations = [stack.enter_context(open_own_release(file, config, written)) for file in files]
            claims.compare(("release", "separator"), relations[0].separator)
            claims.agree(("release", "encoding"))
            counted = _counted if pair is None else _counted_pair
            case = counted(relations, claimed, config)
            if case is not None:
                for check in CHECKS:
                    with _noting(found):
                        check(case)
                if not all(map(partial(_is_as_written, dialect=written.dialect), relations, files)):
                    found.not_checked.append(AROUND_VALUES)
                found.not_checked += _of_types(case)
                with _noting(found):
                    check_recoding_file(case)
                    found.not_checked += check_input(case)
                _note_unmeasured(case)
    for disagreement in claims.disagreements:
        found.refute(disagreement)
    found.conclude()
    found.not_checked = [*claims.not_checked(), LEFT_OUT, *found.not_checked]
    return found


def _of_types(case: AuditCase) -> list[str]:
    """Return the unchecked properties of files with types and nulls."""
    typed = [each for each in case.relations if each.separator is None]
    both = any(all(missing_cells(each, name)) for each in typed for name in each.columns)
    return [*([COLUMN_TYPES] if typed else []), *([MISSING_CELLS] if both else [])]


def _is_as_written(relation: Relation, path: Path, dialect: CsvDialect | None) -> bool:
    """Return whether a file has exactly the bytes that this version writes for its values."""
    if is_url(str(path)) or path.is_dir() or not relation.ordered or relation.rows > MOST_REWRITTEN:
        return False
    everything = Projection(tuple(relation.columns), {}, np.ones(relation.rows, dtype=bool))
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        try:
            relation.records_query(everything).write(copy, dialect or CsvDialect.usual(path.name))
        except (OSError, OutputError):
            return False
        return sha256_of(copy) == sha256_of(path)


@contextmanager
def _noting(found: ReleaseAudit) -> Iterator[None]:
    """Treat an error of reading or counting the release as a disagreement."""
    try:
        yield
    except (AuditFailed, InputError) as error:
        found.refute(str(error))


def _same_files(files: Sequence[Path], report: AuditedReport) -> bool:
    """Compare the hashes; return whether the report describes the same number of files."""
    release, found = report.reported.release, report.found
    second = release.sensitive_table
    promised = [release.sha256, *([] if second is None else [second.sha256])]
    if len(files) != len(promised):
        files_of_report = "one file" if len(promised) == 1 else f"{len(promised)} files"
        found.refute(f"{report.path.name} describes a release of {files_of_report}, not {files[0].name}")
        return False
    for position, (file, sha256) in enumerate(zip(files, promised, strict=True)):
        report.claims.agree(("release", *(("sensitive_table",) if position else ()), "sha256"))
        if _hash(file) != sha256:
            found.refute(f"{file.name} is not the file that {report.path.name} describes (SHA-256 differs)")
    return True


def _judged(report: AuditedReport) -> Config:
    """Return the config of a report, without sections that name plug-ins which are not installed.

    Raises
    ------
    ConfigError: it has another problem.
    """
    wanted = [*JUDGED, *OF_PLUG_INS]
    while True:
        sections = {key: value for key, value in report.reported.config.items() if key in wanted}
        try:
            config = load_config(sections).located(Origin(str(report.path), report.path.parent))
        except ConfigError as error:
            wrong = {problem.where.partition(".")[0].partition("[")[0] for problem in error.problems}
            refused = wrong & set(OF_PLUG_INS) & sections.keys()
            if not refused:
                raise
            wanted = [key for key in wanted if key not in refused]
        else:
            _check_paths(config, report)
            written = as_reported(config.to_dict())
            for section in sections:
                report.claims.expect_all(("config", section), written[section])
            return config


def _check_paths(config: Config, report: AuditedReport) -> None:
    """Check that the hierarchies are regular files, for a public report in its folder, before reading any.

    Raises
    ------
    InputError: a hierarchy is not.
    """
    given = report.path
    public = not report.claims.internal or given.name == PUBLIC_REPORT
    for path in plan_of(config).hierarchy_files:
        if _lies_in(path, ready_folder()):
            continue
        if path.exists() and not path.is_file():
            raise InputError(
                f"{given}: names '{path}' as a hierarchy, which is not a regular file; {BY_NAME}"
            )
        if public and not _lies_in(path, given.parent):
            raise InputError(
                f"{given}: names '{path}' as a hierarchy, which is not in the folder of the report; {BY_NAME}"
            )


def _lies_in(path: Path, folder: Path) -> bool:
    """Return whether a path is below a folder, after resolving links."""
    try:
        return real_path(path).is_relative_to(real_path(folder))
    except (OSError, RuntimeError):
        return False


def _hash(path: Path) -> str | None:
    """Return the SHA-256 of a released file or folder, on any file system."""
    if not is_url(str(path)):
        return sha256_of(path)
    with open_release(path) as relation:
        return relation.sha256


def _counted(relations: Sequence[Relation], report: AuditedReport, config: Config) -> AuditCase | None:
    """Count a release in one table; None if it has other columns than expected."""
    (stored,) = relations
    relation, plan = _labelled(stored, config, report), plan_of(config)
    if not _as_expected(relation, _released(config), report.found):
        return None
    names = plan.among(relation.columns, Role.SENSITIVE)
    attributes = _sensitive(plan, relation, names, report)
    quasi_identifiers, pseudonym = config.with_role(Role.QUASI_IDENTIFIER), config.input.pseudonym
    classes = linked = count_classes(relation, quasi_identifiers, attributes)
    units = NO_UNIT_COLUMNS
    if pseudonym is not None:
        units = UnitColumns({PERSON: pseudonym}, frozenset({None, ""}), PERSON)
        linked = count_classes(relation, quasi_identifiers, attributes, units)
    own = [each.name for each in attributes]

    def judged(constraint: Constraint, as_texts: bool) -> Classes:  # noqa: ARG001 - all judge the classes
        if not as_texts:
            return linked
        read = _sensitive(plan, relation, names, report, as_texts=True)
        return count_classes(relation, quasi_identifiers, read, units)

    def look() -> AdversaryView:
        return scene_of_release(_of_release(plan, attributes), relation, plan.weights)

    return AuditCase(report, config, plan, [relation], classes, judged, own, look)


def _labelled(relation: Relation, config: Config, report: AuditedReport) -> Relation:
    """Return a release with labels in place of the numbers that the config of the report asks for.

    Raises
    ------
    InputError: it has other columns than the report says, or a text in their place.
    """
    numbers, claims = {}, report.claims
    for name, settings in config.attributes.items():
        if settings.number_labels is not NumberLabels.RANGE:
            own, entry = (
                NumberColumns(name, settings.number_labels),
                report.reported.release.numbers.get(name),
            )
            claims.compare(("release", "numbers", name, "columns"), list(own.columns))
            if settings.number_labels is NumberLabels.MIDPOINT:
                claims.compare(("release", "numbers", name, "high"), None)
            numbers[name] = ReadNumbers(own, SUPPRESSED if entry is None else entry.empty)
    claims.expect(("release",), ("numbers",) if numbers else ())
    labels = labelled(relation, numbers, config.numerals.decimal)
    for name, each in numbers.items():
        _check_numbers(relation, each.own, config.numerals)
        if each.empty not in {label for label, _ in labels.dictionary(name)}:
            claims.compare(("release", "numbers", name, "empty"), SUPPRESSED)
    return labels


def _check_numbers(relation: Relation, own: NumberColumns, numerals: Numerals) -> None:
    """Check that the columns of a quasi-identifier in numbers have numbers and empty fields only.

    Raises
    ------
    InputError: they do not.
    """
    for column in own.columns:
        stored = not relation.is_text(column)
        texts = [text for text, _ in relation.dictionary(column) if text]
        plain = (text if stored else text.replace(numerals.decimal, ".") for text in texts)
        strange = next((text for text in plain if exact(text) is None), None)
        if strange is not None or (relation.separator is None and not stored):
            what = "texts" if strange is None else f"'{strange}'"
            raise InputError(f"{relation.name}: column '{column}' should contain numbers, found {what}")


def _counted_pair(relations: Sequence[Relation], report: AuditedReport, config: Config) -> AuditCase | None:
    """Count an Anatomy release; None if a table has other columns than expected."""
    (records, values), found = relations, report.found
    plan = plan_of(config)
    name = attribute_in_groups(plan)
    if not _as_expected(records, (_released(config) - {name}) | {GROUP}, found, (GROUP,)):
        return None
    if not _as_expected(values, {GROUP, name, COUNT}, found, (GROUP, name, COUNT)):
        return None
    attribute = _sensitive(plan, values, [name], report)[0]
    own = [each for each in records.columns if each in config.with_role(Role.QUASI_IDENTIFIER)]
    grouped = read_pair(records, values, own, attribute)

    def judged(constraint: Constraint, as_texts: bool) -> Classes:
        if not as_texts:
            return classes_for(grouped, constraint)
        read = _sensitive(plan, values, [name], report, as_texts=True)[0]
        return classes_for(read_pair(records, values, own, read), constraint)

    def look() -> AdversaryView:
        tuples = read_release(_of_release(plan, [attribute]), records, plan.weights)
        return AdversaryView(tuples, grouped=grouped)

    return AuditCase(report, config, plan, relations, grouped.values.classes(), judged, [name], look)


def _of_release(plan: Plan, attributes: Sequence[SensitiveAttribute]) -> Plan:
    """Return a plan without the sensitive hierarchies that are missing or built from the input."""
    return plan.without_hierarchies({each.name for each in attributes if each.hierarchy is None} | plan.grown)


def _released(config: Config) -> set[str]:
    own = {name for name, each in config.attributes.items() if each.released}
    return own if config.input.pseudonym is None else own | {config.input.pseudonym}


def _as_expected(
    relation: Relation, expected: set[str], found: ReleaseAudit, last: tuple[str, ...] = ()
) -> bool:
    """Return whether a file has the expected columns, and note a disagreement otherwise.

    Parameters
    ----------
    last: the expected last columns, in their order.
    """
    ordered = tuple(relation.columns)[len(relation.columns) - len(last) :] == last
    if set(relation.columns) != expected or not ordered:
        found.refute(f"{Path(relation.name).name}: has columns {', '.join(relation.columns)}")
    return set(relation.columns) == expected


def _sensitive(
    plan: Plan,
    relation: Relation,
    names: Sequence[str],
    report: AuditedReport,
    *,
    as_texts: bool = False,
) -> list[SensitiveAttribute]:
    """Read the sensitive columns with the types in the report; a public report has only declared types.

    Parameters
    ----------
    as_texts: whether columns without a reported type are read as texts instead of by type detection.
    """
    types = {name: each.type for name, each in report.reported.attributes.items()}
    default = ValueType.TEXT if as_texts else None
    requests = [plan.request(name, types.get(name) or plan.columns[name].type or default) for name in names]
    read = read_columns(relation, requests, plan.missing)
    columns = {name: each.column for name, each in read.items()}
    try:
        return list(plan.sensitive_attributes(columns))
    except HierarchyError as error:
        if not as_texts:
            what = f"distances along a hierarchy that is not available are not measured: {error}"
            report.found.findings.append(what)
        return [
            SensitiveAttribute(column, distance=plan.columns[name].distance)
            for name, column in columns.items()
        ]
