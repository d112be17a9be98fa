"""Warnings of keys and units that a config does not count.

Where constraints count records, a key of persons that repeats is a reason to warn. Such a column is neither a
quasi-identifier nor sensitive and divides no class, but it may tell which records are of one person. Its
values are counted in each class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from anonymizer.attacks.base import IGNORED, LINKS, Attack
from anonymizer.attacks.three_questions import Answer
from anonymizer.data.relation import Relation
from anonymizer.data.source import KeyColumns
from anonymizer.errors import listed, plural
from anonymizer.exposure.finding import ROWS_ARE_PERSONS
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import IntArray, distinct_in_groups, group_rows
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import LEFT_OUT, Numerals, Role
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD
from anonymizer.model.warning import Harm, Warned
from anonymizer.people.keys import NOT_PEOPLE, RepeatedKey, judged, keys_among, repeats, warnings_of
from anonymizer.people.released import class_of_records, columns_of_keys, values_of_records, values_of_texts
from anonymizer.plan.assessment import Assessment
from anonymizer.plan.columns import Columns
from anonymizer.plan.counting import Counting
from anonymizer.plan.goal import Goal
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Prepared
from anonymizer.profile.column_statistics import ColumnFacts, measure_column
from anonymizer.profile.knowledge import thing_of


def unit_warnings(facts: dict[str, Any] | None) -> list[str]:
    """Return the warnings about units that each have one record, and about records without one.

    Parameters
    ----------
    facts: the ``units`` entry of the report.
    """
    warnings = []
    facts = facts or {}
    for name, own in facts.items():
        column, missing = own["column"], own["records_without"]
        warnings += [
            f"column '{each}' links the records of {plural(number, name)}: each {name} has one value in "
            f"all records, and no other {name} has this value; leave the column out, or make it a "
            "quasi-identifier"
            for each, number in own.get("linked_by", {}).items()
        ]
        if missing and name == HOUSEHOLD and PERSON in facts:
            warnings.append(
                f"column '{column}' is empty in {plural(missing, 'record')}; their persons are in the {name} "
                f"of their other records, or in a {name} of their own. If several persons belong to one "
                f"{name}, fill in the column, or set input.missing_person: refuse"
            )
        elif missing:
            warnings.append(
                f"column '{column}' is empty in {plural(missing, 'record')}; each of them counts as a "
                f"{name}. If several belong to one {name}, fill in the column, or set "
                "input.missing_person: refuse"
            )
        elif own["units"] == own["records"]:
            what = f"column '{column}' has a different value in every record, so each {name} has one record"
            warnings.append(Warned(what, Harm.DATA))
    return warnings


MOST_LOOKED_AT = 30
"""Maximum number of released columns in which keys are looked for."""


def released_key_warnings(
    relation: Relation,
    roles: Mapping[str, Role | None],
    numerals: Numerals,
    measured: Mapping[str, ColumnFacts] = MappingProxyType({}),
) -> list[str]:
    """Return warnings about columns that are released unchanged and number groups, though no name says so.

    Such as the number of a household, whose members agree in its size and region.

    Parameters
    ----------
    roles: of the columns; insensitive ones are looked at.
    measured: statistics of some columns that are known already.
    """
    from anonymizer.profile.keys import may_number_groups, released_keys  # noqa: PLC0415 - loads much

    if not relation.ordered:
        return []
    kept = [name for name, role in roles.items() if role not in LEFT_OUT]
    shown = [name for name in kept if roles[name] is Role.INSENSITIVE][:MOST_LOOKED_AT]
    known = {name: measured.get(name) or measure_column(relation, name, numerals) for name in shown}
    found = [name for name, own in known.items() if may_number_groups(own) and not repeats(own, roles[name])]
    if not found:
        return []
    for name in kept:
        known.setdefault(name, measure_column(relation, name, numerals))
    told = released_keys(relation, found, known)
    keys = [
        RepeatedKey(each, known[each].distinct, known[each].present, thing=thing_of(each)) for each in told
    ]
    return [_released_key(each, told[each.name]) for each in judged(relation, keys, known.__getitem__)]


def _released_key(key: RepeatedKey, told: Sequence[str]) -> str:
    """Return the warning about a key that is released, whose values each have one value of some columns."""
    whose, named = "a household, a person or another group", "input.household or input.person"
    if key.thing is not None:
        whose, named = key.thing, "input.units"
    elif key.varies is not None:
        whose, named = "a household or another group", "input.household"
    return (
        f"column '{key.name}' is released unchanged and looks like the number of {whose}: its "
        f"{key.persons:,} values repeat, and records with the same value agree in {listed(told)}. Leave the "
        f"column out with role: drop. If it is such a number, also name it in {named}"
    )


def key_warnings(prepared: Prepared, recoding: Recoding) -> list[str]:
    """Return the warnings about the repeated keys of a run, with the classes of the release that they divide.

    The classes are counted if the distinct rows are in memory and the records have an order.
    """
    plan = prepared.plan
    if ROWS_ARE_PERSONS in plan.assessment.acknowledged or plan.counting.counts_persons:
        return []
    relation = prepared.encoded.relation
    columns = [(name, plan.columns[name].role) for name in relation.columns]
    keys = _uncounted(plan.counting, keys_among(relation, columns, plan.counting.units))
    if keys and prepared.problem.source is None and relation.ordered and not plan.columns.applied:
        own, number = class_of_records(prepared, recoding)
        keys = [_counted(relation, each, own, number, plan.columns, plan.goal) for each in keys]
    return warnings_of(keys, plan.goal.k, _in_place_of_records(plan.counting))


def _uncounted(counting: Counting, keys: Iterable[RepeatedKey]) -> list[RepeatedKey]:
    """Return the keys whose values no constraint counts."""
    counted = {counting.units[unit] for unit in counting.counted_units if unit in counting.units}
    return [each for each in keys if each.name not in counted]


def _in_place_of_records(counting: Counting) -> list[str]:
    """Return the units that constraints count; none if a constraint counts records."""
    return [] if any(each.unit is None for each in counting.constraints) else counting.counted_units


def _counted(
    relation: Relation, key: RepeatedKey, class_of: IntArray, number: int, columns: Columns, goal: Goal
) -> RepeatedKey:
    """Return the key with the number of classes that hold fewer than k of its values."""
    values = values_of_records(columns, relation, key.name)
    counted = (class_of >= 0) & (values >= 0)
    found = distinct_in_groups(class_of[counted], values[counted], number)
    return replace(key, below=int((found < (goal.k or 2)).sum()), classes=number)


def _unlike_constraints(counting: Counting, reason: str = "") -> str:
    """Return what attacks count, and why, unlike constraints."""

    unlike = (
        ". Constraints count persons, so the numbers cannot be compared" if counting.counts_persons else ""
    )
    return f"records{NOT_PEOPLE}{reason}{unlike}"


def records_warnings(
    counting: Counting,
    assessment: Assessment,
    found: Iterable[tuple[Attack, Mapping[str, Any]]],
    answers: Iterable[Answer] = (),
) -> list[str]:
    """Return the warnings about attacks that ignored pseudonyms, or counted records where constraints do not.

    Attacks with ``unit: record`` are left out of the latter. Where the config has several attacks of one
    name, a warning says which.

    Parameters
    ----------
    found: attacks with the knowledge of each result.
    answers: to the three questions of European law.
    """
    unlike = counting.counts_persons and ROWS_ARE_PERSONS not in assessment.acknowledged
    counted, ignoring, three = [], [], "singling out, linkability and inference"
    for attack, knowledge in found:
        places = [place for place, each in enumerate(assessment.attacks) if each.name == attack.name]
        own = next((place for place in places if assessment.attacks[place] is attack), None)
        name = attack.name if own is None or len(places) == 1 else f"{attack.name} (attacks[{own}])"
        if knowledge.get(LINKS) == IGNORED:
            ignoring.append(name)
        if "unit" not in knowledge and attack.named.unit != RECORD:
            counted.append(name)
    answers = list(answers)
    if any("unit" not in each.knowledge for each in answers):
        counted.append(three)
    if answers and counting.pseudonym is not None:
        ignoring.append(three)
    said = []
    if ignoring:
        what = "ignored that pseudonyms link the rows of a person, so their figures may be too low"
        said.append(f"{listed(list(dict.fromkeys(ignoring)))} {what}")
    if counted and unlike:
        needed = f"count persons only if input and control have column '{counting.units[PERSON]}'"
        unlike_them = _unlike_constraints(counting)
        unlike_them += f". {three.capitalize()} {needed}" if three in counted else ""
        said.append(f"{listed(list(dict.fromkeys(counted)))} counted {unlike_them}")
    return said


def attack_warnings(plan: Plan, original: Relation | None, view: AdversaryView) -> list[str]:
    """Return the warnings about persons with several records, whom attacks take for several persons.

    Parameters
    ----------
    original: the records that the adversary has, None without.
    """
    if ROWS_ARE_PERSONS in plan.assessment.acknowledged:
        return []
    unowned = PERSON in plan.counting.units and view.holders is None
    said = (
        [f"attacks count {_unlike_constraints(plan.counting, _unowned(plan.counting, original, view))}"]
        if unowned
        else []
    )
    if original is None or plan.counting.counts_persons:
        return said
    known = {name: own.role for name, own in plan.columns.items()}
    columns = [(name, known.get(name)) for name in original.columns]
    keys = _uncounted(plan.counting, keys_among(original, columns, plan.counting.units))
    return [*said, *warnings_of(keys, plan.goal.k, _in_place_of_records(plan.counting))]


def _unowned(counting: Counting, original: Relation | None, view: AdversaryView) -> str:
    """Return why it is not known whose the released records are, to follow what is counted in their place."""
    own = view.original
    if original is None or own is None:
        return ", because no original records are given (--original)"
    if view.grouped is not None:
        return ", because nobody knows whose the records of an Anatomy release are"
    lacking = [each for each in counting.units.values() if each not in original.columns]
    if lacking:
        return f", because {original.name} has no column '{lacking[0]}'"
    if own.links.records < view.release.records:
        return f", because not every released record has one of {original.name} that fits it"
    return f", because records of {original.name} fit several released rows, so nobody knows whose these are"


def check_warnings(
    relation: Relation,
    quasi_identifiers: Sequence[str],
    columns: Iterable[tuple[str, Role | None]],
    plan: Plan | None,
) -> list[str]:
    """Return the warnings about the repeated keys of a file, whose classes have equal quasi-identifiers.

    Parameters
    ----------
    columns: as for ``keys_among``.
    plan: of the config; None without one.
    """
    k, units, keys = (
        (None, {}, KeyColumns(()))
        if plan is None
        else (plan.goal.k, plan.counting.units, columns_of_keys(plan.columns))
    )
    counted = []
    for key in keys_among(relation, columns, units):
        groups = relation.group_counts([*quasi_identifiers, key.name])
        sizes = [len(values) for values in groups.values[:-1]]
        class_of, number = group_rows(zip(groups.codes.T[:-1], sizes, strict=True), len(groups.counts))
        own = values_of_texts(relation, groups.values[-1], replace(keys, names=(key.name,)))
        values = own[groups.codes[:, -1]]
        present = values >= 0
        found = distinct_in_groups(class_of[present], values[present], number)
        below = int((found < (k or 2)).sum())
        counted.append(replace(key, below=below, classes=number))
    return warnings_of(counted, k)
