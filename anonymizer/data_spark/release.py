"""A release on a Hadoop file system: written under another name, renamed when all else is in place.

What a run has on such a file system is noted in its local folder, where a later run finds it. No such file
system has locks that go with their process. The note is a local folder, which is locked while the run
lives; what a killed run left is removed when the next release goes to the same local folder.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anonymizer.data.engine import EngineFolder
from anonymizer.data.source import EngineOptions
from anonymizer.data_spark.files import is_release
from anonymizer.data_spark.options import SparkOptions
from anonymizer.data_spark.session import Session, close_session, open_session, writing
from anonymizer.errors import OutputError
from anonymizer.system import LockedFolder, NoLocks, write_whole

PREFIX = ".remote.tmp-"
"""How the name of a note starts."""

_FILE = "places.json"


@dataclass(frozen=True)
class RemotePlaces:
    """Where a run writes.

    Attributes
    ----------
    location: URL of the release.
    staged: under which it is written.
    earlier: under which the release before stands for a moment.
    """

    location: str
    staged: str
    earlier: str

    def settle(self, session: Session) -> None:
        """Remove what is no release; one that was taken from its place and not replaced goes back.

        Raises
        ------
        OutputError: it cannot.
        """

        with writing(self.location):
            system, earlier = session.file_system(self.earlier)
            if system.exists(earlier):
                self._restore(session, system, earlier)
            system.delete(session.file_system(self.staged)[1], True)

    def _restore(self, session: Session, system: Any, earlier: Any) -> None:
        _, release = session.file_system(self.location)
        if system.exists(release):
            system.delete(earlier, True)
        elif not system.rename(earlier, release):
            raise OutputError(f"{self.earlier}: cannot be renamed to {self.location}, which it was before")


class Note:
    """A note of the places of this run.

    Parameters
    ----------
    directory: local folder of the release.
    """

    def __init__(self, directory: Path, places: RemotePlaces) -> None:
        self._claim = LockedFolder.make(directory, PREFIX)
        write_whole(self._claim.path / _FILE, json.dumps(asdict(places)))

    def remove(self) -> None:
        """Remove it, when nothing is left at its places."""
        self._claim.remove()

    def leave(self) -> None:
        """Leave it to the next run."""
        self._claim.leave()


def settle_leftovers(directory: Path, location: str, session: Session) -> None:
    """Remove what runs left that have ended, on the file system of a location.

    Parameters
    ----------
    directory: local folder of the release.

    Raises
    ------
    OutputError: it cannot be removed.
    """
    for note, places in _ended(directory):
        if places is not None and urlsplit(places.location)[:2] != urlsplit(location)[:2]:
            note.leave()
            continue
        try:
            if places is not None:
                places.settle(session)
        except BaseException:
            note.leave()
            raise
        note.remove()


def _ended(directory: Path) -> Iterator[tuple[LockedFolder, RemotePlaces | None]]:
    """Give the notes of runs that have ended, claimed; None for one that was killed while it was made."""
    for path in sorted(directory.glob(f"{PREFIX}*")):
        try:
            claim = LockedFolder(path)
        except (NoLocks, BlockingIOError, NotADirectoryError, FileNotFoundError):
            continue
        try:
            yield claim, RemotePlaces(**json.loads((path / _FILE).read_text(encoding="utf-8")))
        except FileNotFoundError:
            yield claim, None


class RemoteFolder(EngineFolder):
    """A folder of Parquet files, which nobody sees by its name before ``commit``.

    Parameters
    ----------
    location: URL of the folder.
    directory: local folder of the reports, where it is noted what a killed run would leave.
    source: URL or path of the input, which is never replaced.
    overwrite: whether an earlier release may be replaced.

    Attributes
    ----------
    staged: URL under which it is written.

    Raises
    ------
    InputError: Spark cannot be started.
    OutputError: something stands there that may not be replaced.
    """

    def __init__(
        self, location: str, directory: Path, source: str, options: EngineOptions, *, overwrite: bool
    ) -> None:

        self.location = location.rstrip("/")
        parent, _, name = self.location.rpartition("/")
        token = secrets.token_hex(4)
        self.staged = f"{parent}/.tmp-{token}-{name}"
        self._earlier = f"{parent}/.old-{token}-{name}"
        self._places = RemotePlaces(self.location, self.staged, self._earlier)
        self._overwrite = overwrite
        self._note: Note | None = None
        self._session: Session | None = open_session(SparkOptions.of(options))
        try:
            settle_leftovers(directory, self.location, self._session)
            self._check_source(source)
            self._check_existing()
            self._note = Note(directory, self._places)
        except BaseException:
            self.close()
            raise

    @property
    def _opened(self) -> Session:
        if self._session is None:
            raise OutputError(f"{self.location}: is closed")
        return self._session

    def commit(self) -> None:
        """Give the folder its name; an earlier release goes.

        Raises
        ------
        OutputError: it cannot be renamed, and all is as it was.
        """

        replaces = self._check_existing()
        with writing(self.location):
            if replaces:
                self._rename(self.location, self._earlier)
            try:
                self._rename(self.staged, self.location)
            except BaseException:
                if replaces:
                    self._rename(self._earlier, self.location)
                raise
        if replaces:
            # The new release is there by now, so that a failure here must not undo its reports.
            with suppress(Exception):
                self._delete(self._earlier)

    def close(self) -> None:
        """Remove what was not committed, and give back the use of Spark; a second call does nothing."""

        if self._session is None:
            return
        try:
            if self._note is not None:
                self._settle(self._note, self._session)
        finally:
            close_session(self._session)
            self._session = self._note = None

    def _settle(self, note: Note, session: Session) -> None:
        try:
            self._places.settle(session)
        except BaseException:
            note.leave()
            raise
        note.remove()

    def _check_source(self, source: str) -> None:
        """Refuse an output that is the input, or would take it along."""

        with writing(self.location):
            system, path = self._opened.file_system(self.location)
            own = str(system.makeQualified(path).toString())
            other_system, other = self._opened.file_system(source)
            given = str(other_system.makeQualified(other).toString())
        if f"{given}/".startswith(f"{own}/") or f"{own}/".startswith(f"{given}/"):
            raise OutputError(
                f"output.path {self.location}: is the input, in it or around it, and the input is never "
                "modified; name another folder"
            )

    def _check_existing(self) -> bool:
        """Tell whether an earlier release stands there, that may be replaced."""

        with writing(self.location):
            system, path = self._opened.file_system(self.location)
            exists, ours = bool(system.exists(path)), False
            if exists:
                ours = is_release(system, path)
        if not exists:
            return False
        if not ours:
            raise OutputError(f"{self.location}: is no release, and is not replaced; name another folder")
        if not self._overwrite:
            raise OutputError(
                f"{self.location}: holds a release; replace it with --overwrite, or name another folder"
            )
        return True

    def _rename(self, old: str, new: str) -> None:
        system, path = self._opened.file_system(old)
        if not system.rename(path, self._opened.file_system(new)[1]):
            raise OutputError(f"{old}: cannot be renamed to {new}; nothing was released")

    def _delete(self, location: str) -> None:
        system, path = self._opened.file_system(location)
        system.delete(path, True)
