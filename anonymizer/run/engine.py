"""The engine of a run: which one counts the distinct rows, its limits, and memory left for the search.

Spark counts out of core and writes folders of Parquet files; settings it does not support are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anonymizer.config.files import URL
from anonymizer.config.model import Config
from anonymizer.config.search import MOST_THREADS, EngineName
from anonymizer.data.distinct_rows import DistinctRows
from anonymizer.data.engine import REMOTE, Engine, engine_named
from anonymizer.data.memory import memory_of_machine
from anonymizer.data.relation import Coding, Relation
from anonymizer.data.source import CSV_FILES, EngineOptions, MissingTexts, RewrittenNumbers
from anonymizer.data.table import units_of_stored
from anonymizer.errors import ConfigError, ConfigProblem, suggestion
from anonymizer.model.arrays import freeze
from anonymizer.model.table import COMMA, LEFT_OUT, MISSING, QuasiIdentifier, Role, SensitiveAttribute, Table


def plugged_engine(config: Config) -> Engine | None:
    """Return the plug-in engine of a config; None for memory, DuckDB and auto."""
    return None if config.engine.name in set(EngineName) else engine_named(config.engine.name)


def _problems_without_plug_in(config: Config) -> Iterator[ConfigProblem]:
    """Yield the paths of a config that only a plug-in engine can read or write."""
    for key, path in (("input.path", config.input.path), ("output.path", config.output.path)):
        if path is not None and URL.match(path):
            yield ConfigProblem(key, f"{path}: is on another file system; set engine.name: {REMOTE}")


OPTION_KINDS: Mapping[str, tuple[type, str]] = {
    "threads": (int, f"a whole number from 1 to {MOST_THREADS}"),
    "temp_directory": (str, "a folder, relative to the config file"),
    "combinations": (int, "a whole number of distinct rows, at least 1"),
}
"""The options of every engine, with their types and a description of accepted values."""

PROGRAM_BYTES = 200_000_000
"""Memory of the interpreter and the libraries before anything is read."""

DATABASE_SHARE = 0.5
"""Of the free memory, for the database, which exceeds its limit somewhat; the search needs the rest."""

SEARCH_SHARE = 0.4
"""Of the free memory, for the distinct rows and the arrays of a search."""

SEARCHED_BYTES = 60
"""Memory of a search for each distinct row besides its codes: keys, numbers of classes, counts."""

CODE_BYTES = 4
"""Memory of a code in the frequency table."""

UNITS = {"K": 1, "M": 2, "G": 3, "T": 4}
"""The power of 1000 of each unit of memory, or of 1024 for binary units."""


def engine_options(config: Config) -> EngineOptions:
    """Return the limits that the config sets for the engine.

    Raises
    ------
    ConfigError: options are unknown to the engine, or have wrong values.
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
    limit, marker = config.engine.memory_limit, config.output.missing
    return EngineOptions(
        None if limit is None else f"{int(_free(config) * DATABASE_SHARE)}B",
        None if threads is None else int(threads),
        _temp_directory(config),
        None if combinations is None else int(combinations),
        None if plugged is None else plugged.name,
        tuple(sorted(_as_texts(own))),
        frozenset(config.attributes),
        config.input.strict_header,
        None if marker is None else MissingTexts(marker, (*config.input.missing, MISSING)),
        rewritten_numbers(config),
    )


def rewritten_numbers(config: Config) -> RewrittenNumbers | None:
    """Return which numbers of the input get the decimal sign of the release; None if they keep theirs."""
    if config.output.decimal is None:
        return None
    known = {name: each.type for name, each in config.attributes.items() if each.role not in LEFT_OUT}
    columns = frozenset(name for name, kind in known.items() if kind is not None and kind.numeric)
    weights = frozenset(config.with_role(Role.WEIGHT))
    judged = frozenset(name for name, kind in known.items() if kind is None) - weights
    given, released, absent = config.input.numerals, config.numerals, config.input.missing
    text = CSV_FILES.named(str(config.output.path))
    stored = frozenset(known if text else config.with_role(Role.QUASI_IDENTIFIER))
    stored = stored if released == COMMA else frozenset()
    return RewrittenNumbers(given, released, columns | weights, judged, absent, stored)


def reading_release(options: EngineOptions, config: Config, path: Path | None = None) -> EngineOptions:
    """Return the options for reading a release of a config.

    Parameters
    ----------
    path: of the release; None for what the config writes.
    """
    given, options = config.output.missing, replace(options, numbers=None)
    if given is None:
        return options
    texts = (given,) if CSV_FILES.named(str(path or config.output.path)) else ()
    recoded = frozenset(config.with_role(Role.QUASI_IDENTIFIER))
    return replace(options, missing=MissingTexts(given, texts, recoded))


def _temp_directory(config: Config) -> Path | None:
    """Return the folder for data that does not fit in memory; None for the system's."""
    folder = config.engine.options.get("temp_directory")
    return None if folder is None else config.folder / str(folder)


def _as_texts(options: Mapping[str, bool | int | str]) -> Iterator[tuple[str, str]]:
    """Yield options as texts, truth values as ``true`` and ``false``."""
    for name, value in options.items():
        yield name, str(value).lower() if isinstance(value, bool) else str(value)


def _misplaced(config: Config) -> list[ConfigProblem]:
    """Return the problems of ``engine.options.combinations``."""
    combinations = config.engine.options.get("combinations")
    where = "engine.options.combinations"
    if combinations is None:
        return []
    if int(combinations) < 1:
        return [ConfigProblem(where, f"{combinations!r}; accepted: {OPTION_KINDS['combinations'][1]}")]
    if config.engine.name == EngineName.MEMORY:
        what = (
            "not an option of engine.name: memory, which has no limit; remove it, or set engine.name: duckdb"
        )
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
    """Return the bytes that a run may use: the limit, and at most the memory of the machine."""
    limit, machine = config.engine.memory_limit, memory_of_machine()
    return machine if limit is None else min(bytes_of(limit), machine)


def free_of(memory: int, program: int = PROGRAM_BYTES) -> int:
    """Return the bytes of a limit minus those of the program, at least half of the limit.

    A limit below twice the memory of the program cannot be met; data is then kept as small as possible.

    >>> free_of(500_000_000), free_of(100_000_000)
    (300000000, 50000000)
    """
    return max(memory - program, memory // 2)


def _free(config: Config) -> int:
    """Return the bytes that this program and a plug-in engine leave free."""
    plugged = plugged_engine(config)
    return free_of(memory_of(config), PROGRAM_BYTES + (0 if plugged is None else plugged.program_bytes))


def combination_bytes(columns: int) -> int:
    """Return the bytes that a search needs for each distinct row of some columns."""
    return SEARCHED_BYTES + CODE_BYTES * columns


@dataclass(frozen=True)
class EngineLimits:
    """Memory of a search, and the folder for data that does not fit.

    Attributes
    ----------
    name: of the engine, as in the config.
    space: bytes.
    combinations: maximum number of distinct rows; None to derive it from ``space``.
    temp_directory: None for the system's.
    """

    name: str
    space: int
    combinations: int | None
    temp_directory: Path | None

    def room(self, columns: int) -> int:
        """Return the maximum number of distinct rows of some columns in memory, at least 1."""
        if self.combinations is not None:
            return self.combinations
        return max(1, self.space // combination_bytes(columns))


def limits_of(config: Config) -> EngineLimits:
    """Return the limits of a config."""
    given = config.engine.options.get("combinations")
    space = int(_free(config) * SEARCH_SHARE)
    most = None if given is None else int(given)
    return EngineLimits(config.engine.name, space, most, _temp_directory(config))


KEY_BYTES = 16
"""Memory for each record while it is counted: its key and the column being added."""


@dataclass(frozen=True)
class EngineChoice:
    """The engine that counts.

    Attributes
    ----------
    name: as in the config, never auto.
    because: a sentence that may contain numbers of records and distinct rows.
    """

    name: str
    because: str


@dataclass(frozen=True, eq=False)
class Counted:
    """The distinct rows of an input, in memory or in the engine.

    Attributes
    ----------
    most: maximum number in memory.
    beyond: whether there are more.
    """

    combinations: DistinctRows
    most: int
    beyond: bool
    choice: EngineChoice


def count_distinct_rows(limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
    """Count the distinct rows of the codes of columns with the engine of a config."""
    name = limits.name
    if name == EngineName.MEMORY:
        return _in_memory(relation, codings, "engine.name says so")
    if name == EngineName.AUTO:
        return _estimated(limits, relation, codings)
    return _stored(limits, relation, codings, EngineChoice(name, "engine.name says so"))


def _estimated(limits: EngineLimits, relation: Relation, codings: Sequence[Coding]) -> Counted:
    """Count in memory if the rows certainly fit or are estimated to; DuckDB stores them otherwise."""
    each = combination_bytes(len(codings))
    space, most = limits.space, limits.room(len(codings))
    if relation.rows <= most and relation.rows * (KEY_BYTES + each) <= space:
        return _in_memory(relation, codings, f"all {relation.rows:,} records would fit")
    estimate = relation.estimated_combinations([coding.name for coding in codings])
    what = f"about {estimate:,} distinct rows of {relation.rows:,} records"
    if estimate <= most and relation.rows * KEY_BYTES + estimate * each <= space:
        return _in_memory(relation, codings, f"{what} fit")
    because = f"{what} may exceed memory, which holds at most {most:,}"
    return _stored(limits, relation, codings, EngineChoice(EngineName.DUCKDB.value, because))


def _in_memory(relation: Relation, codings: Sequence[Coding], because: str) -> Counted:
    combinations = relation.combinations(codings)
    choice = EngineChoice(EngineName.MEMORY.value, because)
    return Counted(combinations, combinations.number, beyond=False, choice=choice)


def _stored(
    limits: EngineLimits, relation: Relation, codings: Sequence[Coding], choice: EngineChoice
) -> Counted:
    combinations = relation.stored_distinct_rows(codings)
    most = limits.room(len(codings))
    return Counted(combinations, most, beyond=combinations.number > most, choice=choice)


def finest(
    attributes: Sequence[QuasiIdentifier], sensitive: Sequence[SensitiveAttribute], found: Counted
) -> Table:
    """Return the frequency table of distinct rows that fit in memory; the engine drops them."""
    with found.combinations as combinations:
        codes, counts = combinations.fetch()
        units = units_of_stored(combinations, codes)
    for array in (codes, counts):
        freeze(array)
    return Table(tuple(attributes), tuple(sensitive), codes, counts, units=units)
