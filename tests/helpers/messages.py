"""Messages are compared with snapshot files, one a room: what was given, and what the program says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from syrupy.extensions.amber import AmberSnapshotExtension

FOLDER = Path(__file__).parents[1] / "messages"


class RoomMessages(AmberSnapshotExtension):
    """Keep the messages of all tests in a folder of ``tests/`` in ``tests/messages/FOLDER.ambr``."""

    @classmethod
    def dirname(cls, **_: Any) -> str:
        """Return the folder of all snapshot files."""
        return str(FOLDER)

    @classmethod
    def get_file_basename(cls, *, test_location: Any, **_: Any) -> str:
        """Return the room: the first folder below ``tests/``, or the file where there is none."""
        return Path(test_location.filepath).relative_to(FOLDER.parent).with_suffix("").parts[0]

    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: Any = 0) -> str:
        """Return the test with its file, as two files of a room may have tests of one name."""
        name = super().get_snapshot_name(test_location=test_location, index=index)
        return f"{name} ({Path(test_location.filepath).name})"


def exchange(given: object, says: object, folder: Path | None = None) -> str:
    """Return one entry of a snapshot file; the path of a temporary folder is written as ``DIR``."""
    text = f"{given}\n=> {says}"
    return text if folder is None else text.replace(str(folder), "DIR")
