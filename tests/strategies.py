"""Random small tables, trees, models and problems."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

from hypothesis import strategies as st
from pydantic import ValidationError

from anonymizer.privacy.base import PRIVACY_MODELS, ClassModel, PrivacyModel
from tests.twins.loss import LOSS_TWINS
from tests.twins.microdata import Microdata, Path, QuasiIdentifierSpec, SensitiveSpec, Value
from tests.twins.privacy import CLASS_TWINS, TABLE_TWINS
from tests.twins.search import ConstraintSpec, ProblemSpec

LETTERS = "abcdefghij"
AGGREGATES = ("arithmetic-mean", "geometric-mean", "maximum")


def values_of(model: type[PrivacyModel]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each parameter in the examples of a model; None where an example lacks it."""
    keys = dict.fromkeys(key for each in model.examples for key in each)
    found: dict[str, list[Any]] = {key: [] for key in keys}
    for key, each in ((key, each.get(key)) for each in model.examples for key in keys):
        if each not in found[key]:
            found[key].append(each)
    return {key: tuple(values) for key, values in found.items()}


EXAMPLES = {name: values_of(model) for name, model in PRIVACY_MODELS.items()}
"""Values that each parameter may take."""

PARAMETERS = {name: own for name, own in EXAMPLES.items() if name in CLASS_TWINS or name in TABLE_TWINS}
"""The same for the models that have a twin, which random problems draw from."""

RETAINING = tuple(
    name
    for name in PARAMETERS
    if getattr(PRIVACY_MODELS[name], "retention", ClassModel.retention) is not ClassModel.retention
)
"""Those that say by counts what satisfies them, so that the fewest records can be suppressed."""

SIMPLE = ("k-anonymity", "k-anonymity", "l-diversity", "alpha-k-anonymity")
REFERENCED = (
    "t-closeness",
    "t-closeness",
    "basic-beta-likeness",
    "enhanced-beta-likeness",
    "delta-disclosure",
)
"""Together they move the reference: what the first drops changes p for the second."""


def tree(random: Random, values: list[Value], height: int) -> dict[Value, Path]:
    """Return a random tree: at each level, nodes of the one below are put together at random."""
    leaves = values[:]
    random.shuffle(leaves)
    paths = {value: (f"{value}" if value is not None else "<missing>",) for value in leaves}
    for level in range(1, height + 1):
        nodes = list(dict.fromkeys(path[-1] for path in paths.values()))
        groups = random.randint(1, len(nodes)) if level < height else 1
        parent = {node: f"{level}:{random.randrange(groups)}" for node in nodes}
        paths = {value: (*path, parent[path[-1]]) for value, path in paths.items()}
    return _together(paths)


def _together(paths: dict[Value, Path]) -> dict[Value, Path]:
    """Return the leaves in an order in which every node covers a range of them."""
    return dict(sorted(paths.items(), key=lambda item: item[1][::-1]))


def domain(random: Random, size: int, *, numeric: bool, missing: bool) -> list[Value]:
    """Return some distinct values."""
    known: list[Value] = list(LETTERS[:size])
    if numeric:
        known = list(random.sample(range(-3, 20), size))
    return [*known, None] if missing else known


def quasi_identifier(random: Random, number: int, height: int) -> QuasiIdentifierSpec:
    """Return a quasi-identifier with a random tree, weight and restriction of levels."""
    numeric = random.random() < 0.4
    size = random.randint(1, 6) if height else 1
    values = domain(random, size, numeric=numeric, missing=bool(height) and random.random() < 0.2)
    restricted = random.random() < 0.2
    minimum = random.randint(0, height) if restricted else 0
    return QuasiIdentifierSpec(
        f"q{number}",
        tree(random, values, height),
        numeric,
        random.choice((1.0, 1.0, 1.0, 0.0, 0.5, 2.5)),
        minimum,
        random.randint(minimum, height) if restricted else height,
    )


def sensitive(random: Random, name: str) -> SensitiveSpec:
    """Return a sensitive attribute with a random tree and, perhaps, missing values."""
    numeric = random.random() < 0.4
    values = domain(random, random.randint(1, 5), numeric=numeric, missing=random.random() < 0.25)
    return SensitiveSpec(
        name,
        tree(random, values, random.randint(1, 3)),
        numeric,
        random.choice((None, None, "equal", "ordered", "hierarchical")),
        random.random() < 0.3,
    )


def table(random: Random, *, most: int = 30, nodes: int = 60) -> Microdata:
    """Return a table whose lattice has at most so many nodes, most of them far fewer."""
    heights: list[int] = []
    room = nodes
    for _ in range(random.randint(2, 4)):
        height = random.randint(0, min(3, room - 1))
        heights.append(height)
        room //= height + 1
    own = [quasi_identifier(random, number, height) for number, height in enumerate(heights)]
    if not any(spec.weight for spec in own):
        own[0] = QuasiIdentifierSpec(
            own[0].name, own[0].paths, own[0].numeric, 1.0, own[0].minimum, own[0].maximum
        )
    secret = [sensitive(random, name) for name in ("s", "t")[: random.choice((1, 1, 2))]]
    records = random.randint(4, most)
    columns = [
        _cells(random, list(spec.paths), records)
        for spec in (*own, *secret)  # type: ignore[arg-type]
    ]
    return Microdata(tuple(own), tuple(secret), tuple(zip(*columns, strict=True)))


def _cells(random: Random, values: list[Value], records: int) -> list[Value]:
    """Return cells in which some values are frequent; not every value need occur."""
    weights = [random.choice((1, 1, 2, 5)) for _ in values]
    cells = random.choices(values, weights, k=records)
    if all(cell is None for cell in cells):
        cells[0] = next(value for value in values if value is not None)
    return cells


def parameters(random: Random, name: str) -> dict[str, Any]:
    """Return parameters of a model: a value of each, or an example where these do not go together."""
    chosen = {key: random.choice(values) for key, values in EXAMPLES[name].items()}
    given = {key: value for key, value in chosen.items() if value is not None}
    try:
        PRIVACY_MODELS[name].Settings.model_validate(given)
    except ValidationError:
        return dict(random.choice(PRIVACY_MODELS[name].examples))
    return given


def constraint(random: Random, data: Microdata, name: str) -> ConstraintSpec:
    """Return a constraint on a table."""
    own = parameters(random, name)
    if name == "k-anonymity" or own.get("target") == "re-identification":
        return ConstraintSpec(name, own)
    attribute = random.choice(data.sensitive).name
    return ConstraintSpec(name, own, attribute, combined=random.random() < 0.25)


def problem(random: Random) -> ProblemSpec:
    """Return a problem of a full-domain search."""
    data = table(random)
    moving = random.random() < 0.5
    names = [random.choice(list(PARAMETERS)) for _ in range(random.randint(1, 3))]
    if moving and random.random() < 0.6:
        names = [random.choice(SIMPLE), random.choice(REFERENCED)]
    constraints = tuple(constraint(random, data, name) for name in names)
    sizes = [own.parameters["k"] for own in constraints if own.model == "k-anonymity"]
    tenths = random.choice((0, 1, 3, 5, 10))
    return ProblemSpec(
        data,
        constraints,
        random.choice(sorted(LOSS_TWINS)),
        random.choice(AGGREGATES),
        tenths * len(data.records) // 10,
        random.random() < 0.4,
        moving,
        sizes[0] if sizes else None,
    )


class Seeded(Random):
    """A source of randomness that prints its seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._seed = seed

    def __repr__(self) -> str:
        return f"Random({self._seed})"


def randoms() -> st.SearchStrategy[Random]:
    """Return sources of randomness, each from a seed.

    Hypothesis does not see what is drawn from a seed, which is ten times as fast as drawing each number by
    itself, but leaves a failing example as large as it is; with the variable SHRINK it sees each number.
    """
    if os.environ.get("SHRINK"):
        return st.randoms(use_true_random=False)
    return st.integers(0, 2**64 - 1).map(Seeded)


@st.composite
def tables(draw: st.DrawFn, most: int = 30) -> Microdata:
    """Return tables of 4 to ``most`` records with 2 to 4 quasi-identifiers."""
    return table(draw(randoms()), most=most)


@st.composite
def problems(draw: st.DrawFn) -> ProblemSpec:
    """Return problems of a full-domain search."""
    return problem(draw(randoms()))


def with_knowledge(random: Random, spec: ProblemSpec) -> ProblemSpec:
    """Return a problem in which most constraints are on adversaries who know some quasi-identifiers."""
    places = range(len(spec.data.quasi_identifiers))
    constraints = []
    for own in spec.constraints:
        if random.random() < 0.8:
            of = random.sample(places, random.randint(1, len(places)))
            number = random.choice((len(of), random.randint(1, len(of))))
            constraints.append(replace(own, knowledge=tuple(map(frozenset, combinations(of, number)))))
        else:
            constraints.append(own)
    return replace(spec, constraints=tuple(constraints), keep_rows=False)


def with_persons(random: Random, spec: ProblemSpec) -> ProblemSpec:
    """Return a problem whose records belong to persons, whom most constraints count.

    Persons have one record or many, some of them alike, some spread over the table.
    """
    records = spec.data.records
    number = random.randint(1, len(records))
    persons = [random.randrange(number) for _ in records]
    if random.random() < 0.5:
        known: dict[object, int] = {}
        persons = [known.setdefault(row[:1], each) for row, each in zip(records, persons, strict=True)]
    strange = random.choice((0.0, 0.0, 0.2))
    data = replace(spec.data, persons=tuple(None if random.random() < strange else own for own in persons))
    constraints = tuple(
        replace(own, unit="person") if random.random() < 0.8 else own for own in spec.constraints
    )
    return replace(spec, data=data, constraints=constraints)


def with_lost_persons(random: Random, spec: ProblemSpec) -> ProblemSpec:
    """Return a problem in which at most some persons may lose a record."""
    spec = with_persons(random, spec)
    if random.random() < 0.4:
        constraints = tuple(replace(own, unit=None) for own in spec.constraints)
        spec = replace(spec, constraints=constraints)
    persons = [each for each in spec.data.persons if each is not None]
    number = len(set(persons)) + spec.data.persons.count(None)
    return replace(spec, lost=random.randint(0, random.choice((number, max(number // 2, 1)))))
