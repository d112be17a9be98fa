"""The values of the records that a node suppresses, and of those that all nodes below suppress too."""

from __future__ import annotations

import numpy as np

from anonymizer.loss.base import Marginals
from anonymizer.model.classes import Classes
from anonymizer.search.full_domain.rollup import RollUp
from anonymizer.search.judge import CandidateVerdict, Judge


def suppressed_and_certain(
    rollup: RollUp, classes: Classes, verdict: CandidateVerdict, judge: Judge
) -> tuple[Marginals, Marginals]:
    """Count suppressed records by their values, and those that are certain to be lost.

    Parameters
    ----------
    classes: of a node, counted from the roll-up.
    judge: whose verdict it is.
    """
    suppressed = rollup.marginals(verdict.gone)
    if judge.lossless_merging:
        return suppressed, suppressed
    whole = verdict.losses == classes.sizes
    unplaced = int(verdict.losses[~whole].sum())
    return suppressed, rollup.marginals(np.where(whole[classes.class_of], classes.counts, 0), unplaced)
