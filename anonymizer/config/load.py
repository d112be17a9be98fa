"""Makes a config from a file or a mapping, with all that is wrong in one error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from anonymizer.config.attribute import Role
from anonymizer.config.document import Document, check_size, from_python
from anonymizer.config.model import Config, Origin
from anonymizer.config.override import overridden
from anonymizer.config.read import read_document
from anonymizer.config.words import dotted
from anonymizer.errors import ConfigError, ConfigProblem, suggestion


def load_config(source: Config | Mapping[str, Any] | str | Path, overrides: Sequence[str] = ()) -> Config:
    """Return the config that a file or a mapping describes.

    Parameters
    ----------
    source: path of a YAML, TOML or JSON file, whose folder relative paths in it start from; or a mapping with
        the same keys, for which they start from the current folder; or a config.
    overrides: ``path=value`` each, as ``--set`` takes them.

    Raises
    ------
    ConfigError: with every problem of the config.
    InputError: the file cannot be read.
    """
    if isinstance(source, Config) and not overrides:
        return source
    document = overridden(_document(source), overrides)
    try:
        config = Config.model_validate(document.data)
    except ValidationError as error:
        raise ConfigError(document.name, _problems(error, document)) from None
    return config.located(Origin(document.name, document.folder))


def _document(source: Config | Mapping[str, Any] | str | Path) -> Document:
    if isinstance(source, Config):
        return Document(source.source, source.folder, from_python(source.to_dict()))
    if isinstance(source, Mapping):
        check_size("config", source)
        return Document("config", Path(), from_python(source))
    return read_document(Path(source))


def _problems(error: ValidationError, document: Document) -> list[ConfigProblem]:
    found = [(line["loc"], line["msg"]) for line in error.errors(include_url=False)]
    problems = [ConfigProblem(dotted(path), what, document.line(path)) for path, what in found]
    return sorted(problems, key=lambda each: each.line or 0)


def check_columns(config: Config, columns: Sequence[str], source: str) -> None:
    """Compare the columns that a config names with those of a file or DataFrame.

    Parameters
    ----------
    columns: names in the data.
    source: what messages call the data.

    Raises
    ------
    ConfigError: naming every column of the config that the data lacks and every column without a role.
    """
    present = frozenset(columns)
    lacking = [name for name in config.attributes if name not in present]
    without_role = [name for name in columns if name not in config.attributes]
    found = [
        (name, f"{source} has no such column; {suggestion(name, without_role or columns)}")
        for name in lacking
    ]
    roles = ", ".join(Role)
    found += [(name, f"a column of {source} without a role; accepted: {roles}") for name in without_role]
    if found:
        raise ConfigError(
            config.source, [ConfigProblem(dotted(("attributes", name)), what) for name, what in found]
        )
