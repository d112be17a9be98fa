"""A config file read as raw data: YAML, TOML or JSON, with line numbers if the format has them.

YAML is read strictly: decimals are exact, codes such as 01234 and words such as NO stay text, and a
repeated key is an error.
"""

from __future__ import annotations

import json
import numbers
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from anonymizer.config.section import KeyPath, dotted
from anonymizer.data.source import SUFFIXES
from anonymizer.errors import ConfigError, ConfigProblem, InputError, shown
from anonymizer.model.invocation import command, path_word
from anonymizer.plugins import (
    LARGEST_EXPONENT,
    MOST_DIGITS,
    TOO_MANY_DIGITS,
    has_too_many_digits,
    path_fault,
    shortened_path,
    syntax_fault,
)
from anonymizer.system import check_file

YAML_SUFFIXES = (".yaml", ".yml")
"""Suffixes of YAML files."""

MOST_VALUES = 1_000_000
"""Keys and values of a config; of a long text, every ``VALUE_CHARACTERS`` count as one."""

MOST_REPEATED = 100_000
"""Keys and values that aliases of YAML repeat."""

MOST_KEYS = 100_000
"""Keys of one mapping."""

DEEPEST = 100
"""Nested lists and mappings."""

VALUE_CHARACTERS = 1000

SHOWN_DEPTH = 10
"""Keys of a long path that a message names."""

_REMEDY = "move a large hierarchy to a file, as in hierarchy: {file: NAME.csv}"

TOO_MANY_VALUES = f"more than {MOST_VALUES:,} keys and values; {_REMEDY}"
TOO_MANY_REPEATED = f"aliases repeat more than {MOST_REPEATED:,} keys and values; {_REMEDY}"
TOO_MANY_KEYS = f"a mapping with more than {MOST_KEYS:,} keys; {_REMEDY}"
TOO_DEEP = f"nested too deeply; accepted: at most {DEEPEST} nested lists and mappings"
NOT_UNICODE = "text with half of a surrogate pair, such as \\ud800; accepted: Unicode text"

_NUMBER = re.compile(r"[-+]?([0-9_.]*)(?:[eE]([-+]?[0-9_]+))?")


def holds_labels(path: KeyPath) -> bool:
    """Return whether the value at a path is a text of cells or a label, which stays as it is written.

    >>> holds_labels(("input", "missing", 0)), holds_labels(("input", "path"))
    (True, False)
    """
    if path[:1] == ("attributes",) and path[2:3] == ("hierarchy",):
        in_tree = path[3:4] == ("tree",) and len(path) > len(("attributes", "NAME", "hierarchy", "tree"))
        return in_tree or path[3:5] == ("order", "values")
    return path[:2] in (("input", "missing"), ("output", "missing"))


class OversizedConfig(ConfigError):
    """A config, or a value for one, that exceeds the limits of size."""


class OversizedNumber(ValueError):
    """A number that exceeds the limits; ``text`` as in the file."""

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(TOO_MANY_DIGITS)


@dataclass(frozen=True)
class Document:
    """Raw config data.

    Attributes
    ----------
    name: in messages; for a file, its path as given.
    folder: that relative paths in it start from.
    data: nested dicts and lists; numbers with a fraction are Decimal.
    lines: line of each key or list item, by its path; None for a value from an override.
    """

    name: str
    folder: Path
    data: Any
    lines: Mapping[KeyPath, int | None] = field(default_factory=dict)

    def line(self, path: KeyPath) -> int | None:
        """Return the line of the key at a path, or of the nearest key above it; None if unknown."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def parse_integer(text: str) -> int:
    """Return a text as a whole number.

    Raises
    ------
    OversizedNumber: it has too many digits.
    """
    if len(text) > MOST_DIGITS + 1:
        raise OversizedNumber(text)
    return int(text)


def parse_decimal(text: str) -> Decimal:
    """Return a text as an exact number.

    Raises
    ------
    OversizedNumber: it has too many digits or too large an exponent.

    >>> parse_decimal("1e-3")
    Decimal('0.001')
    """
    match = _NUMBER.fullmatch(text)
    if match is not None:
        digits, exponent = match[1], (match[2] or "0").lstrip("+-0") or "0"
        if len(digits) > MOST_DIGITS + 1 or len(exponent) > len(str(LARGEST_EXPONENT)):
            raise OversizedNumber(text)
    number = Decimal(text)
    if has_too_many_digits(number):
        raise OversizedNumber(text)
    return number


def check_size(name: str, data: Any, lines: Mapping[KeyPath, int | None] | None = None) -> None:
    """Check that raw data are within the limits of a config, before they are used.

    Parameters
    ----------
    name: of the config in messages.
    data: nested mappings and lists; one object may occur several times.
    lines: see ``Document``.

    Raises
    ------
    OversizedConfig: with the first key that exceeds a limit, its line if known, and the limit.
    """
    found = _beyond_bounds(data)
    if found is not None:
        path, what = found
        line = Document(name, Path(), None, lines or {}).line(path)
        raise OversizedConfig(name, [ConfigProblem(dotted(path[:SHOWN_DEPTH]), what, line)])


def _beyond_bounds(data: Any) -> tuple[KeyPath, str] | None:
    """Return the path of the first value that exceeds a limit, and the message; None if all are within."""
    waiting: list[tuple[KeyPath, Any]] = [((), data)]
    known = 1
    while waiting:
        path, value = waiting.pop()
        if not isinstance(value, Mapping | list | tuple):
            known += values_of_text(value) - 1 if isinstance(value, str) else 0
            fault = TOO_MANY_VALUES if known > MOST_VALUES else _fault_of_scalar(value)
            if fault is not None:
                return path, fault
            continue
        known += len(value) * (2 if isinstance(value, Mapping) else 1)
        if known > MOST_VALUES:
            return path, TOO_MANY_VALUES
        if isinstance(value, Mapping) and len(value) > MOST_KEYS:
            return path, TOO_MANY_KEYS
        if len(path) >= DEEPEST:
            return path, TOO_DEEP
        below = [((*path, key), item) for key, item in _items(value)]
        waiting.extend(reversed(below))
    return None


def _items(value: Mapping[Any, Any] | Sequence[Any]) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        return ((str(key), item) for key, item in value.items())
    return enumerate(value)


def values_of_text(text: str) -> int:
    """Return the number of values that a text counts as."""
    return 1 + len(text) // VALUE_CHARACTERS


def _fault_of_scalar(value: Any) -> str | None:
    if isinstance(value, str):
        return None if _is_unicode(value) else NOT_UNICODE
    too_long = isinstance(value, int | Decimal) and has_too_many_digits(value)
    return TOO_MANY_DIGITS if too_long else None


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def from_python(value: Any) -> Any:
    """Return a value from Python code as if read from a file; objects of other types stay unchanged.

    >>> from_python({"k": (1, 2.5)})
    {'k': [1, Decimal('2.5')]}
    """
    match value:
        case Mapping():
            return {str(key): from_python(item) for key, item in value.items()}
        case list() | tuple():
            return [from_python(item) for item in value]
        case _:
            return _scalar(value)


def _scalar(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case bool():
            return value
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            return Decimal(repr(float(value)))
        case _:
            return value


class _Number(NamedTuple):
    """A number of TOML or JSON, as written."""

    text: str

    def parsed(self) -> int | Decimal:
        """Return its value; raises as ``parse_decimal`` does."""
        return parse_integer(self.text) if _INTEGER.fullmatch(self.text) else parse_decimal(self.text)


def _settled(value: Any, path: KeyPath = ()) -> Any:
    """Return the data of TOML or JSON with numbers as values, or as written where they are labels.

    Raises
    ------
    OversizedNumber: a number has too many digits.
    """
    match value:
        case dict():
            return {key: _settled(item, (*path, key)) for key, item in value.items()}
        case list():
            return [_settled(item, (*path, place)) for place, item in enumerate(value)]
        case datetime() | date() | time():
            return value.isoformat()
    label = holds_labels(path)
    if isinstance(value, _Number):
        return value.text if label else value.parsed()
    # A null in a list of labels is a label; as the value of a key, it is nothing.
    written = label and not isinstance(value, str) and (value is not None or isinstance(path[-1], int))
    return json.dumps(value) if written else value


_NULL = re.compile(r"|~|null|Null|NULL")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_PLAIN = "plain"
_KNOWN_TAGS = {_PLAIN, "!", *(f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq"))}


class _OversizedText(yaml.YAMLError):
    """YAML that exceeds a limit of size: which one, and on which line."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class _Loader(yaml.SafeLoader):
    """Marks every scalar without quotes and tag as plain; ``scalar`` converts it.

    Counts the values of the text, with the values that aliases repeat, and stops at the limit, before any
    data are built.
    """

    yaml_implicit_resolvers = {None: [(_PLAIN, re.compile(""))]}

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = self._values = self._repeated = 0
        self._values_of: dict[yaml.Node, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node:
        """Return the next node, counted.

        Raises
        ------
        _OversizedText: it exceeds a limit.
        """
        line, before = self.peek_event().start_mark.line + 1, self._values  # type: ignore[no-untyped-call]
        is_alias = self.check_event(yaml.AliasEvent)
        is_nested = self.check_event(yaml.CollectionStartEvent)
        self._depth += is_nested
        if self._depth > DEEPEST:
            raise _OversizedText(TOO_DEEP, line)
        node = super().compose_node(parent, index)
        assert node is not None
        self._depth -= is_nested
        if is_alias:
            # An alias inside the node that it repeats is not counted yet; ``_Builder`` refuses it.
            repeated = self._values_of.get(node, 1)
            self._repeated += repeated
            self._values += repeated
        else:
            self._values += values_of_text(node.value) if isinstance(node, yaml.ScalarNode) else 1
            self._values_of[node] = self._values - before
        if self._repeated > MOST_REPEATED:
            raise _OversizedText(TOO_MANY_REPEATED, line)
        if self._values > MOST_VALUES:
            raise _OversizedText(TOO_MANY_VALUES, line)
        return node


def scalar(text: str) -> Any:
    """Return the value of a plain scalar; Decimal for numbers with a fraction or an exponent.

    Raises
    ------
    OversizedNumber: a number with too many digits.

    >>> scalar("0.10"), scalar("7"), scalar("007"), scalar("no"), scalar("~")
    (Decimal('0.10'), 7, '007', 'no', None)
    """
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return parse_integer(text)
    return parse_decimal(text) if _DECIMAL.fullmatch(text) else text


def joined_key(text: str) -> str | None:
    """Return the first unquoted key of a mapping with a colon but no space after it, or None.

    >>> joined_key("{name:lattice}"), joined_key('{"name:lattice": null}')
    ('name:lattice', None)
    """
    node = yaml.compose(text, Loader=_Loader)
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    glued = (
        key.value
        for key, value in pairs
        if key.tag == value.tag == _PLAIN and ":" in key.value and value.value == ""
    )
    return next(glued, None)


def parse_yaml(text: str, name: str, at: KeyPath = ()) -> tuple[Any, dict[KeyPath, int]]:
    """Return the data of a YAML text and the line of each key and list item.

    Parameters
    ----------
    name: of the text in messages.
    at: the path of a config whose value the text is.

    Raises
    ------
    ConfigError: all errors, by line: syntax, a repeated key, an unknown tag, an endless alias.
    OversizedConfig: the text exceeds the limits of a config.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except _OversizedText as error:
        raise OversizedConfig(name, [ConfigProblem("", error.what, error.line)]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = syntax_fault("YAML", error.problem or error.context or "")
        if "mapping values are not allowed" in what:
            what += "; put a text with a colon and a space in quotes"
        raise ConfigError(name, [ConfigProblem("", what, mark.line + 1 if mark else None)]) from None
    except yaml.YAMLError as error:
        raise ConfigError(
            name, [ConfigProblem("", f"not valid YAML: {str(error).splitlines()[0]}")]
        ) from None
    builder = _Builder()
    data = builder.value(node, at) if node is not None else None
    if builder.problems:
        raise (OversizedConfig if builder.oversized else ConfigError)(name, builder.problems)
    return data, builder.lines


class _Builder:
    """Turns a node graph into data, collecting lines and problems."""

    def __init__(self) -> None:
        self.lines: dict[KeyPath, int] = {}
        self.problems: list[ConfigProblem] = []
        self.oversized = False
        self._open: set[int] = set()

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        """Return the data of a node at a path."""
        if id(node) in self._open:
            self._refuse(
                node, path, "this alias repeats a value that contains the alias; write the value out"
            )
            return None
        if node.tag not in _KNOWN_TAGS:
            self._refuse(node, path, f"unknown tag '{node.tag}'; remove it")
            return None
        self._open.add(id(node))
        try:
            return self._open_value(node, path)
        finally:
            self._open.discard(id(node))

    def _open_value(self, node: yaml.Node, path: KeyPath) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items = []
            for place, item in enumerate(node.value):
                self.lines[(*path, place)] = item.start_mark.line + 1
                items.append(self.value(item, (*path, place)))
            return items
        return self._scalar(node, path) if node.tag == _PLAIN else node.value

    def _scalar(self, node: yaml.Node, path: KeyPath) -> Any:
        if holds_labels(path):
            below_node = path[3:4] == ("tree",) and isinstance(path[-1], str)
            nothing = not node.value or (below_node and _NULL.fullmatch(node.value))
            return None if nothing else node.value
        try:
            return scalar(node.value)
        except OversizedNumber as error:
            self._refuse(node, path, str(error))
            self.oversized = True
            return None

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        data: dict[str, Any] = {}
        if len(node.value) > MOST_KEYS:
            self._refuse(node, path, TOO_MANY_KEYS)
            self.oversized = True
            return data
        for key, value in node.value:
            place = (*path, str(key.value))
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(key, path, "the key is a list or mapping; accepted: text")
            elif key.value in data:
                first = self.lines[place]
                self._refuse(key, place, f"the key is given twice, first on line {first}; keep one")
            else:
                self.lines[place] = _line(key)
                data[key.value] = self.value(value, place)
        return data

    def _refuse(self, node: yaml.Node, path: KeyPath, what: str) -> None:
        self.problems.append(ConfigProblem(dotted(path), what, _line(node)))


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line + 1
    return line


_LONG_DOTTED_KEY = re.compile(rf"""(?<![\w-])(?:(?:"[^"\n]*"|'[^'\n]*'|[\w-]+)[ \t]*\.[ \t]*){{{DEEPEST}}}""")

Parsed = tuple[Any, dict[KeyPath, int]]


def read_document(path: Path) -> Document:
    """Read a config file.

    Raises
    ------
    InputError: the file cannot be opened or is of an unknown kind.
    ConfigError: the text has errors of syntax, is not a mapping, or exceeds the limits of a config.
    """
    parse = _parsers().get(path.suffix.lower())
    if parse is None:
        kind = f"the suffix '{path.suffix}' is not that of a config" if path.suffix else "no suffix"
        draft = "to draft a config for a data file, use the command init"
        if path.name.lower().endswith(SUFFIXES):
            draft = f"to draft a config for this file, run: {command('init', path_word(str(path)))}"
        raise InputError(
            f"config {path}: {kind}; accepted: a name ending in {', '.join(_parsers())}; {draft}"
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
    return {**dict.fromkeys(YAML_SUFFIXES, parse_yaml), ".toml": _parse_toml, ".json": _parse_json}


def _text(path: Path) -> str:
    fault = path_fault(str(path))
    if fault is not None:
        raise InputError(f"config {shortened_path(str(path))}: {fault}")
    try:
        content = check_file(path).read_bytes()
    except FileNotFoundError:
        raise InputError(f"config {path} does not exist; {_neighbours(path)}") from None
    except IsADirectoryError:
        raise InputError(f"config {path} is a folder; give a file, such as {path / 'config.yaml'}") from None
    except OSError as error:
        raise InputError(f"config {path} cannot be read: {error.strerror}") from None
    return decoded(content, str(path))


def decoded(content: bytes, name: str) -> str:
    """Return the text of a file in UTF-8, without a byte-order mark.

    Raises
    ------
    ConfigError: it has another encoding.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what = f"not UTF-8 text (byte {error.start}); save the file as UTF-8"
        raise ConfigError(name, [ConfigProblem("", what, line)]) from None


def _neighbours(path: Path) -> str:
    configs: list[str] = []
    if path.parent.is_dir():
        configs = [each.name for each in path.parent.iterdir() if each.suffix in _parsers()]
    close = get_close_matches(path.name, configs, n=1)
    return f"did you mean '{close[0]}'?" if close else "give the path of a YAML, TOML or JSON file"


def _parse_toml(text: str, name: str) -> Parsed:
    long_key = _LONG_DOTTED_KEY.search(text)
    if long_key is not None:  # the parser takes time in the square of its length
        line = text.count("\n", 0, long_key.start()) + 1
        raise OversizedConfig(name, [ConfigProblem("", TOO_DEEP, line)])
    try:
        data = tomllib.loads(text, parse_float=_Number)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(name, [ConfigProblem("", syntax_fault("TOML", str(error)))]) from None
    except ValueError:  # Python's own limit: whole numbers with some thousand digits
        raise OversizedConfig(name, [ConfigProblem("", TOO_MANY_DIGITS)]) from None
    check_size(name, data)
    return _settled(data), {}


class RepeatedKeyError(ValueError):
    """A key that occurs twice in a JSON object."""

    def __str__(self) -> str:
        return f"key '{self.args[0]}' occurs twice in one mapping"


def distinct_keys(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of a JSON object as a mapping.

    Raises
    ------
    RepeatedKeyError: a key occurs twice; readers differ in which value they take.
    """
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise RepeatedKeyError(key)
        data[key] = value
    return data


def _parse_json(text: str, name: str) -> Parsed:
    if not text.strip():
        return None, {}
    try:
        data = json.loads(
            text,
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=str,
            object_pairs_hook=distinct_keys,
        )
    except json.JSONDecodeError as error:
        what = syntax_fault("JSON", error.msg)
        raise ConfigError(name, [ConfigProblem("", what, error.lineno)]) from None
    except RepeatedKeyError as error:
        raise ConfigError(
            name, [ConfigProblem(dotted(error.args), "the key is given twice; keep one")]
        ) from None
    except RecursionError:
        _lines_of_json(text, name)
        raise
    try:
        check_size(name, data)
    except OversizedConfig as error:
        # Finding lines takes long in a long text; any other problem is reported again, with its line.
        if error.problems[0].what == TOO_MANY_VALUES:
            raise
    return _settled(data), _lines_of_json(text, name)


def _lines_of_json(text: str, name: str) -> dict[KeyPath, int]:
    """Return the lines of keys; empty for JSON that YAML cannot read, such as with tabs.

    Raises
    ------
    OversizedConfig: the text exceeds the limits of a config.
    """
    try:
        return parse_yaml(text, name)[1]
    except OversizedConfig:
        raise
    except ConfigError:
        return {}
