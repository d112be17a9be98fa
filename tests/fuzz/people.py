"""Whose records these are: persons, households, wards, sampling weights and populations of random runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from tests.fuzz.columns import Attribute, short, spelled

ALONE = -1_000_000
"""Numbers from here down are households of persons who name none."""


@dataclass(frozen=True)
class Key:
    """A column that says which unit a record belongs to.

    Attributes
    ----------
    unit: ``person``, ``household`` or a name of ``input.units``.
    groups: number of the unit of each record, None where the file does not say it.
    texts: key of each unit, in its own spelling.
    """

    unit: str
    column: str
    groups: tuple[int | None, ...]
    texts: tuple[str, ...]

    def attribute(self, random: Random, *, several: bool) -> Attribute:
        """Return the column, with keys in several spellings."""
        kind = "number" if self.texts[0].isdigit() else "text"
        cells = ["" if each is None else self.texts[each] for each in self.groups]
        if several:
            cells = [spelled(random, cell, kind) for cell in cells]
        role = "identifier" if self.unit == "person" else "drop"
        return Attribute(self.column, {"role": role}, kind, tuple(cells))

    def renamed(self, random: Random) -> Key:
        """Return other keys of the same units."""
        return replace(self, texts=keys(random, len(self.texts), numbers=self.texts[0].isdigit()))

    def merged(self, one: int, other: int) -> Key:
        """Return the keys if two units were one."""
        return replace(self, groups=tuple(one if each == other else each for each in self.groups))


def keys(random: Random, number: int, *, numbers: bool) -> tuple[str, ...]:
    """Return distinct keys, in no order, that occur nowhere else."""
    own = random.sample(range(7_000_000, 9_999_999), number)
    return tuple(str(each) if numbers else f"kéy{each}" for each in own)


def units(made: Sequence[Key], size: int) -> dict[str, list[int]]:
    """Return the unit of each record by the name of the unit; what has no key is a unit of its own.

    Records of a person are in the household that some of them name.
    """
    found = {"record": list(range(size))}
    for key in sorted(made, key=lambda each: each.unit == "household"):
        own = list(key.groups)
        if key.unit == "household" and "person" in found:
            named = {p: g for p, g in zip(found["person"], own, strict=True) if g is not None}
            found[key.unit] = [named.get(p, ALONE - p) for p in found["person"]]
        else:
            found[key.unit] = [-1 - i if each is None else each for i, each in enumerate(own)]
    return found


@dataclass(frozen=True)
class Population:
    """The people that the input is a sample of: values of the quasi-identifiers, and how many have them."""

    rows: tuple[tuple[str, ...], ...]
    people: tuple[Fraction, ...]


def draw_keys(random: Random, size: int) -> tuple[Key, ...]:
    """Return the keys of persons, households and wards, or of some of these."""
    made = []
    persons: list[int | None] = list(range(size))
    if random.random() < 0.7:
        persons = _groups(random, size, random.choice((0, 0, 0.1)))
        made.append(_key(random, "person", "pid", persons))
    if random.random() < 0.5:
        homes = [random.randint(0, max(1, size // 3)) for _ in range(size)]
        own = [homes[i if each is None else each] for i, each in enumerate(persons)]
        lacks = random.choice((0, 0, 0.2))
        made.append(
            _key(random, "household", "hid", [None if random.random() < lacks else home for home in own])
        )
    if random.random() < 0.3:
        made.append(_key(random, "ward", "wid", _groups(random, size, random.choice((0, 0.1)))))
    return tuple(made)


def _groups(random: Random, size: int, lacks: float) -> list[int | None]:
    most = max(1, int(size * random.choice((0.4, 0.7, 1))))
    return [None if random.random() < lacks else random.randint(0, most - 1) for _ in range(size)]


def _key(random: Random, unit: str, column: str, groups: Sequence[int | None]) -> Key:
    number = max((each for each in groups if each is not None), default=0) + 1
    return Key(unit, column, tuple(groups), keys(random, number, numbers=random.random() < 0.6))


def draw_weights(random: Random, of: Mapping[str, Sequence[int]]) -> tuple[Fraction, ...]:
    """Return a sampling weight for each record, the same for all records of a person."""
    pool = random.choice(((1, 2, 5), (Fraction(7, 2), Fraction(5, 4), 2, 1), (Fraction(3, 2),)))
    owners = of.get("person", of["record"])
    own = {each: Fraction(random.choice(pool)) for each in owners}
    return tuple(own[each] for each in owners)


def draw_population(random: Random, columns: Sequence[Attribute], *, counted: bool) -> Population:
    """Return everyone in the input and some more people with values of the input."""
    rows = list(zip(*(each.values for each in columns), strict=True))
    rows += [
        tuple(random.choice(each.values) for each in columns) for _ in range(random.randint(0, 2 * len(rows)))
    ]
    pool = (1, 2, 3) if not counted or random.random() < 0.5 else (1, Fraction(3, 2), Fraction(5, 4))
    people = [Fraction(random.choice(pool) if counted else 1) for _ in rows]
    return Population(tuple(rows), tuple(people))


def population_table(
    random: Random, columns: Sequence[Attribute], own: Population, *, counted: bool, several: bool
) -> list[list[str]]:
    """Return the rows of a file of the population, with a header."""
    rows = [[each.name for each in columns] + (["people"] if counted else [])]
    for values, people in zip(own.rows, own.people, strict=True):
        cells = []
        for each, value in zip(columns, values, strict=True):
            text = "" if value == "<missing>" else value
            cells.append(spelled(random, text, each.kind) if several else text)
        rows.append(cells + ([short(people)] if counted else []))
    return rows
