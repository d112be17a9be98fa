"""How long property tests search, and what is done where a resource is missing."""

from __future__ import annotations

import gc
import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, settings
from syrupy.assertion import SnapshotAssertion

from anonymizer.cli import output
from anonymizer.config.search import Defaults
from anonymizer.job import job
from anonymizer.job import report as job_report
from anonymizer.job.advice import advice_of
from anonymizer.report.page import page
from tests.helpers.databases import connect, quick_connect
from tests.helpers.messages import RoomMessages
from tests.resources import LACKS

# Threads that multiply small matrices spend their time waiting for each other; read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A program that is installed has its bytecode, so the processes that tests start may write it down as well.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Progress in a pipe begins after seconds, which a busy machine may need for the smallest job.
vars(output)["PATIENCE"] = float("inf")

DURABLE = {"release"}
"""Folders of tests whose files are on the disk before a run goes on; elsewhere nobody cuts the power.

A run waits ten times for the disk, some 5 ms each: longer than for the rest of what it writes.
"""

fsync = os.fsync

IN_CI = bool(os.environ.get("CI"))
PROPERTIES_LATER = bool(os.environ.get("PROPERTIES_LATER"))
"""Whether the quick tests leave out property tests, as another run of CI tries them with more examples."""

OWN_DATABASES = {"data", "databases"}
"""Folders of tests in which each database is a DuckDB of its own."""

WHOLE = {"golden"}
"""Folders of tests in which it is so too, except among the quick tests."""

PAGED = {"golden", "report", "docs", "examples"}
"""Folders of tests whose runs draw their page."""

ADVISED = {*PAGED, "audit", "fuzz"}
"""Folders of tests whose runs advise on what would lower their loss."""

AS_USERS = {"docs", "examples"}
"""Folders of tests whose configs mean what they mean to users; elsewhere lattice and no attacks are meant."""

Defaults.algorithm, Defaults.attacks = "lattice", "none"

QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile("default", max_examples=15, deadline=None, suppress_health_check=QUIET)
# To shrink an example, or to explain it, takes minutes where each costs seconds: that is done by hand.
# CI draws the same examples every time: more of them find no fault that 40 do not.
settings.register_profile(
    "thorough",
    max_examples=40 if IN_CI else 240,
    deadline=None,
    derandomize=IN_CI,
    suppress_health_check=QUIET,
    phases=(Phase.explicit, Phase.generate, Phase.target) if IN_CI else tuple(Phase),
)


@pytest.fixture
def message(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Return the message that the snapshot file of the test's room has for the test."""
    return snapshot.use_extension(RoomMessages)


@pytest.fixture
def short_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the attack ``definetti`` draw little, for tests of what it reads and of how it ends.

    On a few hundred records its chains take longer than a whole run with all other attacks.
    """
    monkeypatch.setattr("anonymizer.attacks.definetti.attack.SWEEPS", 128)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the number of examples: all of them where anything but the quick tests is asked for."""
    settings.load_profile("default" if is_quick(config) else "thorough")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Spare starts of DuckDB, which take as long as the rest of a small run, and waiting for the disk."""
    vars(os)["fsync"] = fsync if DURABLE & set(item.path.parts) else lambda _: None
    duckdb.connect = connect if has_own_databases(item) else quick_connect
    job_report.page = page if draws_page(item) else lambda *_: ""
    job.advice_of = advice_of if advises(item) else lambda *_: None
    Defaults.algorithm, Defaults.attacks = ("auto", "default") if has_defaults(item) else ("lattice", "none")
    need_resources(item)
    if spark_of(item) is not Spark.SHARED:
        end_shared_spark()


def has_own_databases(item: pytest.Item) -> bool:
    """Return whether each database of a test is a DuckDB of its own, as in a process that the program has."""
    folders = set(item.path.parts)
    thorough = settings.get_current_profile_name() == "thorough"
    return bool(OWN_DATABASES & folders or (thorough and WHOLE & folders) or item.get_closest_marker("spark"))


def draws_page(item: pytest.Item) -> bool:
    """Return whether runs of a test draw their page, which takes a fifth of the time of a small one.

    They do in rooms whose tests are about pages or compare whole runs, and with the mark ``page``.
    """
    return bool(PAGED & set(item.path.parts) or item.get_closest_marker("page"))


def advises(item: pytest.Item) -> bool:
    """Return whether runs of a test advise, for which they search up to four times more.

    They do in rooms whose tests compare whole runs, and with the mark ``advice``.
    """
    return bool(ADVISED & set(item.path.parts) or item.get_closest_marker("advice"))


def has_defaults(item: pytest.Item) -> bool:
    """Return whether configs of a test have the defaults that users have, which take seconds.

    They do in rooms whose configs are those of users, and with the mark ``defaults``.
    """
    return bool(AS_USERS & set(item.path.parts) or item.get_closest_marker("defaults"))


class Spark(IntEnum):
    """The Spark of a test, in the order of running, so that tests that share one follow each other."""

    OWN = 0
    SHARED = 1
    NONE = 2


def spark_of(item: pytest.Item) -> Spark:
    """Return the Spark of a test; the mark ``spark(shared=False)`` is for those that start their own."""
    mark = item.get_closest_marker("spark")
    if mark is None:
        return Spark.NONE
    return Spark.SHARED if mark.kwargs.get("shared", True) else Spark.OWN


def end_shared_spark() -> None:
    """End the Spark that tests have shared so far, if any."""
    if "tests.spark" in sys.modules:
        sys.modules["tests.spark"].end_kept()


def is_quick(config: pytest.Config) -> bool:
    """Return whether nothing but the quick tests is asked for."""
    return bool(config.getoption("markexpr").startswith("not "))


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Put tests that share one Spark together, and leave out what another run repeats."""
    mark_all_but_a_few(items)
    yield
    items.sort(key=spark_of)
    if PROPERTIES_LATER and is_quick(config):
        repeated = [item for item in items if item.get_closest_marker("hypothesis")]
        items[:] = [item for item in items if not item.get_closest_marker("hypothesis")]
        config.hook.pytest_deselected(items=repeated)


def mark_all_but_a_few(items: list[pytest.Item]) -> None:
    """Mark cases of a test as slow, but for as many as its mark ``quick`` names."""
    cases = defaultdict[tuple[Path, str], list[pytest.Function]](list)
    numbers = dict[tuple[Path, str], int]()
    for item in items:
        mark = item.get_closest_marker("quick")
        if mark is not None and isinstance(item, pytest.Function) and not item.get_closest_marker("slow"):
            test = item.path, item.originalname
            (numbers[test],) = mark.args
            cases[test].append(item)
    for test, own in cases.items():
        few = few_of([item.callspec.indices for item in own], numbers[test])
        for place in set(range(len(own))) - set(few):
            own[place].add_marker(pytest.mark.slow)


def few_of(choices: Sequence[Mapping[str, int]], number: int) -> list[int]:
    """Return the places of a few choices of options, which have as many values of each as so few can have.

    They are spread over all of them, as neighbours in a list are often alike.
    """
    even = [place * len(choices) // number for place in range(number)]
    spread = dict.fromkeys([*even, *range(len(choices))])
    found: list[int] = []
    had = set[tuple[str, int]]()
    while spread and len(found) < number:
        best = max(spread, key=lambda place: len(set(choices[place].items()) - had))
        del spread[best]
        found.append(best)
        had.update(choices[best].items())
    return found


def need_resources(item: pytest.Item) -> None:
    """Skip a test whose resource this machine lacks; in CI, where each is installed, fail it."""
    for mark, lacks in LACKS.items():
        lacking = lacks() if item.get_closest_marker(mark) else ""
        if lacking and IN_CI:
            pytest.fail(lacking, pytrace=False)
        if lacking:
            pytest.skip(lacking)


def pytest_collection_finish() -> None:
    """Spare looking for garbage among the tests themselves again and again: a tenth of the time of all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def pytest_unconfigure() -> None:
    """Let the end of the process find all there is."""
    end_shared_spark()
    gc.unfreeze()
