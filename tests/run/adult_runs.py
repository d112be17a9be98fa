"""Adult through the command, by any engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.run.commands import Done, call
from tests.shared import shared

ATTRIBUTES = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass")


def adult(**others: Any) -> dict[str, Any]:
    """Return a config: seven quasi-identifiers, a sensitive text, and a column that is left out."""
    hierarchies = shared("data", "adult", "hierarchies")
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": {"file": str(hierarchies / f"{name}.csv")}}
        for name in ATTRIBUTES
    }
    return {
        "input": {"path": str(shared("data", "adult", "data.csv.gz"))},
        "attributes": {
            **attributes,
            "occupation": {"role": "sensitive"},
            "salary-class": {"role": "identifier"},
        },
        **others,
    }


def with_salary(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with a column more in the release, which is not in the frequency table."""
    return {**asked, "attributes": {**asked["attributes"], "salary-class": {"role": "insensitive"}}}


def ran(asked: Mapping[str, Any], folder: Path, name: str) -> Done:
    """Run a config, with the release in a folder of that name."""
    path = folder / "job.json"
    path.write_text(json.dumps(asked), encoding="utf-8")
    return call("run", path, "-o", folder / name, "--json")
