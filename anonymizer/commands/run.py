"""The command run: a config, from its files to a release in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from anonymizer.config.load import parse_override
from anonymizer.config.model import Config
from anonymizer.config.written import draft_text
from anonymizer.job.clock import UNWATCHED, RunMonitor
from anonymizer.job.job import USUAL, Job, Terms
from anonymizer.job.sinks import sink_of
from anonymizer.job.source import DataSource, input_source, run_as_spelled
from anonymizer.model.invocation import RunCommand
from anonymizer.model.report import Report
from anonymizer.plan.engine import engine_options
from anonymizer.plan.plan import plan_of
from anonymizer.release.folder import MENDED, REPORT, ReleaseFolder
from anonymizer.release.signature import SIGNATURE, Signature


def release_folder(config: Path) -> Path:
    """Return the default folder of the release of a config: beside it and named after it.

    >>> release_folder(Path("a/clinic.yaml")).as_posix()
    'a/clinic-release'
    """
    return config.with_name(f"{config.stem}-release")


def key_line(folder: Path) -> str:
    """Return the line for a terminal about the key that the files of a folder were just signed with."""
    return f"Signed with the key {Signature.read(folder / SIGNATURE).public.fingerprint}"


def next_run(config: Path) -> RunCommand:
    """Return the command that runs a config, and replaces a release that is in its way."""
    return RunCommand(str(config), overwrite=(release_folder(config) / REPORT).exists())


def run(
    config: Config,
    directory: Path,
    *,
    overwrite: bool = False,
    watch: RunMonitor = UNWATCHED,
    terms: Terms = USUAL,
) -> Report:
    """Search, write a release into a folder, read it back, and report.

    Parameters
    ----------
    directory: receives share/ with the release and its public report, and report.json and report.html.
    overwrite: whether an earlier release there may be replaced.
    terms: on which the release is made; where the config was mended, it is kept beside the report.

    Raises
    ------
    InputError: the config, the input, the output folder or the earlier run is wrong.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the written file differs from the release that was found.
    Exposed: the release shows too much beyond its constraints, and the terms refuse it.
    """

    def work(config: Config) -> Report:
        source = input_source(config) if config.apply is None else _appended(config)
        options, plan = engine_options(config), plan_of(config)
        with sink_of(config, plan, source, directory, options, overwrite=overwrite) as sink:
            if terms.mended:
                sink.keep(partial(_keep_config, config, directory, terms.mended))
            return Job(plan, options, watch, terms).run(source, sink).report

    return run_as_spelled(config, work)


def _appended(config: Config) -> DataSource:
    from anonymizer.append.task import AppendSource  # noqa: PLC0415 - few runs append

    return AppendSource(config)


def _keep_config(
    config: Config, directory: Path, mended: Sequence[Mapping[str, Any]], folder: ReleaseFolder
) -> None:
    """Write a mended config beside the report, with paths from there and the reasons of changes."""
    sections = {key: own for key, own in config.moved_to(directory).items() if own not in (None, {}, [])}
    reasons = {}
    for each in mended:
        for change in each["set"] if "taken_back" not in each else ():
            section, *names = parse_override(change)[0]
            if section == "attributes":
                reasons[str(names[0])] = f"{each['change']}, as {each['finding']}"
    folder.internal(MENDED).write_text(draft_text(sections, reasons), encoding="utf-8", newline="\n")
