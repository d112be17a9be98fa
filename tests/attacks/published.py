"""Releases for the attacks, from rows as in a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from anonymizer.attacks.base import ATTACKS, Attack, AttackResult
from anonymizer.config.plugin_sections import parse_settings
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView, PublishedTable
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.table import SensitiveAttribute
from tests.helpers.build import column, hierarchy
from tests.helpers.examples import share
from tests.twins.microdata import Path

Rows = Sequence[Sequence[str | None]]

FEWER = share(3)
"""Property tests of attacks build whole scenes for each example."""


def release(
    names: Sequence[str],
    rows: Rows,
    sensitive: Sequence[str] = (),
    trees: Mapping[str, Mapping[str, Path]] | None = None,
    weights: Sequence[float] | None = None,
    *,
    numeric: bool = False,
) -> PublishedTable:
    """Return what a recipient counts; the sensitive columns come last, of whole numbers if ``numeric``."""
    width = len(names) - len(sensitive)
    distinct = sorted({tuple(row) for row in rows}, key=lambda row: [(cell is None, cell) for cell in row])
    numbers = Counter(tuple(row) for row in rows)
    labels, codes = [], []
    for position in range(width):
        texts = sorted({row[position] for row in rows})
        labels.append(tuple(texts))
        codes.append([texts.index(row[position]) for row in distinct])
    secret = {}
    for position, name in enumerate(sensitive, start=width):
        own, own_codes = column(name, [row[position] for row in distinct], numeric=numeric)
        secret[name] = SensitiveCodes(_sensitive(own, (trees or {}).get(name)), own_codes.astype(np.int64))
    sums = {}
    if weights is not None:
        pairs = list(zip(rows, weights, strict=True))
        sums["w"] = np.array([sum(weight for row, weight in pairs if tuple(row) == own) for own in distinct])
    return PublishedTable(
        "release.csv",
        tuple(names[:width]),
        tuple(labels),
        np.array(codes, dtype=np.int32).T.reshape(len(distinct), width),
        secret,
        np.array([numbers[row] for row in distinct], dtype=np.int64),
        sums,
    )


def _sensitive(own: Any, paths: Mapping[str, Path] | None) -> SensitiveAttribute:
    if paths is None:
        return SensitiveAttribute(own)
    tree, leaf = hierarchy(dict(paths), own.name)
    return SensitiveAttribute(own, tree, np.array([leaf[text] for text in own.texts], dtype=np.int32))


def attack(name: str, **parameters: Any) -> Attack:
    """Return an attack with parameters as in a config."""
    plug_in = ATTACKS[name]
    return plug_in(plug_in.Settings.model_validate(parameters))


def refused(name: str, scene: AdversaryView, **parameters: Any) -> str:
    """Return the message about a view that an attack does not apply to."""
    with pytest.raises(InputError) as error:
        attack(name, **parameters).run(scene, np.random.default_rng(0))
    return str(error.value)


def invalid(name: str, parameters: Mapping[str, Any]) -> str:
    """Return the message of a config about parameters of an attack."""
    with pytest.raises(ValidationError) as error:
        parse_settings(ATTACKS[name], parameters)
    return str(error.value.errors()[0]["msg"])


def run(
    name: str, scene: PublishedTable | AdversaryView, seed: int = 0, **parameters: Any
) -> Sequence[AttackResult]:
    """Return what an attack finds."""
    own = scene if isinstance(scene, AdversaryView) else AdversaryView(scene)
    return attack(name, **parameters).run(own, np.random.default_rng(seed))


def one(name: str, scene: PublishedTable | AdversaryView, seed: int = 0, **parameters: Any) -> AttackResult:
    """Return the only thing that an attack finds."""
    (found,) = run(name, scene, seed, **parameters)
    return found
