"""``audit``: a release verified from the file and its report alone, as a recipient would do it.

A report is read again for its claims, which the audit verifies.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from anonymizer.attacks.adversary_view import reconstructed, same_values
from anonymizer.attacks.generalized_values import meaning_of
from anonymizer.audit.anatomy import classes_for, read_pair
from anonymizer.audit.claims import ABSENT, Claims, as_reported
from anonymizer.audit.classes import count_classes
from anonymizer.config.attribute import Role
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.data.relation import Relation
from anonymizer.data.source import is_url, sha256_of
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import ConfigError, HierarchyError, InputError
from anonymizer.loss.base import all_losses
from anonymizer.model.adversary import AdversaryView, Links, PublishedTable, ValueCoverage
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.classes import SensitiveCodes, released
from anonymizer.model.counting import count
from anonymizer.model.recoding import (
    COUNT,
    GROUP,
    FullDomainRecoding,
    LocalSuppressionRecoding,
    NodeRecoding,
    Recoding,
    distinct_nodes,
)
from anonymizer.model.table import SUPPRESSED, QuasiIdentifier, SensitiveAttribute, Table, ValueType
from anonymizer.release.anatomy import AnatomyFiles, find_anatomy_files
from anonymizer.release.folder import RECODING
from anonymizer.run.adversary import read_release
from anonymizer.run.audit_checks import CHECKS, AuditCase
from anonymizer.run.plan import Plan, plan_of
from anonymizer.run.prepare import open_as, open_release, prepare_table
from anonymizer.run.shape import attribute_in_groups

TextArray = NDArray[np.object_]

AGGREGATING = ("microaggregation",)
"""Algorithms whose published numbers stand for no value of the input, so that records cannot be matched."""


def check_input(case: AuditCase, report: Path) -> bool:
    """Compare a release with the input, where the report is the internal one and the input is at hand.

    Parameters
    ----------
    report: where the report lies.

    Returns
    -------
    Whether every released value was compared.

    Raises
    ------
    InputError: the input cannot be read as the config says.
    """
    if case.appended:
        return False
    folder = _folder_of_input(case, report)
    if folder is None:
        return False
    config = case.config.located(Origin(str(report), folder))
    with _opened_input(config) as source:
        _check_facts(case, source)
        compared = _check_untouched(case, source)
        job = prepare_table(plan_of(config), source)
        if job.problem.source is not None:
            return False
        table = job.problem.table
        columns = [each.column for each in table.quasi_identifiers]
        for column in (*columns, *(each.column for each in table.sensitive)):
            case.claims.compare(("attributes", column.name, "type"), column.type.value)
        if case.claims.get(("search", "algorithm")) in AGGREGATING:
            return False
        matched = _matched(case, table)
        if matched is None:
            return False
        if not case.in_groups:
            compared = _check_losses(case, table, matched) and compared
        return compared and not case.in_groups


def check_recoding_file(case: AuditCase, report: Path) -> None:
    """Compare the hash of the file that further records are recoded by, where it lies beside the report.

    Parameters
    ----------
    report: where the report lies.
    """
    claims, key = case.claims, ("recoding_file",)
    path = report.parent / RECODING
    if not claims.internal or not path.is_file():
        return
    claims.expect((), key)
    if claims.get(key) is not ABSENT:
        claims.compare((*key, "path"), RECODING)
        claims.compare((*key, "sha256"), sha256_of(path))


def _folder_of_input(case: AuditCase, report: Path) -> Path | None:
    """Return the folder that the path of the input starts from, None where the input is not at hand."""
    claims, given = case.claims, case.config.input.path
    if given is None or "://" in given or not claims.internal:
        return None
    sha256 = claims.get(("input", "sha256"))
    for folder in (report.parent.parent, report.parent, Path()):
        path = folder / given
        if path.is_file() and sha256_of(path) == sha256:
            return folder
    return None


@contextmanager
def _opened_input(config: Config) -> Iterator[Relation]:
    with open_as(config, config.folder / str(config.input.path)) as relation:
        yield relation


def _check_facts(case: AuditCase, source: Relation) -> None:
    claims = case.claims
    claims.compare(("input", "sha256"), source.sha256)
    claims.compare(("input", "path"), case.config.input.path)
    claims.agree(("config", "input", "path"))
    claims.compare(("input", "rows"), source.rows)
    claims.compare(("input", "columns"), len(source.columns))
    claims.compare(("input", "separator"), source.separator)


def _check_untouched(case: AuditCase, source: Relation) -> bool:
    """Compare the columns that are released as they are; tell whether they are in the release."""
    release, roles = case.relations[0], case.config.attributes
    removed = source.rows - release.rows
    for name in release.columns:
        if name not in roles or (roles[name].role is Role.QUASI_IDENTIFIER and not case.in_groups):
            continue
        if source.changed_records(name, release) != (0, removed):
            raise InputError(f"{release.name}: column '{name}' does not hold the values of the input")
    return True


@dataclass(frozen=True, eq=False)
class _Matched:
    """Which records of the input became which of the release.

    Attributes
    ----------
    table: of the input, its combinations in parts.
    owner: combination of each part, shape (parts,), ascending.
    published: combination of the release for each part, -1 for records that are not in it, shape (parts,).
    """

    table: Table
    owner: IntArray
    published: IntArray


def _matched(case: AuditCase, table: Table) -> _Matched | None:
    """Find a record of the input for every record of the release, each another one; None where there is none.

    The values of the one stand for those of the other, and sensitive values are the same.
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
    links = reconstructed(
        meanings, (np.column_stack(columns), table.counts), (np.column_stack(published), own.counts)
    )
    lacking = own.records - links.records
    if lacking:
        raise InputError(
            f"{own.source}: {lacking:,} records stand for no record of the input that no other stands for"
        )
    return _parts(table, links)


def _meaning(case: AuditCase, attribute: QuasiIdentifier, labels: Sequence[str | None]) -> ValueCoverage:
    """Return what published texts stand for, by the recoding of the report.

    A tree may repeat a label on several levels for other values, so the text alone does not tell.
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
    """Return the codes of the values that each label of a level stands for."""
    nodes = attribute.nodes(level)
    labels = attribute.column.texts if level == 0 else attribute.hierarchy.labels
    names = labels if level == 0 else [labels[node] for node in nodes.tolist()]
    own: dict[str | None, list[int]] = {}
    for code, name in enumerate(names):
        own.setdefault(name, []).append(code)
    return {name: np.array(codes, dtype=np.int64) for name, codes in own.items()}


def _values_by_node(attribute: QuasiIdentifier) -> Mapping[str | None, IntArray]:
    """Return the codes of the values that each label stands for where recoding is not full-domain."""
    canonical, labels = distinct_nodes(attribute)
    tree, leaves = attribute.hierarchy, attribute.leaf
    order = np.argsort(leaves, kind="stable")
    nodes = np.unique(canonical)
    starts, ends = (np.searchsorted(leaves[order], each[nodes]) for each in (tree.first_leaf, tree.last_leaf))
    return {
        labels[node]: np.sort(order[start:end])
        for node, start, end in zip(nodes.tolist(), starts, ends, strict=True)
    }


def _parts(table: Table, links: Links) -> _Matched:
    """Return the combinations of a table in parts that became one combination of the release each."""
    left = table.counts - count(links.original, links.counts, table.combinations)
    gone = np.flatnonzero(left)
    owner = np.concatenate([links.original, gone])
    published = np.concatenate([links.release, np.full(len(gone), -1)])
    order = np.argsort(owner, kind="stable")
    counts = np.concatenate([links.counts, left[gone]])[order]
    return _Matched(table.split(owner[order], counts), owner[order], published[order])


def _check_losses(case: AuditCase, table: Table, matched: _Matched) -> bool:
    """Compare levels, and every loss that follows from the match, with those of the report.

    Returns
    -------
    whether the published texts were compared with what the recoding makes of the input.
    """
    claims, own = case.claims, case.scene.release
    removed = matched.published < 0
    texts = _texts(own, table, matched)
    kept_suppressed = np.zeros(len(removed), dtype=bool)
    if case.config.suppression.keep_rows:
        kept_suppressed = np.logical_and.reduce([each == SUPPRESSED for each in texts]) & ~removed
    recoding = _recoding(case, matched, texts, (removed | kept_suppressed, removed))
    if recoding is None:
        if case.config.algorithm.name == "local":
            case.claims.refute(
                ("search", "algorithm"), "local publishes nodes of the hierarchies; other texts found"
            )
        return False
    for column, shown in zip(recoding.published(), texts, strict=True):
        promised = np.array(column.labels, dtype=object)[column.codes]
        if (promised != shown)[~removed].any():
            what = "the published texts are not of the level that the report says"
            claims.refute(("recoding", "levels", column.name), what)
            return True
    for name in claims.section(("recoding", "levels")):
        claims.agree(("recoding", "levels", name))
    losses = all_losses(released(recoding, plan_of(case.config).k))
    if not _certain(matched, recoding):
        del losses["nonuniform_entropy"]
    for name, loss in losses.items():
        claims.compare(("loss", name), loss)
    return True


def _texts(own: PublishedTable, table: Table, matched: _Matched) -> list[TextArray]:
    """Return what is published of each part by quasi-identifier; of records that are not in it, anything."""
    found = []
    for each in table.quasi_identifiers:
        position = own.names.index(each.name)
        labels = np.array([label or "" for label in own.labels[position]], dtype=object)
        found.append(labels[own.codes[np.maximum(matched.published, 0), position]])
    return found


def _recoding(
    case: AuditCase, matched: _Matched, texts: Sequence[TextArray], fate: tuple[BoolArray, BoolArray]
) -> Recoding | None:
    """Return the recoding that publishes the parts so; None where it publishes other than nodes.

    Parameters
    ----------
    fate: which parts are suppressed, and which of these are removed.
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
            case.claims.refute(("recoding", "levels"), "has a level that the hierarchy has not")
            return None
        full = FullDomainRecoding(matched.table, [int(level) for level in own if level is not None], *fate)
        return _blanked(case, full, texts, fate[1])
    found = [_nodes(each, shown, fate[0]) for each, shown in zip(attributes, texts, strict=True)]
    nodes = [each for each in found if each is not None]
    if len(nodes) < len(attributes):
        return None
    return NodeRecoding(matched.table, np.column_stack(nodes), *fate)


def _blanked(
    case: AuditCase, full: FullDomainRecoding, texts: Sequence[TextArray], removed: BoolArray
) -> Recoding:
    if case.config.suppression.method.value != "cells":
        return full
    nothing = np.zeros(len(removed), dtype=bool)
    base = FullDomainRecoding(full.table, full.levels, nothing, nothing)
    blanks = np.column_stack([each == SUPPRESSED for each in texts])
    blanks[removed] = True
    return LocalSuppressionRecoding(full.table, base, blanks, removed=removed)


def _nodes(attribute: QuasiIdentifier, shown: TextArray, suppressed: BoolArray) -> CodeArray | None:
    """Return the node of each published text; None where one is not a node of the hierarchy."""
    canonical, labels = distinct_nodes(attribute)
    known = {labels[node]: node for node in np.unique(canonical).tolist()}
    found = [0 if gone else known.get(text) for text, gone in zip(shown, suppressed, strict=True)]
    return None if None in found else np.array(found, dtype=np.int32)


def _certain(matched: _Matched, recoding: Recoding) -> bool:
    """Tell whether the match is the only one as far as it says which values are gone."""
    if not (matched.published < 0).any():
        return True
    if recoding.levels is None:
        return False
    # Where all records that look alike are released, or none, no other match releases other values.
    kept = np.zeros_like(recoding.suppressed)
    everything = FullDomainRecoding(recoding.table, recoding.levels, kept, kept)
    return recoding.merged.table.combinations == everything.merged.table.combinations


Part = TypeVar("Part", bound=BaseModel)

ACCEPTED = "accepted: report.public.json or report.json of a run that ended with a release"


class ReportedTable(BaseModel):
    """The second file of a release in two tables."""

    sha256: str


class ReportedRelease(BaseModel):
    """The file that was released; a count that the public report leaves out is None."""

    sha256: str
    rows: int | None
    classes: int | None
    sensitive_table: ReportedTable | None = None


class ReportedAttribute(BaseModel):
    """A column."""

    type: ValueType | None


class ReportedConstraint(BaseModel):
    """A constraint and what was measured of it; infinite is the text ``Infinity``."""

    model: str
    attribute: str | None
    parameters: dict[str, Any]
    measured: Any
    satisfied: bool
    worst_classes: int | None


class ReportClaims(BaseModel):
    """The claims of a report."""

    version: Literal[1] = Field(alias="schema")
    config: dict[str, Any]
    attributes: dict[str, ReportedAttribute]
    release: ReportedRelease
    constraints: list[ReportedConstraint]


def read_reported(path: Path) -> ReportClaims:
    """Read a report, public or internal.

    Raises
    ------
    InputError: there is none, it is not JSON, or it is no report of a release.
    """
    try:
        content = path.read_bytes()
    except OSError:
        raise InputError(
            f"{path}: no such report, and a release without its report is unverified; run writes it beside "
            "the release: ask the publisher for it, put it there, or name it with --report"
        ) from None
    return parse_report(ReportClaims, path, content, ACCEPTED)


LARGEST_NUMBER = 1e30
"""No figure of a report is as large."""

MOST_CHARACTERS = 40
"""Of a number in a report."""


def read_content(path: Path) -> dict[str, Any]:
    """Return all that a report says, in plain JSON types; of one that ``read_reported`` accepts."""
    try:
        content: dict[str, Any] = json.loads(
            path.read_bytes(),
            object_pairs_hook=_distinct_keys,
            parse_constant=_plain_number,
            parse_int=lambda text: _plain_number(text, int),
            parse_float=lambda text: _plain_number(text, float),
        )
    except ValueError as error:
        raise InputError(f"{path}: {error}; give the report as anonymizer wrote it") from None
    return content


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: other readers may take the other value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"key '{twice}' occurs twice in one mapping")
    return found


def _plain_number(text: str, kind: type[int] | type[float] | None = None) -> float:
    """Refuse numbers that no run writes: infinite ones, and those beyond all counts of records squared."""
    number = None if kind is None or len(text) > MOST_CHARACTERS else kind(text)
    if number is None or not abs(number) < LARGEST_NUMBER:
        shown = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
        raise ValueError(f"the number {shown} is out of range")
    return number


def parse_report(model: type[Part], path: Path, content: bytes, accepted: str) -> Part:
    """Return what somebody needs of a report.

    Parameters
    ----------
    model: what is needed.
    accepted: which reports are, for the message about another one.

    Raises
    ------
    InputError: it is not JSON, or it is no report of a release.
    """
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise InputError(f"{path}: is not JSON; {accepted}") from None
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise InputError(f"{path}: is no report of a release, see {where}; {accepted}") from None


JUDGED = ("input", "attributes", "constraints", "reference", "suppression", "output")
"""Sections of a config that say what a release promises; most others say how it was found."""

OF_PLUG_INS = ("algorithm", "attacks")
"""Sections that can name what only the publisher has installed; they are left out then."""

LEFT_OUT = "optional keys that config leaves out"
"""What is never checked: whether the run was asked for more than its config in the report says."""

AGAINST_THE_INPUT = "values of the release against the input"
"""What is not checked where the input is not at hand."""


@dataclass
class ReleaseAudit:
    """What was found of a release.

    Attributes
    ----------
    constraints: measured on the file; for those that the file alone cannot tell, what the report claims.
    findings: what does not agree, or could not be told; the first kind makes ``verified`` False.
    not_checked: keys of the report that nothing was compared with, a section without any that was as one; and
        what else the files cannot tell.
    """

    verified: bool = True
    constraints: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)

    def refute(self, finding: str) -> None:
        """Note something that the release is not as reported."""
        self.verified = False
        self.findings.append(finding)


def audit_release(path: Path, report: Path | None = None) -> ReleaseAudit:
    """Verify a release.

    Parameters
    ----------
    report: public or internal report; default: ``report.public.json`` beside the release. Hierarchies that it
        names are looked for beside it, and the input of an internal one beside it, in the folder above, and
        in the current folder.

    Raises
    ------
    InputError: the report is missing or is none, or the release is missing.
    """
    pair = find_anatomy_files(path)
    if pair is None and not is_url(str(path)) and not path.exists():
        raise InputError(f"{path}: no such file; give the released file")
    given = report if report is not None else path.with_name("report.public.json")
    reported, claims = read_reported(given), Claims(read_content(given))
    found = ReleaseAudit()
    files = [path] if pair is None else [pair.records, pair.values]
    if _same_files(files, given, reported, claims, found):
        with _noting(found), ExitStack() as stack:
            config = _judged(reported, given, claims)
            case = _opened(stack, pair, path, reported, config, found, claims)
            if case is not None:
                for check in CHECKS:
                    with _noting(found):
                        check(case)
                with _noting(found):
                    check_recoding_file(case, given)
                    compared = check_input(case, given)
                    found.not_checked += [] if compared else [AGAINST_THE_INPUT]
    for disagreement in claims.disagreements:
        found.refute(disagreement)
    found.not_checked = [*claims.not_checked(), LEFT_OUT, *found.not_checked]
    return found


@contextmanager
def _noting(found: ReleaseAudit) -> Iterator[None]:
    """Take what cannot be read or does not fit as something that refutes the report."""
    try:
        yield
    except InputError as error:
        found.refute(str(error))


def _same_files(
    files: Sequence[Path], given: Path, reported: ReportClaims, claims: Claims, found: ReleaseAudit
) -> bool:
    """Compare the hashes; tell whether a report is of a release in as many files."""
    second = reported.release.sensitive_table
    promised = [reported.release.sha256, *([] if second is None else [second.sha256])]
    if len(files) != len(promised):
        found.refute(f"{given.name} is of a release in {len(promised)} files, not of {files[0].name}")
        return False
    for position, (file, sha256) in enumerate(zip(files, promised, strict=True)):
        claims.agree(("release", *(("sensitive_table",) if position else ()), "sha256"))
        if _hash(file) != sha256:
            found.refute(f"{file.name} is not the file that {given.name} was written for (SHA-256 differs)")
    return True


def _judged(reported: ReportClaims, given: Path, claims: Claims) -> Config:
    """Return the config of a report, without sections that name plug-ins which are not here.

    Raises
    ------
    ConfigError: it says something else that cannot be.
    """
    wanted = [*JUDGED, *OF_PLUG_INS]
    while True:
        sections = {key: value for key, value in reported.config.items() if key in wanted}
        try:
            config = load_config(sections).located(Origin(str(given), given.parent))
        except ConfigError as error:
            wrong = {problem.where.partition(".")[0].partition("[")[0] for problem in error.problems}
            refused = wrong & set(OF_PLUG_INS) & sections.keys()
            if not refused:
                raise
            wanted = [key for key in wanted if key not in refused]
        else:
            written = as_reported(config.to_dict())
            for section in sections:
                claims.expect_all(("config", section), written[section])
            return config


def _opened(
    stack: ExitStack,
    pair: AnatomyFiles | None,
    path: Path,
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    claims: Claims,
) -> AuditCase | None:
    """Open and count a release; None where it has not the columns that it should have."""
    files = [path] if pair is None else [pair.records, pair.values]
    relations = [stack.enter_context(open_release(file)) for file in files]
    counted = _counted if pair is None else _counted_pair
    return counted(relations, reported, config, found, claims)


def _hash(path: Path) -> str | None:
    """Return the SHA-256 of a released file or folder, on whatever file system it is."""
    if not is_url(str(path)):
        return sha256_of(path)
    with open_release(path) as relation:
        return relation.sha256


def _counted(
    relations: Sequence[Relation],
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    claims: Claims,
) -> AuditCase | None:
    """Count a release in one table; None where it has not the columns that it should have."""
    (relation,) = relations
    if not _as_expected(relation, _released(config), found):
        return None
    plan = plan_of(config)
    names = plan.among(relation.columns, Role.SENSITIVE)
    attributes = _sensitive(plan, relation, names, reported, found)
    classes = count_classes(relation, config.with_role(Role.QUASI_IDENTIFIER), attributes)
    own = [each.name for each in attributes]

    def look() -> AdversaryView:
        return AdversaryView(read_release(_of_release(plan, attributes), relation, plan.weights))

    notes, measured = found.findings, found.constraints
    return AuditCase(claims, config, relations, classes, lambda _: classes, own, look, measured, notes)


def _counted_pair(
    relations: Sequence[Relation],
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    claims: Claims,
) -> AuditCase | None:
    """Count a release in two tables; None where they have not the columns that they should have."""
    records, values = relations
    plan = plan_of(config)
    name = attribute_in_groups(plan)
    if not _as_expected(records, (_released(config) - {name}) | {GROUP}, found):
        return None
    if not _as_expected(values, {GROUP, name, COUNT}, found):
        return None
    attribute = _sensitive(plan, values, [name], reported, found)[0]
    own = [each for each in records.columns if each in config.with_role(Role.QUASI_IDENTIFIER)]
    grouped = read_pair(records, values, own, attribute)

    def look() -> AdversaryView:
        tuples = read_release(_of_release(plan, [attribute]), records, plan.weights)
        return AdversaryView(tuples, grouped=grouped)

    return AuditCase(
        claims,
        config,
        relations,
        grouped.values.classes(),
        lambda each: classes_for(grouped, each),
        [name],
        look,
        found.constraints,
        found.findings,
    )


def _of_release(plan: Plan, attributes: Sequence[SensitiveAttribute]) -> Plan:
    """Return a plan without the sensitive hierarchies that are not at hand, or that grew from the input."""
    return plan.without_hierarchies({each.name for each in attributes if each.hierarchy is None} | plan.grown)


def _released(config: Config) -> set[str]:
    return {name for name, each in config.attributes.items() if each.role is not Role.IDENTIFIER}


def _as_expected(relation: Relation, expected: set[str], found: ReleaseAudit) -> bool:
    """Tell whether a file has the columns that it should have, and note where it has not."""
    if set(relation.columns) != expected:
        found.refute(f"{Path(relation.name).name}: has columns {', '.join(relation.columns)}")
    return set(relation.columns) == expected


def _sensitive(
    plan: Plan, relation: Relation, names: Sequence[str], reported: ReportClaims, found: ReleaseAudit
) -> list[SensitiveAttribute]:
    types = {name: each.type for name, each in reported.attributes.items()}
    requests = [ColumnRequest(name, types.get(name), plan.numerals) for name in names]
    read = read_columns(relation, requests, plan.missing)
    columns = {name: each.column for name, each in read.items()}
    try:
        return list(plan.sensitive_attributes(columns))
    except HierarchyError as error:
        found.findings.append(f"without its hierarchy, distances along it are not measured: {error}")
        return [
            SensitiveAttribute(column, distance=plan.columns[name].distance)
            for name, column in columns.items()
        ]
