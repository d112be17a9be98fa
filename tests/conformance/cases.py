"""Every registered algorithm with each of its options, and what each of them is held to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anonymizer.model.features import SuppressionMethod
from anonymizer.model.recoding import FullDomainRecoding, Outcome
from anonymizer.search.auto import Auto
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchAlgorithm
from anonymizer.search.lattice.algorithm import Lattice
from tests.conformance.asked import Asked, MakeTable, any_table, numbers
from tests.conformance.truth import (
    BlankedLabels,
    IntervalLabels,
    Labelling,
    MeanLabels,
    MedianLabels,
    NodeLabels,
    SetLabels,
)
from tests.twins.feasible import AnyValues, Feasibility, LocalNodes, WithinLevels
from tests.twins.search import ProblemSpec

METRICS = ("loss", "loss", "ncp", "discernibility", "average-class-size", "nonuniform-entropy")
LEVELLED = (*METRICS, "precision")


@dataclass(frozen=True)
class Family:
    """The recodings that an algorithm may give.

    Attributes
    ----------
    exists: tells whether brute force finds a release among them.
    """

    labels: Labelling
    exists: Callable[[ProblemSpec], bool]


FULL_DOMAIN = Family(NodeLabels(), lambda spec: bool(Feasibility(spec).valid()))
FULL_DOMAIN_RECORDS = Family(NodeLabels(), lambda spec: Feasibility(spec).full_domain_by_records())
FULL_DOMAIN_CELLS = Family(BlankedLabels(), lambda spec: Feasibility(spec).full_domain_by_cells())
HIERARCHICAL = Family(NodeLabels(), lambda spec: Feasibility(spec).by_classes(LocalNodes(spec)))
SETS = Family(SetLabels(), lambda spec: Feasibility(spec).by_classes(WithinLevels(spec)))
HIERARCHICAL_RECORDS = Family(NodeLabels(), lambda spec: Feasibility(spec).by_records(LocalNodes(spec)))
SETS_RECORDS = Family(SetLabels(), lambda spec: Feasibility(spec).by_records(WithinLevels(spec)))
INTERVALS = Family(IntervalLabels(), SETS.exists)
MEANS = Family(MeanLabels(), lambda spec: Feasibility(spec).by_classes(AnyValues()))
MEDIANS = Family(MedianLabels(), MEANS.exists)
BY_METHOD = {
    SuppressionMethod.CLASSES: FULL_DOMAIN,
    SuppressionMethod.RECORDS: FULL_DOMAIN_RECORDS,
    SuppressionMethod.CELLS: FULL_DOMAIN_CELLS,
}
"""What the lattice searches."""

CHOSEN = {"lattice": FULL_DOMAIN, "mondrian": INTERVALS, "local": HIERARCHICAL}


@dataclass(frozen=True)
class Case:
    """An algorithm with some options.

    Attributes
    ----------
    families: what it searches, by the algorithm that it says it chose; None where there is no choice.
    steps: its budget, None without one.
    factor: times this budget on tables of few records, where all that exists is to be found.
    exact: whether it never leaves open what exhaustive search decides.
    """

    algorithm: str
    families: Mapping[str | None, Family]
    options: Mapping[str, Any] = field(default_factory=dict)
    method: SuppressionMethod = SuppressionMethod.CLASSES
    make: MakeTable = any_table
    metrics: Sequence[str] = METRICS
    steps: int | None = None
    factor: int = 1
    exact: bool = False

    def __str__(self) -> str:
        method = [] if self.method is SuppressionMethod.CLASSES else [self.method.value]
        return "-".join([self.algorithm, *map(str, self.options.values()), *method])

    def build(self) -> SearchAlgorithm:
        """Return the algorithm."""
        plug_in = SEARCH_ALGORITHMS[self.algorithm]
        return plug_in(plug_in.Settings.model_validate(dict(self.options)))

    def search(self, asked: Asked) -> Outcome:
        """Return what the algorithm answers."""
        return self.build().search(asked.problem, Control(steps=self.steps))

    def for_few(self) -> Case:
        """Return the case with its budget for tables of few records."""
        return self if self.steps is None else replace(self, steps=self.steps * self.factor)

    def family(self, outcome: Outcome) -> Family:
        """Return what was searched; of Mondrian, also its first classes, where no cut loses less."""
        by_mondrian = "mondrian" in (self.algorithm, outcome.chosen[0])
        if by_mondrian and isinstance(outcome.recoding, FullDomainRecoding):
            return FULL_DOMAIN
        return self.families[outcome.chosen[0]]


CASES = [
    *(
        Case(
            "lattice",
            {None: BY_METHOD[method]},
            method=method,
            # Single blanks leave no level to a column.
            metrics=LEVELLED if method is SuppressionMethod.CELLS else (*LEVELLED, "height"),
            steps=8 if method is SuppressionMethod.CELLS else None,
            factor=50,
            exact=method is SuppressionMethod.CLASSES,
        )
        for method in sorted(Lattice.suppressions())
    ),
    *(
        Case("mondrian", {None: family}, {"mode": mode, "labels": labels}, metrics=metrics)
        for mode in ("strict", "relaxed")
        for labels, family, metrics in (
            ("hierarchy", HIERARCHICAL, LEVELLED),
            ("set", SETS, METRICS),
            ("interval", INTERVALS, METRICS),
        )
    ),
    *(
        Case("mondrian", {None: family}, {"labels": labels}, SuppressionMethod.RECORDS, metrics=metrics)
        for labels, family, metrics in (
            ("hierarchy", HIERARCHICAL_RECORDS, LEVELLED),
            ("set", SETS_RECORDS, METRICS),
        )
    ),
    Case("local", {None: HIERARCHICAL}, metrics=LEVELLED, steps=8),
    Case("local", {None: HIERARCHICAL_RECORDS}, method=SuppressionMethod.RECORDS, metrics=LEVELLED, steps=8),
    Case("auto", CHOSEN, {"recoding": "any"}, metrics=METRICS, steps=8),
    *(
        Case("auto", {"lattice": BY_METHOD[method]}, method=method, steps=8, factor=50)
        for method in sorted(Auto.suppressions() - {SuppressionMethod.CLASSES})
    ),
    *(
        Case(
            "microaggregation",
            {None: family},
            {"aggregate": aggregate, "variable": variable, **size},
            make=numbers,
        )
        for aggregate, family in (("mean", MEANS), ("median", MEDIANS))
        for variable, size in ((False, {}), (True, {}), (False, {"k": 2}))
    ),
]
