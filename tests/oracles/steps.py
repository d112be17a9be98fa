"""What a step of a search should say, recomputed with pandas from the definitions of the reference.

Nothing here imports the engine. A candidate is a frame of records with the columns ``class``, ``suppressed``,
``loss`` of the record, and the sensitive attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isclose
from typing import Any

import numpy as np
import pandas as pd

Tree = Mapping[str, Sequence[str]]
"""The labels of each value of a column, from its own up to the root."""


@dataclass(frozen=True)
class Asked:
    """The constraints of a config, and what else decides about a candidate.

    Attributes
    ----------
    models: entries of ``constraints``.
    order: values of each sensitive attribute, in their order.
    limit: largest share of suppressed records.
    moving: whether p of the release is that of the released records.
    """

    models: Sequence[Mapping[str, Any]]
    order: Mapping[str, Sequence[Any]]
    limit: float
    moving: bool = False


def name_of(model: Mapping[str, Any]) -> str:
    """Return the name of a constraint in a step."""
    return str(model["model"]) + (f"({model['attribute']})" if "attribute" in model else "")


def shares(records: pd.DataFrame, model: Mapping[str, Any], asked: Asked) -> pd.Series:
    """Return the distribution of a sensitive attribute over some records, by its values in their order."""
    order = asked.order[model["attribute"]]
    return records[model["attribute"]].value_counts(normalize=True).reindex(order, fill_value=0.0)


def by_class(model: Mapping[str, Any], records: pd.DataFrame, p: pd.Series | None) -> pd.Series:
    """Return what a model measures in each class of some records."""
    sizes = records.groupby("class").size()
    if p is None:
        return sizes
    counts = pd.crosstab(records["class"], records[model["attribute"]]).reindex(columns=p.index, fill_value=0)
    q = counts.div(sizes, axis=0)
    p = p[p > 0]
    match model["model"]:
        case "l-diversity":
            return (counts > 0).sum(axis=1)
        case "entropy-l-diversity":
            terms = q.where(q > 0, 1.0)
            return np.exp(-(terms * np.log(terms)).sum(axis=1))
        case "t-closeness":
            extra = q[p.index] - p
            if model["distance"] == "ordered":
                return extra.cumsum(axis=1).abs().sum(axis=1) / max(len(p) - 1, 1)
            return extra.abs().sum(axis=1) / 2
        case "basic-beta-likeness":
            return ((q[p.index] - p) / p).clip(lower=0).max(axis=1)
        case "enhanced-beta-likeness":
            gain = ((q[p.index] - p) / p).clip(lower=0)
            return gain.where(~(gain > -np.log(p) + 1e-12), inf).max(axis=1)
        case "delta-disclosure":
            q = q[p.index]
            return np.log((q / p).where(q > 0, 1.0)).abs().max(axis=1)
    raise NotImplementedError(model["model"])


def holds(model: Mapping[str, Any], measured: pd.Series) -> pd.Series:
    """Return which classes satisfy a model; numbers that differ in the tenth decimal are equal."""
    own = measured.round(10)
    match model["model"]:
        case "k-anonymity":
            return own >= model["k"]
        case "l-diversity" | "entropy-l-diversity":
            return own >= round(model["l"], 10)
        case "t-closeness":
            return own <= round(model["t"], 10)
        case "delta-disclosure":
            return own < round(model["delta"], 10)
    return own <= round(model["beta"], 10)


def worst(model: Mapping[str, Any], measured: pd.Series) -> float:
    """Return the worst measure of all classes."""
    more = model["model"] in ("k-anonymity", "l-diversity", "entropy-l-diversity")
    return float(measured.min() if more else measured.max())


def measured(asked: Asked, records: pd.DataFrame, everybody: pd.DataFrame) -> dict[str, pd.Series]:
    """Return what each constraint measures in each class, with p of everybody."""
    found = {}
    for model in asked.models:
        p = shares(everybody, model, asked) if "attribute" in model else None
        found[name_of(model)] = by_class(model, records, p)
    return found


def valid_classes(asked: Asked, measures: Mapping[str, pd.Series]) -> pd.Series:
    """Return which classes satisfy every constraint."""
    every = [holds(model, measures[name_of(model)]) for model in asked.models]
    return pd.concat(every, axis=1).all(axis=1)


def suppressing_classes(asked: Asked, records: pd.DataFrame) -> pd.Series:
    """Return which records the method ``classes`` suppresses: failing classes, until none fails."""
    gone = pd.Series(False, index=records.index)
    reference = records
    while not gone.all():
        left = records[~gone]
        good = valid_classes(asked, measured(asked, left, reference))
        failing = ~left["class"].map(good)
        if asked.moving and not failing.any() and reference is not records:
            break
        gone[left.index[failing]] = True
        if not asked.moving:
            break
        reference = records[~gone]
    return gone


def at_levels(data: pd.DataFrame, trees: Mapping[str, Tree], levels: Mapping[str, int]) -> pd.DataFrame:
    """Return the candidate of some levels, before anything is suppressed."""
    own, losses = {}, []
    for name, tree in trees.items():
        level = levels.get(name, len(next(iter(tree.values()))) - 1)
        own[name] = data[name].map({value: path[level] for value, path in tree.items()})
        losses.append(own[name].map(leaf_losses(tree)))
    found = data.drop(columns=list(trees))
    found["class"] = pd.DataFrame(own).agg("\x1f".join, axis=1)
    found["loss"] = pd.concat(losses, axis=1).mean(axis=1)
    found["suppressed"] = False
    return found


def leaf_losses(tree: Tree) -> dict[str, float]:
    """Return (n - 1) / (m - 1) of each label: n values are below it, of m."""
    values: dict[str, set[str]] = {}
    for value, path in tree.items():
        for label in path:
            values.setdefault(label, set()).add(value)
    return {label: (len(own) - 1) / max(len(tree) - 1, 1) for label, own in values.items()}


def expected(asked: Asked, candidate: pd.DataFrame, everybody: pd.DataFrame) -> dict[str, tuple[Any, ...]]:
    """Return for each constraint ``measured``, ``violating`` and ``satisfied`` of a candidate."""
    sizes = candidate.groupby("class").size()
    found = {}
    measures = measured(asked, candidate, everybody)
    for model in asked.models:
        own = measures[name_of(model)]
        violating = int(sizes[~holds(model, own)].sum())
        found[name_of(model)] = worst(model, own), violating, violating == 0
    return found


def released(asked: Asked, candidate: pd.DataFrame, everybody: pd.DataFrame) -> dict[str, float]:
    """Return what each constraint measures on the records of a candidate that are not suppressed."""
    left = candidate[~candidate["suppressed"]]
    measures = measured(asked, left, left if asked.moving else everybody)
    return {name_of(model): worst(model, measures[name_of(model)]) for model in asked.models}


def loss_of(candidate: pd.DataFrame) -> float:
    """Return the mean loss of the records, 1 for a suppressed one."""
    return float(candidate["loss"].where(~candidate["suppressed"], 1.0).mean())


def same(one: Any, other: float) -> bool:
    """Return whether a number of a report is one that was recomputed."""
    found = inf if one == "Infinity" else float(one)
    return found == other or isclose(found, other, rel_tol=1e-9, abs_tol=1e-9)


def faults(
    checks: Sequence[Mapping[str, Any]],
    asked: Asked,
    candidate: pd.DataFrame,
    everybody: pd.DataFrame,
    after: Callable[[], pd.DataFrame] | None,
) -> list[str]:
    """Return what the checks of a step say that the recomputed numbers do not.

    Parameters
    ----------
    after: returns the candidate with its suppressed records; None if it is not valid.
    """
    own, found = expected(asked, candidate, everybody), []
    if [each["constraint"] for each in checks] != list(own):
        return [f"{[each['constraint'] for each in checks]} are not {list(own)}"]
    of_release = None if after is None else released(asked, after(), everybody)
    for each in checks:
        number, violating, satisfied = own[each["constraint"]]
        if not same(each["measured"], number):
            found.append(f"{each['constraint']}: measured {each['measured']}, recomputed {number}")
        if (each["violating"], each["satisfied"]) != (violating, satisfied):
            found.append(f"{each['constraint']}: violating {each['violating']}, recomputed {violating}")
        if of_release is None:
            if each["released"] is not None:
                found.append(f"{each['constraint']}: released {each['released']} of no release")
        elif each["released"] is None or not same(each["released"], of_release[each["constraint"]]):
            number = of_release[each["constraint"]]
            found.append(f"{each['constraint']}: released {each['released']}, recomputed {number}")
    return found
