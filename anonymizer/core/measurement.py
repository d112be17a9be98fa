"""What was measured of a constraint on a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measurement:
    """One privacy model, measured.

    Attributes
    ----------
    model, attribute, parameters: what was asked.
    measured: the worst measure, as the contract defines it for the model; None for a release without records.
    satisfied: whether the model holds; None where what was looked at cannot tell.
    worst_classes: number of classes that show the worst measure, 0 for models of the whole table.
    verifiable_from_release: whether the release alone suffices to measure it again.
    """

    model: str
    attribute: str | None
    parameters: dict[str, Any]
    measured: Any
    satisfied: bool | None
    worst_classes: int
    verifiable_from_release: bool
