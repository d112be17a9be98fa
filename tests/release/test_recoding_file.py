"""The recoding of an earlier release goes with it, and stays as long as it does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anonymizer.release.folder import RECODING, ReleaseFolder
from tests.release.published import expected, stage, state


def publish(directory: Path, text: str, *, recoding: bool, last: Callable[[], None] = lambda: None) -> None:
    with ReleaseFolder(directory, ["release.csv"], [], overwrite=True) as folder:
        stage(folder, text)
        if recoding:
            folder.internal(RECODING).write_text(f"recoding of {text}")
        folder.commit(last)


@pytest.mark.parametrize("recoding", [True, False])
def test_a_release_has_its_own_recoding_or_none(recoding: bool, tmp_path: Path) -> None:
    publish(tmp_path, "one", recoding=True)
    publish(tmp_path, "two", recoding=recoding)
    own = {RECODING: b"recoding of two"} if recoding else {}
    assert state(tmp_path) == expected("two") | own
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize("recoding", [True, False])
def test_a_failure_at_the_end_brings_the_earlier_one_back(recoding: bool, tmp_path: Path) -> None:
    publish(tmp_path, "one", recoding=True)
    before = state(tmp_path)

    def fail() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        publish(tmp_path, "two", recoding=recoding, last=fail)
    assert state(tmp_path) == before
    assert list(tmp_path.glob(".*")) == []
