"""The distinct rows of a release, counted by the engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.config.search import EngineName
from anonymizer.data.relation import Coding, Groups, Relation
from anonymizer.errors import InputError
from anonymizer.flow.counting import EngineChoice


def published_rows(
    engine: EngineChoice, relation: Relation, names: Sequence[str], most: int | None = None
) -> Groups:
    """Return the distinct rows of some columns of a release with their records.

    Parameters
    ----------
    engine: that counts; any but memory fetches the distinct rows alone.
    most: rows that it may fetch; None for any number.

    Raises
    ------
    InputError: they are more than fit in memory.
    """
    if engine.name == EngineName.MEMORY.value:
        return relation.group_counts(names)
    values = tuple(tuple(text for text, _ in relation.dictionary(name)) for name in names)
    codings = [
        Coding(name, np.arange(len(texts), dtype=np.int32), len(texts))
        for name, texts in zip(names, values, strict=True)
    ]
    with relation.stored_distinct_rows(codings) as found:
        if most is not None and found.number > most:
            raise InputError(
                f"engine {engine.name}: {relation.name} has {found.number:,} distinct rows, where memory has "
                f"room for {most:,}; allow more (engine.memory_limit, engine.options.combinations)"
            )
        codes, counts = found.fetch()
    return Groups(values, codes, counts)
