"""The known builders, by the name that ``hierarchy build --by`` gives them."""

from __future__ import annotations

from anonymizer.errors import InputError, suggestion
from anonymizer.flow.building.base import Builder
from anonymizer.plugins import Registry

BUILDERS: Registry[Builder] = Registry(
    "builder", Builder, "anonymizer.flow.building", "anonymizer.hierarchy_builders"
)
"""Every ``Builder`` with a name."""


def make_builder(text: str) -> Builder:
    """Return the builder that ``NAME`` or ``NAME=VALUE`` asks for.

    Raises
    ------
    InputError: none has the name, or the value is missing or one too many.
    """
    name, _, value = text.partition("=")
    if name not in BUILDERS:
        raise InputError(f"--by {text}: unknown; {suggestion(name, BUILDERS)}")
    return BUILDERS[name](value)


def usages() -> str:
    """Return how each builder is asked for."""
    return ", ".join(kind.usage() for _, kind in sorted(BUILDERS.items()))
