"""``anonymizer init`` and ``anonymizer schema``: a draft config from a data file, and the JSON Schema."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymizer.cli.output import (
    Json,
    Quiet,
    Select,
    Table,
    check_path,
    column_names,
    messages,
    pipe_progress,
    safe_text,
    write_json,
    write_line,
)
from anonymizer.data.source import READABLE, SEPARATORS
from anonymizer.errors import InputError

if TYPE_CHECKING:
    from anonymizer.commands.init import Drafted
    from anonymizer.commands.init_project import ProjectDraft
    from anonymizer.model.table import Role
    from anonymizer.profile.proposal import ColumnProposal

SHOWN = 40
"""Number of columns from which on the terminal lists uncertain ones first; the config lists all."""

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"A file {READABLE}, a DuckDB file, the URL of PostgreSQL, or a project of ARX (.deid).",
    ),
]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="The config [default: DATA's name with .yaml].")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing config.")]
Interactive = Annotated[
    bool, typer.Option("--interactive", "-i", help="Ask for the role of each uncertain column.")
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--qi",
        metavar="<str>",
        help="Columns that become quasi-identifiers, separated by commas; a name with a comma in double "
        "quotes: '\"a, b\",c'. Can be repeated.",
    ),
]
Sensitive = Annotated[
    list[str] | None, typer.Option("--sensitive", metavar="<str>", help="Sensitive columns, like --qi.")
]
Identifier = Annotated[
    list[str] | None, typer.Option("--identifier", metavar="<str>", help="Identifiers, like --qi.")
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", metavar="<str>", help="Columns to leave out, like --qi.")
]
Cautious = Annotated[
    bool, typer.Option("--cautious", help="Make columns that are known to few quasi-identifiers too.")
]
Person = Annotated[
    str | None,
    typer.Option("--person", metavar="<str>", help="Column that says whose records these are."),
]
Size = Annotated[
    int | None, typer.Option("--k", metavar="N", min=1, help="Minimum size of a class [default: 5].")
]
Diversity = Annotated[
    int | None,
    typer.Option(
        "--l", metavar="N", min=1, help="Minimum number of values of each sensitive column in a class."
    ),
]
Limit = Annotated[
    float | None,
    typer.Option(
        "--limit",
        metavar="SHARE",
        min=0,
        max=1,
        help="Share of records that may be suppressed [default: 0.02].",
    ),
]


def _presets() -> list[str]:
    from anonymizer.presets.preset import PRESETS  # noqa: PLC0415 - for completion only

    return list(PRESETS)


Preset = Annotated[
    str | None,
    typer.Option(
        "--for",
        metavar="PRESET",
        help="Follow a named rule: hipaa-safe-harbor, hipaa-expert, ema-0070, public-use or "
        "research-contract.",
        autocompletion=_presets,
    ),
]
Separator = Annotated[str | None, typer.Option(help="Field separator; default: detected.")]
Encoding = Annotated[str, typer.Option(help="Encoding of a text file.")]


def init(  # noqa: PLR0913 - one for each option
    data: Data,
    output: Output = None,
    *,
    table: Table = None,
    query: Select = None,
    overwrite: Overwrite = False,
    interactive: Interactive = False,
    qi: Names = None,
    sensitive: Sensitive = None,
    identifier: Identifier = None,
    drop: Drop = None,
    cautious: Cautious = False,
    person: Person = None,
    k: Size = None,
    l: Diversity = None,  # noqa: E741 - the name in the literature
    limit: Limit = None,
    for_: Preset = None,
    separator: Separator = None,
    encoding: Encoding = "utf-8",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Profile DATA, propose the role of each column, and write a commented config that `run` accepts."""
    from anonymizer.commands.init import Goals  # noqa: PLC0415
    from anonymizer.commands.init import init as draft  # noqa: PLC0415
    from anonymizer.data.source import CsvDialect  # noqa: PLC0415 - --help needs none of it
    from anonymizer.job.source import rows_named  # noqa: PLC0415
    from anonymizer.presets.preset import PRESETS  # noqa: PLC0415
    from anonymizer.profile.deid import is_project  # noqa: PLC0415
    from anonymizer.profile.proposal import Choices, as_proposed  # noqa: PLC0415

    rows, path = rows_named(data, table, query, None), Path(data)
    check_path(path)
    roles = _roles(qi, sensitive, identifier, drop)
    if rows is None and is_project(path):
        decided = (*roles, cautious, interactive, person, k, l, limit, for_, separator)
        if any(each not in (None, False) for each in decided) or encoding != "utf-8":
            raise InputError(f"init: {path.name} says what its columns are; only {_FOR_PROJECTS} go with it")
        _init_project(path, output, overwrite=overwrite, quiet=quiet, json=json)
        return
    choices = Choices(
        roles,
        cautious,
        person,
        preset=None if for_ is None else PRESETS[for_],
    )
    with _phases(quiet=quiet or interactive) as phase:
        decide = _ask if interactive else as_proposed
        dialect = CsvDialect(separator, encoding)
        drafted = draft(
            path,
            output,
            dialect,
            overwrite=overwrite,
            decide=decide,
            choices=choices,
            goals=Goals(k, l, limit=limit),
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


_FOR_PROJECTS = "--output, --overwrite, --quiet and --json"


def _init_project(path: Path, output: Path | None, *, overwrite: bool, quiet: bool, json: bool) -> None:
    """Make a folder from a project of ARX, and print what it means here."""
    from anonymizer.commands.init_project import init_project  # noqa: PLC0415

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
    from anonymizer.commands.run import next_run  # noqa: PLC0415

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


def _roles(
    qi: list[str] | None, sensitive: list[str] | None, identifier: list[str] | None, drop: list[str] | None
) -> dict[str, Role]:
    """Return the role of each column that an option names.

    Raises
    ------
    InputError: two options name one column.
    """
    from anonymizer.model.table import Role  # noqa: PLC0415

    options = {
        "--qi": (Role.QUASI_IDENTIFIER, qi),
        "--sensitive": (Role.SENSITIVE, sensitive),
        "--identifier": (Role.IDENTIFIER, identifier),
        "--drop": (Role.DROP, drop),
    }
    found: dict[str, tuple[str, Role]] = {}
    for option, (role, given) in options.items():
        for name in column_names(f"init: {option}", given):
            earlier, _ = found.setdefault(name, (option, role))
            if earlier != option:
                raise InputError(f"init: {earlier} and {option} both name column '{name}'; name it once")
    return {name: role for name, (_, role) in found.items()}


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
    from anonymizer.model.table import Role  # noqa: PLC0415

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
    from anonymizer.commands.run import next_run  # noqa: PLC0415
    from anonymizer.profile.proposal import percent  # noqa: PLC0415
    from anonymizer.profile.ways import HALF  # noqa: PLC0415

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
    from anonymizer.profile.ways import ways_note  # noqa: PLC0415

    proposal = drafted.proposal
    yield from (note for note in (proposal.names.note, ways_note(proposal.ways)) if note is not None)


def _warnings(drafted: Drafted) -> Iterator[str]:
    yield from (f"Warning: {warning}" for warning in drafted.proposal.warnings)


def _dialect(drafted: Drafted) -> str:
    from anonymizer.config.files import DecimalSign  # noqa: PLC0415

    separator = drafted.proposal.separator
    if separator is None:
        return ""
    decimal = ", decimal commas" if drafted.config.input.decimal is DecimalSign.COMMA else ""
    encoding = drafted.config.input.encoding.upper()
    return f", {SEPARATORS.get(separator, repr(separator))}, {encoding}{decimal}"


def schema(quiet: Quiet = False, json: Json = False) -> None:  # noqa: ARG001 - prints JSON only
    """Print the JSON Schema of the config, with the parameters of all installed plug-ins.

    Editors complete and check a config with it: save it as schema.json and start the config with the line
    "# yaml-language-server: $schema=schema.json".
    """
    from anonymizer.config.model import config_schema  # noqa: PLC0415 - --help needs none of it

    write_json(config_schema())
