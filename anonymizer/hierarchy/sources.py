"""The known sources of hierarchies, by the key that names them in a config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.base import HierarchySource
from anonymizer.plugins import Registry

HIERARCHY_SOURCES: Registry[HierarchySource[Any]] = Registry(
    "hierarchy source",
    HierarchySource,
    "anonymizer.hierarchy",
    "anonymizer.hierarchy_sources",
)
"""Every ``HierarchySource`` with a name."""


def make_source(mapping: Mapping[str, Any], where: str) -> HierarchySource[Any]:
    """Return the source that a mapping of one key, as under ``hierarchy:``, describes.

    Parameters
    ----------
    mapping: the source's name, to the value that its settings validate.
    where: what messages call the place of the mapping.

    Raises
    ------
    HierarchyError: not one key, or settings that the source refuses.
    InputError: no source has the name.
    """
    if len(mapping) != 1:
        raise HierarchyError(f"{where}: {sorted(mapping)}; accepted: one of {', '.join(HIERARCHY_SOURCES)}")
    [(name, value)] = mapping.items()
    kind = HIERARCHY_SOURCES[name]
    try:
        return kind(kind.Settings.model_validate(value))
    except ValidationError as error:
        faults = [
            ".".join([where, name, *map(str, fault["loc"])])
            + f": {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False, include_context=False)
        ]
        raise HierarchyError("\n".join(faults)) from None
