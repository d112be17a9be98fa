"""The job with ``apply``: from an earlier run and further records to a release of both."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.attacks.base import Scene
from anonymizer.config.model import Config
from anonymizer.core.arrays import IntArray
from anonymizer.core.report import Report
from anonymizer.core.table import SensitiveAttribute
from anonymizer.engines.base import EngineOptions, Relation
from anonymizer.errors import ConfigError, InputError, Problem
from anonymizer.flow.applying.batch import NewRecords, read_new_records
from anonymizer.flow.applying.decision import Decider, Decision
from anonymizer.flow.applying.difference import difference
from anonymizer.flow.applying.fitting import check_fit
from anonymizer.flow.applying.previous import Previous, read_previous
from anonymizer.flow.applying.publishing import Sources, WithEarlier, verify_combined
from anonymizer.flow.assemble import release_facts, report_parts
from anonymizer.flow.engine import engine_options
from anonymizer.flow.output import input_facts, recoding_entry, release_folder, watched_open, write_reports
from anonymizer.flow.prepare import Job, open_release, sensitive_attributes
from anonymizer.flow.publication import publication_of
from anonymizer.flow.requests import request
from anonymizer.flow.risk import counted
from anonymizer.flow.scene import scene_of_files
from anonymizer.flow.source import input_source
from anonymizer.flow.target import ReleaseTarget, release_target
from anonymizer.flow.verified import Verified, examined
from anonymizer.flow.verify import auditing
from anonymizer.flow.watch import Watch
from anonymizer.flow.weights import weight_columns
from anonymizer.loss.all_metrics import all_losses
from anonymizer.release.publish import ReleaseFolder
from anonymizer.report.build import InputFacts, build_report
from anonymizer.report.facts.gather import Facts, gather
from anonymizer.table.load import column_of


def run_applied(config: Config, directory: Path, *, overwrite: bool, watch: Watch) -> Report:
    """Recode further records as an earlier run did its own, and write a release of both.

    Parameters
    ----------
    directory: gets the folder of a release, as of any run; not that of the earlier run, which stays.
    overwrite: whether an earlier release there may be replaced.

    Raises
    ------
    InputError: the config, the input, the output folder or the earlier run is not as it should be.
    Infeasible: the earlier release cannot go on with these records.
    AuditFailed: the written file is not what was promised.
    """
    assert config.apply is not None
    source = input_source(config)
    previous = read_previous(config.folder / config.apply.report)
    check_fit(config, previous)
    options = _options(config)
    with (
        release_folder(config, directory, previous.files, overwrite=overwrite) as folder,
        release_target(config, directory, folder, overwrite=overwrite) as target,
        open_release(previous.release, options) as earlier,
        watched_open(config, source, watch) as relation,
    ):
        _check_release(previous, earlier)
        new = read_new_records(config, previous, earlier, relation)
        _check_in_memory(new.job)
        facts = input_facts(source, relation)
        sources = Sources(earlier, relation, _attributes_of_both(new, earlier, relation))
        decision = Decider(config, previous, sources, new, facts).decide(watch)
        verified, sizes = _publish(new, previous, sources, decision, (folder, target), watch)
        report = _report(config, new.job, facts, decision, verified, (target, previous))
        watch.phase("drawing the report")
        write_reports(folder, report, _facts_of(decision, new.job, sizes), new.job, decision.kept)
        target.commit()
    return report


def _options(config: Config) -> EngineOptions:
    """Return the limits of the engine.

    Raises
    ------
    ConfigError: it is one that keeps records elsewhere.
    """
    options = engine_options(config)
    if options.spark is not None:
        what = "spark does not go on from an earlier release (apply); accepted: auto, memory"
        raise ConfigError(config.source, [Problem("engine.name", what)])
    return options


def _check_release(previous: Previous, earlier: Relation) -> None:
    """Check that the earlier release is the one that the report was written for.

    Raises
    ------
    InputError: it is not.
    """
    if earlier.sha256 != previous.release_sha256 or earlier.rows != previous.rows:
        raise InputError(
            f"{previous.release}: is not the file that {previous.path.name} was written for (SHA-256 "
            "differs); apply needs the release as it was handed over"
        )


def _check_in_memory(job: Job) -> None:
    """Check that the further records fit in memory.

    Raises
    ------
    InputError: they do not.
    """
    if job.problem.source is not None:
        raise InputError(
            f"apply: the records have more than {job.problem.most:,} distinct combinations, for which "
            "there is no room in memory; allow more (engine.memory_limit, engine.options.combinations), or "
            "apply to parts of them, one after the other"
        )


def _attributes_of_both(
    new: NewRecords, earlier: Relation, relation: Relation
) -> tuple[SensitiveAttribute, ...]:
    """Return the sensitive attributes over the values of the earlier release and of the new records."""
    columns = {}
    for name in new.job.problem.table.sensitive_names:
        texts: dict[str | None, int] = dict(earlier.dictionary(name))
        for text, records in relation.dictionary(name):
            texts[text] = texts.get(text, 0) + records
        ordered = sorted(texts.items(), key=lambda each: (each[0] is None, each[0] or ""))
        own = request(new.config, name)
        columns[name] = column_of(relation.name, ordered, own, new.config.input.missing).column
    return sensitive_attributes(new.config, columns)


def _publish(
    new: NewRecords,
    previous: Previous,
    sources: Sources,
    decision: Decision,
    output: tuple[ReleaseFolder, ReleaseTarget],
    watch: Watch,
) -> tuple[Verified, IntArray]:
    """Write the release, read it back, and return what it is, with the sizes of its classes."""
    folder, target = output
    watch.phase("writing")
    publication = publication_of(new.config)
    (own,) = publication.publishable(new.config, new.job, sources.new, decision.promised)
    earlier = previous.release, previous.release_sha256
    target.write([WithEarlier(*earlier, own, folder.scratch, engine_options(new.config))])
    watch.phase("reading back and verifying")
    with auditing(), ExitStack() as stack:
        (release,) = [stack.enter_context(table) for table in target.read_back()]
        constraints = counted(new.job.constraints)
        audited, sizes = verify_combined(release, sources, decision.promised, constraints)
        if not new.config.attacks:
            return Verified(audited), sizes
        scene = _scene(new.config, release)
        return examined(new.config, scene, audited, watch), sizes


def _scene(config: Config, release: Relation) -> Scene:
    """Return what adversaries have who hold the release alone: the earlier originals are not here."""
    return scene_of_files(config, release, weights=weight_columns(config))


def _report(
    config: Config,
    job: Job,
    facts: InputFacts,
    decision: Decision,
    verified: Verified,
    where: tuple[ReleaseTarget, Previous],
) -> Report:
    target, previous = where
    release = release_facts(target.titles, decision.promised, verified.audited)
    losses = all_losses(decision.promised)
    parts = report_parts(config, job, decision.outcome, facts, release, verified, losses)
    applied = _entry(config, decision, previous)
    warnings = [*parts.warnings, *([applied["difference"]] if applied["difference"] else [])]
    return build_report(
        replace(parts, warnings=warnings, recoding_file=recoding_entry(decision.kept), applied=applied)
    )


def _entry(config: Config, decision: Decision, previous: Previous) -> dict[str, Any]:
    """Return the ``applied`` entry of the report."""
    assert config.apply is not None
    promised = decision.promised
    return {
        "report": config.apply.report,
        "recoding": "searched" if decision.searched else "applied",
        "rows_before": previous.rows,
        "rows_added": int(promised.class_sizes.sum()),
        "batch_classes": len(promised.class_sizes),
        "smallest_batch_class": int(promised.class_sizes.min()),
        "difference": difference(decision),
    }


def _facts_of(decision: Decision, job: Job, sizes: IntArray) -> Facts:
    """Return what the page shows: the classes of the whole release, all else of the new records."""
    whole = replace(decision.promised, class_sizes=np.sort(sizes))
    facts = gather(whole, job.constraints, moving_reference=job.problem.moving_reference)
    return replace(facts, knowing=(), worst=tuple(None for _ in facts.worst))
