"""A release appears as a whole or not at all, and an earlier one stays until then."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer import system
from anonymizer.errors import OutputError
from anonymizer.release import folder as exchange_room
from anonymizer.release import folder as publish_room
from anonymizer.release.folder import ReleaseFolder, swap_paths
from tests.helpers.messages import exchange
from tests.release.published import expected, publish, stage, state


def test_a_release_appears_with_nothing_else(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "deep"
    with ReleaseFolder(directory, ["release.csv"], []) as folder:
        stage(folder, "one")
        assert not folder.share.exists()
        assert folder.files[0].read_text() == "one"
        folder.commit()
        assert folder.share == directory / "share"
    assert state(directory) == expected("one")
    assert sorted(path.name for path in directory.iterdir()) == ["report.html", "report.json", "share"]


def test_an_earlier_release_is_replaced_only_with_overwrite(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    publish(tmp_path, "one")
    with pytest.raises(OutputError) as refused:
        publish(tmp_path, "two")
    assert exchange("a release, without overwrite", refused.value, tmp_path) == message
    assert state(tmp_path) == expected("one")
    publish(tmp_path, "two", overwrite=True, name="other.parquet")
    assert state(tmp_path) == expected("two", "other.parquet")
    publish(tmp_path, "three", overwrite=True)
    assert state(tmp_path) == expected("three")


@pytest.mark.parametrize("name", ["report.json", "report.html"])
def test_a_lone_report_counts_as_a_release(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(OutputError, match="--overwrite"):
        publish(tmp_path, "one")
    assert state(tmp_path) == {name: b"mine"}


def _share_with(name: str) -> Callable[[Path], None]:
    def make(directory: Path) -> None:
        (directory / "share").mkdir()
        (directory / "share" / name).write_text("mine")

    return make


@pytest.mark.parametrize(
    ("given", "prepare"),
    [
        ("a file in share", _share_with("notes.txt")),
        ("a file share", lambda directory: (directory / "share").write_text("mine")),
        ("a link share", lambda directory: (directory / "share").symlink_to(directory)),
        ("a folder report.json", lambda directory: (directory / "report.json").mkdir()),
        ("a folder report.html", lambda directory: (directory / "report.html").mkdir()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_not_of_a_release_stays(
    given: str, prepare: Callable[[Path], Any], overwrite: bool, tmp_path: Path, message: SnapshotAssertion
) -> None:
    prepare(tmp_path)
    before = state(tmp_path)
    with pytest.raises(OutputError) as refused:
        publish(tmp_path, "one", overwrite=overwrite)
    assert exchange(given, refused.value, tmp_path) == message
    assert state(tmp_path) == before
    assert list(tmp_path.glob(".*")) == []


@pytest.mark.parametrize(
    "way",
    ["itself", "elsewhere in share", "symbolic link", "hard link", "link to", "report.json", "report.html"],
)
def test_an_input_is_never_the_output(way: str, tmp_path: Path) -> None:
    share, data = tmp_path / "share", tmp_path / "data.csv"
    share.mkdir()
    target = share / "release.csv"
    given = target
    data.write_text("a\n1\n")
    if way == "itself":
        target.write_text("a\n1\n")
    elif way == "elsewhere in share":
        given = share / "deep" / "input.csv"
    elif way == "symbolic link":
        target.write_text("a\n1\n")
        given = tmp_path / "link.csv"
        given.symlink_to(target)
    elif way == "hard link":
        target.hardlink_to(data)
        given = data
    elif way == "link to":
        target.symlink_to(data)
        given = data
    else:
        given = tmp_path / way
    before = state(tmp_path)
    with pytest.raises(OutputError, match=rf"{given.name}: is an input and would be replaced"):
        ReleaseFolder(tmp_path, ["release.csv"], [given], overwrite=True).__enter__()
    assert state(tmp_path) == before


@pytest.mark.parametrize("out", ["", "deep/out"])
def test_an_output_in_a_folder_that_is_read_is_refused(
    out: str, tmp_path: Path, message: SnapshotAssertion
) -> None:
    (tmp_path / "part-0.parquet").touch()
    before = state(tmp_path)
    with pytest.raises(OutputError) as refused:
        ReleaseFolder(tmp_path / out, ["release.csv"], [tmp_path]).__enter__()
    assert exchange(f"-o DIR/{out}, input DIR", refused.value, tmp_path) == message
    assert state(tmp_path) == before


@pytest.mark.parametrize(
    "name", ["a/b.csv", "../b.csv", "", ".", "report.public.json", "release.doc", "release"]
)
def test_a_name_of_a_release_is_a_plain_one(name: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"output\.path"):
        ReleaseFolder(tmp_path / "new", [name], []).__enter__()
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made_or_written_is_refused_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match=r"file/release: cannot be written: Not a directory"):
        ReleaseFolder(tmp_path / "file" / "release", ["release.csv"], []).__enter__()

    def denied(*_: Any, **__: Any) -> str:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(system.tempfile, "mkdtemp", denied)
    with pytest.raises(OutputError, match=r"new: cannot be written: Permission denied; .*choose another"):
        ReleaseFolder(tmp_path / "new" / "new", ["release.csv"], []).__enter__()
    assert state(tmp_path) == {"file": b"mine"}
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), RuntimeError("no"), OSError(errno.ENOSPC, "No space left")]
)
@pytest.mark.parametrize("earlier", [False, True])
def test_any_exception_leaves_all_as_it_was(error: BaseException, earlier: bool, tmp_path: Path) -> None:
    directory = tmp_path / "release"
    if earlier:
        publish(directory, "one")
    wanted = OutputError if isinstance(error, OSError) else type(error)
    with pytest.raises(wanted):
        _stop(directory, error)
    assert state(tmp_path) == ({f"release/{k}": v for k, v in expected("one").items()} if earlier else {})
    assert directory.exists() is earlier


def _stop(directory: Path, error: BaseException) -> None:
    with ReleaseFolder(directory, ["release.csv"], [], overwrite=True) as folder:
        stage(folder, "two")
        raise error


def test_the_errors_of_others_are_not_taken_for_its_own(tmp_path: Path) -> None:
    folder = ReleaseFolder(tmp_path / "release", ["release.csv"], [])
    with pytest.raises(FileNotFoundError), folder:
        (tmp_path / "elsewhere").read_text()


@pytest.mark.quick(3)
@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_at_any_step_of_the_commit_leaves_all_as_it_was(
    at_once: bool, earlier: bool, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not at_once:
        monkeypatch.setattr(exchange_room, "exchange_at_once", lambda *_: False)
    if earlier:
        publish(tmp_path, "one")
    before = state(tmp_path)
    steps = 0
    while not _commit_failing_at(steps, error, tmp_path):
        assert state(tmp_path) == before, f"after a failure at step {steps}"
        assert list(tmp_path.glob(".*")) == []
        steps += 1
    assert state(tmp_path) == expected("two")
    assert steps > 8, "the failures did happen"


def _commit_failing_at(step: int, error: BaseException, directory: Path) -> bool:
    """Commit with an error at one call of the system; say whether it went through for lack of such a call."""
    calls = 0

    def failing(original: Callable[..., Any], *, after: bool) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls != step + 1:
                return original(*arguments)
            if after:
                original(*arguments)
            raise error

        return call

    # An interrupt may come after a rename has happened.
    after = isinstance(error, KeyboardInterrupt)
    with (
        pytest.MonkeyPatch.context() as patch,
        ReleaseFolder(directory, ["release.csv"], [], overwrite=True) as folder,
    ):
        stage(folder, "two")
        patch.setattr(os, "fsync", failing(os.fsync, after=False))
        patch.setattr(Path, "rename", failing(Path.rename, after=after))
        patch.setattr(publish_room, "swap_paths", failing(swap_paths, after=after))
        try:
            folder.commit()
        except (OutputError, KeyboardInterrupt):
            return False
    return True


def test_a_release_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    with ReleaseFolder(tmp_path, ["release.csv"], []) as folder:
        stage(folder, "two")
        publish(tmp_path, "one")
        with pytest.raises(OutputError, match="--overwrite"):
            folder.commit()
    assert state(tmp_path) == expected("one")
