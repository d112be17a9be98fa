"""``attacks:``: the attacks that are run on the release and reported."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, GetJsonSchemaHandler, field_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from anonymizer.config.plugged import PLUG_IN_SETTINGS, PluggedSection, named
from anonymizer.config.plugins import AnyRegistry, attacks


class AttackSettings(PluggedSection):
    """An attack with its options; without options its name alone will do."""

    selector: ClassVar[str] = "attack"
    attack: str = Field(description="name of the attack")
    settings: Any = PLUG_IN_SETTINGS

    @classmethod
    def registry(cls) -> AnyRegistry:
        """Return the attacks."""
        return attacks()

    @classmethod
    def arranged(cls, data: Any) -> Any:
        """Take a name alone for a mapping with nothing else."""
        return super().arranged({cls.selector: data} if isinstance(data, str) else data)

    @field_validator("attack", mode="before")
    @classmethod
    def _known_attack(cls, name: Any) -> str:
        return named(cls.registry(), name)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the names, and one mapping for each attack."""
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        return {**schema, "oneOf": [{"enum": list(cls.registry()), "type": "string"}, *schema["oneOf"]]}
