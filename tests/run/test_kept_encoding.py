"""Arrays of recoding.json: the bytes that lists would give, and nothing but whole numbers comes back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, ValidationError

from anonymizer.release import recoding as encoding
from anonymizer.release.recoding import Numbers, Rows, encoded


class Kept(BaseModel):
    """Stands for what is kept."""

    numbers: Numbers
    rows: Rows


@pytest.mark.parametrize("at_once", [1, 2, 100])
@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_arrays_are_written_as_lists(at_once: int, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "AT_ONCE", at_once)
    numbers, rows = np.arange(size) - 1, np.arange(2 * size).reshape(size, 2)
    lists = {"a": numbers.tolist(), "ä": {"b": rows.tolist(), "c": [1, None, "é"], "d": {}}}
    arrays = {"a": numbers, "ä": {"b": rows, "c": [1, None, "é"], "d": {}}}
    whole = json.dumps(lists, ensure_ascii=False, separators=(",", ":")).encode()
    assert b"".join(encoded(arrays)) == whole


def test_lists_are_read_as_arrays() -> None:
    kept = Kept.model_validate_json('{"numbers": [1, -2], "rows": [[1, 2], [3, 4]]}')
    assert kept.numbers.tolist() == [1, -2]
    assert kept.rows.tolist() == [[1, 2], [3, 4]]
    assert kept.numbers.dtype == kept.rows.dtype == np.int64


@pytest.mark.parametrize(
    ("numbers", "rows"), [([1.5], []), (["x"], []), ([2**70], []), ([], [[1], [2, 3]]), ([], [1]), (3, [])]
)
def test_all_else_is_refused(numbers: Any, rows: Any) -> None:
    with pytest.raises(ValidationError):
        Kept.model_validate_json(json.dumps({"numbers": numbers, "rows": rows}))
