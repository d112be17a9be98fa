"""``hierarchy:`` of an attribute: one source with its parameters, and what happens to unknown values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pydantic import Field, GetJsonSchemaHandler, ValidationError, ValidationInfo, field_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.plugged import parse_settings, plug_in_schema
from anonymizer.config.plugins import hierarchy_sources
from anonymizer.config.section import SETTINGS, Section, problem, refusal, settings_to_dict
from anonymizer.config.words import shown
from anonymizer.errors import HierarchyError, suggestion


class Unknown(StrEnum):
    """What happens to a value that the hierarchy lacks."""

    ERROR = "error"
    TOP = "top"


class HierarchySettings(Section):
    """Where the generalization hierarchy of a column comes from."""

    source: str = Field(description="name of the hierarchy source")
    settings: Any = Field(default=None, validation_alias=SETTINGS)
    unknown: Unknown = Field(
        default=Unknown.ERROR, description="a value the hierarchy lacks is an error, or goes under the top"
    )

    def build(self) -> Any:
        """Return the hierarchy source, made with its parameters."""
        return hierarchy_sources()[self.source](self.settings)

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Split the one source key into its name and its parameters; a networkx tree becomes ``tree``."""
        if not isinstance(data, Mapping):
            data = {"tree": _nested(data)} if _is_graph(data) else data
        if not isinstance(data, Mapping):
            accepted = f"a mapping with one of the keys {', '.join(hierarchy_sources())}"
            raise refusal([problem(f"{shown(data)}; accepted: {accepted}", (), data)])
        named = [key for key in data if key in hierarchy_sources()]
        strange = [key for key in data if key not in named and key != "unknown"]
        problems = [
            problem(f"unknown key; {suggestion(key, cls.accepted_keys())}", (key,)) for key in strange
        ]
        if len(named) > 1:
            problems.append(problem(f"{' and '.join(named)} are given; accepted: exactly one source"))
        if not named and not strange:
            problems.append(problem(f"no source; accepted: one of {', '.join(hierarchy_sources())}"))
        if problems:
            raise refusal(problems)
        rest = {key: value for key, value in data.items() if key == "unknown"}
        return {"source": named[0], SETTINGS: data[named[0]], **rest}

    @classmethod
    def accepted_keys(cls) -> list[str]:
        """Return the sources and ``unknown``."""
        return [*hierarchy_sources(), "unknown"]

    @field_validator("settings", mode="before")
    @classmethod
    def _parsed(cls, raw: Any, info: ValidationInfo) -> Any:
        source = info.data["source"]
        try:
            return parse_settings(hierarchy_sources()[source], raw)
        except ValidationError as error:
            below = [(line["msg"], (source, *line["loc"])) for line in error.errors(include_url=False)]
            raise refusal([problem(what, path) for what, path in below]) from None

    def to_dict(self) -> dict[str, Any]:
        """Return the mapping with the source as its key."""
        own = settings_to_dict(self)
        return {self.source: own[SETTINGS], "unknown": own["unknown"]}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return one alternative for each registered source."""
        frame = handler.resolve_ref_schema(handler(core_schema))
        sources = hierarchy_sources()
        alternatives = [
            {
                "title": name,
                "type": "object",
                "properties": {
                    name: plug_in_schema(sources[name], handler),
                    "unknown": frame["properties"]["unknown"],
                },
                "required": [name],
                "additionalProperties": False,
            }
            for name in sources
        ]
        return {"title": cls.__name__, "description": frame.get("description", ""), "oneOf": alternatives}


def _is_graph(value: Any) -> bool:
    return all(hasattr(value, name) for name in ("successors", "in_degree", "nodes"))


def _nested(graph: Any) -> dict[str, Any]:
    """Return a networkx tree as the nested mapping of the ``tree`` source, leaves mapped to nothing."""
    from anonymizer.hierarchy.graph import pad, root_of  # noqa: PLC0415

    try:
        tree = pad(graph, "the networkx tree")
    except HierarchyError as error:
        raise refusal([problem(str(error))]) from None
    return _below(tree, [root_of(tree, "")])


def _below(tree: Any, nodes: list[Any]) -> dict[str, Any]:
    return {node[1]: _below(tree, list(tree.successors(node))) or None for node in nodes}
