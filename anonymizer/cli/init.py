"""``anonymizer init`` and ``anonymizer schema``: a draft config from a data file, and the JSON Schema."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymizer.cli.output import Json, Quiet, messages, safe_text, write_json, write_line
from anonymizer.errors import InputError

if TYPE_CHECKING:
    from anonymizer.config.attribute import Role
    from anonymizer.profile.proposal import ColumnProposal
    from anonymizer.run.init import Drafted

SHOWN = 40
"""Columns that are listed on the terminal; the config lists all."""

Data = Annotated[Path, typer.Argument(help="A .csv, .csv.gz, .tsv or .parquet file.")]
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="The config [default: DATA's name with .yaml].")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing config.")]
Interactive = Annotated[
    bool, typer.Option("--interactive", "-i", help="Ask for the role of each uncertain column.")
]
Separator = Annotated[str | None, typer.Option(help="Field separator; default: detected.")]
Encoding = Annotated[str, typer.Option(help="Encoding of a text file.")]


def init(
    data: Data,
    output: Output = None,
    *,
    overwrite: Overwrite = False,
    interactive: Interactive = False,
    separator: Separator = None,
    encoding: Encoding = "utf-8",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Profile DATA, propose what each column is, and write a commented config that `run` accepts."""
    from anonymizer.data.source import CsvDialect  # noqa: PLC0415 - --help needs none of it
    from anonymizer.profile.proposal import as_proposed  # noqa: PLC0415
    from anonymizer.run.init import init as draft  # noqa: PLC0415

    with _phases(quiet=quiet or interactive) as phase:
        drafted = draft(
            data,
            output,
            CsvDialect(separator, encoding),
            overwrite=overwrite,
            decide=_ask if interactive else as_proposed,
            phase=phase,
        )
    if json:
        if not quiet:
            for line in _warnings(drafted):
                typer.echo(safe_text(line), err=True)
        write_json({"config": drafted.config.to_dict(), "columns": _columns(drafted)})
        return
    for line in _lines(drafted):
        write_line(safe_text(line))


@contextmanager
def _phases(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Yield what shows the phases of the work on a terminal, and nothing in a pipe."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    with messages(quiet=quiet).status("starting") as status:
        yield status.update


def _ask(column: ColumnProposal) -> Role:
    """Ask for the role of a column; nothing typed takes the proposed one."""
    from anonymizer.config.attribute import Role  # noqa: PLC0415

    letters = {"i": Role.IDENTIFIER, "q": Role.QUASI_IDENTIFIER, "s": Role.SENSITIVE, "n": Role.INSENSITIVE}
    typer.echo(safe_text(f"{column.name}: {column.reason}"), err=True)
    typer.echo("  (i)dentifier: dropped   (q)uasi-identifier: an adversary may know it", err=True)
    typer.echo("  (s)ensitive: must not be inferred   i(n)sensitive: released unchanged", err=True)
    while True:
        answer = _answered(column.role.value).strip().casefold()
        role = letters.get(answer) or next((each for each in Role if each.value == answer), None)
        if role is not None:
            return role
        typer.echo("  accepted: i, q, s or n", err=True)


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
            "reason": column.reason,
            "doubtful": column.doubtful,
            "looks_like": column.verdict.flag,
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
    columns = proposal.columns[:SHOWN]
    yield f"{proposal.rows:,} rows x {len(proposal.columns)} columns{_dialect(drafted)}"
    wide = max(len(each.name) for each in columns)
    for each in columns:
        doubt = "   <- uncertain, please check" if each.doubtful else ""
        yield f"{each.name:{min(wide, 30)}}  {each.role.value:16}  {each.reason}{doubt}"
    if len(proposal.columns) > SHOWN:
        yield f"... {len(proposal.columns) - SHOWN} more columns in {drafted.path.name}"
    yield from _warnings(drafted)
    together = proposal.together
    yield (
        f"Together, the {together.columns} quasi-identifiers make "
        f"{_percent(together.alone, together.records)} of the records unique;"
    )
    yield (
        f"{_percent(together.below, together.records)} of the records are in classes of fewer than "
        f"k = {together.k} records."
    )
    limit = f"{float(drafted.config.suppression.limit):.0%}".replace("%", " %")
    yield (
        f"Wrote {drafted.path} (k={together.k}, suppression limit {limit}). "
        f"Next: anonymizer run {drafted.path}"
    )


def _warnings(drafted: Drafted) -> Iterator[str]:
    yield from (f"Warning: {warning}" for warning in drafted.proposal.warnings)


def _dialect(drafted: Drafted) -> str:
    from anonymizer.config.files import DecimalSign  # noqa: PLC0415
    from anonymizer.data.csv import SEPARATORS  # noqa: PLC0415

    separator = drafted.proposal.separator
    if separator is None:
        return ""
    decimal = ", decimal commas" if drafted.config.input.decimal is DecimalSign.COMMA else ""
    encoding = drafted.config.input.encoding.upper()
    return f", {SEPARATORS.get(separator, repr(separator))}, {encoding}{decimal}"


def _percent(part: int, whole: int) -> str:
    return f"{part / whole:.1%}".replace("%", " %")


def schema(quiet: Quiet = False, json: Json = False) -> None:  # noqa: ARG001 - the answer is JSON, and only that
    """Print the JSON Schema of the config, with the parameters of everything that is installed.

    Editors complete and check a config by it: save it as schema.json and start the config with the line
    "# yaml-language-server: $schema=schema.json".
    """
    from anonymizer.config.model import config_schema  # noqa: PLC0415 - --help needs none of it

    write_json(config_schema())
