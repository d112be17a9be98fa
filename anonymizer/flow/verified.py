"""What a release that was read back is: measured, attacked, and what it is good for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from anonymizer.attacks.base import AdversaryView, AttackResult
from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.flow.attack import run_attacks
from anonymizer.flow.prepare import Job
from anonymizer.flow.publication import Tables, publication_of
from anonymizer.flow.recipe import mechanism_of
from anonymizer.flow.risk import attack_written_release, in_order, violated_constraints
from anonymizer.flow.timed import Timed
from anonymizer.flow.utility import measures_of
from anonymizer.flow.verify import Audited
from anonymizer.flow.watch import RunMonitor
from anonymizer.model.classes import Released
from anonymizer.model.outcome import Outcome
from anonymizer.utility.base import UtilityFinding
from anonymizer.utility.comparison import comparison_of


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


def verified_release(
    config: Config,
    job: Job,
    relation: Relation,
    tables: Tables,
    found: tuple[Outcome, Released],
    watch: RunMonitor,
) -> Verified:
    """Measure a release that was read back, attack it, and measure what it is good for.

    Parameters
    ----------
    relation: the input.
    tables: of the release.
    found: by the search, and what it promises.

    Raises
    ------
    AuditFailed: it is not what was promised, or does not satisfy every constraint that is counted.
    """
    outcome, promised = found
    publication = publication_of(config)
    audited = publication.verify(config, job, relation, promised, tables)
    if not (job.problem.gate.constraints or config.attacks or config.utility):
        return Verified(audited)
    scene = publication.scene(config, job, promised, tables)
    measurements = in_order(job.constraints, audited.measurements, attack_written_release(job, scene))
    audited = replace(audited, measurements=measurements)
    if violated_constraints(job.constraints, measurements):
        return Verified(audited)
    return examined(config, replace(scene, recipe=mechanism_of(job.problem, outcome)), audited, watch)


def examined(config: Config, scene: AdversaryView, audited: Audited, watch: RunMonitor) -> Verified:
    """Run the attacks and take the measures of utility that the config lists."""
    attacks: list[Timed[AttackResult]] = []
    utility: list[Timed[UtilityFinding]] = []
    if config.attacks:
        watch.phase("attacking the release")
        attacks = run_attacks(config, scene)
    if config.utility:
        watch.phase("measuring what the release is good for")
        utility = measures_of(config, comparison_of(scene))
    return Verified(audited, attacks, utility)
