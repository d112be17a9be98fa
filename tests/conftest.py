"""How long the property tests search: 100 examples here, 300 in CI and where slow tests are asked for."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

# Threads that multiply small matrices spend their time waiting for each other; read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A program that is installed has its bytecode, so the processes that tests start may write it down as well.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

IN_CI = bool(os.environ.get("CI"))
QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile("default", max_examples=100, deadline=None, suppress_health_check=QUIET)
settings.register_profile(
    "thorough", max_examples=300, deadline=None, derandomize=IN_CI, suppress_health_check=QUIET
)


@pytest.fixture
def without_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare drawing the page of a run, which takes a third of the time of a small one."""
    monkeypatch.setattr("anonymizer.run.report.page", lambda *_: "")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the number of examples."""
    chosen = config.getoption("markexpr")
    slow = "slow" in chosen and "not slow" not in chosen
    settings.load_profile("thorough" if IN_CI or slow else "default")


def pytest_collection_finish() -> None:
    """Spare looking for garbage among the tests themselves again and again: a tenth of the time of all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def pytest_unconfigure() -> None:
    """Let the end of the process find all there is."""
    gc.unfreeze()
