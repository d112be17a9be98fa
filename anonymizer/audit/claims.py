"""The figures of a report as claims: each compared with what was found, or listed as not checked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isclose, isfinite
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from anonymizer.errors import InputError
from anonymizer.model.report import to_json

Key = tuple[str | int, ...]
"""The place of a figure in a report: names of keys, and positions in lists."""

INTERNAL = ("steps", "engine", "utility", "recoding_file")
"""Sections that only the internal report has."""

PUBLIC_DIGITS = 3
"""Significant digits of the figures in the public report that are not counts."""

ABSENT = object()
"""What a report says of a key that it does not have."""

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
    "release": ("path", "sha256", "rows", "suppressed_records", "suppressed_cells", "classes", "verified"),
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
    "loss": (
        "average_class_size",
        "discernibility",
        "height",
        "loss",
        "ncp",
        "nonuniform_entropy",
        "precision",
    ),
}
"""Keys that every report has; one that is missing cannot be compared, so it is listed too."""

ALWAYS_INTERNAL: Mapping[str, Sequence[str]] = {
    "": ("engine", "utility", "steps"),
    "config": ("budget", "engine", "seed"),
    "input": ("path", "sha256", "separator"),
    "search": ("steps", "seconds", "seed"),
}
"""Keys that every internal report has beside those."""

OF_APPENDED = ("rows_before", "rows_added")
"""Keys of ``applied`` where a report has it, as that of a release with further records."""

OF_APPENDED_INTERNAL = ("report", "recoding", "batch_classes", "smallest_batch_class", "difference")
"""Keys that an internal report has there beside those."""


class Claims:
    """The content of a report, and what became of each of its figures.

    A figure is checked once ``compare`` or ``agree`` was called for it, or for a section that holds it. All
    others are not checked: a key that no check knows lists itself.

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
        if "applied" in content:
            self.expect(("applied",), (*OF_APPENDED, *(OF_APPENDED_INTERNAL if self.internal else ())))

    def expect(self, section: Key, names: Iterable[str]) -> None:
        """List the keys of a section that should be in the report and are not."""
        self._missing |= {key for name in names if self.get(key := (*section, name)) is ABSENT}

    def expect_all(self, key: Key, written: Any) -> None:
        """Compare how a section is written with how ``run`` writes it, defaults included."""
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
            self.refute(key, f"the report says {_text(claimed)}, which run writes as {_text(written)}")

    def get(self, key: Key) -> Any:
        """Return what the report says, ``ABSENT`` where it says nothing."""
        value: Any = self.content
        for part in key:
            held = isinstance(value, Mapping) and part in value
            listed = isinstance(value, list) and isinstance(part, int) and part < len(value)
            if not (held or listed):
                return ABSENT
            value = value[part]
        return value

    def section(self, key: Key) -> Mapping[str, Any]:
        """Return a section of the report, an empty one where it has none there."""
        value = self.get(key)
        return value if isinstance(value, Mapping) else {}

    def number(self, key: Key) -> Any:
        """Return a number of the report, None where it has none there."""
        value = self.get(key)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def compare(self, key: Key, found: Any) -> bool:
        """Compare what the report says with what was found; a figure that it hides is not checked.

        Returns
        -------
        Whether both are there and agree.
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
        """Note that a figure, or a section with all its figures, was found to be as reported."""
        if self.get(key) is ABSENT:
            self._missing.add(key)
        self._checked.add(key)

    def refute(self, key: Key, what: str) -> None:
        """Note that a figure is not as reported."""
        self._checked.add(key)
        self.disagreements.append(f"{dotted_key(key)}: {what}")

    def not_checked(self) -> list[str]:
        """Return the keys that no check compared, in the order of the report; a section with none is one."""
        unchecked, _ = self._walk((), self.content)
        return [*map(dotted_key, unchecked), *(dotted_key(key) for key in self._lost(unchecked))]

    def _walk(self, key: Key, value: Any) -> tuple[list[Key], bool]:
        """Return the unchecked keys in a section, and whether any figure in it was checked."""
        if key in self._checked:
            return [], True
        below, some = [], False
        for part in _parts(value):
            unchecked, checked = self._walk((*key, part), self.get((*key, part)))
            below += unchecked
            some = some or checked
        return (below, True) if some else ([key], False)

    def _lost(self, unchecked: Sequence[Key]) -> Iterator[Key]:
        """Give the missing keys that are in none of the unchecked sections."""
        covered = set(unchecked)
        for key in sorted(self._missing, key=dotted_key):
            if not any(key[:length] in covered for length in range(1, len(key) + 1)):
                yield key


def _parts(value: Any) -> Iterator[str | int]:
    if isinstance(value, Mapping):
        yield from value
    elif isinstance(value, list):
        yield from range(len(value))


def dotted_key(key: Key) -> str:
    """Return a key as messages show it.

    >>> dotted_key(("attacks", 2, "success"))
    'attacks[2].success'
    """
    text = ""
    for part in key:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def as_reported(found: Any) -> Any:
    """Return what was found in the JSON types of a report; infinite is the text ``Infinity``."""
    return json.loads(to_json(found))


def agrees(claimed: Any, found: Any, digits: int | None = None) -> bool:
    """Tell whether a reported value is the one that was found, as far as rounding lets it.

    A number with a fraction agrees when the found one rounds to it at ``digits`` significant digits, or at as
    many as are reported, at least two; a whole number or a text must be equal. Types are part of a value:
    neither ``true`` nor ``"1"`` is ``1``.

    Parameters
    ----------
    digits: significant digits of a rounded figure; None where nothing is rounded.

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
    shown, told = max(2, min(_significant(claimed), digits)), float(f"{found:.12g}")
    # Of sums of floats, the public report rounds what twelve digits tell.
    return any(isclose(float(f"{told:.{each}g}"), claimed, rel_tol=1e-12) for each in (digits, shown))


def _significant(number: float) -> int:
    """Return how many significant digits a number is written with."""
    mantissa = re.sub(r"e.*", "", repr(abs(float(number))))
    return len(mantissa.replace(".", "").strip("0")) or 1


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."


Part = TypeVar("Part", bound=BaseModel)


def parse_report(model: type[Part], path: Path, content: bytes, accepted: str) -> Part:
    """Return what somebody needs of a report.

    Parameters
    ----------
    model: what is needed.
    accepted: which reports are, for the message about another one.

    Raises
    ------
    InputError: it is not JSON, or it is no report of a release.
    """
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            raise InputError(f"{path}: is not JSON; {accepted}") from None
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise InputError(f"{path}: is no report of a release, see {where}; {accepted}") from None
