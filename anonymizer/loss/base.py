"""What a loss metric is, for a finished recoding and for the nodes of a lattice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from anonymizer.loss.aggregate import Aggregate, ArithmeticMean
from anonymizer.loss.lattice import LatticeLoss, UnboundedLatticeLoss
from anonymizer.model.classes import Released
from anonymizer.model.table import Table
from anonymizer.plugins import Settings as PlugInSettings


class NoSettings(PlugInSettings):
    """The parameters of a metric that has none."""


class LossMetric(ABC):
    """A number that says how much a recoding lost; smaller is better.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    aggregates: whether it joins one loss per attribute, so that an ``aggregate`` applies.

    Parameters
    ----------
    aggregate: joins the losses of the attributes.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]] = NoSettings
    aggregates: ClassVar[bool] = False

    def __init__(self, settings: PlugInSettings | None = None, aggregate: Aggregate | None = None) -> None:
        self.settings = settings if settings is not None else self.Settings()
        self.aggregate = aggregate if aggregate is not None else ArithmeticMean()

    @abstractmethod
    def value(self, released: Released) -> float | None:
        """Return the loss of a recoding, None where the metric does not apply to it."""

    def on_lattice(self, table: Table, k: int | None) -> LatticeLoss:
        """Return the metric with what it can say of whole parts of a lattice.

        A metric that has nothing to say in advance is optimised too, by evaluating every valid node.

        Parameters
        ----------
        k: of the config's k-anonymity, None without one.
        """
        return UnboundedLatticeLoss(table, self.value, k)
