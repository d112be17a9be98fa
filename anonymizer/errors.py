"""Every error that the product raises on purpose, and the category of its warnings in Python.

AnonymizerError
├── InputError            exit 2: the input, the config or the usage is wrong
│   ├── ConfigError       one or more problems in a config file
│   ├── DataError         a data file or DataFrame that cannot be read as declared
│   ├── HierarchyError    a generalization hierarchy that is not a tree over the data
│   └── OutputError       the output cannot be written as asked
├── Infeasible            exit 1: no release satisfies the constraints, or none was found in the budget
├── StdoutError           exit 1: the result cannot be written to standard output
├── AuditFailed           exit 1: the written release differs from what the search found
└── Interrupted           exit 130: stopped by the user before there was a result

AnonymizerWarning         what a release shows beyond its constraints
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from string import punctuation
from typing import Any, ClassVar, Protocol

_LONGEST = 60


class AnonymizerError(Exception):
    """Base of all errors raised on purpose; ``exit_code`` is what the command line returns."""

    exit_code: ClassVar[int] = 2


class InputError(AnonymizerError):
    """The input, the config or the usage is wrong."""


@dataclass(frozen=True)
class ConfigProblem:
    """One problem of a config: key path or column, what is wrong with the remedy, and the line if known."""

    where: str
    what: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}  {self.where}".rstrip() if self.line is not None else self.where
        return f"{place}: {self.what}" if place else self.what


class ConfigError(InputError):
    """A config with one or more problems, all of them listed in ``problems``."""

    def __init__(self, source: str, problems: Sequence[ConfigProblem]) -> None:
        self.source = source
        self.problems = tuple(problems)
        noun = "problem" if len(self.problems) == 1 else "problems"
        lines = [f"{source} has {len(self.problems)} {noun}", *(f"  {problem}" for problem in self.problems)]
        super().__init__("\n".join(lines))


class TooManyDistinctRows(InputError):
    """A search needs more distinct rows in memory than its limit allows."""


class DataError(InputError):
    """A file or DataFrame that cannot be read as the config says."""


class HierarchyError(InputError):
    """A generalization hierarchy that is not one tree over the values of its column."""


class PlugInFault(InputError):
    """A plug-in that breaks a rule of its kind, so that nothing can be decided by what it returned."""


class OutputError(InputError):
    """A release that cannot be written as asked."""


class ReportLike(Protocol):
    """The report that an error carries, ``anonymizer.Report``."""

    def to_dict(self) -> dict[str, Any]:
        """Return the content of report.json."""

    def to_json(self) -> str:
        """Return the text of report.json."""


class Infeasible(AnonymizerError):
    """No release satisfies the constraints (proven), or none was found in the budget (undecided)."""

    exit_code = 1

    def __init__(self, message: str, report: ReportLike) -> None:
        super().__init__(message)
        self.report = report


class Exposed(AnonymizerError):
    """A strict run whose release satisfies its constraints and still shows too much; nothing is released.

    Attributes
    ----------
    report: of the release that was refused.
    """

    exit_code = 1

    def __init__(self, message: str, report: ReportLike) -> None:
        super().__init__(message)
        self.report = report


class StdoutError(AnonymizerError):
    """The result cannot be written to standard output; nothing is released."""

    exit_code = 1


class AuditFailed(AnonymizerError):
    """The release, read back, differs from what the search found; nothing is released.

    Its text adds to the disagreement that nothing is released and that the program is at fault.
    """

    exit_code = 1

    def __str__(self) -> str:
        """Return the whole message; ``args`` have the disagreement only, so that a pickle reads the same."""
        return (
            f"verification failed, so nothing is released: {super().__str__()}. This is an error of the "
            "program, not of your data; please report it"
        )


class Interrupted(AnonymizerError):
    """Stopped by the user before there was a result."""

    exit_code = 130


class AnonymizerWarning(UserWarning):
    """A release that satisfies its constraints and still shows too much, or a column that nobody named.

    ``warnings.simplefilter("error", AnonymizerWarning)`` makes an error of it: an exception in place of a
    release, as with ``--strict``.
    """


def nearest(given: str, names: Iterable[str]) -> str | None:
    """Return the name that a text is or resembles; None if none is close.

    >>> nearest("hierachy", ["hierarchy", "role"]), nearest("x", ["a"])
    ('hierarchy', None)
    """
    close = get_close_matches(given, sorted(names), n=1, cutoff=0.7)
    return close[0] if close else None


def suggestion(given: str, allowed: Iterable[str]) -> str:
    """Return the end of a message: the nearest allowed name, or all of them.

    >>> suggestion("hierachy", ["hierarchy", "role"])
    "did you mean 'hierarchy'?"
    >>> suggestion("x", ["b", "a"])
    'accepted: a, b'
    >>> suggestion(";", [".", ","])
    "accepted: ',' or '.'"
    """
    names = sorted(allowed)
    close = nearest(given, names)
    if close is not None:
        return f"did you mean '{close}'?"
    if all(name in punctuation for name in names):
        return "accepted: " + " or ".join(f"'{name}'" for name in names)
    return "accepted: " + ", ".join(f'"{name}"' if "," in name else name for name in names)


def plural(count: int, one: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "record"), plural(2, "record"), plural(2, "class")
    ('1 record', '2 records', '2 classes')
    """
    return f"{count:,} {one}" + ("" if count == 1 else "es" if one.endswith("s") else "s")


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names as a list in words, with a word before the last.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    return f" {word} ".join(([", ".join(names[:-1])] if len(names) > 1 else []) + list(names[-1:]))


def shown(value: Any) -> str:
    """Return a config value for a message: as you would type it, on one line, long texts cut.

    >>> shown("k"), shown(True), shown(Decimal("1.5")), shown([1, 2])
    ("'k'", 'true', '1.5', 'a list')
    """
    match value:
        case bool():
            text = "true" if value else "false"
        case None:
            text = "nothing"
        case str():
            text = repr(value if len(value) <= _LONGEST else value[:_LONGEST] + "…")
        case int() | float() | Decimal():
            text = str(value)[:_LONGEST]
        case Mapping():
            text = "a mapping"
        case Sequence():
            text = "a list"
        case _:
            text = f"a {type(value).__name__}"
    return text


def settings_in_line(settings: Mapping[str, Any]) -> str:
    """Return the parameters of a constraint or measure in one line, lists and mappings as a config has them.

    >>> settings_in_line({"max": 0.1, "knowledge": ("age", "sex"), "at": {"share-above": 0.2}})
    'max=0.1 knowledge=[age, sex] at={share-above: 0.2}'
    """
    return " ".join(f"{key}={_in_line(value)}" for key, value in settings.items())


def format_measure(measured: Any) -> str:
    """Return a measure with four significant digits.

    >>> format_measure([5, 0.123456])
    '5, 0.1235'
    """
    if isinstance(measured, list):
        return ", ".join(map(format_measure, measured))
    return f"{measured:.4g}" if isinstance(measured, float) else str(measured)


def _in_line(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_in_line(own)}' for key, own in value.items())}}}"
    return f"[{', '.join(map(_in_line, value))}]" if isinstance(value, list | tuple) else str(value)
