"""Anonymize files about people: provably optimal recoding, privacy models verified on the released file.

>>> import anonymizer as an
>>> sorted(an.__all__)[:3]
['AnonymizerError', 'AuditFailed', 'Config']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from anonymizer.errors import AnonymizerError, AuditFailed, Infeasible, InputError

if TYPE_CHECKING:
    from anonymizer.api import anonymize, attack, check, compare, measure_utility
    from anonymizer.config.load import load_config
    from anonymizer.config.model import Config
    from anonymizer.model.report import Report
    from anonymizer.run.result import Result

_HOMES = {
    "Config": "anonymizer.config.model",
    "Report": "anonymizer.model.report",
    "Result": "anonymizer.run.result",
    "anonymize": "anonymizer.api",
    "attack": "anonymizer.api",
    "check": "anonymizer.api",
    "compare": "anonymizer.api",
    "load_config": "anonymizer.config.load",
    "measure_utility": "anonymizer.api",
}

__all__ = [
    "AnonymizerError",
    "AuditFailed",
    "Config",
    "Infeasible",
    "InputError",
    "Report",
    "Result",
    "anonymize",
    "attack",
    "check",
    "compare",
    "load_config",
    "measure_utility",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used, so that ``import anonymizer`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'anonymizer' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
