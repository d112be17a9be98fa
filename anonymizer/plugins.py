"""Plug-ins by name: the classes in a room of the package and those of other distributions.

A class is found without registration: in a module of its room (one class, one file; others in it begin with
an underscore), in the main module of a folder of its room (``search/lattice/algorithm.py``,
``attacks/linkage/attack.py``), or in a distribution that names it in an entry point of the room's group.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from enum import StrEnum
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from itertools import pairwise
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Self, TypeAlias, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from anonymizer.errors import InputError, PlugInFault, shown, suggestion

T = TypeVar("T")


class Threat(StrEnum):
    """The aim of an adversary: what an attack measures, and what a privacy model mitigates."""

    LINKAGE = "linkage"
    RE_IDENTIFICATION = "re-identification"
    HOMOGENEITY = "homogeneity"
    BACKGROUND = "background knowledge"
    SKEWNESS = "skewness"
    SIMILARITY = "similarity"
    INFERENCE = "inference"


PACKAGE = __name__.partition(".")[0]
"""This package, whose name groups of entry points begin with."""


@cache
def _installed() -> Any:
    """Return the entry points of all distributions: files to read once."""
    return entry_points()


def plug_in_at_fault(error: BaseException) -> str | None:
    """Return the plug-in of another distribution in whose code an error arose, in words; None if in none."""
    installed = _installed()
    groups = [each for each in installed.groups if each.startswith(f"{PACKAGE}.")]
    points = [point for group in groups for point in installed.select(group=group)]
    others = {each.module.partition(".")[0]: each for each in points}
    found, trace = None, error.__traceback__
    while trace is not None:
        top = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        found = others.get(top, found) if top != PACKAGE else found
        trace = trace.tb_next
    if found is None:
        return None
    whose = f" of the distribution {found.dist.name}" if found.dist is not None else ""
    return f"plug-in '{found.name}'{whose}"


class Registry(Mapping[str, type[T]], Generic[T]):
    """The plug-ins of one kind, by their ``name``.

    Parameters
    ----------
    kind: singular noun for messages, such as "privacy model"; its last word names the main module of a
        plug-in that is a folder.
    base: the class that all of them derive from.
    package: dotted name of the room whose modules are searched.
    group: entry-point group for classes of other distributions.
    """

    def __init__(self, kind: str, base: type, package: str, group: str) -> None:
        self.kind = kind
        self._base = base
        self._package = package
        self._main = kind.rpartition(" ")[2]
        self._group = group
        self._classes: dict[str, type[T]] | None = None
        self._added = False
        self._known: dict[str, type[T]] = {}

    def _found(self) -> dict[str, type[T]]:
        if self._classes is None:
            found: dict[str, type[T]] = {}
            room = import_module(self._package)
            for each in iter_modules(room.__path__):
                module = self._module(each.name)
                for plug_in in self._in_module(module) if module else ():
                    self._enter(found, plug_in)
            for point in _installed().select(group=self._group):
                self._enter(found, self._loaded(point))
            self._classes = found
        return self._classes

    def _loaded(self, point: EntryPoint) -> type[T]:
        """Return the class of another distribution.

        Raises
        ------
        PlugInFault: it cannot be loaded, or is no plug-in of the kind.
        """
        whose = f"the distribution {point.dist.name}" if point.dist is not None else "another distribution"
        try:
            found = point.load()
        except Exception as error:
            fault = f"cannot be loaded: {type(error).__name__}: {error}"
        else:
            if inspect.isclass(found) and issubclass(found, self._base) and hasattr(found, "name"):
                return cast("type[T]", found)
            fault = f"is no {self.kind}: a subclass of {self._base.__name__} with a name is needed"
        raise PlugInFault(
            f"{self.kind} '{point.name}' of {whose} ({point.value}) {fault}; mend its entry point, or "
            "uninstall it"
        )

    def _find(self, name: object) -> type[T] | None:
        """Return a class by its name, None if there is none.

        Only the module with the class's name is imported, unless another distribution has classes in the
        group: one of them may have the same name.
        """
        if self._classes is None and isinstance(name, str):
            module = self._module(name.replace("-", "_")) if name.replace("-", "").isalnum() else None
            if name not in self._known and module:
                self._known |= {plug_in.name: plug_in for plug_in in self._in_module(module)}  # type: ignore[attr-defined]
            if name in self._known and self._alone:
                return self._known[name]
        return self._found().get(name)  # type: ignore[call-overload,no-any-return]

    def _module(self, name: str) -> str | None:
        """Return the module that may hold plug-ins: one of the room, or the main one of a folder in it."""
        module = f"{self._package}.{name}"
        spec = find_spec(module)
        if spec is not None and spec.submodule_search_locations is not None:
            module = f"{module}.{self._main}"
            spec = find_spec(module)
        return None if spec is None else module

    @cached_property
    def _alone(self) -> bool:
        """Whether no other distribution has classes in the group."""
        return not _installed().select(group=self._group)

    @property
    def of_room_only(self) -> bool:
        """Whether no class beside those of the room is known."""
        return self._alone and not self._added

    def _in_module(self, name: str) -> Iterator[type[T]]:
        for member in list(vars(import_module(name)).values()):
            own = inspect.isclass(member) and member.__module__ == name and member.__name__[0] != "_"
            if own and issubclass(member, self._base) and isinstance(getattr(member, "name", None), str):
                yield member

    def _enter(self, classes: dict[str, type[T]], plug_in: type[T]) -> None:
        name: str = plug_in.name  # type: ignore[attr-defined]
        if classes.setdefault(name, plug_in) is not plug_in:
            raise InputError(f"{self.kind} '{name}' is registered twice: {classes[name]!r} and {plug_in!r}")

    def add(self, plug_in: type[T]) -> type[T]:
        """Register a class by its ``name``; usable as a decorator.

        Raises
        ------
        InputError: another class has the name.
        """
        self._enter(self._found(), plug_in)
        self._added = True
        return plug_in

    def enlist(self, reference: str) -> str:
        """Import and register the class ``MODULE:CLASS``, and return its name.

        Raises
        ------
        InputError: there is no such class, or it is no plug-in of the kind, or another one has its name.
        """
        where, _, called = reference.partition(":")
        if not where or not called:
            raise InputError(f"'{reference}' is not a class; accepted: MODULE:CLASS, such as mine:Search")
        module = _imported(where, reference)
        found = getattr(module, called, None)
        if found is None:
            classes = [each.__name__ for each in vars(module).values() if self._is_plug_in(each)]
            hint = (
                suggestion(called, classes) if classes else f"a subclass of {self._base.__name__} is needed"
            )
            raise InputError(f"{reference}: module '{where}' has no class '{called}'; {hint}")
        if not self._is_plug_in(found) or inspect.isabstract(found):
            raise InputError(
                f"{reference}: is no {self.kind}; accepted: a subclass of {self._base.__name__} with a name "
                "and all of its methods"
            )
        name: str = found.name
        if name in self and self[name] is not found:
            raise InputError(f"{reference}: its name '{name}' is that of another {self.kind}; choose another")
        self.add(found)
        return name

    def _is_plug_in(self, found: object) -> bool:
        is_kind = inspect.isclass(found) and issubclass(found, self._base)
        return is_kind and isinstance(getattr(found, "name", None), str)

    def remove(self, name: str) -> None:
        """Remove a class, as a test does with the one it added."""
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


def _imported(where: str, reference: str) -> ModuleType:
    """Return the module of a class that a user names.

    Raises
    ------
    InputError: it cannot be imported.
    """
    try:
        return import_module(where)
    except ModuleNotFoundError as error:
        missing = error.name or where
        if f"{where}.".startswith(f"{missing}."):
            fault = f"no module '{missing}' in the current folder or among installed packages"
            remedy = f"run the command in the folder that holds {where.partition('.')[0]}.py"
        else:
            fault, remedy = f"cannot be imported: {error}", "install what it needs"
    except Exception as error:
        fault, remedy = f"cannot be imported: {type(error).__name__}: {error}", "mend the module"
    raise InputError(f"{reference}: {fault}; {remedy}")


MOST_DIGITS = 300
"""Digits of a number; a float can hold a whole number of this length."""

LONGEST_SHOWN = 60
"""Characters of a path that a message shows."""

LARGEST_EXPONENT = 400
"""Largest absolute exponent of a number; all floats are within it."""

TOO_MANY_DIGITS = (
    f"a number with too many digits; accepted: at most {MOST_DIGITS} digits, exponents from "
    f"-{LARGEST_EXPONENT} to {LARGEST_EXPONENT}; if it is text, put it in quotes"
)


def _exact(value: Any) -> Any:
    """Return a float as the shortest decimal that reads back as it: thresholds are exact decimals."""
    return Decimal(repr(float(value))) if isinstance(value, float) else value


def has_too_many_digits(number: int | Decimal) -> bool:
    """Return whether exact arithmetic with a number would take very long."""
    if isinstance(number, int):
        return bool(abs(number) >= 10**MOST_DIGITS)
    if not number.is_finite():
        return False
    return abs(number.adjusted()) > LARGEST_EXPONENT or len(number.as_tuple().digits) > MOST_DIGITS


LONGEST_NAME = 255
"""Bytes of a name in a folder, on nearly all file systems."""

LONGEST_PATH = 4095
"""Bytes of a path."""


def path_fault(path: str) -> str | None:
    """Return why a path cannot name a file, with the remedy; None if it can.

    >>> path_fault("data.csv")
    >>> path_fault("data.csv\\0")
    'holds a NUL byte; accepted: a path without one'
    """
    if "\0" in path:
        return "holds a NUL byte; accepted: a path without one"
    try:
        names = [name.encode() for name in path.split("/")]
    except UnicodeEncodeError:
        return "is not UTF-8; rename the file or folder"
    if "://" in path:  # other file systems have their own limits
        return None
    longest, size = max(map(len, names)), sum(map(len, names)) + len(names) - 1
    if longest > LONGEST_NAME:
        return f"has a name of {longest} bytes; accepted: names of at most {LONGEST_NAME} bytes"
    if size > LONGEST_PATH:
        return f"has {size} bytes; accepted: a path of at most {LONGEST_PATH} bytes"
    return None


def shortened_path(path: str) -> str:
    """Return a path for a message: on one line, a long one cut at the front."""
    return repr(path if len(path) <= LONGEST_SHOWN else f"…{path[-LONGEST_SHOWN:]}")


_ESCAPE = re.compile(r"escape|hex value", re.IGNORECASE)
_ESCAPED = re.compile(r"[\a\b\t\n\v\f\r\x1b]")

ESCAPES = (
    "in double quotes a backslash starts an escape; write a path in single quotes or with forward slashes, "
    "such as 'C:\\data\\x.csv' or C:/data/x.csv"
)


def syntax_fault(kind: str, problem: str) -> str:
    """Return the message about a syntax error, with the remedy for a backslash.

    >>> syntax_fault("TOML", "Cannot overwrite a value")
    'not valid TOML: Cannot overwrite a value'
    """
    remedy = f"; {ESCAPES}" if _ESCAPE.search(problem) else ""
    return f"not valid {kind}: {problem}{remedy}"


def usable_path(path: str) -> str:
    """Return a path unchanged.

    Raises
    ------
    ValueError: the path cannot name a file; the message gives the reason.
    """
    fault = path_fault(path)
    if fault is None and _ESCAPED.search(path):
        fault = f"holds a control character; {ESCAPES}"
    if fault is not None:
        raise ValueError(f"{shortened_path(path)} {fault}")
    return path


FilePath = Annotated[str, Field(min_length=1), AfterValidator(usable_path)]
"""A path in a config or in the parameters of a plug-in."""


def accepts(fits: Callable[[Any], Any], words: str | Callable[[Any], str]) -> AfterValidator:
    """Return the check of the value of a key.

    Parameters
    ----------
    fits: returns whether a value is accepted.
    words: what is wrong with another, and what would do; in a text, ``{value}`` stands for the value, and
        ``{shown}`` for the value as messages show it.
    """

    def checked(value: Any) -> Any:
        if not fits(value):
            named = words(value) if callable(words) else words.format(value=value, shown=shown(value))
            raise ValueError(named)
        return value

    return AfterValidator(checked)


Exact = Annotated[
    Decimal,
    BeforeValidator(_exact),
    # Also of one given as text, the powers of ten would take very long to write out.
    accepts(lambda value: not has_too_many_digits(value), lambda _: TOO_MANY_DIGITS),
    WithJsonSchema({"type": "number"}),
]
"""A number that compares exactly: 0.2 is one fifth, not the nearest binary fraction."""


def each_follows(fits: Callable[[Any, Any], Any], words: str, start: Any = None) -> AfterValidator:
    """Return the check that each item of a list fits the one before it.

    Parameters
    ----------
    words: what is wrong, and what would do; ``{before}`` and ``{after}`` stand for the two items.
    start: what the first item follows; None if it follows nothing.
    """

    def misfit(items: Iterable[Any] | None) -> tuple[Any, Any] | None:
        listed = [*([] if start is None else [start]), *(items or ())]
        return next((pair for pair in pairwise(listed) if not fits(*pair)), None)

    def said(items: Iterable[Any]) -> str:
        before, after = misfit(items) or ("", "")
        return words.format(before=before, after=after)

    return accepts(lambda items: misfit(items) is None, said)


class Rule(NamedTuple):
    """What the keys of settings must fulfil together.

    Attributes
    ----------
    broken: returns whether settings break it.
    words: what is wrong, and what would do, or returns it; in a text, ``{own.KEY}`` stands for the value of a
        key.
    at: the key that a message about a section of the config is about, or returns it; by default it is about
        the section.
    """

    broken: Callable[[Any], Any]
    words: str | Callable[[Any], str]
    at: str | Callable[[Any], str] = ""

    def said(self, own: Any) -> str:
        """Return the message about settings that break it."""
        return self.words(own) if callable(self.words) else self.words.format(own=own)

    def place(self, own: Any) -> str:
        """Return the key that the message is about."""
        return self.at(own) if callable(self.at) else self.at


def is_given(value: Any) -> bool:
    """Return whether a key was set: its value is neither None nor false."""
    return value is not None and value is not False


def exclusive(one: str, other: str) -> Rule:
    """Return the rule that at most one of two keys is set.

    >>> exclusive("aligned", "key").words
    'aligned and key exclude each other; remove one'
    """
    return Rule(
        lambda own: is_given(getattr(own, one)) and is_given(getattr(own, other)),
        f"{one} and {other} exclude each other; remove one",
    )


def ordered(low: str, high: str) -> Rule:
    """Return the rule that one number is not above another, where both are set.

    >>> ordered("min", "max").words
    'min {own.min} is above max {own.max}; accepted: min <= max'
    """
    return Rule(
        lambda own: None not in (ends := (getattr(own, low), getattr(own, high))) and ends[0] > ends[1],
        f"{low} {{own.{low}}} is above {high} {{own.{high}}}; accepted: {low} <= {high}",
    )


class Settings(BaseModel):
    """Parameters of a plug-in in the config: strict, immutable, unknown keys refused.

    Class attributes
    ----------------
    together: the rules about several keys, beside those of the classes that it derives from. The first that
        is broken is shown; in a section of the config, all of a list that are.
    """

    together: ClassVar[tuple[Rule | Sequence[Rule], ...]] = ()

    # A run uses few of these classes, so each is compiled at its first use, not when its module is imported.
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=False, allow_inf_nan=False, defer_build=True
    )

    @model_validator(mode="after")
    def _keys_go_together(self) -> Self:
        for kind in reversed(type(self).__mro__):
            for rules in vars(kind).get("together", ()):
                listed = [rules] if isinstance(rules, Rule) else rules
                broken = [(rule.said(self), rule.place(self)) for rule in listed if rule.broken(self)]
                if broken:
                    raise self._broken(broken)
        return self

    @classmethod
    def _broken(cls, said: Sequence[tuple[str, str]]) -> ValueError:
        """Return the error of broken rules, given their messages and places; plug-ins show no place."""
        return ValueError(said[0][0])


class NoSettings(Settings):
    """No parameters."""


PlugInSettings: TypeAlias = Settings
"""The same, where a plug-in's class has ``Settings`` of its own."""


class PlugIn(ABC):
    """What a config names, with its parameters.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    by_default: whether it runs where a config names none.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]] = NoSettings
    by_default: ClassVar[bool] = True

    def __init__(self, settings: PlugInSettings | None = None) -> None:
        self.settings = settings if settings is not None else self.Settings()


Requirement: TypeAlias = Callable[[Any, Any], str | None]
"""Returns what is missing in words, given a plug-in and what it is to work on; None: nothing."""


def needs(words: str, met: Callable[[Any, Any], Any]) -> Requirement:
    """Return the requirement that a plug-in has something.

    Parameters
    ----------
    words: what it needs; ``{own.settings.KEY}`` stands for the value of a key.
    met: returns whether it has it, given the plug-in and what it is to work on.
    """
    return lambda plug_in, given: None if met(plug_in, given) else words.format(own=plug_in)


class Applicable(PlugIn):
    """A plug-in that applies where its requirements are met.

    Class attributes
    ----------------
    requires: what it needs; a message names the first that is missing.
    """

    requires: ClassVar[tuple[Requirement, ...]] = ()

    def missing_requirement(self, given: Any) -> str | None:
        """Return the missing requirement as words for a message, None if the plug-in applies."""
        return next((lacking for each in self.requires if (lacking := each(self, given)) is not None), None)


def label_text(value: Any) -> Any:
    """Return a label as text: of numbers and dates, too, as in ``missing: [-9]``.

    Raises
    ------
    ValueError: the value is not a label, such as a truth value.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        raise ValueError(f"{value} is a truth value, not a text; put it in quotes")
    if isinstance(value, int | float | Decimal):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    raise ValueError(f"{shown(value)} is not a label; accepted: text or a number")


Label = Annotated[str, BeforeValidator(label_text), WithJsonSchema({"type": ["string", "number"]})]
"""The text of a cell, or the label of a group. Files of a config keep it as written."""


LARGEST_WHOLE = 10**15 - 1
"""Largest whole number of a config: times any scale of counts, it still fits 64 bits."""

BoundedInt = Annotated[int, Field(le=LARGEST_WHOLE)]
"""A whole number, or its text, as an option of a command has it."""

WholeNumber = Annotated[BoundedInt, Field(strict=True)]
"""An integer; true and 5.0 are refused."""
