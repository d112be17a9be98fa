"""Codes cut to their first characters, with the codes of small areas as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from anonymizer.hierarchy.source import HierarchySource, Tree, tree_of_rows
from anonymizer.model.table import Column
from anonymizer.plugins import BoundedInt, Label, Rule, Settings, each_follows


class PrefixSettings(Settings):
    """How many characters each level keeps, and what becomes of small areas."""

    lengths: Annotated[
        tuple[BoundedInt, ...],
        Field(
            min_length=1,
            description="First characters that levels 1, 2, ... keep: descending. A last level * follows.",
        ),
        each_follows(
            lambda before, after: 1 <= after < before,
            "{after}; accepted: descending numbers of characters from 1",
            start=10**9,
        ),
    ]
    merge: dict[Label, tuple[Label, ...]] = Field(
        default_factory=dict,
        description="Areas that are too small, by the label that they get: beginnings of codes of at most "
        "as many characters as the last level keeps.",
    )
    digits: tuple[BoundedInt, ...] = Field(
        default=(),
        description="Lengths of codes of digits: shorter ones lost zeros at the left, which are restored in "
        "the labels.",
    )

    @property
    def shortest(self) -> int:
        """How many characters the last level keeps."""
        return self.lengths[-1]

    @property
    def _wide(self) -> list[str]:
        """The beginnings of small areas that no level keeps."""
        return [each for areas in self.merge.values() for each in areas if len(each) > self.lengths[-1]]

    @property
    def _ambiguous(self) -> list[str]:
        """The labels of small areas that could be the beginning of another code."""
        if not self.lengths[1:]:
            return []
        return [label for label in self.merge if self.lengths[-1] < len(label) <= self.lengths[0]]

    together = (
        Rule(
            lambda own: own._wide,
            "merge: '{own._wide[0]}' has more characters than a level keeps; accepted: at most "
            "{own.shortest}",
        ),
        Rule(
            lambda own: own._ambiguous,
            "merge: '{own._ambiguous[0]}' could be the beginning of another code; accepted: a label of at "
            "most {own.shortest} or more than {own.lengths[0]} characters",
        ),
    )


class PrefixSource(HierarchySource[PrefixSettings]):
    """Level i publishes the first characters of a code, or the label of small areas that begin with them."""

    name: ClassVar[str] = "prefixes"
    Settings = PrefixSettings
    rule_built = True
    fixed_height = True
    content = "codes cut to their first characters"
    by_level = "lengths"

    def depends_on(self, column: Column) -> dict[str, Any]:  # noqa: ARG002 - on none
        """Return nothing: the settings decide."""
        return {}

    def covers(self, label: str, text: str, column: Column) -> bool:  # noqa: ARG002 - the settings decide
        """Return whether a label is that of a code at some level."""
        return any(label == self._label(text, length) for length in self.settings.lengths)

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:  # noqa: ARG002
        """Return the levels that keep as many characters as all texts have, small areas apart."""
        lengths = self.settings.lengths
        if not texts:
            return frozenset({len(lengths) + 1})
        own = [text for text in texts if text not in self.settings.merge]
        levels = {level for level, each in enumerate(lengths, 1) if all(len(text) == each for text in own)}
        return frozenset(levels | ({0} if len(own) == len(texts) else set()))

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - nothing is read
        """Return the tree of the column's codes."""
        levels = [[self._label(text, length) for text in column.present] for length in self.settings.lengths]
        return tree_of_rows([column.present, *levels])

    def _label(self, text: str, length: int) -> str:
        """Return the label of a code at the level that keeps some characters."""
        plain = self._restored(text.strip())
        merged = self._merged
        small = (plain[:own] for own in range(length, 0, -1))
        return next((merged[each] for each in small if each in merged), plain[:length])

    def _restored(self, text: str) -> str:
        """Return a code of digits with the zeros that it lost; one that begins with 0 lost none."""
        if not (text.isascii() and text.isdigit()) or text.startswith("0"):
            return text
        full = next((each for each in sorted(self.settings.digits) if each >= len(text)), len(text))
        return text.zfill(full)

    @cached_property
    def _merged(self) -> Mapping[str, str]:
        """The label of each small area."""
        return {each: label for label, areas in self.settings.merge.items() for each in areas}
