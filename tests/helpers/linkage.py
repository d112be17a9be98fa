"""Releases as files, written without the product, and their scenes."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.adversary.files import adversary_from_files
from anonymizer.attacks.base import AttackResult
from anonymizer.attacks.linkage.attack import Linkage
from anonymizer.config.load import load_config
from anonymizer.config.model import Config
from anonymizer.data.open import open_frame
from anonymizer.job.source import open_as, open_release
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.table import QuasiIdentifier
from anonymizer.plan.plan import plan_of
from tests.helpers import build
from tests.helpers.recodings import Node
from tests.twins.microdata import Microdata, Value

Rows = list[tuple[str, ...]]

EVERY = (
    {"distance": "euclidean"},
    {"distance": "mahalanobis"},
    {"distance": "rank"},
    {"distance": "choquet"},
    {"linkage": "assignment", "distance": "rank"},
    {"linkage": "probabilistic"},
    {"linkage": "learned"},
    {"linkage": "learned", "distance": "owa"},
    {"linkage": "learned", "distance": "bilinear", "metric": True},
)
"""Parameters of every way to link masked numbers."""

UNLEARNED = [each for each in EVERY if each.get("linkage") != "learned"]
"""Those that see no truth, so that they have no skill where there is none."""


def write(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([head, *rows])
    return path


def scene(config: Config, release: Path, original: Path) -> AdversaryView:
    """Return the scene of two files."""
    with open_release(release) as published, open_as(config, original) as own:
        return adversary_from_files(plan_of(config), published, own)


def linkage(given: AdversaryView, seed: int = 0, **parameters: Any) -> AttackResult:
    """Return what the attack finds."""
    attack = Linkage(Linkage.Settings.model_validate(parameters))
    (found,) = attack.run(given, np.random.default_rng(seed))
    return found


def text(cell: Value) -> str:
    """Return how a cell stands in a file of originals."""
    return "" if cell is None else str(cell)


def original_rows(data: Microdata) -> Rows:
    """Return the records as they stand in a file."""
    return [tuple(text(cell) for cell in record) for record in data.records]


def released_rows(node: Node) -> list[tuple[str, ...] | None]:
    """Return what each record is published as; None for a removed one."""
    rows: list[tuple[str, ...] | None] = []
    for number, record in enumerate(node.data.records):
        own = node.data.quasi_identifiers
        secret = tuple("<missing>" if cell is None else str(cell) for cell in record[len(own) :])
        if number in node.suppressed:
            rows.append((*("*" for _ in own), *secret) if node.kept_suppressed else None)
            continue
        published = (
            spec.paths[cell][level] for spec, cell, level in zip(own, record, node.levels, strict=False)
        )
        rows.append((*published, *secret))
    return rows


def config_of(data: Microdata, folder: Path) -> Config:
    """Return a config of a table, its hierarchies in files of the folder."""
    attributes: dict[str, Mapping[str, Any]] = {}
    for spec in data.quasi_identifiers:
        kind = {"role": "quasi-identifier", "type": "integer" if spec.numeric else "text"}
        attributes[spec.name] = kind
        if spec.height:
            path = folder / f"{spec.name}.csv"
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, delimiter=";").writerows(spec.paths.values())
            attributes[spec.name] = {**kind, "hierarchy": {"file": str(path)}}
    for secret in data.sensitive:
        attributes[secret.name] = {"role": "sensitive", "type": "integer" if secret.numeric else "text"}
    constraints = [{"model": "k-anonymity", "k": 1}]
    return load_config(
        {"input": {"path": "original.csv"}, "attributes": attributes, "constraints": constraints}
    )


def names_of(data: Microdata) -> list[str]:
    """Return the names of all columns."""
    return [spec.name for spec in (*data.quasi_identifiers, *data.sensitive)]


def frame_scene(original: pd.DataFrame, release: pd.DataFrame) -> AdversaryView:
    """Return the scene of two tables of quasi-identifiers."""
    attributes = {
        name: {"role": "quasi-identifier"} for name in {**dict.fromkeys(original), **dict.fromkeys(release)}
    }
    config = load_config(
        {
            "input": {"path": "x.csv"},
            "attributes": attributes,
            "constraints": [{"model": "k-anonymity", "k": 1}],
        }
    )
    with open_frame(original) as own, open_frame(release) as published:
        return adversary_from_files(plan_of(config), published, own)


def noisy(seed: int, records: int = 60, noise: float = 3.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return random numbers, and the same with noise."""
    random = np.random.default_rng(seed)
    original = pd.DataFrame({name: random.normal(0, 10, records).round(2) for name in ("a", "b", "c")})
    return original, (original + random.normal(0, noise, original.shape)).round(2)


TREE = {"a": ("a", "ab", "*"), "b": ("b", "ab", "*"), "c": ("c", "cd", "*"), "d": ("d", "cd", "*")}
"""A hierarchy: the labels of each value up to the root."""


def attribute(values: list, paths: dict | None = None) -> QuasiIdentifier:
    """Return a quasi-identifier of one record for each value."""
    numeric = any(isinstance(value, int) for value in values)
    own, _ = build.column("q", values, numeric=numeric)
    texts = ["<missing>" if value is None else str(value) for value in values]
    paths = paths or {value: (text, "*") for value, text in zip(values, texts, strict=True)}
    tree, leaf = build.hierarchy(paths, "q")
    order = sorted(value for value in values if value is not None) + [None] * (None in values)
    return QuasiIdentifier(own, tree, np.array([leaf[value] for value in order], dtype=np.int32))
