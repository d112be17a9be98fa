"""Output of all commands: results to stdout, messages and progress to stderr, and Ctrl-C.

With ``--json``, stdout holds one JSON object and nothing else. Errors stay on stderr as text; the exit code
gives a script their kind. The live line of a long search appears on a terminal only, never in a pipe. The
first Ctrl-C asks the search to end, the second ends the program.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from anonymizer.errors import InputError, StdoutError
from anonymizer.system import is_windows_console, reader_is_gone

if TYPE_CHECKING:
    from rich.console import Console

    from anonymizer.run.prepare import RunMonitor
    from anonymizer.search.base import Progress

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else there.")]


STDIN, STDOUT, STDERR = range(3)
"""Descriptors of the standard streams."""


class _Stdout(io.FileIO):
    """The descriptor of stdout: fails once, and from then on takes all and keeps nothing."""

    _lost = False

    def write(self, data: Any) -> int:
        """Write bytes.

        Raises
        ------
        StdoutError: they cannot be written, and somebody may still be waiting for them.
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
    """The descriptor of stderr: what cannot be written is lost."""

    def write(self, data: Any) -> int:
        """Write bytes, if they can be."""
        with suppress(OSError):
            return int(super().write(data) or 0)
        return len(memoryview(data).cast("B"))


def _unwritable(reason: str) -> StdoutError:
    return StdoutError(
        f"standard output: cannot be written: {reason}; send it to a file with free space, or to /dev/null"
    )


def hold_streams() -> None:
    """Prepare the standard streams of this process for whatever they are connected to.

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
    """Open the null device in place of closed streams, whose numbers the next files would get otherwise."""
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
    """Return a stream of text over a descriptor, in UTF-8 on every system and in every locale."""
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
    """Return a command that refuses paths that no file can have, before it does anything."""

    @wraps(command)
    def checked(**given: Any) -> Any:
        for value in given.values():
            if isinstance(value, Path):
                _check_path(value)
        return command(**given)

    return checked


def _check_path(path: Path) -> None:
    from anonymizer.plugins import path_fault, shortened_path  # noqa: PLC0415 - --help needs none of it

    # The current folder counts as well: engines are given it with the path.
    for each in (str(path), os.path.abspath(path)):  # noqa: PTH100 - a NUL byte is to be named, not to raise
        fault = path_fault(each)
        if fault is not None:
            raise InputError(f"{shortened_path(each)}: {fault}")


def write_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout.

    Raises
    ------
    ValueError: the value holds NaN or an infinity, which JSON has no number for.
    """
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def write_line(text: str = "") -> None:
    """Print a line of a result on stdout."""
    typer.echo(text)


def write_error(text: str) -> None:
    """Print an error on stderr; what is not printable in a name or a value is escaped."""
    typer.echo(f"error: {safe_text(text)}", err=True)


def write_warning(text: str) -> None:
    """Print a warning on stderr, as ``write_error`` prints an error."""
    typer.echo(f"warning: {safe_text(text)}", err=True)


def safe_text(text: str) -> str:
    """Return a text with what no terminal should be sent escaped; line ends stay."""
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)


def messages(*, quiet: bool) -> Console:
    """Return the console for progress on stderr: styled only on a terminal, and without NO_COLOR."""
    from rich.console import Console  # noqa: PLC0415 - only commands with progress need it

    styled = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    return Console(stderr=True, quiet=quiet, force_terminal=styled, highlight=False, markup=False)


@contextmanager
def progress_monitor(stopped: Callable[[], bool], *, quiet: bool) -> Iterator[RunMonitor]:
    """Yield a watch that shows how far a run is on stderr."""
    from anonymizer.run.prepare import RunMonitor  # noqa: PLC0415 - --help needs none of it

    console = messages(quiet=quiet)
    if quiet or not sys.stderr.isatty():
        yield RunMonitor(stopped=stopped)
        return
    with console.status("starting") as status:
        yield RunMonitor(
            progress=lambda progress: status.update(progress_line(progress)),
            phase=status.update,
            stopped=stopped,
        )


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
"""Seconds until an interrupt that was lost is raised again."""

_own_process = threading.Event()


def end_with_command() -> None:
    """Note that this process ends with its command, whose exit code no signal may change once it is done."""
    _own_process.set()


class StopRequest:
    """Whether the user wants an end: ``request()``."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self.late = self.raised = False

    def __call__(self) -> bool:
        """Return whether the user pressed Ctrl-C."""
        return self._asked.is_set()

    def too_late(self) -> None:
        """Let no signal stop what remains: the result is given, and its exit code must be 0."""
        self.late = True

    def on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """Note the first Ctrl-C, and raise on a second one."""
        if self._asked.is_set():
            self.on_end(signum, frame)
        self._asked.set()

    def on_end(self, signum: int, frame: FrameType | None) -> None:
        """Raise, so that nothing is left behind."""
        if not self.late:
            self.raised = True
            signal.default_int_handler(signum, frame)


@contextmanager
def _raised_again() -> Iterator[None]:
    """Raise an interrupt once more that came in a finalizer, where Python prints it and goes on."""
    earlier = sys.unraisablehook

    def on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            # Not at once: it would be raised in here.
            threading.Timer(SOON, interrupt_main, [signal.SIGTERM]).start()
        else:
            earlier(unraisable)

    sys.unraisablehook = on_unraisable
    try:
        yield
    finally:
        sys.unraisablehook = earlier


@contextmanager
def stop_on_interrupt() -> Iterator[StopRequest]:
    """Yield a question whether the user pressed Ctrl-C; while open, only a second one raises."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    earlier = signal.signal(signal.SIGINT, request.on_interrupt)
    earlier_end = signal.signal(signal.SIGTERM, request.on_end)
    try:
        with _raised_again():
            yield request
    except Exception as error:
        # Native libraries make errors of their own of an interrupt, such as a failed import or query.
        if request.raised:
            raise KeyboardInterrupt from error
        raise
    finally:
        done = request.late and _own_process.is_set()
        signal.signal(signal.SIGINT, signal.SIG_IGN if done else earlier)
        signal.signal(signal.SIGTERM, signal.SIG_IGN if done else earlier_end)
