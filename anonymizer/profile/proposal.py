"""The proposal for a file: the role of each column with its reason, hierarchies and privacy models.

Pairs of columns are counted for their dependence: by the engine, or, if the records are in memory, by
bundles of columns. The table of two bundles contains the tables of all pairs between them, so the records are
counted once for many pairs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import combinations
from math import isqrt, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.relation import Relation
from anonymizer.errors import DataError, plural
from anonymizer.model.arrays import IntArray, count_keys, group_keys
from anonymizer.model.naming import Spellings, in_spelling_of
from anonymizer.model.table import LEFT_OUT, POINT, NumberLabels, Numerals, Role, ValueType
from anonymizer.profile.column_statistics import (
    NEARLY_ALL,
    ColumnFacts,
    is_fingerprint,
    measure,
    single_extremes,
    weight_warnings,
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
    pairs_of,
    plain,
    readable,
    subject_of,
    terms_of,
)
from anonymizer.profile.spellings import EMPTY


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
    together: whether the column may number households: people of different sex have the same value.
    """

    role: Role
    ground: Ground
    reason: str
    doubtful: bool = False
    flag: str | None = None
    general: bool = False
    weighs: bool = False
    together: bool = False


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
        return _detected(column, found) or RoleProposal(
            Role.INSENSITIVE, ground, f"constant: one value in all {column.rows:,} records"
        )
    return None


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


CELLS = 1 << 22
"""Maximum number of cells in the table of a pair of columns."""

BUNDLED = 255
"""Maximum number of packed codes of a bundle: one bundle takes a byte a record, two take two."""

RECORDS_A_CELL = 8
"""Records per cell of the table of two bundles from which on summing it costs less than counting pairs."""

Codes = NDArray[np.integer]


@dataclass(frozen=True, eq=False)
class Bundle:
    """Columns packed into one.

    Attributes
    ----------
    names: of the columns.
    widths: codes of each.
    codes: packed code of each record, shape (records,).
    """

    names: tuple[str, ...]
    widths: tuple[int, ...]
    codes: Codes

    @property
    def width(self) -> int:
        """Number of packed codes."""
        return prod(self.widths)

    def single_columns(self) -> list[Bundle]:
        """Return a bundle for each column."""
        if len(self.names) == 1:
            return [self]
        found = []
        codes = self.codes
        for name, width in zip(self.names[::-1], self.widths[::-1], strict=True):
            codes, own = np.divmod(codes, codes.dtype.type(width))
            found.append(Bundle((name,), (width,), own))
        return found


def widest_bundle(records: int) -> int:
    """Return the maximum number of packed codes of a bundle of several columns.

    >>> widest_bundle(1_000_000), widest_bundle(800)
    (255, 10)
    """
    return min(BUNDLED, isqrt(records // RECORDS_A_CELL))


def bundles(widths: Mapping[str, int], most: int) -> list[tuple[str, ...]]:
    """Divide columns among few bundles of at most ``most`` packed codes; a wider column is a bundle alone.

    >>> bundles({"sex": 2, "age": 90, "race": 5, "region": 4}, 200)
    [('age', 'sex'), ('race', 'region')]
    """
    found: list[list[str]] = []
    sizes: list[int] = []
    for name in sorted(widths, key=lambda name: (-widths[name], name)):
        place = next((at for at, size in enumerate(sizes) if size * widths[name] <= most), len(sizes))
        if place == len(sizes):
            found.append([])
            sizes.append(1)
        found[place].append(name)
        sizes[place] *= widths[name]
    return [tuple(names) for names in found]


def pair_tables(
    widths: Mapping[str, int], codes_of: Callable[[str], Codes], most: int, cells: int = CELLS
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield every two columns with the table of their values, in no certain order of the pairs.

    Parameters
    ----------
    widths: number of codes of each column; the columns of a pair keep this order.
    codes_of: returns the code of each record in a column, shape (records,).
    most: maximum number of packed codes of a bundle of several columns.
    cells: maximum size of a table; larger pairs are left out. A table has shape (codes of the first column,
        codes of the second) and the number of records in each cell.
    """
    place = {name: number for number, name in enumerate(widths)}
    made = [_bundle(names, widths, codes_of) for names in bundles(widths, most)]
    for bundle in made:
        if len(bundle.names) > 1:
            counts = np.bincount(bundle.codes, minlength=bundle.width).reshape(bundle.widths)
            axes = range(len(bundle.names))
            for one, other in combinations(axes, 2):
                table = counts.sum(axis=tuple(axis for axis in axes if axis not in (one, other)))
                yield _in_order(place, bundle.names[one], bundle.names[other], table)
    for first, second in combinations(made, 2):
        fits = first.width * second.width <= min(most * most, cells)
        parts = (
            [(first, second)]
            if fits
            else [(a, b) for a in first.single_columns() for b in second.single_columns()]
        )
        for one_bundle, other_bundle in parts:
            if one_bundle.width * other_bundle.width <= cells:
                yield from _between(place, one_bundle, other_bundle)


def _bundle(names: Sequence[str], widths: Mapping[str, int], codes_of: Callable[[str], Codes]) -> Bundle:
    """Return columns packed into the narrowest integers that hold the codes."""
    own = tuple(widths[name] for name in names)
    codes = codes_of(names[0]).astype(np.min_scalar_type(prod(own)), copy=False)
    for name, width in zip(names[1:], own[1:], strict=True):
        codes = codes * codes.dtype.type(width) + codes_of(name).astype(codes.dtype, copy=False)
    return Bundle(tuple(names), own, codes)


def _between(
    place: Mapping[str, int], first: Bundle, second: Bundle
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield the tables of the pairs between two bundles."""
    cells = first.width * second.width
    keys = first.codes.astype(np.min_scalar_type(cells))
    keys *= keys.dtype.type(second.width)
    keys += second.codes.astype(keys.dtype, copy=False)
    counts = np.bincount(keys, minlength=cells).reshape(*first.widths, second.width)
    for axis, name in enumerate(first.names):
        others = tuple(each for each in range(len(first.names)) if each != axis)
        of_one = counts.sum(axis=others).reshape(-1, *second.widths)
        for number, other in enumerate(second.names):
            rest = tuple(each + 1 for each in range(len(second.names)) if each != number)
            yield _in_order(place, name, other, of_one.sum(axis=rest))


def _in_order(
    place: Mapping[str, int], one: str, other: str, table: IntArray
) -> tuple[tuple[str, str], IntArray]:
    """Return two columns in the order of ``place``, with the table transposed if needed."""
    return ((one, other), table) if place[one] < place[other] else ((other, one), table.T)


WIDEST = 20_000
"""Maximum number of distinct texts of a column that is paired with others; more identify records alone."""

RECORDS_A_COMBINED_CELL = 5
"""Minimum number of records per cell at which a measured dependence is more than chance."""

A_PAIR = 2_000
"""Cost of a pair of columns of any size, in records or cells that take as long to count."""

WORK = 150_000_000
"""Maximum cost of all pairs: records, cells and ``A_PAIR`` of each. Beyond it, columns are left out; it is
enough for all pairs of several hundred columns."""

A_STEP = 7
"""Cost of a record in the count of unique records on one more column, in the units of ``WORK``."""

KEPT = 1 << 28
"""Maximum number of bytes of the keys that are kept for the next count."""

FIRST = 1_000
"""Records that show for most pairs of columns that they are not in a one-to-one relation."""


@dataclass(frozen=True)
class Pair:
    """The dependence of two columns.

    Attributes
    ----------
    columns: their names.
    unique: records with a pair of values of their own.
    determined: Theil's uncertainty coefficient of the second column given the first, and of the first given
        the second: the share of its entropy that the other determines, 0 to 1. None if there are too few
        records to tell it from chance.
    """

    columns: tuple[str, str]
    unique: int
    determined: tuple[float, float] | None


@dataclass(frozen=True)
class JointUniqueness:
    """The uniqueness of records on several columns.

    Attributes
    ----------
    columns: number of columns.
    records: number of all records.
    unique: records with a combination of values of their own.
    in_small_classes: records in classes of fewer than ``k``.
    """

    columns: int
    records: int
    k: int
    unique: int
    in_small_classes: int


class UniquenessProfile:
    """Uniqueness and dependence of columns; the codes of each column are fetched once.

    Parameters
    ----------
    relation: open while this is in use.
    work: maximum cost of all pairs, as for ``WORK``.
    """

    def __init__(self, relation: Relation, work: int = WORK) -> None:
        self._relation = relation
        self._work = work
        self._codes: dict[str, NDArray[np.integer]] = {}
        self._kept: dict[str, NDArray[np.integer]] = {}
        self._widths: dict[str, int] = {}

    def pairs(self, columns: Sequence[ColumnFacts]) -> list[Pair]:
        """Return every two columns whose table has at most ``CELLS`` cells.

        Parameters
        ----------
        columns: none wider than ``WIDEST``; columns of the lowest entropy are left out if all cost too much.
        """
        ranked = sorted(columns, key=lambda column: (-column.entropy, column.name))
        names = {column.name for column in ranked[: self._affordable(ranked)]}
        kept = [name for name in self._relation.columns if name in names]
        found = {names: self._pair(names, cells) for names, cells in self._tables(kept)}
        return [found[names] for names in combinations(kept, 2) if names in found]

    def _affordable(self, ranked: Sequence[ColumnFacts]) -> int:
        """Return how many of the first columns can all be paired within the maximum cost."""
        most = isqrt(2 * self._work // A_PAIR) + 2
        sizes = np.array([column.distinct + 1 for column in ranked[:most]], dtype=np.float64)
        cells = np.outer(sizes, sizes)
        of_pairs = np.where(cells > CELLS, 0.0, cells + self._relation.rows) + A_PAIR
        work = np.tril(of_pairs, -1).sum(axis=1).cumsum()
        return int(np.searchsorted(work, self._work, side="right"))

    def joint(self, names: Sequence[str], k: int) -> JointUniqueness:
        """Return the uniqueness of the records on all of some columns."""
        counts = _sizes(*self._keys(names))
        unique = int(np.count_nonzero(counts == 1))
        return JointUniqueness(len(names), self._relation.rows, k, unique, int(counts[counts < k].sum()))

    def _keys(self, names: Sequence[str]) -> tuple[IntArray, int]:
        """Return a key for each record, equal for equal texts in some columns, and a limit of the keys."""
        keys = np.zeros(self._relation.rows, dtype=np.int64)
        size = 1
        for name in names:
            codes = self._keys_of(name)
            width = self._widths.get(name) or int(codes.max()) + 1
            if size * width >= 2**62:
                keys, distinct = group_keys(keys, size)
                size = len(distinct)
            keys *= width
            keys += codes
            size *= width
        return keys, size

    def with_each(self, names: Sequence[str], others: Sequence[str]) -> dict[str, int]:
        """Return for each of other columns the number of unique records on ``names`` and that column.

        Columns are left out if all cost too much.
        """
        if not names or self._relation.rows * len(others) > self._work // A_STEP:
            return {}
        keys, distinct = group_keys(*self._keys(names))
        found = {}
        for name in others:
            codes = self._keys_of(name)
            width = int(codes.max()) + 1
            sizes = _sizes(keys.astype(np.int64) * width + codes, len(distinct) * width)
            found[name] = int(np.count_nonzero(sizes == 1))
        return found

    def fetch(self, names: Collection[str]) -> None:
        """Read the keys of columns in the order of the input, in which reading them takes fewest queries."""
        for name in self._relation.columns:
            if name in names:
                self._keys_of(name)

    def one_to_one(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether each value of a column occurs with one value of another with as many values."""
        return self._each_with_one(one.name, other.name)

    def determines(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether each value of a column occurs with one value of another, and not by chance."""
        differing = 1 - other.largest / max(other.present, 1)
        enough = (one.present - one.distinct) * differing >= COINCIDENCES
        return enough and one.distinct > other.distinct > 1 and self._each_with_one(one.name, other.name)

    def tells(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether each value of a column occurs with one value of another as a key does.

        Neither by chance among the values that repeat, nor because the other one has bands of its values, as
        tax classes are of incomes.
        """
        if not self.determines(one, other):
            return False
        first, second = self._relation.codes(one.name), self._keys_of(other.name)
        own = second[np.bincount(first)[first] > 1]
        coinciding = len(own) - (one.distinct - one.singles)
        if not len(own) or coinciding * (1 - np.bincount(own).max() / len(own)) < COINCIDENCES:
            return False
        texts = [text for text, _ in self._relation.dictionary(one.name)]
        place = np.empty(len(texts), dtype=np.int64)
        place[sorted(range(len(texts)), key=lambda code: _by_size(one, texts[code]))] = np.arange(len(texts))
        ordered = second[np.argsort(place[first], kind="stable")]
        runs = 1 + np.count_nonzero(ordered[1:] != ordered[:-1])
        return bool(runs > RUNS * other.distinct)

    def _each_with_one(self, one: str, other: str) -> bool:
        first, second = self._keys_of(one), self._keys_of(other)
        for part in (slice(FIRST), slice(None)):
            partner = np.zeros(int(first.max()) + 1, dtype=second.dtype)
            partner[first[part]] = second[part]
            if not np.array_equal(partner[first[part]], second[part]):
                return False
        return True

    def equal(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether two columns have the same text in every record."""
        if one.values != other.values:
            return False
        return bool(np.array_equal(self._keys_of(one.name), self._keys_of(other.name)))

    def _keys_of(self, name: str) -> NDArray[np.integer]:
        """Return an integer for each record, equal for equal texts."""
        found = self._codes.get(name, self._kept.get(name))
        if found is not None:
            return found
        keys = self._relation.profiling.keys(name)
        narrow = np.min_scalar_type(int(keys.max()))
        if sum(each.nbytes for each in self._kept.values()) + len(keys) * narrow.itemsize <= KEPT:
            keys = self._kept[name] = keys.astype(narrow, copy=False)
        return keys

    def _of(self, name: str) -> NDArray[np.integer]:
        if name not in self._codes:
            codes = self._relation.codes(name) if name not in self._kept else self._kept.pop(name)
            self._widths[name] = int(codes.max()) + 1
            self._codes[name] = codes.astype(np.min_scalar_type(self._widths[name]), copy=False)
        return self._codes[name]

    def _pair(self, names: tuple[str, str], cells: IntArray) -> Pair:
        enough = self._relation.rows >= RECORDS_A_COMBINED_CELL * cells.size
        return Pair(names, int(np.count_nonzero(cells == 1)), _uncertainty(cells) if enough else None)

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], IntArray]]:
        """Yield every two columns with their table, if it has at most ``CELLS`` cells."""
        for name in names:
            self._of(name)
        widths = {name: self._widths[name] for name in names}
        return pair_tables(widths, self._of, widest_bundle(self._relation.rows))


def _by_size(column: ColumnFacts, text: str | None) -> tuple[float, str]:
    number = column.numerals.number(text) if text and column.type.numeric else None
    return (-np.inf if number is None else number, text or EMPTY)


def _uncertainty(cells: IntArray) -> tuple[float, float]:
    """Return the uncertainty coefficients of columns given rows and of rows given columns of a table."""
    of_first, of_second = _entropy(cells.sum(axis=1)), _entropy(cells.sum(axis=0))
    shared = max(of_first + of_second - _entropy(cells.ravel()), 0.0)
    return _share(shared, of_second), _share(shared, of_first)


def _sizes(keys: IntArray, size: int) -> IntArray:
    """Return the sizes of the classes of equal keys, all positive, in no certain order; uses up the keys."""
    if size <= CELLS:
        counts = np.bincount(keys)
        return counts[counts > 0].astype(np.int64, copy=False)
    return count_keys(keys)[1]


def _entropy(counts: IntArray) -> float:
    """Return the entropy of counts in bits."""
    present = counts[counts > 0].astype(np.float64)
    total = float(present.sum())
    return float(np.log2(total) - (present @ np.log2(present)) / total)


def _share(part: float, whole: float) -> float:
    """Return a share of an entropy, at most 1 despite rounding; 0 of no entropy."""
    return min(part / whole, 1.0) if whole > 1e-12 else 0.0


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


class CountedCombinations(UniquenessProfile):
    """Uniqueness and dependence of columns, counted by an engine.

    Parameters
    ----------
    relation, work: as for ``UniquenessProfile``.
    """

    def joint(self, names: Sequence[str], k: int) -> JointUniqueness:
        """Return the uniqueness of the records on all of some columns."""
        counted = self._relation.profiling.in_small_classes(names, k)
        return JointUniqueness(len(names), self._relation.rows, k, *counted)

    def fetch(self, names: Collection[str]) -> None:
        """Read nothing: the engine counts every pair."""

    def determines(self, one: ColumnFacts, other: ColumnFacts) -> bool:  # noqa: ARG002
        """Return False: each pair would be a query over all records."""
        return False

    def with_each(self, names: Sequence[str], others: Sequence[str]) -> dict[str, int]:  # noqa: ARG002
        """Return nothing: each column would be a query over all records."""
        return {}

    def one_to_one(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether each value of a column occurs with one value of another with as many values."""
        groups = self._relation.group_counts((one.name, other.name))
        return all(len(np.unique(groups.codes[:, column])) == len(groups.codes) for column in (0, 1))

    def equal(self, one: ColumnFacts, other: ColumnFacts) -> bool:
        """Return whether two columns have the same text in every record."""
        if one.values != other.values:
            return False
        groups = self._relation.group_counts((one.name, other.name))
        return groups.texts(0) == groups.texts(1)

    def _tables(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str], IntArray]]:
        """Yield every two columns with their table, if it has at most ``CELLS`` cells."""
        widths = {name: len(self._relation.dictionary(name)) for name in names}
        for one, other in combinations(names, 2):
            if widths[one] * widths[other] <= CELLS:
                found = self._relation.group_counts((one, other))
                cells: IntArray = np.zeros((widths[one], widths[other]), dtype=np.int64)
                cells[found.codes[:, 0], found.codes[:, 1]] = found.counts
                yield (one, other), cells


def combinations_of(relation: Relation) -> UniquenessProfile:
    """Return the profile of a relation; an ordered one is counted fastest by its codes."""
    return UniquenessProfile(relation) if relation.ordered else CountedCombinations(relation)


COUNTED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
"""Roles of the columns that are generalized or protected."""

EXACT = (Role.SENSITIVE, Role.INSENSITIVE)
"""Roles of the columns that are released exactly; sampling weights have a warning of their own."""

TELLING = 0.05
"""Minimum share of a column's entropy for naming a column that determines it."""

COINCIDENCES = 20
"""Minimum number of records that share their value with others, for a one-to-one relation to be no chance."""


def redundant_columns(
    columns: Sequence[ColumnFacts], proposals: Mapping[str, RoleProposal], counter: UniquenessProfile
) -> dict[str, RoleProposal]:
    """Return proposals to leave out the columns that have the same values as another one, or others for them.

    Of two, the one whose role protects more stays, and of the same role the first one. Candidates have equal
    statistics, so that few columns are compared.
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
        kept: list[ColumnFacts] = []
        for column in sorted(alike, key=lambda each: _PROTECTING.index(proposals[each.name].role)):
            own = proposals[column.name]
            reasons = (
                _redundancy(each, column, counter, _says_more(proposals[each.name], column, own))
                for each in kept
            )
            reason = next((each for each in reasons if each is not None), None)
            if reason is None:
                kept.append(column)
            elif own.role is not Role.IDENTIFIER:
                found[column.name] = replace(own, role=Role.DROP, reason=reason, doubtful=False)
    return found


_PROTECTING = (
    *(Role.IDENTIFIER, Role.SENSITIVE, Role.QUASI_IDENTIFIER, Role.WEIGHT, Role.INSENSITIVE, Role.DROP),
)
"""Roles of which the earlier one stays if two columns have the same values."""


def _says_more(kept: RoleProposal, column: ColumnFacts, own: RoleProposal) -> bool:
    """Return whether a column in a one-to-one relation with another is of use beside it.

    Dates are published in a coarser form, the key of an event not at all.
    """
    dates = own.role is Role.QUASI_IDENTIFIER and column.dated
    return own.role is Role.WEIGHT or (kept.role is Role.IDENTIFIER and dates)


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
        names = [each.name for each in columns if each.name not in choices.roles]
        decided = Role.QUASI_IDENTIFIER in choices.roles.values()
        return cls(sum(map(readable, names)), len(names), decided)

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
    """

    facts: ColumnFacts
    proposed: RoleProposal
    role: Role
    reason: str
    draft: Draft | None = None
    answered: bool = False
    extreme: bool = False

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
        return (self.fingerprint or self.extreme) and self.draft is not None

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
    person: the column that says whose records these are, for persons with several; None without one.
    names: how many names of columns could be read.
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
    person: str | None = None
    names: NamesRead = ALL_READ

    @property
    def marker(self) -> str | None:
        """How a release writes missing values: as a word of the input, or empty; None if there are none."""
        released = (each for each in self.columns if each.role not in LEFT_OUT)
        if not any(each.facts.missing for each in released):
            return None
        words = (text for text in self.missing if any(map(str.isalpha, text)))
        return next(words, EMPTY)


Decide = Callable[[ColumnProposal], Role]


def as_proposed(column: ColumnProposal) -> Role:
    """Accept the proposed role of a doubtful column."""
    return column.role


@dataclass(frozen=True)
class Choices:
    """What the user decides before the file is profiled.

    Attributes
    ----------
    roles: by column.
    cautious: whether columns that are known to few become quasi-identifiers.
    person: the column that says whose records these are; None to look for one.
    """

    roles: Mapping[str, Role] = field(default_factory=dict, hash=False)
    cautious: bool = False
    person: str | None = None

    def named_as(self, columns: Sequence[str]) -> Choices:
        """Return the choices with names in the spelling of columns."""
        person = None if self.person is None else Spellings(columns).of(self.person)
        return replace(self, roles=in_spelling_of(columns, self.roles), person=person)


NO_CHOICES = Choices()


def propose(relation: Relation, decide: Decide = as_proposed, choices: Choices = NO_CHOICES) -> Proposal:
    """Profile an open input and propose a config for it.

    Parameters
    ----------
    decide: returns the role of each doubtful column; called in the order of the file.

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
    columns = [_decided(each, decide) for each in columns]
    _check_quasi_identifier(relation.name, columns)
    drafter = HierarchyDrafter(relation, measured.missing)
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
    )


def _decided(column: ColumnProposal, decide: Decide) -> ColumnProposal:
    if not column.doubtful:
        return column
    return replace(column, role=decide(column), answered=decide is not as_proposed)


def _with_roles(
    measured: tuple[ColumnFacts, ...], counter: UniquenessProfile, choices: Choices, names: NamesRead
) -> tuple[list[ColumnProposal], list[str]]:
    """Return the columns with their roles and reasons, and a note if nothing is known outside."""
    proposals = {column.name: role_of(column, findings(column), names_read=names.most) for column in measured}
    proposals |= redundant_columns(measured, proposals, counter)
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
            elif len(revealed) > 1 and (time := _time_of_panel(each, known, counter)):
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
    sexes = [each for each in others if SEX.fit(each.name) or _sexes(each, ()) is not None]
    together = any(not counter.determines(column, each) for each in sexes)
    whose = "a household" if together else "a person, a household or another group of records"
    reason = f"{_values(column)}, each with one value of {listed(told)}, like the number of {whose}"
    return RoleProposal(Role.IDENTIFIER, Ground.KEY, reason, doubtful=True, together=together)


def told_by_key(column: ColumnFacts, others: Iterable[ColumnFacts], counter: UniquenessProfile) -> list[str]:
    """Return the columns in which all records of a value agree, if these look like numbers of groups.

    Such a column has many codes that repeat, and tells at least ``KEY_TELLS`` others.
    """
    if not may_number_groups(column):
        return []
    told = [each.name for each in others if each.name != column.name and counter.tells(column, each)]
    return told if len(told) >= KEY_TELLS else []


def may_number_groups(column: ColumnFacts) -> bool:
    """Return whether a column has many whole numbers or codes that repeat, not times of day."""
    coded = column.type is ValueType.INTEGER or (
        column.type is ValueType.TEXT
        and not column.clock
        and all(any(map(str.isdigit, text)) for text in column.texts)
    )
    many = column.distinct >= KEY_VALUES and column.distinctness > KEY_SHARE
    return coded and many and column.distinct < column.present


def released_keys(
    relation: Relation, names: Iterable[str], columns: Mapping[str, ColumnFacts]
) -> dict[str, list[str]]:
    """Return which columns number groups of records, each with the columns in which a group agrees.

    Parameters
    ----------
    relation: open; whose records have an order.
    names: of the columns that are looked at, among ``columns``.
    """
    counter = UniquenessProfile(relation)
    others = [columns[name] for name in relation.columns if name in columns]
    found = {name: told_by_key(columns[name], others, counter) for name in names}
    return {name: told for name, told in found.items() if told}


def _time_of_panel(key: ColumnFacts, known: Sequence[ColumnFacts], counter: UniquenessProfile) -> str | None:
    """Return the column that tells the few records of each value of a key apart; None without one."""
    if key.clock or key.type in (ValueType.NUMBER, ValueType.DATE) or key.distinctness < KEY_DISTINCT:
        return None
    most = OFTEN_SEEN * key.present / key.distinct
    for other in sorted(known, key=lambda each: each.distinct):
        if most < other.distinct:
            break
        if counter.joint([key.name, other.name], 2).unique == key.rows:
            return other.name
    return None


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


OFTEN_SEEN = 4
"""Maximum number of times of a panel by the mean number of records of a person."""

KEY_OF, KEY_DISTINCT = 3, 0.02
"""Minimum number of quasi-identifiers that a key determines, and of its distinct values per record."""

KEY_VALUES, KEY_SHARE, KEY_TELLS = 100, 0.1, 2
"""Minimum number of values of a key that no name tells, values per record, and columns that it tells."""

RUNS = 2
"""A column with more runs than this for each of its values, along another sorted column, is no band of it."""

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
