"""Apache Spark as an engine: what it can do of a config, its relations, and releases on Hadoop file systems.

A release is written under another name and renamed when everything else is in place. The locks of such file
systems do not end with their process, so a run writes the URLs it uses into a note: a locked folder next to
its reports. The next release with the same folder for reports removes what a killed run left behind.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from anonymizer.data.relation import Engine, EngineFolder, Relation
from anonymizer.data.source import EngineOptions
from anonymizer.data_spark.options import MASTER, SparkOptions
from anonymizer.data_spark.session import Session, close_session, needing, open_session, writing
from anonymizer.errors import OutputError
from anonymizer.model.features import Feature
from anonymizer.system import LockedFolder, NoLocks, write_whole

PREFIX = ".remote.tmp-"
"""Start of the names of notes."""

_FILE = "places.json"


@dataclass(frozen=True)
class RemotePlaces:
    """Where a run writes.

    Attributes
    ----------
    location: URL of the release.
    staged: URL under which the release is written.
    earlier: URL to which the previous release is moved until the new one has its name.
    """

    location: str
    staged: str
    earlier: str

    def settle(self, note: LockedFolder, session: Session) -> None:
        """Remove what is not a release, move an earlier release back if nothing replaced it; remove the note.

        Raises
        ------
        OutputError: something cannot be removed or renamed; the note stays for the next run.
        """
        try:
            with writing(self.location):
                system, earlier = session.file_system(self.earlier)
                if system.exists(earlier):
                    self._restore(session, system, earlier)
                system.delete(session.file_system(self.staged)[1], True)
        except BaseException:
            note.leave()
            raise
        note.remove()

    def _restore(self, session: Session, system: Any, earlier: Any) -> None:
        _, release = session.file_system(self.location)
        if system.exists(release):
            system.delete(earlier, True)
        elif not system.rename(earlier, release):
            raise OutputError(
                f"{self.earlier}: the earlier release cannot be renamed back to {self.location}; rename it"
            )


def note_places(directory: Path, places: RemotePlaces) -> LockedFolder:
    """Return a new note of the places of this run in the local folder of its reports."""
    note = LockedFolder.make(directory, PREFIX)
    write_whole(note.path / _FILE, json.dumps(asdict(places)))
    return note


def settle_leftovers(directory: Path, location: str, session: Session) -> None:
    """Remove what killed runs left on the file system of a location.

    Parameters
    ----------
    directory: local folder of the reports.

    Raises
    ------
    OutputError: something cannot be removed.
    """
    for note, places in _ended(directory):
        if places is None:
            note.remove()
        elif urlsplit(places.location)[:2] == urlsplit(location)[:2]:
            places.settle(note, session)
        else:
            note.leave()


def _ended(directory: Path) -> Iterator[tuple[LockedFolder, RemotePlaces | None]]:
    """Yield the notes of runs that have ended, locked; None for a run killed before it wrote its places."""
    for path in sorted(directory.glob(f"{PREFIX}*")):
        try:
            note = LockedFolder(path)
        except (NoLocks, BlockingIOError, NotADirectoryError, FileNotFoundError):
            continue
        try:
            yield note, RemotePlaces(**json.loads((path / _FILE).read_text(encoding="utf-8")))
        except FileNotFoundError:
            yield note, None


class RemoteFolder(EngineFolder):
    """A folder of Parquet files that gets its name in ``commit``.

    Parameters
    ----------
    location: URL of the folder.
    directory: local folder of the reports, which gets the note.
    source: URL or path of the input, which is never replaced.
    overwrite: whether an earlier release may be replaced.

    Attributes
    ----------
    staged: URL under which it is written.

    Raises
    ------
    InputError: Spark cannot be started.
    OutputError: something exists there that may not be replaced.
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
        self._note: LockedFolder | None = None
        self._session: Session | None = open_session(SparkOptions.of(options))
        try:
            settle_leftovers(directory, self.location, self._session)
            self._check_source(source)
            self._check_existing()
            self._note = note_places(directory, self._places)
        except BaseException:
            self.close()
            raise

    @property
    def _opened(self) -> Session:
        if self._session is None:
            raise OutputError(f"{self.location}: is closed")
        return self._session

    def commit(self) -> None:
        """Give the folder its name, in place of an earlier release.

        Raises
        ------
        OutputError: it cannot be renamed; everything is as before.
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
            # The new release exists by now, so a failure here must not undo its reports.
            with suppress(Exception):
                self._delete(self._earlier)

    def close(self) -> None:
        """Remove what was not committed, and release the Spark session; a second call does nothing."""
        if self._session is None:
            return
        try:
            if self._note is not None:
                self._places.settle(self._note, self._session)
        finally:
            close_session(self._session)
            self._session = self._note = None

    def _check_source(self, source: str) -> None:
        """Refuse an output folder that is the input, or is in it or around it."""
        with writing(self.location):
            system, path = self._opened.file_system(self.location)
            own = str(system.makeQualified(path).toString())
            other_system, other = self._opened.file_system(source)
            given = str(other_system.makeQualified(other).toString())
        if f"{given}/".startswith(f"{own}/") or f"{own}/".startswith(f"{given}/"):
            raise OutputError(
                f"output.path {self.location}: is the input, or is in it or around it; the input is never "
                "modified, name another folder"
            )

    def _check_existing(self) -> bool:
        """Return whether the location has an earlier release, which may be replaced."""
        with writing(self.location):
            system, path = self._opened.file_system(self.location)
            exists = bool(system.exists(path))
            ours = exists and is_release(system, path)
        if not exists:
            return False
        if not ours:
            raise OutputError(f"{self.location}: is not a release, and is not replaced; name another folder")
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


PART = re.compile(r"part-\d{5}\.parquet$")
"""Name of a file of a release."""


def is_release(system: Any, path: Any) -> bool:
    """Return whether a folder has the files of a release and nothing else."""
    status = system.getFileStatus(path)
    if not status.isDirectory():
        return False
    return all(PART.match(str(each.getPath().getName())) for each in system.listStatus(path))


class Spark(Engine):
    """Counts records where they are stored, and writes folders of Parquet files."""

    name = "spark"
    supports = frozenset({Feature.REMOTE, Feature.COMBINATIONS})
    program_bytes = 350_000_000
    """Memory of its Java process without the heap: classes, compiled code, stacks of threads."""

    def has_option(self, name: str) -> bool:
        """Return whether a name is ``master`` or a setting of Spark."""
        return name == MASTER or name.startswith("spark.")

    def open(self, location: str, options: EngineOptions) -> Relation:
        """Open Parquet files on any Hadoop file system; raises as ``open_spark`` does."""
        asked = SparkOptions.of(options)
        with needing():
            from anonymizer.data_spark.relation import open_spark  # noqa: PLC0415 - comes with the extra
        return open_spark(location, asked, options)

    def folder(
        self, location: str, directory: Path, source: str, options: EngineOptions, *, overwrite: bool
    ) -> EngineFolder:
        """Return a folder on a file system of Hadoop; raises as ``RemoteFolder`` does."""
        return RemoteFolder(location, directory, source, options, overwrite=overwrite)
