"""What of a release departs from its preset, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.errors import plural


def departs_of(content: Mapping[str, Any]) -> list[str]:
    """Return the lines about departures from the preset of a report; none where nothing departs."""
    own = content.get("preset")
    if own is None or not own["departures"]:
        return []
    number = len(own["departures"])
    lines = [f"Departs from {own['name']} in {plural(number, 'place')}:"]
    for each in own["departures"]:
        where = "the release" if each["column"] is None else each["column"]
        lines.append(f"  {where}: {each['has']}; asked: {each['asks']} ({each['source']})")
    return lines


def preset_lines(content: Mapping[str, Any]) -> list[str]:
    """Return what a run says about its preset: its departures, or that there are none."""
    own = content.get("preset")
    if own is None:
        return []
    return departs_of(content) or [f"Nothing departs from {own['name']} ({own['title']})."]
