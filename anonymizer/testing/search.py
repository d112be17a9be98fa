"""The conformance suite of search algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain

import numpy as np

from anonymizer.adversary.candidate import adversary_of
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes, Reference, released
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import Outcome, PublishedColumn, Recoding, Status
from anonymizer.model.table import Table
from anonymizer.privacy.base import ClassConstraint, ClassModel, ReleaseConstraint, TableConstraint
from anonymizer.privacy.basic_beta_likeness import BasicBetaLikeness, BetaSettings
from anonymizer.privacy.k_anonymity import KAnonymity, KAnonymitySettings
from anonymizer.privacy.l_diversity import LDiversity, LDiversitySettings
from anonymizer.privacy.linkage_risk import LinkageRisk, LinkageRiskSettings
from anonymizer.privacy.t_closeness import TCloseness, TClosenessSettings
from anonymizer.privacy.vulnerability import Vulnerability, VulnerabilitySettings
from anonymizer.search.base import AttackCheck, Control, SearchAlgorithm, SearchProblem, sensitive_codes
from anonymizer.testing.samples import SENSITIVE, fail, tables

Samples = Callable[[int], Iterator[Table]]
"""Makes random tables from a seed; ``tables`` and ``numeric_tables`` of ``anonymizer.testing.samples`` do."""


def check_search_algorithm(
    algorithm: SearchAlgorithm, seed: int = 0, samples: Samples = tables, steps: int | None = None
) -> None:
    """Check an algorithm on random problems, with each method of suppression that it names.

    Parameters
    ----------
    samples: makes the tables; ``numeric_tables`` for an algorithm that takes numbers only.
    steps: budget of an algorithm that takes long without one.

    Raises
    ------
    AssertionError: a result violates a constraint, differs from its description or between two runs.
    """
    for problem in problems(algorithm, samples(seed), seed):
        outcome = algorithm.search(problem, Control(steps=steps))
        check_same(algorithm, outcome, algorithm.search(problem, Control(steps=steps)))
        check_proof(algorithm, outcome)
        if outcome.recoding is None:
            check_refusal(algorithm, problem, outcome)
            continue
        check_rows(algorithm, problem.table, outcome.recoding)
        check_values(algorithm, outcome.recoding)
        check_release(algorithm, problem, outcome.recoding)
        check_objective(algorithm, problem, outcome)


def problems(algorithm: SearchAlgorithm, samples: Iterator[Table], seed: int) -> Iterator[SearchProblem]:
    """Return random problems with constraints on sizes, sensitive values, distributions and the whole."""
    random = np.random.default_rng(seed)
    methods = sorted(algorithm.suppressions())
    for number, table in enumerate(chain.from_iterable((table, table) for table in samples)):
        k = int(random.integers(1, 5))
        chosen: list[ClassModel] = [KAnonymity(KAnonymitySettings(k=k))]
        if random.random() < 0.3:
            chosen.append(LDiversity(LDiversitySettings(l=int(random.integers(1, 3)))))
        if random.random() < 0.6:
            chosen.append(TCloseness(TClosenessSettings(t=_share(random, 5, 30))))
        if random.random() < 0.3:
            # The reference of this model depends most on suppressed records.
            chosen.append(BasicBetaLikeness(BetaSettings(beta=_share(random, 20, 200))))
        guess = Vulnerability(VulnerabilitySettings(max=_share(random, 5, 35)))
        yield SearchProblem(
            table,
            tuple(
                ClassConstraint(SENSITIVE if model.needs_sensitive else None, model=model) for model in chosen
            ),
            (TableConstraint(model=guess),) if random.random() < 0.2 else (),
            LeafShareLoss(),
            int(Fraction(int(random.integers(0, 10)), 10) * table.records),
            keep_rows=bool(random.integers(0, 2)),
            moving_reference=bool(random.integers(0, 2)),
            k=k,
            suppression=methods[number % len(methods)],
            gate=_gate(np.random.default_rng([seed, number]), number),
        )


def _gate(random: np.random.Generator, number: int) -> AttackCheck:
    """Return a check by an attack for every tenth problem, an empty one for the others."""
    most = _share(random, 5, 50)
    model = LinkageRisk(LinkageRiskSettings(max=most))
    return AttackCheck([ReleaseConstraint(model=model)] if number % 10 == 2 else [], seen=adversary_of)


def _share(random: np.random.Generator, low: int, high: int) -> Decimal:
    return Decimal(int(random.integers(low, high + 1))) / 100


def check_same(algorithm: SearchAlgorithm, one: Outcome, two: Outcome) -> None:
    """The same problem gives the same outcome."""
    if (one.status, one.objective, one.bound, one.steps) != (two.status, two.objective, two.bound, two.steps):
        fail(f"{algorithm.name}: two runs differ")
    if one.recoding is None or two.recoding is None:
        return
    for left, right in zip(one.recoding.published(), two.recoding.published(), strict=True):
        if left.labels != right.labels or not np.array_equal(left.codes, right.codes):
            fail(f"{algorithm.name}: two runs publish '{left.name}' differently")


def check_proof(algorithm: SearchAlgorithm, outcome: Outcome) -> None:
    """A release comes with its objective, and no bound exceeds it."""
    if (outcome.status is Status.SATISFIED) != (outcome.recoding is not None):
        fail(f"{algorithm.name}: {outcome.status} with recoding {outcome.recoding}")
    if outcome.recoding is not None and outcome.objective is None:
        fail(f"{algorithm.name}: a release without its objective")
    if outcome.objective is not None and outcome.bound is not None and outcome.bound > outcome.objective:
        fail(f"{algorithm.name}: bound {outcome.bound} above the objective {outcome.objective}")
    if outcome.evaluated > outcome.candidates:
        fail(f"{algorithm.name}: {outcome.evaluated} of {outcome.candidates} candidates evaluated")


def check_refusal(algorithm: SearchAlgorithm, problem: SearchProblem, outcome: Outcome) -> None:
    """No problem is infeasible if all records as one class satisfy it.

    Anatomy keeps the quasi-identifiers, so a unique record remains unique in one bucket.
    """
    if not problem.gate.open:
        return
    table = problem.table
    rows = np.arange(table.combinations)
    alike = None
    if algorithm.in_groups:
        own = table.codes[:, : len(table.quasi_identifiers)]
        alike = _classes(table, rows, np.unique(own, axis=0, return_inverse=True)[1].ravel().astype(np.int64))
    if outcome.status is Status.INFEASIBLE and not broken(
        problem, _classes(table, rows, np.zeros_like(rows)), alike
    ):
        fail(f"{algorithm.name}: infeasible, though all records as one class satisfy every constraint")


def check_rows(algorithm: SearchAlgorithm, searched: Table, recoding: Recoding) -> None:
    """The rows of a recoding are the searched rows, or parts of them; no record is lost."""
    table, owner = recoding.table, recoding.owner
    if owner is None:
        owner = np.arange(searched.combinations)
    if len(owner) != table.combinations or (np.diff(owner) < 0).any():
        fail(f"{algorithm.name}: the owners of {table.combinations} rows are {len(owner)}, or not in order")
    if not np.array_equal(table.codes, searched.codes[owner]):
        fail(f"{algorithm.name}: rows hold other values than the combinations that they are parts of")
    if (table.counts < 1).any() or not np.array_equal(
        np.bincount(owner, table.counts, searched.combinations), searched.counts
    ):
        fail(f"{algorithm.name}: the parts of a combination have more or fewer records than it has")
    if (recoding.removed & ~recoding.suppressed).any():
        fail(f"{algorithm.name}: removed records that do not count as suppressed")


def check_values(algorithm: SearchAlgorithm, recoding: Recoding) -> None:
    """Published values cover the values of their records."""
    table, kept = recoding.table, ~recoding.suppressed
    for position, attribute in enumerate(table.quasi_identifiers):
        cells, codes = recoding.cells(position), table.quasi_identifier_codes(position)
        values = cells.values.take(cells.codes[kept].astype(np.int64))
        numbers = attribute.column.numbers
        outside = np.zeros(int(kept.sum()), dtype=bool)
        if numbers is not None:
            own = numbers[codes[kept]]
            outside = (own < values.low) | (own > values.high)
        pairs = np.unique(np.stack([cells.codes[kept], codes[kept]], axis=1), axis=0)
        held = np.bincount(pairs[:, 0], minlength=len(cells.labels))
        if outside.any() or (held > cells.values.covered).any():
            fail(
                f"{algorithm.name}: '{attribute.name}' has a published value that does not cover its records"
            )


def _classes(table: Table, rows: IntArray, groups: IntArray) -> Classes:
    return Classes(
        groups, Measure(table.counts[rows]), int(groups.max(initial=-1)) + 1, sensitive_codes(table, rows)
    )


def published_classes(recoding: Recoding) -> Classes:
    """Return the classes of the release: the records with equal published values."""
    return _alike(recoding, recoding.class_columns())


def _alike(recoding: Recoding, columns: Sequence[PublishedColumn]) -> Classes:
    stays = np.flatnonzero(~recoding.removed)
    codes = np.stack([own.codes[stays] for own in columns])
    groups = np.unique(codes, axis=1, return_inverse=True)[1].ravel().astype(np.int64)
    return _classes(recoding.table, stays, groups)


def broken(problem: SearchProblem, classes: Classes, alike: Classes | None = None) -> list[str]:
    """Return the names of the models that the classes of a release violate.

    Parameters
    ----------
    alike: the records with equal quasi-identifiers, if these are not the classes.
    """
    found = classes if alike is None else alike
    failed = [
        own.model.name
        for own in problem.table_constraints
        if not own.holds(found if own.model.singles_out else classes)
    ]
    for constraint in problem.class_constraints:
        reference = None
        if constraint.attribute is not None:
            reference = _reference(problem, classes, constraint.attribute)
        if not constraint.holds(classes, reference).all():
            failed.append(constraint.model.name)
    return failed


def _reference(problem: SearchProblem, classes: Classes, name: str) -> Reference:
    if problem.moving_reference:
        return classes.sensitive_counts(name)[0].reference()
    table, own = problem.table, problem.table.sensitive[problem.table.sensitive_names.index(name)]
    return Reference(np.bincount(table.sensitive_codes(name), table.counts, own.column.size).astype(np.int64))


def check_release(algorithm: SearchAlgorithm, problem: SearchProblem, recoding: Recoding) -> None:
    """The release satisfies every constraint, within the suppression limit."""
    suppressed = int(recoding.table.counts[recoding.suppressed].sum())
    if suppressed > problem.limit:
        fail(f"{algorithm.name}: {suppressed} records suppressed; the limit is {problem.limit}")
    if not problem.keep_rows and (recoding.suppressed & ~recoding.removed).any():
        fail(f"{algorithm.name}: suppressed records stay, though keep_rows is off")
    if recoding.removed.all():
        fail(f"{algorithm.name}: a release without records")
    failed = broken(problem, published_classes(recoding), _alike(recoding, recoding.published()))
    for name in (*failed, *problem.gate.first_violated(problem.table, recoding)):
        fail(f"{algorithm.name}: the release fails {name}")


def check_objective(algorithm: SearchAlgorithm, problem: SearchProblem, outcome: Outcome) -> None:
    """The release has the claimed loss, and no two classes have equal published values."""
    assert outcome.recoding is not None, "only releases have an objective"
    own = released(outcome.recoding, problem.k)
    value = problem.metric.value(own)
    if value is None or outcome.objective is None or not np.isclose(value, outcome.objective, rtol=1e-9):
        fail(f"{algorithm.name}: the release has loss {value}, not {outcome.objective}")
    published = published_classes(outcome.recoding).number
    if own.classes != published:
        fail(f"{algorithm.name}: {own.classes} classes are published as {published}")
