"""Who has which sensitive value, by going through every way to deal the values out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import TypeAlias

Person: TypeAlias = Sequence[str]
World: TypeAlias = tuple[tuple[str, ...], ...]


def worlds(secrets: Sequence[Sequence[str]]) -> Iterator[World]:
    """Yield every way to deal out the values of each group, as often as there are permutations."""
    yield from product(*(permutations(own) for own in secrets))


def weight(
    groups: Sequence[Sequence[Person]], world: World, domains: Sequence[int], prior: Fraction
) -> Fraction:
    """Return the chance of all features given who has which value, parameters integrated out."""
    people = [
        (person, secret)
        for own, dealt in zip(groups, world, strict=True)
        for person, secret in zip(own, dealt, strict=True)
    ]
    chance = Fraction(1)
    for position, size in enumerate(domains):
        chance *= column_weight([(person[position], secret) for person, secret in people], size, prior)
    return chance


def column_weight(pairs: Sequence[tuple[str, str]], size: int, prior: Fraction) -> Fraction:
    """Return the chance of one feature of people with their values; "?" is not known and has chance 1."""
    chance = Fraction(1)
    seen: Counter[tuple[str, str]] = Counter()
    having: Counter[str] = Counter()
    for label, secret in pairs:
        if label != "?":
            chance *= (seen[label, secret] + prior) / (having[secret] + prior * size)
            seen[label, secret] += 1
            having[secret] += 1
    return chance


def posterior(
    groups: Sequence[Sequence[Person]],
    secrets: Sequence[Sequence[str]],
    domains: Sequence[int],
    prior: Fraction = Fraction(1),
) -> list[list[dict[str, Fraction]]]:
    """Return the chance of each value for each person of each group.

    Parameters
    ----------
    domains: number of values that each feature can have.
    """
    return believed(secrets, lambda world: weight(groups, world, domains, prior))


def mixture(
    groups: Sequence[Sequence[Person]],
    secrets: Sequence[Sequence[str]],
    likeness: Sequence[Sequence[Fraction]],
    values: str,
) -> list[list[dict[str, Fraction]]]:
    """Return the same where people have one feature, which shows one of several labels that nobody sees.

    Parameters
    ----------
    likeness: chance of each value given each label.
    values: in their order.
    """
    shown = [values.index(person[0]) for own in groups for person in own]

    def mixed(world: World) -> Fraction:
        dealt = [secret for own in world for secret in own]
        total = Fraction(0)
        for labels in product(range(len(likeness)), repeat=len(dealt)):
            own = column_weight([*zip(map(str, labels), dealt, strict=True)], len(likeness), Fraction(1))
            for label, value in zip(labels, shown, strict=True):
                own *= likeness[label][value]
            total += own
        return total

    return believed(secrets, mixed)


def believed(
    secrets: Sequence[Sequence[str]], chance: Callable[[World], Fraction]
) -> list[list[dict[str, Fraction]]]:
    """Return the chance of each value for each person, given that of each way to deal them out."""
    total = Fraction(0)
    sums: list[list[dict[str, Fraction]]] = [[{} for _ in own] for own in secrets]
    for world in worlds(secrets):
        own_chance = chance(world)
        total += own_chance
        for position, dealt in enumerate(world):
            for person, secret in enumerate(dealt):
                own = sums[position][person]
                own[secret] = own.get(secret, Fraction(0)) + own_chance
    return [[{secret: value / total for secret, value in one.items()} for one in own] for own in sums]
