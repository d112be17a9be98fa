"""What mends a finding about a release, as changes of the config."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from anonymizer.config.section import dotted
from anonymizer.config.written import flow
from anonymizer.exposure.finding import Remedy
from anonymizer.model.table import Role, ValueType
from anonymizer.plan.counting import Counting
from anonymizer.plan.plan import Plan

KEPT = ("type", "format", "pivot", "hierarchy", "distance")
"""Keys of a column that stay when it is released in another way."""

FEWEST = 10
"""Fewest records of a group, where k asks for less."""


def changes_of(plan: Plan, remedy: Remedy, k: int) -> list[str]:
    """Return the overrides of the config that make the changes of a remedy, as for ``--set``.

    Empty where a column is left out that a constraint names: what becomes of that, its author decides.

    Parameters
    ----------
    k: fewest units of a group or class.
    """
    constrained = {entry.get("attribute") for entry in plan.shown["constraints"]}
    if any(role is Role.DROP and name in constrained for name, role in remedy.roles.items()):
        return []
    columns = settings_of(plan, remedy, k).items()
    changed = [f"{dotted(('attributes', name))}={flow(own)}" for name, own in columns]
    return [*changed, *_counted(plan.counting, remedy, k), *_protected(plan, remedy)]


def settings_of(plan: Plan, remedy: Remedy, k: int) -> dict[str, Any]:
    """Return the new settings of each column that a remedy changes, with ``role``, or the role alone.

    Parameters
    ----------
    k: fewest units of a group or class.
    """
    columns = {
        **{name: _in_role(plan, name, role, remedy, k) for name, role in remedy.roles.items()},
        **{name: _in_groups(plan, name, remedy, k) for name in remedy.grouped},
        **{name: _rounded(*own) for name, own in remedy.rounded.items()},
    }
    return {name: own for name, own in columns.items() if own is not None}


def _given(plan: Plan, name: str) -> Mapping[str, Any]:
    """Return the settings of a column that stay with it."""
    own = plan.shown["attributes"].get(name, {})
    return {key: own[key] for key in KEPT if own.get(key) is not None} if isinstance(own, Mapping) else {}


def _in_role(plan: Plan, name: str, role: Role, remedy: Remedy, k: int) -> Any:
    """Return the settings of a column in another role; a quasi-identifier needs a hierarchy."""
    if role is not Role.QUASI_IDENTIFIER:
        return role.value
    own = {key: value for key, value in _given(plan, name).items() if key != "distance"}
    return {"role": role.value, "hierarchy": _hierarchy(remedy.types[name], k), **own}


def _hierarchy(kind: ValueType, k: int, least: int | None = None) -> dict[str, Any]:
    """Return a hierarchy of values, made from the data, whose groups name no rare value.

    Parameters
    ----------
    least: fewest records of a text that stays as it is.
    """
    rare = least or max(FEWEST, 2 * k)
    if kind is ValueType.TEXT:
        return {"frequency": {"rare": rare}}
    return {"date": {}} if kind is ValueType.DATE else {"auto": {"rare": rare}}


def _in_groups(plan: Plan, name: str, remedy: Remedy, k: int) -> dict[str, Any] | None:
    """Return the settings of a column that is released in groups, of twice as many records if it is already.

    None if the config groups it in its own way.
    """
    own = plan.shown["attributes"].get(name, {})
    role = plan.columns[name].role.value if name in plan.columns else Role.INSENSITIVE.value
    kept = dict(_given(plan, name))
    hierarchy = _hierarchy(remedy.types[name], k, remedy.grouped[name])
    if name in plan.columns.bands:
        again = _wider(own["hierarchy"])
        if again is None:
            return None
        hierarchy = again
    elif "distance" in kept and kept["distance"] == "hierarchical":
        return None
    return {"role": role, **kept, "hierarchy": hierarchy, "labels": "range"}


def _wider(hierarchy: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a hierarchy made from the data whose groups have twice as many records; None for another one."""
    for source in ("auto", "frequency"):
        if source in hierarchy:
            rare = (hierarchy[source] or {}).get("rare") or FEWEST
            return {**hierarchy, source: {**hierarchy[source], "rare": 2 * rare}}
    return None


def _rounded(width: float, origin: float) -> dict[str, Any]:
    """Return the settings of a sampling weight that is released as the middle of intervals."""
    intervals: dict[str, Any] = {"width": [_short(width)]}
    intervals |= {"origin": _short(origin)} if origin else {}
    hierarchy = {"intervals": intervals}
    return {"role": Role.WEIGHT.value, "type": "number", "hierarchy": hierarchy, "labels": "midpoint"}


def _short(number: float) -> int | float:
    """Return a number, a whole one without a fraction."""
    return int(number) if number == int(number) else number


def _counted(counting: Counting, remedy: Remedy, k: int) -> Iterator[str]:
    """Yield a further constraint on the number of units, and what names these."""
    if remedy.counted is None:
        return
    name = next((unit for unit, key in counting.units.items() if key == remedy.counted), None)
    if name is None:
        name = remedy.counted
        yield f"{dotted(('input', 'units', name))}={flow(name)}"
    yield f"constraints.+={flow({'model': 'k-anonymity', 'k': k, 'unit': name})}"


def _protected(plan: Plan, remedy: Remedy) -> Iterator[str]:
    """Yield the constraints of a sensitive column for others, whose missing values count, as these tell."""
    for entry in plan.shown["constraints"] if remedy.like is not None else ():
        if entry.get("attribute") == remedy.like:
            for name in remedy.roles:
                yield f"constraints.+={flow({**entry, 'attribute': name, 'missing_sensitive': 'value'})}"
