"""Small originals and releases with known coverage of every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from anonymizer.model.adversary import AdversaryView
from anonymizer.utility.base import UTILITY_MEASURES, Comparison, UtilityFinding
from anonymizer.utility.comparison import comparison_of
from tests.attacks.scenes import scene
from tests.twins.utility import Cell, exact

NAMES = ("age", "town", "illness")
AGES = (20, 30, 41, 57)
TOWNS = ("A", "B", "C")
ILLS = ("flu", "gout")


@dataclass(frozen=True)
class Case:
    """Original rows, and for each the published texts; None for a removed record."""

    rows: list[tuple[Any, ...]]
    became: list[tuple[str, ...] | None]

    @property
    def scene(self) -> AdversaryView:
        """What the package has of it."""
        return scene(NAMES, self.rows, self.became, ["illness"])

    @property
    def comparison(self) -> Comparison:
        """What the measures compare."""
        return comparison_of(self.scene)

    @property
    def original(self) -> list[list[Cell]]:
        """The rows as cells."""
        return exact(self.rows)

    @property
    def published(self) -> list[list[Cell]]:
        """The coverage of each released row."""
        return [
            [self._stands_for(position, text) for position, text in enumerate(row)]
            for row in self.became
            if row
        ]

    def _stands_for(self, position: int, text: str) -> Cell:
        domain = sorted({row[position] for row in self.rows})
        if text == "*":
            return domain
        if text.startswith("{"):
            members = text[1:-1].split(", ")
            return [value for value in domain if str(value) in members]
        if text.startswith("["):
            low, high = (float(end) for end in text[1:-1].split(", "))
            return [value for value in domain if low <= value <= high]
        return [value for value in domain if str(value) == text]


def _age(draw: st.DrawFn, age: int) -> str:
    low = draw(st.sampled_from([each for each in AGES if each <= age]))
    high = draw(st.sampled_from([each for each in AGES if each >= age]))
    return draw(st.sampled_from([str(age), f"[{low}, {high}]", "*"]))


def _town(draw: st.DrawFn, town: str) -> str:
    others = draw(st.sets(st.sampled_from(TOWNS)))
    return draw(st.sampled_from([town, "{" + ", ".join(sorted({town, *others})) + "}", "*"]))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw originals, some of them removed, and cells that cover their values and others."""
    row = st.tuples(st.sampled_from(AGES), st.sampled_from(TOWNS), st.sampled_from(ILLS))
    rows = draw(st.lists(row, min_size=2, max_size=12))
    became: list[tuple[str, ...] | None] = []
    for own in rows:
        gone = draw(st.integers(0, 5)) == 0
        became.append(None if gone else (_age(draw, own[0]), _town(draw, own[1]), own[2]))
    if not any(became):
        became[0] = (str(rows[0][0]), rows[0][1], rows[0][2])
    return Case(rows, became)


def identity(rows: Sequence[tuple[Any, ...]]) -> Case:
    """Return originals that are released as they are."""
    return Case(list(rows), [tuple(str(cell) for cell in row) for row in rows])


def kept_suppressed(rows: Sequence[tuple[Any, ...]]) -> Case:
    """Return originals with a release of the sensitive values only."""
    return Case(list(rows), [("*", "*", str(row[2])) for row in rows])


def random_rows(number: int, seed: int) -> list[tuple[Any, ...]]:
    """Return records in which the attributes depend on each other."""
    random = np.random.default_rng(seed)
    age = random.integers(4, size=number)
    town = np.where(random.random(number) < 0.5, age % 3, random.integers(3, size=number))
    ill = np.where(random.random(number) < 0.8, town > 0, random.random(number) < 0.4).astype(int)
    return [(AGES[a], TOWNS[b], ILLS[c]) for a, b, c in zip(age, town, ill, strict=True)]


def taken(name: str, comparison: Comparison, seed: int = 0, **parameters: Any) -> UtilityFinding:
    """Return the one thing that a measure finds."""
    plug_in = UTILITY_MEASURES[name]
    measure = plug_in(plug_in.Settings.model_validate(parameters))
    assert measure.missing_requirement(comparison) is None
    (found,) = measure.measure(comparison, np.random.default_rng(seed))
    return found
