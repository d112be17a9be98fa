"""Warnings of a run: texts that carry what is at stake, so that the worst is read first."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Self


class Harm(IntEnum):
    """What is at stake if nobody heeds a warning, the worst first."""

    PRIVACY = 0
    """More may be disclosed than the constraints say."""
    DATA = 1
    """The data may be misread, or of less use."""
    NOTE = 2
    """Nothing: something was tidied, or is no longer needed."""


class Warned(str):
    """The text of a warning, with its harm, and the override of a config that removes its cause, if one does.

    >>> ordered([Warned("spaces are ignored", Harm.NOTE), "a key repeats"])
    ['a key repeats', 'spaces are ignored']
    """

    harm: Harm
    override: str | None

    def __new__(cls, text: str, harm: Harm, override: str | None = None) -> Self:
        """Return a text with its harm and its remedy."""
        made = super().__new__(cls, text)
        made.harm = harm
        made.override = override
        return made

    def __getnewargs__(self) -> tuple[str, Harm, str | None]:  # type: ignore[override] # a str has one argument
        """Return what a copy is made from."""
        return str(self), self.harm, self.override


def harm_of(warning: str) -> Harm:
    """Return the harm of a warning: of one that does not say, the worst."""
    return warning.harm if isinstance(warning, Warned) else Harm.PRIVACY


def override_of(warning: str) -> str | None:
    """Return the override that removes the cause of a warning; None if none does."""
    return warning.override if isinstance(warning, Warned) else None


def with_harm(harm: Harm, warnings: Iterable[str]) -> list[str]:
    """Return warnings that all have one harm."""
    return [Warned(each, harm) for each in warnings]


def ordered(warnings: Iterable[str]) -> list[str]:
    """Return warnings by their harm, the worst first, those of one harm in the given order."""
    return sorted(warnings, key=harm_of)
