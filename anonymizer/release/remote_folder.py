"""A release on a file system of Hadoop: written under another name, and renamed when all else is in place."""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from anonymizer.data.source import EngineOptions
from anonymizer.errors import OutputError
from anonymizer.release.remote_leftovers import Note, RemotePlaces, settle_leftovers

if TYPE_CHECKING:
    from anonymizer.engines.spark.session import Session


class RemoteFolder:
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
        from anonymizer.engines.spark.options import SparkOptions  # noqa: PLC0415 - others do without it
        from anonymizer.engines.spark.session import open_session  # noqa: PLC0415

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
        from anonymizer.engines.spark.failures import writing  # noqa: PLC0415

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
        from anonymizer.engines.spark.session import close_session  # noqa: PLC0415

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
        from anonymizer.engines.spark.failures import writing  # noqa: PLC0415

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
        from anonymizer.engines.spark.failures import writing  # noqa: PLC0415
        from anonymizer.engines.spark.folder import is_release  # noqa: PLC0415

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
