"""Hierarchies written as files."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anonymizer.errors import OutputError
from anonymizer.hierarchy.file import write_rows
from anonymizer.hierarchy.leaves import repeated_leaf
from anonymizer.model.identity import text_identity
from anonymizer.model.table import Column
from tests.hierarchy.columns import chains, column, compiled, texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("written")


def test_nul_bytes_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"h.csv: .*NUL bytes"):
        write_rows(compiled(column(["a\0"]), auto=None), tmp_path / "h.csv")
    assert list(tmp_path.iterdir()) == []


@given(texts() | st.lists(st.text(";,\"\n\r' =a", min_size=1, max_size=5), min_size=1).map(column))
def test_what_is_written_is_read_again(folder: Path, data: Column) -> None:
    assume(not any("\0" in text for text in data.present))
    assume(all(map(str.strip, data.present)))
    assume(repeated_leaf(data.present, text_identity) is None)
    written = compiled(data, auto=None)
    write_rows(written, folder / "h.csv")
    read = compiled(column([]), file=str(folder / "h.csv"))
    trimmed = {leaf.strip(): [*map(str.strip, chain)] for leaf, chain in chains(written).items()}
    assert chains(read) == trimmed
    assert [path.name for path in folder.iterdir()] == ["h.csv"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OutputError, match=r"taken: cannot be written"):
        write_rows(compiled(column(["a"]), auto=None), tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
    with pytest.raises(OutputError, match=r"h.csv: cannot be written: No such file or directory"):
        write_rows(compiled(column(["a"]), auto=None), tmp_path / "none" / "h.csv")
