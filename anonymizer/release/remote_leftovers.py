"""What a run has on a file system of Hadoop, noted in its local folder, where a later run finds it.

No such file system has locks that go with their process. The note is a local folder, which is locked while
the run lives; what a killed one left is removed when the next release goes to the same local folder.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from anonymizer.errors import OutputError
from anonymizer.release.leftovers import StagingLock
from anonymizer.system import write_whole

if TYPE_CHECKING:
    from anonymizer.engines.spark.session import Session

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
        from anonymizer.engines.spark.failures import writing  # noqa: PLC0415 - others do without it

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
        self._claim = StagingLock(Path(tempfile.mkdtemp(prefix=PREFIX, dir=directory)))
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


def _ended(directory: Path) -> Iterator[tuple[StagingLock, RemotePlaces | None]]:
    """Give the notes of runs that have ended, claimed; None for one that was killed while it was made."""
    for path in sorted(directory.glob(f"{PREFIX}*")):
        try:
            claim = StagingLock(path)
        except (BlockingIOError, NotADirectoryError, FileNotFoundError):
            continue
        try:
            yield claim, RemotePlaces(**json.loads((path / _FILE).read_text(encoding="utf-8")))
        except FileNotFoundError:
            yield claim, None
