"""How the page words numbers, promises and attacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.report.numbers import percent


def number(value: Any, digits: int = 4) -> str:
    """Return a measure for people; what has no value is a dash.

    >>> number(None), number(5), number(0.36466), number([5, 0.25]), number("Infinity"), number(18658518)
    ('–', '5', '0.3647', '5 and 0.25', 'infinite', '18,658,518')
    """
    if value is None:
        return "–"
    if isinstance(value, list):
        return " and ".join(number(each, digits) for each in value)
    if isinstance(value, str):
        return "infinite" if value == "Infinity" else value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def masked_count(count: int, smallest: int) -> str:
    """Return a count of people or groups, without telling one that is too small to be told.

    >>> some(0, 5), some(4, 5), some(1200, 5)
    ('0', 'fewer than 5', '1,200')
    """
    return f"fewer than {smallest}" if 0 < count < smallest else f"{count:,}"


def plural(count: int, one: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "group"), plural(2, "group")
    ('1 group', '2 groups')
    """
    return f"{count:,} {one}" + ("" if count == 1 else "s")


def listed(names: list[str]) -> str:
    """Join names.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return " and ".join(([", ".join(names[:-1])] if len(names) > 1 else []) + names[-1:])


def asked(constraint: Mapping[str, Any]) -> str:
    """Return the parameters of a promise."""
    return ", ".join(f"{key} = {number(value)}" for key, value in constraint["parameters"].items())


def promise(constraint: Mapping[str, Any]) -> str:
    """Return the name of a promise."""
    own = constraint["attribute"]
    return f"{constraint['model']} of {own}" if own else str(constraint["model"])


def attack(entry: Mapping[str, Any]) -> str:
    """Return a short name of a finding: the attack and what it aims at."""
    known = entry["knowledge"]
    who = known.get("sensitive") or known.get("target")
    aims = [str(each) for each in (who, known.get("linkage"), known.get("distance")) if each]
    return f"{entry['attack']}: {', '.join(aims)}" if aims else str(entry["attack"])


def interval(entry: Mapping[str, Any]) -> str:
    """Return the 95 % interval of an estimate, or that it was counted."""
    if entry["low"] == entry["high"]:
        return "counted"
    return f"{percent(entry['low'])} to {percent(entry['high'])}"


def strongest(entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the attack that gains most over a guess; None without attacks."""
    return max(entries, key=lambda each: each["success"] - each["baseline"], default=None)
