"""What the options of ``run`` hand on."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.cli.output import progress_line, stop_on_interrupt
from anonymizer.search.base import Progress
from tests.helpers.messages import exchange
from tests.run.commands import Job


def test_engine_options_reach_the_engine(tmp_path: Path) -> None:
    (tmp_path / "spill").mkdir()
    job = Job(tmp_path).set("engine", memory_limit="1GB", options={"threads": 1, "temp_directory": "spill"})
    assert job.run().code == 0
    assert list((tmp_path / "spill").iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"thread": 1},
        {"threads": "two"},
        {"threads": True},
        {"threads": 0},
        {"threads": 1025},
        {"threads": 10**9},
        {"temp_directory": "a\0"},
    ],
    ids=str,
)
def test_engine_options_that_are_refused(
    options: dict[str, Any], tmp_path: Path, message: SnapshotAssertion
) -> None:
    done = Job(tmp_path).set("engine", options=options).run()
    assert done.code == 2
    assert exchange(options, done.err.rstrip(), tmp_path) == message
    assert not (tmp_path / "job-release").exists()


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (Progress(1, 50, None, None), "search  1/50"),
        (Progress(1, 50, None, 0.25), "search  1/50  bound 0.25"),
        (Progress(9, 50, 0.5, 0.25), "search  9/50  best 0.5  bound 0.25  gap 50.0 %"),
        (Progress(9, 50, 0.0, 0.0), "search  9/50  best 0  bound 0"),
    ],
)
def test_progress_in_a_line(progress: Progress, line: str) -> None:
    assert progress_line(progress) == line


class Finalized:
    """Whose finalizer a request to end comes in."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.slow
def test_a_request_to_end_that_comes_in_a_finalizer_is_not_lost(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        Finalized()
        time.sleep(5)

    with stop_on_interrupt(), pytest.raises(KeyboardInterrupt):
        work()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("error", [ImportError("initialization failed"), RuntimeError("Query interrupted")])
def test_what_a_library_makes_of_an_interrupt_is_one(error: Exception) -> None:
    def work() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise error from None

    with pytest.raises(KeyboardInterrupt), stop_on_interrupt():
        work()
    with pytest.raises(type(error)), stop_on_interrupt():
        raise error


def test_no_signal_stops_a_run_whose_result_is_printed() -> None:
    with stop_on_interrupt() as stopped:
        stopped.too_late()
        for each in (signal.SIGTERM, signal.SIGINT, signal.SIGINT):
            signal.raise_signal(each)


def test_ctrl_c_is_as_before_when_a_run_has_ended() -> None:
    before = signal.getsignal(signal.SIGINT)
    with stop_on_interrupt() as stopped:
        assert stopped() is False
        signal.raise_signal(signal.SIGINT)
        assert stopped() is True
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) == before
