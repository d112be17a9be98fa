"""Stub plug-ins: a model that everything satisfies, one that nothing does, a metric that knows no bounds."""

from __future__ import annotations

import numpy as np

from anonymizer.loss.base import LossMetric
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import ClassView, Reference, Released
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Settings
from anonymizer.privacy.base import ClassModel, Measured, Merging, PrivacyModel, TableModel


class NoParameters(Settings):
    """A stub has no parameters."""


class _Verdict(ClassModel):
    Settings = NoParameters
    sensitive = False
    thresholds = ()
    verdict: bool

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        return [cls(NoParameters())]

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return np.full(len(view.sizes), self.verdict)

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        return int(self.verdict)

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return np.ones(len(view.sizes), dtype=bool)


class AlwaysHolds(_Verdict):
    """Every class satisfies it."""

    name = "always-holds"
    merging = Merging.ANY
    verdict = True


class AlwaysFails(_Verdict):
    """No class satisfies it."""

    name = "always-fails"
    merging = Merging.ANY
    verdict = False


class AtMostSettings(Settings):
    """Parameters of at-most."""

    records: int


class AtMost(ClassModel):
    """A class has at most some records: a merge may violate it, and a split satisfies it."""

    name = "at-most"
    Settings = AtMostSettings
    settings: AtMostSettings
    sensitive = False
    thresholds = ()
    merging = Merging.NONE
    measured_by_default = False

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        return []

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return view.sizes <= self.settings.records

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        return int(view.sizes.max())

    def is_worst(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return view.sizes == view.sizes.max()


class WholeAlwaysFails(TableModel):
    """No release satisfies it, whatever is suppressed."""

    name = "whole-always-fails"
    Settings = NoParameters
    sensitive = False
    thresholds = ()

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        return [cls(NoParameters())]

    def holds(self, view: ClassView) -> bool:
        return False

    def measured(self, view: ClassView) -> Measured:
        return 1.0


class FewClasses(LossMetric):
    """The number of classes of the release: a metric of which nothing is known in advance."""

    name = "few-classes"

    def value(self, released: Released) -> float | None:
        return float(released.classes)
