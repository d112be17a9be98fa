"""Beliefs about single persons, by the files of a release or by the result of a run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.beliefs import Belief, Person, beliefs, find_targets
from anonymizer.attacks.definetti import Definetti
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, notated_texts
from anonymizer.data.values import Key, absent_texts, are_numbers, key_of
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, Original
from anonymizer.model.dates import ISO, DateFormat
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import MISSING
from anonymizer.model.recoding import GROUP
from anonymizer.model.table import POINT, Column, Numerals, Role, ValueType
from anonymizer.plan.assessment import Assessment
from anonymizer.plan.columns import Columns
from anonymizer.plan.plan import Plan

MOST = 1000
"""Maximum number of targets."""


def beliefs_about(
    adversary: AdversaryView,
    persons: Mapping[str, Person],
    attack: Definetti | None = None,
    seed: int = 0,
    known: Original | None = None,
    hidden: Collection[str] = (),
    plan: Plan | None = None,
) -> list[Belief]:
    """Return the belief in every sensitive value of some persons.

    Parameters
    ----------
    persons: quasi-identifiers as texts, by a name.
    attack: with the parameters of deFinetti's attack, its defaults without one.
    known: records of the persons, to be found by what the release covers; None without.
    hidden: sensitive attributes whose value is missing in the persons' own released records.
    plan: types and formats of the persons' values; None if they are those of the originals.

    Raises
    ------
    InputError: no person, too many, one who is not found, or a requirement of the attack is missing.
    """
    if not 0 < len(persons) <= MOST:
        raise InputError(f"target: {len(persons):,} persons; accepted: 1 to {MOST:,}")
    attack = attack or Definetti()
    lacking = attack.missing_requirement(adversary)
    if lacking is not None:
        raise InputError(f"{adversary.release.source}: beliefs about a target need {lacking}")
    spelled = _spelled_as_known(adversary, persons, known, plan)
    targets = find_targets(adversary, spelled, attack.features(adversary), known)
    return list(beliefs(adversary, targets, attack, np.random.default_rng([seed, 0]), hidden))


@dataclass(frozen=True)
class _Known:
    """The values of a quasi-identifier among which a person's value is sought.

    Attributes
    ----------
    texts: as the originals or an Anatomy release have them; None for a null.
    column: of the originals; None where only published texts are known.
    """

    texts: Sequence[str | None]
    column: Column | None


def _spelled_as_known(
    adversary: AdversaryView, persons: Mapping[str, Person], known: Original | None, plan: Plan | None
) -> dict[str, Person]:
    """Return the persons with each value in the spelling of the records among which they are sought.

    A missing value is None; a value that no record has stays.
    """
    found: dict[str, dict[str, str | None]] = {name: dict(person) for name, person in persons.items()}
    for name, values in _known_values(adversary, known).items():
        holders = [person for person in found.values() if name in person]
        given = {text for person in holders if (text := person[name]) is not None}
        spelled = _spellings(name, values, given, plan)
        for person in holders:
            text = person[name]
            person[name] = None if text is None else spelled[text]
    return dict(found)


def _known_values(adversary: AdversaryView, known: Original | None) -> dict[str, _Known]:
    """Return the values by quasi-identifier, and the buckets of an Anatomy release, as ``find_targets``."""
    original = adversary.original or known
    columns = (
        {}
        if original is None
        else {name: own.column for name, own in zip(original.names, original.meanings, strict=True)}
    )
    grouped = adversary.grouped
    if grouped is not None:
        labels = {**dict(zip(grouped.names, grouped.labels, strict=True)), GROUP: grouped.groups}
        return {name: _Known(texts, columns.get(name)) for name, texts in labels.items()}
    if original is not None:
        return {name: _Known(column.texts, column) for name, column in columns.items()}
    release = adversary.release
    return {name: _Known(own, None) for name, own in zip(release.names, release.labels, strict=True)}


def _spellings(name: str, known: _Known, given: Collection[str], plan: Plan | None) -> dict[str, str | None]:
    """Return the known text of each given one, by the value that it has in its column."""
    listed = plan is not None and name in plan.columns
    request = plan.columns.requests([name])[0] if plan is not None and listed else ColumnRequest(name)
    texts = [text for text in known.texts if text is not None]
    column, codes = known.column, (MISSING, "", *(() if plan is None else plan.columns.missing))
    if column is None:
        others = set(texts) - request.absent_among(texts, codes)
        numeric = are_numbers(others, request.numerals)
        kind = request.type or (ValueType.NUMBER if numeric else ValueType.TEXT)
        own = request.numerals, ISO
    else:
        kind, codes, own = column.type, tuple(column.absent), (column.numerals, column.dates)
    foreign = own if plan is None else (request.numerals, request.dates)
    value_of, value_of_given = _reader(kind, own, foreign), _reader(kind, foreign, own)
    spelled = {value_of(text): text for text in texts}
    absent = absent_texts(given, codes, kind, *foreign).difference(texts)
    return {text: None if text in absent else spelled.get(value_of_given(text), text) for text in given}


def _reader(kind: ValueType, *formats: tuple[Numerals, DateFormat]) -> Callable[[str], Key]:
    """Return the function from texts to values of a type, in the first of some formats that fits.

    The value of another text is its identity.
    """
    keys = [key_of(kind, numerals, dates) for numerals, dates in formats]

    def read(text: str) -> Key:
        found = (own for key in keys if (own := key(text)) is not None)
        return next(found, text_identity(text))

    return read


def hidden_of(columns: Columns, relation: Relation, row: int) -> list[str]:
    """Return the sensitive attributes whose value is missing in a row of a release, its number from 1."""
    names = columns.among(relation.columns, Role.SENSITIVE)
    texts = {name: [text for text, _ in relation.dictionary(name)] for name in names}
    return [
        name
        for name, own in texts.items()
        if own[relation.codes(name)[row - 1]] in columns.absent_among(name, own)
    ]


def attack_of(assessment: Assessment) -> Definetti | None:
    """Return deFinetti's attack as a config lists it, None if it does not."""
    return next((each for each in assessment.attacks if type(each) is Definetti), None)


def persons_of(
    relation: Relation,
    names: Sequence[str],
    rows: Sequence[int] | None = None,
    plan: Plan | None = None,
) -> dict[str, Person]:
    """Return the persons of some rows of a file, or of all.

    Parameters
    ----------
    names: quasi-identifiers; those that the file lacks are not known.
    rows: numbers from 1.
    plan: by which the file is read, if it has values as in the input; None for a release.

    Raises
    ------
    InputError: there is no such row, or no such column.
    """
    number = relation.rows
    for row in rows or ():
        if not 0 < row <= number:
            raise InputError(f"target: row {row} of {relation.name}; accepted: 1 to {number}")
    chosen = range(1, number + 1) if rows is None else rows
    if not 0 < len(chosen) <= MOST:
        raise InputError(f"target: {relation.name} has {len(chosen):,} rows; accepted: 1 to {MOST:,}")
    known = [name for name in (*names, GROUP) if name in relation.columns]
    if not known:
        raise InputError(f"target: {relation.name} has no quasi-identifier; expected {', '.join(names)}")
    columns = {}
    for name in known:
        texts = notated_texts(relation, name, POINT if plan is None else plan.columns.numerals)
        columns[name] = [texts[code] for code in relation.codes(name)[np.array(chosen) - 1].tolist()]
    return {
        f"row {row}": {name: own[place] for name, own in columns.items()} for place, row in enumerate(chosen)
    }
