"""What whoever holds the earlier release and the one that goes on learns by subtracting them."""

from __future__ import annotations

from anonymizer.flow.applying.decision import Decision
from anonymizer.model.classes import Measurement


def batch_violations(decision: Decision) -> str | None:
    """Return what the new records do not satisfy by themselves, None where they satisfy everything."""
    broken = [each for each in decision.alone if not each.satisfied]
    if not broken:
        return None
    measured = "; ".join(_measured(each) for each in broken)
    return (
        "whoever has the earlier release too can subtract it, and then has the new records alone: of these "
        f"{measured}; apply.batch: require releases only records that hold by themselves"
    )


def _measured(measurement: Measurement) -> str:
    name = measurement.model + (f"({measurement.attribute})" if measurement.attribute else "")
    asked = " ".join(f"{key}={value}" for key, value in measurement.parameters.items())
    return f"{name} {asked} measures {_shown_measure(measurement.measured)}"


def _shown_measure(measured: object) -> str:
    if isinstance(measured, list):
        return ", ".join(_shown_measure(each) for each in measured)
    return f"{measured:.4g}" if isinstance(measured, float) else str(measured)
