"""Data that stands beside the checkout and is never copied into it."""

from __future__ import annotations

import os
from pathlib import Path


def shared(*parts: str) -> Path:
    """Return a path in the shared folder.

    Raises
    ------
    SystemExit: it is not there.
    """
    folder = Path(os.environ.get("ANONYMIZER_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    path = folder.joinpath(*parts)
    if not path.exists():
        name = "/".join(parts)
        raise SystemExit(f"{name} is not in the shared folder; set ANONYMIZER_SHARED to where it is")
    return path
