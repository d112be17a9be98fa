"""YAML as configs need it: exact decimals, codes like 01234 and words like NO stay text, no key twice."""

from __future__ import annotations

import re
from typing import Any

import yaml

from anonymizer.config.document import (
    DEEPEST,
    MOST_KEYS,
    MOST_REPEATED,
    MOST_VALUES,
    TOO_DEEP,
    TOO_MANY_KEYS,
    TOO_MANY_REPEATED,
    TOO_MANY_VALUES,
    OversizedConfig,
    OversizedNumber,
    parse_decimal,
    parse_integer,
    values_of_text,
)
from anonymizer.config.words import KeyPath, dotted
from anonymizer.errors import ConfigError, ConfigProblem

_NULL = re.compile(r"|~|null|Null|NULL")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"[-+]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")
_PLAIN = "plain"
_KNOWN_TAGS = {_PLAIN, "!", *(f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq"))}


class _OversizedText(yaml.YAMLError):
    """A text that stands for more than a config may hold: on which line, and beyond which bound."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class _Loader(yaml.SafeLoader):
    """Marks every scalar without quotes and tag as plain; ``scalar`` decides what it stands for.

    Counts what the text stands for, aliases as what they repeat, and ends where it goes beyond a bound:
    nothing is built of such a text.
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
        _OversizedText: it is beyond a bound.
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
            # An alias inside what it repeats has no number yet, and is refused when data are made of it.
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
    """Return what a plain scalar stands for; Decimal for numbers with a fraction or an exponent.

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
    """Return the first key of a mapping that a value is glued to by a colon, None where there is none.

    A key in quotes is meant as it stands.

    >>> joined_key("{name:lattice}"), joined_key('{"name:lattice": null}')
    ('name:lattice', None)
    """
    node = yaml.compose(text, Loader=_Loader)
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    glued = (
        key.value for key, value in pairs if key.tag == _PLAIN and ":" in key.value and value.value == ""
    )
    return next(glued, None)


def parse_yaml(text: str, name: str) -> tuple[Any, dict[KeyPath, int]]:
    """Return the data of a YAML text and the line of each key and list item.

    Raises
    ------
    ConfigError: all that is wrong, by line: syntax, a key given twice, an unknown tag, an endless alias.
    OversizedConfig: it is beyond the bounds of a config; nothing was built.
    """
    try:
        node = yaml.compose(text, Loader=_Loader)
    except _OversizedText as error:
        raise OversizedConfig(name, [ConfigProblem("", error.what, error.line)]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = f"not valid YAML: {error.problem or error.context}"
        raise ConfigError(name, [ConfigProblem("", what, mark.line + 1 if mark else None)]) from None
    except yaml.YAMLError as error:
        raise ConfigError(
            name, [ConfigProblem("", f"not valid YAML: {str(error).splitlines()[0]}")]
        ) from None
    builder = _Builder()
    data = builder.value(node, ()) if node is not None else None
    if builder.problems:
        raise (OversizedConfig if builder.oversized else ConfigError)(name, builder.problems)
    return data, builder.lines


def lines_of(text: str, name: str) -> dict[KeyPath, int]:
    """Return the line of each key and list item of a text that YAML can read, as it can most JSON.

    Raises
    ------
    ConfigError: YAML cannot.
    OversizedConfig: it is beyond the bounds of a config.
    """
    return parse_yaml(text, name)[1]


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
            self._refuse(node, path, "an alias that contains itself; write the value out")
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
                self._refuse(key, path, "a list or mapping as a key; accepted: text")
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
