"""The three questions of European law: singling out, linkability and inference, with people held out.

The same attack is made on the people of the release and on others of the same population, whose records the
release was not made of. What succeeds on these follows from the population, not from being in the release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anonymizer.attacks.adversary_view import CoveringJoin, codes_in
from anonymizer.attacks.base import clopper_pearson, known_columns
from anonymizer.errors import InputError, listed, plural
from anonymizer.model.adversary import Original, PublishedTable
from anonymizer.model.arrays import FloatArray, IntArray, count

SURE = 0.975
"""Confidence of each share, so that both hold together with 95 %."""


@dataclass(frozen=True)
class Answer:
    """The answer to one of the questions.

    Attributes
    ----------
    question: ``singling-out``, ``linkability`` or ``inference``.
    knowledge: the columns that the adversary knows, and the one that is inferred.
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
        own: tuple[FloatArray, IntArray],
        others: tuple[FloatArray, IntArray],
    ) -> Answer:
        """Return an answer from the probability of success on each distinct row and its records, of both."""
        right, wrong = (float(chance @ counts) for chance, counts in (own, others))
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
        what = {
            "singling-out": "finds exactly one matching record for",
            "linkability": f"finds the same record by {halves[0]} alone and by {halves[1]} alone for",
            "inference": f"guesses {self.knowledge.get('sensitive')} correctly for",
        }[self.question]
        named = self.question.capitalize().replace("-", " ")
        who = f"{named}, {self.scenario}" if self.scenario else named
        risk = f"{100 * self.risk:.3g} % ({100 * self.low:.3g} % to {100 * self.high:.3g} %)"
        return (
            f"{who}: an adversary who knows {known} {what} {own} of the records of the release and for "
            f"{others} of {plural(self.held_out, 'held-out record')}; {risk} is due to being in the release."
        )

    def entry(self) -> dict[str, Any]:
        """Return the answer in plain types, with its sentence."""
        return {
            **{name: getattr(self, name) for name in self.__dataclass_fields__},
            "sentence": self.sentence,
        }


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
    does, is the true one; a tie of n counts 1/n.

    Source: Article 29 Working Party, Opinion 05/2014 (WP216), section 2.2, for the questions; Giomi,
    Boenisch, Wehmeyer, Tasnádi, "A unified framework for quantifying privacy risk in synthetic data" (PoPETs
    2023, doi:10.56553/popets-2023-0055), section 4, for the control and the risk.

    Parameters
    ----------
    original: records of the release, with their links; those that were not released are no targets.
    control: records of other people, whose links have no meaning.
    known: columns that the adversary knows; None for all of both files.

    Raises
    ------
    InputError: a column is not in both files, no record of the original is in the release, or the held-out
        records are none.
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
    own, others = _Covered(release, original, names), _Covered(release, control, names)
    knowledge: dict[str, Any] = {"attributes": list(names)}

    def answer(question: str, further: Mapping[str, Any], chances: Iterator[FloatArray]) -> Answer:
        first, second = chances
        return Answer.of(question, {**knowledge, **further}, (first, targets), (second, control.counts))

    both = (own, others)
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


class _Covered:
    """The released records that cover what is known of each distinct row of a file.

    Parameters
    ----------
    names: of the known columns.
    """

    def __init__(self, release: PublishedTable, file: Original, names: Sequence[str]) -> None:
        self._release, self._file, self._names = release, file, names

    def singled_out(self) -> FloatArray:
        """Return 1 for each row that exactly one released record covers, else 0, shape (rows,)."""
        alone: FloatArray = (self._sizes(self._names) == 1).astype(np.float64)
        return alone

    def linked(self, first: Sequence[str], second: Sequence[str]) -> FloatArray:
        """Return the probability that records drawn by both halves are the same, shape (rows,)."""
        draws = self._sizes(first) * self._sizes(second)
        return np.where(draws > 0, self._sizes(self._names) / np.maximum(draws, 1), 0.0)

    def guessed(self, name: str) -> FloatArray:
        """Return the probability that the sensitive value of each row is guessed, shape (rows,)."""
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
        return found

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
        file, release = self._file, self._release
        places = [file.names.index(name) for name in names]
        published = release.codes[:, [release.names.index(name) for name in names]].astype(np.int64)
        join = CoveringJoin([file.meanings[place] for place in places], published)
        for rows, pairs in join.blocks(file.codes[:, places].astype(np.int64)):
            yield rows, pairs.original, values[pairs.published], release.counts[pairs.published]
