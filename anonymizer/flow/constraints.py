"""The constraints of a config, bound to the sensitive attributes of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anonymizer.config.model import Config
from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy.base import (
    AttackModel,
    ClassConstraint,
    ClassModel,
    Constraint,
    PrivacyModel,
    ReleaseConstraint,
    TableConstraint,
    TableModel,
)


def bind(
    model: PrivacyModel, attribute: str | None = None, settings: ConstraintSettings | None = None
) -> Constraint:
    """Return a model as a constraint on a sensitive attribute."""
    combined = settings is not None and settings.quasi_identifiers == "combined"
    is_value = settings is not None and settings.missing_sensitive == "value"
    if isinstance(model, ClassModel):
        return ClassConstraint(attribute, combined, is_value, model=model)
    if isinstance(model, AttackModel):
        return ReleaseConstraint(attribute, combined, is_value, model=model)
    assert isinstance(model, TableModel)
    return TableConstraint(attribute, combined, is_value, model=model)


def constraints_of(config: Config, sensitive: Sequence[str]) -> list[Constraint]:
    """Return the constraints in their order; one without ``attribute`` applies to each attribute by itself.

    Parameters
    ----------
    sensitive: names of the sensitive attributes, in the order of the file.
    """
    return [bound for settings in config.constraints for bound in _expand(settings, sensitive)]


def _expand(settings: ConstraintSettings, sensitive: Sequence[str]) -> Iterator[Constraint]:
    model: PrivacyModel = settings.build()
    if not model.needs_sensitive:
        yield bind(model)
        return
    for name in [settings.attribute] if settings.attribute is not None else sensitive:
        yield bind(model, name, settings)


def required_size(config: Config) -> int | None:
    """Return the largest k that the constraints ask for, None when none has one."""
    sizes = [getattr(settings.settings, "k", None) for settings in config.constraints]
    return max((size for size in sizes if size is not None), default=None)


def probes(attribute: SensitiveAttribute | None, models: Sequence[type[PrivacyModel]]) -> list[Constraint]:
    """Return constraints with neutral thresholds that measure all there is to measure.

    Parameters
    ----------
    attribute: a sensitive attribute; None for the models that need none.
    """
    found: list[Constraint] = []
    for model in models:
        if model.sensitive and attribute is None:
            continue
        fitting = (
            each for each in model.probes(attribute) if each.needs_sensitive == (attribute is not None)
        )
        found.extend(bind(probe, None if attribute is None else attribute.name) for probe in fitting)
    return found


def positions(config: Config, sensitive: Sequence[str]) -> list[int]:
    """Return for each bound constraint its position in the config."""
    return [
        position for position, settings in enumerate(config.constraints) for _ in _expand(settings, sensitive)
    ]
