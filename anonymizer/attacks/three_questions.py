"""The three questions of European law: singling out, linkability and inference, with people held out.

The same attack is made on the people of the release and on others of the same population, whose records the
release was not made of. What succeeds on these follows from the population, not from being in the release.

Where it is known whose the records are, targets are persons. What is known of one is known of each of the
records; the person is reached if one of them tells. Of an adversary's guesses, those about equal sets of
released records are one, and the others succeed independently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np

from anonymizer.attacks.base import clopper_pearson, known_columns, target_of
from anonymizer.attacks.coverage import codes_in
from anonymizer.attacks.joins import CoveringJoin, spans
from anonymizer.errors import InputError, listed, plural
from anonymizer.model.adversary import Original, PublishedTable
from anonymizer.model.arrays import FloatArray, IntArray, count, group_keys, numbered
from anonymizer.model.owners import Owners
from anonymizer.model.units import PERSON

SURE = 0.975
"""Confidence of each share, so that both hold together with 95 %."""

_PAIRS = 1 << 22
"""Pairs of a set of released records and a person that are expanded at once."""

Chances = tuple[FloatArray, IntArray]
"""The probability that an attack succeeds on some targets, and the number of targets with each."""


@dataclass(frozen=True)
class Answer:
    """The answer to one of the questions.

    Attributes
    ----------
    question: ``singling-out``, ``linkability`` or ``inference``.
    knowledge: the columns that the adversary knows, the one that is inferred, and the unit that is counted if
        these are not records.
    success, control: share of successful attacks on the people of the release, and on those held out.
    risk: (success - control) / (1 - control), what is due to being in the release; not below 0.
    low, high: ends of its interval, which covers it with at least 95 %.
    records, held_out: number of targets.
    scenario: that the adversary is from; None for one who knows all columns.
    """

    question: str
    knowledge: dict[str, Any]
    success: float
    control: float
    risk: float
    low: float
    high: float
    records: int
    held_out: int
    scenario: str | None = None

    @classmethod
    def of(
        cls,
        question: str,
        knowledge: dict[str, Any],
        own: Chances,
        others: Chances,
    ) -> Answer:
        """Return an answer from the chances on the people of the release, and on those held out."""
        right, wrong = (_expected(each) for each in (own, others))
        records, held = (int(counts.sum()) for _, counts in (own, others))
        success, control = right / records, wrong / held
        (low, high), (least, most) = clopper_pearson(right, records, SURE), clopper_pearson(wrong, held, SURE)
        risk = excess(success, control)
        ends = excess(low, most), excess(high, least)
        return cls(question, knowledge, success, control, risk, *ends, records, held)

    @property
    def sentence(self) -> str:
        """The answer as a sentence."""
        known = known_columns(self.knowledge)
        own, others = f"{100 * self.success:.3g} %", f"{100 * self.control:.3g} %"
        halves = [listed(self.knowledge.get(half, [])) for half in ("first", "second")]
        one = target_of(self.knowledge)
        targets = plural(self.records, one)
        what = {
            "singling-out": f"finds exactly one matching {one} for",
            "linkability": f"finds the same {one} by {halves[0]} alone and by {halves[1]} alone for",
            "inference": f"guesses {self.knowledge.get('sensitive')} correctly for",
        }[self.question]
        named = self.question.capitalize().replace("-", " ")
        who = f"{named}, {self.scenario}" if self.scenario else named
        risk = f"{100 * self.risk:.3g} % (95 % interval {100 * self.low:.3g} % to {100 * self.high:.3g} %)"
        return (
            f"{who}: an adversary who knows {known} {what} {own} of {targets} of the release and for "
            f"{others} of {plural(self.held_out, f'held-out {one}')}; {risk} is due to being in the release."
        )

    def entry(self) -> dict[str, Any]:
        """Return the answer in plain types, with its sentence."""
        return {
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
            "sentence": self.sentence,
        }


def _expected(chances: Chances) -> float:
    """Return the expected number of successes, which does not depend on how targets are grouped."""
    values, place = np.unique(chances[0], return_inverse=True)
    return float(values @ count(place, chances[1], len(values)))


def excess(success: float, control: float) -> float:
    """Return the share of successes that the control does not have, of what it leaves; not below 0."""
    return max(success - control, 0.0) / (1 - control) if control < 1 else 0.0


def three_questions(
    release: PublishedTable, original: Original, control: Original, known: Sequence[str] | None = None
) -> list[Answer]:
    """Return the answers: singling out, linkability with two columns or more, inference of each attribute.

    Singling out: exactly one released record covers what is known of a target. Linkability: a released
    record that covers one half of it and one that covers the other, both drawn at random, are the same.
    Inference: the most frequent sensitive value of the records that cover what is known, or of all if none
    does, is the true one; a tie of n counts 1/n. Where both files tell whose the records are, all of this is
    of persons: one who covers a target, drawn persons, and the value that most persons have.

    Source: Article 29 Working Party, Opinion 05/2014 (WP216), section 2.2, for the questions; Giomi,
    Boenisch, Wehmeyer, Tasnádi, "A unified framework for quantifying privacy risk in synthetic data" (PoPETs
    2023, doi:10.56553/popets-2023-0055), section 4, for the control and the risk.

    Parameters
    ----------
    original: records of the release, with their links; those that were not released are no targets.
    control: records of other people, whose links have no meaning; its owners are of all records.
    known: columns that the adversary knows; None for all of both files.

    Raises
    ------
    InputError: a column is not in both files, fewer than half of the records fit a released one, as
        where numbers are masked, or the held-out records are none.
    """
    names = original.known(known)
    if control.known(names) != names:
        raise InputError(
            f"{control.source}: lacks quasi-identifiers of {original.source}; the records that were held out "
            "need the same columns"
        )
    targets = count(original.links.original, original.links.counts, len(original.counts))
    if not targets.sum() or not control.records:
        lacking = original if not targets.sum() else control
        raise InputError(f"{lacking.source}: has no record to attack")
    _refuse_masked(release, original, int(targets.sum()))
    knowledge: dict[str, Any] = {"attributes": list(names)}
    both: tuple[_Covered, _Covered] | tuple[_CoveredPersons, _CoveredPersons]
    published = original.owners
    if _names_persons(published) and _names_persons(control.owners):
        knowledge["unit"] = PERSON
        both = (
            _CoveredPersons(release, original, names, published, published),
            _CoveredPersons(release, control, names, published, control.owners),
        )
    else:
        both = (
            _Covered(release, original, names, targets),
            _Covered(release, control, names, control.counts),
        )

    def answer(question: str, further: Mapping[str, Any], chances: Iterator[Chances]) -> Answer:
        first, second = chances
        return Answer.of(question, {**knowledge, **further}, first, second)

    found = [answer("singling-out", {}, (each.singled_out() for each in both))]
    if len(names) > 1:
        halves = {"first": list(names[::2]), "second": list(names[1::2])}
        found.append(answer("linkability", halves, (each.linked(*halves.values()) for each in both)))
    found += [
        answer("inference", {"sensitive": name}, (each.guessed(name) for each in both))
        for name in release.sensitive_names
        if name in original.sensitive and name in control.sensitive
    ]
    return found


def _refuse_masked(release: PublishedTable, original: Original, linked: int) -> None:
    """Refuse a release of which few records cover an original one: the others would be left out unseen."""
    possible = min(release.records, original.records)
    if 2 * linked >= possible:
        return
    raise InputError(
        f"{original.source}: only {linked:,} of {plural(possible, 'record')} fit a record of "
        f"{release.source}, as where numbers are masked; the three questions need published values that "
        "cover the true ones. Remove the held-out records, and use the attack linkage, with aligned: true "
        "or a key"
    )


def worst_answers(
    release: PublishedTable,
    original: Original,
    control: Original,
    scenarios: Mapping[str, Sequence[frozenset[str]]],
) -> list[Answer]:
    """Return the answers for each scenario, given the sets of columns that its adversary may know.

    Of several sets it is the one with the largest risk, for each question and attribute. Without scenarios
    the adversary knows all columns; raises as ``three_questions`` does.
    """
    if not scenarios:
        return three_questions(release, original, control)
    found: list[Answer] = []
    for scenario, sets in scenarios.items():
        worst: dict[tuple[str, str | None], Answer] = {}
        for known in sorted(map(sorted, sets)):
            for each in three_questions(release, original, control, known):
                key = (each.question, each.knowledge.get("sensitive"))
                if key not in worst or each.risk > worst[key].risk:
                    worst[key] = replace(each, scenario=scenario)
        found += worst.values()
    return found


def _names_persons(owners: Owners | None) -> TypeGuard[Owners]:
    return owners is not None and PERSON in owners.units


class _Covered:
    """The released records that cover what is known of each distinct row of a file.

    Parameters
    ----------
    names: of the known columns.
    counts: targets of each row, shape (rows,), int64.
    """

    def __init__(
        self, release: PublishedTable, file: Original, names: Sequence[str], counts: IntArray
    ) -> None:
        self._release, self._file, self._names, self._counts = release, file, names, counts

    def singled_out(self) -> Chances:
        """Return 1 for each row that exactly one released record covers, else 0."""
        return (self._sizes(self._names) == 1).astype(np.float64), self._counts

    def linked(self, first: Sequence[str], second: Sequence[str]) -> Chances:
        """Return the probability that records drawn by both halves are the same, for each row."""
        draws = self._sizes(first) * self._sizes(second)
        same = np.where(draws > 0, self._sizes(self._names) / np.maximum(draws, 1), 0.0)
        return same, self._counts

    def guessed(self, name: str) -> Chances:
        """Return the probability that the sensitive value is guessed, for each row."""
        published, own = self._release.sensitive[name], self._file.sensitive[name]
        size = published.attribute.column.size
        true = codes_in(published, own)[own.codes]
        overall = count(published.codes, self._release.counts, size)
        found = np.zeros(len(self._file.counts))
        for rows, entries, values, weights in self._pairs(self._names, published.codes):
            held = np.zeros((len(rows), size), dtype=np.int64)
            np.add.at(held, (entries, values), weights)
            held[held.sum(axis=1) == 0] = overall
            best = held == held.max(axis=1, keepdims=True)
            known = true[rows] >= 0
            right = known & best[np.arange(len(rows)), np.maximum(true[rows], 0)]
            found[rows] = right / best.sum(axis=1)
        return found, self._counts

    def _sizes(self, names: Sequence[str]) -> IntArray:
        """Return the released records that cover each row in these columns, shape (rows,), int64."""
        sizes = np.zeros(len(self._file.counts), dtype=np.int64)
        for rows, entries, _, weights in self._pairs(names, np.zeros(len(self._release.counts), np.int64)):
            sizes[rows] = count(entries, weights, len(rows))
        return sizes

    def _pairs(
        self, names: Sequence[str], values: IntArray
    ) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]:
        """Yield blocks of rows, and for each pair with a released row: place in the block, value, records."""
        join, codes = _join(self._release, self._file, names)
        for rows, pairs in join.blocks(codes):
            yield rows, pairs.original, values[pairs.published], self._release.counts[pairs.published]


def _join(release: PublishedTable, file: Original, names: Sequence[str]) -> tuple[CoveringJoin, IntArray]:
    """Return the join of a file with the released rows, by some columns, and its codes in these."""
    places = [file.names.index(name) for name in names]
    published = release.codes[:, [release.names.index(name) for name in names]].astype(np.int64)
    join = CoveringJoin([file.meanings[place] for place in places], published)
    return join, file.codes[:, places].astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Sets:
    """Sets of numbers, such as released rows or persons: set i is ``members[starts[i]:starts[i + 1]]``.

    Attributes
    ----------
    of_row: set of each row of the file, shape (rows,), int64.
    starts: shape (sets + 1,), int64.
    members: shape (all members,), int64, ascending within a set.
    """

    of_row: IntArray
    starts: IntArray
    members: IntArray

    @property
    def sizes(self) -> IntArray:
        """Members of each set, shape (sets,), int64."""
        return np.diff(self.starts)

    def of(self, position: int) -> IntArray:
        """Return the members of a set, shape (members,), int64."""
        return self.members[self.starts[position] : self.starts[position + 1]]


class _CoveredPersons:
    """The persons of the released records that cover what is known of each person of a file.

    Parameters
    ----------
    names: of the known columns.
    published: the persons of the released records.
    targets: the persons of the attacked records of the file.
    """

    def __init__(
        self,
        release: PublishedTable,
        file: Original,
        names: Sequence[str],
        published: Owners,
        targets: Owners,
    ) -> None:
        self._release, self._file = release, file
        persons, self._number = published.targets(PERSON)
        keys = np.unique(published.release * self._number + persons)
        self._starts = np.searchsorted(keys, np.arange(len(release.counts) + 1) * self._number)
        self._persons = keys % self._number
        self._rows, (self._targets, self._people) = targets.original, targets.targets(PERSON)
        self._covers = self._covers_of(names)

    def singled_out(self) -> Chances:
        """Return 1 for each person of whom a record is covered by exactly one released person, else 0."""
        alone = (self._persons_of(self._covers).sizes == 1).astype(np.float64)
        guess = self._covers.of_row[self._rows]
        return self._reached(guess, alone)

    def linked(self, first: Sequence[str], second: Sequence[str]) -> Chances:
        """Return the probability that persons drawn by both halves of a record are the same."""
        one, two = (self._persons_of(self._covers_of(names)) for names in (first, second))
        width = len(two.sizes)
        keys = one.of_row[self._rows] * width + two.of_row[self._rows]
        guess, pairs = group_keys(keys, len(one.sizes) * width)
        left, right = pairs // width, pairs % width
        both, inside, before = np.zeros(len(pairs), dtype=np.int64), np.zeros(self._number, dtype=bool), -1
        for place, (own, other) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
            if own != before:
                inside[:] = False
                inside[one.of(own)] = True
                before = own
            both[place] = np.count_nonzero(inside[two.of(other)])
        draws = one.sizes[left] * two.sizes[right]
        return self._reached(guess, np.where(draws > 0, both / np.maximum(draws, 1), 0.0))

    def guessed(self, name: str) -> Chances:
        """Return the probability that a sensitive value is guessed for a record."""
        published, own = self._release.sensitive[name], self._file.sensitive[name]
        size, covers = published.attribute.column.size, self._covers
        true = codes_in(published, own)[own.codes][self._rows]
        # The values of a person in records with equal guesses: any of them is right.
        keys = (covers.of_row[self._rows] * (size + 1) + true + 1) * self._people + self._targets
        keys = np.unique(keys)
        target, keys = keys % self._people, keys // self._people
        cover, value = keys // (size + 1), keys % (size + 1) - 1
        every = np.arange(len(self._release.counts))
        overall = self._with_values(np.zeros(len(every), dtype=np.int64), every, published.codes, (1, size))
        chance = np.zeros(len(cover))
        for low, high in self._pieces(covers, size):
            of_set = np.repeat(np.arange(high - low), covers.sizes[low:high])
            rows = covers.members[covers.starts[low] : covers.starts[high]]
            held = self._with_values(of_set, rows, published.codes, (high - low, size))
            held[held.sum(axis=1) == 0] = overall
            best = held == held.max(axis=1, keepdims=True)
            some = slice(*np.searchsorted(cover, [low, high]))
            place = cover[some] - low
            right = (value[some] >= 0) & best[place, np.maximum(value[some], 0)]
            chance[some] = right / best.sum(axis=1)[place]
        each, distinct = group_keys(cover * self._people + target, len(covers.sizes) * self._people)
        chances = np.bincount(each, chance, len(distinct)).astype(np.float64)
        return self._combined(distinct % self._people, chances)

    def _reached(self, guess: IntArray, chance: FloatArray) -> Chances:
        """Return the probability that each person is reached by any of the guesses about the records.

        Parameters
        ----------
        guess: of each record, shape (records,), int64.
        chance: that a guess is right, shape (guesses,).
        """
        keys = np.unique(self._targets * len(chance) + guess)
        return self._combined(keys // len(chance), chance[keys % len(chance)])

    def _combined(self, target: IntArray, chance: FloatArray) -> Chances:
        """Return the probability that any guess about each person is right, if guesses are independent.

        Parameters
        ----------
        target, chance: of each guess, shape (guesses,); every person has one.
        """
        order = np.argsort(target, kind="stable")
        starts = np.searchsorted(target[order], np.arange(self._people))
        missed = np.multiply.reduceat(1 - chance[order], starts)
        single = np.bincount(target, minlength=self._people) == 1
        found: FloatArray = np.where(single, chance[order][starts], 1 - missed)
        return found, np.ones(self._people, dtype=np.int64)

    def _covers_of(self, names: Sequence[str]) -> _Sets:
        """Return the released rows that cover each row of the file in some columns."""
        join, codes = _join(self._release, self._file, names)
        of_row, first = numbered(codes.T + 1, len(codes))
        cover = np.empty(len(first), dtype=np.int64)
        lists: list[IntArray] = []
        numbers: dict[bytes, int] = {}
        for rows, pairs in join.blocks(codes[first]):
            ends = np.searchsorted(pairs.original, np.arange(len(rows) + 1)).tolist()
            for row, (low, high) in zip(rows.tolist(), pairwise(ends), strict=True):
                own = pairs.published[low:high]
                cover[row] = numbers.setdefault(own.tobytes(), len(numbers))
                if len(numbers) > len(lists):
                    lists.append(own)
        starts = np.cumsum([0, *map(len, lists)])
        return _Sets(cover[of_row], starts, np.concatenate([*lists, np.zeros(0, dtype=np.int64)]))

    def _persons_of(self, covers: _Sets) -> _Sets:
        """Return the persons who have a record in each set of released rows."""
        sizes, persons = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for low, high in self._pieces(covers, 1):
            rows = covers.members[covers.starts[low] : covers.starts[high]]
            place, of_pair = spans(self._starts[rows], np.diff(self._starts)[rows])
            of_set = np.repeat(np.arange(high - low), covers.sizes[low:high])
            keys = np.unique(of_set[of_pair] * self._number + self._persons[place])
            sizes.append(np.bincount(keys // self._number, minlength=high - low))
            persons.append(keys % self._number)
        starts = np.append(0, np.cumsum(np.concatenate(sizes)))
        return _Sets(covers.of_row, starts, np.concatenate(persons))

    def _with_values(
        self, of_set: IntArray, rows: IntArray, codes: IntArray, shape: tuple[int, int]
    ) -> IntArray:
        """Return the persons with each sensitive value in sets of released rows, shape (sets, values), int64.

        Parameters
        ----------
        of_set, rows: set and released row of each member, shape (members,), int64.
        codes: sensitive value of each released row.
        """
        place, of_pair = spans(self._starts[rows], np.diff(self._starts)[rows])
        cells = of_set[of_pair] * shape[1] + codes[rows[of_pair]]
        keys = np.unique(cells * self._number + self._persons[place])
        return np.bincount(keys // self._number, minlength=shape[0] * shape[1]).reshape(shape)

    def _pieces(self, covers: _Sets, least: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of sets whose persons fit in memory.

        Parameters
        ----------
        least: entries of each set besides its pairs with persons.
        """
        before = np.append(0, np.cumsum(np.diff(self._starts)[covers.members]))
        pairs = before[covers.starts[1:]] - before[covers.starts[:-1]] + least
        piece = np.cumsum(pairs) // _PAIRS
        bounds = [*np.flatnonzero(np.diff(piece, prepend=-1)).tolist(), len(pairs)]
        yield from pairwise(bounds)
