"""The job with ``apply``: from an earlier run and further records to a release of both."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.attacks.base import AdversaryView
from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.data.table import column_of
from anonymizer.errors import InputError
from anonymizer.flow.applying.batch import NewRecords, read_new_records
from anonymizer.flow.applying.decision import Decider, Decision
from anonymizer.flow.applying.difference import batch_violations
from anonymizer.flow.applying.fitting import check_compatible
from anonymizer.flow.applying.parts import Sources
from anonymizer.flow.applying.previous import Previous, read_previous
from anonymizer.flow.applying.publishing import publishable, verify_combined
from anonymizer.flow.assemble import release_facts, report_parts
from anonymizer.flow.engine import engine_options
from anonymizer.flow.output import input_facts, recoding_entry, release_folder, watched_open, write_reports
from anonymizer.flow.placing import sensitive_attributes
from anonymizer.flow.prepare import open_release
from anonymizer.flow.requests import column_request
from anonymizer.flow.scene import adversary_from_files
from anonymizer.flow.source import input_source
from anonymizer.flow.target import ReleaseTarget, release_target
from anonymizer.flow.verified import Verified, examined
from anonymizer.flow.verify import auditing
from anonymizer.flow.watch import RunMonitor
from anonymizer.flow.weights import weight_columns
from anonymizer.loss.base import all_losses
from anonymizer.model.arrays import IntArray
from anonymizer.model.report import Report
from anonymizer.model.table import SensitiveAttribute
from anonymizer.release.query import Publishable
from anonymizer.report.build import InputFacts, build_report
from anonymizer.report.facts import Facts, gather


def run_applied(config: Config, directory: Path, *, overwrite: bool, watch: RunMonitor) -> Report:
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
    check_compatible(config, previous)
    options = engine_options(config)
    with (
        release_folder(config, directory, previous.files, overwrite=overwrite) as folder,
        release_target(config, directory, folder, overwrite=overwrite) as target,
        open_release(previous.release, options) as earlier,
        watched_open(config, source, watch) as relation,
    ):
        _check_release(previous, earlier)
        new = read_new_records(config, previous, earlier, relation)
        watch.phase(f"engine {new.job.engine.name}: {new.job.engine.because}")
        sources = _sources(previous, new, earlier, relation)
        facts = input_facts(source, relation)
        decider = Decider(config, previous, sources, new, facts)
        decision = decider.decide(watch)
        with decision.outcome.keeping_ends():
            written = publishable(new.config, sources, decision, decider.groups, folder.scratch)
            verified, sizes = _write_and_verify(new.config, sources, decision, (target, written), watch)
        report = _report(config, facts, decision, verified, (target, previous))
        watch.phase("drawing the report")
        write_reports(folder, report, _facts_of(decision, sizes), decision.job, decision.kept)
        relation.check_unchanged()
        target.commit(lambda: watch.released(report))
    return report


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


def _sources(previous: Previous, new: NewRecords, earlier: Relation, relation: Relation) -> Sources:
    table = new.job.problem.table
    names = (*(each.name for each in table.quasi_identifiers), *table.sensitive_names)
    attributes = _attributes_of_both(new, earlier, relation)
    return Sources(earlier, previous.release, relation, attributes, names)


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
        own = column_request(new.config, name)
        columns[name] = column_of(relation.name, ordered, own, new.config.input.missing).column
    return sensitive_attributes(new.config, columns)


def _write_and_verify(
    config: Config,
    sources: Sources,
    decision: Decision,
    output: tuple[ReleaseTarget, Publishable],
    watch: RunMonitor,
) -> tuple[Verified, IntArray]:
    """Write the release and read it back; return what it is, with the sizes of its classes."""
    target, written = output
    watch.phase("writing")
    target.write([written])
    watch.phase("reading back and verifying")
    with auditing(), ExitStack() as stack:
        (release,) = [stack.enter_context(table) for table in target.read_back()]
        audited, sizes = verify_combined(release, sources, decision.job, decision.promised)
        written.compare(release)
        if not config.attacks:
            return Verified(audited), sizes
        scene = _scene(config, release)
        return examined(config, scene, audited, watch), sizes


def _scene(config: Config, release: Relation) -> AdversaryView:
    """Return what adversaries have who hold the release alone: the earlier originals are not here."""
    return adversary_from_files(config, release, weights=weight_columns(config))


def _report(
    config: Config,
    facts: InputFacts,
    decision: Decision,
    verified: Verified,
    where: tuple[ReleaseTarget, Previous],
) -> Report:
    (target, previous), job = where, decision.job
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
        "difference": batch_violations(decision),
    }


def _facts_of(decision: Decision, sizes: IntArray) -> Facts:
    """Return what the page shows: the classes of the whole release, all else of the new records."""
    job = decision.job
    whole = replace(decision.promised, class_sizes=np.sort(sizes))
    facts = gather(whole, job.constraints, moving_reference=job.problem.moving_reference)
    return replace(facts, knowing=(), worst=tuple(None for _ in facts.worst))
