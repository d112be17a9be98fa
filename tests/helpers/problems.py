"""The product's problem from a plain one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from anonymizer.loss.base import AGGREGATES, LOSS_METRICS, AggregateName, LossMetric
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import Table
from anonymizer.privacy.base import ClassConstraint, ClassModel, Constraint, TableConstraint, TableModel
from anonymizer.search.auto import applies, with_intervals
from anonymizer.search.base import SearchProblem, UnitLimit
from tests.helpers import build
from tests.twins.microdata import Microdata
from tests.twins.search import ConstraintSpec, ProblemSpec


def constraint(spec: ConstraintSpec, data: Microdata) -> Constraint:
    """Return a model bound to its attribute."""
    model = build.model(spec.model, spec.parameters)
    missing = spec.attribute is not None and data.attribute(spec.attribute).missing_is_value
    knowledge = None
    if spec.knowledge is not None:
        names = [own.name for own in data.quasi_identifiers]
        knowledge = tuple(frozenset(names[place] for place in known) for known in spec.knowledge)
    bound = (spec.attribute, spec.combined, missing, spec.unit, None, knowledge)
    if isinstance(model, ClassModel):
        return ClassConstraint(*bound, model=model)
    assert isinstance(model, TableModel)
    return TableConstraint(*bound, model=model)


def metric(name: str, aggregate: str = "arithmetic-mean") -> LossMetric:
    """Return a metric with its aggregate."""
    return LOSS_METRICS[name](None, AGGREGATES[AggregateName(aggregate)])


def problem(spec: ProblemSpec, *, divided: bool = False) -> SearchProblem:
    """Return what the search is asked; ``divided`` as in ``build.table``."""
    constraints = [constraint(own, spec.data) for own in spec.constraints]
    unit_limit = None
    if (lost := spec.lost) is not None:
        unit_limit = UnitLimit.of_records("person", lambda _: lost, build.persons(spec.data))
    recorded = any(own.unit is not None and own.model.needs_unit_records for own in constraints)
    return SearchProblem(
        build.table(spec.data, whole=spec.whole, linked=spec.linked, divided=divided, recorded=recorded),
        tuple(own for own in constraints if isinstance(own, ClassConstraint)),
        tuple(own for own in constraints if isinstance(own, TableConstraint)),
        metric(spec.metric, spec.aggregate),
        spec.limit if unit_limit is None else unit_limit.records(unit_limit.most),
        spec.keep_rows,
        spec.moving_reference,
        spec.k,
        unit_limit=unit_limit,
    )


def with_a_value(spec: ProblemSpec, published: Callable[[Table], Recoding] = with_intervals) -> ProblemSpec:
    """Return a problem whose metric has a value for a kind of recoding: its own metric, or ``loss``.

    Parameters
    ----------
    published: returns such a recoding of a table, by default one whose values have no level.
    """
    asked = problem(spec)
    return spec if applies(asked.metric, published(asked.table)) else replace(spec, metric="loss")
