"""What microaggregation publishes, what it refuses, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from pydantic import ValidationError
from syrupy.assertion import SnapshotAssertion

from anonymizer.adversary.candidate import adversary_of
from anonymizer.errors import InputError, Interrupted
from anonymizer.loss.height import Height
from anonymizer.loss.leaf_share import LeafShareLoss
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import Status
from anonymizer.model.table import Column, QuasiIdentifier, Table, ValueType
from anonymizer.privacy.base import ClassConstraint, ReleaseConstraint
from anonymizer.privacy.k_anonymity import KAnonymity, KAnonymitySettings
from anonymizer.search import judge
from anonymizer.search.base import AttackCheck, Control, Progress, SearchProblem
from anonymizer.search.microaggregation.algorithm import MicroaggregationSettings
from tests.helpers import build
from tests.helpers.build import hierarchy
from tests.helpers.messages import exchange
from tests.search.microaggregated import published, search

Cells = Sequence[str | None]

INTEGER, NUMBER, DATE, TEXT = ValueType.INTEGER, ValueType.NUMBER, ValueType.DATE, ValueType.TEXT


def attribute(
    name: str, kind: ValueType, cells: Cells, weight: float = 1.0
) -> tuple[QuasiIdentifier, list[int]]:
    """Return a quasi-identifier without a hierarchy, and the code of each cell."""

    def key(text: str) -> float | str:
        if kind is ValueType.DATE:
            return date.fromisoformat(text).toordinal()
        return text if kind is ValueType.TEXT else float(text)

    known = sorted({cell for cell in cells if cell is not None}, key=key)
    texts = [*known, "<missing>"] if None in cells else known
    numbers = [float(key(text)) for text in known] + [np.nan] * (None in cells) if kind.ordered else None
    codes = [texts.index("<missing>" if cell is None else cell) for cell in cells]
    own = Column(
        name,
        kind,
        tuple(texts),
        np.bincount(codes),
        None if numbers is None else np.array(numbers),
        len(known) if None in cells else None,
    )
    tree, leaf = hierarchy({text: (text, "*") for text in texts}, name)
    leaves = np.array([leaf[text] for text in texts], dtype=np.int32)
    return QuasiIdentifier(own, tree, leaves, weight, 0, tree.height, by_range=kind.ordered), codes


def asked(k: int, **columns: tuple[ValueType, Cells] | tuple[ValueType, Cells, float]) -> SearchProblem:
    """Return a problem with k-anonymity on columns of some type and, perhaps, weight."""
    own = [attribute(name, *column) for name, column in columns.items()]
    codes = np.stack([np.array(codes, dtype=np.int32) for _, codes in own], axis=1)
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    table = Table(tuple(each for each, _ in own), (), distinct, Measure(counts.astype(np.int64)))
    constraint = ClassConstraint(model=KAnonymity(KAnonymitySettings(k=k)))
    return SearchProblem(
        table, (constraint,), (), LeafShareLoss(), 0, keep_rows=False, moving_reference=False, k=k
    )


def test_means_and_medians() -> None:
    own = asked(3, age=(INTEGER, ["17", "18", "29", "80", "81", "82"]))
    assert published(search(own)) == {("21.3333",): 3, ("81",): 3}
    assert published(search(own, aggregate="median")) == {("18",): 3, ("81",): 3}


def test_a_median_of_an_even_number_lies_between_the_two_in_the_middle() -> None:
    own = asked(4, age=(INTEGER, ["1", "2", "2", "9"]))
    assert published(search(own, aggregate="median")) == {("2",): 4}
    own = asked(4, age=(INTEGER, ["1", "2", "5", "9"]))
    assert published(search(own, aggregate="median")) == {("3.5",): 4}


def test_six_digits_of_the_range() -> None:
    """A coarser mean hardly costs; what all have in common stays as it is spelled."""
    cells = ["1", "2", "2", "57812345", "57812346", "57812347"]
    assert published(search(asked(3, x=(INTEGER, cells)))) == {("0",): 3, ("57812300",): 3}
    cells = ["0.10", "0.1000002", "0.1000003", "1.50", "1.50", "1.50"]
    assert published(search(asked(3, x=(NUMBER, cells)))) == {("0.10",): 3, ("1.50",): 3}


def test_a_mean_that_is_a_value_is_spelled_like_it() -> None:
    own = asked(3, x=(NUMBER, ["1.00", "2.00", "3.00"]))
    assert published(search(own)) == {("2.00",): 3}


def test_the_mean_of_dates_is_a_date() -> None:
    own = asked(2, born=(DATE, ["2024-02-28", "2024-03-01", "1990-01-01", "1990-01-01"]))
    assert published(search(own)) == {("2024-02-29",): 2, ("1990-01-01",): 2}


def test_huge_and_tiny_numbers() -> None:
    own = asked(
        2,
        x=(NUMBER, ["-8.5e307", "-8.4e307", "8.6e307", "8.7e307"]),
        y=(NUMBER, ["0", "0", "1e-300", "2e-300"]),
    )
    found = published(search(own))
    assert {tuple(float(label) for label in labels): count for labels, count in found.items()} == {
        (-8.45e307, 0.0): 2,
        (8.65e307, 1.5e-300): 2,
    }


def test_loss_goes_by_the_range_of_the_originals() -> None:
    own = asked(2, x=(INTEGER, ["0", "10", "90", "100"]), y=(INTEGER, ["0", "0", "5", "5"], 3.0))
    outcome = search(own)
    assert published(outcome) == {("5", "0"): 2, ("95", "5"): 2}
    assert outcome.objective == pytest.approx((0.1 + 3 * 0) / 4)
    assert outcome.recoding is not None
    variance = (50**2 + 40**2 + 40**2 + 50**2) / 4
    facts = outcome.recoding.describe()
    assert facts["sse_over_sst"] == pytest.approx((5**2 / variance + 0) / 2)
    assert (facts["aggregate"], facts["k"]) == ("mean", 2)


def test_weights_are_honoured() -> None:
    cells = {"x": ["0", "0", "1", "1"], "y": ["0", "1", "0", "1"]}
    for name in cells:
        own = asked(2, **{each: (INTEGER, cells[each], 9.0 if each == name else 1.0) for each in cells})
        labels = {"x": {("0", "0.5"), ("1", "0.5")}, "y": {("0.5", "0"), ("0.5", "1")}}
        assert set(published(search(own))) == labels[name]


def test_classes_that_are_published_alike_are_one() -> None:
    """Two medians are the same; what is judged and reported is one class."""
    cells = {"x": ["0", "5", "5", "5", "9", "5", "5", "5"], "y": ["0"] * 8}
    outcome = search(asked(2, **{name: (INTEGER, own) for name, own in cells.items()}), aggregate="median")
    labels = published(outcome)
    assert outcome.steps[-1].candidate == {"classes": len(labels)}


def test_records_of_one_combination_may_be_published_differently() -> None:
    own = asked(3, x=(INTEGER, ["0", "1", "1", "1", "1", "2"]))
    outcome = search(own, k=3)
    assert outcome.recoding is not None
    assert outcome.recoding.owner is not None
    assert outcome.recoding.owner.tolist() == [0, 1, 1, 2]
    assert outcome.recoding.table.counts.tolist() == [1, 2, 2, 1]
    assert published(outcome) == {("0.66667",): 3, ("1.33333",): 3}


def test_a_value_shared_by_k_records_is_published_as_it_is() -> None:
    own = asked(3, x=(INTEGER, ["0"] * 7 + ["5"] * 4 + ["6", "7", "8"]))
    assert published(search(own)) == {("0",): 7, ("5",): 4, ("7",): 3}


def test_the_default_k_is_that_of_the_constraints() -> None:
    cells = [str(i) for i in range(24)]
    sizes = {
        k: min(published(search(asked(3, x=(INTEGER, cells)), **settings)).values())
        for k, settings in {3: {}, 6: {"k": 6}}.items()
    }
    assert sizes == {3: 3, 6: 6}
    # Groups of two are merged until there are three in each.
    assert min(published(search(asked(3, x=(INTEGER, cells)), k=2)).values()) >= 3


def test_missing_values_are_grouped_apart() -> None:
    own = asked(2, x=(INTEGER, ["1", "2", None, None, "8", "9"]), y=(INTEGER, ["1", "1", "1", "2", "9", "9"]))
    assert published(search(own)) == {("1.5", "1"): 2, ("<missing>", "1.5"): 2, ("8.5", "9"): 2}


def test_too_few_missing_values_are_published_as_stars_with_the_nearest() -> None:
    own = asked(2, x=(INTEGER, ["1", "2", "8", "9", None]), y=(INTEGER, ["1", "1", "9", "9", "8"]))
    outcome = search(own)
    assert published(outcome) == {("1.5", "1"): 2, ("*", "8.66667"): 3}
    assert outcome.objective == pytest.approx(((2 * 1 / 8 + 3 * 1) / 5 + 3 * 1 / 8 / 5) / 2)


def test_texts_are_refused_by_name(message: SnapshotAssertion) -> None:
    own = asked(2, x=(INTEGER, ["1", "2"]), city=(TEXT, ["a", "b"]), trade=(TEXT, ["a", "b"]))
    with pytest.raises(InputError) as error:
        search(own)
    assert exchange("city and trade are text", error.value) == message


def test_a_metric_without_a_value_for_means_is_refused(message: SnapshotAssertion) -> None:
    own = replace(asked(2, x=(INTEGER, ["1", "2"])), metric=Height())
    with pytest.raises(InputError) as error:
        search(own)
    assert exchange("height", error.value) == message


@pytest.mark.parametrize(
    "settings", [{"k": 0}, {"k": 2.5}, {"k": True}, {"aggregate": "mode"}, {"variable": 1}, {"gamma": 1}]
)
def test_settings_are_checked(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        MicroaggregationSettings.model_validate(settings)


def test_fewer_records_than_k_are_proven_infeasible() -> None:
    outcome = search(asked(5, x=(INTEGER, ["1", "2", "3"])))
    assert (outcome.status, outcome.recoding) == (Status.INFEASIBLE, None)
    assert [step.accepted for step in outcome.steps] == [False]


def many() -> SearchProblem:
    random = np.random.default_rng(3)
    return asked(3, **{name: (NUMBER, [f"{x:.6f}" for x in random.standard_normal(300)]) for name in "xyz"})


def test_an_interrupt_before_there_are_groups_leaves_nothing() -> None:
    with pytest.raises(Interrupted):
        search(many(), Control(stopped=lambda: True))


def test_a_budget_that_ends_before_there_are_groups_leaves_it_undecided() -> None:
    outcome = search(many(), Control(seconds=0.0))
    assert (outcome.status, outcome.recoding) == (Status.UNDECIDED, None)


def test_progress_is_told() -> None:
    told: list[Progress] = []
    # The first message is always due: the last one was never.
    search(many(), Control(listen=told.append))
    assert told
    assert all(0 < each.evaluated <= each.candidates == 300 for each in told)


def linked(most: str, records: int = 60) -> SearchProblem:
    """Return a problem on random numbers of whom at most a share may be linked."""
    random = np.random.default_rng(5)
    columns = {name: (INTEGER, list(map(str, random.integers(0, 60, records)))) for name in "abc"}
    gate = AttackCheck(
        [ReleaseConstraint(model=build.model("linkage-risk", {"max": most}))], seen=adversary_of
    )
    return replace(asked(1, **columns), gate=gate, k=None)


@pytest.mark.parametrize("written", [{}, {"k": 2}, {"k": 4}])
def test_clusters_merge_where_attacks_find_most(
    written: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As few as the attack asks for; where larger clusters everywhere lose less, these are taken."""
    own = linked("0.17", 200)
    outcome = search(own, **written)
    assert outcome.status is Status.SATISFIED
    attacked = [step for step in outcome.steps if step.attackers]
    passed = [step for step in attacked if step.accepted]
    assert outcome.objective == min(step.objective for step in passed)
    assert 0.95 * 0.17 < max(step.attackers[0].measured for step in passed) <= 0.17
    guided = [step for step in attacked if any(key.startswith("guesses") for key in step.candidate)]
    assert len(guided) <= judge.TRIES
    monkeypatch.setattr(judge, "TRIES", 0)
    assert outcome.objective < search(own, **written).objective


@pytest.mark.parametrize("written", [{}, {"k": 2}, {"k": 4}])
def test_clusters_grow_as_attacks_ask(written: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """A size between is tried as clusters of that size, not as small ones that merge to twice as many."""
    monkeypatch.setattr(judge, "TRIES", 0)
    own = linked("0.17")
    outcome = search(own, **written)
    assert outcome.status is Status.SATISFIED
    tried = {step.candidate["smallest_class"]: step for step in outcome.steps if step.attackers}
    best = min((step.objective, size) for size, step in tried.items() if step.accepted)
    assert (outcome.objective, outcome.recoding.facts["k"]) == best
    assert 4 < best[1] < 8
    assert not tried[best[1] - 1].accepted
    alone = search(replace(own, gate=AttackCheck()), k=best[1])
    assert alone.objective == outcome.objective
    assert min(tried) >= written.get("k", 1)
