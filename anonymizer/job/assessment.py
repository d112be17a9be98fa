"""Attacks and utility measures of a verified release: those in the config, or all that apply, each timed.

A search proven optimal reveals to an adversary who knows its config that every release of lower loss violates
a constraint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from anonymizer.adversary.files import answers_of_files
from anonymizer.attacks.base import ATTACKS, Attack, AttackResult, marked
from anonymizer.attacks.pace import AttackStopped, Pace, follow
from anonymizer.attacks.three_questions import Answer
from anonymizer.errors import InputError, PlugInFault
from anonymizer.exposure.finding import Exposure
from anonymizer.job.clock import UNWATCHED, Phase, RunMonitor
from anonymizer.job.constraints import attack_written_release, in_order, violated_constraints
from anonymizer.job.verify import Audited, Shape, Tables, verify
from anonymizer.loss.base import Maximum
from anonymizer.model.adversary import AdversaryView, MechanismKnowledge, Original, SensitiveConstraint
from anonymizer.model.features import Feature
from anonymizer.model.recoding import Outcome
from anonymizer.people.population import open_people
from anonymizer.plan.assessment import Assessment
from anonymizer.plan.prepared import Found
from anonymizer.plugins import Registry
from anonymizer.privacy.base import ClassConstraint, CountConditions
from anonymizer.report.columns import SeenColumn
from anonymizer.report.described import DescribedColumn
from anonymizer.search.base import SearchProblem
from anonymizer.utility.base import UTILITY_MEASURES, Comparison, Measure, UtilityFinding
from anonymizer.utility.comparison import comparison_of

PlugIn = TypeVar("PlugIn", Attack, Measure)
Finding = TypeVar("Finding")


@dataclass(frozen=True)
class Timed(Generic[Finding]):
    """A finding with the time it took.

    Attributes
    ----------
    seconds: of the plug-in, for all its findings together.
    by: the plug-in.
    """

    finding: Finding
    seconds: float
    by: Any = None


@dataclass(frozen=True)
class EvaluatorKind(Generic[PlugIn]):
    """The plug-ins of one kind.

    Attributes
    ----------
    key: section of the config.
    noun: name of one in messages.
    every: all registered ones.
    """

    key: str
    noun: str
    every: Registry[PlugIn]

    def chosen(self, asked: Sequence[PlugIn], given: Any, config: str) -> list[PlugIn]:
        """Return those of a config; without any, all that apply, with their defaults.

        Parameters
        ----------
        given: the release to evaluate.
        config: its name in messages.

        Raises
        ------
        InputError: the config names one whose requirement is missing.
        """
        if not asked:
            return [plug_in for plug_in in self._all() if plug_in.missing_requirement(given) is None]
        for position, plug_in in enumerate(asked):
            lacking = plug_in.missing_requirement(given)
            if lacking is not None:
                what = f"{plug_in.name} needs {lacking}; provide this, or remove the {self.noun}"
                raise InputError(f"{config}: {self.key}[{position}]: {what}")
        return list(asked)

    def lacking(self, given: Any) -> dict[str, str]:
        """Return the missing requirement of each plug-in that does not apply, by its name."""
        lacking = {plug_in.name: plug_in.missing_requirement(given) for plug_in in self._all()}
        return {name: what for name, what in lacking.items() if what is not None}

    def _all(self) -> list[PlugIn]:
        return [plug_in() for plug_in in self.every.values() if plug_in.by_default]


def timed(
    plug_in: PlugIn, seed: int, look: Callable[[PlugIn, np.random.Generator], Sequence[Finding]]
) -> list[Timed[Finding]]:
    """Run a plug-in with its own source of randomness.

    Parameters
    ----------
    look: returns the findings of the plug-in, given that source.
    """
    started = time.monotonic()
    # Each has its own randomness, which does not depend on the other plug-ins.
    random = np.random.default_rng([seed, crc32(plug_in.name.encode())])
    findings = look(plug_in, random)
    seconds = time.monotonic() - started
    return [Timed(finding, seconds, plug_in) for finding in findings]


def run_timed(
    plug_ins: Iterable[PlugIn], seed: int, look: Callable[[PlugIn, np.random.Generator], Sequence[Finding]]
) -> list[Timed[Finding]]:
    """Run plug-ins, one after the other; parameters as for ``timed``."""
    return [each for plug_in in plug_ins for each in timed(plug_in, seed, look)]


ATTACKING: EvaluatorKind[Attack] = EvaluatorKind("attacks", "attack", ATTACKS)


class Attacked(NamedTuple):
    """An attack that was due.

    Attributes
    ----------
    name: of the attack.
    found: its results; None if the user ended the attacks before it had any.
    """

    name: str
    found: Sequence[Timed[AttackResult]] | None


def attack_in_turn(
    assessment: Assessment, view: AdversaryView, watch: RunMonitor = UNWATCHED
) -> Iterator[Attacked]:
    """Run the attacks of a config, and yield each as it ends; without any, all that apply by default.

    If the user ends them, the attack that runs and the others are yielded without results.

    Raises
    ------
    InputError: a requirement of an attack in the config is missing, or the release lacks a column.
    """
    attacks = ATTACKING.chosen(assessment.attacks, view, assessment.config)
    for number, attack in enumerate(attacks, 1):
        watch.begin(Phase.ATTACK, f"attack {attack.name} ({number} of {len(attacks)})")
        pace = Pace((attack.name, view.release.records), watch.say, watch.stopped)
        yield Attacked(
            attack.name, None if watch.stopped() else _followed(attack, view, assessment.seed, pace)
        )


def _followed(attack: Attack, view: AdversaryView, seed: int, pace: Pace) -> list[Timed[AttackResult]] | None:
    """Return the results of an attack; None if the user ends it."""
    try:
        with follow(pace):
            return timed(attack, seed, lambda own, random: marked(_results_of(own, view, random), view))
    except AttackStopped:
        return None


def _results_of(attack: Attack, view: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
    """Return the results of an attack.

    Raises
    ------
    PlugInFault: some are none, or say what no attack can reach.
    """
    results = attack.run(view, random)
    for each in results if isinstance(results, Sequence) else [results]:
        if not isinstance(each, AttackResult):
            raise PlugInFault(
                f"attack {attack.name} returned {type(each).__name__}; mend 'run': results are AttackResult"
            )
        shares = {"success": each.success, "baseline": each.baseline, "low": each.low, "high": each.high}
        for name, share in shares.items():
            # Sums of floating-point numbers may end a little above 1.
            if not -ROUNDED <= share <= 1 + ROUNDED:
                raise PlugInFault(
                    f"attack {attack.name} has {name} {float(share):g}, which is no share of its targets; "
                    "mend 'run': shares are between 0 and 1"
                )
    return results


ROUNDED = 1e-6
"""Distance from 0 and 1 that sums of shares may have."""


def unasked_attacks(view: AdversaryView, *, whole: bool) -> tuple[Attack, ...]:
    """Return the attacks of a run whose config leaves the choice to it: all that apply.

    Parameters
    ----------
    whole: whether the records are in memory.
    """
    every = (each.at_once() for each in ATTACKS.values() if each.unasked)
    able = (each for each in every if whole or Feature.OUT_OF_CORE in each.supports)
    return tuple(each for each in able if each.missing_requirement(view) is None)


def run_attacks(assessment: Assessment, view: AdversaryView) -> list[Timed[AttackResult]]:
    """Return the results of all attacks of a config; raises as ``attack_in_turn`` does."""
    return [each for attacked in attack_in_turn(assessment, view) for each in attacked.found or ()]


def skipped_attacks(assessment: Assessment, view: AdversaryView) -> dict[str, str]:
    """Return the missing requirements of attacks that do not apply; empty if the config lists attacks."""
    return {} if assessment.attacks else ATTACKING.lacking(view)


def origin_warning(assessment: Assessment, view: AdversaryView, *, force: bool) -> str | None:
    """Return how many records of a release could come from the original; None without an original.

    A record of the release could come from one record of the original if it generalizes the values of that
    record; no two stem from the same record. With ``aligned: true``, row i stems from row i.

    Parameters
    ----------
    force: whether to accept an original that lacks quasi-identifiers, or from which less than half of the
        release could come.

    Raises
    ------
    InputError: the original is of this kind, without ``force``.
    """
    original, release = view.original, view.release
    if original is None:
        return None
    lacking = [f"'{name}'" for name in release.names if name not in original.names]
    if lacking and not force:
        columns = f"column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}"
        raise InputError(
            f"{original.source}: lacks the quasi-identifier {columns} of {release.source}; give the original "
            "of the release, or compare the other columns with --force (Python: force=True)"
        )
    if original.aligned_links is not None and assessment.key is not None:
        number = original.aligned_links.records
        have = f"{number:,} of {release.records:,} records of {release.source} have"
        return f"{have} the key of a record of {original.source}"
    if original.aligned_links is not None and any(each.named.aligned for each in assessment.attacks):
        return f"row i of {release.source} is assumed to come from row i of {original.source} (aligned: true)"
    stemming, records = original.links.records, release.records
    if 2 * stemming < records and not force:
        raise InputError(
            f"{original.source}: only {stemming:,} of {records:,} records of {release.source} could come "
            f"from its records; give the original of the release{_if_masked(original)}, or use this file "
            "with --force (Python: force=True)"
        )
    share = f"{stemming:,} of {records:,} records of {release.source}"
    return f"{share} could come from a record of {original.source}"


def _if_masked(original: Original) -> str:
    """Return a further remedy if the release has numbers that no original record has, such as means."""
    masked = any((~np.isnan(each.low) & (each.sizes == 0)).any() for each in original.meanings)
    if not masked or original.aligned_links is None:
        return ""
    return ", or set aligned: true in the attacks if row i of the release is row i of the original"


def mechanism_of(problem: SearchProblem, outcome: Outcome) -> MechanismKnowledge | None:
    """Return an adversary's knowledge of how a release was made.

    None if a release of lower loss may have satisfied the constraints, or if the original distinct rows are
    not in memory.
    """
    recoding = outcome.recoding
    if recoding is None or recoding.levels is None or not recoding.along_hierarchies or not outcome.optimal:
        return None
    rejected = problem.table_constraints or not problem.gate.open or not problem.table.measure.plain
    unknown = problem.source is not None or isinstance(problem.metric.aggregate, Maximum)
    # What a finer release breaks of these, such as k-map, follows neither from sizes nor from values.
    hidden = any(each.attribute is None and not each.by_size for each in problem.class_constraints)
    if problem.limit or rejected or unknown or hidden or problem.has_scenarios:
        return None
    own = problem.table.quasi_identifiers
    return MechanismKnowledge(
        tuple(recoding.levels),
        tuple(each.minimum for each in own),
        tuple(each.weight > 0 for each in own),
        problem.minimum_size,
        tuple(
            _sensitive_constraint(problem, each, each.attribute)
            for each in problem.class_constraints
            if each.attribute is not None
        ),
    )


def _sensitive_constraint(
    problem: SearchProblem, constraint: ClassConstraint, name: str
) -> SensitiveConstraint:
    """Return a constraint on sensitive values, with its minimum of distinct values if it is nothing else."""
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
    """Return whether the conditions are empty."""
    shares = (asked.caps, asked.floors, asked.required)
    return all(each is None for each in shares) and not (
        asked.dominances or asked.entropies or asked.deviations
    )


MEASURING: EvaluatorKind[Measure] = EvaluatorKind("utility", "measure", UTILITY_MEASURES)


def measures_of(assessment: Assessment, comparison: Comparison) -> list[Timed[UtilityFinding]]:
    """Run the utility measures of a config; without any, all that apply with their defaults.

    Raises
    ------
    InputError: a requirement of a measure in the config is missing.
    """
    measures = MEASURING.chosen(assessment.utility, comparison, assessment.config)
    return run_timed(measures, assessment.seed, lambda measure, random: measure.measure(comparison, random))


@dataclass(frozen=True)
class Verified:
    """A release that was read back, with its measurements, attacks and utility.

    Attributes
    ----------
    unattacked: names of the attacks that the user ended or that were due after them.
    answers: to the three questions of European law; none without people who were held out.
    exposure: what the release shows beyond its constraints; None where it does not fit into memory.
    columns: what the recipient sees of each column of the input.
    preset: what departs from the preset of the config; None without one.
    described: what the written tables show of each of their columns; empty for DataFrames.
    """

    audited: Audited
    attacks: Sequence[Timed[AttackResult]] = ()
    utility: Sequence[Timed[UtilityFinding]] = ()
    unattacked: Sequence[str] = ()
    answers: Sequence[Answer] = ()
    exposure: Exposure | None = None
    columns: tuple[SeenColumn, ...] = ()
    preset: dict[str, Any] | None = None
    described: tuple[DescribedColumn, ...] = ()


NOT_VERIFIED = Verified(Audited(None, 0, np.zeros(0, dtype=np.int64), []))
"""Of a run without a release."""


def assess(shape: Shape, tables: Tables, found: Found, watch: RunMonitor) -> Verified:
    """Verify a release that was read back, attack it, and measure its utility.

    Parameters
    ----------
    tables: of the release.
    found: the release that the search found.

    Raises
    ------
    AuditFailed: the tables differ from it, or violate a countable constraint.
    """
    audited, prepared = verify(shape, tables, found), found.prepared
    plan = prepared.plan
    if not (
        prepared.problem.gate.constraints
        or plan.assessment.attacks
        or plan.assessment.unasked
        or plan.assessment.utility
        or plan.counting.control
    ):
        return Verified(audited)
    view = shape.view(tables, found)
    attacked = attack_written_release(prepared, view, watch.phase)
    audited = replace(audited, measurements=in_order(prepared.constraints, audited.measurements, attacked))
    if violated_constraints(prepared.constraints, audited.measurements):
        return Verified(audited)
    if shape.whole:
        view = replace(view, recipe=mechanism_of(prepared.problem, found.outcome))
    assessment = plan.assessment
    if assessment.unasked:
        in_memory = prepared.problem.source is None
        assessment = replace(assessment, attacks=unasked_attacks(view, whole=in_memory))
    attacks: list[Timed[AttackResult]] = []
    utility: list[Timed[UtilityFinding]] = []
    unattacked: list[str] = []
    # A Ctrl-C that ended the search does not end the attacks.
    earlier = watch.stopped()
    own = replace(watch, stopped=lambda: not earlier and watch.stopped())
    for each in attack_in_turn(assessment, view, own) if assessment.attacks else ():
        if each.found is None:
            unattacked.append(each.name)
            continue
        attacks += each.found
        watch.attacked([result.finding for result in each.found])
    if assessment.utility:
        watch.begin(Phase.UTILITY, "measuring utility")
        utility = measures_of(assessment, comparison_of(view))
    answers: list[Answer] = []
    if plan.counting.control is not None:
        watch.phase("the three questions, with people who were held out")
        with open_people(plan.counting.control) as others:
            original = prepared.encoded.relation
            answers = answers_of_files(plan, view, tables[0], original, others)
    return Verified(audited, attacks, utility, unattacked, answers)
