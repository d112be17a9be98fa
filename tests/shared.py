"""Data that stands beside the checkout and is never copied into it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def shared(*parts: str) -> Path:
    """Return a path in the shared folder; without it, skip the test, or fail it where it is required."""
    folder = Path(os.environ.get("ANONYMIZER_SHARED") or Path(__file__).parents[2] / "shared")
    path = folder.joinpath(*parts)
    if path.exists():
        return path
    reason = f"{'/'.join(parts)} is not in the shared folder; set ANONYMIZER_SHARED to where it is"
    if os.environ.get("ANONYMIZER_REQUIRE_SHARED") == "1":
        pytest.fail(reason)
    pytest.skip(reason)
