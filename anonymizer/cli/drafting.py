"""What ``anonymizer init`` does and prints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from anonymizer.cli.output import (
    check_path,
    column_names,
    messages,
    pipe_progress,
    safe_text,
    write_json,
    write_line,
)
from anonymizer.commands.init import Goals
from anonymizer.commands.init import init as draft
from anonymizer.commands.init_project import init_project
from anonymizer.commands.run import next_run
from anonymizer.config.files import DecimalSign
from anonymizer.data.source import SEPARATORS, CsvDialect
from anonymizer.errors import InputError
from anonymizer.job.source import rows_named
from anonymizer.model.table import Role
from anonymizer.presets.preset import PRESETS
from anonymizer.profile.deid import is_project
from anonymizer.profile.proposal import Choices, as_proposed, percent
from anonymizer.profile.ways import HALF, ways_note

if TYPE_CHECKING:
    from anonymizer.commands.init import Drafted
    from anonymizer.commands.init_project import ProjectDraft
    from anonymizer.profile.proposal import ColumnProposal

_FOR_PROJECTS = "--output, --overwrite, --quiet and --json"

ROLES = {
    "--qi": Role.QUASI_IDENTIFIER,
    "--sensitive": Role.SENSITIVE,
    "--identifier": Role.IDENTIFIER,
    "--drop": Role.DROP,
}
"""The role that each option gives to the columns that it names."""

SHOWN = 40
"""Number of columns from which on the terminal lists uncertain ones first; the config lists all."""


@dataclass(frozen=True)
class Asked:
    """What the options of a draft say.

    Attributes
    ----------
    data, table, query: a file, or rows of a database.
    named: the columns of each option that gives them a role, as they are written there.
    preset: name of the rule to follow, None without.
    separator: None where it is to be found.
    """

    data: str
    table: str | None
    query: str | None
    named: dict[str, list[str] | None]
    cautious: bool
    interactive: bool
    person: str | None
    k: int | None
    l: int | None  # noqa: E741 - the name in the literature
    limit: float | None
    preset: str | None
    separator: str | None
    encoding: str

    @cached_property
    def roles(self) -> dict[str, Role]:
        """The role of each column that an option names.

        Raises
        ------
        InputError: two options name one column.
        """
        found: dict[str, tuple[str, Role]] = {}
        for option, given in self.named.items():
            for name in column_names(f"init: {option}", given):
                earlier, _ = found.setdefault(name, (option, ROLES[option]))
                if earlier != option:
                    raise InputError(f"init: {earlier} and {option} both name column '{name}'; name it once")
        return {name: role for name, (_, role) in found.items()}

    def check_no_columns(self, path: Path) -> None:
        """Refuse options about columns for a project, which says what its columns are."""
        goals = (self.person, self.k, self.l, self.limit, self.preset)
        decided = (*self.roles, self.cautious, self.interactive, *goals, self.separator)
        if any(each not in (None, False) for each in decided) or self.encoding != "utf-8":
            raise InputError(f"init: {path.name} says what its columns are; only {_FOR_PROJECTS} go with it")


def draft_config(asked: Asked, output: Path | None, *, overwrite: bool, quiet: bool, json: bool) -> None:
    """Write a config for a file or rows of a database, or a folder for a project, and print what it is."""
    rows, path = rows_named(asked.data, asked.table, asked.query, None), Path(asked.data)
    check_path(path)
    roles = asked.roles
    if rows is None and is_project(path):
        asked.check_no_columns(path)
        _init_project(path, output, overwrite=overwrite, quiet=quiet, json=json)
        return
    preset = None if asked.preset is None else PRESETS[asked.preset]
    with _phases(quiet=quiet or asked.interactive) as phase:
        drafted = draft(
            path,
            output,
            CsvDialect(asked.separator, asked.encoding),
            overwrite=overwrite,
            decide=_ask if asked.interactive else as_proposed,
            choices=Choices(roles, asked.cautious, asked.person, preset=preset),
            goals=Goals(asked.k, asked.l, limit=asked.limit),
            rows=rows,
            phase=phase,
        )
    if json:
        if not quiet:
            for line in (*_unread(drafted), *_warnings(drafted), *drafted.proposal.notes):
                typer.echo(safe_text(line), err=True)
        names = {"read": drafted.proposal.names.read, "of": drafted.proposal.names.columns}
        found = {"names": {**names, "note": drafted.proposal.names.note}}
        write_json({**found, "config": drafted.config.to_dict(), "columns": _columns(drafted)})
        return
    for line in _lines(drafted):
        write_line(safe_text(line))


def _init_project(path: Path, output: Path | None, *, overwrite: bool, quiet: bool, json: bool) -> None:
    """Make a folder from a project of ARX, and print what it means here."""
    with _phases(quiet=quiet) as phase:
        draft = init_project(path, output, overwrite=overwrite, phase=phase)
    if json:
        told = {"changed": draft.changed, "left_out": draft.left_out}
        columns = {each.name: {"role": each.role.value, "reason": each.said} for each in draft.columns}
        write_json({**told, "config": draft.config.to_dict(), "columns": columns})
        return
    for line in _project_lines(draft):
        write_line(safe_text(line))


def _project_lines(draft: ProjectDraft) -> Iterator[str]:
    project = draft.project
    title = f": {project.title}" if project.title else ""
    yield f"project of ARX {project.version}{title}"
    yield f"{draft.rows:,} rows x {len(draft.columns)} columns"
    wide = min(max(len(each.name) for each in draft.columns), 30)
    for each in draft.columns:
        yield f"{each.name:{wide}}  {each.role.value:16}  {each.said}"
    for heading, told in (
        ("Carried over with another meaning:", draft.changed),
        ("Not carried over:", draft.left_out),
    ):
        if told:
            yield heading
        yield from (f"  {line}" for line in told)
    yield f"Wrote {draft.path}, its data and its hierarchies. Next: {next_run(draft.path)}"


@contextmanager
def _phases(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the phase of the work: on one live line, or in a pipe as lines."""
    if quiet:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        with pipe_progress(partial(typer.echo, err=True)) as lines:
            yield lines.phase
        return
    with messages(quiet=quiet).status("starting") as status:
        yield status.update


def _ask(column: ColumnProposal) -> Role:
    """Ask for the role of a column; an empty answer takes the proposed one."""
    letters = {"i": Role.IDENTIFIER, "q": Role.QUASI_IDENTIFIER, "s": Role.SENSITIVE, "n": Role.INSENSITIVE}
    letters |= {"d": Role.DROP, "w": Role.WEIGHT}
    typer.echo(safe_text(f"{column.name}: {column.reason}"), err=True)
    typer.echo("  (i)dentifier: dropped   (q)uasi-identifier: an adversary may know it", err=True)
    typer.echo("  (s)ensitive: must not be inferred   i(n)sensitive: released unchanged", err=True)
    typer.echo("  (d)rop: left out   (w)eight: a sampling weight, released unchanged", err=True)
    while True:
        answer = _answered(column.role.value).strip().casefold()
        role = letters.get(answer) or next((each for each in Role if each.value == answer), None)
        if role is not None:
            return role
        typer.echo("  accepted: i, q, s, n, d or w", err=True)


def _answered(proposed: str) -> str:
    try:
        return str(typer.prompt("  role", default=proposed, err=True))
    except typer.Abort as ended:
        if isinstance(ended.__context__, EOFError):
            what = "--interactive: no answer on standard input; answer in a terminal, or remove the option"
            raise InputError(what) from None
        raise


def _columns(drafted: Drafted) -> dict[str, Any]:
    return {
        column.name: {
            "role": column.role.value,
            "ground": column.proposed.ground.value,
            "reason": column.remark,
            "doubtful": column.uncertain,
            "looks_like": column.proposed.flag,
            "type": column.facts.type.value,
            "records": column.facts.rows,
            "missing": column.facts.missing,
            "distinct": column.facts.distinct,
            "unique": column.facts.singles,
            "entropy": round(column.facts.entropy, 4),
        }
        for column in drafted.proposal.columns
    }


def _lines(drafted: Drafted) -> Iterator[str]:
    proposal = drafted.proposal
    columns = _shown(proposal.columns)
    yield from _unread(drafted)
    yield f"{proposal.rows:,} rows x {len(proposal.columns)} columns{_dialect(drafted)}"
    wide = max(len(each.name) for each in columns)
    for each in columns:
        doubt = "   <- uncertain, please check" if each.uncertain else ""
        yield f"{each.name:{min(wide, 30)}}  {each.role.value:16}  {each.remark}{doubt}"
    if len(proposal.columns) > len(columns):
        more = len(proposal.columns) - len(columns)
        yield f"... {more} more columns, none of them uncertain, in {drafted.path.name}"
    yield from _warnings(drafted)
    joint = proposal.joint
    yield (
        f"Together, the {joint.columns} quasi-identifiers make "
        f"{percent(joint.unique, joint.records)} of the records unique;"
    )
    yield (
        f"{percent(joint.in_small_classes, joint.records)} of the records are in classes of fewer than "
        f"k = {joint.k} records."
    )
    yield from proposal.notes
    limit = f"{float(100 * drafted.config.suppression.limit):g} %"
    wrote = f"Wrote {drafted.path} (k={joint.k}, suppression limit {limit})."
    useful = all(way.loss <= HALF for way in proposal.ways if way.taken)
    then = "Next:" if useful else "Decide what to leave out or to coarsen before you run it:"
    yield f"{wrote} {then} {next_run(drafted.path)}"


def _shown(columns: Sequence[ColumnProposal]) -> list[ColumnProposal]:
    """Return the columns to list: all, or of many the uncertain ones and then some others."""
    if len(columns) <= SHOWN:
        return list(columns)
    uncertain = [each for each in columns if each.uncertain]
    others = [each for each in columns if not each.uncertain]
    return [*uncertain, *others[: max(SHOWN - len(uncertain), 0)]]


def _unread(drafted: Drafted) -> Iterator[str]:
    """Yield that most names of columns could not be read, and that the first draft lost too much, if so."""
    proposal = drafted.proposal
    yield from (note for note in (proposal.names.note, ways_note(proposal.ways)) if note is not None)


def _warnings(drafted: Drafted) -> Iterator[str]:
    yield from (f"Warning: {warning}" for warning in drafted.proposal.warnings)


def _dialect(drafted: Drafted) -> str:
    separator = drafted.proposal.separator
    if separator is None:
        return ""
    decimal = ", decimal commas" if drafted.config.input.decimal is DecimalSign.COMMA else ""
    encoding = drafted.config.input.encoding.upper()
    return f", {SEPARATORS.get(separator, repr(separator))}, {encoding}{decimal}"
