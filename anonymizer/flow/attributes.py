"""What a report says of the columns."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anonymizer.config.attribute import HierarchySettings
from anonymizer.config.model import Config
from anonymizer.model.table import Table


def describe_attributes(config: Config, table: Table) -> dict[str, Any]:
    """Return role, type and hierarchy digest by column, in the order of the config."""
    types = {each.name: each.column.type.value for each in table.quasi_identifiers}
    types |= {each.name: each.column.type.value for each in table.sensitive}
    return {
        name: {
            "role": settings.role.value,
            "type": types.get(name),
            "hierarchy_sha256": hierarchy_digest(settings.hierarchy, config.folder),
        }
        for name, settings in config.attributes.items()
    }


def hierarchy_digest(settings: HierarchySettings | None, folder: Path) -> str | None:
    """Return the SHA-256 of a hierarchy's definition: its files, wherever they lie, else its parameters.

    Of the definition, not of the tree: a tree built from the data would tell of the data.
    """
    if settings is None:
        return None
    source = settings.build()
    files = source.files(folder)
    definition = (
        {"source": settings.source, "unknown": settings.unknown.value} if files else settings.to_dict()
    )
    digest = hashlib.sha256(_canonical(definition))
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def hierarchy_files(config: Config) -> list[Path]:
    """Return the files that the hierarchies of a config are read from."""
    given = [each.hierarchy for each in config.attributes.values() if each.hierarchy is not None]
    return [path for settings in given for path in settings.build().files(config.folder)]


def _canonical(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False).encode()
