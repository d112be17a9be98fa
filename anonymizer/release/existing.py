"""What stands in a release folder before a run, and what of it may be replaced."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from anonymizer.errors import OutputError

SHARE = "share"
PUBLIC_REPORT = "report.public.json"
REPORT = "report.json"
PAGE = "report.html"
RECODING = "recoding.json"
"""What further records need to be recoded alike."""

INTERNAL = (REPORT, PAGE, RECODING)
"""What stands beside share/, and is not to be handed over."""


def check_inputs(directory: Path, inputs: Sequence[Path]) -> None:
    """Check that no input of the run would be replaced by its output, under whatever name it is reached.

    Raises
    ------
    OutputError: one stands in share/ or is a report, by its path, a symbolic link or a hard link; or it is a
        folder that the output would be in, and be read with as an input the next time.
    """
    share = directory / SHARE
    for given in inputs:
        inside = given.resolve().is_relative_to(share.resolve()) or given.absolute().is_relative_to(
            share.absolute()
        )
        internal = [directory / name for name in INTERNAL]
        same = any(_same(given, existing) for existing in (*internal, *_files(share)))
        if inside or same or given.resolve() in [path.resolve() for path in internal]:
            raise OutputError(
                f"{given}: is an input and would be replaced by the output in {directory}; "
                "choose another folder with -o"
            )
        if given.is_dir() and share.resolve().is_relative_to(given.resolve()):
            raise OutputError(
                f"{directory}: is in {given}, which is an input and is read with all that is in it; "
                "choose another folder with -o"
            )


def check_existing(directory: Path, release_names: Sequence[str], *, overwrite: bool) -> None:
    """Check that nothing stands in the way, or nothing but an earlier release that is to be replaced.

    Raises
    ------
    OutputError: there is a release that ``overwrite`` does not allow to replace, or something else is there.
    """
    share, internal = directory / SHARE, [directory / name for name in INTERNAL]
    if os.path.lexists(directory / PUBLIC_REPORT):
        raise OutputError(
            f"{directory}: is a folder to be handed over, which an internal report must not enter; "
            "choose another folder with -o"
        )
    if os.path.lexists(share) and (share.is_symlink() or not share.is_dir()):
        raise OutputError(f"{share}: is not a folder; remove it, or choose another folder with -o")
    for report in internal:
        if os.path.lexists(report) and (report.is_symlink() or not report.is_file()):
            raise OutputError(
                f"{report}: is not a file of a release; remove it, or choose another folder with -o"
            )
    names = sorted(path.name for path in _files(share))
    strange = sorted(set(names) - _own_names(share) - {*release_names, PUBLIC_REPORT})
    if strange:
        raise OutputError(
            f"{share}: holds '{strange[0]}', which is not of a release; "
            "move it away, or choose another folder with -o"
        )
    if not overwrite and (names or any(report.exists() for report in internal)):
        raise OutputError(
            f"{directory}: holds a release; replace it with --overwrite, or choose another folder with -o"
        )


def _files(folder: Path) -> Iterable[Path]:
    return folder.iterdir() if folder.is_dir() else ()


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _own_names(share: Path) -> set[str]:
    """Return the file names that the public report of an earlier release gives."""
    try:
        release = json.loads((share / PUBLIC_REPORT).read_text(encoding="utf-8"))["release"]
        paths = [release["path"]]
        if "sensitive_table" in release:
            paths.append(release["sensitive_table"]["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {Path(path).name for path in paths if isinstance(path, str)}
