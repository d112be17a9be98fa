"""Hierarchy files that lie beside a data file, found by their names as other tools write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = "hierarchies"
"""Folder beside the data in which a file may be named after its column alone."""

_BETWEEN = "_hierarchy_"
_SUFFIX = ".csv"


@dataclass(frozen=True)
class HierarchyFile:
    """A file with the hierarchy of a column.

    Attributes
    ----------
    path: relative to the config, as the config names it.
    folder: of the config.
    """

    path: str
    folder: Path

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]


def hierarchy_files(data: Path, stem: str, columns: Sequence[str]) -> Mapping[str, Path]:
    """Return the hierarchy file of each column that has one.

    ``adult_hierarchy_age.csv`` beside ``adult.csv``, or in the folder ``hierarchies`` there, is that of
    ``age``, and so is ``age.csv`` in that folder.

    Parameters
    ----------
    stem: name of the data without suffix.
    """
    found: dict[str, Path] = {}
    for path, names_column in _candidates(data.parent):
        name = path.name[: -len(_SUFFIX)].casefold()
        for column in columns:
            own = column.casefold()
            fits = name == f"{stem.casefold()}{_BETWEEN}{own}" or (names_column and name == own)
            if fits and path.name != data.name:
                found.setdefault(column, path)
    return found


def _candidates(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield CSV files, and whether they may be named after their column alone."""
    for place, alone in ((folder, False), (folder / FOLDER, True)):
        try:
            files = sorted(each for each in place.iterdir() if each.name.lower().endswith(_SUFFIX))
        except OSError:
            continue
        yield from ((each, alone) for each in files if (alone or _BETWEEN in each.name) and each.is_file())
