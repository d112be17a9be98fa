"""The quasi-identifiers of the people in the tests of constraints that attacks measure."""

from __future__ import annotations

from typing import Any

AGE_AND_ZIP: dict[str, Any] = {
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"intervals": {"width": [5, 10, 20], "origin": 0}},
    },
    "zip": {"role": "quasi-identifier", "type": "text", "hierarchy": {"mask": {"from": "right"}}},
}
