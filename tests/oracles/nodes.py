"""What a node of a known answer's lattice gives."""

from __future__ import annotations

from anonymizer.model.classes import Released
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.search.judge import Judge
from anonymizer.search.rollup import RollUp
from tests.helpers.problems import metric
from tests.oracles.cases import Case


def released(case: Case) -> tuple[Released, int]:
    """Return what a node gives, and the number of its classes before suppression."""
    problem = case.problem(metric("loss"))
    classes = RollUp.of(case.table).classes(case.levels)
    verdict = Judge(problem).judge(classes)
    gone = ~verdict.kept[classes.class_of]
    recoding = FullDomainRecoding(case.table, case.levels, gone, gone)
    own = Released(case.table, recoding, verdict.sizes[verdict.kept], 0, verdict.suppressed, case.k)
    return own, classes.number
