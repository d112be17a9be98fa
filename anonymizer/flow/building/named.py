"""Hierarchies as the command line names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anonymizer.errors import InputError, suggestion
from anonymizer.hierarchy.base import HierarchySource
from anonymizer.hierarchy.file import FileSettings, FileSource
from anonymizer.hierarchy.ready import ReadySettings, ReadySource, ready_names
from anonymizer.plugins import path_fault, shortened_path


def named_source(source: str) -> HierarchySource[Any]:
    """Return the hierarchy of a file, or else the ready-made one of that name.

    Raises
    ------
    InputError: there is neither.
    """
    fault = path_fault(source)
    if fault is not None:
        raise InputError(f"{shortened_path(source)}: {fault}")
    if source in ready_names() and not Path(source).is_file():
        return ReadySource(ReadySettings(source))
    if not Path(source).exists():
        raise InputError(
            f"{source}: no such file, and no ready hierarchy; {suggestion(source, ready_names())}"
        )
    return FileSource(FileSettings(source))
