"""Everything that a page shows beside the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.model.classes import Released
from anonymizer.privacy.base import Constraint
from anonymizer.report.facts.distribution import Distribution, distributions
from anonymizer.report.facts.groups import SizeBin, group_sizes
from anonymizer.report.facts.knowledge import RiskByKnowledge, knowing
from anonymizer.report.facts.losses import AttributeLoss, attribute_losses
from anonymizer.report.facts.rounding import smallest_shown
from anonymizer.report.facts.worst import Worst, worst_classes


@dataclass(frozen=True)
class Facts:
    """What the frequency table tells beside the report, folded and rounded; no record, no small count.

    Attributes
    ----------
    smallest: counts of people below this are not told.
    smallest_class: size of the smallest class, None when below that.
    losses: of the attributes, most lost first.
    distributions: of the attributes, in the order of the table.
    groups: histogram of class sizes, empty without enough classes.
    knowing: vulnerability by number of known attributes, empty where it was not counted.
    worst: the worst classes of each constraint, None for one of the whole release.
    """

    smallest: int
    smallest_class: int | None
    losses: tuple[AttributeLoss, ...]
    distributions: tuple[Distribution, ...]
    groups: tuple[SizeBin, ...]
    knowing: tuple[RiskByKnowledge, ...]
    worst: tuple[Worst | None, ...]


def gather(released: Released, constraints: Sequence[Constraint], *, moving_reference: bool) -> Facts:
    """Count, fold and round what a page shows of a release.

    Parameters
    ----------
    constraints: in the order of the report.
    moving_reference: whether the distribution p is that of the release, else that of the input.
    """
    smallest, merged = smallest_shown(released.k), released.merged
    least = min(
        [
            int(released.class_sizes.min(initial=released.records)),
            released.kept_suppressed or released.records,
        ]
    )
    return Facts(
        smallest,
        least if least >= smallest else None,
        attribute_losses(merged),
        distributions(merged),
        group_sizes(released),
        knowing(released),
        worst_classes(merged, constraints, moving_reference=moving_reference),
    )
