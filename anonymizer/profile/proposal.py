"""The proposal for a file: the role of each column with its reason, hierarchies and privacy models."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.errors import DataError, plural
from anonymizer.model.labels import NumberLabels
from anonymizer.model.naming import Spellings, in_spelling_of
from anonymizer.model.table import LEFT_OUT, POINT, Numerals, Role, ValueType
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.presets.preset import Preset
from anonymizer.profile.column_statistics import (
    NEARLY_ALL,
    ColumnFacts,
    is_fingerprint,
    measure,
    single_extremes,
    weight_warnings,
)
from anonymizer.profile.combinations import (
    COINCIDENCES,
    WIDEST,
    JointUniqueness,
    Pair,
    UniquenessProfile,
    combinations_of,
)
from anonymizer.profile.detection import Finding, are_days, findings
from anonymizer.profile.hierarchies import (
    COARSE,
    FEW,
    FINE,
    OLDEST,
    Draft,
    HierarchyDrafter,
    calendar_words,
    date_format,
    date_settings,
    match_listed,
    named_for,
    place_form,
    spelled,
)
from anonymizer.profile.hierarchy_files import HierarchyFile
from anonymizer.profile.keys import KEY_DISTINCT, KEY_OF, may_number_homes, time_of_panel, told_by_key
from anonymizer.profile.knowledge import (
    AGE,
    ANSWER,
    BARE_WEIGHT,
    BELIEFS,
    CONDUCT,
    FAMILY,
    HEALTH,
    JOB,
    MONEY,
    OF_ONE_KIND,
    PLACE,
    RESULTS,
    SEX,
    SEXUAL_LIFE,
    SURVEY_WEIGHT,
    YEARS_OF_AGE,
    Ground,
    Words,
    number_of_words,
    pairs_of,
    plain,
    readable,
    subject_of,
    terms_of,
    thing_of,
)
from anonymizer.profile.spellings import EMPTY
from anonymizer.profile.ways import Way

PROSE = 3
"""Fewest words of letters of an only value that is left out as a text."""

_LETTERS = re.compile(r"\b[^\W\d_]\b|[\W\d_]+")
"""What is no word of letters: single ones, and all other characters."""


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
    weighs: whether the column may be a sampling weight, though another role is proposed.
    """

    role: Role
    ground: Ground
    reason: str
    doubtful: bool = False
    flag: str | None = None
    general: bool = False
    weighs: bool = False


def role_of(column: ColumnFacts, found: Sequence[Finding], *, names_read: bool = True) -> RoleProposal:
    """Return the proposed role of a column without regard to others; the first rule that applies decides.

    Parameters
    ----------
    found: findings of the detectors, certain ones first.
    names_read: whether most names of the file could be read; otherwise the values say more.
    """
    proposals = (rule(column, found) for rule in (RULES if names_read else VALUE_RULES))
    proposal = next(proposal for proposal in proposals if proposal is not None)
    if proposal.role is Role.INSENSITIVE and _may_weigh_records(column):
        reason = f"{proposal.reason}, either weights of bodies or sampling weights"
        return replace(proposal, reason=reason, doubtful=True, weighs=True)
    return proposal


def _without_information(column: ColumnFacts, found: Sequence[Finding]) -> RoleProposal | None:
    """A column without values, or with one in all records that does not identify anybody, reveals nothing."""
    subject = subject_of(column.name)
    ground = Ground.FEW if subject is None else subject.ground
    if column.distinct == 0:
        return RoleProposal(Role.INSENSITIVE, ground, "no values")
    if column.distinct == 1 and not column.missing and column.rows > 1:
        return _detected(column, found) or _constant(column, ground)
    return None


def _constant(column: ColumnFacts, ground: Ground) -> RoleProposal:
    """A text of several words may name somebody, such as who wrote it, and its absence loses nothing."""
    what = f"constant: one value in all {column.rows:,} records"
    if column.type is ValueType.TEXT and number_of_words(_LETTERS.sub(" ", column.texts[0])) >= PROSE:
        reason = f"{what}, whose several words may name somebody"
        return RoleProposal(Role.DROP, ground, reason, doubtful=True)
    return RoleProposal(Role.INSENSITIVE, ground, what)


def _survey_weight(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Numbers that are named as survey weights, nearly all of them not negative, are survey weights."""
    numbers = column.numbers
    if not len(numbers) or ANSWER.named(column.name):
        return None
    negative = column.weights[numbers < 0].sum()
    if negative > MOST_NEGATIVE * column.weights.sum():
        return None
    bare = BARE_WEIGHT.fit(column.name) and _weighs_records(column)
    if not bare and not SURVEY_WEIGHT.named(column.name):
        return None
    reason = f"{_values(column)}, name suggests {SURVEY_WEIGHT.what}, never recoded"
    return RoleProposal(Role.WEIGHT, Ground.WEIGHT, reason, doubtful=bare)


def _weighs_records(column: ColumnFacts) -> bool:
    """Return whether the mean is about 1 or above what bodies weigh, or the numbers differ more than bodies.

    Weights of bodies in grams are whole numbers.
    """
    mean = float(np.average(column.numbers, weights=column.weights))
    fractions = column.type is ValueType.NUMBER and mean >= HEAVY
    skewed = float(column.numbers[-1]) > HEAVY_TAIL * float(np.median(column.numbers))
    return NORMALISED[0] <= mean <= NORMALISED[1] or fractions or skewed or mean >= HEAVIEST


def _may_weigh_records(column: ColumnFacts) -> bool:
    """Return whether a column named as a weight has more decimals than scales show, or is heavy for bodies.

    Released in groups, as a weight of bodies is, sampling weights reveal less: in doubt they are no weights.
    """
    numbers = column.numbers
    if len(numbers) < 2 or numbers[0] < 0 or not BARE_WEIGHT.fit(column.name) or ANSWER.named(column.name):
        return False
    decimals = any(FINE_WEIGHT.fullmatch(text) for text, _ in column.values)
    return decimals or float(np.average(numbers, weights=column.weights)) > HEAVY_BODY


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


def _free_text(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Many texts that nearly all differ are left out whatever they are about: each is a fingerprint."""
    subject = subject_of(column.name)
    outside = subject is not None and subject.ground is Ground.OUTSIDE
    return None if outside or column.distinct < MANY_TEXTS else _different_texts(column, _)


def _said_by_values(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Texts that are mostly about health, beliefs, conduct, sexual life or family are of that subject."""
    named = subject_of(column.name)
    unclear = named in (None, ANSWER) or UNCLEAR.fit(column.name)
    if column.type is not ValueType.TEXT or not unclear:
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
    if OF_ONE_KIND.fit(column.name) and column.distinct > FEW_SEXES:
        return None
    if subject is PLACE and STAYS.fit(column.name) and column.type.numeric and column.numbers[0] == 0:
        subject = HEALTH
    if subject is PLACE and STATUS.fit(column.name) and column.type.numeric and column.distinct <= FEW_STATES:
        subject = JOB
    numbered = column.type.numeric and column.distinct <= ANSWERS
    if numbered and subject.role is Role.QUASI_IDENTIFIER and subject.perhaps(column.name):
        reason = f"{_values(column)}, name perhaps suggests {subject.what}"
        return RoleProposal(subject.role, subject.ground, reason, doubtful=True)
    reason = f"{_values(column)}, name suggests {subject.what}"
    if subject.role is Role.SENSITIVE:
        sure = subject in (HEALTH, MONEY, RESULTS) and column.distinct > 1
        doubtful = not sure or named_for(column, "occupation")
        return RoleProposal(subject.role, subject.ground, reason, doubtful or is_fingerprint(column))
    return RoleProposal(subject.role, subject.ground, reason)


def _grade_or_status(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Columns named grade or status are of what their values say: of an outcome, a rank or something else."""
    if not UNCLEAR.fit(column.name):
        return None
    marks = {text.strip().casefold() for text in column.texts} <= set(terms_of("marks"))
    if marks or (STATUS_OF_SURVIVAL.fit(column.name) and column.type.numeric and column.distinct <= FEW):
        reason = f"{_values(column)}, perhaps {RESULTS.what}"
        return RoleProposal(Role.SENSITIVE, Ground.FEW, reason, doubtful=True)
    if STATUS_OF_SURVIVAL.fit(column.name):
        return None
    reason = f"{_values(column)}, name perhaps suggests {JOB.what}"
    return RoleProposal(JOB.role, JOB.ground, reason, doubtful=True)


def _may_be_ages(column: ColumnFacts) -> bool:
    """Return whether numbers may be ages, or texts bands of them: other words end in "age", too."""
    if column.type.numeric:
        return bool(column.numbers[0] >= 0 and column.numbers[-1] <= OLDEST and column.distinct > FEW)
    return any(any(map(str.isdigit, text)) for text in column.texts)


def _sexes(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Texts such as M and F are sexes, whatever the name of the column."""
    if column.type is not ValueType.TEXT or not 2 <= column.distinct <= FEW_SEXES:
        return None
    if not _are_of_pair(column, "sexes", "other sexes"):
        return None
    return RoleProposal(
        Role.QUASI_IDENTIFIER, Ground.OUTSIDE, f"{_values(column)}, which are those of a sex", doubtful=True
    )


def _are_of_pair(column: ColumnFacts, pairs: str, others: str) -> bool:
    """Return whether the texts are two of a list of ``words.yaml``, and others that another list has."""
    values = set(map(plain, column.texts))
    further = set(terms_of(others))
    return any(values >= pair and values - pair <= further for pair in pairs_of(pairs))


def _yes_or_no(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Yes and no, in any language, are answers, with and without another for those who did not answer."""
    if column.type is not ValueType.TEXT or not 2 <= column.distinct <= FEW_SEXES:
        return None
    if not (
        _are_of_pair(column, "yes and no", "no answer") or _are_of_pair(column, "yes and no", "other sexes")
    ):
        return None
    return RoleProposal(Role.INSENSITIVE, Ground.FEW, f"{_values(column)}, yes or no")


def _months(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Names of months or days of the week are of an event."""
    if column.type is not ValueType.TEXT or not FEW < column.distinct <= MONTHS:
        return None
    if not any(set(map(spelled, column.texts)) <= names for names in calendar_words()):
        return None
    reason = f"{_values(column)}, names of months or days"
    return RoleProposal(Role.QUASI_IDENTIFIER, Ground.OUTSIDE, reason, doubtful=True)


def _places_by_form(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Postal codes of many countries, and codes of regions by ISO 3166-2, have forms that tell them."""
    form = place_form(column)
    if form is None:
        return None
    return RoleProposal(
        Role.QUASI_IDENTIFIER, Ground.OUTSIDE, f"{_values(column)}, most like {form}", doubtful=True
    )


def _ages(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Many whole numbers up to 110 are ages if a word of the name agrees, such as "years"."""
    return _ages_by_values(column, ()) if YEARS_OF_AGE.fit(column.name) else None


def _ages_by_values(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Many whole numbers from 0 to 110, neither scores nor shares nor mostly small, are ages."""
    numbers = column.numbers
    if column.type is not ValueType.INTEGER or column.distinct < MANY_AGES:
        return None
    if numbers[0] < 0 or not MIDDLE_AGED <= numbers[-1] <= OLDEST_BY_VALUES:
        return None
    shares = numbers[0] == 0 and numbers[-1] == PER_CENT
    fives = float(column.weights[numbers % 5 == 0].sum()) > MOST_FIVES * float(column.weights.sum())
    middle = float(np.average(numbers, weights=column.weights))
    if shares or fives or middle < YOUNGEST_MEAN:
        return None
    reason = f"{_values(column)}, whole numbers that may be ages"
    return RoleProposal(Role.QUASI_IDENTIFIER, Ground.OUTSIDE, reason, doubtful=True)


def ages_by_values(column: ColumnFacts) -> bool:
    """Return whether many whole numbers are likely to be ages, whatever the name of their column."""
    return _ages_by_values(column, ()) is not None


def _coded_sexes(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Codes 1 and 2, or two other short texts, of roughly even shares may be sexes."""
    if column.distinct != 2 or not column.whole:
        return None
    codes = column.type is ValueType.INTEGER and column.numbers.tolist() == [1, 2]
    letters = column.type is ValueType.TEXT and all(
        len(text.strip()) == 1 and text.strip().isalpha() for text in column.texts
    )
    even = column.largest <= MOST_OF_ONE_SEX * column.present
    if not (codes or letters) or not even or _yes_or_no(column, ()) is not None:
        return None
    reason = f"{_values(column)} of roughly even shares, perhaps a sex"
    return RoleProposal(Role.QUASI_IDENTIFIER, Ground.OUTSIDE, reason, doubtful=True)


def _years(column: ColumnFacts, _: Sequence[Finding]) -> RoleProposal | None:
    """Whole numbers that are all years of the last generations, or days such as 480301, are of events."""
    numbers = column.numbers
    if column.type is not ValueType.INTEGER or column.distinct < 2:
        return None
    if column.distinct >= MANY_TEXTS and are_days(numbers):
        reason = f"{_values(column)}, days written as numbers"
        return RoleProposal(Role.QUASI_IDENTIFIER, Ground.OUTSIDE, reason, doubtful=True)
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
    *(
        _without_information,
        _survey_weight,
        _detected,
        _dated,
        _free_text,
        _said_by_values,
        _grade_or_status,
        _named,
        _sexes,
        _yes_or_no,
        _months,
        _years,
        _ages,
    ),
    *(_listed, _places_by_form, _different_texts, _many_texts, _known_to_few),
)
"""The rules in their order; the last one applies to every column."""

VALUE_RULES = tuple(
    own for rule in RULES for own in ((_coded_sexes, _ages_by_values, rule) if rule is _years else (rule,))
)
"""The rules for a file most of whose names cannot be read."""

UNCLEAR = Words("=grade, =status")
"""Names that only the values explain."""

STATUS_OF_SURVIVAL = Words("=status")

MONTHS, PER_CENT = 12, 100

MANY_AGES = 20
"""Minimum number of different whole numbers that may be ages."""

MIDDLE_AGED, OLDEST_BY_VALUES = 40, 110
"""Range of the largest of such numbers."""

YOUNGEST_MEAN = 10
"""Minimum mean of such numbers: counts are mostly smaller."""

MOST_FIVES = 0.5
"""Maximum share of such numbers that five divides: scores and shares are often rounded."""

MOST_OF_ONE_SEX = 0.7
"""Maximum share of the records of one of two sexes, if only the values tell."""

STAYS = Words("hospital, hospitals, clinic, clinics")
"""Words of places that are visited: numbers from 0 on count the visits."""

STATUS = Words("=estado, =stato")
"""Words for states, those of a country and those that a person is in, such as active or retired."""

FEW_STATES = 9
"""Maximum number of codes in such a column that are of an activity status, not of the states of a country."""

MOST_NEGATIVE = 0.02
"""Maximum share of survey weights that are negative, by mistake or for missing ones."""

NORMALISED = (0.5, 1.5)
"""Mean of survey weights that sum to the number of records."""

FINE_WEIGHT = re.compile(r"[0-9]*[.,][0-9]{2,}")
"""A number with two or more decimals."""

HEAVY_BODY = 250
"""Mean from which on weights are hardly of bodies, in kilograms or pounds; they may be in grams."""

HEAVIEST = 10_000
"""Mean from which on weights are not of bodies, in any unit."""

HEAVY_TAIL = 20
"""Largest number by the median from which on weights are not of bodies."""

HEAVY = 1_000
"""Mean from which on weights with fractions are not of bodies, in kilograms or pounds."""

FEW_SEXES = 4
"""Maximum number of values of a column of sexes."""

YEARS = (1880, 2040)
"""First and last year of the events of people who may live."""

MANY_TEXTS = 30
"""Distinct texts from which on a column may have places or jobs."""

ANSWERS = 11
"""Maximum number of different numbers that answer a question, as from 0 to 10."""


def _values(column: ColumnFacts) -> str:
    noun = "value" if column.distinct == 1 else "values"
    return f"{column.distinct:,} {noun}"


K = 5
"""Minimum size of a class, as is usual in statistics offices."""

LIMIT = Decimal("0.02")
"""Maximum share of suppressed records."""

MANY, SOME = 20, 6
"""Distinct numbers from which on t-closeness is proposed; distinct values from which on l is 3."""

SKEWED = Decimal("0.8")
"""Share of the most frequent value from which on l-diversity costs more than it protects."""

CLOSENESS = Decimal("0.3")


def proposed_k(rows: int) -> int:
    """Return the proposed k for a number of records."""
    return min(K, rows)


def proposed_constraint(column: ColumnFacts) -> tuple[dict[str, Any], str] | None:
    """Return a model for a sensitive attribute with the reason; None if it has only one value.

    A single class of all records satisfies each model, so a release always exists.
    """
    if column.distinct < 2:
        return None
    numbers = column.type is not ValueType.TEXT and column.distinct > MANY
    if numbers or column.largest > SKEWED * column.present:
        why = "the distribution of its values in every class is close to that in the whole file"
        return {"model": "t-closeness", "t": CLOSENESS, "attribute": column.name}, why
    diversity = 3 if column.distinct >= SOME else 2
    why = f"{diversity} different values in every class, so that the class does not reveal the value"
    if column.distinctness >= NEARLY_ALL:
        why += (
            "; but nearly all of its values differ, so every class satisfies this and it protects almost "
            "nothing: add a hierarchy and use t-closeness with distance: hierarchical"
        )
    return {"model": "l-diversity", "l": diversity, "attribute": column.name}, why


def constraints(rows: int, sensitive: Iterable[ColumnFacts]) -> list[tuple[dict[str, Any], str]]:
    """Return the proposed models for a file, each with its reason."""
    k = proposed_k(rows)
    first = (
        {"model": "k-anonymity", "k": k},
        f"every class of equal quasi-identifiers has at least {k} records, or persons where input.person "
        "names them",
    )
    proposed = (proposed_constraint(column) for column in sensitive)
    return [first, *(each for each in proposed if each is not None)]


COUNTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
"""Roles of the columns that are generalized or protected."""

EXACT = (Role.SENSITIVE, Role.INSENSITIVE)
"""Roles of the columns that are released exactly; sampling weights have a warning of their own."""

TELLING = 0.05
"""Minimum share of a column's entropy for naming a column that determines it."""


def redundant_columns(
    columns: Sequence[ColumnFacts], proposals: Mapping[str, RoleProposal], counter: UniquenessProfile
) -> dict[str, RoleProposal]:
    """Return proposals to leave out the columns that have the same values as another one, or others for them.

    Of two, the text stays rather than its code, then the one whose role protects more, then the first one; it
    gets the role that protects more. Candidates have equal statistics, so that few columns are compared.
    """
    candidates: dict[tuple[float, ...], list[ColumnFacts]] = {}
    for column in columns:
        if column.distinct > 1:
            facts = (
                column.distinct,
                column.singles,
                column.largest,
                column.missing,
                round(column.entropy, 6),
            )
            candidates.setdefault(facts, []).append(column)
    candidates = {facts: alike for facts, alike in candidates.items() if len(alike) > 1}
    counter.fetch({column.name for alike in candidates.values() for column in alike})
    found: dict[str, RoleProposal] = {}
    for alike in candidates.values():
        found |= _redundant(alike, proposals, counter)
    return found


def _redundant(
    alike: Sequence[ColumnFacts], proposals: Mapping[str, RoleProposal], counter: UniquenessProfile
) -> dict[str, RoleProposal]:
    """Return the proposals for columns of equal statistics: one of each group of redundant ones stays."""
    found: dict[str, RoleProposal] = {}
    kept: list[ColumnFacts] = []
    for column in sorted(alike, key=lambda each: _stays(each, proposals[each.name])):
        own = proposals[column.name]
        reasons = (
            (each, _redundancy(each, column, counter, _says_more(proposals[each.name], column, own)))
            for each in kept
        )
        other, reason = next(((each, why) for each, why in reasons if why is not None), (None, None))
        if other is None or reason is None:
            kept.append(column)
            if weight := _weight_of_stratum(column, own, kept, proposals, counter):
                found[column.name] = weight
        elif own.role is not Role.IDENTIFIER:
            found[column.name] = replace(own, role=Role.DROP, reason=reason, doubtful=False)
            protecting = found.get(other.name, proposals[other.name])
            if _PROTECTING.index(own.role) < _PROTECTING.index(protecting.role):
                why = f"{_values(other)}, the texts of {column.name}: {own.reason}"
                found[other.name] = replace(own, reason=why)
    return found


def _stays(column: ColumnFacts, own: RoleProposal) -> tuple[bool, int, int]:
    """Return a key that sorts first what stays of several columns that say the same.

    Identifiers of persons come first, as what says the same goes with them; then texts that can be read,
    before codes for them; then roles that protect more.
    """
    of_persons = own.role is Role.IDENTIFIER and thing_of(column.name) is None
    named = is_readable(column) or column.dated or match_listed(column) is not None
    form = 0 if named else 1 if column.type is ValueType.TEXT else 2
    return not of_persons, form, _PROTECTING.index(own.role)


def is_readable(column: ColumnFacts) -> bool:
    """Return whether most texts have words, not codes or numbers."""
    if column.type is not ValueType.TEXT:
        return False
    return 2 * sum(_READABLE.search(text) is not None for text in column.texts) > len(column.texts)


_READABLE = re.compile(r"[^\W\d_]{4}|[^\W\d_a-zA-Z]{2}")
"""A word that is no abbreviation, or two letters of another script."""


def _weight_of_stratum(
    column: ColumnFacts,
    own: RoleProposal,
    others: Sequence[ColumnFacts],
    proposals: Mapping[str, RoleProposal],
    counter: UniquenessProfile,
) -> RoleProposal | None:
    """Return the role of a weight for what may be one, if each stratum has one: bodies weigh differently."""
    if not own.weighs:
        return None
    strata = [
        each.name
        for each in others
        if proposals[each.name].role is Role.QUASI_IDENTIFIER and counter.one_to_one(each, column)
    ]
    if not strata:
        return None
    reason = f"{_values(column)}, one for each value of {strata[0]}, like a sampling weight, never recoded"
    return replace(own, role=Role.WEIGHT, ground=Ground.WEIGHT, reason=reason, doubtful=True, weighs=False)


_PROTECTING = (
    *(Role.IDENTIFIER, Role.SENSITIVE, Role.QUASI_IDENTIFIER, Role.WEIGHT, Role.INSENSITIVE, Role.DROP),
)
"""Roles of which the earlier one stays if two columns have the same values."""


def _says_more(kept: RoleProposal, column: ColumnFacts, own: RoleProposal) -> bool:
    """Return whether a column in a one-to-one relation with another is of use beside it.

    Weights are needed whatever they say. Dates and amounts are published in a coarser form, the key of an
    event or of a household not at all.
    """
    weighs = any(each.role is Role.WEIGHT or each.weighs for each in (kept, own))
    dates = own.role is Role.QUASI_IDENTIFIER and column.dated
    amounts = column.type.numeric and (own.role is Role.SENSITIVE or column.type is ValueType.NUMBER)
    return weighs or (kept.role is Role.IDENTIFIER and (dates or amounts))


def _redundancy(
    one: ColumnFacts, other: ColumnFacts, counter: UniquenessProfile, says_more: bool
) -> str | None:
    """Return why the second of two columns can be left out; None if it cannot."""
    coinciding = one.present - one.distinct
    if (coinciding or one.values == other.values) and counter.one_to_one(one, other):
        if counter.equal(one, other):
            return f"duplicate of {one.name}, so left out"
        if coinciding >= COINCIDENCES and not says_more:
            return f"in a one-to-one relation with {one.name}: it adds nothing, so it is left out"
    return None


class Relations:
    """The counted pairs of columns.

    Parameters
    ----------
    roles: proposed role of each column.
    finer: for each column that another one determines the name of that one.
    """

    def __init__(self, pairs: Sequence[Pair], roles: Mapping[str, Role], finer: Mapping[str, str]) -> None:
        self._roles = roles
        self._finer = finer
        self._pairs: dict[str, list[Pair]] = {name: [] for name in roles}
        for pair in pairs:
            for name in pair.columns:
                self._pairs[name].append(pair)

    def reason(self, column: ColumnFacts, reason: str) -> str:
        """Return the reason for a role, with related columns."""
        role = self._roles[column.name]
        parts = [reason]
        if role is Role.QUASI_IDENTIFIER:
            parts += self._unique(column)
            if column.name in self._finer:
                parts.append(f"determined by {self._finer[column.name]}")
        if role is Role.SENSITIVE:
            parts += self._determined(column.name)
        if column.missing and role in COUNTED:
            parts.append(f"{column.missing:,} missing")
        if is_fingerprint(column) and role in EXACT:
            parts.append(
                f"{column.singles:,} values occur once and could link records to other files from the same "
                "source"
            )
        return ", ".join(parts)

    def _unique(self, column: ColumnFacts) -> list[str]:
        """Return how many records the column makes unique, alone and with the best other one."""
        found = [f"{column.singles:,} records unique on this column alone"] if column.singles else []
        partners = [
            (pair.unique, self._other(pair, column.name))
            for pair in self._pairs[column.name]
            if self._roles[self._other(pair, column.name)] is Role.QUASI_IDENTIFIER
        ]
        unique, partner = max(partners, default=(0, ""))
        if unique > column.singles:
            found.append(f"{unique:,} records unique together with {partner}")
        return found

    def _determined(self, name: str) -> list[str]:
        """Return the quasi-identifier that determines most of a sensitive column."""
        shares = [
            (pair.determined[pair.columns.index(name) == 0], self._other(pair, name))
            for pair in self._pairs[name]
            if pair.determined is not None and self._roles[self._other(pair, name)] is Role.QUASI_IDENTIFIER
        ]
        share, partner = max(shares, default=(0.0, ""))
        return [f"{partner} determines {share:.0%} of it"] if share >= TELLING else []

    @staticmethod
    def _other(pair: Pair, name: str) -> str:
        one, other = pair.columns
        return other if one == name else one


@dataclass(frozen=True)
class NamesRead:
    """How many names of columns have a word that is known.

    Attributes
    ----------
    read, columns: names with such a word, and all names that the user did not explain.
    decided: whether the user named quasi-identifiers.
    left_out: columns that were too many to be quasi-identifiers.
    """

    read: int
    columns: int
    decided: bool = False
    left_out: int = 0

    @classmethod
    def of(cls, columns: Collection[ColumnFacts], choices: Choices) -> NamesRead:
        """Count the names; a column whose role the user set needs none."""
        asked = [each for each in columns if each.name not in choices.roles]
        read = sum(readable(each.name) or readable(each.title) for each in asked)
        return cls(read, len(asked), Role.QUASI_IDENTIFIER in choices.roles.values())

    @property
    def most(self) -> bool:
        """Whether at least half of the names could be read."""
        return 2 * self.read >= self.columns

    @property
    def cautious(self) -> bool:
        """Whether columns become quasi-identifiers because nobody said what they are."""
        return not self.most and not self.decided

    @property
    def note(self) -> str | None:
        """What could not be read, and what that means; None if most names could be read.

        >>> NamesRead(1, 4).note[:59]
        'The names of 3 of 4 columns could not be read, so the draft'
        """
        if self.most:
            return None
        unread = (
            f"The names of {self.columns - self.read:,} of {self.columns:,} columns could not be read, so"
        )
        if self.decided:
            return (
                f"{unread} the roles of columns that you did not name are guesses from their values: check "
                "each, or use --cautious"
            )
        left_out = (
            f" {plural(self.left_out, 'column')} beyond the first {MOST_UNREAD} are left out, as so many "
            "quasi-identifiers would leave * everywhere: give those that you need a role."
            if self.left_out
            else ""
        )
        return (
            f"{unread} the draft is cautious, as with --cautious: columns that are neither left out nor "
            f"sensitive are quasi-identifiers. Check each role; --qi names the quasi-identifiers.{left_out}"
        )


MOST_UNREAD = 30
"""Maximum number of columns that become quasi-identifiers because their names could not be read."""

ALL_READ = NamesRead(0, 0)


@dataclass(frozen=True)
class ColumnProposal:
    """A column with its role.

    Attributes
    ----------
    facts: statistics of the column.
    proposed: the proposed role with its reason.
    role: as decided: the proposed one, or the answer of the user.
    reason: for the role, with counts and never with a value.
    draft: the hierarchy of a quasi-identifier; of another column, one for a coarser form.
    answered: whether the user decided the role.
    extreme: whether one record alone has the largest or the smallest value, which would be released exactly.
    least: records that each group of its numbers has, so that several units have its values; 0 for any.
    asked: settings that a trial of the draft asked for, in its role; None for the usual ones.
    rule: of a preset that concerns the column, with its source; empty without one.
    """

    facts: ColumnFacts
    proposed: RoleProposal
    role: Role
    reason: str
    draft: Draft | None = None
    answered: bool = False
    extreme: bool = False
    least: int = 0
    asked: Mapping[str, Any] | None = field(default=None, hash=False)
    rule: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether the user should check the role."""
        return self.proposed.doubtful and not self.answered

    @property
    def uncertain(self) -> bool:
        """Whether the user should check the role or the draft."""
        return self.doubtful or bool(self.question)

    @property
    def remark(self) -> str:
        """The reason for the role, and what the user should check in the draft."""
        return f"{self.reason}; {self.question}" if self.question else self.reason

    @property
    def question(self) -> str:
        """What the user should check in the draft of a quasi-identifier; empty for nothing."""
        return self.draft.question if self.draft and self.role is Role.QUASI_IDENTIFIER else ""

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.facts.name

    @property
    def fingerprint(self) -> bool:
        """Whether nearly all values differ, which would be released exactly without groups."""
        return self.role in EXACT and is_fingerprint(self.facts)

    @property
    def in_bands(self) -> bool:
        """Whether the column is released in groups without being generalized."""
        if self.asked is not None and self.role.value == self.asked["role"]:
            return self.role in EXACT
        return (self.fingerprint or self.extreme or self.least > 0) and self.draft is not None

    @property
    def known_to_few(self) -> bool:
        """Whether the column is released only because few know its values."""
        informative = self.facts.distinct > 1 or self.facts.missing > 0
        return self.role is Role.INSENSITIVE and self.proposed.ground is Ground.FEW and informative

    def settings(self, role: Role, *, exact: bool = False) -> dict[str, Any]:
        """Return the column's section of the config in a role.

        Parameters
        ----------
        exact: whether the values are released even if nearly all differ.
        """
        section: dict[str, Any] = {"role": role.value}
        if self.asked is not None and self.asked["role"] == role.value and not exact:
            return dict(self.asked)
        in_bands = self.in_bands and role in EXACT and not exact
        if role not in COUNTED and not in_bands:
            return section
        draft = self.draft if role is Role.QUASI_IDENTIFIER or in_bands else None
        further = {} if draft is None else dict(draft.further)
        kind = (draft.type if draft else None) or self.facts.type
        if kind is ValueType.DATE and "format" not in further:
            # Dates that can be read in two ways have no order yet.
            undecided = self.facts.dates is not None and self.facts.dates.ambiguous
            kind = ValueType.TEXT if undecided else kind
            further |= {} if undecided else date_settings(date_format(self.facts))
        section["type"] = kind.value
        section |= further
        if draft is not None and draft.hierarchy is not None:
            section["hierarchy"] = dict(draft.hierarchy)
        return {**section, "labels": NumberLabels.RANGE.value} if in_bands else section


@dataclass(frozen=True)
class Proposal:
    """The proposed config of a file.

    Attributes
    ----------
    rows: records of the file.
    separator: between its fields; None if it is not a text file.
    missing: texts of missing values.
    columns: in the order of the file.
    constraints: settings of each model with its reason.
    joint: uniqueness of the records on all quasi-identifiers.
    numerals: notation of numbers in its texts.
    warnings: about texts that can be read in two ways, keys that repeat and sampling weights.
    notes: what the roles mean for this file, in sentences.
    weights: a sampling weight that is positive in every record; None if there is none.
    counted: columns that say whose records these are, by the names of the units that constraints count.
    names: how many names of columns could be read.
    ways: drafts that were tried as the first would lose too much, that first; none where it does not.
    preset: the rule that the draft follows; None without one.
    kinds: whether the file declares kinds of missing values.
    """

    rows: int
    separator: str | None
    missing: tuple[str, ...]
    columns: tuple[ColumnProposal, ...]
    constraints: tuple[tuple[Mapping[str, Any], str], ...] = field(hash=False)
    joint: JointUniqueness
    numerals: Numerals = POINT
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    weights: str | None = None
    counted: tuple[tuple[str, str], ...] = ()
    names: NamesRead = ALL_READ
    ways: tuple[Way, ...] = ()
    preset: type[Preset] | None = None
    kinds: bool = False

    @property
    def person(self) -> str | None:
        """The column that says whose records these are, for persons with several; None without one."""
        return dict(self.counted).get(PERSON)

    @property
    def household(self) -> str | None:
        """The column that says who lives together; None without one."""
        return dict(self.counted).get(HOUSEHOLD)

    @property
    def units(self) -> tuple[tuple[str, str], ...]:
        """The columns of further units, by their names."""
        return tuple(each for each in self.counted if each[0] not in (PERSON, HOUSEHOLD))

    @property
    def marker(self) -> str | None:
        """How a release writes missing values: as a word of the input, or empty.

        None if there are none, or several kinds that are told apart.
        """
        released = (each for each in self.columns if each.role not in LEFT_OUT)
        if not any(each.facts.missing for each in released) or self.kinds:
            return None
        words = (text for text in self.missing if any(map(str.isalpha, text)))
        return next(words, EMPTY)


Decide = Callable[[ColumnProposal], Role]


def as_proposed(column: ColumnProposal) -> Role:
    """Accept the proposed role of a doubtful column."""
    return column.role


@dataclass(frozen=True)
class Asked:
    """What trials of a draft ask for, as their releases show too much.

    Attributes
    ----------
    roles: proposals by column.
    settings: of columns, by their names.
    units: keys of further units that constraints count.
    rules: of a preset that concern columns, with their sources, by the names of these.
    """

    roles: Mapping[str, RoleProposal] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    units: frozenset[str] = frozenset()
    rules: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Choices:
    """What is decided before the file is profiled.

    Attributes
    ----------
    roles: by column.
    cautious: whether columns that are known to few become quasi-identifiers.
    person: the column that says whose records these are; None to look for one.
    asked: by trials of an earlier draft.
    preset: the rule that the draft follows; None without one.
    files: hierarchies of columns that lie beside the data.
    """

    roles: Mapping[str, Role] = field(default_factory=dict, hash=False)
    cautious: bool = False
    person: str | None = None
    asked: Asked = field(default_factory=Asked, hash=False)
    preset: type[Preset] | None = None
    files: Mapping[str, HierarchyFile] = field(default_factory=dict, hash=False)

    def named_as(self, columns: Sequence[str]) -> Choices:
        """Return the choices with names in the spelling of columns."""
        person = None if self.person is None else Spellings(columns).of(self.person)
        return replace(self, roles=in_spelling_of(columns, self.roles), person=person)


NO_CHOICES = Choices()


Settle = Callable[[list[ColumnProposal], Sequence[str]], list[ColumnProposal]]


def as_they_are(columns: list[ColumnProposal], missing: Sequence[str]) -> list[ColumnProposal]:  # noqa: ARG001
    """Leave the columns as they are."""
    return columns


def propose(
    relation: Relation,
    decide: Decide = as_proposed,
    choices: Choices = NO_CHOICES,
    settle: Settle = as_they_are,
) -> Proposal:
    """Profile an open input and propose a config for it.

    Parameters
    ----------
    decide: returns the role of each doubtful column; called in the order of the file.
    settle: returns the columns with the roles that they get beside the units of the file; receives the texts
        of missing values, too.

    Raises
    ------
    DataError: no column can be a quasi-identifier, or the input lacks a column of ``choices``.
    """
    for name in choices.roles:
        relation.position(name)
    measured = measure(relation)
    counter = combinations_of(relation)
    names = NamesRead.of(measured.columns, choices)
    columns, fallback = _with_roles(measured.columns, counter, choices, names)
    columns = settle([_decided(each, decide) for each in columns], measured.missing)
    _check_quasi_identifier(relation.name, columns)
    drafter = HierarchyDrafter(relation, measured.missing, choices.files)
    exact = [each.facts for each in columns if each.role in EXACT and not each.fingerprint]
    extremes = frozenset(single_extremes(relation, exact))
    columns = [_drafted(each, drafter, extremes) for each in columns]
    k = proposed_k(relation.rows)
    joint, cautious = _joint(columns, counter, k)
    return Proposal(
        relation.rows,
        relation.separator,
        measured.missing,
        tuple(columns),
        tuple(constraints(relation.rows, [each.facts for each in columns if each.role is Role.SENSITIVE])),
        joint,
        measured.numerals,
        (
            *relation.header_warnings,
            *measured.warnings,
            *drafter.warnings(),
            *(
                warning
                for each in columns
                if each.role is Role.WEIGHT
                for warning in weight_warnings(
                    relation, each.name, measured.missing, measured.numerals, k, released=True
                )
            ),
        ),
        (*fallback, *_notes(columns, joint, cautious)),
        _usable_weight(columns, relation),
        names=replace(names, left_out=sum(each.reason.startswith(UNREAD) for each in columns)),
        kinds=any(each.absent for each in relation.labels.values()),
    )


def _decided(column: ColumnProposal, decide: Decide) -> ColumnProposal:
    if not column.doubtful:
        return column
    return replace(column, role=decide(column), answered=decide is not as_proposed)


def _by_name_or_title(column: ColumnFacts, *, names_read: bool) -> RoleProposal:
    """Return the proposed role of a column, by its label in the file if its name says nothing.

    The text of a question says more than ``q17_3``.
    """
    found = findings(column)
    if column.title and not found and subject_of(column.name) in (None, ANSWER):
        told = replace(column, name=column.title)
        said = findings(told)
        if said or subject_of(column.title) not in (None, ANSWER):
            own = role_of(told, said, names_read=True)
            return replace(own, reason=re.sub("name (suggests|perhaps)", r"label \1", own.reason))
    return role_of(column, found, names_read=names_read)


def _with_roles(
    measured: tuple[ColumnFacts, ...], counter: UniquenessProfile, choices: Choices, names: NamesRead
) -> tuple[list[ColumnProposal], list[str]]:
    """Return the columns with their roles and reasons, and a note if nothing is known outside."""
    proposals = {column.name: _by_name_or_title(column, names_read=names.most) for column in measured}
    decided = {
        name: replace(each, role=choices.roles.get(name, each.role)) for name, each in proposals.items()
    }
    redundant = redundant_columns(measured, decided, counter)
    proposals |= {name: each for name, each in redundant.items() if name not in choices.roles}
    proposals |= _revealing(measured, proposals, counter, choices.roles)
    if choices.cautious:
        proposals |= {each.name: _taken(proposals[each.name]) for each in _few(measured, proposals)}
    elif names.cautious:
        proposals |= _unread(_few(measured, proposals), proposals, choices.roles)
    chosen = set(choices.roles.values())
    roles = {name: choices.roles.get(name, each.role) for name, each in proposals.items()}
    note: list[str] = []
    if Role.QUASI_IDENTIFIER not in roles.values() and Role.QUASI_IDENTIFIER not in chosen:
        instead, note = _instead(
            measured, {n: each for n, each in proposals.items() if n not in choices.roles}
        )
        proposals |= instead
        roles |= {name: each.role for name, each in instead.items()}
    asked = {name: own for name, own in choices.asked.roles.items() if name not in choices.roles}
    proposals |= asked
    roles |= {name: each.role for name, each in asked.items()}
    counted = [column for column in measured if roles[column.name] in COUNTED]
    narrow = [column for column in counted if column.distinct <= WIDEST]
    relations = Relations(counter.pairs(narrow), roles, _finer(measured, roles, counter))
    columns = [
        ColumnProposal(
            column,
            proposals[column.name],
            roles[column.name],
            relations.reason(column, proposals[column.name].reason),
            answered=column.name in choices.roles,
            asked=choices.asked.settings.get(column.name),
            rule=choices.asked.rules.get(column.name, ""),
        )
        for column in measured
    ]
    return _with_costs(columns, counter), note


def _revealing(
    columns: Sequence[ColumnFacts],
    proposals: Mapping[str, RoleProposal],
    counter: UniquenessProfile,
    chosen: Mapping[str, Role],
) -> dict[str, RoleProposal]:
    """Return proposals for columns that a quasi-identifier determines, or that determine one.

    Released unchanged, they would reveal it.
    """
    roles = {name: chosen.get(name, each.role) for name, each in proposals.items()}
    known = [each for each in columns if roles[each.name] is Role.QUASI_IDENTIFIER]
    found = {}
    for each in columns:
        if each in known and proposals[each.name].doubtful and each.name not in chosen:
            others = [other for other in known if other is not each]
            if (key := _key_of(each, others, counter)) is not None:
                found[each.name] = key
        if roles[each.name] is Role.INSENSITIVE and each.name not in chosen:
            revealed = [other.name for other in known if counter.determines(each, other)]
            if (key := _key_of(each, known, counter)) is not None:
                found[each.name] = key
            elif len(revealed) > 1 and (time := time_of_panel(each, known, counter)):
                reason = (
                    f"determines {listed(revealed)}, and together with {time} every record, like the number "
                    "of a person with several records"
                )
                found[each.name] = RoleProposal(Role.IDENTIFIER, Ground.KEY, reason, doubtful=True)
            elif key := _key_of_group(each, columns, proposals, counter):
                found[each.name] = key
            elif revealed:
                reason = (
                    f"{proposals[each.name].reason}, reveals {listed(revealed)} if it is released unchanged"
                )
                found[each.name] = replace(_taken(proposals[each.name]), reason=reason)
            elif finer := [other.name for other in known if counter.determines(other, each)]:
                reason = f"{proposals[each.name].reason}, known to anyone who knows {listed(finer)}"
                found[each.name] = replace(_taken(proposals[each.name]), reason=reason)
    return found


def _key_of(
    column: ColumnFacts, known: Sequence[ColumnFacts], counter: UniquenessProfile
) -> RoleProposal | None:
    """Return the proposal for a column that determines most of the known ones; None where it does not."""
    if column.clock:
        return None
    revealed = [other.name for other in known if counter.determines(column, other)]
    if len(revealed) < max(KEY_OF, len(known) / 2) or column.distinctness < KEY_DISTINCT:
        return None
    reason = f"determines {listed(revealed)}, like the number of a person or a household"
    return RoleProposal(Role.IDENTIFIER, Ground.KEY, reason, doubtful=True)


def _key_of_group(
    column: ColumnFacts,
    columns: Sequence[ColumnFacts],
    proposals: Mapping[str, RoleProposal],
    counter: UniquenessProfile,
) -> RoleProposal | None:
    """Return the proposal for a column that looks like the number of a group of records; else None."""
    others = [each for each in columns if proposals[each.name].role not in LEFT_OUT]
    told = told_by_key(column, others, counter)
    if not told:
        return None
    sexes = [each for each in others if shows_sex(each)]
    together = any(not counter.determines(column, each) for each in sexes)
    homes = may_number_homes(column)
    whose = (
        thing_of(column.name)
        or ("a household" if together and homes else None)
        or f"{'an employer' if together else 'a person, a household'} or another group of records"
    )
    reason = f"{_values(column)}, each with one value of {listed(told)}, like the number of {whose}"
    return RoleProposal(Role.IDENTIFIER, Ground.KEY, reason, doubtful=True)


def shows_sex(column: ColumnFacts) -> bool:
    """Return whether a column has the sexes of persons, by its name or its values."""
    return SEX.fit(column.name) or _sexes(column, ()) is not None


def _finer(
    columns: Sequence[ColumnFacts], roles: Mapping[str, Role], counter: UniquenessProfile
) -> dict[str, str]:
    """Return for each quasi-identifier that another one determines the coarsest such one."""
    known = [each for each in columns if roles[each.name] is Role.QUASI_IDENTIFIER]
    found = {}
    for each in known:
        finer = [other for other in known if counter.determines(other, each)]
        if finer:
            found[each.name] = min(finer, key=lambda other: other.distinct).name
    return found


def _few(columns: Iterable[ColumnFacts], proposals: Mapping[str, RoleProposal]) -> list[ColumnFacts]:
    """Return the columns that are released only because few know their values."""
    proposed = (
        ColumnProposal(each, own, own.role, "") for each in columns if (own := proposals.get(each.name))
    )
    return [each.facts for each in proposed if each.known_to_few]


UNREAD = "left out, as its name could not be read"
"""Beginning of the reason of a column beyond ``MOST_UNREAD``."""


def _unread(
    few: Iterable[ColumnFacts], proposals: Mapping[str, RoleProposal], chosen: Collection[str]
) -> dict[str, RoleProposal]:
    """Return the proposals of columns that only seem known to few, as their names could not be read.

    Those with the least information stay: they cost the least as quasi-identifiers.
    """
    ranked = sorted((each for each in few if each.name not in chosen), key=lambda each: each.entropy)
    known = {each.name: _taken(proposals[each.name]) for each in ranked[:MOST_UNREAD]}
    for each in ranked[MOST_UNREAD:]:
        reason = f"{UNREAD}: {proposals[each.name].reason}"
        known[each.name] = replace(proposals[each.name], role=Role.DROP, reason=reason, doubtful=False)
    return known


def _taken(proposal: RoleProposal) -> RoleProposal:
    return replace(proposal, role=Role.QUASI_IDENTIFIER, doubtful=True)


def _instead(
    columns: Sequence[ColumnFacts], proposals: Mapping[str, RoleProposal]
) -> tuple[dict[str, RoleProposal], list[str]]:
    """Return proposals of quasi-identifiers for a file in which nothing is known outside, and a note."""
    general = {name: _taken(each) for name, each in proposals.items() if each.general}
    if general:
        names = listed(general)
        return general, [f"Nothing else is known outside: {names} in a coarser form instead of dropped."]
    repeated = [each for each in _few(columns, proposals) if not is_fingerprint(each)]
    ranked = sorted(repeated, key=lambda each: (-each.entropy, each.name))[:MOST_INSTEAD]
    note = (
        "No column has a name or values that are known outside, such as age, place or job. "
        f"The {len(ranked)} columns with the most information are quasi-identifiers instead; name better "
        "ones with --qi."
    )
    return {each.name: _taken(proposals[each.name]) for each in ranked}, [note] if ranked else []


MOST_INSTEAD = 10
"""Maximum number of quasi-identifiers of a file in which nothing is known outside."""


def _with_costs(columns: list[ColumnProposal], counter: UniquenessProfile) -> list[ColumnProposal]:
    """Return columns that say what those known to few would cost as quasi-identifiers, if anything."""
    names = [each.name for each in columns if each.role is Role.QUASI_IDENTIFIER]
    few = [each.name for each in columns if each.known_to_few]
    unique = counter.with_each(names, few)
    now = counter.joint(names, 2).unique if unique else 0
    what = "records would be unique if it were a quasi-identifier too"
    return [
        replace(each, reason=f"{each.reason}, {unique[each.name]:,} {what}")
        if unique.get(each.name, 0) > now
        else each
        for each in columns
    ]


def _check_quasi_identifier(name: str, columns: Sequence[ColumnProposal]) -> None:
    """Check that a column is a quasi-identifier.

    Raises
    ------
    DataError: there is none.
    """
    if any(each.role is Role.QUASI_IDENTIFIER for each in columns):
        return
    dropped = sum(each.role is Role.IDENTIFIER for each in columns)
    raise DataError(
        f"{name}: no column is proposed as a quasi-identifier ({plural(dropped, 'identifier')}, "
        f"{plural(len(columns) - dropped, 'other column')}), so there is nothing to generalize; choose a "
        "quasi-identifier with --qi or --interactive"
    )


def _drafted(column: ColumnProposal, drafter: HierarchyDrafter, extremes: Collection[str]) -> ColumnProposal:
    """Return a column with its hierarchy, if it needs one.

    Parameters
    ----------
    extremes: columns whose largest or smallest value one record alone has.
    """
    general = column.role is Role.IDENTIFIER and column.proposed.general
    if column.role is Role.QUASI_IDENTIFIER or general:
        return replace(column, draft=drafter.draft(column.facts))
    if column.least and column.role in EXACT:
        return replace(column, draft=drafter.bands(column.facts, {"auto": {"rare": column.least}}))
    if column.fingerprint:
        return replace(column, draft=drafter.bands(column.facts, COARSE))
    if column.name in extremes:
        fine = drafter.bands(column.facts, FINE) if column.facts.distinct >= SOME else None
        return replace(column, draft=fine, extreme=True)
    return column


def _joint(
    columns: Sequence[ColumnProposal], counter: UniquenessProfile, k: int
) -> tuple[JointUniqueness, JointUniqueness | None]:
    """Return the uniqueness on the quasi-identifiers, and with the columns known to few, if there are any."""
    names = [each.name for each in columns if each.role is Role.QUASI_IDENTIFIER]
    few = [each.name for each in columns if each.known_to_few]
    return counter.joint(names, k), counter.joint([*names, *few], k) if few else None


LINKING = "Anyone who has another extract of the same source could link the records by these values"
KNOWN = "Others may know whose record that is"


def _notes(
    columns: Sequence[ColumnProposal], joint: JointUniqueness, cautious: JointUniqueness | None
) -> Iterator[str]:
    few = [each.name for each in columns if each.known_to_few]
    if cautious is not None:
        now, then = (percent(each.unique, each.records) for each in (joint, cautious))
        unique = f"and {then} of the records are unique instead of {now}" if now != then else "at more loss"
        yield (
            f"Known to few people, so not quasi-identifiers: {plural(len(few), 'column')} ({listed(few)}). "
            f"With --cautious they are quasi-identifiers, {unique}."
        )
    for own, what, why in (
        ([each for each in columns if each.fingerprint], "Nearly all values differ", LINKING),
        (
            [each for each in columns if each.extreme],
            "A single record has the largest or smallest number",
            KNOWN,
        ),
    ):
        grouped = [each.name for each in own if each.in_bands]
        exact = [each.name for each in own if not each.in_bands]
        if grouped:
            yield (
                f"{what}: {listed(grouped)}. {why}, so the draft releases groups; below each of these "
                "columns, a comment in the config has the line that would release the exact values."
            )
        if exact:
            yield f"{what}: {listed(exact)}. {why}; these values are released exactly."
    if not any(each.role is Role.SENSITIVE for each in columns):
        yield (
            "No column is sensitive, so the draft asks for k-anonymity only. Name a sensitive one with "
            "--sensitive COLUMN to get a constraint for it."
        )


def _usable_weight(columns: Sequence[ColumnProposal], relation: Relation) -> str | None:
    """Return the first sampling weight that is a positive number in every record; None if there is none."""
    for column in columns:
        if column.role is Role.WEIGHT and not column.facts.missing and column.facts.type in NUMBERS:
            return None if relation.profiling.count_matching(column.name, NOT_POSITIVE) else column.name
    return None


NUMBERS = (ValueType.INTEGER, ValueType.NUMBER)
NOT_POSITIVE = r"-.*|[+]?[0]*[.,]?[0]*([eE].*)?"
"""Pattern for numbers that are negative or zero."""

SHOWN_NAMES = 10
"""Maximum number of columns in a sentence."""


def listed(names: Collection[str]) -> str:
    """Return names in a sentence, the first ones of many.

    >>> listed(["a", "b"]), listed([f"q{number}" for number in range(12)])
    ('a, b', 'q0, q1, q2, q3, q4, q5, q6, q7, q8, q9 and 2 more')
    """
    shown = ", ".join(list(names)[:SHOWN_NAMES])
    return shown if len(names) <= SHOWN_NAMES else f"{shown} and {len(names) - SHOWN_NAMES} more"


def percent(part: int, whole: int) -> str:
    """Return a share in percent.

    >>> percent(1, 8)
    '12.5 %'
    """
    return f"{part / whole:.1%}".replace("%", " %")
