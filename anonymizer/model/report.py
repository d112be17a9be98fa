"""The report of a run: the content of report.json."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from anonymizer.model.recoding import Status


class Report:
    """The constraints, the results and their information loss, without records and small classes.

    Parameters
    ----------
    content: plain JSON types, as in the reference of report.json.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content: dict[str, Any] = _plain(content)

    @property
    def status(self) -> Status:
        """The status of the run."""
        return Status(self._content["status"])

    def to_dict(self) -> dict[str, Any]:
        """Return the content of report.json."""
        return dict(self._content)

    def to_json(self) -> str:
        """Return the text of report.json; the same content gives the same bytes."""
        return to_json(self._content)

    def __getitem__(self, key: str) -> Any:
        return self._content[key]

    def __repr__(self) -> str:
        return f"Report(status={self.status.value!r})"


def to_json(content: Any) -> str:
    """Return indented JSON; infinity becomes the string "Infinity", NaN raises ValueError."""
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def metadata_name(release: str) -> str:
    """Return where CSVW looks for the description of a file.

    >>> metadata_name("release.csv")
    'release.csv-metadata.json'
    """
    return f"{release}-metadata.json"
