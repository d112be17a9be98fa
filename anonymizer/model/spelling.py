"""Messages about a text that has no counterpart, but looks like one that is there."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from anonymizer.errors import suggestion
from anonymizer.model.identity import appearance, text_identity


def nearest_alike(text: str, others: Iterable[str]) -> str | None:
    """Return the first of some texts that a reader takes for a text; None if none looks like it.

    >>> nearest_alike("koln", ["Bonn", "Koln"])
    'Koln'
    """
    look = appearance(text)
    return next((other for other in others if appearance(other) == look), None)


def told_apart(text: str, other: str) -> str:
    """Return another text in quotes, with the code points that differ if you cannot see the difference.

    >>> told_apart("a", "A"), told_apart("p", "\\u0440")
    ("'A'", "'р' (U+0440 where 'p' has U+0070)")
    """
    here, there = text_identity(text), text_identity(other)
    matched = SequenceMatcher(None, here, there, autojunk=False).get_opcodes()
    changed = [(here[a:b], there[c:d]) for kind, a, b, c, d in matched if kind != "equal"]
    if all((one + two).isascii() and (one + two).isprintable() for one, two in changed):
        return f"'{other}'"
    one, two = changed[0]
    return f"'{other}' ({_code_points(two)} where '{text}' has {_code_points(one)})"


def _code_points(text: str) -> str:
    return " ".join(f"U+{ord(each):04X}" for each in text) or "nothing"


def suggested(given: str, allowed: Iterable[str]) -> str:
    """Return the end of a message like ``suggestion``; the name that looks like a text comes first.

    >>> suggested("Age", ["sex", "age"]), suggested("sx", ["sex", "age"])
    ("did you mean 'age'?", "did you mean 'sex'?")
    """
    names = list(allowed)
    alike = nearest_alike(given, names)
    return suggestion(given, names) if alike is None else f"did you mean {told_apart(given, alike)}?"
