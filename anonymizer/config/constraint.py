"""``constraints:``: the privacy models that must hold on the released file."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from anonymizer.config.plugged import PLUG_IN_SETTINGS, PluginSection
from anonymizer.config.plugins import AnyRegistry, privacy_models
from anonymizer.config.section import problem, refusal


class ConstraintSettings(PluginSection):
    """A privacy model with its parameters; every constraint must hold."""

    selector: ClassVar[str] = "model"
    model: str = Field(description="name of the privacy model")
    attribute: str | None = Field(
        default=None, description="the sensitive attribute; default: each of them by itself"
    )
    quasi_identifiers: Literal["combined"] | None = Field(
        default=None, description="combined: the other sensitive attributes are quasi-identifiers for it"
    )
    missing_sensitive: Literal["value"] | None = Field(
        default=None, description="value: a missing sensitive value counts as one of the distinct values"
    )
    settings: Any = PLUG_IN_SETTINGS

    @classmethod
    def registry(cls) -> AnyRegistry:
        """Return the privacy models."""
        return privacy_models()

    @property
    def needs_sensitive(self) -> bool:
        """Whether the model says something about a sensitive attribute."""
        return bool(self.build().needs_sensitive)

    @model_validator(mode="after")
    def _fits_model(self) -> Self:
        counting = ("quasi_identifiers", "missing_sensitive")
        if not self.needs_sensitive:
            self._refuse(("attribute", *counting), "does not look at sensitive attributes")
        elif not self.registry()[self.model].counts_values:
            self._refuse(counting, "is measured by an attack, which counts no values")
        return self

    def _refuse(self, keys: tuple[str, ...], reason: str) -> None:
        given = [key for key in keys if getattr(self, key)]
        if given:
            raise refusal([problem(f"{self.model} {reason}; remove the key", (key,)) for key in given])
