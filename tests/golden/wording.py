"""The words of golden runs, each recorded once with a number, by which all that print them refer to it.

A changed word in a message or in the schema of a report is one changed line of ``recorded/wording.json``:
its number stays, and so do the runs that refer to it. Figures stand with the runs; in a text ``§`` is their
place.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

FIGURE = re.compile(r"\d[\d,.]*\d|\d")
PLACE = "§"
NO_BREAK = "\u00a0"
LONGEST = 600
"""Characters of a text that is recorded as it is; of longer ones the beginning and a digest."""

ALIKE = 0.6
"""Least similarity of a text that is gone and a new one that takes its number."""


@dataclass(frozen=True)
class Lines:
    """Printed lines, or those of a text file."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Leaves:
    """The leaves of a report: figures and words with their paths, and sentences."""

    figures: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, str], ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Page:
    """The visible texts of a page by heading; with figures or, where they are of the moment, without."""

    said: tuple[tuple[str, tuple[str, ...]], ...]
    figures: bool


def digest(parts: Iterable[str]) -> str:
    """Return what is recorded of parts that are not recorded themselves."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def masked(text: str) -> tuple[str, list[str]]:
    """Return a text with places for its figures, and these."""
    template = FIGURE.sub(PLACE, text)
    if len(template) > LONGEST:
        template = f"{template[:LONGEST]}... {digest([template])}"
    return template, FIGURE.findall(text)


class Wording:
    """Texts by their numbers.

    Attributes
    ----------
    used: the texts that were referred to, in the order of their first use.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.used: dict[str, None] = {}
        self._numbers = {text: number for number, text in texts.items()}

    def number(self, template: str) -> str:
        """Return the number of a text; the text itself if it has none."""
        self.used[template] = None
        return self._numbers.get(template, f"?{template}")

    def refer(self, text: str) -> str:
        """Return the number of a text with its figures; a text that has none with a question mark."""
        template, figures = masked(text)
        number = self.number(template)
        return f"?{text.replace(' ', NO_BREAK)}" if number.startswith("?") else "|".join([number, *figures])

    def read(self, reference: str) -> str:
        """Return the text that a reference is to."""
        if reference.startswith("?"):
            return reference[1:].replace(NO_BREAK, " ")
        number, *figures = reference.split("|")
        first, *rest = self.texts.get(number, reference).split(PLACE)
        return first + "".join(map(str.__add__, figures, rest))

    def _listed(self, texts: Iterable[str]) -> str:
        return " ".join(map(self.refer, texts))

    def _read_all(self, references: str) -> list[str]:
        return list(map(self.read, references.split(" "))) if references else []

    def encoded(self, content: Any) -> Any:
        """Return an outcome as it is recorded."""
        if isinstance(content, Lines):
            return {"lines": self._listed(content.texts)}
        if isinstance(content, Leaves):
            return self._report(content)
        if isinstance(content, Page):
            return {self.refer(heading): self._section(own, content) for heading, own in content.said}
        if isinstance(content, dict):
            return {key: self.encoded(value) for key, value in content.items()}
        return [self.encoded(each) for each in content] if isinstance(content, list) else content

    def _report(self, leaves: Leaves) -> dict[str, Any]:
        figures = [f"{self.refer(path)} {value}" for path, value in leaves.figures]
        words = [f"{self.refer(path)} {self.refer(value)}" for path, value in leaves.words]
        parts: dict[str, Any] = {"numbers": digest(figures), "words": digest(words)}
        return parts | ({"sentences": self._listed(leaves.sentences)} if leaves.sentences else {})

    def _section(self, texts: Sequence[str], page: Page) -> str:
        parts = [masked(text) for text in texts]
        words = digest(self.number(template) for template, _ in parts)
        figures = digest(figure for _, own in parts for figure in own if page.figures)
        return f"words {words} numbers {figures}"

    def decoded(self, content: Any) -> Any:
        """Return what was recorded, with the texts in place of their numbers."""
        if isinstance(content, dict):
            if set(content) == {"lines"}:
                return self._read_all(content["lines"])
            return {
                self.read(key) if key[:1].isdigit() or key[:1] == "?" else key: (
                    self._read_all(value) if key == "sentences" else self.decoded(value)
                )
                for key, value in content.items()
            }
        return [self.decoded(each) for each in content] if isinstance(content, list) else content

    def learned(self, *, whole: bool) -> Wording:
        """Return the texts with those that were used and are new.

        Parameters
        ----------
        whole: whether all runs were encoded, so that a text that none used is gone.
        """
        new = [text for text in self.used if text not in self._numbers]
        gone = {text: number for text, number in self._numbers.items() if whole and text not in self.used}
        kept = {number: text for number, text in self.texts.items() if text not in gone}
        following = max(map(int, self.texts), default=0) + 1
        for text in new:
            before = difflib.get_close_matches(text, gone, 1, ALIKE) if gone else []
            if before:
                kept[gone.pop(before[0])] = text
            else:
                kept[str(following)] = text
                following += 1
        return Wording(dict(sorted(kept.items(), key=lambda each: int(each[0]))))
