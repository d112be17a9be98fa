"""``audit``: the claims of a report verified from the released file alone, as a recipient would do it.

Each check compares some figures of a report with the files. A figure that no check compares is listed as not
checked, see ``Claims``. So a new figure of the report either gets a check or appears in that list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from anonymizer.adversary.release import read_release, view_of_release
from anonymizer.audit.against_input import check_input, check_recoding_file
from anonymizer.audit.case import AuditCase, AuditedReport, ReleaseAudit, missing_cells
from anonymizer.audit.checks import CHECKS, note_unmeasured
from anonymizer.audit.claims import Claims, as_reported
from anonymizer.audit.codebook import check_codebook
from anonymizer.audit.reported import read_content, read_reported
from anonymizer.audit.signed import check_signatures
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.data.labelled import ReadNumbers, labelled
from anonymizer.data.relation import Projection, Relation
from anonymizer.data.source import CsvDialect, is_url, sha256_of
from anonymizer.data.table import read_columns
from anonymizer.errors import AuditFailed, ConfigError, HierarchyError, InputError, OutputError
from anonymizer.hierarchy.ready import ready_folder
from anonymizer.job.source import open_own_release, open_release
from anonymizer.job.verify import attribute_in_groups
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.classes import Classes
from anonymizer.model.labels import SUPPRESSED, NumberColumns, NumberLabels, exact
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import Numerals, Role, SensitiveAttribute, ValueType
from anonymizer.model.units import PERSON
from anonymizer.plan.columns import Columns
from anonymizer.plan.plan import Plan, plan_of
from anonymizer.privacy.base import Constraint
from anonymizer.release.anatomy import find_anatomy_files
from anonymizer.release.classes import NO_UNIT_COLUMNS, UnitColumns, classes_for, count_classes, read_pair
from anonymizer.release.folder import PUBLIC_REPORT
from anonymizer.system import real_path

JUDGED = (
    "input",
    "attributes",
    "constraints",
    "scenarios",
    "reference",
    "suppression",
    "output",
    "exposure",
    "acknowledge",
)
"""Sections of a config that state the promises of a release."""

OF_PLUG_INS = ("algorithm", "objective")
"""Sections that may name plug-ins which only the publisher has installed; they are skipped then."""

LEFT_OUT = "optional keys that config leaves out"
"""Never checked: whether the run had settings that the config in the report omits."""

BY_NAME = (
    "run names hierarchy files without folders in the public report: ask the publisher for the report as run "
    "wrote it, and put the files next to it"
)
"""Remedy for a path that ``run`` does not write."""

AROUND_VALUES = "bytes of the files around their values"
"""Not checked if values are written differently: quotes, metadata of Parquet, the header of gzip."""

COLUMN_TYPES = "types of the columns"
"""Not checked for files with types, such as Parquet, except in recoded columns."""

MISSING_CELLS = "missing cells: null or empty text"
"""Not checked if a column of the release has both."""

MOST_REWRITTEN = 1_000_000
"""Maximum number of rows of a file that is rewritten to compare its bytes."""


def audit_release(path: Path, report: Path | None = None, key: Path | None = None) -> ReleaseAudit:
    """Verify a release.

    Parameters
    ----------
    report: public or internal report; default: ``report.public.json`` next to the release. Paths of
        hierarchies are relative to its folder; the path of the input of an internal report to that folder,
        its parent, or the current folder.
    key: file with the publisher's public key; a release that is not signed with it is not verified.

    Raises
    ------
    InputError: the report is missing or not a report, the release is missing, or the key cannot be used.
    """
    pair = find_anatomy_files(path)
    if pair is None and not is_url(str(path)) and not path.exists():
        raise InputError(f"{path}: no such file; give the released file")
    if any((folder / PUBLIC_REPORT).is_file() for folder in (path, path / "share")):
        raise InputError(f"{path}: is the folder of a release; give the released file in it")
    given = report if report is not None else path.with_name(PUBLIC_REPORT)
    found = ReleaseAudit()
    check_signatures(given, key, found)
    try:
        claimed = AuditedReport(given, read_reported(given), Claims(read_content(given)), found)
    except InputError as error:
        if not found.findings:
            raise
        found.refute(str(error))  # the signature says which files were altered
        found.conclude()
        return found
    claims = claimed.claims
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
                for check in (*CHECKS, check_codebook):
                    with _noting(found):
                        check(case)
                if not all(map(partial(_is_as_written, dialect=written.dialect), relations, files)):
                    found.not_checked.append(AROUND_VALUES)
                found.not_checked += _of_types(case)
                with _noting(found):
                    check_recoding_file(case)
                    found.not_checked += check_input(case)
                note_unmeasured(case)
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
    for path in plan_of(config).columns.hierarchy_files:
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


def _plan(config: Config, report: AuditedReport) -> Plan:
    """Return the plan of a config, whose hierarchies may have codes where the release has labels."""
    plan = plan_of(config)
    labels = {name: each.codes for name, each in report.reported.attributes.items()}
    return replace(plan, columns=plan.columns.over_codes(labels))


def _counted(relations: Sequence[Relation], report: AuditedReport, config: Config) -> AuditCase | None:
    """Count a release in one table; None if it has other columns than expected."""
    (stored,) = relations
    relation, plan = _labelled(stored, config, report), _plan(config, report)
    if not _as_expected(relation, _released(config), report.found):
        return None
    names = plan.columns.among(relation.columns, Role.SENSITIVE)
    attributes = _sensitive(plan.columns, relation, names, report)
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
        read = _sensitive(plan.columns, relation, names, report, as_texts=True)
        return count_classes(relation, quasi_identifiers, read, units)

    def look() -> AdversaryView:
        columns = _of_release(plan.columns, attributes)
        return view_of_release(columns, relation, plan.assessment.weights, plan.counting.pseudonym)

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
    plan = _plan(config, report)
    name = attribute_in_groups(plan.columns)
    if not _as_expected(records, (_released(config) - {name}) | {GROUP}, found, (GROUP,)):
        return None
    if not _as_expected(values, {GROUP, name, COUNT}, found, (GROUP, name, COUNT)):
        return None
    attribute = _sensitive(plan.columns, values, [name], report)[0]
    own = [each for each in records.columns if each in config.with_role(Role.QUASI_IDENTIFIER)]
    grouped = read_pair(records, values, own, attribute)

    def judged(constraint: Constraint, as_texts: bool) -> Classes:
        if not as_texts:
            return classes_for(grouped, constraint)
        read = _sensitive(plan.columns, values, [name], report, as_texts=True)[0]
        return classes_for(read_pair(records, values, own, read), constraint)

    def look() -> AdversaryView:
        tuples = read_release(_of_release(plan.columns, [attribute]), records, plan.assessment.weights)
        return AdversaryView(tuples, grouped=grouped)

    return AuditCase(report, config, plan, relations, grouped.values.classes(), judged, [name], look)


def _of_release(columns: Columns, attributes: Sequence[SensitiveAttribute]) -> Columns:
    """Return the columns without the sensitive hierarchies that are missing or built from the input."""
    missing = {each.name for each in attributes if each.hierarchy is None}
    return columns.without_hierarchies(missing | columns.grown)


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
    planned: Columns,
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
    requests = [planned.request(name, types.get(name) or planned[name].type or default) for name in names]
    read = read_columns(relation, requests, planned.missing)
    columns = {name: each.column for name, each in read.items()}
    try:
        return list(planned.sensitive_attributes(columns))
    except HierarchyError as error:
        if not as_texts:
            what = f"distances along a hierarchy that is not available are not measured: {error}"
            report.found.findings.append(what)
        return [
            SensitiveAttribute(column, distance=planned[name].distance) for name, column in columns.items()
        ]
