"""``check``: every privacy model measured on a file without recoding, including Anatomy releases.

The QIT and ST of Anatomy are opened, measured and attacked from their files alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from anonymizer.attacks.adversary_view import truth_of_tuples
from anonymizer.audit.anatomy import measure_pair, read_pair
from anonymizer.audit.classes import count_classes, measure
from anonymizer.config.attribute import Role
from anonymizer.data.csv import index_warnings
from anonymizer.data.open import OPTIONS
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import InputError, suggestion
from anonymizer.model.adversary import AdversaryView, AnatomyRelease
from anonymizer.model.classes import Measurement
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import PRIVACY_MODELS, ReleaseConstraint
from anonymizer.release.anatomy import AnatomyFiles
from anonymizer.run.adversary import original_of_files, read_release
from anonymizer.run.plan import Plan, probes
from anonymizer.run.prepare import countable_constraints, in_order, open_release, unmeasured
from anonymizer.run.shape import RelationPair, attribute_in_groups


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


def check_config(relation: Relation, plan: Plan) -> Check:
    """Measure a file by the roles, distances and constraints of a config; the reference is the file.

    The file may be an input or a release: its quasi-identifiers are compared as texts.

    Raises
    ------
    InputError: the file lacks a quasi-identifier or a sensitive column of the config.
    """
    for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        for name in plan.with_role(role):
            relation.position(name)
    own = plan.requests(plan.with_role(Role.SENSITIVE))
    columns = read_columns(relation, own, plan.missing)
    attributes = plan.sensitive_attributes({name: read.column for name, read in columns.items()})
    return _check_table(relation, plan.with_role(Role.QUASI_IDENTIFIER), attributes, plan)


def _check_table(
    relation: Relation,
    quasi_identifiers: Sequence[str],
    attributes: Sequence[SensitiveAttribute],
    plan: Plan | None,
) -> Check:
    classes = count_classes(relation, quasi_identifiers, attributes)
    models = list(PRIVACY_MODELS.values())
    asked = [] if plan is None else plan.constraints([each.name for each in attributes])
    wanted = [probe for attribute in (None, *attributes) for probe in probes(attribute, models)]
    own = measure(classes, countable_constraints(asked))
    attacked = [unmeasured(each) for each in asked if isinstance(each, ReleaseConstraint)]
    held = in_order(asked, own, attacked)
    return Check(
        relation.rows,
        classes.number,
        held,
        measure(classes, countable_constraints(wanted)),
        index_warnings(relation.index_columns),
    )


@contextmanager
def open_pair(pair: AnatomyFiles, options: EngineOptions = OPTIONS) -> Iterator[RelationPair]:
    """Open both files of a release in two tables."""
    with open_release(pair.records, options) as records, open_release(pair.values, options) as values:
        yield records, values


def attribute_of_pair(plan: Plan, tables: RelationPair) -> SensitiveAttribute:
    """Return the sensitive attribute of a config with the values that a release in groups has.

    Raises
    ------
    InputError: the config has not exactly one, or the sensitive table lacks it.
    """
    name = attribute_in_groups(plan)
    _, values = tables
    values.position(name)
    read = read_columns(values, plan.requests([name]), plan.missing)
    return plan.sensitive_attributes({name: read[name].column})[0]


def grouped_of_config(plan: Plan, tables: RelationPair) -> AnatomyRelease:
    """Count a release in groups by the roles of a config.

    Raises
    ------
    DataError: a column is missing, or the tables do not belong together.
    """
    records, values = tables
    names = plan.with_role(Role.QUASI_IDENTIFIER)
    for name in (*names, GROUP):
        records.position(name)
    own = [name for name in records.columns if name in names]
    return read_pair(records, values, own, attribute_of_pair(plan, tables))


def check_pair_config(tables: RelationPair, plan: Plan) -> Check:
    """Measure a release in groups by the roles and constraints of a config; the reference is the release.

    Raises
    ------
    InputError: a file lacks a column of the config, or the files do not belong together.
    """
    grouped = grouped_of_config(plan, tables)
    return _check_groups(grouped, plan)


def check_pair_names(
    tables: RelationPair, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> Check:
    """Measure a release in groups by the names of its columns.

    Raises
    ------
    InputError: a column is missing, or the sensitive attribute is not the one of the second table.
    """
    records, values = tables
    if not quasi_identifiers:
        raise InputError(f"{records.name}: no quasi-identifier given; name at least one column")
    for name in (*quasi_identifiers, GROUP):
        if name not in records.columns:
            raise InputError(f"{records.name}: no column '{name}'; {suggestion(name, records.columns)}")
    own = [name for name in values.columns if name not in (GROUP, COUNT)]
    if len(own) != 1 or list(sensitive or own) != own:
        raise InputError(
            f"{values.name}: has the columns {', '.join(values.columns)}, one of which beside {GROUP} and "
            f"{COUNT} is sensitive; leave --sensitive out, or name that one"
        )
    read = read_columns(values, [ColumnRequest(own[0])])
    attribute = SensitiveAttribute(read[own[0]].column)
    return _check_groups(read_pair(records, values, quasi_identifiers, attribute), None)


def _check_groups(grouped: AnatomyRelease, plan: Plan | None) -> Check:
    attribute = grouped.sensitive.attribute
    models = list(PRIVACY_MODELS.values())
    asked = [] if plan is None else plan.constraints([attribute.name])
    wanted = [probe for each in (None, attribute) for probe in probes(each, models)]
    attacked = [unmeasured(each) for each in asked if isinstance(each, ReleaseConstraint)]
    held = in_order(asked, measure_pair(grouped, countable_constraints(asked)), attacked)
    return Check(
        grouped.records, len(grouped.groups), held, measure_pair(grouped, countable_constraints(wanted))
    )


def scene_of_pair(
    plan: Plan,
    tables: RelationPair,
    original: Relation | None = None,
    weights: Sequence[str] = (),
) -> AdversaryView:
    """Return the scene of who has a release in groups, and perhaps original records.

    Parameters
    ----------
    weights: columns of the quasi-identifier table with sampling weights.

    Raises
    ------
    InputError: a column is missing, the files do not belong together, or share nothing with the original.
    """
    records, _ = tables
    grouped = grouped_of_config(plan, tables)
    release = read_release(plan, records, weights)
    if original is None:
        return AdversaryView(release, grouped=grouped)
    name = grouped.sensitive.attribute.name
    own = original_of_files(plan, release, records, original, name)
    if own.sensitive and own.names == release.names:
        grouped = replace(grouped, truth=truth_of_tuples(grouped, own, release))
    return AdversaryView(release, original=own, grouped=grouped)


def refused_second(source: str) -> InputError:
    """Return the error for another release beside one in groups.

    Parameters
    ----------
    source: what the message calls the one in groups.
    """
    return InputError(
        f"{source}: is of a release in groups, which no attack compares with a second release; leave the "
        "second one out"
    )
