"""``anonymizer init`` and ``anonymizer schema``: a draft config from a data file, and the JSON Schema."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymizer.cli.output import Json, Quiet, Select, Table, write_json
from anonymizer.data.source import READABLE

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
    from anonymizer.cli.drafting import Asked, draft_config  # noqa: PLC0415 - --help needs none of it

    named = {"--qi": qi, "--sensitive": sensitive, "--identifier": identifier, "--drop": drop}
    asked = Asked(
        data,
        table,
        query,
        named,
        cautious,
        interactive,
        person,
        k,
        l,
        limit,
        preset=for_,
        separator=separator,
        encoding=encoding,
    )
    draft_config(asked, output, overwrite=overwrite, quiet=quiet, json=json)


def schema(quiet: Quiet = False, json: Json = False) -> None:  # noqa: ARG001 - prints JSON only
    """Print the JSON Schema of the config, with the parameters of all installed plug-ins.

    Editors complete and check a config with it: save it as schema.json and start the config with the line
    "# yaml-language-server: $schema=schema.json".
    """
    from anonymizer.config.model import config_schema  # noqa: PLC0415 - --help needs none of it

    write_json(config_schema())
