"""The config: all settings that determine a release, and their JSON Schema.

The schema is composed from the registered plug-ins; editors complete config files with it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from pydantic import (
    PrivateAttr,
    ValidationError,
    model_validator,
)

from anonymizer.config.attribute import AttributeSettings
from anonymizer.config.features import conflicts
from anonymizer.config.files import with_released_name
from anonymizer.config.plugin_sections import (
    ConstraintSettings,
)
from anonymizer.config.search import (
    AlgorithmSettings,
    ObjectiveSettings,
)
from anonymizer.config.section import KeyPath, dotted, refuse
from anonymizer.config.sections import ConfigSections
from anonymizer.config.signing import FILE
from anonymizer.data.source import is_url
from anonymizer.errors import ConfigError, ConfigProblem
from anonymizer.model.feature_rows import Stage
from anonymizer.model.invocation import RunCommand
from anonymizer.system import real_path, same_file


@dataclass(frozen=True)
class Origin:
    """Where a config was read; ignored by comparison, so that configs compare by content."""

    name: str = field(default="config", compare=False)
    folder: Path = field(default=Path(), compare=False)
    command: RunCommand | None = field(default=None, compare=False)


class Config(ConfigSections):
    """A whole config. ``load_config`` returns one for a file or a mapping."""

    _origin: Origin = PrivateAttr(default_factory=Origin)

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Return the raw config with the name of the release in the format of the input."""
        return with_released_name(super().normalize_input(data))

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        refuse(conflicts(self))
        return self

    def problems_at(self, stage: Stage) -> list[ConfigProblem]:
        """Return what does not go together at a stage."""
        return [ConfigProblem(dotted(each.path), each.what) for each in conflicts(self, stage)]

    def require(self, stage: Stage) -> None:
        """Refuse what does not go together at a stage.

        Raises
        ------
        ConfigError: with all problems.
        """
        problems = self.problems_at(stage)
        if problems:
            raise ConfigError(self.source, problems)

    @property
    def in_input_database(self) -> bool:
        """Whether input and release are in one database."""
        source, output = self.input, self.output
        if output.database is None:
            return output.url is not None and source.url == output.url
        return source.database is not None and same_file(
            self.folder / source.database, self.folder / output.database
        )

    @property
    def source(self) -> str:
        """Name of the config in messages: its path as given."""
        return self._origin.name

    @property
    def folder(self) -> Path:
        """Folder that relative paths in the config start from."""
        return self._origin.folder

    @property
    def command(self) -> RunCommand | None:
        """The command that runs this config; None where it was not started by one."""
        return self._origin.command

    def started_by(self, command: RunCommand) -> Config:
        """Return a copy of the config that was started by a command."""
        return self.located(replace(self._origin, command=command))

    def located(self, origin: Origin) -> Config:
        """Return a copy of the config with another origin."""
        copy = self.model_copy()
        copy._origin = origin
        return copy

    def moved_to(self, folder: Path) -> dict[str, Any]:
        """Return the config as a mapping for a file in another folder, with the paths of files from there."""
        content = self.to_dict()
        given, own, options = content["input"], content.get("output") or {}, content["engine"]["options"]
        holders = [(given, "path"), (given, "database"), (given, "control"), (own, "database")]
        holders += [(given.get("population") or {}, "path"), (content.get("apply") or {}, "report")]
        holders += [(options, "temp_directory")]
        columns = (each for each in content["attributes"].values() if isinstance(each, dict))
        holders += [(each["hierarchy"], "file") for each in columns if each.get("hierarchy")]
        for section, key in holders:
            if isinstance(section.get(key), str) and not is_url(section[key]):
                section[key] = _path_from(folder, self.folder / section[key])
        if self.sign is not None and (path := self.sign.path) is not None:
            content["sign"] = {"key": FILE + _path_from(folder, self.folder / path)}
        return content


def _path_from(folder: Path, path: Path) -> str:
    """Return a path from a folder, or a whole one where there is no way between them."""
    target = real_path(path.parent) / path.name
    try:
        return Path(os.path.relpath(target, real_path(folder))).as_posix()
    except ValueError:  # on another drive
        return target.as_posix()


def in_long_form(data: Any, path: KeyPath) -> Any:
    """Return the raw section at a path as a mapping, if it is in its short form; other data unchanged.

    >>> in_long_form("mondrian", ("algorithm",)), in_long_form({"k-anonymity": 5}, ("constraints", "0"))
    ({'name': 'mondrian'}, {'model': 'k-anonymity', 'k': 5})
    >>> in_long_form("drop", ("attributes", "age")), in_long_form("a.csv", ("input", "path"))
    ({'role': 'drop'}, 'a.csv')
    """
    match path:
        case ("algorithm",) if isinstance(data, str):
            return {AlgorithmSettings.selector: data}
        case ("objective",) if isinstance(data, str):
            return {ObjectiveSettings.selector: data}
        case ("attributes", _) if isinstance(data, str):
            return {AttributeSettings.short: data}
        case ("constraints", _) | ("scenarios", _, "models", _):
            with suppress(ValidationError):  # reported when the whole config is validated
                return ConstraintSettings.in_long_form(data)
    return data


def config_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a config with the parameters of every plug-in."""
    schema = Config.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "anonymizer config",
        "anyOf": [
            {"required": ["scenarios"], "properties": {"scenarios": {"minProperties": 1}}},
            {"required": ["constraints"], "properties": {"constraints": {"minItems": 1}}},
        ],
    }
