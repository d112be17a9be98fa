"""``audit``: a release verified from the file and its report alone, as a recipient would.

Given the internal report, and the input where that says it is, the release is compared with the input too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.attacks.base import AdversaryView
from anonymizer.audit.anatomy import classes_for, read_pair
from anonymizer.audit.claims import Claims, as_reported
from anonymizer.audit.classes import count_classes
from anonymizer.config.attribute import Role
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.data.relation import Relation
from anonymizer.data.source import is_url, sha256_of
from anonymizer.data.table import read_columns
from anonymizer.errors import ConfigError, HierarchyError, InputError
from anonymizer.flow.audit_checks import CHECKS, AuditCase
from anonymizer.flow.audit_input import check_input, check_recoding_file
from anonymizer.flow.pair import attribute_in_groups
from anonymizer.flow.placing import sensitive_attributes
from anonymizer.flow.prepare import data_dependent_hierarchies, open_release
from anonymizer.flow.reported import ReportClaims, read_content, read_reported
from anonymizer.flow.requests import typed_request
from anonymizer.flow.scene import read_release
from anonymizer.flow.weights import weight_columns
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import SensitiveAttribute
from anonymizer.release.anatomy import AnatomyFiles, find_anatomy_files

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
    reported, mitigates = read_reported(given), Claims(read_content(given))
    found = ReleaseAudit()
    files = [path] if pair is None else [pair.records, pair.values]
    if _same_files(files, given, reported, mitigates, found):
        with _noting(found), ExitStack() as stack:
            config = _judged(reported, given, mitigates)
            case = _opened(stack, pair, path, reported, config, found, mitigates)
            if case is not None:
                for check in CHECKS:
                    with _noting(found):
                        check(case)
                with _noting(found):
                    check_recoding_file(case, given)
                    compared = check_input(case, given)
                    found.not_checked += [] if compared else [AGAINST_THE_INPUT]
    for disagreement in mitigates.disagreements:
        found.refute(disagreement)
    found.not_checked = [*mitigates.not_checked(), LEFT_OUT, *found.not_checked]
    return found


@contextmanager
def _noting(found: ReleaseAudit) -> Iterator[None]:
    """Take what cannot be read or does not fit as something that refutes the report."""
    try:
        yield
    except InputError as error:
        found.refute(str(error))


def _same_files(
    files: Sequence[Path], given: Path, reported: ReportClaims, mitigates: Claims, found: ReleaseAudit
) -> bool:
    """Compare the hashes; tell whether a report is of a release in as many files."""
    second = reported.release.sensitive_table
    promised = [reported.release.sha256, *([] if second is None else [second.sha256])]
    if len(files) != len(promised):
        found.refute(f"{given.name} is of a release in {len(promised)} files, not of {files[0].name}")
        return False
    for position, (file, sha256) in enumerate(zip(files, promised, strict=True)):
        mitigates.agree(("release", *(("sensitive_table",) if position else ()), "sha256"))
        if _hash(file) != sha256:
            found.refute(f"{file.name} is not the file that {given.name} was written for (SHA-256 differs)")
    return True


def _judged(reported: ReportClaims, given: Path, mitigates: Claims) -> Config:
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
            unmatched_columns = wrong & set(OF_PLUG_INS) & sections.keys()
            if not unmatched_columns:
                raise
            wanted = [key for key in wanted if key not in unmatched_columns]
        else:
            written = as_reported(config.to_dict())
            for section in sections:
                mitigates.expect_all(("config", section), written[section])
            return config


def _opened(
    stack: ExitStack,
    pair: AnatomyFiles | None,
    path: Path,
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    mitigates: Claims,
) -> AuditCase | None:
    """Open and count a release; None where it has not the columns that it should have."""
    files = [path] if pair is None else [pair.records, pair.values]
    relations = [stack.enter_context(open_release(file)) for file in files]
    counted = _counted if pair is None else _counted_pair
    return counted(relations, reported, config, found, mitigates)


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
    mitigates: Claims,
) -> AuditCase | None:
    """Count a release in one table; None where it has not the columns that it should have."""
    (relation,) = relations
    if not _as_expected(relation, _released(config), found):
        return None
    names = [name for name in relation.columns if config.attributes[name].role is Role.SENSITIVE]
    attributes = _sensitive(config, relation, names, reported, found)
    classes = count_classes(relation, config.with_role(Role.QUASI_IDENTIFIER), attributes)
    own = [each.name for each in attributes]

    def look() -> AdversaryView:
        return AdversaryView(read_release(_of_release(config, attributes), relation, weight_columns(config)))

    notes, measured = found.findings, found.constraints
    return AuditCase(mitigates, config, relations, classes, lambda _: classes, own, look, measured, notes)


def _counted_pair(
    relations: Sequence[Relation],
    reported: ReportClaims,
    config: Config,
    found: ReleaseAudit,
    mitigates: Claims,
) -> AuditCase | None:
    """Count a release in two tables; None where they have not the columns that they should have."""
    records, values = relations
    name = attribute_in_groups(config)
    if not _as_expected(records, (_released(config) - {name}) | {GROUP}, found):
        return None
    if not _as_expected(values, {GROUP, name, COUNT}, found):
        return None
    attribute = _sensitive(config, values, [name], reported, found)[0]
    own = [each for each in records.columns if each in config.with_role(Role.QUASI_IDENTIFIER)]
    grouped = read_pair(records, values, own, attribute)

    def look() -> AdversaryView:
        tuples = read_release(_of_release(config, [attribute]), records, weight_columns(config))
        return AdversaryView(tuples, grouped=grouped)

    return AuditCase(
        mitigates,
        config,
        relations,
        grouped.values.classes(),
        lambda each: classes_for(grouped, each),
        [name],
        look,
        found.constraints,
        found.findings,
    )


def _of_release(config: Config, attributes: Sequence[SensitiveAttribute]) -> Config:
    """Return a config without the sensitive hierarchies that are not at hand, or that grew from the input."""
    bare = {each.name for each in attributes if each.hierarchy is None} | data_dependent_hierarchies(config)
    settings = {
        name: each.model_copy(update={"hierarchy": None}) if name in bare else each
        for name, each in config.attributes.items()
    }
    return config.model_copy(update={"attributes": settings})


def _released(config: Config) -> set[str]:
    return {name for name, each in config.attributes.items() if each.role is not Role.IDENTIFIER}


def _as_expected(relation: Relation, expected: set[str], found: ReleaseAudit) -> bool:
    """Tell whether a file has the columns that it should have, and note where it has not."""
    if set(relation.columns) != expected:
        found.refute(f"{Path(relation.name).name}: has columns {', '.join(relation.columns)}")
    return set(relation.columns) == expected


def _sensitive(
    config: Config, relation: Relation, names: Sequence[str], reported: ReportClaims, found: ReleaseAudit
) -> list[SensitiveAttribute]:
    types = {name: each.type for name, each in reported.attributes.items()}
    requests = [typed_request(config, name, types.get(name)) for name in names]
    read = read_columns(relation, requests, config.input.missing)
    columns = {name: each.column for name, each in read.items()}
    try:
        return list(sensitive_attributes(config, columns))
    except HierarchyError as error:
        found.findings.append(f"without its hierarchy, distances along it are not measured: {error}")
        distances = {name: config.attributes[name].distance for name in names}
        return [
            SensitiveAttribute(column, distance=None if distances[name] is None else str(distances[name]))
            for name, column in columns.items()
        ]
