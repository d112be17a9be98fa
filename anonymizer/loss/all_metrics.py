"""Every loss metric of a recoding at once."""

from __future__ import annotations

from anonymizer.loss.registry import LOSS_METRICS
from anonymizer.model.classes import Released


def all_losses(released: Released) -> dict[str, float | None]:
    """Return the value of every metric by its name with underscores, arithmetic means throughout."""
    return {name.replace("-", "_"): metric().value(released) for name, metric in LOSS_METRICS.items()}
