"""From a config, algorithms and variations to the runs of a comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from anonymizer.config.load import Variation, load_config
from anonymizer.config.model import Config
from anonymizer.config.plugin_sections import AttackSettings
from anonymizer.errors import ConfigError, ConfigProblem
from anonymizer.report.comparison import IN_GROUPS, QUERY_ERROR
from anonymizer.search.base import SEARCH_ALGORITHMS

CHOOSES = "auto"
"""Picks one of the others, so that beside them it would be the same run twice."""

ATTACKS = ("vulnerability", "linkage")
"""What releases are compared by when the config lists no attacks; the first is always among them."""


@dataclass(frozen=True)
class PlannedRun:
    """One run that is to be made.

    Attributes
    ----------
    number: from 1.
    algorithm: its name.
    settings: what varies, key and value as ``--set`` takes them.
    overrides: all that differs from the config, the algorithm too.
    config: the whole config of the run, with the attacks that all runs share.
    asked: names of the attacks that risk may be measured by.
    """

    number: int
    algorithm: str
    settings: tuple[tuple[str, str], ...]
    overrides: tuple[str, ...]
    config: Config
    asked: tuple[str, ...]


def planned(
    source: Config | Mapping[str, Any] | str | Path,
    algorithms: Sequence[str],
    variations: Sequence[Variation],
) -> list[PlannedRun]:
    """Return every algorithm with every combination of varied values.

    Parameters
    ----------
    algorithms: names; none for that of the config, or all that suit it when nothing varies either.

    Raises
    ------
    ConfigError: all that is wrong with the config, or with it under some algorithm and values.
    """
    base = load_config(source)
    if base.apply is not None:
        what = "searches nothing that could be compared; remove it"
        raise ConfigError(base.source, [ConfigProblem("apply", what)])
    names = _algorithms(base, algorithms, vary=bool(variations))
    measures = _measures(base) if IN_GROUPS in names else ()
    runs: list[PlannedRun] = []
    problems: dict[tuple[str, str], ConfigProblem] = {}
    for name in names:
        for values in product(*(each.values for each in variations)):
            settings = tuple(zip((each.key for each in variations), values, strict=True))
            overrides = (*_algorithm(base, name), *(f"{key}={value}" for key, value in settings))
            try:
                config = load_config(source, (*overrides, *measures))
            except ConfigError as error:
                problems |= {(each.where, each.what): each for each in error.problems}
                continue
            asked = tuple(dict.fromkeys(each.attack for each in config.attacks)) or ATTACKS
            number = len(runs) + 1
            runs.append(PlannedRun(number, name, settings, overrides, _with_attacks(config), asked))
    if problems:
        raise ConfigError(base.source, list(problems.values()))
    return runs


def _algorithms(base: Config, asked: Sequence[str], *, vary: bool) -> Sequence[str]:
    twice = dict.fromkeys(name for place, name in enumerate(asked) if name in asked[:place])
    if twice:
        problems = [ConfigProblem(f"--algorithm {name}", "is given twice; keep one") for name in twice]
        raise ConfigError("the comparison", problems)
    if asked:
        return asked
    if vary:
        return [base.algorithm.name]
    method = base.suppression.method.value
    return [
        name for name, each in SEARCH_ALGORITHMS.items() if name != CHOOSES and method in each.suppressions
    ]


def _algorithm(base: Config, name: str) -> tuple[str, ...]:
    """Return the override that chooses an algorithm; the config's own keeps its options."""
    return () if name == base.algorithm.name else (f"algorithm={{name: {name}}}",)


def _measures(base: Config) -> tuple[str, ...]:
    """Return the override that measures the query error, which releases of every kind have."""
    listed: list[Any] = base.to_dict().get("utility", [])
    known = {each["measure"] for each in listed}
    return () if QUERY_ERROR in known else (f"utility={json.dumps([*listed, QUERY_ERROR])}",)


def _with_attacks(config: Config) -> Config:
    """Return a config whose release is attacked, by one attack at least that applies to every release."""
    listed = [each.attack for each in config.attacks]
    missing = ATTACKS if not listed else [name for name in ATTACKS[:1] if name not in listed]
    more = (AttackSettings.model_validate(name) for name in missing)
    return config.model_copy(update={"attacks": (*config.attacks, *more)})
