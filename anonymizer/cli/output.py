"""Output of all commands: results to stdout, messages and progress to stderr, and Ctrl-C.

With ``--json``, stdout holds one JSON object and nothing else. Errors are text on stderr; the exit code tells
a script their kind. A terminal has a live line with the progress, a pipe a line a phase once the work takes
seconds. The first Ctrl-C ends the search, the second the program.
"""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sys
import threading
import time
from _thread import interrupt_main
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from anonymizer.errors import InputError, StdoutError
from anonymizer.system import is_windows_console, reader_is_gone

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from anonymizer.attacks.base import AttackResult
    from anonymizer.job.clock import RunMonitor
    from anonymizer.search.base import Progress

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
Table = Annotated[
    str | None,
    typer.Option(
        "--table", help="The table of a database, TABLE or SCHEMA.TABLE; or the sheet of a workbook."
    ),
]
Select = Annotated[
    str | None, typer.Option("--query", help="With a database, instead of --table: one SELECT.")
]


def column_names(option: str, given: Sequence[str] | None) -> list[str]:
    """Return the column names of an option, quoted as in CSV; it may be given several times.

    >>> column_names("check: --qi", ["age, zip", "sex"]), column_names("check: --qi", ['"a, b",c'])
    (['age', 'zip', 'sex'], ['a, b', 'c'])

    Raises
    ------
    InputError: a quote is not closed, or does not enclose a whole name.
    """
    names = given or []
    try:
        found = [name for row in csv.reader(names, skipinitialspace=True, strict=True) for name in row]
    except csv.Error:
        raise InputError(
            f"{option} {' '.join(names)}: cannot be split into names; put double quotes around a whole name, "
            """and write a quote inside the name twice; accepted: names such as '"a, b",c'"""
        ) from None
    return [name.strip() for name in found if name.strip()]


STDIN, STDOUT, STDERR = range(3)
"""Descriptors of the standard streams."""


class _Stdout(io.FileIO):
    """The descriptor of stdout: raises its first error, then discards all output."""

    _lost = False

    def write(self, data: Any) -> int:
        """Write bytes.

        Raises
        ------
        StdoutError: they cannot be written, and the reader still exists.
        """
        if not self._lost:
            try:
                return int(super().write(data) or 0)
            except OSError as error:
                self._lost = True
                if not reader_is_gone(error):
                    raise _unwritable(error.strerror or type(error).__name__) from None
        return len(memoryview(data).cast("B"))


class _Stderr(io.FileIO):
    """The descriptor of stderr: discards output that cannot be written."""

    def write(self, data: Any) -> int:
        """Write bytes, or discard them."""
        with suppress(OSError):
            return int(super().write(data) or 0)
        return len(memoryview(data).cast("B"))


def _unwritable(reason: str) -> StdoutError:
    return StdoutError(
        f"standard output: cannot be written: {reason}; send it to a file with free space, or to /dev/null"
    )


def hold_streams() -> None:
    """Prepare the standard streams of this process for terminals, pipes, files and closed descriptors.

    Raises
    ------
    StdoutError: stdout is closed.
    """
    _fill_closed()
    if sys.stderr is None or sys.stderr is sys.__stderr__:
        sys.stderr = _text_stream(_Stderr(STDERR, "w", closefd=False), sys.stderr)
    if sys.stdout is None:
        raise _unwritable("it is closed")
    if sys.stdout is sys.__stdout__:
        sys.stdout = _text_stream(_Stdout(STDOUT, "w", closefd=False), sys.stdout)


def _fill_closed() -> None:
    """Open the null device in place of closed streams; the next files would get their numbers otherwise."""
    for descriptor in (STDIN, STDOUT, STDERR):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            os.set_inheritable(descriptor, True)


def _text_stream(raw: io.FileIO, like: Any) -> io.TextIOWrapper:
    """Return a text stream over a descriptor, in UTF-8 on every system and in every locale."""
    if is_windows_console(like):
        return cast(io.TextIOWrapper, like)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        "utf-8",
        "backslashreplace",
        newline="\n",
        line_buffering=raw.fileno() == STDERR or raw.isatty(),
    )


def with_usable_paths(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command that first refuses paths that cannot name a file."""

    @wraps(command)
    def checked(**given: Any) -> Any:
        for value in given.values():
            if isinstance(value, Path):
                check_path(value)
        return command(**given)

    return checked


def check_path(path: Path) -> None:
    """Check that a path can name a file.

    Raises
    ------
    InputError: it cannot.
    """
    from anonymizer.plugins import path_fault, shortened_path  # noqa: PLC0415 - --help needs none of it

    # The current folder counts too: engines get absolute paths.
    for each in (str(path), os.path.abspath(path)):  # noqa: PTH100 - must not raise for a NUL byte
        fault = path_fault(each)
        if fault is not None:
            raise InputError(f"{shortened_path(each)}: {fault}")


def write_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout.

    Raises
    ------
    ValueError: the value contains NaN or an infinity, which JSON lacks.
    """
    _print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def _print(text: str) -> None:
    """Print on stdout, which may be another stream than ``hold_streams`` prepared.

    Raises
    ------
    StdoutError: it cannot be written, and the reader still exists.
    """
    try:
        typer.echo(text)
    except OSError as error:
        if reader_is_gone(error):
            raise
        raise _unwritable(error.strerror or type(error).__name__) from None


_live: list[Status] = []
"""The live line, while there is one."""


@contextmanager
def above_live_line() -> Iterator[None]:
    """Hide the live line: while it is shown, rich sends all of stdout to the terminal of stderr."""
    for line in _live:
        line.stop()
    yield
    for line in _live:
        line.start()


def write_line(text: str = "") -> None:
    """Print a line of a result on stdout, above the live line."""
    with above_live_line():
        _print(text)


def write_error(text: str) -> None:
    """Print an error on stderr, with unprintable characters escaped."""
    typer.echo(f"error: {safe_text(text)}", err=True)


def write_warning(text: str) -> None:
    """Print a warning on stderr, as ``write_error`` prints an error."""
    typer.echo(f"warning: {safe_text(text)}", err=True)


def safe_text(text: str) -> str:
    """Return a text with unprintable characters escaped, except line ends."""
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)


def messages(*, quiet: bool) -> Console:
    """Return the console for progress on stderr: styled only on a terminal without NO_COLOR."""
    from rich.console import Console  # noqa: PLC0415 - only commands with progress need it

    styled = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    return Console(stderr=True, quiet=quiet, force_terminal=styled, highlight=False, markup=False)


PATIENCE = 3.0
"""Seconds before a pipe or log file gets progress: a shorter command, or an early error, has none."""

SILENCE = 10.0
"""Seconds after which a line repeats how far the work is."""

BETTER = 5.0
"""Minimum seconds between lines about better releases."""

TICK = 0.25
"""Seconds between two looks at the clock."""


class PipeProgress:
    """Progress as plain lines: one a phase, the first release and better ones, and one after every silence.

    Parameters
    ----------
    write: receives a line.
    clock: seconds from any moment.
    patient: whether the first lines wait for ``PATIENCE``.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        *,
        patient: bool = True,
    ) -> None:
        self._write, self._clock = write, clock
        self._lock = threading.Lock()
        self._waiting: list[str] | None = [] if patient else None
        self._phase = ""
        self._search: Progress | None = None
        self._best: float | None = None
        self._began = self._since = self._spoke = clock()

    def phase(self, text: str) -> None:
        """Begin a phase."""
        with self._lock:
            self._phase, self._search, self._best, self._since = text, None, None, self._clock()
            self._put(text)

    def rename(self, text: str) -> None:
        """Change what is said of the phase after a silence."""
        with self._lock:
            self._phase = text

    def say(self, text: str) -> None:
        """Add a line to the phase."""
        with self._lock:
            self._put(text)

    def progress(self, progress: Progress) -> None:
        """Note the progress of a search; its first release gets a line, and better ones now and then."""
        with self._lock:
            self._search = progress
            best, before = progress.best, self._best
            if best is None or self._waiting is not None:
                return
            if before is None or (best < before and self._clock() - self._spoke >= BETTER):
                self._best = best
                self._put(progress_line(progress))

    def tick(self) -> None:
        """Write what has waited long enough, and a line if there was none for long."""
        with self._lock:
            now = self._clock()
            if self._waiting is not None:
                if now - self._began < PATIENCE:
                    return
                lines, self._waiting = self._waiting, None
                for line in lines:
                    self._put(line)
            elif now - self._spoke >= SILENCE:
                self._put(self._far(now))

    def _far(self, now: float) -> str:
        """Return how far the phase is."""
        seconds = f"{now - self._since:.0f} s"
        return (
            f"{self._phase}  {seconds}"
            if self._search is None
            else f"{progress_line(self._search)}  {seconds}"
        )

    def _put(self, line: str) -> None:
        if self._waiting is not None:
            self._waiting.append(line)
            return
        self._spoke = self._clock()
        self._write(line)


@contextmanager
def pipe_progress(write: Callable[[str], None], *, patient: bool = True) -> Iterator[PipeProgress]:
    """Yield progress as lines; a thread looks at the clock, as the work may be in a library for long.

    Parameters
    ----------
    patient: as for ``PipeProgress``.
    """
    lines, ended = PipeProgress(write, patient=patient), threading.Event()

    def watch() -> None:
        while not ended.wait(TICK):
            lines.tick()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield lines
    finally:
        ended.set()
        thread.join()


@contextmanager
def progress_monitor(stopped: Callable[[], bool], *, quiet: bool) -> Iterator[RunMonitor]:
    """Yield a monitor that shows the progress of a run on stderr.

    A terminal shows each attack as it ends; a pipe has the attacks once, in the last lines of the run.
    """
    from anonymizer.cli.summary import attack_lines  # noqa: PLC0415 - --help needs none of it
    from anonymizer.job.clock import RunMonitor  # noqa: PLC0415
    from anonymizer.report.build import attack_entry  # noqa: PLC0415

    if quiet:
        yield RunMonitor(stopped=stopped)
        return
    if not sys.stderr.isatty():
        with pipe_progress(partial(typer.echo, err=True)) as lines:
            yield RunMonitor(
                progress=lines.progress,
                phase=lines.phase,
                say=lines.say,
                stopped=stopped,
            )
        return
    console = messages(quiet=quiet)
    with console.status("starting") as status:

        def say(line: str) -> None:
            """Print a line above the status."""
            console.print(line, soft_wrap=True)

        def say_attack(found: Sequence[AttackResult]) -> None:
            """Print the results of an attack that ended above the status."""
            for line in attack_lines([attack_entry(each, 0.0) for each in found]):
                say(line)

        _live.append(status)
        try:
            yield RunMonitor(
                progress=lambda progress: status.update(progress_line(progress)),
                phase=status.update,
                say=say,
                attacked=say_attack,
                stopped=stopped,
            )
        finally:
            _live.remove(status)


def progress_line(progress: Progress) -> str:
    """Return nodes, best, bound and gap in one line.

    >>> from anonymizer.search.base import Progress
    >>> progress_line(Progress(12, 2160, 0.31, 0.27))
    'search  12/2,160  best 0.31  bound 0.27  gap 12.9 %'
    """
    parts = [f"search  {progress.evaluated:,}/{progress.candidates:,}"]
    if progress.best is not None:
        parts.append(f"best {progress.best:.4g}")
    if progress.bound is not None:
        parts.append(f"bound {progress.bound:.4g}")
    if progress.best and progress.bound is not None:
        parts.append(f"gap {(progress.best - progress.bound) / progress.best:.1%}".replace("%", " %"))
    return "  ".join(parts)


SOON = 0.001
"""Seconds after which a lost interrupt is raised again."""

_own_process = threading.Event()


def end_with_command() -> None:
    """Note that this process ends with its command; after the result, no signal may change its exit code."""
    _own_process.set()


class StopRequest:
    """Whether the user asked to stop: ``request()``."""

    def __init__(self, *, at_once: bool = False) -> None:
        self._asked = threading.Event()
        self._at_once = at_once
        self.late = self.raised = False

    def __call__(self) -> bool:
        """Return whether the user pressed Ctrl-C."""
        return self._asked.is_set()

    def too_late(self) -> None:
        """Ignore signals from now on: the result is printed, and the exit code must be 0."""
        self.late = True

    def on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """Note the first Ctrl-C, and raise on a second one, or at once."""
        if self._at_once or self._asked.is_set():
            self.on_end(signum, frame)
        self._asked.set()

    def on_end(self, signum: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt, so that temporary files are removed."""
        if not self.late:
            self.raised = True
            signal.default_int_handler(signum, frame)


@contextmanager
def _raised_again() -> Iterator[None]:
    """Raise an interrupt in a finalizer again: Python only prints it there."""
    earlier = sys.unraisablehook

    def on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            earlier(unraisable)
            return
        while True:
            # Not at once: it would be raised here. On a busy machine it may come here all the same.
            try:
                threading.Timer(SOON, interrupt_main, [signal.SIGTERM]).start()
            except KeyboardInterrupt:
                continue
            return

    sys.unraisablehook = on_unraisable
    try:
        yield
    finally:
        sys.unraisablehook = earlier


@contextmanager
def stop_on_interrupt(*, at_once: bool = False) -> Iterator[StopRequest]:
    """Yield whether the user pressed Ctrl-C, as a callable; inside, only a second Ctrl-C raises.

    Parameters
    ----------
    at_once: whether the first one raises too.
    """
    request = StopRequest(at_once=at_once)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    earlier = signal.signal(signal.SIGINT, request.on_interrupt)
    earlier_end = signal.signal(signal.SIGTERM, request.on_end)
    try:
        with _raised_again():
            yield request
    except Exception as error:
        # Native libraries turn an interrupt into other errors, such as a failed import or query.
        if request.raised:
            raise KeyboardInterrupt from error
        raise
    finally:
        done = request.late and _own_process.is_set()
        signal.signal(signal.SIGINT, signal.SIG_IGN if done else earlier)
        signal.signal(signal.SIGTERM, signal.SIG_IGN if done else earlier_end)
