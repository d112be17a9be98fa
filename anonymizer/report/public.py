"""The public report: what the recipient of a release may know."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from anonymizer.core.report import Report

SMALLEST_SHOWN = 3
"""Counts below this, or below k, are left out."""

COUNTS = {
    "release": ("rows", "suppressed_records", "suppressed_cells", "classes"),
    "input": ("rows",),
}
"""Entries that count records or classes; zero tells nothing of anybody."""

WHERE = ("path", "database", "url", "table", "query")
"""Keys that say where the input is, which is nobody else's business."""

DATABASES = ("database", "url")
"""Keys that say which database a released table is in; whoever is given it knows, and nobody else should."""

OF_CLASSES = ("discernibility", "average_class_size")
"""Losses that tell sizes of classes; of further records, these are classes that they make by themselves."""

OF_THE_OBJECTIVE = ("objective", "bound", "gap", "best_possible")
"""What is known of the objective: numbers that compare the release with the input."""


def public_report(report: Report, k: int | None) -> Report:
    """Return a report without seed, input hash and path, steps, times, and small counts.

    A small count is null, and where the number of suppressed records is, so is every number that would tell
    it. What compares the release with the input is null, and losses are rounded. The report depends on the
    set of the input's records alone, not on their order. Utility is left out: it is told by the values that
    the release hides, so that whoever knew all of them but one could try which fits.

    Parameters
    ----------
    k: of the config, None without one.
    """
    smallest = max(k or 0, SMALLEST_SHOWN)
    content = report.to_dict()
    _hide_where(content)
    content["search"] = {
        key: value for key, value in content["search"].items() if key not in ("seed", "seconds", "steps")
    }
    _hide_small_counts(content, smallest)
    content["attacks"] = [_public_attack(each, smallest) for each in content["attacks"]]
    content["attack_matrix"] = [
        {key: _rounded(value) for key, value in row.items()} for row in content["attack_matrix"]
    ]
    content["constraints"] = [_public_constraint(each, smallest) for each in content["constraints"]]
    _round_losses(content)
    if "applied" in content:
        # What the new records show by themselves tells where to look for few.
        difference = content["applied"]["difference"]
        content["warnings"] = [warning for warning in content["warnings"] if warning != difference]
        content["applied"] = _public_applied(content["applied"], smallest)
        _hide_the_batch(content)
    for key in ("engine", "steps", "diagnosis", "utility", "recoding_file"):
        content.pop(key, None)
    return Report(content)


def _hide_where(content: dict[str, Any]) -> None:
    """Leave out where input and release are kept; the release keeps its name."""
    content["config"] = _public_config(content["config"])
    content["input"] = {"rows": content["input"]["rows"], "columns": content["input"]["columns"]}
    output = content["config"]["output"]
    if output.get("table") is not None:
        content["release"] = {**content["release"], "path": output["table"]}
    elif "://" in (output.get("path") or ""):
        # Where a cluster keeps it is no more the recipient's business than where a database is.
        name = output["path"].rstrip("/").rpartition("/")[2]
        content["config"]["output"] = {**output, "path": name}
        content["release"] = {**content["release"], "path": name}


def _hide_small_counts(content: dict[str, Any], smallest: int) -> None:
    """Leave out small counts, and with the number of suppressed records whatever would tell it."""
    for section, keys in COUNTS.items():
        content[section] = _without_small(content[section], keys, smallest)
    if content["release"]["suppressed_records"] is None:
        content["input"]["rows"] = None
        content["loss"] = dict.fromkeys(content["loss"])
        content["search"] = {**content["search"], **dict.fromkeys(OF_THE_OBJECTIVE)}


def _round_losses(content: dict[str, Any]) -> None:
    """Round losses, and leave out the one that compares values of the release with those of the input."""
    content["loss"] = {name: _rounded(value) for name, value in content["loss"].items()}
    content["loss"]["nonuniform_entropy"] = None
    own = content["config"]["objective"]["metric"] == "nonuniform-entropy"
    for key in OF_THE_OBJECTIVE:
        content["search"][key] = None if own else _rounded(content["search"][key])


def _public_applied(applied: Mapping[str, Any], smallest: int) -> dict[str, Any]:
    """Tell how many records were released before, unless the others are so few that it would tell them."""
    shown = {key: applied[key] for key in ("rows_before", "rows_added")}
    return dict.fromkeys(shown) if shown["rows_added"] < smallest else shown


def _hide_the_batch(content: dict[str, Any]) -> None:
    """Leave out what tells the classes of further records alone, and of few even how many they are."""
    few = content["applied"]["rows_added"] is None
    if few:
        content["input"]["rows"] = None
    hidden = content["loss"] if few else OF_CLASSES
    content["loss"] = {**content["loss"], **dict.fromkeys(hidden)}
    if few or content["config"]["objective"]["metric"].replace("-", "_") in OF_CLASSES:
        content["search"] = {**content["search"], **dict.fromkeys(OF_THE_OBJECTIVE)}


def _public_constraint(constraint: Mapping[str, Any], smallest: int) -> dict[str, Any]:
    """Leave out what the release does not tell: compared with the input, it tells who was suppressed."""
    if not constraint["verifiable_from_release"]:
        return {**constraint, "measured": None, "worst_classes": None}
    return _without_small(constraint, ("worst_classes",), smallest)


def _public_attack(attack: Mapping[str, Any], smallest: int) -> dict[str, Any]:
    """Round what an attack reached, and leave out its time and details, which may count few records."""
    shown = {key: _rounded(value) for key, value in attack.items() if key not in ("seconds", "details")}
    return _without_small(shown, ("records",), smallest)


def _rounded(value: Any) -> Any:
    """Round to three significant digits; all digits of a loss would confirm guesses about single cells."""
    return float(f"{value:.3g}") if isinstance(value, float) else value


def _without_small(section: Mapping[str, Any], keys: tuple[str, ...], smallest: int) -> dict[str, Any]:
    hidden = {key: None for key in keys if section[key] is not None and 0 < section[key] < smallest}
    return {**section, **hidden}


def _public_config(config: Mapping[str, Any]) -> dict[str, Any]:
    public = {key: value for key, value in config.items() if key not in ("seed", "engine", "budget", "apply")}
    public["input"] = {key: value for key, value in config["input"].items() if key not in WHERE}
    public["output"] = {key: value for key, value in config.get("output", {}).items() if key not in DATABASES}
    public["attributes"] = {name: _without_folder(each) for name, each in config["attributes"].items()}
    return public


def _without_folder(attribute: Mapping[str, Any]) -> dict[str, Any]:
    """Name the file of a hierarchy without its folder, which is nobody else's business."""
    hierarchy = attribute.get("hierarchy")
    if not isinstance(hierarchy, Mapping) or "file" not in hierarchy:
        return dict(attribute)
    return {**attribute, "hierarchy": {**hierarchy, "file": PurePath(hierarchy["file"]).name}}
