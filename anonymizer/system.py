"""Low-level help for native libraries: Ctrl-C, console output, memory, closing, and whole-file writes.

Native work runs in a thread so that Ctrl-C is heard. Output of libraries is silenced. Free memory is given
back to the system, and arrays can lie on disk. A text file appears whole or not at all.
"""

from __future__ import annotations

import errno
import mmap
import os
import sys
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from anonymizer.errors import InputError, OutputError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

_STANDARD_OUTPUT = 1
_lock = threading.Lock()
_kept: list[int] = []
"""One entry for everyone inside, the first of them a copy of the real standard output."""


@contextmanager
def quiet_output() -> Iterator[None]:
    """Send what the process writes to standard output nowhere, that of its C libraries included.

    HiGHS 1.12 prints a line of its own whenever it repairs a solution, whatever its log options say
    (github.com/ERGO-Code/HiGHS issue 2783), where a command may promise one JSON object and nothing else.
    Several threads may be inside: the last one out turns the output on again.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    with _lock:
        if not _kept:
            if sys.stdout is not None:
                sys.stdout.flush()
            try:
                real = os.dup(_STANDARD_OUTPUT)
            except OSError:
                # There is no standard output to keep quiet.
                real = -1
            else:
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, _STANDARD_OUTPUT)
                os.close(nowhere)
            _kept.append(real)
        else:
            _kept.append(-1)


def _leave() -> None:
    with _lock:
        if len(_kept) > 1:
            _kept.pop()
            return
        real = _kept.pop()
        if real >= 0:
            if sys.stdout is not None:
                sys.stdout.flush()
            os.dup2(real, _STANDARD_OUTPUT)
            os.close(real)


T = TypeVar("T")

POLL = 0.05
"""Seconds between two looks at whether the user wants to stop."""


def run_interruptibly(work: Callable[[], T], stopped: Callable[[], bool] = lambda: False) -> T | None:
    """Work in a thread of its own, so that the user is heard meanwhile; None when he wants to stop.

    A solver cannot be called back; where the user stops, it is left to end by itself. What it prints is not
    shown.

    Raises
    ------
    Exception: whatever the work raises.
    """
    found: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run, daemon=True)
    with quiet_output():
        thread.start()
        while thread.is_alive():
            thread.join(POLL)
            if stopped():
                return None
    if failures:
        raise failures[0]
    return found[0]


class Closing(ABC):
    """Something to be closed, at the end of a ``with`` at the latest."""

    @abstractmethod
    def close(self) -> None:
        """Give back what it holds; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def release_free_memory() -> None:
    """Let the C library return what it holds free, where it can be asked to (glibc); changes no result.

    It keeps pieces of up to 32 MB for later use, and between them what many arrays of a batch took adds up.
    """
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415 - starting up needs it nowhere

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def no_space(folder: Path) -> InputError:
    """Return the error of a disk that is full."""
    return InputError(
        f"engine.options.temp_directory: {folder}: no space left for what does not fit in memory; make room, "
        "name another folder, or allow more memory with engine.memory_limit"
    )


class DiskArrays:
    """Arrays in files without a name, which are gone with the last use of an array, however that ends.

    The system holds of them in memory what it has room for.

    Parameters
    ----------
    folder: where the files are; None for the system's folder of temporary files.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = Path(tempfile.gettempdir() if folder is None else folder)
        self._maps: list[mmap.mmap] = []

    def zeros(self, rows: int, kind: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros, shape (rows,).

        Raises
        ------
        InputError: there is no space left, or no file can be made.
        """
        import numpy as np  # noqa: PLC0415 - starting up needs it nowhere

        size = max(rows * np.dtype(kind).itemsize, 1)
        try:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                _allocate(file.fileno(), size)
                made = mmap.mmap(file.fileno(), size)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise no_space(self._folder) from None
            raise InputError(
                f"engine.options.temp_directory: {self._folder}: {error.strerror}; accepted: a folder that "
                "exists and can be written to"
            ) from None
        self._maps.append(made)
        return np.frombuffer(made, dtype=kind, count=rows)

    def forget(self) -> None:
        """Let the system take the memory of all arrays for something else; what they hold stays the same."""
        if sys.platform == "linux":
            for each in self._maps:
                each.madvise(mmap.MADV_DONTNEED)


def _allocate(descriptor: int, size: int) -> None:
    """Give a file its length and take the space for it: a full disk that is met later ends the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    zeros = bytes(1 << 20)
    for first in range(0, size, len(zeros)):
        os.write(descriptor, zeros[: size - first])


def write_whole(path: Path, content: str) -> None:
    """Write a text file in UTF-8 by a temporary name beside it and a rename.

    Raises
    ------
    OutputError: the file cannot be written; what stood there stays as it was.
    """
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", newline="\n", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as stream:
            temporary = Path(stream.name)
            try:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
                temporary.chmod(0o666 & ~_umask())
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
