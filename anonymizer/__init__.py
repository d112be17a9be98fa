"""Anonymize files about people: provably optimal recoding, privacy models verified on the released file.

>>> import anonymizer as an
>>> sorted(an.__all__)[:3]
['AnonymizerError', 'AuditFailed', 'Config']
"""

import importlib as _importlib
import typing as _typing

from anonymizer.errors import AnonymizerError, AuditFailed, Infeasible, InputError

if _typing.TYPE_CHECKING:
    from anonymizer.api import anonymize, attack, build_hierarchy, check, compare, init, measure_utility
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
    "build_hierarchy": "anonymizer.api",
    "check": "anonymizer.api",
    "compare": "anonymizer.api",
    "init": "anonymizer.api",
    "load_config": "anonymizer.config.load",
    "measure_utility": "anonymizer.api",
}

__all__ = [
    "AnonymizerError",
    "AuditFailed",
    "Config",
    "Draft",
    "Infeasible",
    "InputError",
    "Report",
    "Result",
    "anonymize",
    "attack",
    "build_hierarchy",
    "check",
    "compare",
    "init",
    "load_config",
    "measure_utility",
]


def __getattr__(name: str) -> _typing.Any:
    """Import a name when it is first used, so that ``import anonymizer`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'anonymizer' has no attribute '{name}'")
    return getattr(_importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return the public names, those not imported yet included."""
    return list(__all__)
