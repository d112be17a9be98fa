"""Mondrian over combinations that an engine keeps, against Mondrian over the same in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.distinct_rows import DuckCombinations
from anonymizer.data.relation import DistinctRows, InMemoryRows, KeyWords
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import EngineTables
from anonymizer.errors import AuditFailed, TooManyDistinctRows
from anonymizer.model.arrays import BoolArray, CodeArray, IntArray
from anonymizer.model.recoding import Outcome, SharedRecoding, Status
from anonymizer.model.table import Table, TableSource
from anonymizer.search.base import Control, SearchProblem
from anonymizer.search.mondrian.algorithm import LabelName, ModeName, Mondrian, MondrianSettings
from anonymizer.search.mondrian.store import Span, Store
from tests import strategies
from tests.helpers.examples import quickly
from tests.helpers.problems import problem
from tests.search.test_mondrian import decided_by_cuts, starts_lower
from tests.twins.search import ConstraintSpec, ProblemSpec

LABELS = tuple(LabelName)
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
IMPOSSIBLE = {
    20: (
        ConstraintSpec("t-closeness", {"t": 0, "distance": "hierarchical"}, "s"),
        ConstraintSpec("basic-beta-likeness", {"beta": 0.2}, "s"),
    ),
    58: (
        ConstraintSpec("alpha-k-anonymity", {"alpha": 0.3, "k": 3}, "s"),
        ConstraintSpec("recursive-cl-diversity", {"c": 1, "l": 3}, "s"),
    ),
    115: (
        ConstraintSpec("entropy-l-diversity", {"l": 1.5}, "t"),
        ConstraintSpec("enhanced-beta-likeness", {"beta": 0.2}, "t"),
    ),
}
"""Constraints that no class of the table of a seed satisfies at the highest levels."""


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    with Database(EngineOptions(threads=1)) as opened:
        yield opened


def sizes_of(table: Table) -> list[int]:
    return [own.column.size for own in (*table.quasi_identifiers, *table.sensitive)]


def in_memory(table: Table) -> DistinctRows:
    return InMemoryRows(table.codes, table.counts, sizes_of(table))


def in_duckdb(database: Database, table: Table) -> DistinctRows:
    sizes = sizes_of(table)
    columns = {f"k{place}": codes for place, codes in enumerate(table.codes.T)}
    keys = ", ".join(KeyWords(sizes).packed_sql(list(columns)))
    with database.holding("drawn", {**columns, "n": table.counts}):
        return DuckCombinations(database, sizes, f"SELECT {keys}, n FROM drawn")


def beyond(asked: SearchProblem, combinations: DistinctRows, room: Random) -> SearchProblem:
    """Return a problem of which less fits in memory than there is."""
    own = asked.table
    source = EngineTables(own.quasi_identifiers, own.sensitive, combinations)
    highest = source.at([each.maximum for each in own.quasi_identifiers], own.combinations)
    assert highest is not None
    table = replace(highest, quasi_identifiers=own.quasi_identifiers)
    most = room.randint(table.combinations, max(table.combinations, own.combinations // 2))
    return replace(asked, table=table, source=source, most=most)


def pairs(seed: int) -> ProblemSpec:
    """Return a problem of k-anonymity on a random table."""
    return ProblemSpec(strategies.table(Random(seed)), (ConstraintSpec("k-anonymity", {"k": 2}),), k=2)


def all_suppressed(seed: int) -> ProblemSpec:
    """Return a problem in which all records are suppressed, and stay."""
    data = strategies.table(Random(seed))
    return ProblemSpec(data, IMPOSSIBLE[seed], limit=len(data.records), keep_rows=True)


def released(outcome: Outcome) -> Counter[tuple[str, ...]]:
    """Return the rows that are released."""
    recoding = outcome.recoding
    assert recoding is not None
    table, columns = recoding.table, recoding.published()
    rows: Counter[tuple[str, ...]] = Counter()
    for row in np.flatnonzero(~recoding.removed):
        own = [column.labels[column.codes[row]] for column in columns]
        secret = [
            each.column.texts[code]
            for each, code in zip(table.sensitive, table.codes[row, len(columns) :], strict=True)
        ]
        rows[(*own, *secret)] += int(table.counts[row])
    return rows


@pytest.fixture(autouse=True)
def cuts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions are merged in memory only, if their rows are few."""
    monkeypatch.setattr("anonymizer.search.mondrian.merging.ROWS", 0)


def assert_same(found: Outcome, expected: Outcome) -> None:
    """The same in all that is told, but for the steps of a lattice that asks for tables."""
    assert found.status is expected.status
    if expected.recoding is None or found.recoding is None:
        assert found.recoding is expected.recoding
        return
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
    assert released(found) == released(expected)
    assert (found.cuts is None) == (expected.cuts is None)
    if not starts_lower(expected):
        assert (found.steps, found.evaluated) == (expected.steps, expected.evaluated)
    if found.cuts is not None and expected.cuts is not None:
        for name, own in vars(expected.cuts).items():
            assert np.array_equal(getattr(found.cuts, name), own), name


@pytest.mark.slow
@pytest.mark.parametrize("labels", LABELS)
@settings(quickly(25, 10), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random=strategies.randoms())
def test_the_same_as_in_memory(labels: LabelName, database: Database, random: Random) -> None:
    """Models of all kinds that a cut alone can answer for, suppression and budgets of steps too."""
    spec = decided_by_cuts(random)
    spec = replace(spec, limit=random.choice((0, strategies.problem(random).limit)))
    spec = replace(spec, moving_reference=random.choice((False, True)))
    asked, algorithm = problem(spec), Mondrian(MondrianSettings(labels=labels))
    if list(algorithm.out_of_core_gaps(asked)):
        return
    steps = random.choice((None, None, 1, 2, 4))
    expected = algorithm.search(asked, Control(steps=steps))
    with pytest.MonkeyPatch.context() as patch:
        # Keys of one word, or of several.
        space = random.choice((2**63, 2 * max(sizes_of(asked.table)) + 2))
        patch.setattr("anonymizer.data.relation.SPACE", space)
        patch.setattr("anonymizer.data.duckdb.distinct_rows.LISTED", random.choice((1, 1 << 10)))
        for module in ("data.duckdb.distinct_rows", "data.relation", "model.table"):
            patch.setattr(f"anonymizer.{module}.PIECE", random.choice((1, 3, 1 << 18)))
        # Numbers of few rows, that are ranked; chunks, batches and blocks of few rows.
        patch.setattr("anonymizer.search.mondrian.algorithm.SPACE", random.choice((2**63, space)))
        patch.setattr("anonymizer.search.mondrian.algorithm._SORTED", random.choice((1, 5, 1 << 20)))
        patch.setattr("anonymizer.search.mondrian.store.CHUNK", random.choice((1, 5, 1 << 17)))
        patch.setattr("anonymizer.search.mondrian.store.BATCH", random.choice((1, 5, 1 << 18)))
        patch.setattr("anonymizer.search.mondrian.labelling.WORD_BITS", random.choice((2, 62)))
        for combinations in (in_memory(asked.table), in_duckdb(database, asked.table)):
            with combinations:
                few = replace(beyond(asked, combinations, random), placing=True)
                try:
                    found = algorithm.search(few, Control(steps=steps))
                except TooManyDistinctRows:
                    continue
                assert_same(found, expected)
                assert few.source is not None
                assert_ends(found, few.source)


def test_rows_that_are_all_suppressed_have_no_region() -> None:
    asked = problem(all_suppressed(58))
    with in_memory(asked.table) as rows:
        kept = replace(beyond(asked, rows, Random(0)), placing=True)
        found = Mondrian(MondrianSettings()).search(kept, Control())
    assert found.recoding is not None
    assert found.recoding.suppressed.all()
    assert found.ends is None


def assert_ends(found: Outcome, source: TableSource) -> None:
    """Each combination is in the region that is told to have its records."""
    if found.ends is None:
        assert found.recoding is None or found.recoding.suppressed.all() or starts_lower(found)
        return
    recoding = found.recoding
    assert isinstance(recoding, SharedRecoding)
    assert recoding.region_of is not None
    kept = ~recoding.suppressed
    records = np.bincount(recoding.region_of[kept], weights=recoding.table.counts[kept])
    regions = np.arange(len(records))
    keys, placed = zip(*found.ends.pieces(), strict=True)
    region = np.concatenate(placed)
    own = [np.concatenate(words) for words in zip(*keys, strict=True)]
    told_rows = {
        key: number
        for piece in source.pieces()
        for key, number in zip(
            map(tuple, np.stack(piece.keys, axis=1).tolist()), piece.counts.tolist(), strict=True
        )
    }
    counts = np.array([told_rows[key] for key in map(tuple, np.stack(own, axis=1).tolist())])
    assert np.array_equal(np.bincount(region, weights=counts, minlength=len(regions)), records)
    codes = source.codes(own)
    sensitive = recoding.table.sensitive
    columns = len(recoding.table.quasi_identifiers)
    told = Counter[tuple[int, ...]]()
    for listed, numbers, records_of in (
        (codes, region, counts),
        (recoding.table.codes[kept], recoding.region_of[kept], -recoding.table.counts[kept]),
    ):
        for values, at, number in zip(listed[:, columns:], numbers, records_of, strict=True):
            told[(int(at), *values.tolist()[: len(sensitive)])] += int(number)
    assert not any(told.values())


def test_a_row_in_another_region_is_noticed(database: Database) -> None:
    """Keys that do not stand for the rows that were cut end the search, wherever they come from."""
    asked = problem(pairs(3))
    sort = Store._sort

    def swapped(self: Store, span: Span, right: BoolArray) -> None:
        sort(self, span, right)
        if not done:
            done.append(span)
            for own in self.keys:
                own[:] = own[::-1].copy()

    done: list[Span] = []
    noticed = 0
    with pytest.MonkeyPatch.context() as patch, in_duckdb(database, asked.table) as kept:
        for lying in (False, True):
            few = replace(beyond(asked, kept, Random(1)), placing=True)
            try:
                Mondrian(MondrianSettings()).search(few, Control())
            except AuditFailed:
                noticed += 1
                assert lying
            patch.setattr(Store, "_sort", swapped)
    assert noticed == 1


def test_a_row_that_no_count_knows_is_noticed() -> None:
    """The rows of an engine must be those of its tables at higher levels."""
    asked = problem(pairs(3))
    few = beyond(asked, in_memory(asked.table), Random(1))
    sensitive = len(asked.table.quasi_identifiers)

    def changed(self: EngineTables, keys: Sequence[IntArray]) -> CodeArray:
        codes = real(self, keys).copy()
        codes[:, sensitive:] = codes[::-1, sensitive:] + 1
        return codes

    real = EngineTables.codes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EngineTables, "codes", changed)
        with pytest.raises((AuditFailed, IndexError)):
            Mondrian(MondrianSettings()).search(few, Control())


def test_drawn_problems_are_cut_beyond_memory() -> None:
    """The property above is no empty one: most drawn problems have several levels above what fits."""
    cut = 0
    for seed in range(40):
        random = Random(seed)
        asked = problem(decided_by_cuts(random))
        algorithm = Mondrian(MondrianSettings())
        if list(algorithm.out_of_core_gaps(asked)):
            continue
        few = replace(beyond(asked, in_memory(asked.table), random), most=1)
        outcome = algorithm.search(few, Control())
        cut += outcome.status is Status.SATISFIED and len(outcome.steps) > 2
    assert cut >= 10


def test_a_user_who_stops_gets_the_regions_so_far() -> None:
    """Whenever it is, all records are released, in classes that were found before."""
    asked = problem(pairs(5))
    algorithm = Mondrian(MondrianSettings())
    for calls in range(12):
        left = [calls]

        def stopped(left: list[int] = left) -> bool:
            left[0] -= 1
            return left[0] < 0

        few = beyond(asked, in_memory(asked.table), Random(1))
        outcome = algorithm.search(few, Control(stopped=stopped))
        assert sum(released(outcome).values()) == asked.table.records
        assert outcome.interrupted == (left[0] < 0)


@pytest.mark.parametrize("seed", IMPOSSIBLE)
def test_where_all_is_suppressed_nothing_is_cut(seed: int, database: Database) -> None:
    asked = problem(all_suppressed(seed))
    algorithm = Mondrian(MondrianSettings())
    expected = algorithm.search(asked, Control())
    assert expected.recoding is not None
    assert expected.recoding.suppressed.all()
    with in_duckdb(database, asked.table) as kept:
        few = replace(beyond(asked, kept, Random(1)), most=asked.table.combinations)
        assert_same(algorithm.search(few, Control()), expected)


def test_what_needs_all_rows_is_named() -> None:
    asked = next(
        own
        for own in (problem(strategies.problem(Random(seed))) for seed in range(200))
        if own.table_constraints
    )
    relaxed = Mondrian(MondrianSettings(mode=ModeName.RELAXED, labels=LabelName.SET))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("anonymizer.search.mondrian.labelling.MASKED_UNITS", 0)
        lacking = list(relaxed.out_of_core_gaps(asked))
    assert "mode relaxed" in lacking[0]
    assert f"of '{asked.table.quasi_identifiers[0].name}'" in lacking[1]
    assert "all regions together" in lacking[-1]
