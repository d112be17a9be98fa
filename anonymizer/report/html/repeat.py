"""Section 8: all that is needed to get the same bytes again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

import yaml

from anonymizer.report.html.form import in_table
from anonymizer.report.html.parts import Grid

CONFIG = "again.yaml"
"""What the page calls the config that it prints."""


def config_text(report: dict[str, Any]) -> str:
    """Return the config with all defaults as YAML; of absolute paths only the file name."""
    config = _without_folders(report["config"])
    config["attributes"] = {name: _Line(each) for name, each in config["attributes"].items()}
    own = {key: value if key == "attributes" else _in_lines(value) for key, value in config.items()}
    return yaml.dump(own, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)


class _Line(dict[str, Any]):
    """A mapping that is written in one line."""


class _Dumper(yaml.SafeDumper):
    """Writes a config as people do."""


_Dumper.add_representer(
    _Line, lambda dumper, line: dumper.represent_mapping("tag:yaml.org,2002:map", line, flow_style=True)
)


def _in_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return _Line(value)
    if isinstance(value, list):
        return [_in_lines(each) for each in value]
    return value


def _without_folders(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_folders(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_folders(item) for item in value]
    if isinstance(value, str):
        return file_name(value)
    return value


def file_name(text: str) -> str:
    """Return the name of an absolute path, and any other text as it is.

    >>> file_name("/home/me/adult.csv"), file_name("data/adult.csv"), file_name("/")
    ('adult.csv', 'data/adult.csv', '/')
    """
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(text)
        if path.is_absolute() and path.name:
            return path.name
    return text


def commands(report: dict[str, Any]) -> str:
    """Return the commands that repeat the run and verify its release."""
    path = report["release"]["path"]
    if path is None:
        return f'anonymizer.anonymize(people, "{CONFIG}")'
    if in_table(report):  # the hash of a table is that of this file, which a recipient can verify
        as_file = "--set 'output={path: release.csv}'"
        return f"anonymizer run {CONFIG} -o again {as_file}\nanonymizer audit again/share/release.csv"
    return f"anonymizer run {CONFIG} -o again\nanonymizer audit again/{path}"


def budget_note(report: dict[str, Any]) -> str:
    """Say how to repeat a search that time or the user ended; empty for any other."""
    search = report["search"]
    timed = report["config"].get("budget", {}).get("seconds") is not None
    if not (report["interrupted"] or (timed and not search["optimal"])):
        return ""
    return (
        f"The search may have been ended by time or by hand, which no seed repeats. "
        f"With --set budget.steps={search['steps']} it takes the same steps again."
    )


def fingerprints(report: dict[str, Any]) -> Grid:
    """Return hashes, versions and the seed."""
    environment = report["environment"]
    rows = [
        ("seed", str(report["search"]["seed"])),
        ("input, SHA-256", report["input"]["sha256"] or "a DataFrame"),
        ("release, SHA-256", report["release"]["sha256"] or "a DataFrame"),
        ("anonymizer", environment["anonymizer"]),
        ("Python", environment["python"]),
        *environment["packages"].items(),
    ]
    return Grid("Seed, files and versions", ("what", "value"), tuple(rows))


def roles(report: dict[str, Any]) -> Grid:
    """Return the role and type of each column."""
    rows = tuple((name, each["role"], each["type"] or "–") for name, each in report["attributes"].items())
    return Grid("Columns of the input", ("column", "role", "read as"), rows)
