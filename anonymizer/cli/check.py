"""``anonymizer check``: the privacy models measured on a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymizer.cli.output import Json, Quiet, Select, Table
from anonymizer.data.source import READABLE

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"A file {READABLE} (for Anatomy, either of its two), a DuckDB file, or the URL of PostgreSQL.",
    ),
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", help="Config with roles, types and constraints.")
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--qi",
        metavar="<str>",
        help="Quasi-identifiers, separated by commas; a name with a comma in double quotes: '\"a, b\",c'.",
    ),
]
Sensitive = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="<str>", help="Sensitive attributes, written like --qi."),
]
Person = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="<str>",
        help="Column that says whose records these are; every model then counts persons, too.",
    ),
]


Uniques = Annotated[
    int | None,
    typer.Option(
        "--special-uniques",
        min=1,
        metavar="<size>",
        help="Also count records that at most so many values single out, by attribute and level (SUDA2).",
    ),
]


def check(  # noqa: PLR0913, PLR0917 - one for each option
    data: Data,
    config: ConfigOption = None,
    qi: Names = None,
    sensitive: Sensitive = None,
    person: Person = None,
    special_uniques: Uniques = None,
    table: Table = None,
    query: Select = None,
    quiet: Quiet = False,  # noqa: ARG001 - it shows no progress anyway
    json: Json = False,
) -> int:
    """Measure privacy models on DATA without changing it; with a config, report which constraints hold.

    Exit code 1 if a constraint of the config is violated. Constraints that an attack measures are shown as ?:
    they need the original records (see run and attack).
    """
    from anonymizer.cli.checking import measured, print_check, question_of  # noqa: PLC0415 - --help needs none of it

    found = measured(question_of(config, qi, sensitive, person, special_uniques), data, table, query)
    print_check(found, json=json)
    return 0 if found.satisfied else 1
