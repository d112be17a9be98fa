"""Releases of a few words, for the tests of how they appear."""

from __future__ import annotations

import json
from pathlib import Path

from anonymizer.release.folder import ReleaseFolder

Snapshot = dict[str, bytes]


def state(directory: Path) -> Snapshot:
    """Return the content of every file by its path."""
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def stage(folder: ReleaseFolder, text: str) -> None:
    """Write a release whose files all hold the text."""
    folder.files[0].write_text(text)
    folder.public_report.write_text(json.dumps({"release": {"path": folder.names[0], "text": text}}))
    folder.internal("report.html").write_text(f"<p>{text}")
    folder.report.write_text(f"report of {text}")


def publish(directory: Path, text: str, *, overwrite: bool = False, name: str = "release.csv") -> None:
    """Publish such a release."""
    with ReleaseFolder(directory, [name], [], overwrite=overwrite) as folder:
        stage(folder, text)
        folder.commit()


def expected(text: str, name: str = "release.csv") -> Snapshot:
    """Return the state of a folder that holds such a release and nothing else."""
    return {
        f"share/{name}": text.encode(),
        "share/report.public.json": json.dumps({"release": {"path": name, "text": text}}).encode(),
        "report.html": f"<p>{text}".encode(),
        "report.json": f"report of {text}".encode(),
    }


def check_whole(directory: Path) -> None:
    """Check that the two files of share/ are of one release."""
    share = state(directory / "share")
    assert set(share) == {"release.csv", "report.public.json"}
    told = json.loads(share["report.public.json"])["release"]["text"].encode()
    assert told == share["release.csv"]
