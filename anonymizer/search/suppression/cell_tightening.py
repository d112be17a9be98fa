"""Cells that were blanked for nothing: all records of the class have the same value there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonymizer.search.suppression.cell_problem import BLANK, CellProblem, CellSuppression


def tightened(problem: CellProblem, blanking: CellSuppression) -> CellSuppression:
    """Return a blanking without what the classes agree in; the same one where that would not hold.

    A quick choice blanks what a class once needed, and where a blank costs nothing a programme does as well.
    """
    kept = np.flatnonzero(~blanking.gone)
    class_of, number = problem.published(blanking.row[kept], blanking.blanks[kept])
    blanks = blanking.blanks.copy()
    for position in range(problem.attributes):
        codes = problem.codes[blanking.row[kept], position]
        low, high = np.full(number, np.iinfo(np.int64).max), np.full(number, BLANK)
        np.minimum.at(low, class_of, codes)
        np.maximum.at(high, class_of, codes)
        blanks[kept, position] &= (low < high)[class_of]
    if np.array_equal(blanks, blanking.blanks):
        return blanking
    tighter = replace(blanking, blanks=blanks)
    return tighter if tighter.holds(problem) else blanking
