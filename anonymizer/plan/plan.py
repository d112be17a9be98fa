"""The plan of a run: what lower rooms receive of the config."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from anonymizer.config.features import conflicts
from anonymizer.config.files import Order
from anonymizer.config.model import Config
from anonymizer.data.source import CSV_FILES
from anonymizer.model.feature_rows import Conflict, Stage, Words
from anonymizer.model.invocation import RunCommand
from anonymizer.model.recoding import Bound
from anonymizer.plan.assessment import Assessment, assessment_of
from anonymizer.plan.columns import (
    Columns,
    columns_of,
)
from anonymizer.plan.counting import Counting, counting_of
from anonymizer.plan.goal import Goal, goal_of
from anonymizer.plan.memory import EngineLimits, limits_of


@dataclass(frozen=True)
class Target:
    """Where a release goes, and in which form.

    Attributes
    ----------
    input: name of the input in messages.
    path: of the release; None for a table.
    marker: text of all missing values in a release that is text; None if each column keeps its own.
    shuffled: whether the released records are shuffled instead of sorted.
    in_input_database: whether input and release are in one database.
    in_duckdb: whether the release is a table of DuckDB, which has every type.
    """

    input: str
    path: str | None
    marker: str | None
    shuffled: bool
    in_input_database: bool
    in_duckdb: bool

    @property
    def is_text(self) -> bool:
        """Whether the release is a text file."""
        return CSV_FILES.named(self.path or "")


@dataclass(frozen=True, eq=False)
class Plan:
    """The part of a config that lower rooms need.

    Attributes
    ----------
    config: name of the config in messages.
    command: that started the run; None without one.
    shown: the config in reports.
    columns: of the input and the release.
    counting: what is counted in place of records.
    goal: of the search.
    assessment: of the release.
    target: where the release goes.
    engine: the engine that counts, and its limits.
    seed_is_default: whether nobody has chosen the seed.
    conflicts: yields what does not go together at a stage of the run.
    """

    config: str
    command: RunCommand | None
    shown: dict[str, Any]
    columns: Columns
    counting: Counting
    goal: Goal
    assessment: Assessment
    target: Target
    engine: EngineLimits
    seed_is_default: bool
    conflicts: Callable[[Stage, Words], Iterator[Conflict]]

    def for_a_look(self) -> Plan:
        """Return the plan of a run of which only a first release is looked at.

        Whether a value has the text of missing ones does not change what that loses.
        """
        goal, target = replace(self.goal, bound=Bound.NONE), replace(self.target, marker=None)
        return replace(self, goal=goal, target=target)


def plan_of(config: Config) -> Plan:
    """Return the plan of a config."""
    goal = goal_of(config)
    columns = columns_of(config, goal.algorithm, goal.suppression)
    return Plan(
        config=config.source,
        command=config.command,
        shown=config.to_dict(),
        columns=columns,
        counting=counting_of(config, goal, columns.absent),
        goal=goal,
        assessment=assessment_of(config),
        target=_target_of(config),
        engine=limits_of(config),
        seed_is_default=config.seed == Config.model_fields["seed"].default,
        conflicts=partial(conflicts, config),
    )


def _target_of(config: Config) -> Target:
    output = config.output
    return Target(
        input=str(config.input.path or "the input"),
        path=output.path,
        marker=output.missing if CSV_FILES.named(str(output.path)) else None,
        shuffled=output.order is Order.SHUFFLED,
        in_input_database=config.in_input_database,
        in_duckdb=output.database is not None,
    )
