"""``apply:``: the recoding of an earlier run for further records."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.search import Method
from anonymizer.config.section import Section
from anonymizer.plugins import FilePath

if TYPE_CHECKING:
    from anonymizer.config.model import Config

ALGORITHMS = ("auto", "lattice", "mondrian")
"""Algorithms that may stand beside ``apply``: what they find can be applied, or searched anew."""


class Otherwise(StrEnum):
    """What happens when the recoding cannot be applied so that every constraint holds."""

    REFUSE = "refuse"
    SEARCH = "search"


class Batch(StrEnum):
    """What is asked of the new records by themselves, for whoever subtracts the earlier release."""

    WARN = "warn"
    REQUIRE = "require"


class ApplySettings(Section):
    """The earlier run whose recoding is applied; the path of its report alone will do."""

    report: FilePath = Field(description="report.json of the earlier run, relative to the config")
    otherwise: Otherwise = Field(
        default=Otherwise.REFUSE,
        description="when constraints break: refuse, or search another recoding for the new records alone",
    )
    batch: Batch = Field(
        default=Batch.WARN,
        description="new records whose class fails without the earlier ones: warn, or release (require) none",
    )

    @classmethod
    def normalize_input(cls, data: Any) -> Any:
        """Take a path alone for a mapping with nothing else."""
        return {"report": data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return a path, or the mapping."""
        frame = handler.resolve_ref_schema(super().__get_pydantic_json_schema__(core_schema, handler))
        path = {"type": "string", "minLength": 1}
        about = {"title": cls.__name__, "description": frame.get("description", "")}
        return {**about, "oneOf": [path, frame]}


def unsuitable(config: Config) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the keys that cannot stand beside ``apply``, each with what would do."""
    if config.algorithm.name not in ALGORITHMS:
        name = config.algorithm.name
        what = f"what '{name}' finds cannot be applied to other records; accepted: {', '.join(ALGORITHMS)}"
        yield ("algorithm", "name"), what
    if config.suppression.method is not Method.CLASSES:
        yield ("suppression", "method"), "beside apply whole classes are suppressed; accepted: classes"
    if config.suppression.keep_rows:
        yield ("suppression", "keep_rows"), "beside apply suppressed records are removed; accepted: false"
    if config.utility:
        what = "is measured against all original records, and the earlier ones are not here; remove it"
        yield ("utility",), what
    if config.output.table is not None:
        yield ("output", "table"), "beside apply the release is a file; set output.path instead"
