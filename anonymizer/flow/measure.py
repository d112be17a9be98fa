"""``check``: every privacy model measured on a file as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from anonymizer.audit.classes import count_classes, measure
from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.data.csv import index_warnings
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import InputError, suggestion
from anonymizer.flow.constraints import constraints_of, probes
from anonymizer.flow.placing import sensitive_attributes
from anonymizer.flow.requests import requests
from anonymizer.flow.risk import countable_constraints, in_order, unmeasured
from anonymizer.model.classes import Measurement
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import PRIVACY_MODELS, ReleaseConstraint


@dataclass(frozen=True)
class Check:
    """What a file satisfies.

    Attributes
    ----------
    constraints: those of the config, measured as far as the file can tell; empty without one.
    measures: every privacy model, measured with neutral thresholds.
    warnings: what of the file was not measured.
    """

    rows: int
    classes: int
    constraints: list[Measurement]
    measures: list[Measurement]
    warnings: list[str] = field(default_factory=list)


def check_names(relation: Relation, quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> Check:
    """Measure a file by the names of its quasi-identifiers and sensitive attributes; it is its own reference.

    Raises
    ------
    InputError: no quasi-identifier, an unknown column, or one with two roles.
    """
    if not quasi_identifiers:
        raise InputError(f"{relation.name}: no quasi-identifier given; name at least one column")
    for name in (*quasi_identifiers, *sensitive):
        if name not in relation.columns:
            raise InputError(f"{relation.name}: no column '{name}'; {suggestion(name, relation.columns)}")
    both = sorted(set(quasi_identifiers) & set(sensitive))
    if both:
        raise InputError(f"{relation.name}: '{both[0]}' is given both as quasi-identifier and as sensitive")
    columns = read_columns(relation, [ColumnRequest(name) for name in sensitive])
    attributes = [SensitiveAttribute(read.column) for read in columns.values()]
    return _check_table(relation, quasi_identifiers, attributes, None)


def check_config(relation: Relation, config: Config) -> Check:
    """Measure a file by the roles, distances and constraints of a config; the reference is the file.

    The file may be an input or a release: its quasi-identifiers are compared as texts.

    Raises
    ------
    InputError: the file lacks a quasi-identifier or a sensitive column of the config.
    """
    for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        for name in config.with_role(role):
            relation.position(name)
    own = requests(config, config.with_role(Role.SENSITIVE))
    columns = read_columns(relation, own, config.input.missing)
    attributes = sensitive_attributes(config, {name: read.column for name, read in columns.items()})
    return _check_table(relation, config.with_role(Role.QUASI_IDENTIFIER), attributes, config)


def _check_table(
    relation: Relation,
    quasi_identifiers: Sequence[str],
    attributes: Sequence[SensitiveAttribute],
    config: Config | None,
) -> Check:
    classes = count_classes(relation, quasi_identifiers, attributes)
    models = list(PRIVACY_MODELS.values())
    asked = [] if config is None else constraints_of(config, [each.name for each in attributes])
    wanted = [probe for attribute in (None, *attributes) for probe in probes(attribute, models)]
    own = measure(classes, countable_constraints(asked))
    attacked = [unmeasured(each) for each in asked if isinstance(each, ReleaseConstraint)]
    held = in_order(asked, own, attacked)
    return Check(
        relation.rows,
        classes.number,
        held,
        measure(classes, countable_constraints(wanted)),
        index_warnings(relation.unmatched_columns),
    )
