"""Whether a config asks of further records what the earlier run asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anonymizer.config.model import Config, Reference
from anonymizer.errors import ConfigError, ConfigProblem, suggestion
from anonymizer.flow.applying.previous import Previous
from anonymizer.flow.attributes import hierarchy_digest
from anonymizer.privacy.base import AttackModel, ClassModel

REMEDY = "write as the earlier run has it, or run without apply"


def check_compatible(config: Config, previous: Previous) -> None:
    """Check that the promise of the earlier release is the promise of the one that goes on.

    Raises
    ------
    ConfigError: all that differs, or that cannot be told without the earlier records.
    """
    problems = [*_attributes(config, previous), *_constraints(config, previous)]
    if problems:
        raise ConfigError(config.source, problems)


def _attributes(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    for name in previous.config.attributes:
        if name not in config.attributes:
            yield ConfigProblem(f"attributes.{name}", f"missing; the earlier run has this column; {REMEDY}")
    for name, settings in config.attributes.items():
        where = f"attributes.{name}"
        if name not in previous.config.attributes:
            yield ConfigProblem(
                where, f"the earlier run has no such column; {suggestion(name, previous.types)}"
            )
            continue
        own, other = settings.to_dict(), previous.config.attributes[name].to_dict()
        for key in ("role", "type", "levels", "distance"):
            if own.get(key) != other.get(key) and not (
                key == "type" and own.get(key) == previous.types.get(name)
            ):
                yield ConfigProblem(f"{where}.{key}", _differs(own.get(key), other.get(key)))
        if hierarchy_digest(settings.hierarchy, config.folder) != previous.hierarchies.get(name):
            yield ConfigProblem(
                f"{where}.hierarchy", f"is not that of the earlier run (SHA-256 differs); {REMEDY}"
            )


def _constraints(config: Config, previous: Previous) -> Iterator[ConfigProblem]:
    own = [each.to_dict() for each in config.constraints]
    other = [each.to_dict() for each in previous.config.constraints]
    if len(own) != len(other):
        what = f"are {len(own)}, the earlier run has {len(other)}; {REMEDY}"
        yield ConfigProblem("constraints", what)
    for position, (one, before) in enumerate(zip(own, other, strict=False)):
        if one != before:
            yield ConfigProblem(f"constraints[{position}]", _differs(one, before))
    if config.reference is not previous.config.reference:
        yield ConfigProblem("reference", _differs(config.reference.value, previous.config.reference.value))
    if config.input.missing != previous.config.input.missing:
        yield ConfigProblem(
            "input.missing", _differs(list(config.input.missing), list(previous.config.input.missing))
        )
    if config.input.decimal is not previous.config.input.decimal:
        own_sign, before_sign = config.input.decimal.value, previous.config.input.decimal.value
        yield ConfigProblem("input.decimal", _differs(own_sign, before_sign))
    for position, settings in enumerate(config.constraints):
        model = settings.build()
        if isinstance(model, AttackModel):
            what = f"{model.name} asks attackers who hold all originals, and the earlier ones are not here"
            yield ConfigProblem(f"constraints[{position}]", f"{what}; run on all records without apply")
        if config.reference is Reference.INPUT and isinstance(model, ClassModel) and model.uses_reference:
            what = f"{model.name} compares with all original records, and the earlier ones are not here"
            yield ConfigProblem(
                f"constraints[{position}]", f"{what}; accepted: reference: release, from the start"
            )


def _differs(own: Any, other: Any) -> str:
    return f"{own!r}, the earlier run has {other!r}; {REMEDY}"
