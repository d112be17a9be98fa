"""Attacks and utility of a verified release: those in the config, or all that apply, each timed.

A search proven optimal reveals to an adversary who knows its config that no release of lower loss was
valid.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from zlib import crc32

import numpy as np

from anonymizer.attacks.base import ATTACKS, Attack, AttackResult
from anonymizer.errors import InputError
from anonymizer.loss.base import Maximum
from anonymizer.model.adversary import AdversaryView, MechanismKnowledge, Original, SensitiveConstraint
from anonymizer.model.outcome import Outcome
from anonymizer.plugins import Registry
from anonymizer.privacy.base import ClassConstraint
from anonymizer.privacy.conditions import CountConditions
from anonymizer.run.plan import Plan
from anonymizer.run.prepare import RunMonitor, attack_written_release, in_order, violated_constraints
from anonymizer.run.shape import Audited, Found, Shape, Tables, verify
from anonymizer.search.base import SearchProblem
from anonymizer.utility.base import UTILITY_MEASURES, Comparison, Measure, UtilityFinding
from anonymizer.utility.comparison import comparison_of


class Evaluator(Protocol):
    """An attack, or a measure of utility."""

    name: ClassVar[str]

    def missing_requirement(self, given: Any, /) -> str | None:
        """Return what it would need and is not there, None when it applies."""


PlugIn = TypeVar("PlugIn", bound=Evaluator)
Finding = TypeVar("Finding")


@dataclass(frozen=True)
class Timed(Generic[Finding]):
    """A finding with the time it took.

    Attributes
    ----------
    seconds: of the plug-in, those of its other findings included.
    """

    finding: Finding
    seconds: float


@dataclass(frozen=True)
class EvaluatorKind(Generic[PlugIn]):
    """The plug-ins of one kind.

    Attributes
    ----------
    key: of the config's list of them.
    noun: what a message calls one.
    every: all there are.
    """

    key: str
    noun: str
    every: Registry[PlugIn]

    def chosen(self, asked: Sequence[PlugIn], given: Any, config: str) -> list[PlugIn]:
        """Return those that a config asks for; where it asks for none, all that apply, with their defaults.

        Parameters
        ----------
        given: what they are to look at.
        config: what messages call it.

        Raises
        ------
        InputError: the config names one that lacks something.
        """
        if not asked:
            return [plug_in for plug_in in self._all() if plug_in.missing_requirement(given) is None]
        for position, plug_in in enumerate(asked):
            lacking = plug_in.missing_requirement(given)
            if lacking is not None:
                what = (
                    f"{plug_in.name} needs {lacking}, which is not there; give it, or remove the {self.noun}"
                )
                raise InputError(f"{config}: {self.key}[{position}]: {what}")
        return list(asked)

    def lacking(self, given: Any) -> dict[str, str]:
        """Return by name what each lacks that does not apply."""
        lacking = {plug_in.name: plug_in.missing_requirement(given) for plug_in in self._all()}
        return {name: what for name, what in lacking.items() if what is not None}

    def _all(self) -> list[PlugIn]:
        return [plug_in() for plug_in in self.every.values()]


def run_timed(
    plug_ins: Iterable[PlugIn], seed: int, look: Callable[[PlugIn, np.random.Generator], Sequence[Finding]]
) -> list[Timed[Finding]]:
    """Let plug-ins look, one after the other.

    Parameters
    ----------
    look: returns the findings of one, by its own source of randomness.
    """
    found = []
    for plug_in in plug_ins:
        started = time.monotonic()
        # Each has randomness of its own: another beside it changes nothing.
        random = np.random.default_rng([seed, crc32(plug_in.name.encode())])
        findings = look(plug_in, random)
        seconds = time.monotonic() - started
        found += [Timed(finding, seconds) for finding in findings]
    return found


ATTACKING: EvaluatorKind[Attack] = EvaluatorKind("attacks", "attack", ATTACKS)


def run_attacks(plan: Plan, scene: AdversaryView) -> list[Timed[AttackResult]]:
    """Run the attacks of a config; without any, all that apply with their defaults.

    Raises
    ------
    InputError: the config names an attack that lacks something, or a column that the release has not.
    """
    attacks = ATTACKING.chosen(plan.attacks, scene, plan.config)
    return run_timed(attacks, plan.seed, lambda attack, random: attack.run(scene, random))


def skipped_attacks(plan: Plan, scene: AdversaryView) -> dict[str, str]:
    """Return what each attack lacks that does not apply; nothing where the config says which to run."""
    return {} if plan.attacks else ATTACKING.lacking(scene)


def origin_warning(plan: Plan, scene: AdversaryView, *, force: bool) -> str | None:
    """Return how many records of a release can stem from the original; None without an original.

    A record of the release can stem from one record of the original whose values its own stand for; no two
    stem from the same one. Where the config says that rows are aligned, row i stems from row i.

    Parameters
    ----------
    force: whether an original is accepted that lacks quasi-identifiers, or that less than half of the release
        can stem from.

    Raises
    ------
    InputError: it is such an original, and not forced.
    """
    original, release = scene.original, scene.release
    if original is None:
        return None
    lacking = [f"'{name}'" for name in release.names if name not in original.names]
    if lacking and not force:
        columns = f"column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}"
        raise InputError(
            f"{original.source}: lacks the quasi-identifier {columns} of {release.source}; give the file "
            "that the release was made from, or compare by the others with --force (Python: force=True)"
        )
    if original.aligned_links is not None and any(
        getattr(each.settings, "aligned", False) for each in plan.attacks
    ):
        return f"row i of {release.source} is taken to stem from row i of {original.source} (aligned: true)"
    stemming, records = original.links.records, release.records
    if 2 * stemming < records and not force:
        raise InputError(
            f"{original.source}: only {stemming:,} of {records:,} records of {release.source} can stem from "
            f"its records; give the file that the release was made from{_if_masked(original)}, or use this "
            "one with --force (Python: force=True)"
        )
    return (
        f"{stemming:,} of {records:,} records of {release.source} can stem from a record of {original.source}"
    )


def _if_masked(original: Original) -> str:
    """Return what would do where the release has numbers that no original has, such as means."""
    masked = any((~np.isnan(each.low) & (each.sizes == 0)).any() for each in original.meanings)
    if not masked or original.aligned_links is None:
        return ""
    return ", or set aligned: true in the attacks if row i of the release is row i of the original"


def mechanism_of(problem: SearchProblem, outcome: Outcome) -> MechanismKnowledge | None:
    """Return how a release was made.

    None where something finer may have been valid and not published, or where the original combinations are
    not in memory.
    """
    recoding = outcome.recoding
    if recoding is None or recoding.levels is None or not recoding.along_hierarchies or not outcome.optimal:
        return None
    rejected = problem.table_constraints or not problem.gate.open
    unknown = problem.source is not None or isinstance(problem.metric.aggregate, Maximum)
    if problem.limit or rejected or unknown:
        return None
    own = problem.table.quasi_identifiers
    return MechanismKnowledge(
        tuple(recoding.levels),
        tuple(each.minimum for each in own),
        tuple(each.weight > 0 for each in own),
        problem.minimum_size,
        tuple(
            _promise(problem, each, each.attribute)
            for each in problem.class_constraints
            if each.attribute is not None
        ),
    )


def _promise(problem: SearchProblem, constraint: ClassConstraint, name: str) -> SensitiveConstraint:
    """Return a constraint on sensitive values, with what it asks for where that is distinct values alone."""
    if constraint.combined or constraint.model.uses_reference:
        return SensitiveConstraint(name)
    attribute = problem.table.sensitive[problem.table.sensitive_names.index(name)]
    asked = constraint.retention(attribute, None)
    if asked is None or len(asked.distinct) != 1:
        return SensitiveConstraint(name)
    (distinct,) = asked.distinct
    if _is_plain(replace(asked, smallest=1, distinct=())):
        return SensitiveConstraint(name, distinct.number, distinct.missing is None)
    return SensitiveConstraint(name)


def _is_plain(asked: CountConditions) -> bool:
    """Tell whether nothing is asked for."""
    shares = (asked.caps, asked.floors, asked.required)
    return all(each is None for each in shares) and not (
        asked.dominances or asked.entropies or asked.deviations
    )


MEASURING: EvaluatorKind[Measure] = EvaluatorKind("utility", "measure", UTILITY_MEASURES)


def measures_of(plan: Plan, comparison: Comparison) -> list[Timed[UtilityFinding]]:
    """Take the measures of a config; without any, all that apply with their defaults.

    Raises
    ------
    InputError: the config names a measure that lacks something.
    """
    measures = MEASURING.chosen(plan.utility, comparison, plan.config)
    return run_timed(measures, plan.seed, lambda measure, random: measure.measure(comparison, random))


@dataclass(frozen=True)
class Verified:
    """What was found in a release that was read back.

    Attributes
    ----------
    audited: what it is.
    attacks: what adversaries learn from it.
    utility: what it is still good for.
    """

    audited: Audited
    attacks: Sequence[Timed[AttackResult]] = ()
    utility: Sequence[Timed[UtilityFinding]] = ()


def assess(plan: Plan, shape: Shape, tables: Tables, found: Found, watch: RunMonitor) -> Verified:
    """Measure a release that was read back, attack it, and measure what it is good for.

    Parameters
    ----------
    tables: of the release.
    found: what it was made of.

    Raises
    ------
    AuditFailed: it is not what was promised, or does not satisfy every constraint that is counted.
    """
    audited, prepared = verify(shape, tables, found), found.prepared
    if not (prepared.problem.gate.constraints or plan.attacks or plan.utility):
        return Verified(audited)
    view = shape.view(tables, found)
    attacked = attack_written_release(prepared, view)
    audited = replace(audited, measurements=in_order(prepared.constraints, audited.measurements, attacked))
    if violated_constraints(prepared.constraints, audited.measurements):
        return Verified(audited)
    if shape.whole:
        view = replace(view, recipe=mechanism_of(prepared.problem, found.outcome))
    attacks: list[Timed[AttackResult]] = []
    utility: list[Timed[UtilityFinding]] = []
    if plan.attacks:
        watch.phase("attacking the release")
        attacks = run_attacks(plan, view)
    if plan.utility:
        watch.phase("measuring what the release is good for")
        utility = measures_of(plan, comparison_of(view))
    return Verified(audited, attacks, utility)
