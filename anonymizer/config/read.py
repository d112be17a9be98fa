"""Reads a YAML, TOML or JSON file into a document."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable
from datetime import date, datetime, time
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from anonymizer.config.document import (
    DEEPEST,
    TOO_DEEP,
    TOO_MANY_VALUES,
    Document,
    OversizedConfig,
    OversizedNumber,
    check_size,
    parse_decimal,
    parse_integer,
)
from anonymizer.config.words import KeyPath, dotted, shown
from anonymizer.config.yaml_text import lines_of, parse_yaml
from anonymizer.errors import ConfigError, ConfigProblem, InputError
from anonymizer.plugins import TOO_MANY_DIGITS, path_fault, shortened_path

_LONG_DOTTED_KEY = re.compile(rf"""(?<![\w-])(?:(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)[ \t]*\.[ \t]*){{{DEEPEST}}}""")

Parsed = tuple[Any, dict[KeyPath, int]]


def read_document(path: Path) -> Document:
    """Read a config file.

    Raises
    ------
    InputError: the file cannot be opened or is of an unknown kind.
    ConfigError: its text is not what its suffix says, holds no mapping, or is beyond the bounds of a config.
    """
    parse = _parsers().get(path.suffix.lower())
    if parse is None:
        kind = f"'{path.suffix}'" if path.suffix else "no suffix"
        raise InputError(
            f"config {path}: {kind}; accepted: a name ending in {', '.join(_parsers())}; "
            "anonymizer init DATA drafts one for a data file"
        )
    text = _text(path)
    try:
        data, lines = parse(text, str(path))
    except OversizedNumber as error:
        place = text.find(error.text)
        line = text.count("\n", 0, place) + 1 if place >= 0 else None
        raise OversizedConfig(str(path), [ConfigProblem("", str(error), line)]) from None
    except RecursionError:
        raise OversizedConfig(str(path), [ConfigProblem("", TOO_DEEP)]) from None
    check_size(str(path), data, lines)
    if not isinstance(data, dict):
        found = "the file is empty" if data is None else f"{shown(data)} at the top"
        what = f"{found}; accepted: a mapping with attributes and constraints"
        raise ConfigError(str(path), [ConfigProblem("", what)])
    return Document(str(path), path.parent, data, lines)


def _parsers() -> dict[str, Callable[[str, str], Parsed]]:
    return {".yaml": parse_yaml, ".yml": parse_yaml, ".toml": _parse_toml, ".json": _parse_json}


def _text(path: Path) -> str:
    fault = path_fault(str(path))
    if fault is not None:
        raise InputError(f"config {shortened_path(str(path))}: {fault}")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"config {path} does not exist; {_neighbours(path)}") from None
    except IsADirectoryError:
        raise InputError(f"config {path} is a folder; give a file, such as {path / 'config.yaml'}") from None
    except OSError as error:
        raise InputError(f"config {path} cannot be read: {error.strerror}") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what = f"not UTF-8 text (byte {error.start}); save the file as UTF-8"
        raise ConfigError(str(path), [ConfigProblem("", what, line)]) from None


def _neighbours(path: Path) -> str:
    configs: list[str] = []
    if path.parent.is_dir():
        configs = [each.name for each in path.parent.iterdir() if each.suffix in _parsers()]
    close = get_close_matches(path.name, configs, n=1)
    return f"did you mean '{close[0]}'?" if close else "give the path of a YAML, TOML or JSON file"


def _parse_toml(text: str, name: str) -> Parsed:
    long_key = _LONG_DOTTED_KEY.search(text)
    if long_key is not None:  # the parser would take the square of its length
        line = text.count("\n", 0, long_key.start()) + 1
        raise OversizedConfig(name, [ConfigProblem("", TOO_DEEP, line)])
    try:
        data = tomllib.loads(text, parse_float=parse_decimal)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(name, [ConfigProblem("", f"not valid TOML: {error}")]) from None
    except OversizedNumber:
        raise
    except ValueError:  # Python's own bound, of whole numbers with some thousand digits
        raise OversizedConfig(name, [ConfigProblem("", TOO_MANY_DIGITS)]) from None
    check_size(name, data)
    return _dates_as_text(data), {}


def _dates_as_text(value: Any) -> Any:
    match value:
        case dict():
            return {key: _dates_as_text(item) for key, item in value.items()}
        case list():
            return [_dates_as_text(item) for item in value]
        case datetime() | date() | time():
            return value.isoformat()
        case _:
            return value


class _TwiceError(ValueError):
    """A key that a JSON object holds twice."""


def _without_twins(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise _TwiceError(key)
        data[key] = value
    return data


def _parse_json(text: str, name: str) -> Parsed:
    if not text.strip():
        return None, {}
    try:
        data = json.loads(
            text,
            parse_int=parse_integer,
            parse_float=parse_decimal,
            parse_constant=str,
            object_pairs_hook=_without_twins,
        )
    except json.JSONDecodeError as error:
        raise ConfigError(name, [ConfigProblem("", f"not valid JSON: {error.msg}", error.lineno)]) from None
    except _TwiceError as error:
        raise ConfigError(
            name, [ConfigProblem(dotted(error.args), "the key is given twice; keep one")]
        ) from None
    except RecursionError:
        _lines_of_json(text, name)
        raise
    try:
        check_size(name, data)
    except OversizedConfig as error:
        # Finding lines takes long in a long text; any other problem is told again, with its line.
        if error.problems[0].what == TOO_MANY_VALUES:
            raise
    return data, _lines_of_json(text, name)


def _lines_of_json(text: str, name: str) -> dict[KeyPath, int]:
    """Return the lines of keys; none of JSON with tabs or the like, which YAML cannot read.

    Raises
    ------
    OversizedConfig: the text is beyond the bounds of a config.
    """
    try:
        return lines_of(text, name)
    except OversizedConfig:
        raise
    except ConfigError:
        return {}
