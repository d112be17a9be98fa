"""Plug-ins by name: the classes in a room of the package and those of other distributions.

A class takes part by being there. It is found when it stands in a module of its room (one class, one file) or
when another distribution names it in an entry point of the room's group.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Generic, TypeVar

from anonymizer.errors import InputError, suggestion

T = TypeVar("T")


class Registry(Mapping[str, type[T]], Generic[T]):
    """The plug-ins of one kind, by their ``name``.

    Parameters
    ----------
    kind: what a message calls one of them, such as "privacy model".
    base: the class that all of them derive from.
    package: dotted name of the room whose modules are searched.
    group: entry-point group for classes of other distributions.
    """

    def __init__(self, kind: str, base: type, package: str, group: str) -> None:
        self.kind = kind
        self._base = base
        self._package = package
        self._group = group
        self._classes: dict[str, type[T]] | None = None
        self._known: dict[str, type[T]] = {}

    def _found(self) -> dict[str, type[T]]:
        if self._classes is None:
            found: dict[str, type[T]] = {}
            room = import_module(self._package)
            for module in iter_modules(room.__path__):
                for plug_in in self._in_module(f"{self._package}.{module.name}"):
                    self._enter(found, plug_in)
            for point in entry_points(group=self._group):
                self._enter(found, point.load())
            self._classes = found
        return self._classes

    def _find(self, name: object) -> type[T] | None:
        """Return a class by its name, None if there is none.

        A module that is called like its class is all that has to be imported, unless another distribution
        has classes in the group, one of which may have the same name.
        """
        if self._classes is None and isinstance(name, str):
            module = f"{self._package}.{name.replace('-', '_')}"
            if name not in self._known and name.replace("-", "").isalnum() and find_spec(module):
                self._known |= {plug_in.name: plug_in for plug_in in self._in_module(module)}  # type: ignore[attr-defined]
            if name in self._known and self._alone:
                return self._known[name]
        return self._found().get(name)  # type: ignore[call-overload,no-any-return]

    @cached_property
    def _alone(self) -> bool:
        """Whether no other distribution has classes in the group."""
        return not entry_points(group=self._group)

    def _in_module(self, name: str) -> Iterator[type[T]]:
        for member in list(vars(import_module(name)).values()):
            own = inspect.isclass(member) and member.__module__ == name
            if own and issubclass(member, self._base) and isinstance(getattr(member, "name", None), str):
                yield member

    def _enter(self, classes: dict[str, type[T]], plug_in: type[T]) -> None:
        name: str = plug_in.name  # type: ignore[attr-defined]
        if classes.setdefault(name, plug_in) is not plug_in:
            raise InputError(f"{self.kind} '{name}' is registered twice: {classes[name]!r} and {plug_in!r}")

    def add(self, plug_in: type[T]) -> type[T]:
        """Make a class known by its ``name``; usable as a decorator.

        Raises
        ------
        InputError: another class has the name.
        """
        self._enter(self._found(), plug_in)
        return plug_in

    def remove(self, name: str) -> None:
        """Forget a class, as a test does with the one it added."""
        del self._found()[name]

    def __getitem__(self, name: str) -> type[T]:
        found = self._find(name)
        if found is None:
            raise InputError(f"unknown {self.kind} '{name}'; {suggestion(name, self)}")
        return found

    def __contains__(self, name: object) -> bool:
        return self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._found()))

    def __len__(self) -> int:
        return len(self._found())
