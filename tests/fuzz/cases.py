"""Random runs: tables, hierarchies of every source, constraints and algorithms, and what they should mean.

Nothing here uses the package: hierarchies are built once as entries of a config and once as plain paths.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

ROOT = "*"
MISSING = "<missing>"
READY = Path(__file__).parents[2] / "hierarchies"
NAMES_OF_PEOPLE = "person{:03d}x"
"""Identifiers, which must not occur in anything that is written."""

Paths = dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Attribute:
    """A column: its cells as in the file, and what its config entry means.

    Attributes
    ----------
    cells: as in the file, one for each record.
    paths: label of each value at each level, lowest first, of every leaf of the hierarchy; None where the
        labels depend on the data, so that only their meaning is judged.
    low, high: the allowed levels.
    """

    name: str
    entry: dict[str, Any]
    kind: str
    cells: tuple[str, ...]
    paths: Paths | None = None
    low: int = 0
    high: int = 0
    weight: Fraction = Fraction(1)

    @property
    def role(self) -> str:
        return str(self.entry["role"])

    @property
    def values(self) -> list[str]:
        """Return what is published of each record at level 0."""
        return [cell if cell not in ("", "?") else MISSING for cell in self.cells]


@dataclass(frozen=True)
class Case:
    """A whole run."""

    seed: int
    attributes: tuple[Attribute, ...]
    config: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.attributes[0].cells)

    @property
    def algorithm(self) -> str:
        return str(self.config["algorithm"]["name"])

    @property
    def method(self) -> str:
        return str(self.config["suppression"]["method"])

    @property
    def limit(self) -> int:
        """Return how many records may be suppressed."""
        return int(Fraction(str(self.config["suppression"]["limit"])) * self.size)

    def of_role(self, role: str) -> list[Attribute]:
        return [each for each in self.attributes if each.role == role]

    def write(self, folder: Path) -> None:
        """Write config, data and hierarchy files."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(self.config, indent=1), encoding="utf-8")
        records = zip(*(each.cells for each in self.attributes), strict=True)
        rows = [[each.name for each in self.attributes], *records]
        for name, text in {"in.csv": csv_text(rows), **self.files}.items():
            (folder / name).write_text(text, encoding="utf-8")


def csv_text(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a CSV text."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


# ---------------------------------------------------------------------------------------------------------
# Columns


def _even_tree(random: Random, leaves: Sequence[str], prefix: str) -> tuple[Paths, Any]:
    """Return a tree in which all leaves are equally deep, as paths and as a nested mapping."""
    root = random.choice((ROOT, ROOT, f"any {prefix}"))
    if random.random() < 0.4:
        return {leaf: (leaf, root) for leaf in leaves}, {root: list(leaves)}
    cut = random.randint(1, len(leaves) - 1)
    parts = {f"{prefix}low": leaves[:cut], f"{prefix}high": leaves[cut:]}
    paths = {leaf: (leaf, group, root) for group, own in parts.items() for leaf in own}
    return paths, {root: {group: list(own) for group, own in parts.items()}}


def _uneven_file(random: Random, leaves: Sequence[str], prefix: str) -> tuple[Paths, str]:
    """Return a hierarchy file in which some branches reach the root, or stay a value, early."""
    separator = random.choice(",;")
    groups = {leaf: f"{prefix}{random.randint(0, 1)}" for leaf in leaves}
    rows = []
    for leaf in leaves:
        early = random.choice((None, None, None, leaf, ROOT))
        rows.append((leaf, early or groups[leaf], ROOT))
    text = "".join(separator.join(row) + "\n" for row in rows)
    return {row[0]: row for row in rows}, text


def _intervals(random: Random, values: Sequence[str], kind: str) -> tuple[Paths, dict[str, Any]]:
    widths = random.choice(([Fraction(5)], [Fraction(5), Fraction(10)], [Fraction(2), Fraction(8)]))
    if kind == "number":
        widths = random.choice(([Fraction(5, 2)], [Fraction(3, 2), Fraction(9, 2)]))
    origin = random.choice((0, 1))
    paths = {}
    for value in values:
        own = [value]
        for width in widths:
            low = origin + (Fraction(value) - origin) // width * width
            high = low + width
            if kind == "integer":
                own.append(f"{low} to {high - 1}" if low < 0 else f"{low}-{high - 1}")
            else:
                own.append(f"[{_short(low)}, {_short(high)})")
        paths[value] = (*own, ROOT)
    entry = {"width": [_plain(each) for each in widths]}
    return paths, {"intervals": entry | ({"origin": origin} if origin else {})}


def _short(number: Fraction) -> str:
    return str(number) if number.denominator == 1 else str(float(number))


def _plain(number: Fraction) -> int | float:
    return int(number) if number.denominator == 1 else float(number)


def _mask(random: Random, values: Sequence[str]) -> tuple[Paths, dict[str, Any]]:
    left = random.random() < 0.4
    length = max((len(value) for value in values), default=1)
    steps = random.choice((None, [1], [2], [1, 3]))
    shown = [step for step in steps or range(1, length) if step < length]
    paths = {}
    for value in values:
        padded = value.rjust(length, ROOT) if left else value.ljust(length, ROOT)
        masked = [
            ROOT * step + padded[step:] if left else padded[: length - step] + ROOT * step for step in shown
        ]
        paths[value] = (value, *masked, ROOT)
    settings = {"from": "left" if left else "right"} | ({"steps": steps} if steps else {})
    return paths, {"mask": settings}


def _dates(random: Random, values: Sequence[str]) -> tuple[Paths, dict[str, Any]]:
    form = {
        "month": lambda day: day[:7],
        "quarter": lambda day: f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}",
        "year": lambda day: day[:4],
        "decade": lambda day: f"{day[:3]}0s",
    }
    chosen = [name for name in form if random.random() < 0.6] or ["year"]
    paths = {day: (day, *(form[name](day) for name in chosen), ROOT) for day in values}
    return paths, {"date": {"levels": chosen}}


def _order(random: Random, values: Sequence[str]) -> tuple[Paths, dict[str, Any]]:
    known = ["none", "low", "mid", "high", "top"]
    sizes = random.choice(([2], [2, 4], [3]))
    paths = {}
    for value in values:
        own = [value]
        for size in sizes:
            start = known.index(value) // size * size
            group = known[start : start + size]
            own.append(named_group(group))
        paths[value] = (*own, ROOT)
    return paths, {"order": {"sizes": sizes, "values": known}}


def _ready() -> Paths:
    """Return the paths of a shipped hierarchy."""
    lines = (READY / "blood-type.csv").read_text(encoding="utf-8").splitlines()
    return {row[0]: tuple(row) for row in csv.reader(lines)}


def named_group(group: Sequence[str]) -> str:
    """Return the label of consecutive values."""
    if len(group) == 1:
        return group[0]
    return f"{{{', '.join(group)}}}" if len(group) < 4 else f"{group[0]}..{group[-1]}"


def _column_values(random: Random, kind: str, source: str, number: int) -> list[str]:
    if kind == "integer":
        pool = [str(random.randint(0, 60)) for _ in range(random.randint(2, 7))]
    elif kind == "number":
        pool = [_short(Fraction(random.randint(0, 80), 4)) for _ in range(random.randint(2, 6))]
    elif kind == "date":
        start = date(2018, 11, 1)
        pool = [str(start + timedelta(days=random.randint(0, 900))) for _ in range(random.randint(2, 6))]
    elif source == "order":
        pool = ["none", "low", "mid", "high", "top"]
    elif source == "mask":
        pool = [str(random.randint(1, 999)) for _ in range(random.randint(2, 6))]
    elif source == "ready":
        pool = list(_ready())
    else:
        pool = list("vwxyz"[: random.randint(2, 5)])
    random.shuffle(pool)
    return [random.choice(pool) for _ in range(number)]


SOURCES = {
    "text": ("none", "tree", "file", "mask", "order", "auto", "ready"),
    "integer": ("none", "intervals", "auto"),
    "number": ("none", "intervals"),
    "date": ("none", "date"),
}


def _quasi_identifier(
    random: Random, name: str, number: int, files: dict[str, str], *, numbers: bool, plain: bool
) -> Attribute:
    kinds = ("integer", "number") if numbers else ("text", "text", "text", "integer", "number", "date")
    kind = random.choice(kinds)
    source = "none" if numbers else random.choice(SOURCES[kind])
    if plain and source in ("auto", "file"):
        source = "none"
    cells = _column_values(random, kind, source, number)
    if not numbers and random.random() < 0.25:
        cells = [cell if random.random() < 0.8 else random.choice(("", "?")) for cell in cells]
    values = sorted({cell for cell in cells if cell not in ("", "?")})
    if not values:
        cells, values = ["1"] * number, ["1"]
        kind, source = ("integer", "none") if kind != "text" else ("text", "none")
        cells = ["2021-01-01"] * number if kind == "date" else cells
        values = cells[:1]
    entry: dict[str, Any] = {"role": "quasi-identifier", "type": kind}
    paths: Paths | None
    paths = {value: (value, ROOT) for value in values}
    if source == "tree":
        paths, tree = _even_tree(random, list("uvwxyz"), name)
        entry["hierarchy"] = {"tree": tree}
    elif source == "file":
        paths, files[f"{name}.csv"] = _uneven_file(random, list("uvwxyz"), name)
        entry["hierarchy"] = {"file": f"{name}.csv"}
    elif source == "intervals":
        paths, entry["hierarchy"] = _intervals(random, values, kind)
    elif source == "mask":
        paths, entry["hierarchy"] = _mask(random, values)
    elif source == "date":
        paths, entry["hierarchy"] = _dates(random, values)
    elif source == "order":
        paths, entry["hierarchy"] = _order(random, values)
    elif source == "ready":
        paths, entry["hierarchy"] = _ready(), {"ready": "blood-type"}
    elif source == "auto":
        paths = None
        entry["hierarchy"] = {"auto": {"levels": 2} | ({} if kind == "text" else {"rare": 2})}
    high = 1
    if paths is not None:
        top = next(iter(paths.values()))
        high = len(top) - 1
        if any(cell in ("", "?") for cell in cells):
            paths = {**paths, MISSING: (*[MISSING] * high, top[-1])}
    low = 0
    weight = random.choice((Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2)))
    if weight != 1:
        entry["weight"] = _plain(weight)
    if paths is not None and random.random() < 0.15:
        low, high = sorted((random.randint(0, high), random.randint(0, high)))
        entry["levels"] = {"min": low, "max": high}
    return Attribute(name, entry, kind, tuple(cells), paths, low, high, weight)


SENSITIVE_TREE = {ROOT: {"P": {"P1": ["p", "q"], "P2": ["r"]}, "Q": {"Q1": ["s", "t"]}}}


def sensitive_paths() -> Paths:
    """Return the paths of the tree of sensitive values."""
    [(root, groups)] = SENSITIVE_TREE.items()
    return {
        leaf: (leaf, low, high, root)
        for high, parts in groups.items()
        for low, leaves in parts.items()
        for leaf in leaves
    }


def _sensitive(random: Random, name: str, number: int, *, missing: bool) -> Attribute:
    kind = random.choice(("text", "text", "integer"))
    pool = list("pqrst") if kind == "text" else ["1", "2", "4", "10", "30"]
    pool = pool[: random.randint(2, 5)]
    cells = [random.choice(pool) for _ in range(number)]
    if missing:
        cells = [cell if random.random() < 0.8 else "" for cell in cells]
    if not any(cells):
        cells[0] = pool[0]
    entry: dict[str, Any] = {"role": "sensitive", "type": kind}
    paths = None
    if kind == "text" and random.random() < 0.4:
        paths = sensitive_paths()
        entry |= {"hierarchy": {"tree": SENSITIVE_TREE}, "distance": "hierarchical"}
    elif random.random() < 0.3:
        entry["distance"] = random.choice(("equal", "ordered"))
    return Attribute(name, entry, kind, tuple(cells), paths)


# ---------------------------------------------------------------------------------------------------------
# Constraints


def _model(random: Random, sensitive: Sequence[Attribute]) -> dict[str, Any]:
    name = random.choice(
        (
            "alpha-k-anonymity",
            "p-sensitive-k-anonymity",
            "l-diversity",
            "l-diversity",
            "entropy-l-diversity",
            "recursive-cl-diversity",
            "t-closeness",
            "basic-beta-likeness",
            "enhanced-beta-likeness",
            "delta-disclosure",
            "vulnerability",
        )
    )
    own: dict[str, Any] = {"model": name}
    if name == "vulnerability":
        target = random.choice(("re-identification", "attribute-inference"))
        own |= {"max": random.choice((0.3, 0.5, 0.6, 0.8)), "target": target}
        return own
    own |= {
        "alpha-k-anonymity": {"alpha": random.choice((0.5, 0.6, 0.75, 0.9)), "k": random.randint(1, 3)},
        "p-sensitive-k-anonymity": {"p": 2, "k": random.randint(2, 4)},
        "l-diversity": {"l": random.choice((2, 2, 3))},
        "entropy-l-diversity": {"l": random.choice((1.5, 2, 2, 2.5))},
        "recursive-cl-diversity": {"c": random.choice((0.5, 1, 2, 3)), "l": random.choice((2, 2, 3))},
        "t-closeness": {"t": random.choice((0.1, 0.2, 0.25, 0.3, 0.5))},
        "basic-beta-likeness": {"beta": random.choice((0.5, 1, 2))},
        "enhanced-beta-likeness": {"beta": random.choice((0.5, 1, 2))},
        "delta-disclosure": {
            "delta": random.choice((0.5, 1, 1.5)),
            "absent": random.choice(("violates", "ignored")),
        },
    }[name]
    if name == "t-closeness" and random.random() < 0.3:
        own["distance"] = random.choice(("equal", "ordered"))
    if random.random() < 0.6 or len(sensitive) == 1:
        own["attribute"] = random.choice(sensitive).name
    if len(sensitive) > 1 and random.random() < 0.25:
        own["quasi_identifiers"] = "combined"
    if name in ("l-diversity", "p-sensitive-k-anonymity") and random.random() < 0.2:
        own["missing_sensitive"] = "value"
    return own


def _algorithm(random: Random) -> dict[str, Any]:
    name = random.choices(
        ("lattice", "mondrian", "local", "microaggregation", "anatomy", "auto"), (10, 4, 4, 3, 3, 1)
    )[0]
    if name == "mondrian":
        labels = random.choice(("hierarchy", "interval", "set"))
        return {"name": name, "mode": random.choice(("strict", "relaxed")), "labels": labels}
    if name == "microaggregation":
        own = {
            "name": name,
            "aggregate": random.choice(("mean", "median")),
            "variable": random.random() < 0.4,
        }
        return own | ({"k": random.randint(2, 4)} if random.random() < 0.5 else {})
    if name == "anatomy":
        return {"name": name, "grouping": random.choice(("random", "largest", "similar"))}
    return {"name": name}


def draw_case(seed: int) -> Case:
    """Return the run of a seed."""
    random = Random(seed)
    algorithm = _algorithm(random)
    name = algorithm["name"]
    methods = {"lattice": ("classes", "classes", "records", "cells"), "auto": ("classes", "cells")}
    method = random.choice(methods.get(name, ("classes",)))
    tiny = (name == "lattice" and method != "classes") or name == "local" or random.random() < 0.2
    number = random.randint(2, 6) if tiny and random.random() < 0.8 else random.randint(2, 40)
    files: dict[str, str] = {}
    most = 2 if tiny and number < 8 else 3
    attributes = [
        _quasi_identifier(
            random, letter, number, files, numbers=name == "microaggregation", plain=name == "anatomy"
        )
        for letter in "abc"[: random.randint(1, most)]
    ]
    two = name != "anatomy" and random.random() < 0.3
    missing = random.random() < 0.2
    sensitive = [
        _sensitive(random, letter, number, missing=missing) for letter in ("s", "t")[: 2 if two else 1]
    ]
    attributes += sensitive
    if random.random() < 0.2:
        cells = tuple(random.choice(("note, 1", 'a "b"', "", "=x")) for _ in range(number))
        attributes.append(Attribute("note", {"role": "insensitive"}, "text", cells))
    if random.random() < 0.3:
        cells = tuple(NAMES_OF_PEOPLE.format(i) for i in range(number))
        attributes.append(Attribute("who", {"role": "identifier"}, "text", cells))
    random.shuffle(attributes)
    return Case(seed, tuple(attributes), _config(random, attributes, sensitive, algorithm, method), files)


def _config(
    random: Random,
    attributes: Sequence[Attribute],
    sensitive: Sequence[Attribute],
    algorithm: dict[str, Any],
    method: str,
) -> dict[str, Any]:
    constraints: list[dict[str, Any]] = [{"model": "k-anonymity", "k": random.choice((1, 2, 2, 2, 3, 3, 4))}]
    if algorithm["name"] == "anatomy":
        constraints = [{"model": "l-diversity", "l": random.choice((2, 2, 3)), "attribute": "s"}]
    constraints += [_model(random, sensitive) for _ in range(random.choice((0, 1, 1, 2)))]
    metrics = ["loss"] * 6 + ["ncp", "precision", "discernibility", "average-class-size"]
    if algorithm["name"] in ("lattice", "auto") and method == "classes":
        metrics += ["height", "nonuniform-entropy"]
    objective = {"metric": random.choice(metrics)}
    if algorithm["name"] == "anatomy" or algorithm.get("labels") in ("set", "interval"):
        objective = {"metric": "loss"}
    if objective["metric"] in ("loss", "ncp", "precision") and random.random() < 0.15:
        objective["aggregate"] = random.choice(("geometric-mean", "maximum"))
    suppression = {"limit": random.choice((0, 0, 0.1, 0.25, 0.4)), "method": method}
    if random.random() < 0.25:
        suppression["keep_rows"] = True
    config = {
        "input": {"path": "in.csv", "separator": ",", "missing": ["", "?"]},
        "attributes": {each.name: each.entry for each in attributes},
        "constraints": constraints,
        "reference": random.choice(("release", "input")),
        "suppression": suppression,
        "algorithm": algorithm,
        "objective": objective,
        "seed": random.randint(100_000, 999_999),
        "output": {"path": "release.csv", "order": random.choice(("sorted", "sorted", "shuffled"))},
    }
    if algorithm["name"] == "local":
        config["budget"] = {"steps": 200}
    if random.random() < 0.2:
        config["engine"] = {"name": "duckdb"}
    return config
