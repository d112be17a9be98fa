"""Reports without the seconds that a run took, which no two runs share."""

from __future__ import annotations

from typing import Any

TIMES = frozenset({"seconds", "bound_seconds"})


def without_times(value: Any) -> Any:
    """Return a report, or a part of it, without times; those that the config asks for stay."""
    if isinstance(value, dict):
        return {
            key: own if key == "config" else without_times(own)
            for key, own in value.items()
            if key not in TIMES
        }
    return [without_times(own) for own in value] if isinstance(value, list) else value
