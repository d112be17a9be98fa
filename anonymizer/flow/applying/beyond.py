"""New records whose combinations do not fit in memory, told apart as far as an earlier recoding does."""

from __future__ import annotations

from dataclasses import replace

from anonymizer.data.table import recoded_as
from anonymizer.errors import InputError
from anonymizer.flow.applying.kept import StoredRecoding
from anonymizer.flow.beyond import row_limit_message
from anonymizer.flow.prepare import Job


def coarsened_job(job: Job, recoding: StoredRecoding) -> Job:
    """Return a job whose table tells records apart as far as a recoding does; itself where all fits.

    A value stands in the table as the lowest one of its node at the finest level that the recoding knows of
    the attribute. What is published of either is the same, and so is whatever is measured.

    Raises
    ------
    InputError: the recoding does not fit the hierarchies, or even such a table does not fit in memory.
    """
    problem = job.problem
    if problem.source is None:
        return job
    attributes = problem.table.quasi_identifiers
    levels = recoding.finest(attributes)
    table = problem.source.at(levels, problem.most)
    if table is None:
        named = ", ".join(f"{each.name} {level}" for each, level in zip(attributes, levels, strict=True))
        raise InputError(
            f"{row_limit_message(job.counted)}; even told apart no further than by the recoding of the earlier run "
            f"(levels: {named}) they do not fit; allow more (engine.memory_limit, "
            "engine.options.combinations), or apply to parts of the records, one after the other"
        )
    encoded = recoded_as(job.encoded, table)
    # The levels that may be published are those of the attributes, whatever the table tells apart.
    whole = replace(table, quasi_identifiers=attributes)
    return replace(job, problem=replace(problem, table=whole, source=None, placing=False), encoded=encoded)
