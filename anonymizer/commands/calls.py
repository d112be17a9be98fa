"""What a call from Python is given, checked before the work begins: one message, with what to do.

Each check is by the name of the argument, which means the same in every call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from decimal import Decimal
from functools import wraps
from numbers import Integral, Real
from pathlib import PurePath
from typing import Any, ParamSpec, TypeVar

from anonymizer.commands.frame import Result
from anonymizer.config.model import Config
from anonymizer.config.section import keys
from anonymizer.errors import InputError, nearest, shown, suggestion

P = ParamSpec("P")
R = TypeVar("R")

MEANT = {
    "identifiers": "identifier",
    "quasi_identifiers": "qi",
    "quasi_identifier": "qi",
    "sensitive_attributes": "sensitive",
    "suppression": "limit",
    "suppression_limit": "limit",
}
"""Names that others use for an argument, by which ``nearest`` does not find it."""


def checked_call(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function refuse wrong arguments by an ``InputError`` that says what to do."""
    signature = inspect.signature(function)

    @wraps(function)
    def checked(*given: P.args, **named: P.kwargs) -> R:
        call = function.__name__
        _check_names(call, signature, named)
        try:
            arguments = signature.bind(*given, **named).arguments
        except TypeError as error:
            raise InputError(f"{call}: {error}; call {_usage(call, signature)}") from None
        _check_order(call, signature, arguments)
        for name, value in arguments.items():
            fault = ACCEPTED[name](value) if name in ACCEPTED else None
            if fault is not None:
                raise InputError(f"{call}: {name}: {fault}")
        return function(*given, **named)

    return checked


def _check_names(call: str, signature: inspect.Signature, named: Iterable[str]) -> None:
    """Refuse a name that the function does not have."""
    own = signature.parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in own.values()):
        return
    for name in named:
        if name in own:
            continue
        meant = MEANT.get(name, name)
        if meant in own:
            remedy = f"did you mean '{meant}'?"
        elif name in keys(Config) and "config" in own and nearest(name, own) is None:
            remedy = "it is a key of the config: change it there, or in a draft by an.init(df, qi=[...])"
        else:
            remedy = suggestion(name, own)
        raise InputError(f"{call}: no argument '{name}'; {remedy}")


def _usage(call: str, signature: inspect.Signature) -> str:
    """Return a call with the arguments that have no names."""
    by_place = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    names = [name for name, each in signature.parameters.items() if each.kind in by_place]
    return f"{call}({', '.join(names)}{', ...' if len(names) < len(signature.parameters) else ''})"


def _check_order(call: str, signature: inspect.Signature, arguments: Mapping[str, Any]) -> None:
    """Refuse a config in place of records, and records in place of a config."""
    for name, value in arguments.items():
        if name in FRAMES and isinstance(value, Result):
            raise InputError(f"{call}: {name} is a result; pass its records, result.data")
        found, needed = None, "the records"
        if name in FRAMES and _is_config(value, _has_records(arguments.get("config"))):
            found = "a config"
        elif name == "config" and _has_records(value):
            found, needed = f"a {type(value).__name__}", "a config: a mapping, a path or an an.Config"
        if found is not None:
            usage = _usage(call, signature)
            raise InputError(f"{call}: {name} is {found}, but needs to be {needed}; call {usage}")


def _is_config(value: Any, swapped: bool) -> bool:
    """Return whether a value is a config; a path is one only where a config is something else."""
    if isinstance(value, str | PurePath):
        return swapped
    return isinstance(value, Config) or (isinstance(value, Mapping) and "attributes" in value)


def _has_records(value: Any) -> bool:
    """Return whether a value is a DataFrame, or a result that has one."""
    if isinstance(value, Config | Mapping | str | PurePath):
        return False
    exchanged = ("__arrow_c_stream__", "__dataframe__", "__narwhals_dataframe__")
    return isinstance(value, Result) or any(hasattr(value, name) for name in ("columns", *exchanged))


FRAMES = frozenset({"df", "release_df", "original_df", "second_df", "control_df", "sensitive_table"})
"""Arguments that are records."""


def _names(given: Any) -> str | None:
    """Return what is wrong with a list of names."""
    if isinstance(given, str):
        # It would count as a list of its letters.
        return f"'{given}'; accepted: a list of names, such as ['{given}']"
    if isinstance(given, Mapping) or not isinstance(given, Collection):
        return f"{shown(given)}; accepted: a list of names, such as ['age', 'sex']"
    strange = [each for each in given if not isinstance(each, str)]
    return f"{shown(strange[0])} in the list; accepted: names of columns, as texts" if strange else None


def _name(given: Any) -> str | None:
    """Return what is wrong with one name, or None for none."""
    return None if given is None or isinstance(given, str) else f"{shown(given)}; accepted: one name, a text"


def _count(given: Any) -> str | None:
    """Return what is wrong with a number of records or values."""
    if given is None or (isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 1):
        return None
    near = isinstance(given, Real) and 1 < float(given) < 2**31
    rounded = round(float(given)) if near else 5
    return f"{shown(given)}; accepted: a whole number from 1, such as {rounded}"


def _share(given: Any) -> str | None:
    """Return what is wrong with a share."""
    number = isinstance(given, Real | Decimal) and not isinstance(given, bool)
    if given is None or (number and 0 <= given <= 1):
        return None
    return f"{shown(given)}; accepted: a number from 0 to 1, such as 0.2"


def _values(given: Any) -> str | None:
    """Return what is wrong with the values of a column."""
    right = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    return None if right else f"{shown(given)}; accepted: the values of a column, such as df['age']"


def _flag(given: Any) -> str | None:
    return None if isinstance(given, bool) else f"{shown(given)}; accepted: True or False"


def _path(given: Any) -> str | None:
    return None if given is None or isinstance(given, str | PurePath) else f"{shown(given)}; accepted: a path"


def _variations(given: Any) -> str | None:
    """Return what is wrong with keys of a config and the values to try for each."""
    form = "such as {'constraints.0.k': [2, 5]}"
    if given is None:
        return None
    if not isinstance(given, Mapping):
        return f"{shown(given)}; accepted: a mapping of keys and lists, {form}"
    for key, values in given.items():
        if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
            return f"'{key}': {shown(values)}; accepted: a list of values, {form}"
    return None


ACCEPTED: Mapping[str, Callable[[Any], str | None]] = {
    **dict.fromkeys(("qi", "quasi_identifiers", "sensitive", "identifier", "drop", "algorithms"), _names),
    **dict.fromkeys(("k", "l"), _count),
    **dict.fromkeys(("t", "limit", "max_risk"), _share),
    **dict.fromkeys(("force", "overwrite"), _flag),
    **dict.fromkeys(("path", "folder", "report"), _path),
    "person": _name,
    "preset": _name,
    "values": _values,
    "vary": _variations,
}
"""Return what is wrong with an argument, by its name."""
