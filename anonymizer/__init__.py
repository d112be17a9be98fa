"""Anonymize files about people: provably optimal recoding, privacy models verified on the released file.

>>> import anonymizer as an
>>> sorted(an.__all__)[:3]
['AnonymizerError', 'AnonymizerWarning', 'AuditFailed']
"""

import importlib as _importlib
import sys as _sys
import types as _types
import typing as _typing

from anonymizer.errors import AnonymizerError, AnonymizerWarning, AuditFailed, Infeasible, InputError

if _typing.TYPE_CHECKING:
    from anonymizer.api import (
        anonymize,
        attack,
        audit,
        build_hierarchy,
        check,
        compare,
        init,
        measure_utility,
        run,
    )
    from anonymizer.commands.frame import Result
    from anonymizer.commands.init import Draft
    from anonymizer.config.load import load_config
    from anonymizer.config.model import Config
    from anonymizer.model.report import Report

_HOMES = {
    "Config": "anonymizer.config.model",
    "Draft": "anonymizer.commands.init",
    "Report": "anonymizer.model.report",
    "Result": "anonymizer.commands.frame",
    "anonymize": "anonymizer.api",
    "attack": "anonymizer.api",
    "audit": "anonymizer.api",
    "build_hierarchy": "anonymizer.api",
    "check": "anonymizer.api",
    "compare": "anonymizer.api",
    "init": "anonymizer.api",
    "load_config": "anonymizer.config.load",
    "measure_utility": "anonymizer.api",
    "run": "anonymizer.api",
}

__all__ = [
    "AnonymizerError",
    "AnonymizerWarning",
    "AuditFailed",
    "Config",
    "Draft",
    "Infeasible",
    "InputError",
    "Report",
    "Result",
    "anonymize",
    "attack",
    "audit",
    "build_hierarchy",
    "check",
    "compare",
    "init",
    "load_config",
    "measure_utility",
    "run",
]


def __getattr__(name: str) -> _typing.Any:
    """Import a name when it is first used, so that ``import anonymizer`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'anonymizer' has no attribute '{name}'")
    return getattr(_importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, those not imported yet included."""
    return list(__all__)


class _Package(_types.ModuleType):
    """This package, in which a room does not hide the function of its name, such as ``audit``."""

    def __setattr__(self, name: str, value: _typing.Any) -> None:
        if name not in _HOMES or not isinstance(value, _types.ModuleType):
            super().__setattr__(name, value)


_sys.modules[__name__].__class__ = _Package
