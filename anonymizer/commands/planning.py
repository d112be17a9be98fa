"""Several runs of one config, with other algorithms and settings: planned, and what they measured."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from anonymizer.commands.workers import RunResult
from anonymizer.config.features import suitable_algorithms
from anonymizer.config.load import Variation, load_config
from anonymizer.config.model import Config
from anonymizer.config.plugin_sections import AttackSettings
from anonymizer.errors import ConfigError, ConfigProblem
from anonymizer.model.feature_rows import Stage
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.privacy.base import WHO
from anonymizer.report.comparison import QUERY_ERROR, ComparedRun, RunStatus, measured_of
from anonymizer.search.base import SEARCH_ALGORITHMS

ATTACKS = ("vulnerability", "linkage")
"""Attacks of a comparison if the config lists none; the first is always run."""


@dataclass(frozen=True)
class PlannedRun:
    """One run of a comparison.

    Attributes
    ----------
    number: from 1.
    algorithm: its name.
    settings: keys that vary, with their values as for ``--set``.
    overrides: all differences from the config, including the algorithm.
    config: of the run, with the attacks that all runs share.
    asked: names of the attacks that may measure risk.
    limit: largest re-identification risk that the config allows, before variations; None without one.
    """

    number: int
    algorithm: str
    settings: tuple[tuple[str, str], ...]
    overrides: tuple[str, ...]
    config: Config
    asked: tuple[str, ...]
    limit: float | None = None


def risk_limit(config: Config) -> float | None:
    """Return the largest re-identification risk that the constraints of a config allow; None without one.

    Constraints about a population allow any risk to those who know that the target is in the data, and
    constraints on records any to persons, whom attacks count where the config names them. k persons in each
    class are a limit of 1/k, which an attack on persons with unequal numbers of records may exceed.
    """
    # A class of k households has k persons, but a share of households says nothing about persons.
    person = None if config.input.person is None else PERSON
    asked = [(config.unit_of(each), each.build()) for each in config.constraints]
    who = [(unit, each) for unit, each in asked if each.mitigates & WHO and not each.needs_population]
    limits = [
        float(each.allowed_success)
        for unit, each in who
        if each.allowed_success is not None and unit == person
    ]
    sizes = [
        each.k for unit, each in who if each.k is not None and (person is None or unit in (PERSON, HOUSEHOLD))
    ]
    return min([*limits, *(1 / k for k in sizes)], default=None)


@dataclass(frozen=True)
class Setting:
    """A value that some of several runs have.

    Attributes
    ----------
    key, value: as the results show them.
    override: of the config, as for ``--set``; None if it is not about the config.
    """

    key: str
    value: str
    override: str | None


def combined(variations: Sequence[Variation]) -> Iterator[tuple[Setting, ...]]:
    """Yield every combination of varied values."""
    every = (
        [Setting(each.key, value, f"{each.key}={value}") for value in each.values] for each in variations
    )
    return product(*every)


def planned(
    source: Config | Mapping[str, Any] | str | Path,
    algorithms: Sequence[str],
    combinations: Iterable[Sequence[Setting]],
) -> list[PlannedRun]:
    """Return every algorithm with every combination of settings.

    Parameters
    ----------
    algorithms: names; if empty, the config's algorithm where settings vary, or all suitable ones.

    Raises
    ------
    ConfigError: all problems of the config, or of its combination with an algorithm and values.
    """
    base = load_config(source)
    base.require(Stage.COMPARE)
    settings_of_runs = list(combinations)
    names = _algorithms(base, algorithms, vary=any(settings_of_runs))
    two_tables = any(each in SEARCH_ALGORITHMS and SEARCH_ALGORITHMS[each].in_groups for each in names)
    measures = _measures(base) if two_tables else ()
    runs: list[PlannedRun] = []
    problems: dict[tuple[str, str], ConfigProblem] = {}
    for name in names:
        for chosen in settings_of_runs:
            settings = tuple((each.key, each.value) for each in chosen)
            changes = (each.override for each in chosen if each.override is not None)
            overrides = (*_algorithm(base, name), *changes)
            try:
                config = load_config(source, (*overrides, *measures))
            except ConfigError as error:
                problems |= {(each.where, each.what): each for each in error.problems}
                continue
            asked = tuple(dict.fromkeys(each.attack for each in config.attacks or ())) or ATTACKS
            number = len(runs) + 1
            own = _with_attacks(config)
            runs.append(PlannedRun(number, name, settings, overrides, own, asked, risk_limit(base)))
    for key in () if problems else ("weights", "unit"):
        if len({getattr(run.config.objective, key) for run in runs}) > 1:
            # Means over people, over persons and over records are not on one scale.
            what = "must be equal in all runs, otherwise results are not comparable"
            problems[f"objective.{key}", what] = ConfigProblem(f"objective.{key}", what)
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
    return [name for name in suitable_algorithms(base) if not SEARCH_ALGORITHMS[name].chooses]


def _algorithm(base: Config, name: str) -> tuple[str, ...]:
    """Return the override that chooses an algorithm; the config's own keeps its options."""
    return () if name == base.algorithm.name else (f"algorithm={{name: {name}}}",)


def _measures(base: Config) -> tuple[str, ...]:
    """Return the override that measures the query error, which every kind of release has."""
    listed: list[Any] = base.to_dict().get("utility", [])
    known = {each["measure"] for each in listed}
    return () if QUERY_ERROR in known else (f"utility={json.dumps([*listed, QUERY_ERROR])}",)


def _with_attacks(config: Config) -> Config:
    """Return a config with at least one attack that applies to every release."""
    own = config.attacks or ()
    listed = [each.attack for each in own]
    missing = ATTACKS if not listed else [name for name in ATTACKS[:1] if name not in listed]
    more = (AttackSettings.model_validate(name) for name in missing)
    return config.model_copy(update={"attacks": (*own, *more)})


def compared(run: PlannedRun, result: RunResult) -> ComparedRun:
    """Return a planned run with its result."""
    satisfied = result.status is RunStatus.SATISFIED and result.report is not None
    return ComparedRun(
        run.number,
        run.algorithm,
        run.settings,
        run.overrides,
        result.status,
        result.seconds,
        result.reason,
        _bound_on_loss(result.report),
        measured_of(result.report) if satisfied and result.report is not None else None,
        risk_limit(run.config),
    )


PLAIN_LOSS = {"metric": "loss", "aggregate": "arithmetic-mean"}
"""The objective that a comparison calls loss."""


def _bound_on_loss(report: Mapping[str, Any] | None) -> float | None:
    """Return the lower bound on the loss; None for another objective, whose bound is not comparable."""
    if report is None or not report["config"]["objective"].items() >= PLAIN_LOSS.items():
        return None
    bound = report["search"]["bound"]
    return float(bound) if isinstance(bound, int | float) else None
