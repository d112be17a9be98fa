"""How much memory the search and the database of a run may take, beside a plug-in engine."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from anonymizer.config.model import Config
from anonymizer.config.search import EngineName
from anonymizer.data.memory import memory_of_machine
from anonymizer.data.relation import Engine, engine_named


def plugged_engine(config: Config) -> Engine | None:
    """Return the plug-in engine of a config; None for memory, DuckDB and auto."""
    return None if config.engine.name in set(EngineName) else engine_named(config.engine.name)


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


def spill_directory(config: Config) -> Path | None:
    """Return the folder for data that does not fit in memory; None for the system's."""
    folder = config.engine.options.get("temp_directory")
    return None if folder is None else config.folder / str(folder)


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


def free_memory(config: Config) -> int:
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
    space = int(free_memory(config) * SEARCH_SHARE)
    most = None if given is None else int(given)
    return EngineLimits(config.engine.name, space, most, spill_directory(config))
