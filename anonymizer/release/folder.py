"""A release folder that changes as a whole: the earlier release stays until the new one is on disk.

DIR/share/ holds what may be handed over; DIR/report.json and similar files next to it are internal. All of
it is staged in DIR/.share.tmp-*/ under the same names, made durable, and then put in place: share/ first,
the internal files after it, report.json last. Two paths of one folder are swapped at once, or as nearly so
as the system can. Staging folders are claimed while a run lives, and removed after one that was killed.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from anonymizer.errors import OutputError
from anonymizer.release.formats import release_separator
from anonymizer.system import (
    LockedFolder,
    NoLocks,
    exchange_at_once,
    new_path_fault,
    output_fault,
    rename,
    same_file,
    sync,
)

EARLIER = ".earlier"
"""Suffix of what was taken from its place a moment before its successor came."""


def swap_paths(staged: Path, final: Path) -> None:
    """Let two existing paths change their names: in one step on Linux, else in three renames.

    Raises
    ------
    OSError: they stay as they were.
    """
    if not exchange_at_once(staged, final):
        exchange_by_renames(staged, final)


def exchange_by_renames(staged: Path, final: Path) -> None:
    """Let two existing paths change their names; between the first two renames ``final`` is absent.

    Raises
    ------
    OSError: they stay as they were.
    """
    aside = earlier(staged)
    try:
        rename(final, aside)
        rename(staged, final)
        rename(aside, staged)
    except BaseException:
        if os.path.lexists(aside):
            if os.path.lexists(final):
                rename(final, staged)
            rename(aside, final)
        raise


def earlier(staged: Path) -> Path:
    """Return where the predecessor of a staged path waits while it takes its place."""
    return staged.with_name(staged.name + EARLIER)


SHARE = "share"
PUBLIC_REPORT = "report.public.json"
REPORT = "report.json"
PAGE = "report.html"
RECODING = "recoding.json"
"""What further records need to be recoded alike."""

INTERNAL = (REPORT, PAGE, RECODING)
"""What stands beside share/, and is not to be handed over."""


def check_inputs(directory: Path, inputs: Sequence[Path]) -> None:
    """Check that no input of the run would be replaced by its output, under whatever name it is reached.

    Raises
    ------
    OutputError: one stands in share/ or is a report, by its path, a symbolic link or a hard link; or it is a
        folder that the output would be in, and be read with as an input the next time.
    """
    share = directory / SHARE
    for given in inputs:
        inside = given.resolve().is_relative_to(share.resolve()) or given.absolute().is_relative_to(
            share.absolute()
        )
        internal = [directory / name for name in INTERNAL]
        same = any(same_file(given, existing) for existing in (*internal, *_files(share)))
        if inside or same:
            raise OutputError(
                f"{given}: is an input and would be replaced by the output in {directory}; "
                "choose another folder with -o"
            )
        if given.is_dir() and share.resolve().is_relative_to(given.resolve()):
            raise OutputError(
                f"{directory}: is in {given}, which is an input and is read with all that is in it; "
                "choose another folder with -o"
            )


def check_existing(directory: Path, release_names: Sequence[str], *, overwrite: bool) -> None:
    """Check that nothing stands in the way, or nothing but an earlier release that is to be replaced.

    Raises
    ------
    OutputError: there is a release that ``overwrite`` does not allow to replace, or something else is there.
    """
    share, internal = directory / SHARE, [directory / name for name in INTERNAL]
    if os.path.lexists(directory / PUBLIC_REPORT):
        raise OutputError(
            f"{directory}: is a folder to be handed over, which an internal report must not enter; "
            "choose another folder with -o"
        )
    if os.path.lexists(share) and (share.is_symlink() or not share.is_dir()):
        raise OutputError(f"{share}: is not a folder; remove it, or choose another folder with -o")
    for report in internal:
        if os.path.lexists(report) and (report.is_symlink() or not report.is_file()):
            raise OutputError(
                f"{report}: is not a file of a release; remove it, or choose another folder with -o"
            )
    names = sorted(path.name for path in _files(share))
    strange = sorted(set(names) - _own_names(share) - {*release_names, PUBLIC_REPORT})
    if strange:
        raise OutputError(
            f"{share}: holds '{strange[0]}', which is not of a release; "
            "move it away, or choose another folder with -o"
        )
    if not overwrite and (names or any(report.exists() for report in internal)):
        raise OutputError(
            f"{directory}: holds a release; replace it with --overwrite, or choose another folder with -o"
        )


def _files(folder: Path) -> Iterable[Path]:
    return folder.iterdir() if folder.is_dir() else ()


def _own_names(share: Path) -> set[str]:
    """Return the file names that the public report of an earlier release gives."""
    try:
        release = json.loads((share / PUBLIC_REPORT).read_text(encoding="utf-8"))["release"]
        paths = [release["path"]]
        if "sensitive_table" in release:
            paths.append(release["sensitive_table"]["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {Path(path).name for path in paths if isinstance(path, str)}


PREFIX = ".share.tmp-"
"""How the name of a staging folder starts."""


def remove_leftovers(directory: Path) -> None:
    """Remove staging folders whose run has ended; what it had just taken from its place goes back first.

    Where there are no locks, nothing tells whether a run has ended: what is missing goes back, and the rest
    stays.

    Raises
    ------
    OSError: one cannot be read or restored.
    """
    for path in sorted(directory.glob(f"{PREFIX}*")):
        claim = None
        try:
            claim = LockedFolder(path)
        except (BlockingIOError, NotADirectoryError, FileNotFoundError):
            continue
        except NoLocks:
            pass
        for aside in path.glob(f"*{EARLIER}"):
            place = directory / aside.name.removesuffix(EARLIER)
            if not os.path.lexists(place):
                rename(aside, place)
        if claim is not None:
            claim.remove()


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class ReleaseFolder:
    """The folder DIR of a release, while a new release is made: ``with ReleaseFolder(...) as folder``.

    Entering checks all that can be checked before a search and makes the staging folder. What is written to
    ``release``, ``public_report`` and ``internal(...)`` appears in DIR by ``commit``, or not at all.

    Parameters
    ----------
    directory: DIR; it and its parents are made when they do not exist.
    release_name: plain file name of the release, whose suffix is its format; None for a release elsewhere.
    inputs: every file that the run reads; none may be part of the output.
    overwrite: whether an earlier release is to be replaced.
    second_name: of a release in two files, the plain name of the other one.
    """

    def __init__(
        self,
        directory: Path,
        release_name: str | None,
        inputs: Sequence[Path],
        *,
        overwrite: bool = False,
        second_name: str | None = None,
    ) -> None:
        self.directory = directory
        self.release_name = release_name
        self.names = tuple(name for name in (release_name, second_name) if name is not None)
        self._inputs = tuple(inputs)
        self._overwrite = overwrite
        self._made: list[Path] = []
        self._claim: LockedFolder | None = None
        self._internal: list[str] = []

    @property
    def share(self) -> Path:
        """The folder to be handed over, as it is called after ``commit``."""
        return self.directory / SHARE

    @property
    def release(self) -> Path:
        """Where the release is to be written, and can be read before ``commit``.

        Raises
        ------
        OutputError: it is not a file of this folder.
        """
        if self.release_name is None:
            raise OutputError(f"{self.directory}: the release is not a file of this folder")
        return self._staging / SHARE / self.release_name

    @property
    def files(self) -> tuple[Path, ...]:
        """Where each file of the release is to be written."""
        return tuple(self._staging / SHARE / name for name in self.names)

    @property
    def scratch(self) -> Path:
        """A folder for temporary files, which is gone with the staging folder."""
        folder = self._staging / "scratch"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def public_report(self) -> Path:
        """Where the recipient's report is to be written."""
        return self._staging / SHARE / PUBLIC_REPORT

    @property
    def report(self) -> Path:
        """Where the internal report is to be written."""
        return self.internal(REPORT)

    def internal(self, name: str) -> Path:
        """Return where a file that stands beside share/ is to be written."""
        if name not in self._internal:
            self._internal.append(name)
        return self._staging / name

    def __enter__(self) -> Self:
        self._check()
        with self._refusals():
            self._make_directory()
        try:
            with self._refusals():
                remove_leftovers(self.directory)
            check_existing(self.directory, self.names, overwrite=self._overwrite)
            with self._refusals():
                self._claim = LockedFolder.make(self.directory, PREFIX)
                (self._staging / SHARE).mkdir()
        except BaseException:
            self.discard()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()
        if isinstance(error, OSError) and self._is_ours(error):
            raise self._refusal(error) from error

    def commit(self, last: Callable[[], None] = lambda: None) -> None:
        """Put what was staged in its place; when that fails, all is as it was.

        Parameters
        ----------
        last: what has to happen as well, such as the end of a transaction; when it fails, all is undone.

        Raises
        ------
        OutputError: a file could not be made durable or put in its place.
        """
        names = [SHARE, *(name for name in self._internal if name != REPORT)]
        names += [REPORT] if REPORT in self._internal else []
        check_existing(self.directory, self.names, overwrite=self._overwrite)
        moves = [_Move(self._staging / name, self.directory / name) for name in names]
        if RECODING not in names and (self.directory / RECODING).is_file():
            # The recoding of the earlier release is not of this one; it goes before the report comes.
            moves.insert(-1, _Move(self.directory / RECODING, self._staging / RECODING))
        with self._refusals():
            for move in moves:
                _make_durable(move.staged)
            sync(self._staging)
            try:
                for move in moves:
                    move.do()
                sync(self.directory)
                last()
            except BaseException:
                for move in reversed(moves):
                    move.undo()
                raise
        self._made.clear()
        self.discard()

    def discard(self) -> None:
        """Remove what was staged, and the folders that were made for it."""
        if self._claim is not None:
            self._claim.remove()
            self._claim = None
        while self._made:
            try:
                self._made.pop().rmdir()
            except OSError:
                return

    @property
    def _staging(self) -> Path:
        if self._claim is None:
            raise OutputError(f"{self.directory}: the release folder is not open; use it in a with statement")
        return self._claim.path

    def _check(self) -> None:
        for name in self.names:
            _check_name(name)
        fault = new_path_fault(self.directory)
        if fault is not None:
            raise OutputError(f"{self.directory}: {fault}; choose another with -o")
        check_inputs(self.directory, self._inputs)

    def _make_directory(self) -> None:
        missing = []
        folder = self.directory
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for folder in reversed(missing):
            folder.mkdir()
            self._made.append(folder)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._refusal(error) from error

    def _is_ours(self, error: OSError) -> bool:
        """Say whether an error is of writing the release, and not of anything else that a run does."""
        named = isinstance(error.filename, str | os.PathLike) and Path(error.filename).absolute()
        return error.errno in FULL or bool(named and named.is_relative_to(self.directory.absolute()))

    def _refusal(self, error: OSError) -> OutputError:
        reason = error.strerror or type(error).__name__
        remedy = "free some space" if error.errno in FULL else "choose another with -o"
        return OutputError(f"{self.directory}: cannot be written: {reason}; nothing was released, {remedy}")


def _check_name(name: str) -> None:
    if Path(name).name != name or name.casefold() == PUBLIC_REPORT:
        raise OutputError(f"output.path '{name}': accepted is a plain file name, such as release.csv")
    fault = output_fault(name)
    if fault is not None:
        raise OutputError(f"output.path: {fault}")
    release_separator(Path(name))


class _Move:
    """One staged path and its place; knows by the inode which of the two it stands at."""

    def __init__(self, staged: Path, final: Path) -> None:
        self.staged = staged
        self.final = final
        self.inode = staged.stat().st_ino
        self.replaces = os.path.lexists(final)

    def do(self) -> None:
        """Put the staged path in place; an earlier one takes its."""
        if self.replaces:
            swap_paths(self.staged, self.final)
        else:
            rename(self.staged, self.final)

    def undo(self) -> None:
        """Put all back as it was, if it is not."""
        if os.path.lexists(self.final) and self.final.stat().st_ino == self.inode:
            if self.replaces:
                swap_paths(self.staged, self.final)
            else:
                rename(self.final, self.staged)


def _make_durable(path: Path) -> None:
    inside = sorted(path.rglob("*"), reverse=True) if path.is_dir() else ()
    for each in (*inside, path):
        sync(each)
