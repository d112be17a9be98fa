"""Load a config from a file or a mapping, with overrides, and with all problems in one error.

``--set a.b=v`` overrides a value by its dotted key. ``--vary a.b=v1,v2`` lists the values that a comparison
tries for a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import ValidationError

from anonymizer.config.document import (
    DEEPEST,
    TOO_DEEP,
    Document,
    OversizedConfig,
    check_size,
    from_python,
    joined_key,
    parse_yaml,
    read_document,
)
from anonymizer.config.model import Config, Origin, in_long_form
from anonymizer.config.section import KeyPath, dotted
from anonymizer.errors import ConfigError, ConfigProblem, InputError, shown, suggestion
from anonymizer.model.naming import Spellings, columns_named
from anonymizer.model.spelling import suggested
from anonymizer.model.table import Role

_PART = re.compile(r'\.?(?:"((?:[^"\\]|\\.)*)"|\[(\d+)\]|([^."=\[\]]+))')
_NAMES = r'(?:[^"={}]|"(?:[^"\\]|\\.)*")*'
_BRACES = re.compile(rf"({_NAMES})\{{({_NAMES},{_NAMES})\}}")
_ITEM = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*")+')
MOST_AT_ONCE = 1000
"""Keys that braces may name."""

COLUMN = 2
"""Length of the path of a column, ``attributes.NAME``."""

LONGEST_SHOWN = 200
"""Characters of an option that a message shows."""

NEW = "+"
"""In place of the number of a list item: adds one at the end."""

OVERRIDE_FORM = "accepted: KEY=VALUE, such as suppression.limit=0.05 or constraints.0.k=10"


def overridden(document: Document, overrides: Sequence[str]) -> Document:
    """Return the document with values replaced.

    Parameters
    ----------
    overrides: ``path=value``. The path is dotted; a list item is ``constraints.0`` or ``constraints[0]``, a
        new one ``constraints.+``, and a name with a dot is quoted: ``attributes."a.b".weight``. Braces name
        several keys: ``attributes.{a,b}``. The value is read as YAML.

    Raises
    ------
    ConfigError: with all errors of the overrides, or if the result exceeds the limits of a config.
    """
    problems: list[ConfigProblem] = []
    lines: dict[KeyPath, int | None] = dict(document.lines)
    data = document.data
    for given in overrides:
        for text in expanded(given):
            try:
                path, value = parse_override(text)
                path = _check_attribute(data, path)
                data = _replaced(data, path, 0, value)
                place = _place(data, path)
                lines = {known: line for known, line in lines.items() if known[: len(path)] != place}
                lines[place] = None
            except ValueError as error:
                problems.append(ConfigProblem(f"--set {shortened(text)}", str(error)))
    if problems:
        raise ConfigError(document.name, problems)
    if overrides:
        check_size(document.name, data, lines)
    return replace(document, data=data, lines=lines)


def expanded(text: str) -> list[str]:
    """Return an override for each key that braces in the path of one name, as in a shell.

    Braces without a comma, and in quotes, belong to a name.

    >>> expanded("attributes.{a,b}=drop"), expanded('attributes.{"a, b",c}.{weight,levels}=1')[1::2]
    (['attributes.a=drop', 'attributes.b=drop'], ['attributes."a, b".levels=1', 'attributes.c.levels=1'])
    >>> expanded("constraints.+={k: 1, l: 2}"), expanded("attributes.{a}=drop")
    (['constraints.+={k: 1, l: 2}'], ['attributes.{a}=drop'])
    """
    waiting: list[str] = [text]
    found: list[str] = []
    while waiting and len(found) + len(waiting) < MOST_AT_ONCE:
        first = waiting.pop()
        braces = _BRACES.match(first)
        items = [] if braces is None else _ITEM.findall(braces[2])
        if braces is None or len(items) == 1:
            found.append(first)
            continue
        rest = first[braces.end() :]
        waiting.extend(f"{braces[1]}{item.strip()}{rest}" for item in reversed(items))
    return found if not waiting else [text]


def parse_override(text: str) -> tuple[KeyPath, Any]:
    """Return the path and the value of ``path=value``.

    Raises
    ------
    ValueError: the text has another form; the message gives the remedy.

    >>> parse_override('attributes."a.b".weight=2')
    (('attributes', 'a.b', 'weight'), 2)
    """
    path, end = parse_key(text)
    if not path or text[end : end + 1] != "=":
        raise ValueError(f"not an override; {OVERRIDE_FORM}")
    try:
        value, _ = parse_yaml(text[end + 1 :], "value", path)
    except OversizedConfig as error:
        raise ValueError(error.problems[0].what) from None
    except ConfigError:
        raise ValueError("the value is not YAML; if it is text, put it in quotes") from None
    joined = joined_key(text[end + 1 :])
    if joined is not None:
        key, _, rest = joined.partition(":")
        raise ValueError(f"a colon needs a space after it; write '{{{key}: {rest}}}' in quotes")
    return path, value


def shortened(text: str) -> str:
    """Return an option of the command line for a message, cut where it is long."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def parse_key(text: str) -> tuple[KeyPath, int]:
    """Return the path before ``=`` in ``path=...``, perhaps an empty one, and where it ends in the text.

    Raises
    ------
    ValueError: the path is longer than any in a config.

    >>> parse_key("constraints[0].k=2,5")
    (('constraints', 0, 'k'), 16)
    """
    parts: list[str | int] = []
    end = 0
    while match := _PART.match(text, end):
        quoted, index, bare = match.groups()
        if len(parts) == DEEPEST:
            raise ValueError(TOO_DEEP)
        parts.append(_part(quoted, index, bare))
        end = match.end()
    return tuple(parts), end


def _part(quoted: str | None, index: str | None, bare: str | None) -> str | int:
    if quoted is not None:
        return str(json.loads(f'"{quoted}"'))
    return int(index) if index is not None else str(bare)


def _place(data: Any, path: KeyPath) -> KeyPath:
    """Return a path with list items as numbers: ``constraints.0`` becomes ``constraints[0]``.

    Parameters
    ----------
    data: with the value at the path; an entry that was added is the last one.
    """
    place: list[str | int] = []
    for part in path:
        key = (len(data) - 1 if part == NEW else int(part)) if isinstance(data, list) else str(part)
        place.append(key)
        data = data[key]
    return tuple(place)


def _check_attribute(data: Any, path: KeyPath) -> KeyPath:
    """Return a path with the column as ``attributes`` spells it; a new column needs its role too."""
    attributes = _columns_of(data)
    if path[:1] != ("attributes",) or len(path) < COLUMN or not attributes:
        return path
    name = Spellings(attributes).of(str(path[1]))
    if name not in attributes and len(path) > COLUMN:
        raise ValueError(f"no column '{name}' in attributes; {suggested(name, attributes)}")
    return (path[0], name, *path[COLUMN:])


def _replaced(data: Any, path: KeyPath, depth: int, value: Any) -> Any:
    """Return a copy of nested data with the value at a path replaced; missing mappings are created."""
    if depth == len(path):
        return value
    part, place = path[depth], dotted(path[:depth])
    if part == NEW and (data is None or isinstance(data, list)):
        if depth < len(path) - 1:
            raise ValueError(f"{NEW} adds a whole entry; give it as {place}.{NEW}={{...}}")
        return [*(data or []), value]
    if isinstance(data, list):
        if not str(part).isdigit() or int(part) >= len(data):
            if not data:
                raise ValueError(f"{place} is an empty list; add an entry with {place}.{NEW}=...")
            accepted = "0" if len(data) == 1 else f"0 to {len(data) - 1}"
            raise ValueError(
                f"'{part}' is not an entry of {place}; accepted: {accepted}, or {NEW} to add one"
            )
        at = int(part)
        return [*data[:at], _replaced(data[at], path, depth + 1, value), *data[at + 1 :]]
    data = in_long_form(data, path[:depth])
    if data is not None and not isinstance(data, dict):
        raise ValueError(
            f"{place} is {shown(data)} and has no keys; end the key here, or set a mapping first"
        )
    known = data or {}
    key = str(part)
    return {**known, key: _replaced(known.get(key), path, depth + 1, value)}


def load_config(source: Config | Mapping[str, Any] | str | Path, overrides: Sequence[str] = ()) -> Config:
    """Return the config that a file or a mapping describes.

    Parameters
    ----------
    source: path of a YAML, TOML or JSON file, a mapping with the same keys, or a config. Relative paths start
        from the folder of the file; in a mapping, from the current folder.
    overrides: ``path=value`` each, as for ``--set``.

    Raises
    ------
    ConfigError: with all errors of the config.
    InputError: the file cannot be read.
    """
    if isinstance(source, Config) and not overrides:
        return source
    document = overridden(_document(source), overrides)
    return _validated(document, _columns_of(document.data))


def renamed_columns(config: Config, names: Iterable[str]) -> Config:
    """Return a config whose columns have the spelling of some names, such as those of its input."""
    spellings = Spellings(names)
    return _validated(_document(config), map(spellings.of, config.attributes))


def _columns_of(data: Any) -> list[str]:
    """Return the names under ``attributes`` in raw data."""
    attributes = data.get("attributes") if isinstance(data, Mapping) else None
    return list(map(str, attributes)) if isinstance(attributes, Mapping) else []


def _validated(document: Document, columns: Iterable[str]) -> Config:
    """Return the config of a document, in which names of columns may be other spellings of some names."""
    try:
        with columns_named(columns):
            config = Config.model_validate(document.data)
    except ValidationError as error:
        found = [(line["loc"], line["msg"]) for line in error.errors(include_url=False)]
        problems = [ConfigProblem(dotted(path), what, document.line(path)) for path, what in found]
        raise ConfigError(document.name, sorted(problems, key=lambda each: each.line or 0)) from None
    return config.located(Origin(document.name, document.folder))


def _document(source: Config | Mapping[str, Any] | str | Path) -> Document:
    if isinstance(source, Config):
        return Document(source.source, source.folder, from_python(source.to_dict()))
    if isinstance(source, Mapping):
        check_size("config", source)
        return Document("config", Path(), from_python(source))
    if not isinstance(source, str | Path):
        what = "a mapping, the path of a file, or an an.Config"
        raise InputError(f"config: got {shown(source)}; accepted: {what}")
    return read_document(Path(source))


def check_columns(
    asked: Collection[str], columns: Sequence[str], source: str, config: str = Origin.name
) -> None:
    """Compare the columns of a config with those of a file or DataFrame.

    Parameters
    ----------
    asked: names in the config.
    columns: names in the data.
    source, config: names of the data and of the config in messages.

    Raises
    ------
    ConfigError: with every column that the data lack and every column without a role.
    """
    present = frozenset(columns)
    lacking = [name for name in asked if name not in present]
    without_role = [name for name in columns if name not in asked]
    found = [
        (name, f"{source} has no such column; {suggested(name, without_role or columns)}") for name in lacking
    ]
    roles = ", ".join(Role)
    found += [(name, f"column of {source} has no role; accepted: {roles}") for name in without_role]
    if found:
        raise ConfigError(config, [ConfigProblem(dotted(("attributes", name)), what) for name, what in found])


VARIED_FORM = "accepted: KEY=V1,V2,..., such as constraints.0.k=2,5,10"
_VARIABLE = ("algorithm", "budget", "constraints", "objective", "reference", "suppression")
_LEVELS = 3
"""Length of ``attributes.NAME.levels``."""


class Variation(NamedTuple):
    """A config key with the values that a comparison tries.

    Attributes
    ----------
    key: as given.
    path: of the key.
    values: as for ``--set``.
    """

    key: str
    path: KeyPath
    values: tuple[str, ...]

    @property
    def overrides(self) -> tuple[str, ...]:
        """``key=value`` for each value."""
        return tuple(f"{self.key}={value}" for value in self.values)


def variations(texts: Sequence[str], short: Collection[str] = ()) -> list[Variation]:
    """Return the variations of some ``key=v1,v2``.

    Parameters
    ----------
    texts: each a key as for ``--set``, and values as YAML, separated by commas.
    short: further keys, which are not those of a config.

    Raises
    ------
    ConfigError: with all errors.
    """
    problems: list[ConfigProblem] = []
    found: list[Variation] = []
    for text in texts:
        try:
            one = _variation(text)
            _check_known(one, found, short)
            found.append(one)
        except ValueError as error:
            problems.append(ConfigProblem(f"--vary {shortened(text)}", str(error)))
    if problems:
        raise ConfigError("the benchmark" if short else "the comparison", problems)
    return found


def as_texts(vary: Mapping[str, Iterable[Any]]) -> list[str]:
    """Return keys with Python values as texts for ``variations``.

    >>> as_texts({"constraints.0.k": [2, 5], "suppression.method": ["classes"]})
    ['constraints.0.k=2,5', 'suppression.method=classes']
    """
    return [f"{key}={','.join(map(_flow, values))}" for key, values in vary.items()]


def _variation(text: str) -> Variation:
    path, end = parse_key(text)
    if not path or text[end : end + 1] != "=":
        raise ValueError(f"not a key with values; {VARIED_FORM}")
    try:
        values, _ = parse_yaml(f"[{text[end + 1 :]}]", "values")
    except OversizedConfig as error:
        raise ValueError(error.problems[0].what) from None
    except ConfigError:
        values = None
    if not isinstance(values, list):
        raise ValueError(f"the values are not YAML; if they are texts, put them in quotes; {VARIED_FORM}")
    written = tuple(_flow(value) for value in values)
    if not written:
        raise ValueError(f"no values; {VARIED_FORM}")
    # 1 and true are equal in Python.
    typed = [(isinstance(value, bool), value) for value in values]
    twice = [written[place] for place, value in enumerate(typed) if value in typed[:place]]
    if twice:
        raise ValueError(f"the value {twice[0]} is given twice; keep one")
    return Variation(text[:end], path, written)


def _check_known(one: Variation, others: Sequence[Variation], short: Collection[str]) -> None:
    """Check that a key may vary and does not overlap with others."""
    place = tuple(map(str, one.path))
    if short and len(place) == 1 and place[0] not in (*short, *_VARIABLE):
        raise ValueError(f"unknown key '{place[0]}'; {suggestion(place[0], (*short, *_VARIABLE))}")
    if place in (("algorithm",), ("algorithm", "name")):
        raise ValueError("to vary the algorithm, give --algorithm NAME once for each algorithm")
    levels = len(place) >= _LEVELS and (place[0], place[2]) == ("attributes", "levels")
    if place[0] not in (*_VARIABLE, *short) and not levels:
        raise ValueError(
            "this key must have the same value in all runs, so that results can be compared; "
            f"accepted: keys of {', '.join(_VARIABLE)}, and attributes.NAME.levels"
        )
    for other in others:
        shorter, longer = sorted((place, tuple(map(str, other.path))), key=len)
        if longer[: len(shorter)] == shorter:
            again = "is given twice" if shorter == longer else f"overlaps with --vary {other.key}"
            raise ValueError(f"the key {again}; keep one")


def _flow(value: Any) -> str:
    """Return a value as YAML on one line, unquoted if that reads back as the same."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return str(value)
        case Mapping():
            inner = (f"{_flow(str(key))}: {_flow(item)}" for key, item in value.items())
            return "{" + ", ".join(inner) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case _:
            return _text(str(value))


def _text(text: str) -> str:
    try:
        data, _ = parse_yaml(f"[{text}]", "text")
    except ConfigError:
        data = None
    if data == [text]:
        return text
    dumped: str = yaml.dump(text, default_style='"', width=10**9, allow_unicode=True)
    return dumped.removesuffix("\n")
