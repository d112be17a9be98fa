"""Engines that are plug-ins: they read, count and write files on other file systems.

Memory and DuckDB are part of ``anonymizer.data``. Any other engine is one class, with an entry point of the
group ``anonymizer.engines`` by its ``engine.name`` in a config.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions
from anonymizer.errors import ConfigProblem, InputError, suggestion
from anonymizer.system import Closing

GROUP = "anonymizer.engines"

REMOTE = "spark"
"""The default engine for URLs."""


class EngineFolder(Closing):
    """A release that an engine writes as a folder, which gets its name in ``commit``.

    Attributes
    ----------
    staged: URL under which it is written; ``Engine.open`` reads it back from there.
    """

    staged: str

    @abstractmethod
    def commit(self) -> None:
        """Give the folder its name, in place of an earlier release.

        Raises
        ------
        OutputError: it cannot be renamed; everything is as before.
        """


class Engine(ABC):
    """An engine that reads files on other file systems, and writes a release as a folder of files.

    Attributes
    ----------
    name: as in the config.
    program_bytes: memory of its processes on this machine before any input is read.
    """

    name: ClassVar[str]
    program_bytes: ClassVar[int] = 0

    @abstractmethod
    def has_option(self, name: str) -> bool:
        """Return whether ``engine.options`` may have this name, besides those of all engines."""

    @abstractmethod
    def problems(self, config: Any) -> Iterator[ConfigProblem]:
        """Yield the parts of a config that this engine does not support; starts nothing.

        Parameters
        ----------
        config: an ``anonymizer.Config``.
        """

    @abstractmethod
    def open(self, location: str, options: EngineOptions) -> Relation:
        """Open a file, or a folder of files.

        Parameters
        ----------
        location: path or URL.
        options: ``settings`` holds those of this engine.

        Raises
        ------
        DataError: missing, damaged, without records, or of a kind that the engine does not read.
        InputError: the engine cannot be started.
        """

    @abstractmethod
    def folder(
        self, location: str, directory: Path, source: str, options: EngineOptions, *, overwrite: bool
    ) -> EngineFolder:
        """Return the folder for a release.

        Parameters
        ----------
        location: URL of the folder.
        directory: local folder of the reports.
        source: path or URL of the input, which is never replaced.
        overwrite: whether an earlier release may be replaced.

        Raises
        ------
        InputError: the engine cannot be started.
        OutputError: something exists there that may not be replaced.
        """


def engine_names() -> list[str]:
    """Return the names of the engines that are plug-ins, sorted."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def engine_named(name: str) -> Engine:
    """Return the engine of a name.

    Raises
    ------
    InputError: it is not installed, or cannot be imported.
    """
    points = list(entry_points(group=GROUP, name=name))
    if not points:
        raise InputError(f"engine '{name}' is not installed; {suggestion(name, engine_names())}")
    try:
        plug_in: type[Engine] = points[0].load()
    except ImportError as error:
        raise InputError(f"engine '{name}' cannot be imported ({error}); install it again") from None
    return plug_in()
