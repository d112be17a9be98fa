"""Columns of sampling weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.errors import DataError, InputError, suggestion
from anonymizer.model.arrays import FloatArray
from anonymizer.model.table import POINT, Numerals


def weight_columns(config: Config) -> list[str]:
    """Return the columns of sampling weights that attacks of a config name."""
    named = (getattr(each.settings, "weights", None) for each in config.attacks)
    return sorted({name for name in named if name is not None})


def check_weight_columns(relation: Relation, names: Sequence[str]) -> None:
    """Refuse weights that a file has not.

    Raises
    ------
    InputError: naming the column.
    """
    for name in names:
        if name not in relation.columns:
            what = f"{relation.name}: has no column of weights '{name}'"
            raise InputError(f"{what}; {suggestion(name, relation.columns)}")


def weights_of(source: str, name: str, texts: Sequence[str | None], numerals: Numerals = POINT) -> FloatArray:
    """Return the weights that texts stand for, shape (texts,).

    Raises
    ------
    DataError: one is not a positive number.
    """
    found = (None if text is None else numerals.number(text) for text in texts)
    weights = np.array([np.nan if each is None else each for each in found], dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        text = texts[int(wrong[0])]
        raise DataError(f"{source}: column '{name}' holds {text!r}; a weight must be a positive number")
    return weights
