"""Searches whose constraints compare classes with a population, against exhaustive search."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.population import Population, PopulationAttribute
from anonymizer.model.report import Status
from anonymizer.model.table import QuasiIdentifier
from anonymizer.privacy.base import ClassConstraint, ClassModel, TableConstraint, TableModel
from anonymizer.privacy.delta_presence import DeltaPresence, DeltaPresenceSettings
from anonymizer.privacy.k_map import KMap, KMapSettings
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import Lattice
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share
from tests.helpers.problems import problem
from tests.search.test_lattice import records_of, same, texts_of
from tests.twins.microdata import QuasiIdentifierSpec, Value
from tests.twins.population import Bounds, People, PopulationBruteForce, RiskBruteForce
from tests.twins.search import ProblemSpec

SCALE = 4
"""Weights are quarters."""


def attribute(
    spec: QuasiIdentifierSpec, own: QuasiIdentifier
) -> tuple[PopulationAttribute, dict[Value, int]]:
    """Return an attribute with all values of its tree, and the code of each."""
    compiled, position = build.hierarchy(spec.paths, spec.name)
    leaves = np.array([*position.values()])
    nodes = compiled.ancestors[:, leaves].copy()
    for level, row in enumerate(nodes):
        row[~np.isin(row, own.nodes(level))] = -1
    return PopulationAttribute(compiled.labels, nodes), {value: code for code, value in enumerate(position)}


def with_population(spec: ProblemSpec, people: People, *, estimated: bool) -> SearchProblem:
    asked = problem(spec)
    found = [
        attribute(own, mine)
        for own, mine in zip(spec.data.quasi_identifiers, asked.table.quasi_identifiers, strict=True)
    ]
    codes = [[known[cell] for (_, known), cell in zip(found, cells, strict=False)] for cells, _ in people]
    population = Population(
        "population",
        tuple(own for own, _ in found),
        np.array(codes, dtype=np.int32),
        np.array([int(number * SCALE) for _, number in people], dtype=np.int64),
        SCALE,
        estimated,
    )
    return replace(asked, table=replace(asked.table, population=population))


def population(random: Random, spec: ProblemSpec, *, estimated: bool) -> People:
    """Return the records with weights, or the records and others."""
    width = len(spec.data.quasi_identifiers)
    own = [record[:width] for record in spec.data.records]
    if estimated:
        return [(cells, Fraction(random.randint(1, 5 * SCALE), SCALE)) for cells in own]
    values = [list(each.paths) for each in spec.data.quasi_identifiers]
    near = random.random() < 0.7
    others = [
        random.choice(own) if near else tuple(random.choice(each) for each in values)
        for _ in range(random.randint(0, 3 * len(own)))
    ]
    return [(cells, Fraction(1)) for cells in [*own, *others]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[ProblemSpec, People, Bounds, bool]:
    random = draw(strategies.randoms())
    spec = replace(strategies.problem(random), keep_rows=False)
    if random.random() < 0.6:
        spec = replace(spec, constraints=(), k=None)
    estimated = random.random() < 0.4
    low, high = sorted(random.sample((0, 20, 25, 40, 50, 75, 100), 2))
    bounds = Bounds(low=Fraction(low, 100), high=Fraction(high, 100))
    if random.random() < 0.5:
        bounds = Bounds(k=random.randint(1, 9))
    return spec, population(random, spec, estimated=estimated), bounds, estimated


@given(cases())
def test_the_lattice_finds_the_optimum_of_an_exhaustive_search(
    case: tuple[ProblemSpec, People, Bounds, bool],
) -> None:
    spec, people, bounds, estimated = case
    asked = with_population(spec, people, estimated=estimated)
    shares = DeltaPresenceSettings(
        min=Decimal(bounds.low.numerator) / bounds.low.denominator,
        max=Decimal(bounds.high.numerator) / bounds.high.denominator,
    )
    model = KMap(KMapSettings(k=bounds.k)) if bounds.k is not None else DeltaPresence(shares)
    asked = replace(asked, class_constraints=(*asked.class_constraints, ClassConstraint(model=model)))
    outcome = Lattice().search(asked, Control())
    brute = PopulationBruteForce(spec, people, bounds, estimated=estimated)
    valid = brute.valid()
    if not valid:
        assert outcome.status is Status.INFEASIBLE
        return
    assert outcome.status is Status.SATISFIED
    assert outcome.optimal
    assert same(outcome.objective, min(result.objective for result in valid))
    at_levels = brute.evaluate(outcome.recoding.levels)
    assert at_levels is not None
    assert same(at_levels.objective, outcome.objective)
    table = outcome.recoding.table
    assert records_of(table, outcome.recoding.suppressed) == texts_of(spec.data, at_levels.suppressed)


@share(2)
@given(cases(), st.sampled_from((0.1, 0.2, 0.25, 0.5)), st.booleans(), st.booleans())
def test_the_optimum_under_a_risk(
    case: tuple[ProblemSpec, People, Bounds, bool], most: float, mean: bool, of_people: bool
) -> None:
    spec, people, _, estimated = case
    asked = with_population(spec, people, estimated=estimated)
    name = "journalist-risk" if of_people else "prosecutor-risk"
    model = build.model(name, {"max": most, "at": "mean" if mean else "highest"})
    if isinstance(model, ClassModel):
        own = (*asked.class_constraints, ClassConstraint(model=model))
        asked = replace(asked, class_constraints=own)
    else:
        assert isinstance(model, TableModel)
        whole = (*asked.table_constraints, TableConstraint(model=model))
        asked = replace(asked, table_constraints=whole)
    outcome = Lattice().search(asked, Control())
    brute = RiskBruteForce(spec, people, Bounds(), estimated=estimated)
    brute.most, brute.mean, brute.of_people = Fraction(str(most)), mean, of_people
    valid = brute.valid()
    assert (outcome.recoding is not None) == bool(valid)
    if valid:
        assert outcome.optimal
        assert same(outcome.objective, min(result.objective for result in valid))
