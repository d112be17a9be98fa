"""Differences between Linux, macOS and Windows, each call with its substitute on other systems.

Locks of folders, exchanges of two paths, links, durable writes, arrays on disk, processors, memory limits,
separate processes, and the console. Native work runs in a thread, so that Ctrl-C works, and without output.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from anonymizer.errors import InputError, OutputError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

WINDOWS = sys.platform == "win32"
_STANDARD_OUTPUT = 1
_lock = threading.Lock()
_kept: list[int] = []
"""One entry for each block that is running; the first is a copy of the real standard output."""


def shell_words(words: Sequence[str]) -> str:
    """Return a command line that the shell of this system splits into these words."""
    return subprocess.list2cmdline(words) if WINDOWS else shlex.join(words)


@contextmanager
def quiet_output() -> Iterator[None]:
    """Discard what the process writes to standard output, its C libraries included.

    HiGHS 1.12 prints a line when it repairs a solution, despite its log options (github.com/ERGO-Code/HiGHS
    issue 2783), but a command may promise to print one JSON object only. Several threads may run such a
    block: the last one to leave it turns the output on again.
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
                # The process has no standard output.
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
"""Seconds between two checks whether to stop."""

_left: list[threading.Thread] = []


def run_interruptibly(work: Callable[[], T], stopped: Callable[[], bool] = lambda: False) -> T | None:
    """Return the result of work in a thread of its own, which Ctrl-C interrupts; None if ``stopped``.

    A solver cannot be stopped: after an interrupt it runs on until it ends (``work_runs_on``). Its output is
    discarded.

    Raises
    ------
    Exception: of the work.
    """
    found: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=run, daemon=True)
    _left[:] = [*(each for each in _left if each.is_alive()), thread]
    with quiet_output():
        thread.start()
        while thread.is_alive():
            thread.join(POLL)
            if stopped():
                return None
    if failures:
        raise failures[0]
    return found[0]


def work_runs_on() -> bool:
    """Return whether interrupted work still runs in its thread; a process that ends then is aborted by it."""
    return any(each.is_alive() for each in _left)


class Closing(ABC):
    """An object that has to be closed, for example by a ``with``."""

    @abstractmethod
    def close(self) -> None:
        """Free its resources; a second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _c_function(name: str) -> Any:
    """Return a function of the C library by its name, None if it does not exist or not on Linux."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 - not needed at start

    return getattr(ctypes.CDLL(None, use_errno=True), name, None)


def release_free_memory() -> None:
    """Let the C library (glibc only) return free memory to the system; changes no result.

    It keeps freed blocks of up to 32 MB, which add up over the arrays of many batches.
    """
    trim = _c_function("malloc_trim")
    if trim is not None:
        trim(0)


_NO_MEMORY = re.compile(
    "can't start new thread|bad_alloc|bad allocation|cannot allocate memory|failed to map segment|"
    "resource temporarily unavailable|unable to allocate|out of memory",
    re.IGNORECASE,
)
"""How Python, numpy and libraries in C say that the system gives no memory, or no thread for lack of it."""


def memory_fault(error: BaseException) -> InputError | None:
    """Return the error for too little memory if this is the cause of another error, else None."""
    lacking = isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError | ImportError | OSError) and _NO_MEMORY.search(str(error)) is not None
    )
    if not lacking:
        return None
    return InputError(
        "the memory that the system gives to this process is too little; end other programs, raise the limit "
        "of the process (ulimit -v, or that of its container), or set engine.memory_limit lower"
    )


def no_space(folder: Path) -> InputError:
    """Return the error for a full disk."""
    return InputError(
        f"engine.options.temp_directory: {folder}: no space left for data that does not fit in memory; "
        "free space, name another folder, or raise engine.memory_limit"
    )


class DiskArrays:
    """Arrays in files without a name, which the system removes with the last reference or the process.

    The system caches them in free memory.

    Parameters
    ----------
    folder: of the files; None for the system's folder of temporary files.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = Path(tempfile.gettempdir() if folder is None else folder)
        self._maps: list[mmap.mmap] = []

    def zeros(self, rows: int, kind: DTypeLike) -> NDArray[Any]:
        """Return an array of zeros, shape (rows,).

        Raises
        ------
        InputError: the disk is full, or no file can be made.
        """
        import numpy as np  # noqa: PLC0415 - not needed at start

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
        """Let the system reuse the memory of all arrays, which stay on disk."""
        if sys.platform == "linux":
            for each in self._maps:
                each.madvise(mmap.MADV_DONTNEED)


def _allocate(descriptor: int, size: int) -> None:
    """Allocate the space of a file, as a full disk would later kill the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    zeros = bytes(1 << 20)
    for first in range(0, size, len(zeros)):
        os.write(descriptor, zeros[: size - first])


_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})


def exchange_at_once(one: Path, other: Path) -> bool:
    """Exchange two existing paths in one step; return False if the file system cannot.

    Raises
    ------
    OSError: nothing changed.
    """
    rename_both = _c_function("renameat2")
    if rename_both is None:
        return False
    import ctypes  # noqa: PLC0415 - not needed at start

    if rename_both(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(other))


_PAUSES = (0.01, 0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds between attempts to rename, as a virus scanner may have the file open on Windows."""


def rename(old: Path, new: Path) -> None:
    """Rename a file or folder to an unused name.

    Raises
    ------
    OSError: nothing changed.
    """
    for pause in _PAUSES if WINDOWS else ():
        try:
            old.rename(new)
            return
        except PermissionError:
            time.sleep(pause)
    old.rename(new)


def remove_tree(path: Path) -> None:
    """Remove a folder with its content, read-only files included; errors are ignored."""
    shutil.rmtree(path, ignore_errors=True)
    if not path.exists():
        return
    # Read-only files on Windows, and the content of read-only folders elsewhere, cannot be removed. Another
    # process may remove the folder at the same time.
    with suppress(OSError):
        path.chmod(0o700)
        for parent, folders, files in os.walk(path):
            for each in (Path(parent) / name for name in (*folders, *files)):
                if not each.is_symlink():
                    each.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)


def link_to(link: Path, target: Path) -> None:
    """Create a symbolic link to a file or folder, or a copy if links are not allowed.

    Raises
    ------
    OSError: it cannot be copied.
    """
    try:
        link.symlink_to(target)
    except (OSError, NotImplementedError):
        if target.is_dir():
            shutil.copytree(target, link)
        else:
            shutil.copyfile(target, link)


class NoLocks(OSError):
    """This system or this file system has no locks."""


_LOCK = "lock"
"""The file to lock in a folder on Windows, where folders cannot be opened."""


def _locked(path: Path) -> int:
    """Lock an existing folder; return the descriptor of the lock.

    Raises
    ------
    NoLocks: the system has no locks.
    BlockingIOError: another process has the lock.
    OSError: it is not a folder, cannot be opened, or was just removed.
    """
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - Windows only

        descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            os.close(descriptor)
            raise BlockingIOError(errno.EAGAIN, "is locked", str(path)) from None
        return descriptor
    if fcntl is None:
        raise NoLocks(errno.ENOTSUP, "no locks of files", str(path))
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.fstat(descriptor).st_nlink:
            raise FileNotFoundError(errno.ENOENT, "was just removed", str(path))
    except BaseException as error:
        os.close(descriptor)
        if isinstance(error, OSError) and error.errno in (errno.ENOTSUP, errno.ENOLCK):
            raise NoLocks(error.errno, error.strerror, str(path)) from None
        raise
    return descriptor


_ATTEMPTS = 10
"""Attempts to make a folder: another process may remove it as a leftover before it is locked."""


class LockedFolder:
    """A folder that belongs to this process until the folder is removed or the process ends.

    The kernel ends the lock with the process, so folders of killed runs are not locked.

    Parameters
    ----------
    path: of an existing folder.

    Raises
    ------
    NoLocks: the system has no locks.
    BlockingIOError: another process has the lock.
    OSError: it is not a folder, cannot be opened, or was just removed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = _locked(path)

    @classmethod
    def make(cls, parent: Path, prefix: str) -> Self:
        """Make a folder, without a lock if the system has none.

        Raises
        ------
        OSError: it cannot be made.
        """
        for _ in range(_ATTEMPTS):
            path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            try:
                return cls(path)
            except NoLocks:
                made = cls.__new__(cls)
                made.path, made._descriptor = path, None
                return made
            except (BlockingIOError, FileNotFoundError, NotADirectoryError, PermissionError):
                continue
        raise OSError(None, "folders disappear as soon as they are made", str(parent))

    def remove(self) -> None:
        """Remove the folder with its content."""
        if WINDOWS:  # open files cannot be removed
            self.leave()
        remove_tree(self.path)
        self.leave()

    def leave(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def real_path(path: Path) -> Path:
    """Return the absolute path that a path leads to; nothing else follows links.

    Raises
    ------
    InputError: the path cannot be followed, such as a link to itself.
    """
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise _unfollowed(path, error) from None


def _unfollowed(path: Path, error: Exception) -> InputError:
    loop = isinstance(error, RuntimeError) or getattr(error, "errno", None) == errno.ELOOP
    reason = "its symbolic links form a loop" if loop else getattr(error, "strerror", None) or str(error)
    return InputError(f"{path}: {reason}; give the path of a file")


_KINDS = {
    stat.S_ISFIFO: "a named pipe",
    stat.S_ISSOCK: "a socket",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
}


def check_file(path: Path) -> Path:
    """Return a path unchanged if it leads to a regular file or a folder, or if nothing is there.

    Reading a pipe or a device may never end.

    Raises
    ------
    InputError: something else is there, or the path cannot be followed.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return path  # whoever opens it says so
    except (OSError, RuntimeError, ValueError) as error:
        raise _unfollowed(path, error) from None
    kind = next((name for is_kind, name in _KINDS.items() if is_kind(mode)), None)
    if kind is not None:
        raise InputError(f"{path}: is {kind}, not a file; write its content to a file, and give that")
    return path


def readable_by_others(path: Path) -> bool:
    """Return whether others than its owner may read a file; False where the system does not say."""
    return not WINDOWS and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def same_file(one: Path, other: Path) -> bool:
    """Return whether two paths are the same file, by any names, capitals and links; one may not exist.

    Raises
    ------
    InputError: as for ``real_path``.
    """
    try:
        return one.samefile(other)
    except OSError:
        return real_path(one) == real_path(other)


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def physical_memory() -> int | None:
    """Return the bytes of memory of the machine; None where the system does not say."""
    names = ("SC_PAGE_SIZE", "SC_PHYS_PAGES")
    if not all(name in getattr(os, "sysconf_names", {}) for name in names):  # Windows
        return None
    size, pages = (os.sysconf(name) for name in names)
    return size * pages if min(size, pages) > 0 else None


def peak_memory() -> int | None:
    """Return the largest resident memory of this process so far in bytes; None where the system does not say.

    Linux's own count begins with the program; that of ``getrusage`` begins with the parent process.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    own = next((line.split() for line in lines if line.startswith("VmHWM:")), None)
    if own is not None:
        return int(own[1]) * 1024
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def container_limits(system: Path) -> Iterator[int]:
    """Yield the memory limits of this process's control groups and their parents, in bytes.

    Parameters
    ----------
    system: root of the system's files.
    """
    try:
        lines = (system / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux, or hidden
        return
    mounted = system / "sys/fs/cgroup"
    for line in lines:
        if line.count(":") < 2:  # not the format of Linux
            continue
        number, controllers, group = line.split(":", 2)
        if "memory" in controllers.split(","):
            yield from _limits(mounted / "memory", group, "memory.limit_in_bytes")
        elif number == "0":
            yield from _limits(mounted, group, "memory.max")
            yield from _limits(mounted / "unified", group, "memory.max")


def _limits(mounted: Path, group: str, name: str) -> Iterator[int]:
    """Yield the limits of a group and its parents that are visible in the container."""
    own = PurePosixPath(group.lstrip("/"))
    for each in (own, *own.parents):
        try:
            yield int((mounted / each / name).read_text(encoding="ascii"))
        except (OSError, ValueError):  # not visible, or "max"
            continue


def process_apart() -> dict[str, Any]:
    """Return the options of ``subprocess.Popen`` for a process that does not get Ctrl-C of the terminal."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def reader_is_gone(error: OSError) -> bool:
    """Return whether a write failed because the reader closed the pipe."""
    return isinstance(error, BrokenPipeError) or (WINDOWS and error.errno == errno.EINVAL)


def is_windows_console(stream: Any) -> bool:
    """Return whether a text stream is a console of Windows, which accepts no bytes."""
    kind = getattr(sys.modules["io"], "_WindowsConsoleIO", None)
    return kind is not None and isinstance(getattr(getattr(stream, "buffer", None), "raw", None), kind)


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk; on Windows files only.

    Raises
    ------
    OSError: it cannot be written to the disk.
    """
    if WINDOWS and path.is_dir():
        return
    # Windows needs a file that is open for writing.
    descriptor = os.open(path, os.O_RDWR if WINDOWS else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_RESERVED = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)", re.IGNORECASE)
_NOT_IN_NAMES = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')

NOT_PORTABLE = (
    'is not possible on Windows; accepted: a name without < > : " | ? * \\ and control characters, without '
    "a dot or space at its end, other than CON, PRN, AUX, NUL, COM0 to COM9 and LPT0 to LPT9"
)


def output_fault(path: str | Path) -> str | None:
    """Return why a path is not possible on every system, with a remedy; None if it is.

    Drives and the folders ``.`` and ``..`` are ignored.

    >>> output_fault("2026/release.csv")
    >>> output_fault("2026/nul.csv").partition(";")[0]
    "the name 'nul.csv' is not possible on Windows"
    """
    given = Path(path)
    for name in given.parts[bool(given.anchor) :]:
        if name not in (".", "..") and (_RESERVED.match(name) or _NOT_IN_NAMES.search(name)):
            return f"the name {name!r} {NOT_PORTABLE}"
    return None


def new_path_fault(path: Path) -> str | None:
    """Return ``output_fault`` of the part of a path that does not exist yet."""
    there = (each for each in (path, *path.parents) if each.is_dir())
    return output_fault(path.relative_to(next(there, path.anchor)))


def replace_whole(path: Path, content: str, *, private: bool = False) -> None:
    """Write a text file in UTF-8 under a temporary name in its folder, and rename it.

    Parameters
    ----------
    private: whether only its owner may ever read it.

    Raises
    ------
    OSError: the file cannot be written; an earlier file is unchanged.
    """
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    staged = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if not private:  # a temporary file is
            staged.chmod(0o666 & ~_umask())
        if WINDOWS and path.is_file():  # it may be read-only
            path.chmod(0o600)
        staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


def write_whole(path: Path, content: str, *, private: bool = False) -> None:
    """Write a text file as ``replace_whole`` does, with its parameters.

    Raises
    ------
    OutputError: the file cannot be written, or its name is not possible; an earlier file is unchanged.
    """
    fault = new_path_fault(path)
    if fault is not None:
        raise OutputError(f"{path}: {fault}")
    try:
        replace_whole(path, content, private=private)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
