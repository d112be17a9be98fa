"""The registries whose plug-ins a config may name; their modules are imported on first use."""

# ruff: noqa: PLC0415

from __future__ import annotations

from typing import Any, TypeAlias

from anonymizer.plugins import Registry

AnyRegistry: TypeAlias = Registry[Any]


def privacy_models() -> AnyRegistry:
    """Return what ``constraints`` may name."""
    from anonymizer.privacy.base import PRIVACY_MODELS

    return PRIVACY_MODELS


def loss_metrics() -> AnyRegistry:
    """Return what ``objective`` may name."""
    from anonymizer.loss.base import LOSS_METRICS

    return LOSS_METRICS


def search_algorithms() -> AnyRegistry:
    """Return what ``algorithm`` may name."""
    from anonymizer.search.base import SEARCH_ALGORITHMS

    return SEARCH_ALGORITHMS


def attacks() -> AnyRegistry:
    """Return what ``attacks`` may name."""
    from anonymizer.attacks.base import ATTACKS

    return ATTACKS


def hierarchy_sources() -> AnyRegistry:
    """Return what ``hierarchy`` may name."""
    from anonymizer.hierarchy.source import HIERARCHY_SOURCES

    return HIERARCHY_SOURCES


def utility_measures() -> AnyRegistry:
    """Return what ``utility`` may name."""
    from anonymizer.utility.base import UTILITY_MEASURES

    return UTILITY_MEASURES
