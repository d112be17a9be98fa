"""The loss metrics by name."""

from __future__ import annotations

from anonymizer.loss.base import LossMetric
from anonymizer.plugins import Registry

LOSS_METRICS: Registry[LossMetric] = Registry(
    "loss metric", LossMetric, "anonymizer.loss", "anonymizer.loss_metrics"
)
