"""Special uniques: minimal sample uniques with SUDA2 scores, by attribute and by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import combinations
from math import prod
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import Attack, AttackResult, KnowledgeSettings, known_columns
from anonymizer.attacks.subsets import known_subsets
from anonymizer.attacks.tail import exposing_certain
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.plugins import Exact, WholeNumber

LEAST = 10
"""Fewest special uniques of a level that is named; a level of few could be a person."""


@dataclass(frozen=True, eq=False)
class SpecialUniques:
    """The minimal sample uniques of a table.

    Attributes
    ----------
    scores: SUDA2 score of each row, 0 without a minimal sample unique, shape (rows,), float64.
    of_attributes: part of the score from those with each attribute, shape (attributes, rows), float64.
    by_size: number of minimal sample uniques of each size, from 1 on.
    """

    scores: FloatArray
    of_attributes: FloatArray
    by_size: list[int]

    @property
    def rows(self) -> IntArray:
        """The special uniques: rows with a minimal sample unique; each is one record."""
        return np.flatnonzero(self.scores > 0)


def special_uniques(release: PublishedTable, names: Sequence[str], most: int) -> SpecialUniques:
    """Return the minimal sample uniques of at most so many attributes.

    A set of values is one if a single record has it, and several have each of its proper subsets. With A
    attributes and sets of at most M, one of size k adds (A - k) (A - k - 1) ... (A - M) to the record's
    score: the number of orders in which others can be added, so that small sets weigh most.

    Parameters
    ----------
    names: attributes that count.
    most: largest size, M; below the number of attributes, if there are several.
    """
    rows, width = len(release.counts), len(names)
    most = min(most, max(width - 1, 1))
    unique = {
        each.names: np.sort(each.unique)
        for each in known_subsets(release, most)
        if set(each.names) <= set(names)
    }
    scores, by_size = np.zeros(rows), [0] * most
    of_attributes = np.zeros((width, rows))
    for own, alone in unique.items():
        smaller = [unique[part] for part in combinations(own, len(own) - 1) if part]
        minimal = np.setdiff1d(
            alone, reduce(np.union1d, smaller, np.zeros(0, dtype=np.int64)), assume_unique=True
        )
        score = float(max(prod(width - size for size in range(len(own), most + 1)), 1))
        by_size[len(own) - 1] += len(minimal)
        scores[minimal] += score
        for name in own:
            of_attributes[names.index(name), minimal] += score
    return SpecialUniques(scores, of_attributes, by_size)


def file_risk(sizes: IntArray, fraction: float) -> float:
    """Return the probability that a unique match between a sample record and a person is correct.

    pi U / (pi U + 2 (1 - pi) P) for U uniques and P pairs: classes of one and of two records.

    Source: Skinner, Elliot, "A measure of disclosure risk for microdata" (JRSS B 64(4), 2002).

    Parameters
    ----------
    sizes: records of each class.
    fraction: of the population that is in the sample, pi.
    """
    uniques, pairs = int((sizes == 1).sum()), int((sizes == 2).sum())
    whole = fraction * uniques + 2 * (1 - fraction) * pairs
    return fraction * uniques / whole if whole else 0.0


def record_risks(scores: FloatArray, risk: float) -> FloatArray:
    """Return the DIS scores of special uniques: c s / (1 + c s) for scores s, with the mean ``risk``.

    The odds of a correct match are proportional to the score; c makes their probabilities agree with the
    measure of the file.

    Parameters
    ----------
    scores: positive, shape (records,).
    """
    from scipy.optimize import brentq  # noqa: PLC0415  quick start-up

    if not len(scores) or risk in (0.0, 1.0):
        return np.full(len(scores), risk)

    def found(log: float) -> FloatArray:
        odds = np.exp(log) * (scores / scores.mean())
        risks: FloatArray = odds / (1 + odds)
        return risks

    log = brentq(lambda log: float(found(log).mean()) - risk, -60.0, 60.0, xtol=1e-13)
    return found(float(log))


class SpecialUniquesSettings(KnowledgeSettings):
    """The largest sets of values, and the sample."""

    size: Annotated[
        WholeNumber, Field(ge=1, description="largest number of values that single out a record")
    ] = 3
    fraction: Annotated[
        Exact, Field(gt=0, le=1, description="share of the population that is in the file, for DIS scores")
    ] = Decimal("0.01")


class SpecialUniquesAttack(Attack):
    """Share of records that few values single out, with the attributes and levels that do.

    The details have the minimal sample uniques by size, the part of each attribute in the SUDA2 scores, its
    levels with many special uniques, and the mean DIS score. No record is named.

    Source: Elliot, Manning, Mayes, Gurd, Bane, "SUDA: a program for detecting special uniques" (UNECE and
    Eurostat, Geneva 2005); Manning, Haglin, Keane, "A recursive search algorithm for statistical disclosure
    assessment" (Data Mining and Knowledge Discovery 16(2), 2008, doi:10.1007/s10618-007-0078-6).
    """

    name = "special-uniques"
    threat = None
    of_release_alone = True
    by_default = False
    Settings = SpecialUniquesSettings
    settings: SpecialUniquesSettings

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:  # noqa: ARG003 - always 0
        """Return the share of special uniques."""
        known = known_columns(knowledge)
        return f"For {success} of the records, some of {known} are already enough to single the record out."

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:  # noqa: ARG002 - it counts
        """Return the share of special uniques."""
        release, names = adversary.release, adversary.release.known(self.settings.knowledge)
        details = details_of(release, names, self.settings.size, float(self.settings.fraction))
        success = Fraction(details["special_uniques"], release.records)
        known = {"attributes": list(names)}
        return [exposing_certain(self.counted(adversary, known, success, Fraction(0), details))]


def details_of(release: PublishedTable, names: Sequence[str], most: int, fraction: float) -> dict[str, Any]:
    """Return the special uniques of a table in plain types, without records; parameters as above."""
    found, sizes = special_uniques(release, names, most), release.classes(names).sizes
    rows, risk = found.rows, file_risk(sizes, fraction)
    total = float(found.scores.sum())
    risks = record_risks(found.scores[rows], risk)
    by_attribute: dict[str, Any] = {}
    for place, name in enumerate(names):
        own, position = found.of_attributes[place], release.names.index(name)
        involved = np.flatnonzero(own > 0)
        labels, codes = release.labels[position], release.codes[involved, position].astype(np.int64)
        numbers = np.bincount(codes, minlength=len(labels))
        named = np.flatnonzero(numbers >= LEAST)
        order = named[np.argsort(-numbers[named], kind="stable")]
        by_attribute[name] = {
            "contribution": float(own.sum()) / total if total else 0.0,
            "records": len(involved),
            "by_level": {str(labels[code]): int(numbers[code]) for code in order.tolist()},
            "other_levels": int(numbers.sum() - numbers[named].sum()),
        }
    return {
        "special_uniques": len(rows),
        "minimal_sample_uniques": {size: number for size, number in enumerate(found.by_size, 1) if number},
        "file_dis": risk,
        "highest_dis": float(risks.max()) if len(rows) >= LEAST else None,
        "by_attribute": by_attribute,
    }
