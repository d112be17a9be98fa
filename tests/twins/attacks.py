"""The attacks on records as they stand in a file, one at a time: slow and obvious."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, log
from typing import Any

import numpy as np

Row = Sequence[Any]
"""A record: the published texts, None for a missing sensitive value."""

STAR = "*"


def alike(rows: Sequence[Row], known: Sequence[int]) -> dict[tuple[str, ...], list[Row]]:
    """Return the records by their values of the known columns."""
    classes: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        classes.setdefault(tuple(row[position] for position in known), []).append(row)
    return classes


def re_identification(rows: Sequence[Row], known: Sequence[int]) -> Fraction:
    """Average over the records of one divided by how many look the same."""
    classes = alike(rows, known)
    chances = [Fraction(1, len(classes[tuple(row[position] for position in known)])) for row in rows]
    return sum(chances, Fraction(0)) / len(rows)


def attribute_inference(rows: Sequence[Row], known: Sequence[int], secret: int) -> Fraction:
    """Share of the records whose value is the most frequent of their class, one of the ties."""
    right = 0
    for own in alike(rows, known).values():
        values = Counter(row[secret] for row in own)
        right += max(values.values())
    return Fraction(right, len(rows))


def uniqueness(rows: Sequence[Row], known: Sequence[int]) -> Fraction:
    """Share of records that no other looks like."""
    seen = [tuple(row[position] for position in known) for row in rows]
    alone = sum(seen.count(own) == 1 for own in seen)
    return Fraction(alone, len(rows))


def singled_out(rows: Sequence[Row], width: int) -> dict[int, int]:
    """Count the records by the fewest columns that nobody else has the values of."""
    fewest: Counter[int] = Counter()
    for row in rows:
        for size in range(1, width + 1):
            if any(
                sum(all(row[p] == other[p] for p in known) for other in rows) == 1
                for known in combinations(range(width), size)
            ):
                fewest[size] += 1
                break
    return dict(fewest)


def _share(rows: Sequence[Row], known: Sequence[int], gives: Callable[[list[Row]], bool]) -> Fraction:
    classes = alike(rows, known)
    hit = sum(gives(classes[tuple(row[position] for position in known)]) for row in rows)
    return Fraction(hit, len(rows))


def homogeneity(rows: Sequence[Row], known: Sequence[int], secret: int) -> Fraction:
    """Share of records that all records like them share the value of."""
    return _share(rows, known, lambda own: all(row[secret] == own[0][secret] for row in own))


def background(rows: Sequence[Row], known: Sequence[int], secret: int, facts: int) -> Fraction:
    """Share of records whose value is left alone when the most frequent others are struck out."""
    classes = alike(rows, known)
    certain = 0
    for row in rows:
        own = classes[tuple(row[position] for position in known)]
        others = Counter(each[secret] for each in own if each[secret] != row[secret])
        excluded = [value for value, _ in others.most_common(facts)]
        certain += not set(others) - set(excluded)
    return Fraction(certain, len(rows))


def skewness(
    rows: Sequence[Row], known: Sequence[int], secret: int, rare: Fraction, threshold: Fraction
) -> Fraction:
    """Share of records in classes that have much of a value that is rare among all."""
    everywhere = Counter(row[secret] for row in rows)

    def skewed(own: list[Row]) -> bool:
        here = Counter(row[secret] for row in own)
        return any(
            Fraction(number, len(own)) >= threshold and Fraction(everywhere[value], len(rows)) <= rare
            for value, number in here.items()
        )

    return _share(rows, known, skewed)


def similarity(
    rows: Sequence[Row], known: Sequence[int], secret: int, parents: Mapping[str, Sequence[str]], level: int
) -> Fraction:
    """Share of records in classes that mean one thing at a level of the values' tree."""
    return _share(rows, known, lambda own: len({parents[row[secret]][level] for row in own}) == 1)


def wildcard(rows: Sequence[Row], width: int) -> Fraction:
    """Share of records of which no other has all values that are left."""
    unique = 0
    for position, row in enumerate(rows):
        left = [column for column in range(width) if row[column] != STAR]
        unique += not any(
            all(other[column] == row[column] for column in left)
            for number, other in enumerate(rows)
            if number != position
        )
    return Fraction(unique, len(rows))


def wildcard_persons(rows: Sequence[Row], persons: Sequence[Any], width: int) -> Fraction:
    """Share of persons with a record of which no record of anybody else has all values that are left."""
    unique = set()
    for row, person in zip(rows, persons, strict=True):
        left = [column for column in range(width) if row[column] != STAR]
        matching = {
            owner
            for other, owner in zip(rows, persons, strict=True)
            if all(other[column] == row[column] for column in left)
        }
        if matching == {person}:
            unique.add(person)
    return Fraction(len(unique), len(set(persons)))


def around(position: int, ordered: Sequence[float], reach: int) -> tuple[float, float]:
    """Return the ends of the interval by rank around the number at a position, which is counted from 1."""
    return ordered[max(position - reach, 1) - 1], ordered[min(position + reach, len(ordered)) - 1]


def rid(true: Sequence[float], masked: Sequence[float], reach: int) -> Fraction:
    """Share of true values inside the interval by rank, over all orders of equal masked values."""
    ordered = sorted(masked)
    hit = Fraction(0)
    for value, own in zip(true, masked, strict=True):
        ranks = [rank for rank, each in enumerate(ordered, start=1) if each == own]
        inside = [low <= value <= high for low, high in (around(rank, ordered, reach) for rank in ranks)]
        hit += Fraction(sum(inside), len(ranks))
    return hit / len(true)


def rid_by_chance(true: Sequence[float], masked: Sequence[float], reach: int) -> Fraction:
    """Average of the share inside over all ways to deal the masked values out, one pair at a time."""
    ordered = sorted(masked)
    intervals = [around(rank, ordered, reach) for rank in range(1, len(ordered) + 1)]
    inside = [low <= value <= high for value in true for low, high in intervals]
    return Fraction(sum(inside), len(inside))


def sdid(true: Sequence[float], masked: Sequence[float], reach: float) -> Fraction:
    """Share of true values at most so far from the masked one."""
    inside = [own - reach <= value <= own + reach for value, own in zip(true, masked, strict=True)]
    return Fraction(sum(inside), len(inside))


def sdid_by_chance(true: Sequence[float], masked: Sequence[float], reach: float) -> Fraction:
    """Average of that over all ways to deal the masked values out."""
    inside = [own - reach <= value <= own + reach for value in true for own in masked]
    return Fraction(sum(inside), len(inside))


def best_rank(true: Sequence[float], whose: Sequence[Any], reach: int) -> Fraction:
    """Largest share of those with a true value in the interval around one rank of the true values."""
    ordered = sorted(true)
    windows = [around(rank, ordered, reach) for rank in range(1, len(ordered) + 1)]
    return _best_window(true, whose, windows)


def best_number(true: Sequence[float], whose: Sequence[Any], reach: float) -> Fraction:
    """Largest share of those with a true value at most so far from one number."""
    return _best_window(true, whose, [(value, value + 2 * reach) for value in true])


def _best_window(
    true: Sequence[float], whose: Sequence[Any], windows: Sequence[tuple[float, float]]
) -> Fraction:
    inside = [
        {who for value, who in zip(true, whose, strict=True) if low <= value <= high} for low, high in windows
    ]
    return Fraction(max(map(len, inside)), len(set(whose)))


def near_persons(
    true: Sequence[float], masked: Sequence[float], persons: Sequence[Any], inside: Callable[..., Fraction]
) -> dict[Any, Fraction]:
    """Return for each person the probability that one of the true values is inside.

    Records of a person with one true and one masked value are one guess; guesses are independent.

    Parameters
    ----------
    inside: the probability for a true and a masked value.
    """
    missed: dict[Any, Fraction] = {}
    for value, own, person in set(zip(true, masked, persons, strict=True)):
        missed[person] = missed.get(person, Fraction(1)) * (1 - inside(value, own))
    return {person: 1 - each for person, each in missed.items()}


def candidates(person: Row, rows: Sequence[Row], stands_for: Sequence[Mapping[str, set[str]]]) -> set[str]:
    """Return the sensitive values, which come last, of the records whose texts all stand for a person's."""
    return {
        row[-1]
        for row in rows
        if all(value in own[text] for value, text, own in zip(person, row, stands_for, strict=False))
    }


def certain(people: Sequence[Row], found: Sequence[set[str]]) -> Fraction:
    """Share of people of whom one candidate value is left, the true one, which comes last."""
    right = [own == {person[-1]} for person, own in zip(people, found, strict=True)]
    return Fraction(sum(right), len(right))


def intersection(first: Sequence[set[str]], second: Sequence[set[str]]) -> list[set[str]]:
    """Return what is left of each person's candidates; who has none in a release is judged by the other."""
    return [one & other if one and other else one or other for one, other in zip(first, second, strict=True)]


def certain_persons(
    targets: Sequence[tuple[Row, Any]],
    releases: Sequence[Sequence[tuple[Row, Any]]],
    stands_for: Sequence[Mapping[str, set[str]]],
) -> Fraction:
    """Share of persons of whom a record's value is certain, by sets of persons.

    Each pair of persons, one of each release, with a value in common may be the target: whatever
    every pair has is certain. A release without candidates is ignored.

    Parameters
    ----------
    targets: original values of each released record, the sensitive value last, and its person.
    releases: published rows of one or two releases, and the person of each.
    """
    told = set()
    for target, person in targets:
        candidates_of = []
        for rows in releases:
            held: dict[Any, set[str]] = {}
            for row, owner in rows:
                if candidates(target, [row], stands_for):
                    held.setdefault(owner, set()).add(row[-1])
            if held:
                candidates_of.append(list(held.values()))
        pairs = product(*candidates_of) if candidates_of else []
        worlds = [set().union(*each) for each in pairs if set.intersection(*each)]
        if worlds and all(target[-1] in world for world in worlds):
            told.add(person)
    return Fraction(len(told), len({person for _, person in targets}))


def individual_risk(size: int, share: float) -> float:
    """Mean of 1/F where F, at least ``size``, is negative binomial: term by term until nothing is left."""
    if share >= 1:
        return 1 / size
    total, term, people = 0.0, share**size, size
    left = 1.0
    while left > 1e-13 and people < 200_000:
        total += term / people
        left -= term
        term *= people * (1 - share) / (people - size + 1)
        people += 1
    return total


def pitman_log_likelihood(sizes: Sequence[int], alpha: float, theta: float) -> float:
    """Logarithm of the chance that guests, one after another, sit down at tables of these sizes."""
    chance, guests = 0.0, 0
    for tables, size in enumerate(sizes):
        for seated in range(size):
            weight = theta + alpha * tables if seated == 0 else seated - alpha
            chance += log(weight / (guests + theta)) if guests else 0.0
            guests += 1
    return chance


def naive_bayes(
    people: Sequence[Row],
    rows: Sequence[Row],
    stands_for: Sequence[Mapping[str, set[str]]],
    secrets: Sequence[str],
    weight: float,
) -> list[list[float]]:
    """Return the logarithm of the chance of each sensitive value, which comes last, for each person."""
    width = len(stands_for)
    every = [sorted(set().union(*own.values())) for own in stands_for]

    def part(row: Row, column: int, value: str) -> float:
        own = stands_for[column][row[column]]
        return (value in own) / len(own)

    def chance(column: int, value: str, secret: str) -> float:
        everywhere = sum(part(row, column, value) for row in rows)
        overall = (everywhere + 1 / len(every[column])) / (len(rows) + 1)
        own = [row for row in rows if row[-1] == secret]
        return (sum(part(row, column, value) for row in own) + weight * overall) / (len(own) + weight)

    found = []
    for person in people:
        scores = []
        for secret in secrets:
            number = sum(row[-1] == secret for row in rows)
            score = log((number + 1 / len(secrets)) / (len(rows) + 1))
            score += sum(log(chance(column, person[column], secret)) for column in range(width))
            scores.append(score)
        found.append(scores)
    return found


def learned_persons(
    rows: Sequence[Row],
    persons: Sequence[Any],
    fold_of: Mapping[Any, int],
    strengths: Sequence[float],
    guess: Callable[[Sequence[Row], Row, float], str],
) -> tuple[set[Any], set[Any]]:
    """Return the persons of whom a value is guessed, with evidence and without, each held out with a fold.

    Parameters
    ----------
    rows: published and original records; the sensitive value comes last.
    fold_of: fold of each person.
    guess: from records to learn from, a record, and the exponent of the evidence, to a value.
    """

    def right(known: set[Any], held: set[Any], strength: float) -> set[Any]:
        learned = [row for row, person in zip(rows, persons, strict=True) if person in known]
        return {
            person
            for row, person in zip(rows, persons, strict=True)
            if person in held and guess(learned, row, strength) == row[-1]
        }

    told, blind = set(), set()
    folds = set(fold_of.values())
    for fold in folds:
        held = {person for person in fold_of if fold_of[person] == fold}
        rest = set(fold_of) - held
        numbers = [
            sum(
                len(
                    right(
                        {each for each in rest if fold_of[each] != inner},
                        {each for each in rest if fold_of[each] == inner},
                        strength,
                    )
                )
                for inner in folds - {fold}
            )
            for strength in strengths
        ]
        told |= right(rest, held, strengths[numbers.index(max(numbers))])
        blind |= right(rest, held, 0.0)
    return told, blind


def certain_parts(
    classes: Sequence[Sequence[Row]], part_of: Callable[[Row], str], distinct: int, size: int
) -> set[int]:
    """Return the people in parts that violate the constraint in every world in which some part does.

    A world deals the sensitive values, which come last, of each class out to its records. People are counted
    through from the first record of the first class.
    """
    people = [(number, row) for number, own in enumerate(classes) for row in own]
    parts: dict[tuple[int, str], list[int]] = {}
    for person, (number, row) in enumerate(people):
        parts.setdefault((number, part_of(row)), []).append(person)
    if any(len(own) < size for own in parts.values()):
        return set()
    worlds = product(*(set(permutations([row[-1] for row in own])) for own in classes))
    certain: set[int] | None = None
    for world in worlds:
        values = [value for own in world for value in own]
        found = [(own, {values[each] for each in own} - {None}) for own in parts.values()]
        violating = {person for own, those in found if len(those) < distinct for person in own}
        if violating:
            certain = violating if certain is None else certain & violating
    return certain or set()


def guessed_persons(
    records: Sequence[tuple[Any, Any]],
    persons: Sequence[Any],
    likeliest: Mapping[Any, set[Any]],
    home: Mapping[Any, Any] | None = None,
) -> Fraction:
    """Mean probability that one of the guesses about a person, or about a member of a household, is true.

    Parameters
    ----------
    records: what is known of each, and its value; records of a person that are known alike share a guess.
    likeliest: the values that are guessed, by what is known.
    home: household of each person.
    """
    missed: dict[Any, Fraction] = {}
    for person in set(persons):
        own = [record for record, owner in zip(records, persons, strict=True) if owner == person]
        unit = person if home is None else home[person]
        missed.setdefault(unit, Fraction(1))
        for known in {known for known, _ in own}:
            values = {value for other, value in own if other == known}
            missed[unit] *= 1 - Fraction(len(values & likeliest[known]), len(likeliest[known]))
    return 1 - sum(missed.values(), Fraction(0)) / len(missed)


def told_persons(
    rows: Sequence[Row],
    persons: Sequence[Any],
    known: Sequence[int],
    means: Callable[[Row], Any],
    tells: Callable[[list[Row]], bool],
) -> Fraction:
    """Share of persons with a record in a class that tells, or whose persons have a value in common.

    Parameters
    ----------
    means: the value of a record as far as it is learned.
    tells: whether the records of a class do by themselves.
    """
    told = set()
    for person in persons:
        for row, owner in zip(rows, persons, strict=True):
            if owner != person:
                continue
            own = [
                (each, other)
                for each, other in zip(rows, persons, strict=True)
                if all(each[column] == row[column] for column in known)
            ]
            everybody = {other for _, other in own}
            common = [
                value
                for value in {means(each) for each, _ in own}
                if {other for each, other in own if means(each) == value} == everybody
            ]
            if common or tells([each for each, _ in own]):
                told.add(person)
    return Fraction(len(told), len(set(persons)))


def skewed_persons(
    rows: Sequence[Row],
    persons: Sequence[Any],
    known: Sequence[int],
    secret: int,
    rare: Fraction,
    threshold: Fraction,
) -> Fraction:
    """Share of persons with a record in a class of whose persons many have a value that few have."""
    everybody, told = set(persons), set()
    for row, person in zip(rows, persons, strict=True):
        own = [
            (each[secret], other)
            for each, other in zip(rows, persons, strict=True)
            if all(each[column] == row[column] for column in known)
        ]
        here = {other for _, other in own}
        for value in {value for value, _ in own}:
            having = {other for each, other in own if each == value}
            anywhere = {other for each, other in zip(rows, persons, strict=True) if each[secret] == value}
            if (
                Fraction(len(having), len(here)) >= threshold
                and Fraction(len(anywhere), len(everybody)) <= rare
            ):
                told.add(person)
    return Fraction(len(told), len(everybody))


def lone_persons(rows: Sequence[Row], persons: Sequence[Any], known: Sequence[int]) -> Fraction:
    """Share of persons who are alone in some class."""
    lone = {
        person
        for row, person in zip(rows, persons, strict=True)
        if {
            other
            for each, other in zip(rows, persons, strict=True)
            if all(each[column] == row[column] for column in known)
        }
        == {person}
    }
    return Fraction(len(lone), len(set(persons)))


def best_guess(
    rows: Sequence[Row], members: Sequence[Any], known: Sequence[int], *, by_record: bool = False
) -> dict[Any, Fraction]:
    """Return for each member the probability to be found in its best class.

    The guess is any of the members of the class, or the one of any of its records, if that is better.

    Parameters
    ----------
    by_record: whether it is always the one of any of the records.
    """
    found: dict[Any, Fraction] = {}
    for row, member in zip(rows, members, strict=True):
        own = [
            other
            for each, other in zip(rows, members, strict=True)
            if all(each[column] == row[column] for column in known)
        ]
        one = Fraction(own.count(member), len(own))
        one = one if by_record else max(one, Fraction(1, len(set(own))))
        found[member] = max(found.get(member, Fraction(0)), one)
    return found


def guesses_of_values(
    rows: Sequence[Row], members: Sequence[Any], known: Sequence[int], secret: int
) -> dict[Any, list[tuple[Fraction, set[Any]]]]:
    """Return for each class of each member the largest share of members with one value, and these values."""
    guesses: dict[Any, dict[Any, tuple[Fraction, set[Any]]]] = defaultdict(dict)
    for row, member in zip(rows, members, strict=True):
        having: dict[Any, set[Any]] = defaultdict(set)
        for each, other in zip(rows, members, strict=True):
            if all(each[column] == row[column] for column in known):
                having[each[secret]].add(other)
        most = max(len(each) for each in having.values())
        frequent = {value for value, each in having.items() if len(each) == most}
        cells = tuple(row[column] for column in known)
        guesses[member][cells] = Fraction(most, len(set().union(*having.values()))), frequent
    return {member: list(own.values()) for member, own in guesses.items()}


def best_values(
    rows: Sequence[Row], members: Sequence[Any], known: Sequence[int], secret: int
) -> dict[Any, Fraction]:
    """Return for each member the probability that a value of any of its records is guessed.

    The guess is any value that most members have in a class where the share of these is largest.
    """
    values: dict[Any, set[Any]] = defaultdict(set)
    for row, member in zip(rows, members, strict=True):
        values[member].add(row[secret])
    found: dict[Any, Fraction] = {}
    for member, own in guesses_of_values(rows, members, known, secret).items():
        best = max(share for share, _ in own)
        taken = [frequent for share, frequent in own if share == best]
        right = [Fraction(len(each & values[member]), len(each)) for each in taken]
        found[member] = sum(right, Fraction(0)) / len(right)
    return found


def best_shares(
    rows: Sequence[Row], members: Sequence[Any], known: Sequence[int], secret: int
) -> dict[Any, Fraction]:
    """Return for each member the largest share of the members of one of its classes who have one value."""
    guesses = guesses_of_values(rows, members, known, secret)
    return {member: max(share for share, _ in own) for member, own in guesses.items()}


def linked_members(rows: Sequence[Row], members: Sequence[Any], known: Sequence[int]) -> dict[Any, Fraction]:
    """Return the probability that one of the links of each member leads to one of its records.

    The held records of a member are linked to as many different released records of their class.
    """
    classes: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    for row, member in zip(rows, members, strict=True):
        classes[tuple(row[column] for column in known)].append(member)
    missed: dict[Any, Fraction] = {}
    for alike_members in classes.values():
        for member in set(alike_members):
            own, every = alike_members.count(member), len(alike_members)
            miss = Fraction(comb(every - own, own), comb(every, own))
            missed[member] = missed.get(member, Fraction(1)) * miss
    return {member: 1 - each for member, each in missed.items()}


def found_households(members: Mapping[Any, Fraction], home: Mapping[Any, Any]) -> Fraction:
    """Share of households of which at least one member is found."""
    missed: dict[Any, Fraction] = {}
    for member, chance in members.items():
        missed[home[member]] = missed.get(home[member], Fraction(1)) * (1 - chance)
    return sum((1 - each for each in missed.values()), Fraction(0)) / len(missed)


@dataclass(frozen=True)
class LinkedReleases:
    """Shares of records linked correctly: with known persons, and as the model expects."""

    success: Fraction
    expected: Fraction


def release_linkage(first: Any, second: Any, nodes: Mapping[str, str]) -> LinkedReleases:
    """Link two releases of the columns age (intervals), city (nodes) and id, record by record.

    Everybody is in both. A record is linked by the product over the attributes of
    m(both) / (m(one) m(other)). The records of a person overlap.
    """
    ends: set[int] = set()
    for text in [*first["age"], *second["age"]]:
        ends |= {int(each) for each in text.split("-")}

    def ages(text: str) -> frozenset[Any]:
        low, high = int(text.split("-", maxsplit=1)[0]), int(text.rsplit("-", maxsplit=1)[-1])
        return frozenset(each for each in ends if low <= each <= high)

    def cities(text: str) -> frozenset[Any]:
        return frozenset(nodes.get(text, text))

    read = {"age": ages, "city": cities}
    mass: dict[str, dict[Any, Fraction]] = {}
    for name, of in read.items():
        own: dict[Any, Fraction] = defaultdict(Fraction)
        for table in (first, second):
            for text in table[name]:
                for value in of(text):
                    own[value] += Fraction(1, len(of(text)) * len(table) * 2)
        mass[name] = own

    def ratio(one: Any, other: Any) -> Fraction:
        found = Fraction(1)
        for name, of in read.items():
            a, b = of(one[name]), of(other[name])
            weights = [sum((mass[name][each] for each in some), Fraction(0)) for some in (a & b, a, b)]
            found *= weights[0] / (weights[1] * weights[2])
        return found

    success = expected = Fraction(0)
    records = second.to_dict("records")
    for one in first.to_dict("records"):
        ratios = [ratio(one, other) for other in records]
        best = [place for place, each in enumerate(ratios) if each == max(ratios)]
        hits = sum(records[place]["id"] == one["id"] for place in best)
        success += Fraction(hits, len(best) * len(first))
        expected += max(ratios) / sum(ratios) / len(first)
    return LinkedReleases(success, expected)


def answers(shown: Sequence[Row], targets: Sequence[Row], covers: Callable[..., bool]) -> dict[str, Fraction]:
    """Return the share of targets of whom each of the three questions of European law is answered.

    Parameters
    ----------
    shown: published records; the sensitive value is in the last of three columns.
    covers: whether a published record covers a target in some of the first two columns.
    """
    right = dict.fromkeys(("singling-out", "linkability", "inference"), Fraction(0))
    for row in targets:
        fit = [each for each in range(len(shown)) if covers(shown[each], row)]
        right["singling-out"] += len(fit) == 1
        first = [each for each in range(len(shown)) if covers(shown[each], row, (0,))]
        second = [each for each in range(len(shown)) if covers(shown[each], row, (1,))]
        same = sum(one == other for one in first for other in second)
        if first and second:
            right["linkability"] += Fraction(same, len(first) * len(second))
        values = Counter(shown[each][2] for each in fit or range(len(shown)))
        best = [value for value, number in values.items() if number == max(values.values())]
        right["inference"] += Fraction(row[2] in best, len(best))
    return {question: share / len(targets) for question, share in right.items()}


def answers_of_persons(
    shown: Sequence[Row],
    publishers: Sequence[Any],
    targets: Sequence[Row],
    persons: Sequence[Any],
    covers: Callable[..., bool],
) -> dict[str, Fraction]:
    """Return the share of persons of whom each of the three questions of European law is answered.

    Parameters
    ----------
    publishers, persons: whose each published record, and each target, is.
    shown, targets, covers: as for ``answers``.
    """
    questions = ("singling-out", "linkability", "inference")
    right = dict.fromkeys(questions, Fraction(0))
    for person in set(persons):
        chances: dict[str, dict[Any, Fraction]] = {question: {} for question in questions}
        values: dict[Any, set[str]] = {}
        for row, owner in zip(targets, persons, strict=True):
            if owner != person:
                continue
            fit, first, second = (
                tuple(each for each in range(len(shown)) if covers(shown[each], row, places))
                for places in ((0, 1), (0,), (1,))
            )
            who, one, two = ({publishers[each] for each in own} for own in (fit, first, second))
            chances["singling-out"][fit] = Fraction(len(who) == 1)
            chances["linkability"][first, second] = Fraction(len(one & two), max(len(one) * len(two), 1))
            values.setdefault(fit, set()).add(row[2])
            having: dict[str, set[Any]] = {}
            for each in fit or range(len(shown)):
                having.setdefault(shown[each][2], set()).add(publishers[each])
            most = max(map(len, having.values()))
            best = {value for value, own in having.items() if len(own) == most}
            chances["inference"][fit] = Fraction(len(best & values[fit]), len(best))
        for question in questions:
            missed = Fraction(1)
            for chance in chances[question].values():
                missed *= 1 - chance
            right[question] += 1 - missed
    return {question: share / len(set(persons)) for question, share in right.items()}


def denoised(records: Sequence[Sequence[float]], method: str, share: float) -> list[list[float]]:
    """Remove noise of a known share from records, one at a time, by the covariances of the sources.

    The expected true record of normal numbers is (A + B)⁻¹ (A mean + B record) with A and B the inverse
    covariances of the true numbers and of the noise.
    """
    table = np.array(records)
    mean = table.mean(axis=0)
    covariance = np.cov(table.T, bias=True).reshape(len(mean), len(mean))
    noise = np.diag(np.diag(covariance)) * share**2 / (1 + share**2)
    # On the scale of the noise its covariance is the identity.
    root = np.sqrt(np.diag(noise))
    values, vectors = np.linalg.eig(covariance / np.outer(root, root))
    found = []
    for record in table:
        parts = np.zeros(len(mean))
        for value, vector in zip(np.real(values), np.real(vectors).T, strict=True):
            amount = float(vector @ ((record - mean) / root))
            if method == "bayes":
                true = max(value - 1, 0.0)
                amount *= 0.0 if true == 0 else (1 / (1 / true + 1))
            elif method == "pca":
                amount *= value - 1 > 1
            else:
                amount *= value > (1 + (len(mean) / len(table)) ** 0.5) ** 2
            parts += amount * vector
        found.append((mean + parts * root).tolist())
    return found
