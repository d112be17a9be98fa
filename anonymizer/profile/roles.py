"""The role of a column by itself, from its name and its values.

The rules stand in one order; the first one that applies to a column decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.config.attribute import Role
from anonymizer.model.table import ValueType
from anonymizer.profile.column_statistics import NEARLY_ALL, ColumnFacts, is_fingerprint
from anonymizer.profile.detection import Finding
from anonymizer.profile.hierarchies import FEW, OLDEST, match_listed, named_for
from anonymizer.profile.knowledge import (
    AGE,
    ANSWER,
    BARE_WEIGHT,
    BELIEFS,
    CONDUCT,
    FAMILY,
    HEALTH,
    MONEY,
    PLACE,
    RESULTS,
    SEXUAL_LIFE,
    SURVEY_WEIGHT,
    Ground,
    Words,
    subject_of,
)


@dataclass(frozen=True)
class RoleProposal:
    """A proposed role.

    Attributes
    ----------
    role: that fits the ground.
    ground: who could know the values, or what they are for.
    reason: why, with counts and never with a value.
    doubtful: whether a person who knows the data may decide otherwise.
    flag: the kind of identifier that the values look like; None if none.
    general: whether a coarser form may be published instead of dropping the column.
    """

    role: Role
    ground: Ground
    reason: str
    doubtful: bool = False
    flag: str | None = None
    general: bool = False


def role_of(column: ColumnFacts, found: Sequence[Finding]) -> RoleProposal:
    """Return the proposed role of a column without regard to others; the first rule that applies decides.

    Parameters
    ----------
    found: findings of the detectors, certain ones first.
    """
    proposals = (rule(column, found) for rule in RULES)
    return next(proposal for proposal in proposals if proposal is not None)


def _without_information(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """A column without values, or with one value in all records, reveals nothing."""
    subject = subject_of(column.name)
    ground = Ground.FEW if subject is None else subject.ground
    if column.distinct == 0:
        return RoleProposal(Role.INSENSITIVE, ground, "no values")
    if column.distinct == 1 and not column.missing and column.rows > 1:
        return RoleProposal(Role.INSENSITIVE, ground, f"constant: one value in all {column.rows:,} records")
    return None


def _survey_weight(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Positive numbers that are named as survey weights are survey weights."""
    numbers = column.numbers
    if not len(numbers) or numbers[0] < 0 or ANSWER.named(column.name):
        return None
    bare = BARE_WEIGHT.fit(column.name) and _weighs_records(column)
    if not bare and not SURVEY_WEIGHT.named(column.name):
        return None
    reason = f"{_values(column)}, named as {SURVEY_WEIGHT.what}, never recoded"
    return RoleProposal(Role.WEIGHT, Ground.WEIGHT, reason, doubtful=bare)


def _weighs_records(column: ColumnFacts) -> bool:
    """Return whether the mean is about 1 or above what bodies weigh, or the numbers differ more than bodies.

    Weights of bodies in grams are whole numbers.
    """
    mean = float(np.average(column.numbers, weights=column.weights))
    fractions = column.type is ValueType.NUMBER and mean >= HEAVY
    skewed = float(column.numbers[-1]) > SKEWED * float(np.median(column.numbers))
    return NORMALISED[0] <= mean <= NORMALISED[1] or fractions or skewed or mean >= HEAVIEST


def _detected(column: ColumnFacts, found: Sequence[Finding]) -> RoleProposal | None:
    """A column that looks like names, numbers or texts of persons is an identifier.

    If that is not certain, a name for something else decides; texts are identifiers unless people know them.
    """
    if not found:
        return None
    subject = subject_of(column.name)
    known = subject is not None and (column.type is not ValueType.TEXT or subject.ground is Ground.OUTSIDE)
    if known and not found[0].certain:
        return None
    doubtful = not found[0].certain or found[0].general
    ground = Ground.KEY if found[0].key else Ground.IDENTIFIER
    reason = f"looks like {found[0].what}: {found[0].reason}"
    return RoleProposal(Role.IDENTIFIER, ground, reason, doubtful, found[0].what, found[0].general)


def _dated(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Dates of events are known outside, whatever the event."""
    if not column.dated:
        return None
    return RoleProposal(Role.QUASI_IDENTIFIER, Ground.OUTSIDE, f"{_values(column)}, dates")


def _said_by_values(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Texts that are mostly about health, beliefs, conduct, sexual life or family are of that subject."""
    if column.type is not ValueType.TEXT or subject_of(column.name) not in (None, ANSWER):
        return None
    least = max(2, len(column.texts) / 2)
    for subject in (HEALTH, SEXUAL_LIFE, CONDUCT, RESULTS, BELIEFS, FAMILY):
        said = sum(subject.named(text) for text in column.texts)
        if said >= least:
            reason = f"{_values(column)}, {said:,} of them about {subject.what}"
            return RoleProposal(subject.role, subject.ground, reason)
    return None


def _named(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """The first subject with a word in the name of the column decides."""
    subject = subject_of(column.name)
    if subject is None or (subject is AGE and not _may_be_ages(column)):
        return None
    if subject is PLACE and STAYS.fit(column.name) and column.type.numeric and column.numbers[0] == 0:
        subject = HEALTH
    reason = f"{_values(column)}, named as {subject.what}"
    if subject.role is Role.SENSITIVE:
        sure = subject in (HEALTH, MONEY, RESULTS) and column.distinct > 1
        doubtful = not sure or named_for(column, "occupation")
        return RoleProposal(subject.role, subject.ground, reason, doubtful or is_fingerprint(column))
    return RoleProposal(subject.role, subject.ground, reason)


def _may_be_ages(column: ColumnFacts) -> bool:
    """Return whether numbers may be ages, or texts bands of them: other words end in "age", too."""
    if column.type.numeric:
        return bool(column.numbers[0] >= 0 and column.numbers[-1] <= OLDEST and column.distinct > FEW)
    return any(any(map(str.isdigit, text)) for text in column.texts)


def _years(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Whole numbers that are all years of the last generations are years of events."""
    numbers = column.numbers
    if column.type is not ValueType.INTEGER or column.distinct < 2:
        return None
    if numbers[0] < YEARS[0] or numbers[-1] > YEARS[1]:
        return None
    return RoleProposal(Role.QUASI_IDENTIFIER, Ground.OUTSIDE, f"{_values(column)}, years", doubtful=True)


def _listed(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Values that a ready-made hierarchy lists are what the hierarchy is for."""
    match = match_listed(column)
    if match is None:
        return None
    reason = f"{_values(column)}, most of them in the ready-made hierarchy {match.name}"
    if match.name in ("icd10", "religion"):
        return RoleProposal(Role.SENSITIVE, Ground.FEW, reason, doubtful=True)
    return RoleProposal(Role.QUASI_IDENTIFIER, Ground.OUTSIDE, reason, doubtful=not match.named)


def _different_texts(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Texts that nearly all differ identify their records."""
    if column.type is not ValueType.TEXT or column.distinctness < NEARLY_ALL:
        return None
    reason = (
        f"{column.distinct:,} different texts in {column.present:,} records: nearly every record is unique"
    )
    return RoleProposal(Role.IDENTIFIER, Ground.IDENTIFIER, reason, doubtful=True)


def _many_texts(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Texts of many kinds may be places, jobs or the like, which are known outside."""
    if column.type is not ValueType.TEXT or column.distinct < MANY_TEXTS:
        return None
    reason = f"{_values(column)}, texts of many kinds, such as places or jobs"
    return RoleProposal(Role.QUASI_IDENTIFIER, Ground.OUTSIDE, reason, doubtful=True)


def _known_to_few(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal:
    """All else is a measurement, an answer or a code, which few know."""
    answers = column.distinct <= 2 or (column.type is not ValueType.TEXT and column.distinct <= ANSWERS)
    measured = column.type is ValueType.NUMBER
    doubtful = not answers and not measured
    return RoleProposal(Role.INSENSITIVE, Ground.FEW, _values(column), doubtful)


RULES: tuple[Callable[[ColumnFacts, Sequence[Finding]], RoleProposal | None], ...] = (
    *(_without_information, _survey_weight, _detected, _dated, _said_by_values, _named, _years, _listed),
    *(_different_texts, _many_texts, _known_to_few),
)
"""The rules in their order; the last one applies to every column."""

STAYS = Words("hospital, hospitals, clinic, clinics")
"""Words of places that are visited: numbers from 0 on count the visits."""

NORMALISED = (0.5, 1.5)
"""Mean of survey weights that sum to the number of records."""

HEAVIEST = 10_000
"""Mean from which on weights are not of bodies, in any unit."""

SKEWED = 20
"""Largest number by the median from which on weights are not of bodies."""

HEAVY = 1_000
"""Mean from which on weights with fractions are not of bodies, in kilograms or pounds."""

YEARS = (1880, 2040)
"""First and last year of the events of people who may live."""

MANY_TEXTS = 30
"""Distinct texts from which on a column may have places or jobs."""

ANSWERS = 11
"""Maximum number of different numbers that answer a question, as from 0 to 10."""


def _values(column: ColumnFacts) -> str:
    noun = "value" if column.distinct == 1 else "values"
    return f"{column.distinct:,} {noun}"
