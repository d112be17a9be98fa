"""What search algorithms refuse; tests/messages/search.ambr has the words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import InputError, TooManyDistinctRows
from anonymizer.search.anatomy import Anatomy
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.lattice.algorithm import OnDemandTables
from anonymizer.search.mondrian.algorithm import LabelName, ModeName, Mondrian, MondrianSettings
from tests.helpers.messages import exchange
from tests.helpers.problems import metric, problem
from tests.twins.microdata import Microdata, Path, QuasiIdentifierSpec, SensitiveSpec, Value
from tests.twins.search import ConstraintSpec, ProblemSpec

PATHS: dict[Value, Path] = {value: (value, value[0], "*") for value in ("aa", "ab", "ba", "bb")}


PAIRS = ConstraintSpec("k-anonymity", {"k": 2})


def asked(*sensitive: str, spec: ConstraintSpec = PAIRS) -> SearchProblem:
    """Return a problem with a constraint on four records and some sensitive attributes."""
    rows = tuple((value, *(str(i) for _ in sensitive)) for i, value in enumerate(PATHS))
    attributes = (QuasiIdentifierSpec("q", PATHS, False, 1.0, 0, 2),)
    data = Microdata(attributes, tuple(SensitiveSpec(name) for name in sensitive), rows)
    return problem(ProblemSpec(data, (spec,), k=2))


@pytest.mark.parametrize("labels", [LabelName.INTERVAL, LabelName.SET])
def test_mondrian_refuses_a_metric_of_levels(labels: LabelName, message: SnapshotAssertion) -> None:
    own = replace(asked("s"), metric=metric("height"))
    with pytest.raises(InputError) as error:
        Mondrian(MondrianSettings(labels=labels)).search(own, Control())
    assert exchange(f"height, {labels}", error.value) == message


@pytest.mark.parametrize("sensitive", [(), ("s", "t")])
def test_anatomy_needs_one_sensitive_attribute(
    sensitive: tuple[str, ...], message: SnapshotAssertion
) -> None:
    with pytest.raises(InputError) as error:
        Anatomy().search(asked(*sensitive), Control())
    assert exchange(sensitive, error.value) == message


def test_what_mondrian_cannot_do_out_of_core(message: SnapshotAssertion) -> None:
    own = asked("s")
    gaps = Mondrian(MondrianSettings(mode=ModeName.RELAXED)).out_of_core_gaps(own)
    assert exchange("mode: relaxed", f"... out of core, which does not support: {'; '.join(gaps)}") == message


def test_a_node_that_is_too_large_and_may_be_valid_is_refused(message: SnapshotAssertion) -> None:
    class TooLarge:
        """A source none of whose tables fit in memory."""

        def at(self, levels: object, most: int) -> None:
            """Return None: the table does not fit."""

        def records_in_small_classes(self, levels: object, smallest: int, unit: str | None) -> int:
            """Return that one record is in such a class."""
            return 1

    own = replace(asked("s"), limit=2, most=1_000)
    with pytest.raises(TooManyDistinctRows) as error:
        OnDemandTables(own, TooLarge()).lost((0,))  # type: ignore[arg-type]
    assert exchange("1,000 distinct rows fit", error.value) == message


class OnePerson:
    """A source too large for memory, whose only class has four records of one person."""

    def at(self, levels: object, most: int) -> None:
        """Return None: the table does not fit."""

    def records_in_small_classes(self, levels: object, smallest: int, unit: str | None) -> int:
        """Return all records if the class is too small."""
        return 4 if smallest > (4 if unit is None else 1) else 0


@pytest.mark.parametrize(
    "spec",
    [
        ConstraintSpec("k-anonymity", {"k": 5}, knowledge=(frozenset({0}),)),
        ConstraintSpec("l-diversity", {"l": 2}, "s", unit="person"),
        ConstraintSpec("vulnerability", {"max": 0.5}),
    ],
    ids=["a class of fewer columns may be larger", "a person may have two values", "no model of classes"],
)
def test_small_classes_that_may_be_valid_are_not_ruled_out(spec: ConstraintSpec) -> None:
    with pytest.raises(TooManyDistinctRows):
        OnDemandTables(asked("s", spec=spec), OnePerson()).lost((0,))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "spec", [ConstraintSpec("k-anonymity", {"k": 5}), ConstraintSpec("k-anonymity", {"k": 2}, unit="person")]
)
def test_small_classes_are_lost(spec: ConstraintSpec) -> None:
    assert OnDemandTables(asked("s", spec=spec), OnePerson()).lost((0,)) == 4  # type: ignore[arg-type]
