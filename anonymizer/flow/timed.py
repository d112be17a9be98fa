"""Plug-ins that look at a release: those that the config asks for, or all that apply, each timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from zlib import crc32

import numpy as np

from anonymizer.config.model import Config
from anonymizer.config.plugin_sections import PluginSection
from anonymizer.errors import InputError
from anonymizer.plugins import Registry


class Evaluator(Protocol):
    """An attack, or a measure of utility."""

    name: ClassVar[str]

    def missing_requirement(self, given: Any, /) -> str | None:
        """Return what it would need and is not there, None when it applies."""


PlugIn = TypeVar("PlugIn", bound=Evaluator)
Found = TypeVar("Found")


@dataclass(frozen=True)
class Timed(Generic[Found]):
    """A finding with the time it took.

    Attributes
    ----------
    seconds: of the plug-in, those of its other findings included.
    """

    finding: Found
    seconds: float


@dataclass(frozen=True)
class EvaluatorKind(Generic[PlugIn]):
    """The plug-ins of one kind.

    Attributes
    ----------
    key: of the config's list of them.
    noun: what a message calls one.
    every: all there are.
    """

    key: str
    noun: str
    every: Registry[PlugIn]

    def chosen(self, config: Config, given: Any) -> list[PlugIn]:
        """Return those that a config asks for; where it asks for none, all that apply, with their defaults.

        Parameters
        ----------
        given: what they are to look at.

        Raises
        ------
        InputError: the config names one that lacks something.
        """
        sections: Sequence[PluginSection] = getattr(config, self.key)
        if not sections:
            return [plug_in for plug_in in self._all() if plug_in.missing_requirement(given) is None]
        asked: list[PlugIn] = [each.build() for each in sections]
        for position, plug_in in enumerate(asked):
            lacking = plug_in.missing_requirement(given)
            if lacking is not None:
                what = (
                    f"{plug_in.name} needs {lacking}, which is not there; give it, or remove the {self.noun}"
                )
                raise InputError(f"{config.source}: {self.key}[{position}]: {what}")
        return asked

    def lacking(self, config: Config, given: Any) -> dict[str, str]:
        """Return by name what each lacks that does not apply; nothing where the config asks for some."""
        if getattr(config, self.key):
            return {}
        lacking = {plug_in.name: plug_in.missing_requirement(given) for plug_in in self._all()}
        return {name: what for name, what in lacking.items() if what is not None}

    def _all(self) -> list[PlugIn]:
        return [plug_in() for plug_in in self.every.values()]


def run_timed(
    plug_ins: Iterable[PlugIn], seed: int, look: Callable[[PlugIn, np.random.Generator], Sequence[Found]]
) -> list[Timed[Found]]:
    """Let plug-ins look, one after the other.

    Parameters
    ----------
    look: returns the findings of one, by its own source of randomness.
    """
    found = []
    for plug_in in plug_ins:
        started = time.monotonic()
        # Each has randomness of its own: another beside it changes nothing.
        random = np.random.default_rng([seed, crc32(plug_in.name.encode())])
        findings = look(plug_in, random)
        seconds = time.monotonic() - started
        found += [Timed(finding, seconds) for finding in findings]
    return found
