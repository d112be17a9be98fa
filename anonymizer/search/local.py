"""Local recoding: every record takes hierarchy nodes of its own."""

from __future__ import annotations

from dataclasses import replace

from anonymizer.model.outcome import Outcome
from anonymizer.search.base import SearchAlgorithm, SearchProblem, SuppressionMethod
from anonymizer.search.control import Control
from anonymizer.search.growing import search_with_attack_checks
from anonymizer.search.lattice import Lattice
from anonymizer.search.local_recoding.run import LATTICE_NODES, LocalRun

PROBE = 3
"""Steps that tell whether attackers break what a size of classes gives."""


class Local(SearchAlgorithm):
    """Finds for every record a node of each hierarchy, so that the records with equal nodes are a class.

    A greedy start is improved round by round until the budget ends. By a metric that is a weighted mean of
    cell costs the result is never worse than the optimum of the lattice, as full-domain recoding is a special
    case; where the budget ends within the start of a large table, it is what Mondrian finds. Any other metric
    is guided by the mean of its cell costs, or by ``loss`` where it has none, and the best by the metric
    itself is returned.
    """

    name = "local"
    suppressions = frozenset({SuppressionMethod.CLASSES, SuppressionMethod.RECORDS})

    def search(self, problem: SearchProblem, control: Control) -> Outcome:
        """Return the best recoding found, with what is proven about it.

        Raises
        ------
        InputError: the metric has no value for a local recoding.
        Interrupted: the user ended the search before there was a recoding.
        """
        return search_with_attack_checks(
            problem,
            control,
            lambda asked, left: LocalRun(asked, left).run(),
            probe=PROBE,
            rival=lambda asked, left: Lattice().search(asked, replace(left, nodes=LATTICE_NODES)),
        )
