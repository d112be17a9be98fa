"""Compiled kernels are those of their sources."""

from __future__ import annotations

from pathlib import Path
from zlib import crc32

import pytest

from anonymizer import compiled

PACKAGE = Path(compiled.__file__).parent
SOURCES = sorted(PACKAGE.rglob("kernel.c"))


def checksum() -> int:
    """Stand for the compiled function of this name."""
    return 0


def test_there_are_kernels() -> None:
    assert len(SOURCES) >= 3


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: str(source.relative_to(PACKAGE).parent))
def test_each_is_compiled_from_its_source(source: Path) -> None:
    module = source.with_suffix(".wasm")
    assert compiled.runs_compiled(module)
    found = compiled.Room(module, []).run(checksum)
    assert found == crc32(source.read_bytes()), "run python docs/make_kernel.py"
