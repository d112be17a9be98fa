"""The conformance suite of privacy models."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from decimal import Decimal

import numpy as np

from anonymizer.adversary.candidate import adversary_of
from anonymizer.errors import PlugInFault
from anonymizer.model.arrays import BoolArray
from anonymizer.model.classes import Reference
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.model.table import Table
from anonymizer.privacy.base import (
    AttackModel,
    ClassConstraint,
    ClassModel,
    Measured,
    Merging,
    PrivacyModel,
    ScoredClassModel,
    TableConstraint,
    TableModel,
)
from anonymizer.testing.samples import (
    SENSITIVE,
    ClassSample,
    class_samples,
    column,
    fail,
    number_column,
    numeric_tables,
    tables,
)


def check_privacy_model(model: PrivacyModel | type[PrivacyModel], seed: int = 0) -> None:
    """Check a model with its parameters on random classes; a class with each of its ``examples``.

    Raises
    ------
    AssertionError: the model violates a property that searches, audits or reports rely on.
    """
    if isinstance(model, type):
        if len(model.examples) < 2:
            fail(f"{model.name}: has no examples; give parameters of a loose and of a strict setting")
        for each in model.examples:
            check_privacy_model(model.of(model.Settings.model_validate(dict(each))), seed)
        return
    check_parameters(model)
    if isinstance(model, AttackModel):
        check_attack(model, seed)
        return
    random = np.random.default_rng(seed)
    for sample in suiting_samples(model, seed):
        check_measure(model, sample)
        check_record_order(model, sample, random)
        probes = type(model).probes(sample.attribute if model.needs_sensitive else None)
        if not probes and model.measured_by_default:
            what = "no probe to measure a table with; add one, or set measured_by_default = False"
            fail(f"{model.name}: {what}")
        for probe in probes:
            check_measure(probe, sample)
        if isinstance(model, ClassModel):
            check_class_order(model, sample, random)
            check_equal_measures(model, sample)
            check_loosening(model, sample)
            check_merging(model, sample)
            check_certain_losses(model, sample, random)


def suiting_samples(model: PrivacyModel, seed: int) -> list[ClassSample]:
    """Return random classes whose sensitive attribute the model can measure: of texts, else of numbers."""
    for values_of in (column, number_column):
        samples = list(class_samples(seed, values_of=values_of))
        if not model.needs_sensitive or not any(model.unsuited(each.attribute) for each in samples):
            return samples
    fail(f"{model.name}: suits no sensitive attribute, of texts or of numbers")
    return []


def _constraint(model: PrivacyModel) -> ClassConstraint | TableConstraint:
    attribute = SENSITIVE if model.needs_sensitive else None
    if isinstance(model, ClassModel):
        return ClassConstraint(attribute, model=model)
    if not isinstance(model, TableModel):
        fail(f"{model.name}: neither a ClassModel nor a TableModel nor an AttackModel")
    assert isinstance(model, TableModel)
    return TableConstraint(attribute, model=model)


def _reference(sample: ClassSample) -> Reference:
    return sample.classes().sensitive_counts(SENSITIVE)[0].reference()


def verdicts(model: PrivacyModel, sample: ClassSample) -> BoolArray:
    """Return the verdict on each class, or one on the whole, shape (classes,) or (1,), bool."""
    bound = _constraint(model)
    if isinstance(bound, ClassConstraint):
        return bound.holds(sample.classes(), _reference(sample))
    return np.array([bound.holds(sample.classes())])


def measured(model: PrivacyModel, sample: ClassSample) -> Measured:
    """Return the worst measure over the classes."""
    bound = _constraint(model)
    if isinstance(bound, ClassConstraint):
        return bound.measured(sample.classes(), _reference(sample))
    return bound.measured(sample.classes())


def _numbers(value: Measured) -> list[float]:
    return [float(part) for part in value] if isinstance(value, list) else [float(value)]


def check_parameters(model: PrivacyModel) -> None:
    """The parameters in a report are JSON and give the same model again."""
    shown = json.loads(json.dumps(model.parameters()))
    if type(model)(model.Settings.model_validate(shown)).parameters() != model.parameters():
        fail(f"{model.name}: parameters {shown} do not give the same model again")
    names = {threshold.parameter for threshold in model.thresholds}
    if unknown := names - set(model.Settings.model_fields):
        fail(f"{model.name}: thresholds {sorted(unknown)} are not parameters")


def check_attack(model: AttackModel, seed: int) -> None:
    """The attack gives a share in [0, 1], the same for the same randomness."""
    if not model.holds(0) and model.holds(1):
        fail(f"{model.name}: a share of 1 holds where 0 does not")
    suitable: list[Table] = []
    for samples in (tables(seed), numeric_tables(seed)):
        suitable = suitable or [each for each in samples if model.fault(each.quasi_identifiers) is None]
    if not suitable:
        fail(f"{model.name}: measures nothing on any table, of texts or of numbers")
    for table in suitable:
        none = np.zeros(len(table.counts), dtype=bool)
        top = [attribute.maximum for attribute in table.quasi_identifiers]
        adversary = adversary_of(table, FullDomainRecoding(table, top, none, none))
        one, two = (model.worst(model.attack().run(adversary, np.random.default_rng(seed))) for _ in range(2))
        if one != two or not 0 <= one <= 1:
            fail(f"{model.name}: measures {one}, then {two}; expected the same share twice")


def check_record_order(model: PrivacyModel, sample: ClassSample, random: np.random.Generator) -> None:
    """The order of the records and reversed codes of texts do not change verdict and measure."""
    size = sample.attribute.column.size
    others = [sample.ordered(random.permutation(len(sample.codes)))]
    if sample.attribute.column.numbers is None:
        others.append(sample.relabeled(np.arange(size)[::-1].copy()))
    for other in others:
        if not (verdicts(model, sample) == verdicts(model, other)).all():
            fail(f"{model.name}: the verdict depends on the order of the records or on the codes")
        if not np.allclose(_numbers(measured(model, sample)), _numbers(measured(model, other)), rtol=1e-9):
            fail(f"{model.name}: the measure depends on the order of the records or on the codes")


def check_class_order(model: ClassModel, sample: ClassSample, random: np.random.Generator) -> None:
    """The numbering of the classes does not change their verdicts."""
    new = random.permutation(int(sample.class_of.max()) + 1)
    if not (verdicts(model, sample) == verdicts(model, sample.regrouped(new[sample.class_of]))[new]).all():
        fail(f"{model.name}: the verdict on a class depends on its number")


def check_measure(model: PrivacyModel, sample: ClassSample) -> None:
    """A measure is one number, or a list of them, never NaN."""
    value: Measured = math.nan
    with suppress(PlugInFault):
        value = measured(model, sample)
    parts = value if isinstance(value, list) else [value]
    if not parts or any(type(part) not in (int, float) or math.isnan(part) for part in parts):
        fail(f"{model.name}: {value!r} is not a measure; accepted: int, float or a list of them, not NaN")
    bound = _constraint(model)
    if isinstance(bound, ClassConstraint):
        worst = bound.worst_classes(sample.classes(), _reference(sample))
        if not 1 <= worst <= sample.classes().number:
            fail(f"{model.name}: {worst} of {sample.classes().number} classes are the worst")


def check_equal_measures(model: ClassModel, sample: ClassSample) -> None:
    """Classes of equal measure have equal verdicts; no better score fails than one that passes."""
    held, reference = verdicts(model, sample), _reference(sample)
    bound = _constraint(model)
    view = bound.view(sample.classes()).view
    if isinstance(model, ScoredClassModel):
        scores = model.scores(view, reference) * (-1 if model.larger_is_better else 1)
        if held.any() and not held.all() and scores[~held].min() < scores[held].max() - 1e-9:
            fail(f"{model.name}: a class with a better score fails where one with a worse score holds")
    classes = sample.classes()
    own = [
        tuple(
            _numbers(model.measured(bound.view(classes.keep(np.arange(classes.number) == i)).view, reference))
        )
        for i in range(classes.number)
    ]
    by_measure = dict(zip(own, held.tolist(), strict=True))
    if any(by_measure[value] != verdict for value, verdict in zip(own, held.tolist(), strict=True)):
        fail(f"{model.name}: two classes of equal measure have different verdicts")


def check_loosening(model: ClassModel, sample: ClassSample) -> None:
    """No class fails only after a threshold is loosened."""
    for threshold in model.thresholds:
        loosest = 10**9 if math.isinf(threshold.loosest) else threshold.loosest
        value = int(loosest) if threshold.whole else Decimal(repr(loosest))
        loose = model.loosened(threshold, value)
        if (verdicts(model, sample) & ~verdicts(loose, sample)).any():
            fail(f"{model.name}: a class fails only when {threshold.parameter} is loosened to {value}")
        every = not math.isinf(threshold.loosest) and len(model.thresholds) == 1
        if every and not verdicts(loose, sample).all():
            fail(f"{model.name}: a class fails with {threshold.parameter} {value}, the loosest")


def check_merging(model: ClassModel, sample: ClassSample) -> None:
    """Merged classes satisfy the model as ``merging`` says."""
    pair = sample.class_of // 2
    held, after = verdicts(model, sample), verdicts(model, sample.regrouped(pair))
    pairs = np.arange(len(held)) // 2
    some, every = np.bincount(pairs, held) > 0, np.bincount(pairs, ~held) == 0
    promised = {Merging.ANY: some, Merging.SATISFYING: every, Merging.NONE: np.zeros_like(every)}
    if (promised[model.merging] & ~after).any():
        fail(f"{model.name}: a merged class fails, though merging is {model.merging.name}")


def check_certain_losses(model: ClassModel, sample: ClassSample, random: np.random.Generator) -> None:
    """After every split, at least the certain losses are in failing parts."""
    bound, reference = _constraint(model), _reference(sample)
    assert isinstance(bound, ClassConstraint)
    classes, held = sample.classes(), verdicts(model, sample)
    certain = bound.certain_losses(classes, reference)
    if certain[held].any() or (certain < 0).any() or (certain > classes.sizes).any():
        fail(
            f"{model.name}: certain losses {certain.tolist()} of classes of {classes.sizes.tolist()} records"
        )
    split = sample.class_of * 3 + random.integers(0, 3, len(sample.class_of))
    finer = sample.regrouped(split)
    failing = ~verdicts(model, finer)[finer.class_of]
    lost = np.bincount(sample.class_of, failing, classes.number)
    if (lost < certain).any():
        fail(f"{model.name}: a split class loses fewer records than are certain to be lost")
