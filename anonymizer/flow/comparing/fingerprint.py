"""What a result depends on, in one hash: with another input, config or version, it is not the same result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

from anonymizer.config.model import Config
from anonymizer.errors import InputError
from anonymizer.flow.attributes import hierarchy_files
from anonymizer.flow.prepare import input_path
from anonymizer.report.build import environment

FORMAT = 2
"""Of the kept results."""

PLUG_INS = "anonymizer."
"""How the name of every entry-point group begins."""


class Fingerprints:
    """Hashes of runs; each file is read once."""

    def __init__(self) -> None:
        self._files: dict[Path, str] = {}
        self._environment = environment()
        self._programs = self._of_programs()

    def of(self, config: Config) -> str:
        """Return the hash of a run's config, of every file that it reads, and of the programs it runs on.

        Raises
        ------
        InputError: a file cannot be read.
        """
        files = [input_path(config), *hierarchy_files(config)]
        content = {
            "format": FORMAT,
            "environment": self._environment,
            "programs": self._programs,
            "config": config.to_dict(),
            "files": [self._file(path) for path in files],
        }
        text = json.dumps(content, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _of_programs(self) -> list[tuple[str, ...]]:
        """Return the modules of this package and the plug-ins of others: one may change between versions."""
        room = Path(__file__).parents[2]
        own = [(path.relative_to(room).as_posix(), self._file(path)) for path in sorted(room.rglob("*.py"))]
        return [*own, *sorted(self._plug_ins())]

    def _plug_ins(self) -> Iterator[tuple[str, ...]]:
        for each in distributions():
            for point in each.entry_points:
                if point.group.startswith(PLUG_INS):
                    spec = find_spec(point.module)
                    source = spec.origin if spec is not None and spec.has_location else None
                    content = "" if source is None else self._file(Path(source))
                    yield point.group, point.value, each.version, content

    def _file(self, path: Path) -> str:
        if path not in self._files:
            try:
                with path.open("rb") as stream:
                    self._files[path] = hashlib.file_digest(stream, "sha256").hexdigest()
            except OSError as error:
                raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        return self._files[path]
