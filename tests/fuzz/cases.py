"""Random runs: tables, people, constraints, algorithms and dialects, and what they should mean.

Nothing here uses the package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from tests.fuzz.columns import CODE, NUMERIC, Attribute, Wish, quasi_identifier, sensitive, short
from tests.fuzz.dialects import Dialect, draw_dialect, draw_output, output_dialect
from tests.fuzz.people import (
    Key,
    Population,
    draw_keys,
    draw_population,
    draw_weights,
    population_table,
    units,
)

Item = TypeVar("Item")
NAMES_OF_PEOPLE = "person{:03d}x"
"""Identifiers, which must not occur in anything that is written."""
MARK = "mark"
"""A column that is released unchanged and says which record a row is."""


@dataclass(frozen=True)
class Case:
    """A whole run.

    Attributes
    ----------
    files: texts of hierarchies by the names of their files.
    keys: columns of persons and other units, as they are meant; ``attributes`` holds their spellings.
    weights: sampling weight of each record.
    tables: further tables, such as the population, by the names of their files.
    """

    seed: int
    attributes: tuple[Attribute, ...]
    config: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    keys: tuple[Key, ...] = ()
    weights: tuple[Fraction, ...] | None = None
    population: Population | None = None
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    dialect: Dialect = field(default_factory=Dialect)

    @property
    def size(self) -> int:
        return len(self.attributes[0].cells)

    @property
    def algorithm(self) -> str:
        return str(self.config["algorithm"]["name"])

    @property
    def method(self) -> str:
        return str(self.config["suppression"]["method"])

    @cached_property
    def units(self) -> dict[str, list[int]]:
        """Return the unit of each record, by the name of the unit."""
        return units(self.keys, self.size)

    @property
    def limit_unit(self) -> str:
        """Return what the limit of suppression counts."""
        return str(self.config["suppression"].get("unit", "record"))

    @property
    def limit(self) -> int:
        """Return how many records, or units, may be suppressed."""
        everyone = len(set(self.units[self.limit_unit]))
        return int(Fraction(str(self.config["suppression"]["limit"])) * everyone)

    @property
    def linked(self) -> bool:
        """Whether a pseudonym links the rows of a person."""
        return isinstance(self.config.get("input", {}).get("person"), Mapping)

    @property
    def marked(self) -> bool:
        """Whether the release says which record a row is."""
        return any(each.name == MARK for each in self.attributes)

    @property
    def repeats(self) -> bool:
        """Whether two runs give the same bytes."""
        timed = "seconds" in self.config.get("budget", {})
        return not timed and not self.linked and self.config["output"]["order"] == "sorted"

    @property
    def output(self) -> Dialect:
        """Return how the release is written."""
        return output_dialect(self.dialect, self.config["output"])

    def of_role(self, role: str) -> list[Attribute]:
        return [each for each in self.attributes if each.role == role]

    def text_of(self, attribute: Attribute, i: int) -> str:
        """Return a cell as the file of the input has it."""
        cell = attribute.cells[i]
        return self.dialect.spell(cell) if attribute.kind in NUMERIC else cell

    def write(self, folder: Path) -> None:
        """Write config, data and hierarchy files."""
        folder.mkdir(parents=True, exist_ok=True)
        config = self.config | {"input": self.config["input"] | self._read_as()}
        (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
        rows = [[each.name for each in self.attributes]]
        rows += [[self.text_of(each, i) for each in self.attributes] for i in range(self.size)]
        for name, table in {config["input"]["path"]: rows, **self.tables}.items():
            self.dialect.write(folder / name, table)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")

    def _read_as(self) -> dict[str, Any]:
        """Return what the config says of the dialect."""
        own = {"separator": self.dialect.separator}
        own |= {"decimal": ","} if self.dialect.decimal == "," else {}
        return own | ({"encoding": self.dialect.encoding} if self.dialect.encoding != "utf-8" else {})

    # ------------------------------------------------------------------------------------------ other runs

    def in_order(self, order: Sequence[int]) -> Case:
        """Return the run with its records in another order."""
        moved = [
            replace(each, cells=_taken(each.cells, order), known=_taken(each.known, order))
            for each in self.attributes
        ]
        keys = tuple(replace(key, groups=_taken(key.groups, order)) for key in self.keys)
        weights = None if self.weights is None else _taken(self.weights, order)
        return replace(self, attributes=tuple(moved), keys=keys, weights=weights)

    def with_keys(self, keys: Sequence[Key], random: Random) -> Case:
        """Return the run with other keys of persons, households and wards."""
        made = {key.column: key.attribute(random, several=False) for key in keys}
        own = tuple(
            replace(each, cells=made[each.name].cells) if each.name in made else each
            for each in self.attributes
        )
        return replace(self, attributes=own, keys=tuple(keys))

    def renamed(self, random: Random) -> Case:
        """Return the run with other keys of the same persons, and other identifiers."""
        own = self.with_keys([key.renamed(random) for key in self.keys], random)
        numbers = random.sample(range(100, 999), self.size)
        cells = tuple(NAMES_OF_PEOPLE.format(each) for each in numbers)
        attributes = [replace(each, cells=cells) if each.name == "who" else each for each in own.attributes]
        return replace(own, attributes=tuple(attributes))

    def merged(self, random: Random) -> Case | None:
        """Return the run in which two persons, or other units, are one; None where there are no two."""
        able = [key for key in self.keys if len({*key.groups} - {None}) > 1]
        if not able:
            return None
        key = random.choice(able)
        one, other = random.sample(sorted({each for each in key.groups if each is not None}), 2)
        return self.with_keys(
            [each.merged(one, other) if each is key else each for each in self.keys], random
        )


def _taken(items: tuple[Item, ...], order: Sequence[int]) -> tuple[Item, ...]:
    return tuple(items[i] for i in order) if items else items


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


def _risk(random: Random, method: str, algorithm: str, *, people: bool, homes: bool) -> dict[str, Any]:
    """Return a constraint on risks, of the release or of the population."""
    names = ["prosecutor-risk", "prosecutor-risk", "marketer-risk", "uniqueness", "linkage-risk"]
    if algorithm == "lattice" and method == "classes":
        of_people = ["k-map", "journalist-risk", "journalist-risk", "delta-presence", "marketer-risk"]
        names += ["household-risk"] * 4 * homes + of_people * 3 * people
    name = random.choice(names)
    most = random.choice((0.25, 0.3, 0.34, 0.5, 0.6, 0.75, 0.9))
    if name == "k-map":
        return {"model": name, "k": random.randint(2, 6)}
    own: dict[str, Any] = {"model": name, "max": most}
    if name == "delta-presence":
        return own | ({"min": 0.1} if random.random() < 0.3 else {})
    if name in ("prosecutor-risk", "journalist-risk") and random.random() < 0.4:
        return own | {"at": random.choice(("mean", {"share-above": 0.3})), "unit": "record"}
    if name == "marketer-risk":
        against = random.choice(("records", "population")) if people else "records"
        return own | {"against": against, "unit": "record"}
    if name == "household-risk":
        against = {"against": "population"} if people and random.random() < 0.3 else {}
        return own | {"at": random.choice(("highest", "mean"))} | against
    if name == "linkage-risk":
        return own | random.choice(LINKAGES)
    return own


LINKAGES: tuple[dict[str, Any], ...] = (
    {},
    {"linkage": "learned"},
    {"linkage": "learned", "distance": "weighted-mean"},
    {"linkage": "assignment"},
    {"linkage": "nearest", "distance": "mahalanobis"},
    {"linkage": "probabilistic"},
)


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


def _counted(random: Random, own: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return a constraint that may count something else than by default."""
    fixed = "unit" in own or own["model"] in ("k-map", "journalist-risk", "delta-presence", "household-risk")
    if fixed or not names or random.random() < 0.5:
        return own
    return own | {"unit": random.choice(("record", *names))}


def _scenarios(
    random: Random, names: Sequence[str], columns: Sequence[str], sensitive: Sequence[Attribute]
) -> dict[str, Any]:
    """Return adversaries who know some columns."""
    found: dict[str, Any] = {}
    for name in ("neighbour", "insurer")[: random.randint(1, 2)]:
        known: Any = random.sample(columns, random.randint(1, len(columns)))
        if len(columns) > 1 and random.random() < 0.4:
            known = {"any": random.randint(1, len(columns) - 1), "of": list(columns)}
        models = [{"model": "k-anonymity", "k": random.choice((2, 2, 3))}]
        if random.random() < 0.5:
            own = _model(random, sensitive)
            models = [own] if own["model"] != "vulnerability" else models
        found[name] = {"known": known, "models": [_counted(random, own, names) for own in models]}
        if names and random.random() < 0.3:
            found[name]["unit"] = random.choice(names)
    return found


@dataclass
class _Draft:
    """What is drawn before the config: people and what they allow."""

    random: Random
    number: int
    algorithm: dict[str, Any]
    method: str
    several: bool
    keys: tuple[Key, ...] = ()
    weights: tuple[Fraction, ...] | None = None
    population: bool = False

    @property
    def name(self) -> str:
        return str(self.algorithm["name"])

    def people(self) -> None:
        """Draw persons, households, wards and weights."""
        if self.name != "anatomy" and self.random.random() < 0.5:
            self.keys = draw_keys(self.random, self.number)
        if self.random.random() < 0.3:
            self.weights = draw_weights(self.random, units(self.keys, self.number))
        elif self.name == "lattice" and self.method == "classes":
            self.population = self.random.random() < 0.3

    def further(self) -> list[Attribute]:
        """Return the columns that are neither quasi-identifiers nor sensitive."""
        random, number, found = self.random, self.number, []
        if random.random() < 0.2:
            cells = tuple(random.choice(("note, 1", 'a "b"', "", "=x")) for _ in range(number))
            found.append(Attribute("note", {"role": "insensitive"}, "text", cells))
        if random.random() < 0.3:
            cells = tuple(NAMES_OF_PEOPLE.format(i) for i in range(number))
            found.append(Attribute("who", {"role": "identifier"}, "text", cells))
        if self.keys or self.weights or self.population or random.random() < 0.5:
            cells = tuple(f"m{each}" for each in random.sample(range(1000, 9999), number))
            found.append(Attribute(MARK, {"role": "insensitive"}, "text", cells))
        found += [key.attribute(random, several=self.several) for key in self.keys]
        if self.weights is not None:
            entry = {"role": "weight", "release": random.random() < 0.3}
            found.append(Attribute("w", entry, "number", tuple(map(short, self.weights))))
        return found

    def wish(self) -> Wish:
        """Return what quasi-identifiers may be."""
        able = self.name in ("lattice", "local", "mondrian", "auto")
        labels = ("range", "range", "midpoint", "low-high") if able else ("range",)
        return Wish(self.name == "microaggregation", self.name == "anatomy", self.several, labels)


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
    several = random.random() < 0.5
    dialect = draw_dialect(random, plain=several)
    draft = _Draft(random, number, algorithm, method, several)
    draft.people()
    most = 2 if tiny and number < 8 else 3
    columns = [
        quasi_identifier(random, letter, number, files, draft.wish())
        for letter in "abc"[: random.randint(1, most)]
    ]
    two = name != "anatomy" and random.random() < 0.3
    missing = random.random() < 0.2
    secrets = [
        sensitive(random, letter, number, missing=missing, several=several)
        for letter in ("s", "t")[: 2 if two else 1]
    ]
    attributes = [*columns, *secrets, *draft.further()]
    random.shuffle(attributes)
    return _whole(seed, draft, columns, secrets, attributes, files, dialect)


def _whole(
    seed: int,
    draft: _Draft,
    columns: Sequence[Attribute],
    secrets: Sequence[Attribute],
    attributes: Sequence[Attribute],
    files: dict[str, str],
    dialect: Dialect,
) -> Case:
    random, config = draft.random, {}
    population, tables = None, {}
    columns = [each for each in attributes if each.role == "quasi-identifier"]
    if draft.population and all(each.paths is not None for each in columns):
        counted = random.random() < 0.5
        population = draw_population(random, columns, counted=counted)
        rows = population_table(random, columns, population, counted=counted, several=draft.several)
        tables["people.csv"] = [rows[0], *([_spelled(dialect, columns, row) for row in rows[1:]])]
        config["population"] = {"path": "people.csv"} | ({"weight": "people"} if counted else {})
    people = draft.weights is not None or population is not None
    own = _config(draft, columns, secrets, attributes, people=people)
    own["input"] |= config
    own["output"] |= draw_output(random, dialect)
    if population is not None:
        own["output"].pop("decimal", None)
    return Case(seed, tuple(attributes), own, files, draft.keys, draft.weights, population, tables, dialect)


def _spelled(dialect: Dialect, columns: Sequence[Attribute], row: Sequence[str]) -> list[str]:
    """Return a row of numbers and texts as a file has it."""
    kinds = [each.kind for each in columns] + ["number"]
    return [dialect.spell(cell) if kind in NUMERIC else cell for cell, kind in zip(row, kinds, strict=False)]


def _config(
    draft: _Draft,
    columns: Sequence[Attribute],
    secrets: Sequence[Attribute],
    attributes: Sequence[Attribute],
    *,
    people: bool,
) -> dict[str, Any]:
    random, algorithm, method = draft.random, draft.algorithm, draft.method
    objective = _objective(draft)
    suppression = _suppression(draft)
    config = {
        "input": _input(draft),
        "attributes": {each.name: each.entry for each in attributes},
        "constraints": _constraints(draft, secrets, people=people),
        "reference": random.choice(("release", "input")),
        "suppression": suppression,
        "algorithm": algorithm,
        "objective": objective,
        "seed": random.randint(100_000, 999_999),
        "output": {"order": random.choice(("sorted", "sorted", "sorted", "shuffled"))},
    }
    names = [each.name for each in columns]
    units_ = [key.unit for key in draft.keys]
    if draft.name != "anatomy" and method == "classes" and not people and random.random() < 0.2:
        config["scenarios"] = _scenarios(random, units_, names, secrets)
    if "scenarios" in config or (people and draft.name == "lattice"):
        suppression.pop("keep_rows", None)
    if algorithm["name"] == "local":
        config["budget"] = {"steps": 200}
    if random.random() < 0.2:
        config["budget"] = random.choice(
            ({"steps": random.randint(1, 30)}, {"nodes": random.randint(1, 20)}, {"seconds": 0.5})
        )
    if random.random() < 0.15:
        config["engine"] = {"name": "duckdb"}
    if random.random() < 0.15:
        config["attacks"] = random.sample(["vulnerability", "uniqueness", "homogeneity", "linkage"], 2)
    return config


def _input(draft: _Draft) -> dict[str, Any]:
    """Return where the records are, whose they are, and what stands for missing values."""
    random = draft.random
    found: dict[str, Any] = {
        "path": random.choice(("in.csv", "in.csv", "in.csv.gz")),
        "missing": ["", "?", *([CODE] if draft.several else [])],
    }
    for key in draft.keys:
        if key.unit == "ward":
            found["units"] = {"ward": key.column}
        else:
            found[key.unit] = key.column
    linkable = "person" in found and draft.name in ("lattice", "auto") and draft.method == "classes"
    if linkable and random.random() < 0.2:
        found["person"] = {"column": found["person"], "release_as": "pseudonym"}
    return found


def _constraints(draft: _Draft, secrets: Sequence[Attribute], *, people: bool) -> list[dict[str, Any]]:
    random = draft.random
    names = [key.unit for key in draft.keys]
    found: list[dict[str, Any]] = [{"model": "k-anonymity", "k": random.choice((1, 2, 2, 2, 3, 3, 4))}]
    if draft.name == "anatomy":
        found = [{"model": "l-diversity", "l": random.choice((2, 2, 3)), "attribute": "s"}]
    found += [_model(random, secrets) for _ in range(random.choice((0, 1, 1, 2)))]
    homes = "household" in names
    if draft.name != "anatomy" and random.random() < (0.9 if people else 0.5 if homes else 0.3):
        found.append(_risk(random, draft.method, draft.name, people=people, homes=homes))
    return [_counted(random, own, names) for own in found]


def _objective(draft: _Draft) -> dict[str, Any]:
    random, algorithm = draft.random, draft.algorithm
    metrics = ["loss"] * 6 + ["ncp", "precision", "discernibility", "average-class-size"]
    if draft.name in ("lattice", "auto") and draft.method == "classes":
        metrics += ["height", "nonuniform-entropy"]
    objective = {"metric": random.choice(metrics)}
    if draft.name == "anatomy" or algorithm.get("labels") in ("set", "interval"):
        objective = {"metric": "loss"}
    if objective["metric"] not in ("loss", "ncp", "precision"):
        return objective
    if random.random() < 0.15:
        objective["aggregate"] = random.choice(("geometric-mean", "maximum"))
    if draft.weights is not None and random.random() < 0.3:
        objective["weights"] = "w"
    elif draft.keys and random.random() < 0.2:
        objective["unit"] = random.choice(draft.keys).unit
    return objective


def _suppression(draft: _Draft) -> dict[str, Any]:
    random = draft.random
    found = {"limit": random.choice((0, 0, 0.1, 0.25, 0.4)), "method": draft.method}
    if random.random() < 0.2:
        found["keep_rows"] = True
    if draft.keys and draft.method == "classes":
        names = [key.unit for key in draft.keys]
        if random.random() < 0.3:
            found["unit"] = random.choice(names)
        if random.random() < 0.3 and draft.name in ("lattice", "auto", "mondrian"):
            found["whole"] = random.choice(names)
    return found
