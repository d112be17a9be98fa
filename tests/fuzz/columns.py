"""Columns of random runs: values in several spellings, and hierarchies of every source.

Nothing here uses the package: hierarchies are built once as entries of a config and once as plain paths.
"""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

ROOT = "*"
MISSING = "<missing>"
READY = Path(__file__).parents[2] / "hierarchies"
NUMERIC = ("integer", "number")
CODE = "-9"
"""Stands for a missing number, in several spellings."""

Paths = dict[str, tuple[str, ...]]
Bounds = dict[str, tuple[Fraction, Fraction]]


def identity(text: str, kind: str) -> str:
    """Return the text by which a value is known, however it is spelled: the shortest number, else NFC."""
    text = unicodedata.normalize("NFC", text.strip())
    if kind not in NUMERIC:
        return text
    try:
        return short(Fraction(text))
    except ValueError:
        return text


def short(number: Fraction) -> str:
    """Return a decimal without needless digits."""
    return str(number) if number.denominator == 1 else str(float(number))


def spelled(random: Random, text: str, kind: str) -> str:
    """Return a value in another spelling, often in its own."""
    if not text or kind == "date" or random.random() < 0.6:
        return text
    longer = unicodedata.normalize("NFD", text)
    if kind in NUMERIC:
        longer = f"{text}0" if "." in text else f"{text}.0"
    return random.choice((f" {text}", f"{text} ", longer))


@dataclass(frozen=True)
class Attribute:
    """A column: its cells as in the file, and what its config entry means.

    Attributes
    ----------
    cells: as in the file but for the decimal sign, one for each record.
    paths: label of each value at each level, lowest first, of every leaf of the hierarchy; None where the
        labels depend on the data, so that only their meaning is judged.
    low, high: the allowed levels.
    known: what each cell is, however it is spelled; empty where it is missing.
    bounds: smallest and largest number of each label, as ``labels`` publishes them.
    """

    name: str
    entry: dict[str, Any]
    kind: str
    cells: tuple[str, ...]
    paths: Paths | None = None
    low: int = 0
    high: int = 0
    weight: Fraction = Fraction(1)
    known: tuple[str, ...] = ()
    bounds: Bounds | None = None

    @property
    def role(self) -> str:
        return str(self.entry["role"])

    @property
    def labels(self) -> str:
        """Return how numbers are published."""
        return str(self.entry.get("labels", "range"))

    @cached_property
    def identities(self) -> tuple[str, ...]:
        """Return the value of each record, empty where it is missing."""
        return self.known or tuple(
            "" if cell in ("", "?") else identity(cell, self.kind) for cell in self.cells
        )

    @cached_property
    def values(self) -> list[str]:
        """Return what is published of each record at level 0."""
        return [value or MISSING for value in self.identities]


Spell = Callable[[str], str]


def _even_tree(random: Random, leaves: Sequence[str], prefix: str, leaf: Spell) -> tuple[Paths, Any]:
    """Return a tree in which all leaves are equally deep, as paths and as a nested mapping."""
    root = random.choice((ROOT, ROOT, f"any {prefix}"))
    if random.random() < 0.4:
        return {own: (own, root) for own in leaves}, {root: [leaf(own) for own in leaves]}
    cut = random.randint(1, len(leaves) - 1)
    parts = {f"{prefix}low": leaves[:cut], f"{prefix}high": leaves[cut:]}
    paths = {each: (each, group, root) for group, own in parts.items() for each in own}
    return paths, {root: {group: [leaf(each) for each in own] for group, own in parts.items()}}


def _uneven_file(random: Random, leaves: Sequence[str], prefix: str, leaf: Spell) -> tuple[Paths, str]:
    """Return a hierarchy file in which some branches reach the root, or stay a value, early."""
    separator = random.choice(",;")
    rows, texts = [], []
    for each in leaves:
        group = f"{prefix}{random.randint(0, 1)}"
        rows.append((each, random.choice((None, None, None, each, ROOT)) or group, ROOT))
        texts.append(separator.join((leaf(each), *rows[-1][1:])) + "\n")
    return {row[0]: row for row in rows}, "".join(texts)


def _intervals(random: Random, values: Sequence[str], kind: str) -> tuple[Paths, Bounds, dict[str, Any]]:
    widths = random.choice(([Fraction(5)], [Fraction(5), Fraction(10)], [Fraction(2), Fraction(8)]))
    if kind == "number":
        widths = random.choice(([Fraction(5, 2)], [Fraction(3, 2), Fraction(9, 2)]))
    origin = random.choice((0, 1))
    paths = {}
    bounds = {value: (Fraction(value), Fraction(value)) for value in values}
    for value in values:
        own = [value]
        for width in widths:
            low = origin + (Fraction(value) - origin) // width * width
            high = low + width
            if kind == "integer":
                high -= 1
                own.append(f"{low} to {high}" if low < 0 else f"{low}-{high}")
            else:
                own.append(f"[{short(low)}, {short(high)})")
            bounds[own[-1]] = low, high
        paths[value] = (*own, ROOT)
    entry = {"width": [_plain(each) for each in widths]}
    return paths, bounds, {"intervals": entry | ({"origin": origin} if origin else {})}


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


def _pool(random: Random, kind: str, source: str) -> list[str]:
    """Return some values."""
    if kind == "integer":
        return [str(random.randint(0, 60)) for _ in range(random.randint(2, 7))]
    if kind == "number":
        return [short(Fraction(random.randint(0, 80), 4)) for _ in range(random.randint(2, 6))]
    if kind == "date":
        start = date(2018, 11, 1)
        return [str(start + timedelta(days=random.randint(0, 900))) for _ in range(random.randint(2, 6))]
    if source == "order":
        return ["none", "low", "mid", "high", "top"]
    if source == "mask":
        return [str(random.randint(1, 999)) for _ in range(random.randint(2, 6))]
    if source == "ready":
        return list(_ready())
    return random.choice((list("vwxyz"), ["v", "w", "Köln", "é", "z"]))[: random.randint(2, 5)]


SOURCES = {
    "text": ("none", "tree", "file", "mask", "order", "auto", "ready"),
    "integer": ("none", "intervals", "intervals", "auto", "file"),
    "number": ("none", "intervals"),
    "date": ("none", "date"),
}
UNSPELLED = ("mask", "auto", "ready")
"""Sources whose leaves are what other tests spell."""


@dataclass(frozen=True)
class Wish:
    """What a column may be.

    Attributes
    ----------
    numbers: whether it must be a number.
    plain: whether only simple hierarchies are possible.
    spelled: whether values and leaves have several spellings.
    labels: how intervals may be published.
    """

    numbers: bool = False
    plain: bool = False
    spelled: bool = True
    labels: tuple[str, ...] = ("range",)


def _cells(random: Random, pool: Sequence[str], number: int) -> list[str]:
    values = [random.choice(pool) for _ in range(number)]
    if random.random() < 0.25:
        values = [value if random.random() < 0.8 else "" for value in values]
    return values if any(values) else [pool[0]] * number


def missing_cell(random: Random, kind: str, *, several: bool) -> str:
    """Return a text for a missing value."""
    codes = ["", "?"]
    if several:
        codes += [CODE, f"{CODE}.0", f" {CODE}"] if kind in NUMERIC else [" ?"]
    return random.choice(codes)


def quasi_identifier(random: Random, name: str, number: int, files: dict[str, str], wish: Wish) -> Attribute:
    """Return a column of so many records, and write the file of its hierarchy."""
    kinds = NUMERIC if wish.numbers else ("text", "text", "text", "integer", "integer", "number", "date")
    kind = random.choice(kinds)
    source = "none" if wish.numbers else random.choice(SOURCES[kind])
    if wish.plain and source in ("auto", "file"):
        source = "none"
    pool = _pool(random, kind, source)
    known = _cells(random, pool, number) if not wish.numbers else [random.choice(pool) for _ in range(number)]
    several = wish.spelled and source not in UNSPELLED and kind != "date"
    cells = [
        (spelled(random, value, kind) if several else value) or missing_cell(random, kind, several=several)
        for value in known
    ]
    entry: dict[str, Any] = {"role": "quasi-identifier", "type": kind}
    values = sorted(set(known) - {""})
    paths, bounds = _hierarchy(random, name, source, values, entry, files, several=several)
    high = 1
    if paths is not None:
        top = next(iter(paths.values()))
        high = len(top) - 1
        if "" in known:
            paths = {**paths, MISSING: (*[MISSING] * high, top[-1])}
    if bounds is not None and (labels := random.choice(wish.labels)) != "range":
        entry["labels"] = labels
    low, weight = 0, random.choice((Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2)))
    if weight != 1:
        entry["weight"] = _plain(weight)
    if paths is not None and random.random() < 0.15:
        low, high = sorted((random.randint(0, high), random.randint(0, high)))
        entry["levels"] = {"min": low, "max": high}
    return Attribute(name, entry, kind, tuple(cells), paths, low, high, weight, tuple(known), bounds)


def _hierarchy(
    random: Random,
    name: str,
    source: str,
    values: Sequence[str],
    entry: dict[str, Any],
    files: dict[str, str],
    *,
    several: bool,
) -> tuple[Paths | None, Bounds | None]:
    """Write a hierarchy into the config entry of a column; return what it means."""
    kind = entry["type"]
    leaves = sorted({*values, *([] if kind in NUMERIC else "uvwxyz")})

    def leaf(value: str) -> str:
        return spelled(random, value, kind) if several else value

    if source == "tree":
        paths, tree = _even_tree(random, leaves, name, leaf)
        entry["hierarchy"] = {"tree": tree}
        return paths, None
    if source == "file":
        paths, files[f"{name}.csv"] = _uneven_file(random, leaves, name, leaf)
        entry["hierarchy"] = {"file": f"{name}.csv"}
        return paths, None
    if source == "intervals":
        paths, bounds, entry["hierarchy"] = _intervals(random, values, kind)
        return paths, bounds
    if source == "auto":
        entry["hierarchy"] = {"auto": {"levels": 2} | ({} if kind == "text" else {"rare": 2})}
        return None, None
    if source == "ready":
        entry["hierarchy"] = {"ready": "blood-type"}
        return _ready(), None
    builders = {"mask": _mask, "date": _dates, "order": _order}
    if source in builders:
        paths, entry["hierarchy"] = builders[source](random, values)
        return paths, None
    return {value: (value, ROOT) for value in values}, None


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


def sensitive(random: Random, name: str, number: int, *, missing: bool, several: bool) -> Attribute:
    """Return a sensitive column of so many records."""
    kind = random.choice(("text", "text", "integer", "number"))
    pools = {"text": "p q r s t", "integer": "1 2 4 10 30", "number": "1.5 2 4.25 9.5"}
    pool = pools[kind].split()[: random.randint(2, 5)]
    known = [random.choice(pool) for _ in range(number)]
    if missing:
        known = [value if random.random() < 0.8 else "" for value in known]
    if not any(known):
        known[0] = pool[0]
    entry: dict[str, Any] = {"role": "sensitive", "type": kind}
    paths = None
    if kind == "text" and random.random() < 0.4:
        paths = sensitive_paths()
        entry |= {"hierarchy": {"tree": SENSITIVE_TREE}, "distance": "hierarchical"}
    elif random.random() < 0.3:
        entry["distance"] = random.choice(("equal", "ordered"))
    cells = [
        (spelled(random, value, kind) if several else value) or random.choice(["", "?"] if several else [""])
        for value in known
    ]
    return Attribute(name, entry, kind, tuple(cells), paths, known=tuple(known))
