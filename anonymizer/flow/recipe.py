"""What a finished search tells whoever knows its config: that nothing of lower loss was valid."""

from __future__ import annotations

from dataclasses import replace

from anonymizer.loss.base import Maximum
from anonymizer.model.adversary import MechanismKnowledge, SensitiveConstraint
from anonymizer.model.outcome import Outcome
from anonymizer.privacy.base import ClassConstraint
from anonymizer.privacy.conditions import CountConditions
from anonymizer.search.base import SearchProblem


def mechanism_of(problem: SearchProblem, outcome: Outcome) -> MechanismKnowledge | None:
    """Return how a release was made.

    None where something finer may have been valid and not published, or where the original combinations are
    not in memory.
    """
    recoding = outcome.recoding
    if recoding is None or recoding.levels is None or not recoding.along_hierarchies or not outcome.optimal:
        return None
    rejected = problem.table_constraints or not problem.gate.open
    unknown = problem.source is not None or isinstance(problem.metric.aggregate, Maximum)
    if problem.limit or rejected or unknown:
        return None
    own = problem.table.quasi_identifiers
    return MechanismKnowledge(
        tuple(recoding.levels),
        tuple(each.minimum for each in own),
        tuple(each.weight > 0 for each in own),
        problem.minimum_size,
        tuple(
            _promise(problem, each, each.attribute)
            for each in problem.class_constraints
            if each.attribute is not None
        ),
    )


def _promise(problem: SearchProblem, constraint: ClassConstraint, name: str) -> SensitiveConstraint:
    """Return a constraint on sensitive values, with what it asks for where that is distinct values alone."""
    if constraint.combined or constraint.model.uses_reference:
        return SensitiveConstraint(name)
    attribute = problem.table.sensitive[problem.table.sensitive_names.index(name)]
    asked = constraint.retention(attribute, None)
    if asked is None or len(asked.distinct) != 1:
        return SensitiveConstraint(name)
    (distinct,) = asked.distinct
    if _is_plain(replace(asked, smallest=1, distinct=())):
        return SensitiveConstraint(name, distinct.number, distinct.missing is None)
    return SensitiveConstraint(name)


def _is_plain(asked: CountConditions) -> bool:
    """Tell whether nothing is asked for."""
    shares = (asked.caps, asked.floors, asked.required)
    return all(each is None for each in shares) and not (
        asked.dominances or asked.entropies or asked.deviations
    )
