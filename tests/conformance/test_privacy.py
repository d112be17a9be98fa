"""Every registered privacy model conforms; a model that breaks its promises does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anonymizer.model.arrays import BoolArray, IntArray, count
from anonymizer.model.classes import ClassView, Reference
from anonymizer.model.table import SensitiveAttribute
from anonymizer.privacy import belief, inference_risk
from anonymizer.privacy.base import PRIVACY_MODELS, Measured, Merging, PrivacyModel
from anonymizer.testing import check_privacy_model
from anonymizer.testing.privacy import measured, verdicts
from anonymizer.testing.samples import class_samples
from tests.helpers import build, stubs
from tests.strategies import EXAMPLES

SLOW = ("definetti", "inference-risk", "pitman")
"""Models and estimators that take more than a few seconds on all samples."""


def cases() -> list[Any]:
    """Return each registered model with its first example, its last one, and each choice of words."""
    found = []
    for name, model in PRIVACY_MODELS.items():
        sets = [dict(model.examples[0]), dict(model.examples[-1])]
        for key, values in EXAMPLES[name].items():
            sets += [{**sets[0], key: value} for value in values if isinstance(value, str)]
        for given in (each for place, each in enumerate(sets) if each not in sets[:place]):
            marks = [pytest.mark.slow] if {name, *map(str, given.values())} & set(SLOW) else []
            found.append(
                pytest.param(name, given, id=f"{name}-{','.join(map(str, given.values()))}", marks=marks)
            )
    return found


CASES = cases()


def test_there_are_models_to_check() -> None:
    assert len(CASES) >= 2 * len(PRIVACY_MODELS) > 0


@pytest.fixture
def _few_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let chains end early: what is promised of an attack does not depend on how far they have agreed."""
    for room in (belief, inference_risk):
        monkeypatch.setattr(room, "SWEEPS", 32)


@pytest.mark.quick(20)
@pytest.mark.usefixtures("_few_sweeps")
@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_conforms(name: str, parameters: dict[str, Any]) -> None:
    check_privacy_model(build.model(name, parameters))


@pytest.mark.quick(15)
@pytest.mark.parametrize(
    ("name", "parameters"), [case for case in CASES if not PRIVACY_MODELS[case.values[0]].by_attack]
)
def test_codes_mean_nothing_but_their_order(name: str, parameters: dict[str, Any]) -> None:
    if parameters.get("distance") == "ordered":
        return
    model, random = build.model(name, parameters), np.random.default_rng(1)
    for sample in class_samples(1):
        other = sample.relabeled(random.permutation(sample.attribute.column.size))
        assert (verdicts(model, sample) == verdicts(model, other)).all()
        assert np.allclose(measured(model, sample), measured(model, other), rtol=1e-9)


@pytest.mark.quick(1)
@pytest.mark.parametrize("stub", [stubs.AlwaysHolds, stubs.AlwaysFails, stubs.WholeAlwaysFails])
def test_stubs_conform(stub: type[PrivacyModel]) -> None:
    check_privacy_model(stub(stubs.NoParameters()))


class AtMostHalf(stubs.AlwaysHolds):
    """A named value has at most half of each class; `check` does not measure it unasked."""

    sensitive = True
    merging = Merging.SATISFYING
    measured_by_default = False
    named = "a"

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        return []

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return 2 * self.records(view) <= view.sizes

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        return float((self.records(view) / view.sizes).max())

    def records(self, view: ClassView) -> IntArray:
        counts = view.counted
        code = counts.attribute.column.texts.index(self.named)
        return count(counts.owners, counts.counts * (counts.values == code), len(view.sizes))


def test_a_model_may_name_a_sensitive_value() -> None:
    check_privacy_model(AtMostHalf(stubs.NoParameters()))


class TooBold(stubs.AlwaysHolds):
    """Promises that satisfied classes stay so, but large classes fail."""

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return view.sizes < 12

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        return int(view.sizes.max())


class TooSure(stubs.AlwaysFails):
    """Says that finer classes lose everything, though small ones hold."""

    merging = Merging.NONE

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return view.sizes < 12

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        return int(view.sizes.max())

    def certain_losses(self, view: ClassView, reference: Reference | None, holds: BoolArray) -> IntArray:
        return np.where(holds, 0, view.sizes)


class Unmeasured(stubs.AlwaysHolds):
    """Has no measure."""

    def measured(self, view: ClassView, reference: Reference | None) -> Measured:
        return float("nan")


class ByNumber(stubs.AlwaysHolds):
    """Judges a class by its position."""

    def holds(self, view: ClassView, reference: Reference | None) -> BoolArray:
        return np.arange(len(view.sizes)) % 2 == 0


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [(TooBold, "merging"), (TooSure, "loses fewer"), (Unmeasured, "not a measure"), (ByNumber, "number")],
)
def test_broken_promises_are_found(broken: type[PrivacyModel], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_privacy_model(broken(stubs.NoParameters()))
