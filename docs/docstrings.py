"""Lets the reference read the docstrings of this project: underlined sections of ``name: text`` lines."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_KNOWN = {
    "Parameters": "Args",
    "Attributes": "Attributes",
    "Returns": "Returns",
    "Raises": "Raises",
    "Yields": "Yields",
}


def in_google_style(text: str) -> str:
    """Return a docstring whose sections are indented below their name, as readers of docstrings want."""
    head, *parts = _SECTION.split(text)
    found = [head.rstrip()]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        lines = "\n".join(f"    {line}".rstrip() for line in body.strip("\n").splitlines())
        found.append(f"{_KNOWN.get(title, title)}:\n{lines}")
    return "\n\n".join(found) + "\n"


class Underlined(Extension):
    """Rewrites every docstring before it is read."""

    def on_instance(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = in_google_style(obj.docstring.value)
