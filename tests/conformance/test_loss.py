"""Every registered loss metric conforms; one whose bounds are wrong does not."""

from __future__ import annotations

import numpy as np
import pytest

from anonymizer.loss.base import AGGREGATES, LOSS_METRICS, AggregateName, LatticeLoss
from anonymizer.model.features import Feature
from anonymizer.model.table import Table
from anonymizer.testing import check_loss_metric
from tests.helpers import stubs
from tests.helpers.problems import metric

CASES = [
    (name, aggregate)
    for name in LOSS_METRICS
    for aggregate in (
        AGGREGATES if Feature.AGGREGATE in LOSS_METRICS[name].supports else [AggregateName.ARITHMETIC_MEAN]
    )
]


def test_there_are_metrics_to_check() -> None:
    assert len(CASES) >= len(LOSS_METRICS) > 0


@pytest.mark.quick(4)
@pytest.mark.parametrize(("name", "aggregate"), CASES)
def test_conforms(name: str, aggregate: str) -> None:
    check_loss_metric(metric(name, aggregate))


def test_a_metric_without_bounds_conforms() -> None:
    check_loss_metric(stubs.FewClasses())


class TooHigh(stubs.FewClasses):
    """Claims that no release has fewer than three classes."""

    def on_lattice(self, table: Table, k: int | None, smallest: int = 1) -> LatticeLoss:
        loss = super().on_lattice(table, k, smallest)
        loss.floors = [np.full_like(floor, 3.0 * (i == 0)) for i, floor in enumerate(loss.floors)]
        return loss


def test_a_wrong_bound_is_found() -> None:
    with pytest.raises(AssertionError, match="less than the bound"):
        check_loss_metric(TooHigh())
