"""The methods of suppression that a judge of candidates applies."""

from __future__ import annotations

from anonymizer.search.base import SearchProblem, SuppressionMethod
from anonymizer.search.suppression.suppressor import Suppressor
from anonymizer.search.suppression.whole_classes import WholeClasses


def suppressor_for(problem: SearchProblem) -> Suppressor:
    """Return what judges the candidates of a problem: whole classes where cells are blanked afterwards."""
    if problem.suppression is SuppressionMethod.RECORDS:
        # The optimal choice of records takes a dozen modules that no other method needs.
        from anonymizer.search.suppression.records import OptimalRecords  # noqa: PLC0415

        return OptimalRecords(problem)
    return WholeClasses(problem)
