"""Names of a release in two files."""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.errors import InputError
from anonymizer.release.anatomy import find_anatomy_files, pair_columns, pair_named
from tests.helpers.messages import exchange


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("release.csv", ("release.qit.csv", "release.st.csv")),
        ("a.b.csv.gz", ("a.b.qit.csv.gz", "a.b.st.csv.gz")),
        ("release.parquet", ("release.qit.parquet", "release.st.parquet")),
    ],
)
def test_names_come_before_the_suffix(name: str, names: tuple[str, str]) -> None:
    assert pair_named(Path(name)).names == names


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_a_pair_is_found_by_each_of_its_names(suffix: str, tmp_path: Path) -> None:
    pair = pair_named(tmp_path / f"release{suffix}")
    for path in (pair.records, pair.values):
        path.touch()
    for path in (pair.records, pair.values, tmp_path / f"release{suffix}", tmp_path / "release"):
        assert find_anatomy_files(path) == pair


def test_a_single_file_is_no_pair(tmp_path: Path) -> None:
    single = tmp_path / "release.csv"
    assert find_anatomy_files(single) is None
    single.touch()
    for path in (pair_named(single).records, pair_named(single).values):
        path.touch()
    assert find_anatomy_files(single) is None
    assert find_anatomy_files(tmp_path / ".qit.csv") is None


def test_a_missing_file_is_named(tmp_path: Path, message: SnapshotAssertion) -> None:
    pair = pair_named(tmp_path / "release.csv")
    with pytest.raises(InputError) as refused:
        find_anatomy_files(pair.records)
    assert exchange("neither file", refused.value, tmp_path) == message
    pair.values.touch()
    for path in (pair.records, pair.values, tmp_path / "release.csv", tmp_path / "release"):
        with pytest.raises(InputError) as refused:
            find_anatomy_files(path)
        assert exchange(f"{path.name}, where only release.st.csv exists", refused.value, tmp_path) == message


def test_new_columns_come_last() -> None:
    records, values = pair_columns(["b", "secret", "a"], "secret")
    assert records == ["b", "a", "group"]
    assert values == ["group", "secret", "count"]
    assert pair_columns(["count", "secret"], "secret")[0] == ["count", "group"]
