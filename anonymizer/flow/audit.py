"""``audit``: a release verified from the file and its report alone, as a recipient would."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from anonymizer.audit.count import count_classes
from anonymizer.audit.measure import measure
from anonymizer.config.attribute import Role
from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Reference
from anonymizer.core.classes import Classes
from anonymizer.core.measurement import Measurement
from anonymizer.core.table import SensitiveAttribute, ValueType
from anonymizer.engines.base import Relation
from anonymizer.engines.open import open_file
from anonymizer.errors import HierarchyError, InputError
from anonymizer.flow.constraints import constraints_of
from anonymizer.flow.prepare import sensitive_attributes
from anonymizer.privacy.base import ClassModel
from anonymizer.privacy.constraint import Constraint
from anonymizer.table.load import ColumnRequest, read_columns


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
    report: public or internal report; default: ``report.public.json`` beside the release.

    Raises
    ------
    InputError: the report is missing or is none, or the release is missing.
    """
    given = report if report is not None else path.with_name("report.public.json")
    content = _read_report(given)
    found = ReleaseAudit()
    if not path.is_file():
        raise InputError(f"{path}: no such file; give the released file")
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != content["release"]["sha256"]:
            found.refute(f"{path.name} is not the file that {given.name} was written for (SHA-256 differs)")
    try:
        _measure(path, content, found)
    except InputError as error:
        found.refute(str(error))
    return found


def _read_report(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise InputError(
            f"{path}: no report; a release without its report is unverified, name it with --report"
        ) from None
    except ValueError:
        raise InputError(f"{path}: is not JSON; accepted: report.public.json or report.json") from None
    known = isinstance(content, dict) and content.get("schema") == 1
    if not known or not {"config", "release", "constraints", "attributes"} <= content.keys():
        raise InputError(f"{path}: is no report of this tool; accepted: report.public.json or report.json")
    return dict(content)


def _measure(path: Path, content: Mapping[str, Any], found: ReleaseAudit) -> None:
    config = load_config(dict(content["config"]))
    with open_file(path) as relation:
        expected = {name for name, each in config.attributes.items() if each.role is not Role.IDENTIFIER}
        if set(relation.columns) != expected:
            found.refute(f"{path.name}: has columns {', '.join(relation.columns)}")
            return
        attributes = _sensitive(config, relation, content, found)
        classes = count_classes(relation, config.with_role(Role.QUASI_IDENTIFIER), attributes)
        for name, counted in (("rows", relation.rows), ("classes", classes.number)):
            reported = content["release"][name]
            if reported is not None and reported != counted:
                found.refute(f"{path.name}: {counted:,} {name}, the report says {reported:,}")
    constraints = constraints_of(config, [each.name for each in attributes])
    for constraint, reported in zip(constraints, content["constraints"], strict=True):
        _judge(constraint, classes, reported, config, found)


def _sensitive(
    config: Config, relation: Relation, content: Mapping[str, Any], found: ReleaseAudit
) -> list[SensitiveAttribute]:
    names = [name for name in relation.columns if config.attributes[name].role is Role.SENSITIVE]
    requests = [ColumnRequest(name, ValueType(content["attributes"][name]["type"])) for name in names]
    columns = {
        name: read.column for name, read in read_columns(relation, requests, config.input.missing).items()
    }
    try:
        return list(sensitive_attributes(config, columns))
    except HierarchyError as error:
        found.findings.append(f"without its hierarchy, distances along it are not measured: {error}")
        return [SensitiveAttribute(column) for column in columns.values()]


def _judge(
    constraint: Constraint, classes: Classes, reported: Mapping[str, Any], config: Config, found: ReleaseAudit
) -> None:
    """Measure one constraint, or take over what is reported where the file cannot tell."""
    name = reported["model"] + (f" of {reported['attribute']}" if reported["attribute"] else "")
    if not _can_tell(constraint, classes, config):
        found.constraints.append({**reported, "verifiable_from_release": False})
        found.findings.append(f"{name}: the release alone cannot tell; as reported, {reported['measured']}")
        return
    measurement: Measurement = measure(classes, [constraint])[0]
    found.constraints.append(asdict(measurement))
    if not measurement.satisfied:
        found.refute(f"{name}: measured {measurement.measured}, which does not hold")


def _can_tell(constraint: Constraint, classes: Classes, config: Config) -> bool:
    model = constraint.model
    if not isinstance(model, ClassModel) or not model.uses_reference or constraint.attribute is None:
        return True
    counts, _ = classes.sensitive_counts(constraint.attribute)
    asked = getattr(model.settings, "distance", None) or counts.attribute.distance
    lacks_tree = asked == "hierarchical" and counts.attribute.hierarchy is None
    return config.reference is Reference.RELEASE and not lacks_tree
