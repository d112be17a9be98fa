"""``audit``: a release verified from the file and its report alone, as a recipient would."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from math import isclose
from pathlib import Path
from typing import Any

from anonymizer.audit.count import count_classes
from anonymizer.audit.measure import measure, verifiable
from anonymizer.audit.pair import classes_for, read_pair
from anonymizer.config.attribute import Role
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin, Reference
from anonymizer.core.classes import Classes
from anonymizer.core.group_recoding import COUNT, GROUP
from anonymizer.core.table import SensitiveAttribute
from anonymizer.engines.base import Relation
from anonymizer.engines.location import is_url
from anonymizer.engines.parquet_folder import sha256_of
from anonymizer.errors import HierarchyError, InputError
from anonymizer.flow.constraints import constraints_of
from anonymizer.flow.pair import attribute_in_groups
from anonymizer.flow.placing import sensitive_attributes
from anonymizer.flow.prepare import grown_trees, open_release
from anonymizer.flow.reported import Reported, ReportedConstraint, read_reported
from anonymizer.flow.requests import typed_request
from anonymizer.privacy.constraint import ClassConstraint, Constraint, CountedConstraint, ReleaseConstraint
from anonymizer.release.pair import Pair, find_pair
from anonymizer.table.load import read_columns

JUDGED = ("input", "attributes", "constraints", "reference")
"""Sections of a config that say what a release promises; the others say how it was found."""


@dataclass
class ReleaseAudit:
    """What was found of a release.

    Attributes
    ----------
    constraints: measured on the file; for those that the file alone cannot tell, what the report claims.
    findings: what does not agree, or could not be told; the first kind makes ``verified`` False.
    """

    verified: bool = True
    constraints: list[dict[str, Any]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    def refute(self, finding: str) -> None:
        """Note something that the release is not as reported."""
        self.verified = False
        self.findings.append(finding)


def audit_release(path: Path, report: Path | None = None) -> ReleaseAudit:
    """Verify a release.

    Parameters
    ----------
    report: public or internal report; default: ``report.public.json`` beside the release. Hierarchies that it
        names are looked for beside it.

    Raises
    ------
    InputError: the report is missing or is none, or the release is missing.
    """
    pair = find_pair(path)
    if pair is None and not is_url(str(path)) and not path.exists():
        raise InputError(f"{path}: no such file; give the released file")
    given = report if report is not None else path.with_name("report.public.json")
    reported = read_reported(given)
    found = ReleaseAudit()
    files = [path] if pair is None else [pair.records, pair.values]
    second = reported.release.sensitive_table
    promised = [reported.release.sha256, *([] if second is None else [second.sha256])]
    if len(files) != len(promised):
        found.refute(f"{given.name} is of a release in {len(promised)} files, not of {files[0].name}")
        return found
    for file, sha256 in zip(files, promised, strict=True):
        if _hash(file) != sha256:
            found.refute(f"{file.name} is not the file that {given.name} was written for (SHA-256 differs)")
    try:
        sections = {key: value for key, value in reported.config.items() if key in JUDGED}
        config = load_config(sections).located(Origin(str(given), given.parent))
        counted = (
            _counted(path, reported, config, found)
            if pair is None
            else _counted_pair(pair, reported, config, found)
        )
        if counted is not None:
            _measure(files[0].name, counted, reported, config, found)
    except InputError as error:
        found.refute(str(error))
    return found


def _hash(path: Path) -> str | None:
    """Return the SHA-256 of a released file or folder, on whatever file system it is."""
    if not is_url(str(path)):
        return sha256_of(path)
    with open_release(path) as relation:
        return relation.sha256


@dataclass(frozen=True, eq=False)
class _Counted:
    """A release as it was counted.

    Attributes
    ----------
    classes: its equivalence classes.
    judged: gives what a constraint judges: the classes, or of records in groups the exact tuples.
    sensitive: names of its sensitive attributes.
    """

    classes: Classes
    judged: Callable[[Constraint], Classes]
    sensitive: list[str]


def _counted(path: Path, reported: Reported, config: Config, found: ReleaseAudit) -> _Counted | None:
    """Count a release in one table; None where it has not the columns that it should have."""
    with open_release(path) as relation:
        if not _as_expected(relation, _released(config), found):
            return None
        names = [name for name in relation.columns if config.attributes[name].role is Role.SENSITIVE]
        attributes = _sensitive(config, relation, names, reported, found)
        classes = count_classes(relation, config.with_role(Role.QUASI_IDENTIFIER), attributes)
    return _Counted(classes, lambda _: classes, [each.name for each in attributes])


def _counted_pair(pair: Pair, reported: Reported, config: Config, found: ReleaseAudit) -> _Counted | None:
    """Count a release in two tables; None where they have not the columns that they should have."""
    with open_release(pair.records) as records, open_release(pair.values) as values:
        name = attribute_in_groups(config)
        if not _as_expected(records, (_released(config) - {name}) | {GROUP}, found):
            return None
        if not _as_expected(values, {GROUP, name, COUNT}, found):
            return None
        attribute = _sensitive(config, values, [name], reported, found)[0]
        own = [each for each in records.columns if each in config.with_role(Role.QUASI_IDENTIFIER)]
        grouped = read_pair(records, values, own, attribute)
    return _Counted(grouped.values.classes(), lambda each: classes_for(grouped, each), [name])


def _released(config: Config) -> set[str]:
    return {name for name, each in config.attributes.items() if each.role is not Role.IDENTIFIER}


def _as_expected(relation: Relation, expected: set[str], found: ReleaseAudit) -> bool:
    """Tell whether a file has the columns that it should have, and note where it has not."""
    if set(relation.columns) != expected:
        found.refute(f"{Path(relation.name).name}: has columns {', '.join(relation.columns)}")
    return set(relation.columns) == expected


def _measure(name: str, release: _Counted, reported: Reported, config: Config, found: ReleaseAudit) -> None:
    classes = release.classes
    for what, counted in (("rows", classes.records), ("classes", classes.number)):
        claimed = getattr(reported.release, what)
        if claimed is not None and claimed != counted:
            found.refute(f"{name}: {counted:,} {what}, the report says {claimed:,}")
    constraints = constraints_of(config, release.sensitive)
    claims = [(each.model, each.attribute, each.parameters) for each in reported.constraints]
    if claims != [(each.model.name, each.attribute, each.parameters()) for each in constraints]:
        found.refute("the constraints of the report are not those of the config in it")
        return
    for constraint, claim in zip(constraints, reported.constraints, strict=True):
        _judge(constraint, release.judged(constraint), claim, config, found)


def _sensitive(
    config: Config, relation: Relation, names: Sequence[str], reported: Reported, found: ReleaseAudit
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


def _judge(
    constraint: Constraint, classes: Classes, claim: ReportedConstraint, config: Config, found: ReleaseAudit
) -> None:
    """Measure one constraint, or take over what is reported where the file cannot tell."""
    if isinstance(constraint, ReleaseConstraint) or not _can_tell(constraint, classes, config):
        found.constraints.append({**claim.model_dump(), "verifiable_from_release": False})
        claimed = "holds" if claim.satisfied else "does not hold"
        found.findings.append(f"{claim.title}: the release alone cannot tell; the report says it {claimed}")
        if not claim.satisfied:
            found.refute(f"{claim.title}: does not hold, as reported")
        return
    measurement = measure(classes, [constraint])[0]
    found.constraints.append(asdict(measurement))
    if not measurement.satisfied:
        found.refute(f"{claim.title}: measured {measurement.measured}, which does not hold")
    elif not _same(measurement.measured, claim.measured):
        found.refute(f"{claim.title}: measured {measurement.measured}, the report says {claim.measured}")


def _can_tell(constraint: CountedConstraint, classes: Classes, config: Config) -> bool:
    compares = isinstance(constraint, ClassConstraint) and constraint.model.uses_reference
    at_hand = config.reference is Reference.RELEASE or not compares
    return at_hand and verifiable(classes, constraint, grown_trees(config))


def _same(measured: Any, claimed: Any) -> bool:
    """Tell whether two measures agree up to rounding, numbers and lists of numbers alike."""
    if isinstance(measured, list):
        return (
            isinstance(claimed, list)
            and len(measured) == len(claimed)
            and all(_same(one, other) for one, other in zip(measured, claimed, strict=True))
        )
    try:
        return isclose(measured, float(claimed), rel_tol=1e-9, abs_tol=1e-12)
    except (TypeError, ValueError):
        return bool(measured == claimed)
