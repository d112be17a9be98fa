"""Two paths change their names, or stay as they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anonymizer.release.folder import exchange_by_renames, swap_paths
from tests.release.published import state


@pytest.mark.parametrize("swap", [swap_paths, exchange_by_renames])
def test_an_exchange(swap: Callable[[Path, Path], None], tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "text").write_text(name)
    swap(tmp_path / "a", tmp_path / "b")
    assert state(tmp_path) == {"a/text": b"b", "b/text": b"a"}
    with pytest.raises(OSError, match="No such file"):
        swap(tmp_path / "c", tmp_path / "a")
    assert state(tmp_path) == {"a/text": b"b", "b/text": b"a"}
