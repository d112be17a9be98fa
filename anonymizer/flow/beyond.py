"""What can be done where the distinct combinations do not fit in memory, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from anonymizer.attacks.base import AdversaryView
from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.data.table import ReadColumn
from anonymizer.errors import InputError
from anonymizer.flow.counting import Counted
from anonymizer.flow.weights import weight_columns
from anonymizer.model.adversary import PublishedTable
from anonymizer.model.classes import SensitiveCodes
from anonymizer.model.out_of_core import TableSource
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.release.query import told
from anonymizer.search.base import SearchProblem, SuppressionMethod


def coarsest(source: TableSource, attributes: Sequence[QuasiIdentifier], found: Counted) -> Table:
    """Return the table at the highest allowed levels, with attributes that may be used at every allowed one.

    Raises
    ------
    InputError: even that does not fit.
    """
    table = source.at([attribute.maximum for attribute in attributes], found.most)
    if table is None:
        raise InputError(
            f"{row_limit_message(found)}, even at the highest levels that attributes.*.levels allow; "
            "allow higher levels, or more memory (engine.memory_limit, engine.options.combinations)"
        )
    return replace(table, quasi_identifiers=tuple(attributes))


def columns_outside_table(config: Config, relation: Relation, columns: Mapping[str, ReadColumn]) -> list[str]:
    """Return the released columns that cannot be written without a look at the records."""
    positions = {read.column.name: read.codes for read in columns.values()}
    roles = {name: config.attributes[name].role for name in relation.columns}
    released = [name for name in relation.columns if roles[name] is not Role.IDENTIFIER]
    if relation.writer is None:
        return released
    return [
        name
        for name in released
        if roles[name] is not Role.QUASI_IDENTIFIER and not told(relation, name, positions)
    ]


def check_beyond_memory(
    config: Config, problem: SearchProblem, found: Counted, untold: Sequence[str]
) -> None:
    """Refuse what asks for every distinct combination at once.

    Parameters
    ----------
    untold: released columns that the frequency table does not tell, nor can the engine join.

    Raises
    ------
    InputError: naming all of it, and what would do.
    """
    refused = [*_refused(config, problem), *_untold(config, untold)]
    if refused:
        raise InputError(
            f"{row_limit_message(found)}, so that they stay in the engine, where these cannot be had: "
            f"{'; '.join(refused)}. Remove them, or allow more memory (engine.memory_limit, "
            "engine.options.combinations)"
        )


def row_limit_message(found: Counted) -> str:
    """Say how many combinations there are, and how many fit."""
    return (
        f"engine {found.choice.name}: the input has {found.combinations.number:,} distinct combinations, "
        f"where memory has room for {found.most:,}"
    )


def _refused(config: Config, problem: SearchProblem) -> Iterator[str]:
    if not config.algorithm.plug_in.out_of_core:
        able = [name for name, each in config.algorithm.registry().items() if each.out_of_core]
        yield f"algorithm {config.algorithm.name} (accepted: {', '.join(able)})"
    else:
        yield from config.algorithm.build().out_of_core_gaps(problem)
    if problem.suppression is not SuppressionMethod.CLASSES:
        yield f"suppression.method {problem.suppression.value} (accepted: classes)"
    for constraint in problem.gate.constraints:
        yield f"constraint {constraint.model.name}, whose attackers hold the original records"
    if config.attacks:
        scene = AdversaryView(_published(problem.table, weight_columns(config)))
        for position, each in enumerate(config.attacks):
            lacking = each.build().missing_requirement(scene)
            if lacking is not None:
                yield f"attacks[{position}]: {each.attack}, which needs {lacking}"
            elif getattr(each.settings, "features", each.attack) is None:
                yield f"attacks[{position}]: {each.attack} of original values (accepted: features: published)"
    if config.utility:
        yield "utility, which compares the release with the original records"


def _untold(config: Config, columns: Sequence[str]) -> Iterator[str]:
    """Name the columns that only a look at the records could release, which do not stand in an engine."""
    algorithm = config.algorithm.plug_in
    if columns and algorithm.out_of_core and not algorithm.by_codes:
        named = ", ".join(f"'{name}'" for name in columns)
        yield (
            f"with algorithm {config.algorithm.name} a release of {named}, which "
            f"{'is' if len(columns) == 1 else 'are'} in a DataFrame (accepted: files and tables)"
        )


def _published(table: Table, weights: Sequence[str]) -> PublishedTable:
    """Return a table of what a release at the highest levels would show, to ask attacks what they lack."""
    attributes = table.quasi_identifiers
    return PublishedTable(
        "the release",
        tuple(attribute.name for attribute in attributes),
        tuple(attribute.column.texts for attribute in attributes),
        table.codes[:, : len(attributes)],
        {
            each.name: SensitiveCodes(each, table.sensitive_codes(each.name).astype(np.int64))
            for each in table.sensitive
        },
        table.counts,
        {name: np.ones(len(table.counts)) for name in weights},
    )
