"""A preset: a named rule with its source, a class in a file of this room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from anonymizer.plugins import Registry
from anonymizer.presets.rules import Departure, LeastClass, Published, Rule


class Preset:
    """A named rule that a draft follows and a run is checked against.

    A class with a ``name`` in a module of this room, or in an entry point of the group
    ``anonymizer.presets``, is found without registration.

    Attributes
    ----------
    name: in configs, and of the option ``--for``.
    title: what it is, for readers.
    rules: each with its source.
    limits: what it asks that is not checked.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    rules: ClassVar[tuple[Rule, ...]]
    limits: ClassVar[str]

    @classmethod
    def least_class(cls) -> LeastClass | None:
        """Return the rule about the size of classes; None without one."""
        return next((rule for rule in cls.rules if isinstance(rule, LeastClass)), None)

    @classmethod
    def departures(cls, release: Published) -> Iterator[Departure]:
        """Yield what departs from the rules, in their order, a column once."""
        named = set()
        for rule in cls.rules:
            for each in rule.departures(release):
                if each.column is None or each.column not in named:
                    yield each
                named.add(each.column)


PRESETS: Registry[Preset] = Registry("preset", Preset, "anonymizer.presets", "anonymizer.presets")
"""Every ``Preset`` with a name."""
