"""The figures of a report, computed again from the release."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from anonymizer.audit.case import AuditCase, Unmeasured, missing_cells
from anonymizer.audit.claims import ABSENT, Claims, Key, agrees, as_reported
from anonymizer.data.duckdb.released import writer_of
from anonymizer.data.relation import Relation
from anonymizer.errors import InputError
from anonymizer.exposure.finding import Kind
from anonymizer.job.constraints import attacked, countable_constraints
from anonymizer.job.exposure import exposure_written, fits_in_memory
from anonymizer.job.verify import shape_of
from anonymizer.loss.base import AggregateName, loss_key
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes, released
from anonymizer.model.labels import MISSING
from anonymizer.model.recoding import COUNT, GROUP, Outcome, Recoding, Status
from anonymizer.model.table import Role
from anonymizer.model.units import RECORD
from anonymizer.plan.columns import Columns, PlannedColumn, PlannedHierarchy
from anonymizer.plan.counting import Counting
from anonymizer.plan.goal import Goal
from anonymizer.plan.prepared import Found, Prepared
from anonymizer.privacy.base import ClassConstraint, Constraint, CountedConstraint, ReleaseConstraint
from anonymizer.release.anatomy import pair_named
from anonymizer.release.classes import measure, verifiable
from anonymizer.report.scenarios import scenario_facts

IDENTITY = ("model", "attribute", "parameters")
"""The keys that identify a reported constraint in the config."""


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
        _check_hierarchy(claims, case.plan.columns.hierarchy(name), name)


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

    Formats of other programs have numbers where all texts of a column are numbers, and their own nulls.

    Raises
    ------
    InputError: a recoded column is not.
    """
    relation = case.relations[0]
    if relation.separator is not None or writer_of(Path(relation.name)) is not None:
        return
    for name in case.quasi_identifiers:
        if not relation.is_text(name) or missing_cells(relation, name)[0]:
            what = f"column '{name}' is recoded, but does not contain texts only"
            raise InputError(f"{relation.name}: {what}")


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
    bound = [each for each in case.plan.goal.constraints(case.sensitive) if each.scenario is None]
    if not _are_claimed(claims, bound, ("constraints",)):
        claims.refute(("constraints",), "the constraints of the report are not those of the config in it")
        return
    if not bound:
        claims.agree(("config", "constraints"))
        claims.agree(("constraints",))
    for path in case.plan.goal.paths(case.sensitive)[: len(bound)]:
        claims.agree(("config", *path))
    _judge_all(case, bound, ("constraints",))


def check_scenarios(case: AuditCase) -> None:
    """Every scenario of the config is satisfied, with the reported knowledge and measurements."""
    claims, given = case.claims, case.plan.shown.get("scenarios", {})
    if not given and claims.get(("scenarios",)) is ABSENT:
        return
    constraints = case.plan.goal.constraints(case.sensitive)
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
        case.plan.columns, case.plan.goal, constraint, classes
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


def measure_with_input(case: AuditCase, prepared: Prepared, recoding: Recoding, *, certain: bool) -> None:
    """Measure, as the run did, the constraints that the release does not suffice for.

    Parameters
    ----------
    prepared: the input.
    recoding: of its distinct rows to those of the release.
    certain: whether no other recoding fits, so that it is known whose the released records are.
    """
    measurable = countable_constraints(prepared.constraints)
    asked = [each for each in measurable if certain or _counts_records(each, prepared.plan.counting)]
    if not case.unmeasured or not asked:
        return
    own = replace(prepared, constraints=tuple(asked))
    outcome = Outcome(Status.SATISFIED, recoding, None, None, 0, 0)
    shape = shape_of(own.plan, own.encoded.relation)
    counted = shape.count(
        case.relations, Found(own, outcome, released(recoding, case.plan.goal.k))
    ).measurements
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


def _counts_records(constraint: CountedConstraint, counting: Counting) -> bool:
    """Return whether a constraint is measured on the classes of the release, whosever its records are."""
    return constraint.unit is None and not constraint.model.needs_households and counting.pseudonym is None


def _identity(constraint: Constraint) -> tuple[Any, ...]:
    """Return what distinguishes a constraint from the others of a config; equal ones measure the same."""
    return constraint.scenario, constraint.model.name, constraint.attribute, str(constraint.parameters())


def note_unmeasured(case: AuditCase) -> None:
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


def _reference_at_hand(columns: Columns, goal: Goal, constraint: CountedConstraint, classes: Classes) -> bool:
    """Return whether a constraint needs neither the input's distribution nor a hierarchy built from it."""
    if not goal.moving_reference and _uses_reference(constraint):
        return False
    if constraint.attribute not in columns.grown:
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
    starred = config.suppression.keep_rows or config.suppression.method.value == "cells"
    for name, level in {} if case.appended else levels.items():
        key, column = ("recoding", "levels", name), case.plan.columns[name]
        if level is None and not (claims.internal or column.fixed_height):
            # The number of such a level depends on suppressed records.
            claims.agree(key)
            continue
        possible = column.levels_shown(texts[name], config.folder, starred=starred)
        if possible is None:
            continue
        if type(level) is not int or level not in possible:
            found = ", ".join(map(str, sorted(possible))) or "no level of the hierarchy"
            claims.refute(key, f"the report says {level}, the published texts {found}")
        elif len(possible) == 1:
            claims.agree(key)


def check_losses(case: AuditCase) -> None:
    """The objective, and the losses that follow from class sizes and levels, are those of the release."""
    claims, levels = case.claims, case.claims.get(("recoding", "levels"))
    known: dict[str, Any] = {} if case.appended else _losses_of_sizes(case)
    if isinstance(levels, Mapping) and all(type(each) is int for each in levels.values()):
        known["height"] = sum(levels.values())
    elif levels is None:
        known["height"] = None
    for name, loss in known.items():
        claims.compare(("loss", name), loss)
    if not case.appended:
        _check_objective(claims, known)


def _losses_of_sizes(case: AuditCase) -> dict[str, Any]:
    """Return the losses that sizes of classes and the number of suppressed records determine."""
    claims, sizes, found = case.claims, case.classes.sizes, {}
    if len(sizes):
        average = Fraction(int(sizes.sum()), len(sizes)) / (case.plan.goal.k or int(sizes.min()))
        found["average_class_size"] = float(average)
    suppressed, records = claims.number(("release", "suppressed_records")), claims.number(("input", "rows"))
    if suppressed is not None and records is not None:
        kept_suppressed = int(suppressed) - (int(records) - case.classes.records)
        kept = int((sizes.astype(object) ** 2).sum()) - kept_suppressed**2
        found["discernibility"] = kept + int(suppressed) * int(records)
    return found


def _check_objective(claims: Claims, known: Mapping[str, Any]) -> None:
    """The objective equals the loss of its name, by its weights.

    Parameters
    ----------
    known: recomputed losses, unrounded; the others are as reported.
    """
    key, asked = ("search", "objective"), claims.section(("config", "objective"))
    metric = loss_key(str(asked.get("metric")))
    if asked.get("aggregate", AggregateName.ARITHMETIC_MEAN) != AggregateName.ARITHMETIC_MEAN:
        return
    if asked.get("weights") is None and asked.get("unit") is None:
        loss = known.get(metric, claims.number(("loss", metric)))
    else:
        loss = claims.number(("unit_loss" if asked.get("unit") else "weighted_loss", metric))
    if loss is not None:
        # A search can count in floats.
        claims.compare(key, float(loss) if isinstance(claims.get(key), float) else loss)


def check_exposure(case: AuditCase) -> None:
    """The release shows of itself what the report says.

    Columns that nobody outside is said to know are in the internal report alone.
    """
    claims, release = case.claims, case.relations[0]
    if claims.get(("exposure",)) is ABSENT or not fits_in_memory(case.plan.engine, release):
        return
    found = exposure_written(case.plan, release)
    section = ("exposure", "public" if claims.internal else "findings")
    for position, (kind, exceeded) in enumerate(found.public.items()):
        claims.compare((*section, position, "kind"), kind.value)
        key = (*section, position, "exceeded")
        said_unknown = kind is Kind.SINGLED_OUT and not claims.internal and claims.get(key) is False
        if not (exceeded and said_unknown):
            claims.compare(key, exceeded)
    if claims.internal and claims.get(("exposure", "unit")) == RECORD:
        shares = [found.share(each) for each in (found.unique, found.below_k, *found.with_sensitive)]
        beside = dict(zip(("unique", "below_k"), shares[2:], strict=True))
        figures = (found.units, *shares[:2], beside)
        for name, own in zip(("units", "unique", "below_k", "with_sensitive"), figures, strict=True):
            claims.compare(("exposure", name), own)


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
    check_exposure,
)
"""The checks that need the release and a report, in the order of their findings."""
