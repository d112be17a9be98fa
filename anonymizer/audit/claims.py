"""The figures of a report as claims: each compared with a recomputed value, or listed as not checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isclose, isfinite
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from anonymizer.errors import InputError
from anonymizer.loss.base import LOSS_METRICS, loss_key
from anonymizer.model.report import to_json

Key = tuple[str | int, ...]
"""The place of a figure in a report: names of keys, and positions in lists."""

INTERNAL = ("steps", "engine", "utility", "recoding_file")
"""Sections of the internal report only."""

PUBLIC_DIGITS = 3
"""Significant digits of figures in the public report, except counts."""

ABSENT = object()
"""The claim for a missing key."""

ALWAYS: Mapping[str, Sequence[str]] = {
    "": (
        "schema",
        "status",
        "interrupted",
        "warnings",
        "config",
        "attributes",
        "input",
        "release",
        "search",
        "recoding",
        "constraints",
        "loss",
        "attacks",
        "attack_matrix",
        "environment",
    ),
    "input": ("rows", "columns"),
    "release": (
        "path",
        "sha256",
        "rows",
        "suppressed_records",
        "suppressed_cells",
        "classes",
        "verified",
        "separator",
        "encoding",
    ),
    "config": (
        "input",
        "attributes",
        "constraints",
        "reference",
        "suppression",
        "algorithm",
        "objective",
        "attacks",
        "utility",
        "output",
    ),
    "search": (
        "algorithm",
        "chosen_because",
        "candidates",
        "evaluated",
        "optimal",
        "objective",
        "bound",
        "gap",
        "best_possible",
    ),
    "recoding": ("levels",),
}
"""Keys of every report; missing ones are listed as not checked."""

ALWAYS_INTERNAL: Mapping[str, Sequence[str]] = {
    "": ("engine", "utility", "steps", "seconds"),
    "config": ("budget", "engine", "seed"),
    "input": ("path", "sha256", "separator"),
    "search": ("steps", "seconds", "seed"),
}
"""Further keys of every internal report."""

OF_APPENDED = ("rows_before", "rows_added")
"""Keys of ``applied`` in the report of an appended release."""

OF_APPENDED_INTERNAL = ("report", "recoding", "batch_classes", "smallest_batch_class", "difference")
"""Further keys of ``applied`` in an internal report."""


OF_EXPOSURE = ("findings",)
"""Keys of ``exposure``, which every report has whose records fitted into memory."""

OF_EXPOSURE_INTERNAL = (
    "unit",
    "units",
    "unique",
    "below_k",
    "with_sensitive",
    "sentence",
    "acknowledged",
    "unused",
    "left_out",
    "public",
)
"""Further keys of ``exposure`` in an internal report."""


class Claims:
    """The content of a report, with the checked figures.

    A figure is checked by a call of ``compare`` or ``agree`` for its key or a section that contains it. All
    others are listed as not checked, including keys that no check knows.

    Parameters
    ----------
    content: of a report, public or internal, in plain JSON types.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.content = content
        self.internal = any(section in content for section in INTERNAL)
        self.disagreements: list[str] = []
        self._checked: set[Key] = set()
        self._missing: set[Key] = set()
        for expected in (ALWAYS, ALWAYS_INTERNAL) if self.internal else (ALWAYS,):
            for section, names in expected.items():
                self.expect((section,) if section else (), names)
        self.expect(("loss",), map(loss_key, LOSS_METRICS))
        if "exposure" in content:
            self.expect(("exposure",), (*OF_EXPOSURE, *(OF_EXPOSURE_INTERNAL if self.internal else ())))
        if "applied" in content:
            self.expect(("applied",), (*OF_APPENDED, *(OF_APPENDED_INTERNAL if self.internal else ())))

    def expect(self, section: Key, names: Iterable[str]) -> None:
        """Note the keys of a section that are missing in the report."""
        self._missing |= {key for name in names if self.get(key := (*section, name)) is ABSENT}

    def expect_all(self, key: Key, written: Any) -> None:
        """Compare a section with the form in which ``run`` writes it, including defaults."""
        claimed = self.get(key)
        if claimed is ABSENT:
            self._missing.add(key)
        elif isinstance(written, Mapping) and isinstance(claimed, Mapping):
            for name, value in written.items():
                self.expect_all((*key, name), value)
        elif isinstance(written, list) and isinstance(claimed, list) and len(written) == len(claimed):
            for position, value in enumerate(written):
                self.expect_all((*key, position), value)
        elif not agrees(claimed, written):
            self.refute(key, f"the report says {_text(claimed)}, but run writes {_text(written)}")

    def get(self, key: Key) -> Any:
        """Return the claim for a key; ``ABSENT`` if it is missing."""
        value: Any = self.content
        for part in key:
            held = isinstance(value, Mapping) and part in value
            listed = isinstance(value, list) and isinstance(part, int) and part < len(value)
            if not (held or listed):
                return ABSENT
            value = value[part]
        return value

    def section(self, key: Key) -> Mapping[str, Any]:
        """Return a section of the report, empty if it is missing."""
        value = self.get(key)
        return value if isinstance(value, Mapping) else {}

    def number(self, key: Key) -> Any:
        """Return a number of the report; None if the key is missing or has another type."""
        value = self.get(key)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def compare(self, key: Key, found: Any) -> bool:
        """Compare a claim with a found value; a hidden claim (null) is not checked.

        Returns
        -------
        Whether the claim exists and agrees.
        """
        claimed = self.get(key)
        if claimed is ABSENT:
            self._missing.add(key)
            return False
        found = as_reported(found)
        if claimed is None and found is not None:
            return False
        digits = None if self.internal else PUBLIC_DIGITS
        same = agrees(claimed, found, digits)
        if same:
            self.agree(key)
        else:
            self.refute(key, f"the report says {_text(claimed)}, found {_text(found)}")
        return same

    def agree(self, key: Key) -> None:
        """Note that a figure, or a section with all its figures, is correct."""
        if self.get(key) is ABSENT:
            self._missing.add(key)
        self._checked.add(key)

    def refute(self, key: Key, what: str) -> None:
        """Note that a figure is wrong."""
        self._checked.add(key)
        self.disagreements.append(f"{dotted_key(key)}: {what}")

    def not_checked(self) -> list[str]:
        """Return the keys that no check compared, in the order of the report; an unchecked section is one."""
        unchecked, _ = self._walk((), self.content)
        return [*map(dotted_key, unchecked), *(dotted_key(key) for key in self._lost(unchecked))]

    def _walk(self, key: Key, value: Any) -> tuple[list[Key], bool]:
        """Return the unchecked keys of a section, and whether any of its figures was checked."""
        if key in self._checked:
            return [], True
        below, some = [], False
        for part in _parts(value):
            unchecked, checked = self._walk((*key, part), self.get((*key, part)))
            below += unchecked
            some = some or checked
        return (below, True) if some else ([key], False)

    def _lost(self, unchecked: Sequence[Key]) -> Iterator[Key]:
        """Yield the missing keys outside unchecked sections; a missing section is one."""
        covered = set(unchecked)
        for key in sorted({self._first_missing(key) for key in self._missing}, key=dotted_key):
            if not any(key[:length] in covered for length in range(1, len(key) + 1)):
                yield key

    def _first_missing(self, key: Key) -> Key:
        shorter = (key[:length] for length in range(1, len(key)))
        return next((each for each in shorter if self.get(each) is ABSENT), key)


def _parts(value: Any) -> Iterator[str | int]:
    if isinstance(value, Mapping):
        yield from value
    elif isinstance(value, list):
        yield from range(len(value))


def dotted_key(key: Key) -> str:
    """Return a key in the form of messages.

    >>> dotted_key(("attacks", 2, "success"))
    'attacks[2].success'
    """
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def as_reported(found: Any) -> Any:
    """Return a found value in the JSON types of a report; infinity is the text ``Infinity``."""
    return json.loads(to_json(found))


def agrees(claimed: Any, found: Any, digits: int | None = None) -> bool:
    """Return whether a reported value agrees with a found one, up to rounding.

    A number with a fraction agrees if the found one rounds to it at ``digits`` significant digits, or at as
    many as are reported, at least two; a whole number or a text must be equal. Types must agree: neither
    ``true`` nor ``"1"`` is ``1``.

    Parameters
    ----------
    digits: significant digits of a rounded figure; None without rounding.

    >>> agrees(0.228, 0.2280701, 3), agrees(0.229, 0.2280701, 3), agrees(0.2, 0.24, 3)
    (True, False, False)
    >>> agrees(57, 57), agrees(True, 1), agrees("57", 57), agrees(12300, 12345, 3)
    (True, False, False, False)
    """
    if isinstance(claimed, Mapping) and isinstance(found, Mapping):
        return claimed.keys() == found.keys() and all(
            agrees(claimed[name], found[name], digits) for name in claimed
        )
    if isinstance(claimed, list) and isinstance(found, list):
        return len(claimed) == len(found) and all(
            agrees(one, other, digits) for one, other in zip(claimed, found, strict=True)
        )
    if _is_number(claimed) and _is_number(found):
        return _same_number(claimed, found, digits)
    return type(claimed) is type(found) and bool(claimed == found)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _same_number(claimed: float, found: float, digits: int | None) -> bool:
    if isinstance(found, int) and not isinstance(claimed, int):
        return False
    if claimed == found:
        return True
    if isinstance(found, int) or not (isfinite(claimed) and isfinite(found)):
        return False
    if digits is None:
        return isclose(claimed, found, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(claimed, int):
        return False
    shown, stable = max(2, min(_significant(claimed), digits)), float(f"{found:.12g}")
    # The public report rounds sums of floats to twelve digits first.
    return any(isclose(float(f"{stable:.{each}g}"), claimed, rel_tol=1e-12) for each in (digits, shown))


def _significant(number: float) -> int:
    """Return the number of significant digits of a number as it is written."""
    mantissa = re.sub(r"e.*", "", repr(abs(float(number))))
    return len(mantissa.replace(".", "").strip("0")) or 1


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."


Part = TypeVar("Part", bound=BaseModel)


def parse_report(model: type[Part], path: Path, content: bytes, accepted: str) -> Part:
    """Return a report as a model of the required parts.

    Parameters
    ----------
    accepted: remedy in messages about a wrong report.

    Raises
    ------
    InputError: the content is not JSON, or not the report of a release.
    """
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise InputError(f"{path}: is not JSON; {accepted}") from None
        where = ".".join(str(part) for part in first["loc"]) or "the whole file"
        what = f"is not the report of a release ('{where}' is wrong or missing)"
        raise InputError(f"{path}: {what}; {accepted}") from None
