"""Values as they are written in a config."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

import yaml

from anonymizer.config.document import scalar
from anonymizer.config.section import plain

WIDTH = 108
"""Maximum width of a comment."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def draft_text(sections: Mapping[str, Any], reasons: Mapping[str, str]) -> str:
    """Return the text of a config that was edited.

    Parameters
    ----------
    reasons: for the roles of columns, as they were drafted.
    """
    return "".join(
        f"{line}\n" for key, section in sections.items() for line in _section(key, section, reasons)
    )


def _section(key: str, section: Any, reasons: Mapping[str, str]) -> Iterator[str]:
    if key == "attributes" and isinstance(section, Mapping):
        yield "attributes:"
        for name, settings in section.items():
            yield from comment(reasons.get(name, ""), "  ")
            yield f"  {text(str(name))}: {flow(settings)}"
    elif isinstance(section, list):
        yield f"{key}:"
        yield from (f"  - {flow(item)}" for item in section)
    else:
        yield f"{key}: {flow(section)}"


def comment(words: str, indent: str = "") -> list[str]:
    """Return lines of a comment."""
    safe = "".join(each if each.isprintable() else " " for each in words)
    return wrap(
        safe, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ", break_on_hyphens=False
    )


def flow(value: Any) -> str:
    """Return a value as YAML on one line.

    >>> flow({"role": "x", "width": [5, 0.5], "name": "a b", "yes": "null", "no": False})
    '{role: x, width: [5, 0.5], name: "a b", yes: "null", no: false}'
    """
    match plain(value):
        case Mapping() as section:
            return "{" + ", ".join(f"{text(str(key))}: {flow(item)}" for key, item in section.items()) + "}"
        case list() as items:
            return "[" + ", ".join(flow(item) for item in items) + "]"
        case str() as words:
            return text(words)
        case bool() as yes:
            return "true" if yes else "false"
        case number:
            return str(number)


def text(words: str) -> str:
    """Return a text as a YAML scalar that reads back as that text, in quotes if needed.

    >>> text("native-country"), text("1e5"), text("a: b"), text("")
    ('native-country', '"1e5"', '"a: b"', '""')
    """
    if _PLAIN.fullmatch(words) and scalar(words) == words:
        return words
    return yaml.safe_dump(words, default_style='"', allow_unicode=True, width=2**31).rstrip("\n")
