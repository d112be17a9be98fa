"""Folders of Parquet files that are one table, as Spark and others write them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path


def data_files(folder: Path) -> list[Path]:
    """Return the files of a folder and the folders in it, sorted by name; none hidden by ``_`` or ``.``."""
    names = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts)
    }
    return [names[name] for name in sorted(names)]


def is_parquet_folder(path: Path) -> bool:
    """Tell whether all in a folder is Parquet, or a folder named by the value of a column."""
    if not path.is_dir():
        return False
    inside = [each for each in path.iterdir() if not each.name.startswith(("_", "."))]
    return bool(inside) and all(
        each.name.lower().endswith(".parquet") or (each.is_dir() and "=" in each.name) for each in inside
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder that of the list which ``sha256sum`` prints of its files.

    Raises
    ------
    OSError: something cannot be read.
    """
    if not path.is_dir():
        return _sha256(path)
    files = data_files(path)
    return sha256_of_list(
        [each.relative_to(path).as_posix() for each in files], [_sha256(each) for each in files]
    )


def sha256_of_list(names: Sequence[str], hashes: Sequence[str]) -> str:
    """Return the SHA-256 of a list of files with theirs, sorted by name.

    >>> sha256_of_list(["part-00000.parquet"], ["0" * 64])[:8]
    'c25d1bfd'
    """
    lines = sorted(zip(names, hashes, strict=True))
    listed = "".join(f"{digest}  {name}\n" for name, digest in lines)
    return hashlib.sha256(listed.encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
