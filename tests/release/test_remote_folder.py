"""The last steps of a release on another file system, without one, but with the extra spark."""

from __future__ import annotations

import pytest

from anonymizer.data_spark.engine import RemoteFolder
from anonymizer.errors import OutputError

pytestmark = pytest.mark.spark


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> RemoteFolder:
    made = RemoteFolder.__new__(RemoteFolder)
    made.location, made.staged, made._earlier = "new", "staged", "old"
    monkeypatch.setattr(made, "_check_existing", lambda: True)
    return made


def test_an_earlier_release_that_stays_does_not_undo_the_new_one(
    folder: RemoteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    renamed: list[tuple[str, str]] = []
    monkeypatch.setattr(folder, "_rename", lambda old, new: renamed.append((old, new)))

    def delete(location: str) -> None:
        raise OutputError(f"{location}: no connection")

    monkeypatch.setattr(folder, "_delete", delete)
    folder.commit()
    assert renamed == [("new", "old"), ("staged", "new")]
