"""Random count queries: how many records have one of these values here, one of those there?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from anonymizer.model.arrays import BoolArray
from anonymizer.model.table import Column
from anonymizer.utility.estimate import Query


@dataclass(frozen=True)
class QueryShape:
    """What the queries look like.

    Attributes
    ----------
    dimensions: quasi-identifiers in a query, at most; a sensitive attribute comes on top.
    selectivity: share of the records that satisfy a query, were all values as frequent and independent.
    """

    dimensions: int
    selectivity: float


def random_query(
    columns: Mapping[str, Column],
    names: tuple[Sequence[str], Sequence[str]],
    shape: QueryShape,
    random: np.random.Generator,
) -> Query:
    """Return one query: some quasi-identifiers, all sets of them as likely, and one sensitive attribute.

    Of each attribute, as many of its values satisfy as give the selectivity: consecutive ones of numbers and
    dates, any of a text.

    Source: Xiao, Tao, "Anatomy: simple and effective privacy preservation" (VLDB 2006), section 6.2, where
    the values of ordered attributes are drawn one by one too.

    Parameters
    ----------
    columns: the original values of each attribute.
    names: of the quasi-identifiers and of the sensitive attributes; either may be empty, not both.
    """
    quasi_identifiers, sensitive = names
    number = min(shape.dimensions, len(quasi_identifiers))
    chosen = [quasi_identifiers[own] for own in sorted(random.permutation(len(quasi_identifiers))[:number])]
    if sensitive:
        chosen.append(sensitive[int(random.integers(len(sensitive)))])
    share = shape.selectivity ** (1 / len(chosen))
    return Query({name: _condition(columns[name], share, random) for name in chosen})


def _condition(column: Column, share: float, random: np.random.Generator) -> BoolArray:
    wanted: BoolArray = np.zeros(column.size, dtype=bool)
    present = len(column.present)
    if column.type.ordered and present:
        number = max(1, ceil(present * share))
        start = int(random.integers(present - number + 1))
        wanted[start : start + number] = True
    else:
        wanted[random.permutation(column.size)[: max(1, ceil(column.size * share))]] = True
    return wanted
