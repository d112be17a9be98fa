"""The main job: from a config and a file to a verified release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.core.outcome import Outcome, Status
from anonymizer.core.released import Released, released
from anonymizer.core.report import Report
from anonymizer.engines.base import Relation
from anonymizer.errors import AuditFailed, Infeasible
from anonymizer.flow.attack import Attacked, run_attacks
from anonymizer.flow.attributes import describe_attributes, hierarchy_files
from anonymizer.flow.constraints import positions
from anonymizer.flow.diagnose import Diagnosis, Diagnostician, explanation
from anonymizer.flow.prepare import Job, engine_options, input_path, open_as, open_release, prepare
from anonymizer.flow.recipe import recipe_of
from anonymizer.flow.risk import attacked_again, broken, in_order
from anonymizer.flow.scene import scene_of_run
from anonymizer.flow.verify import Audited, auditing, verify
from anonymizer.flow.watch import UNWATCHED, Watch
from anonymizer.flow.weights import weight_columns
from anonymizer.loss.all_metrics import all_losses
from anonymizer.release.order import ROW_ORDERS
from anonymizer.release.publish import ReleaseFolder
from anonymizer.release.write import project, write_release
from anonymizer.report.attacks import attack_entry
from anonymizer.report.build import InputFacts, ReleaseFacts, ReportParts, SearchFacts, build_report
from anonymizer.report.matrix import attack_matrix
from anonymizer.report.public import public_report
from anonymizer.search.control import Control
from anonymizer.search.local_recoding.bound import best_possible

DIAGNOSIS_SECONDS = 20.0
"""Longest time for finding out why there is no release, when the config sets no budget."""


@dataclass(frozen=True)
class Verified:
    """What was found in a release that was read back.

    Attributes
    ----------
    audited: what it is.
    attacks: what adversaries learn from it.
    """

    audited: Audited
    attacks: Sequence[Attacked]


def run(config: Config, directory: Path, *, overwrite: bool = False, watch: Watch = UNWATCHED) -> Report:
    """Search, write a release into a folder, read it back, and report.

    Parameters
    ----------
    directory: gets share/ with the release and its public report, and report.json beside it.
    overwrite: whether an earlier release there may be replaced.

    Raises
    ------
    InputError: the config, the input or the output folder is not as it should be.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the written file is not what the search promised.
    """
    path = input_path(config)
    with (
        ReleaseFolder(directory, config.output.path, _files_read(config), overwrite=overwrite) as folder,
        _watched_open(config, path, watch) as relation,
    ):
        job = prepare(config, relation)
        facts = InputFacts(
            config.input.path, relation.sha256, relation.rows, len(relation.columns), relation.separator
        )

        def publish(outcome: Outcome, promised: Released) -> Verified:
            return _write_and_verify(config, job, relation, (outcome, promised), folder, watch)

        outcome, promised, verified = search_until_it_stands(config, job, facts, watch, publish)
        release = release_facts(f"share/{config.output.path}", promised, verified.audited)
        report = build_report(
            report_parts(config, job, outcome, facts, release, verified, all_losses(promised))
        )
        folder.public_report.write_text(public_report(report, job.problem.k).to_json(), encoding="utf-8")
        folder.report.write_text(report.to_json(), encoding="utf-8")
        folder.commit()
    return report


def _files_read(config: Config) -> list[Path]:
    """Return every file that a run reads, none of which its output may replace."""
    own = [Path(config.source)] if Path(config.source).is_file() else []
    return [input_path(config), *hierarchy_files(config), *own]


def _watched_open(config: Config, path: Path, watch: Watch) -> Relation:
    watch.phase(f"reading {path.name}")
    return open_as(config, path)


def search_until_it_stands(
    config: Config,
    job: Job,
    facts: InputFacts,
    watch: Watch,
    publish: Callable[[Outcome, Released], Verified],
) -> tuple[Outcome, Released, Verified]:
    """Search and publish; where the audit's attackers break the release, go on without that candidate.

    Parameters
    ----------
    publish: writes a release and reads it back; asked again, it replaces what it wrote.

    Raises
    ------
    Infeasible: nothing is left that satisfies every constraint, or nothing was found in the budget.
    AuditFailed: a release is not what the search promised, or was refused before.
    """
    control = control_of(config, watch)
    while True:
        outcome = search(config, job, watch, control)
        if outcome.recoding is None:
            raise refusal(config, job, outcome, facts, watch)
        if job.problem.gate.refused(outcome.recoding):
            raise AuditFailed(f"{config.algorithm.name} proposes again what attackers broke in the audit")
        promised = released(outcome.recoding, job.problem.k)
        verified = publish(outcome, promised)
        names = broken(job.constraints, verified.audited.measurements)
        if not names:
            return outcome, promised, verified
        job.problem.gate.refuse(outcome.recoding, names)


def control_of(config: Config, watch: Watch) -> Control:
    """Return the budget of a config, which begins now."""
    budget = config.budget
    return Control(budget.seconds, budget.nodes, budget.steps, watch.stopped, watch.progress)


def search(config: Config, job: Job, watch: Watch, control: Control | None = None) -> Outcome:
    """Run the search of a config within its budget.

    Parameters
    ----------
    control: the budget, None for one that begins now.
    """
    watch.phase("searching")
    control = control_of(config, watch) if control is None else control
    outcome: Outcome = config.algorithm.build().search(job.problem, control)
    if (
        outcome.recoding is None
        or not outcome.recoding.along_hierarchies
        or outcome.best_possible is not None
    ):
        return outcome
    watch.phase("bounding what is possible")
    return replace(outcome, best_possible=best_possible(job.problem, watch.stopped))


def released_columns(config: Config, relation: Relation) -> list[str]:
    """Return the columns of the release, in the order of the input: all but the identifiers."""
    return [name for name in relation.columns if config.attributes[name].role is not Role.IDENTIFIER]


def _write_and_verify(
    config: Config,
    job: Job,
    relation: Relation,
    found: tuple[Outcome, Released],
    folder: ReleaseFolder,
    watch: Watch,
) -> Verified:
    outcome, promised = found
    columns = released_columns(config, relation)
    watch.phase("writing")
    projection = project(relation, job.combination, promised.recoding, columns)
    write_release(relation, projection, folder.release, ROW_ORDERS[config.output.order.value])
    watch.phase("reading back and verifying")
    with auditing(), open_release(folder.release, engine_options(config)) as release:
        return verified_release(config, job, relation, release, (outcome, promised), watch)


def verified_release(
    config: Config,
    job: Job,
    relation: Relation,
    release: Relation,
    found: tuple[Outcome, Released],
    watch: Watch,
) -> Verified:
    """Measure a release that was read back, and attack it.

    Parameters
    ----------
    relation: the input.

    Raises
    ------
    AuditFailed: it is not what was promised, or does not satisfy every constraint that is counted.
    """
    outcome, promised = found
    audited = verify(release, relation, job, promised, released_columns(config, relation))
    attacked = attacked_again(config, job, promised.recoding, release)
    audited = replace(audited, measurements=in_order(job.constraints, audited.measurements, attacked))
    if broken(job.constraints, audited.measurements):
        return Verified(audited, ())
    return Verified(audited, attacks_of_run(config, job, outcome, release, watch))


def attacks_of_run(
    config: Config, job: Job, outcome: Outcome, release: Relation, watch: Watch
) -> list[Attacked]:
    """Run the attacks that the config lists on a release that was read back."""
    if not config.attacks or outcome.recoding is None:
        return []
    watch.phase("attacking the release")
    scene = scene_of_run(config, job, outcome.recoding, release, weight_columns(config))
    return run_attacks(config, replace(scene, recipe=recipe_of(job.problem, outcome)))


def release_facts(name: str | None, promised: Released, audited: Audited) -> ReleaseFacts:
    """Return what the report says of a verified release."""
    return ReleaseFacts(
        name,
        audited.sha256,
        audited.rows,
        promised.suppressed,
        promised.recoding.suppressed_cells,
        audited.classes,
        verified=True,
    )


def report_parts(
    config: Config,
    job: Job,
    outcome: Outcome,
    facts: InputFacts,
    release: ReleaseFacts,
    verified: Verified | None,
    losses: dict[str, float | None],
    diagnosis: Diagnosis | None = None,
) -> ReportParts:
    """Gather what a report is made of."""
    attacks = [] if verified is None else verified.attacks
    entries = [attack_entry(each.finding, each.seconds) for each in attacks]
    return ReportParts(
        config.to_dict(),
        describe_attributes(config, job.problem.table),
        facts,
        release,
        SearchFacts(config.algorithm.name, config.seed),
        outcome,
        () if verified is None else verified.audited.measurements,
        losses,
        entries,
        attack_matrix([each.model for each in job.constraints], entries, job.problem.k),
        warnings_of(config, job),
        None if diagnosis is None else diagnosis.to_dict(),
    )


def warnings_of(config: Config, job: Job) -> list[str]:
    """Return what a steward should look at again before handing the release over."""
    protected = {constraint.attribute for constraint in job.constraints}
    return [
        f"no constraint protects the sensitive attribute '{name}'; it is released as it is"
        for name in config.with_role(Role.SENSITIVE)
        if name not in protected
    ]


def refusal(config: Config, job: Job, outcome: Outcome, facts: InputFacts, watch: Watch) -> Infeasible:
    """Return the error for a problem without a release, with the reasons that could be found."""
    diagnosis = Diagnosis(complete=False)
    if outcome.status is Status.INFEASIBLE:
        watch.phase("finding out what stands in the way")
        numbered = list(
            zip(positions(config, job.problem.table.sensitive_names), job.constraints, strict=True)
        )
        seconds = config.budget.seconds or DIAGNOSIS_SECONDS
        algorithm = config.algorithm.build()
        diagnosis = Diagnostician(job.problem, numbered, algorithm, seconds, watch.stopped).diagnose()
    parts = report_parts(config, job, outcome, facts, ReleaseFacts(), None, {}, diagnosis)
    return Infeasible(explanation(outcome, diagnosis), build_report(parts))
