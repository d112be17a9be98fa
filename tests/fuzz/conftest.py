"""Cases that several tests plant faults in are run once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz.__main__ import judged
from tests.fuzz.cases import Case
from tests.fuzz.planting import Ran


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Return a function that runs a case, once for all tests, and returns its folder."""
    known: dict[int, Path] = {}

    def folder(own: Case) -> Path:
        if id(own) not in known:
            known[id(own)] = tmp_path_factory.mktemp("case") / "case"
            assert judged(own, known[id(own)], Counter()) == []
        return known[id(own)]

    return folder
