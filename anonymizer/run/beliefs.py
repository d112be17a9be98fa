"""Beliefs about single persons, by the files of a release or by the result of a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from anonymizer.attacks.beliefs import Belief, Person, beliefs, find_targets
from anonymizer.attacks.definetti import Definetti
from anonymizer.data.relation import Relation
from anonymizer.data.table import read_columns
from anonymizer.errors import DataError, InputError
from anonymizer.model.adversary import AdversaryView, Original
from anonymizer.model.recoding import GROUP
from anonymizer.model.table import Role
from anonymizer.run.plan import Plan

MOST = 1000
"""Maximum number of targets."""


def beliefs_about(
    adversary: AdversaryView,
    persons: Mapping[str, Person],
    attack: Definetti | None = None,
    seed: int = 0,
    known: Original | None = None,
    hidden: Collection[str] = (),
) -> list[Belief]:
    """Return the belief in every sensitive value of some persons.

    Parameters
    ----------
    persons: quasi-identifiers as texts, by a name.
    attack: with the parameters of deFinetti's attack, its defaults without one.
    known: records of the persons, to be found by what the release covers; None without.
    hidden: sensitive attributes whose value is missing in the persons' own released records.

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
    targets = find_targets(adversary, persons, attack.features(adversary), known)
    return list(beliefs(adversary, targets, attack, np.random.default_rng([seed, 0]), hidden))


def hidden_of(plan: Plan, relation: Relation, row: int) -> list[str]:
    """Return the sensitive attributes whose value is missing in a row of a release, its number from 1."""
    names = plan.among(relation.columns, Role.SENSITIVE)
    texts = {name: [text for text, _ in relation.dictionary(name)] for name in names}
    return [
        name
        for name, own in texts.items()
        if own[relation.codes(name)[row - 1]] in plan.absent_among(name, own)
    ]


def attack_of(plan: Plan) -> Definetti | None:
    """Return deFinetti's attack as a config lists it, None if it does not."""
    return next((each for each in plan.attacks if type(each) is Definetti), None)


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
        texts = _texts(relation, name, plan)
        columns[name] = [texts[code] for code in relation.codes(name)[np.array(chosen) - 1].tolist()]
    return {
        f"row {row}": {name: own[place] for name, own in columns.items()} for place, row in enumerate(chosen)
    }


def _texts(relation: Relation, name: str, plan: Plan | None) -> list[str | None]:
    """Return the distinct values of a column as a run publishes them ungeneralized, such as dates in ISO.

    Texts that the config cannot read stay: they may be copied from an Anatomy release.
    """
    texts = [text for text, _ in relation.dictionary(name)]
    if plan is None or name not in plan.columns:
        return texts
    try:
        read = read_columns(relation, plan.requests([name]), plan.missing)[name]
    except DataError:
        absent = plan.absent_among(name, texts)
        return [None if text in absent else text for text in texts]
    return [read.column.texts[code] for code in read.codes.tolist()]
