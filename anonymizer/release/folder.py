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

from anonymizer.data.source import CSV_FILES, RELEASED, split_suffix
from anonymizer.errors import OutputError
from anonymizer.model.report import metadata_name
from anonymizer.release.signature import SIGNATURE, Signer, is_own_signature
from anonymizer.system import (
    LockedFolder,
    NoLocks,
    check_file,
    exchange_at_once,
    new_path_fault,
    output_fault,
    real_path,
    rename,
    same_file,
    sync,
)

EARLIER = ".earlier"
"""Suffix of a predecessor that was just moved aside."""


def swap_paths(staged: Path, final: Path) -> None:
    """Swap the names of two existing paths: in one step on Linux, else in three renames.

    Raises
    ------
    OSError: they stay as they were.
    """
    if not exchange_at_once(staged, final):
        exchange_by_renames(staged, final)


def exchange_by_renames(staged: Path, final: Path) -> None:
    """Swap the names of two existing paths; between the first two renames ``final`` is absent.

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
    """Return the path to which the predecessor of a staged path is moved during the swap."""
    return staged.with_name(staged.name + EARLIER)


SHARE = "share"
PUBLIC_REPORT = "report.public.json"
LEGEND = "README.txt"
"""What the values of the release mean, for its recipient."""

LEGEND_HEAD = "About this release"
"""Beginning of a legend that a run wrote; another file of its name is not replaced."""

CODEBOOK = "codebook.csv"
"""What each column and value of the release means, for its recipient."""

CODEBOOK_HEAD = "table,column,label,type,role,entry,value,"
"""Beginning of a codebook that a run wrote."""

METADATA_HEAD = '{\n "@context": "http://www.w3.org/ns/csvw",\n "dc:creator": "anonymizer'
"""Beginning of a description of a CSV file that a run wrote."""

REPORT = "report.json"
PAGE = "report.html"
RECODING = "recoding.json"
"""The recoding, which ``apply`` gives to new records."""

MENDED = "mended.yaml"
"""The config of a release whose findings were mended, which gives the same release."""

DOSSIER, DECISIONS = "dossier.html", "decisions.json"
"""The paper about a release that people sign, and what they decided; made after it."""

FOR_SOME = (RECODING, MENDED, DOSSIER, DECISIONS, SIGNATURE)
"""Files beside the report of some releases; those of an earlier release do not fit another one."""

INTERNAL = (REPORT, PAGE, *FOR_SOME)
"""Files next to share/ that must not be handed over."""


PRIVATE = 0o600
"""Permissions of internal files, whatever the umask: nobody but the owner reads them."""


def check_inputs(directory: Path, inputs: Sequence[Path]) -> None:
    """Check that the output replaces no input of the run, by its path, a symbolic link or a hard link.

    Raises
    ------
    OutputError: an input is in share/ or is an internal file; or it is a folder that contains the output, so
        that the next run would read the release as input.
    """
    share = directory / SHARE
    for given in inputs:
        check_file(given)
        inside = real_path(given).is_relative_to(real_path(share)) or given.absolute().is_relative_to(
            share.absolute()
        )
        internal = [directory / name for name in INTERNAL]
        same = any(same_file(given, existing) for existing in (*internal, *_files(share)))
        if inside or same:
            raise OutputError(
                f"{given}: is an input and would be replaced by the output in {directory}; "
                "choose another folder with -o"
            )
        if given.is_dir() and real_path(share).is_relative_to(real_path(given)):
            raise OutputError(
                f"{directory}: all files of the input folder {given} are read, so no release can be there; "
                "choose another folder with -o"
            )


def check_existing(directory: Path, release_names: Sequence[str], *, overwrite: bool) -> None:
    """Check that the folder is empty, or contains only an earlier release that may be replaced.

    Raises
    ------
    OutputError: it contains a release without ``overwrite``, or anything else.
    """
    share, internal = directory / SHARE, [directory / name for name in INTERNAL]
    if os.path.lexists(directory / PUBLIC_REPORT):
        raise OutputError(
            f"{directory}: is the share/ folder of a release, which must not contain an internal report; "
            "choose another folder with -o"
        )
    if os.path.lexists(share) and (share.is_symlink() or not share.is_dir()):
        raise OutputError(f"{share}: is not a folder; remove it, or choose another folder with -o")
    for report in internal:
        if os.path.lexists(report) and (report.is_symlink() or not report.is_file()):
            raise OutputError(f"{report}: is not a regular file; remove it, or choose another folder with -o")
    names = sorted(path.name for path in _files(share))
    released = {*release_names, *_own_names(share)}
    heads = {LEGEND: LEGEND_HEAD, CODEBOOK: CODEBOOK_HEAD}
    heads |= {metadata_name(name): METADATA_HEAD for name in released}
    own = {name for name, head in heads.items() if _begins(share / name, head)}
    signed = {SIGNATURE} if is_own_signature(share / SIGNATURE) else set()
    strange = sorted(set(names) - {*released, PUBLIC_REPORT, *own, *signed})
    if strange:
        raise OutputError(
            f"{share}: contains '{strange[0]}', which is not part of a release; "
            "move it away, or choose another folder with -o"
        )
    if not overwrite and (names or any(report.exists() for report in internal)):
        raise OutputError(
            f"{directory}: contains a release; replace it with --overwrite, or choose another folder with -o"
        )


def _files(folder: Path) -> Iterable[Path]:
    return folder.iterdir() if folder.is_dir() else ()


def _own_names(share: Path) -> set[str]:
    """Return the file names in the public report of an earlier release."""
    try:
        release = json.loads((share / PUBLIC_REPORT).read_text(encoding="utf-8"))["release"]
        paths = [release["path"]]
        if "sensitive_table" in release:
            paths.append(release["sensitive_table"]["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {Path(path).name for path in paths if isinstance(path, str)}


def _begins(path: Path, head: str) -> bool:
    """Return whether a file begins as those of a run do."""
    try:
        with path.open("rb") as file:
            return file.read(len(head.encode())) == head.encode()
    except OSError:
        return False


PREFIX = ".share.tmp-"
"""Prefix of the names of staging folders."""


def remove_leftovers(directory: Path) -> None:
    """Remove staging folders of runs that have ended, after restoring what they had moved aside.

    Without locks it is unknown whether a run has ended: missing files are restored, the folders stay.

    Raises
    ------
    OSError: a folder cannot be read or restored.
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
    """The folder DIR of a release during a run: ``with ReleaseFolder(...) as folder``.

    Entering makes every check that needs no search, and creates the staging folder. Files written to
    ``files``, ``public_report``, ``shared(...)`` and ``internal(...)`` appear in DIR by ``commit``, or not at
    all.

    Parameters
    ----------
    directory: DIR; created with its parents if it does not exist.
    names: plain names of the released files, whose suffixes are their formats; none for a release elsewhere.
    inputs: every file that the run reads; none may be part of the output.
    overwrite: whether an earlier release may be replaced.
    signer: signs all of share/.
    """

    def __init__(
        self,
        directory: Path,
        names: Sequence[str],
        inputs: Sequence[Path],
        *,
        overwrite: bool = False,
        signer: Signer | None = None,
    ) -> None:
        self.directory = directory
        self.names = tuple(names)
        self._inputs = tuple(inputs)
        self._overwrite = overwrite
        self._signer = signer
        self._made: list[Path] = []
        self._claim: LockedFolder | None = None
        self._internal: list[str] = []

    @property
    def share(self) -> Path:
        """The final path of the folder to be handed over."""
        return self.directory / SHARE

    @property
    def files(self) -> tuple[Path, ...]:
        """The staged path of each file of the release."""
        return tuple(self._staging / SHARE / name for name in self.names)

    @property
    def scratch(self) -> Path:
        """A folder for temporary files, removed with the staging folder."""
        folder = self._staging / "scratch"
        folder.mkdir(exist_ok=True)
        return folder

    def named(self, message: str) -> str:
        """Return a message with final paths in place of staged ones."""
        return message.replace(str(self._staging), str(self.directory))

    @property
    def public_report(self) -> Path:
        """The staged path of the recipient's report."""
        return self._staging / SHARE / PUBLIC_REPORT

    def shared(self, name: str) -> Path:
        """Return the staged path of a file for the recipient."""
        return self._staging / SHARE / name

    @property
    def report(self) -> Path:
        """The staged path of the internal report."""
        return self.internal(REPORT)

    def internal(self, name: str) -> Path:
        """Return the staged path of a file next to share/."""
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
        """Put the staged files in place; an error undoes everything.

        Parameters
        ----------
        last: called at the end, such as to commit a transaction; an error in it undoes everything.

        Raises
        ------
        OutputError: a file could not be made durable or put in place.
        """
        names = [SHARE, *(name for name in self._internal if name != REPORT)]
        names += [REPORT] if REPORT in self._internal else []
        check_existing(self.directory, self.names, overwrite=self._overwrite)
        moves = [_Move(self._staging / name, self.directory / name) for name in names]
        for name in FOR_SOME:
            if name not in names and (self.directory / name).is_file():
                # It goes before the report comes.
                moves.insert(-1, _Move(self.directory / name, self._staging / name))
        with self._refusals():
            if self._signer is not None:
                self._signer.sign(self._staging / SHARE)
            for name in self._internal:
                (self._staging / name).chmod(PRIVATE)
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
        """Remove the staged files, and the folders that were created for them."""
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
            check_name(name)
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
        """Return whether an error comes from writing the release, not from another step of the run."""
        named = isinstance(error.filename, str | os.PathLike) and Path(error.filename).absolute()
        return error.errno in FULL or bool(named and named.is_relative_to(self.directory.absolute()))

    def _refusal(self, error: OSError) -> OutputError:
        reason = error.strerror or type(error).__name__
        remedy = "free some space" if error.errno in FULL else "choose another with -o"
        return OutputError(f"{self.directory}: cannot be written: {reason}; nothing was released, {remedy}")


def check_name(name: str) -> None:
    """Check the name of a released file.

    Raises
    ------
    OutputError: it is not a plain name of a file in a format that is written, or a system refuses it.
    """
    if Path(name).name != name or name.casefold() in (PUBLIC_REPORT, CODEBOOK):
        raise OutputError(f"output.path '{name}': accepted: a plain file name, such as release.csv")
    fault = output_fault(name)
    if fault is not None:
        raise OutputError(f"output.path: {fault}")
    known = tuple(dict.fromkeys((*CSV_FILES.suffixes, *RELEASED)))
    if not split_suffix(name, known)[1]:
        accepted = f"a name ending in {', '.join(known)}"
        raise OutputError(f"output.path '{name}': unknown file format; accepted: {accepted}")


class _Move:
    """One staged path and its place; the inode shows which of the two it is at."""

    def __init__(self, staged: Path, final: Path) -> None:
        self.staged = staged
        self.final = final
        self.inode = staged.stat().st_ino
        self.replaces = os.path.lexists(final)

    def do(self) -> None:
        """Put the staged path in place; an earlier one moves to the staging folder."""
        if self.replaces:
            swap_paths(self.staged, self.final)
        else:
            rename(self.staged, self.final)

    def undo(self) -> None:
        """Reverse ``do`` if it was done."""
        if os.path.lexists(self.final) and self.final.stat().st_ino == self.inode:
            if self.replaces:
                swap_paths(self.staged, self.final)
            else:
                rename(self.final, self.staged)


def _make_durable(path: Path) -> None:
    inside = sorted(path.rglob("*"), reverse=True) if path.is_dir() else ()
    for each in (*inside, path):
        sync(each)
