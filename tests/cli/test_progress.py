"""Progress in a pipe: a line a phase once the work takes seconds, and never a long silence."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from anonymizer.attacks.base import AttackResult
from anonymizer.cli import output
from anonymizer.cli.compare import progress_monitor as comparison_monitor
from anonymizer.cli.output import PipeProgress, pipe_progress, progress_monitor
from anonymizer.search.base import Progress
from tests.run.commands import call


class Pipe:
    """Lines, and a clock that a test moves."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.now = 0.0
        self.progress = PipeProgress(self.lines.append, lambda: self.now)

    def wait(self, seconds: float) -> None:
        """Let time pass, with a look at the clock every second."""
        for _ in range(round(seconds)):
            self.now += 1
            self.progress.tick()


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(output, "PATIENCE", 3.0)
    return


def test_what_ends_soon_has_no_progress() -> None:
    pipe = Pipe()
    pipe.progress.phase("reading")
    pipe.wait(2)
    pipe.progress.phase("searching")
    assert pipe.lines == []


def test_what_waited_comes_first() -> None:
    pipe = Pipe()
    pipe.progress.phase("reading")
    pipe.progress.phase("searching")
    pipe.wait(3)
    pipe.progress.phase("writing")
    assert pipe.lines == ["reading", "searching", "writing"]


def test_a_search_shows_its_first_release_and_better_ones_at_intervals() -> None:
    pipe = Pipe()
    pipe.progress.phase("searching")
    pipe.wait(3)
    for best in (None, 0.5, 0.4, 0.3):
        pipe.progress.progress(Progress(12, 90, best, 0.25))
        pipe.wait(1)
    pipe.wait(4)
    pipe.progress.progress(Progress(40, 90, 0.28, 0.25))
    assert pipe.lines == [
        "searching",
        "search  12/90  best 0.5  bound 0.25  gap 50.0 %",
        "search  40/90  best 0.28  bound 0.25  gap 10.7 %",
    ]


def test_no_silence_is_longer_than_ten_seconds() -> None:
    pipe = Pipe()
    pipe.progress.phase("bounding what is possible")
    pipe.wait(24)
    pipe.progress.phase("searching")
    pipe.progress.progress(Progress(7, 90, None, None))
    pipe.wait(10)
    assert pipe.lines == [
        "bounding what is possible",
        "bounding what is possible  13 s",
        "bounding what is possible  23 s",
        "searching",
        "search  7/90  10 s",
    ]


def test_a_thread_looks_at_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATIENCE", "SILENCE", "TICK"):
        monkeypatch.setattr(output, name, 0.01)
    lines: list[str] = []
    with pipe_progress(lines.append) as progress:
        progress.phase("reading")
        ends = time.monotonic() + 20
        while len(lines) < 2 and time.monotonic() < ends:
            time.sleep(0.01)
    assert lines[:2] == ["reading", "reading  0 s"]
    ended = len(lines)
    time.sleep(0.05)
    assert len(lines) == ended


KNOWLEDGE = {"attributes": ["age"], "sensitive": "illness"}
RESULT = AttackResult("homogeneity", KNOWLEDGE, 0.25, 0.0, 0.25, 0.25, 60)


def test_a_pipe_has_the_attacks_of_a_run_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their results are among the last lines of the run, on stdout."""
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    monkeypatch.setattr(output, "TICK", 0.01)
    with progress_monitor(lambda: False, quiet=False) as watch:
        watch.phase("attack homogeneity (1 of 2)")
        watch.attacked([RESULT])
        watch.say("linkage: about 20 s for 60 records")
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert lines == ["attack homogeneity (1 of 2)", "linkage: about 20 s for 60 records"]


def test_quiet_is_silent(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    with progress_monitor(lambda: False, quiet=True) as watch:
        watch.phase("searching")
        watch.attacked([RESULT])
        watch.say("linkage: about 20 s for 60 records")
    assert capsys.readouterr() == ("", "")


def test_a_comparison_shows_the_runs_that_ended_after_a_silence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SILENCE", "TICK"):
        monkeypatch.setattr(output, name, 0.01)
    with comparison_monitor(lambda: False, quiet=False) as watch:
        watch.begun(4, 1)
        text, end = "", time.monotonic() + 30
        while "running" not in text and time.monotonic() < end:
            time.sleep(0.02)
            text += capsys.readouterr().err
    lines = (text + capsys.readouterr().err).splitlines()
    assert lines[:2] == ["1/4  reused from an earlier comparison", "1/4  running  0 s"]


def test_init_shows_its_phases_in_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    monkeypatch.setattr(output, "TICK", 0.001)
    data = tmp_path / "people.csv"
    data.write_text("age,zip\n" + "".join(f"{age},0{age % 7}\n" for age in range(20, 90)))
    assert call("init", data).err.splitlines() == ["reading people.csv", "profiling", "trying the draft"]
    assert call("init", data, "--overwrite", "--quiet").err == ""


def test_results_go_to_stdout_while_a_terminal_shows_a_live_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown: list[bool] = []
    echo = typer.echo

    def seen(text: str) -> None:
        shown.extend(each._live.is_started for each in output._live)
        echo(text)

    monkeypatch.setattr(typer, "echo", seen)
    with progress_monitor(lambda: False, quiet=False) as watch:
        watch.phase("attack homogeneity (1 of 2)")
        watch.attacked([RESULT])
        watch.say("linkage: about 20 s for 60 records")
        output.write_line("homogeneity  0.25")
        assert [each._live.is_started for each in output._live] == [True]
        watch.phase("attack linkage (2 of 2)")
    output.write_line("end")
    assert shown == [False]
    out, err = capsys.readouterr()
    assert out == "homogeneity  0.25\nend\n"
    assert "homogeneity: An adversary who knows a person's age is certain of illness for 25" in err
    assert "linkage: about 20 s for 60 records\n" in err
