"""Hierarchy files that lie beside a data file, found by their names as other tools write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


SEVERAL = 2
"""Columns after which files of the folder must be named: a single one may be of other data beside it."""


def hierarchy_files(data: Path, stem: str, columns: Sequence[str]) -> Mapping[str, Path]:
    """Return the hierarchy file of each column that has one.

    ``adult_hierarchy_age.csv`` beside ``adult.csv``, or in the folder ``hierarchies`` there, is that of
    ``age``. So is ``age.csv`` in that folder, if another file there is named after a column, too.

    Parameters
    ----------
    stem: name of the data without suffix.
    """
    full = {f"{stem}{_BETWEEN}{column}{_SUFFIX}".casefold(): column for column in columns}
    short = {f"{column}{_SUFFIX}".casefold(): column for column in columns}
    folder = data.parent / FOLDER
    alone = _named(folder, short)
    return {
        **(alone if len(alone) >= SEVERAL else {}),
        **_named(folder, full),
        **{column: path for column, path in _named(data.parent, full).items() if path.name != data.name},
    }


def _named(folder: Path, names: Mapping[str, str]) -> dict[str, Path]:
    """Return the files of a folder with these names, in capitals or not, by column."""
    try:
        files = sorted(folder.iterdir())
    except OSError:
        return {}
    found = ((names.get(each.name.casefold()), each) for each in files)
    return {column: path for column, path in found if column is not None and path.is_file()}
