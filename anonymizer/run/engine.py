"""The engine of a run: which one counts the distinct rows, its limits, and memory left for the search.

Spark counts out of core and writes folders of Parquet files; settings it does not support are refused.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anonymizer.config.files import URL
from anonymizer.config.model import Config
from anonymizer.config.search import MOST_THREADS, EngineName
from anonymizer.data.distinct_rows import DistinctRows
from anonymizer.data.engine import REMOTE, Engine, engine_named
from anonymizer.data.memory import memory_of_machine
from anonymizer.data.relation import Coding, Relation
from anonymizer.data.source import EngineOptions
from anonymizer.errors import ConfigError, ConfigProblem, suggestion
from anonymizer.model.arrays import freeze
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute, Table


def plugged_engine(config: Config) -> Engine | None:
    """Return the engine of a config that is a plug-in; None for memory, DuckDB and the choice among them."""
    return None if config.engine.name in set(EngineName) else engine_named(config.engine.name)


def _problems_without_plug_in(config: Config) -> Iterator[ConfigProblem]:
    """Yield what of a config only an engine that is a plug-in can do."""
    for key, path in (("input.path", config.input.path), ("output.path", config.output.path)):
        if path is not None and URL.match(path):
            yield ConfigProblem(
                key, f"{path}: is on another file system, which engine.name: {REMOTE} reaches"
            )


OPTION_KINDS: Mapping[str, tuple[type, str]] = {
    "threads": (int, f"a whole number from 1 to {MOST_THREADS}"),
    "temp_directory": (str, "a folder, relative to the config file"),
    "combinations": (int, "a whole number of distinct combinations, at least 1"),
}
"""What ``engine.options`` may hold, and how a message describes its values."""

PROGRAM_BYTES = 200_000_000
"""What the interpreter and the libraries take before anything is read."""

DATABASE_SHARE = 0.5
"""Of what is left of the limit: the database uses more than it is told, and the search needs the rest."""

SEARCH_SHARE = 0.4
"""Of what is left of the memory, for the distinct combinations and what a search holds beside them."""

SEARCHED_BYTES = 60
"""What a search holds for each combination beside its codes: keys, numbers of classes, counts."""

CODE_BYTES = 4
"""A code in the frequency table."""

UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}
"""Thousands in what a unit of memory stands for, or in binary as many times 1024."""


def engine_options(config: Config) -> EngineOptions:
    """Return the limits that the config sets for the engine.

    Raises
    ------
    ConfigError: naming every option that the engine has not, or not with this value.
    """
    options = config.engine.options
    plugged = plugged_engine(config)
    own = {name: options[name] for name in options if plugged is not None and plugged.has_option(name)}
    problems = [
        ConfigProblem(f"engine.options.{name}", f"unknown option; {suggestion(name, OPTION_KINDS)}")
        for name in options
        if name not in OPTION_KINDS and name not in own
    ]
    problems += [
        ConfigProblem(f"engine.options.{name}", f"{options[name]!r}; accepted: {accepted}")
        for name, (kind, accepted) in OPTION_KINDS.items()
        if name in options and type(options[name]) is not kind
    ]
    problems = problems or _misplaced(config)
    problems += _problems_without_plug_in(config) if plugged is None else plugged.problems(config)
    if problems:
        raise ConfigError(config.source, problems)
    threads, combinations = options.get("threads"), options.get("combinations")
    limit = config.engine.memory_limit
    return EngineOptions(
        None if limit is None else f"{int(_free(config) * DATABASE_SHARE)}B",
        None if threads is None else int(threads),
        _temp_directory(config),
        None if combinations is None else int(combinations),
        None if plugged is None else plugged.name,
        tuple(sorted(_as_texts(own))),
        frozenset(config.attributes),
    )


def _temp_directory(config: Config) -> Path | None:
    """Return where what does not fit in memory goes; None for the system's folder."""
    folder = config.engine.options.get("temp_directory")
    return None if folder is None else config.folder / str(folder)


def _as_texts(options: Mapping[str, bool | int | str]) -> Iterator[tuple[str, str]]:
    """Yield options as texts, truth values as ``true`` and ``false``."""
    for name, value in options.items():
        yield name, str(value).lower() if isinstance(value, bool) else str(value)


def _misplaced(config: Config) -> list[ConfigProblem]:
    """Return what is wrong with the number of combinations."""
    combinations = config.engine.options.get("combinations")
    where = "engine.options.combinations"
    if combinations is None:
        return []
    if int(combinations) < 1:
        return [ConfigProblem(where, f"{combinations!r}; accepted: {OPTION_KINDS['combinations'][1]}")]
    if config.engine.name == EngineName.MEMORY:
        what = "for engines that keep what does not fit in memory; remove it, or set engine.name: duckdb"
        return [ConfigProblem(where, what)]
    return []


def bytes_of(limit: str) -> int:
    """Return a limit of memory in bytes.

    >>> bytes_of("500MB"), bytes_of("1.5 GiB")
    (500000000, 1610612736)
    """
    number, unit = re.fullmatch(r"([0-9.]+) ?([KMGT]i?)B", limit).groups()  # type: ignore[union-attr]
    return int(float(number) * (1024 if unit.endswith("i") else 1000) ** UNITS[unit[0]])


def memory_of(config: Config) -> int:
    """Return the bytes that a run should stay within: the limit, and at most what there are."""
    limit, machine = config.engine.memory_limit, memory_of_machine()
    return machine if limit is None else min(bytes_of(limit), machine)


def free_of(memory: int, program: int = PROGRAM_BYTES) -> int:
    """Return the bytes of a limit that are left beside what a program takes, half of it at least.

    A limit below twice what the program takes cannot be kept; what it holds is then kept small.

    >>> free_of(500_000_000), free_of(100_000_000)
    (300000000, 50000000)
    """
    return max(memory - program, memory // 2)


def _free(config: Config) -> int:
    """Return the bytes that are left beside this program and those of an engine that is a plug-in."""
    plugged = plugged_engine(config)
    return free_of(memory_of(config), PROGRAM_BYTES + (0 if plugged is None else plugged.program_bytes))


def combination_bytes(columns: int) -> int:
    """Return what a search holds for each combination of some columns."""
    return SEARCHED_BYTES + CODE_BYTES * columns


@dataclass(frozen=True)
class EngineLimits:
    """What a search may hold in memory, and where the rest goes.

    Attributes
    ----------
    name: of the engine, as in the config.
    space: bytes.
    combinations: distinct ones, where the config says so.
    temp_directory: for what does not fit; None for the system's.
    """

    name: str
    space: int
    combinations: int | None
    temp_directory: Path | None

    def room(self, columns: int) -> int:
        """Return how many combinations of some columns a search may hold in memory, at least 1."""
        if self.combinations is not None:
            return self.combinations
        return max(1, self.space // combination_bytes(columns))


def limits_of(config: Config) -> EngineLimits:
    """Return what a search may hold as a config says."""
    given = config.engine.options.get("combinations")
    space = int(_free(config) * SEARCH_SHARE)
    most = None if given is None else int(given)
    return EngineLimits(config.engine.name, space, most, _temp_directory(config))


KEY_BYTES = 16
"""Held for each record while it is counted in memory: its key and the column being added."""


@dataclass(frozen=True)
class EngineChoice:
    """Which engine counts.

    Attributes
    ----------
    name: as in the config, never auto.
    because: a sentence that may name numbers of records and combinations.
    """

    name: str
    because: str


@dataclass(frozen=True, eq=False)
class Counted:
    """The distinct combinations of an input, wherever they are kept.

    Attributes
    ----------
    most: that a search may hold in memory.
    beyond: whether there are more.
    """

    combinations: DistinctRows
    most: int
    beyond: bool
    choice: EngineChoice


class CountingEngine(ABC):
    """Counts the combinations of an input."""

    @abstractmethod
    def counted(self, limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
        """Return the combinations of some columns."""


class MemoryEngine(CountingEngine):
    """Counts in memory, whatever their number."""

    def counted(
        self,
        limits: EngineLimits,  # noqa: ARG002 - whatever they are
        relation: Relation,
        codings: Sequence[Coding],
    ) -> Counted:
        """Return the combinations in memory."""
        return _in_memory(relation, codings, "engine.name says so")


class OutOfCoreEngine(CountingEngine):
    """Lets the engine of the relation count and keep what does not fit.

    Parameters
    ----------
    name: of that engine.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def counted(self, limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
        """Return the combinations, fetched only where they fit."""
        return _kept(limits, relation, codings, EngineChoice(self._name, "engine.name says so"))


class EstimatingEngine(CountingEngine):
    """Counts in memory what surely fits there, or is estimated to; lets DuckDB keep the rest."""

    def counted(self, limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
        """Return the combinations where an estimate of their number suggests."""
        each = combination_bytes(len(codings))
        space, most = limits.space, limits.room(len(codings))
        if relation.rows <= most and relation.rows * (KEY_BYTES + each) <= space:
            return _in_memory(relation, codings, f"all {relation.rows:,} records would fit")
        estimate = relation.estimated_combinations([coding.name for coding in codings])
        what = f"about {estimate:,} distinct combinations of {relation.rows:,} records"
        if estimate <= most and relation.rows * KEY_BYTES + estimate * each <= space:
            return _in_memory(relation, codings, f"{what} fit")
        because = f"{what} may not fit in the memory, which has room for {most:,}"
        return _kept(limits, relation, codings, EngineChoice(EngineName.DUCKDB.value, because))


ENGINES: Mapping[str, CountingEngine] = {
    EngineName.AUTO: EstimatingEngine(),
    EngineName.MEMORY: MemoryEngine(),
    EngineName.DUCKDB: OutOfCoreEngine(EngineName.DUCKDB.value),
}
"""What each name in a config stands for; any other is that of a plug-in, which counts out of core."""


def count_distinct_rows(limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
    """Count the distinct combinations of the codes of columns as the limits say."""
    name = limits.name
    return ENGINES.get(name, OutOfCoreEngine(name)).counted(limits, relation, codings)


def _in_memory(relation: Relation, codings: Sequence[Coding], because: str) -> Counted:
    combinations = relation.combinations(codings)
    choice = EngineChoice(EngineName.MEMORY.value, because)
    return Counted(combinations, combinations.number, beyond=False, choice=choice)


def _kept(
    limits: EngineLimits, relation: Relation, codings: Sequence[Coding], choice: EngineChoice
) -> Counted:
    combinations = relation.stored_distinct_rows(codings)
    most = limits.room(len(codings))
    return Counted(combinations, most, beyond=combinations.number > most, choice=choice)


def finest(
    attributes: Sequence[QuasiIdentifier], sensitive: Sequence[SensitiveAttribute], found: Counted
) -> Table:
    """Return the frequency table of combinations that fit in memory; they are kept no longer."""
    with found.combinations as combinations:
        codes, counts = combinations.fetch()
    for array in (codes, counts):
        freeze(array)
    return Table(tuple(attributes), tuple(sensitive), codes, counts)
