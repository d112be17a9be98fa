"""``anonymizer check``: what does this file satisfy?"""

from __future__ import annotations

import csv
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymizer.cli.output import Json, Quiet, write_line
from anonymizer.errors import InputError

if TYPE_CHECKING:
    from anonymizer.config.model import Config
    from anonymizer.release.anatomy import AnatomyFiles
    from anonymizer.run.check import Check

NEUTRAL = 1
"""The value of a threshold that asks nothing; other parameters change what is measured."""

VERDICTS = {True: "holds", False: "FAILS", None: "?"}
"""How a constraint is shown; what only the original records can tell, the file cannot."""

Data = Annotated[
    Path, typer.Argument(help="A .csv, .csv.gz, .tsv or .parquet file; for Anatomy, either of its two files.")
]
ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", help="Config with roles, types and constraints.")
]
Names = Annotated[
    str | None,
    typer.Option(
        "--qi",
        help="Quasi-identifiers, separated by commas; a name with a comma in double quotes: '\"a, b\",c'.",
    ),
]
Sensitive = Annotated[str | None, typer.Option(help="Sensitive attributes, written like --qi.")]


def check(
    data: Data,
    config: ConfigOption = None,
    qi: Names = None,
    sensitive: Sensitive = None,
    quiet: Quiet = False,  # noqa: ARG001 - it shows no progress anyway
    json: Json = False,
) -> int:
    """Measure every privacy model on DATA as it is; with a config, say which of its constraints hold.

    Exit code 1 when a constraint of the config does not hold. What an attack measures is shown with ?, as it
    takes the original records too; run and attack tell it.
    """
    from anonymizer.model.report import to_json  # noqa: PLC0415 - --help needs none of it

    found = _measure(data, config, qi, sensitive)
    held = all(each.satisfied is not False for each in found.constraints)
    if json:
        for warning in found.warnings:
            typer.echo(f"Warning: {warning}", err=True)
        write_line(to_json(_content(found)).rstrip())
    else:
        for line in _lines(found):
            write_line(line)
    return 0 if held else 1


def _measure(data: Path, config: Path | None, qi: str | None, sensitive: str | None) -> Check:
    from anonymizer.config.load import load_config  # noqa: PLC0415
    from anonymizer.data.open import open_file  # noqa: PLC0415
    from anonymizer.data.source import EngineOptions  # noqa: PLC0415
    from anonymizer.release.anatomy import find_anatomy_files  # noqa: PLC0415
    from anonymizer.run.check import check_config, check_names  # noqa: PLC0415
    from anonymizer.run.plan import plan_of  # noqa: PLC0415
    from anonymizer.run.prepare import open_described  # noqa: PLC0415

    if (config is None) == (qi is None):
        raise InputError("check: give either -c CONFIG or --qi A,B (optionally with --sensitive C)")
    if config is not None:
        if sensitive is not None:
            raise InputError(
                "check: --sensitive needs --qi; with -c, the config names the sensitive attributes"
            )
        loaded = load_config(config)
        pair = find_anatomy_files(data)
        if pair is not None:
            return _measure_pair(pair, loaded, [], [])
        with open_described(loaded, data) as relation:
            return check_config(relation, plan_of(loaded))
    named = _split("--qi", qi), _split("--sensitive", sensitive)
    pair = find_anatomy_files(data)
    if pair is not None:
        return _measure_pair(pair, None, *named)
    with open_file(data, options=EngineOptions(named=frozenset((*named[0], *named[1])))) as relation:
        return check_names(relation, *named)


def _measure_pair(pair: AnatomyFiles, config: Config | None, qi: list[str], sensitive: list[str]) -> Check:
    from anonymizer.run.check import check_pair_config, check_pair_names, open_pair  # noqa: PLC0415
    from anonymizer.run.plan import plan_of  # noqa: PLC0415

    with open_pair(pair) as tables:
        if config is not None:
            return check_pair_config(tables, plan_of(config))
        return check_pair_names(tables, qi, sensitive)


def _split(option: str, names: str | None) -> list[str]:
    """Return the names of columns that an option lists, quoted as in CSV.

    >>> _split("--qi", 'age, zip'), _split("--qi", '"a, b",c'), _split("--qi", '"5"" wide"')
    (['age', 'zip'], ['a, b', 'c'], ['5" wide'])

    Raises
    ------
    InputError: a quote that is opened and not closed, or that does not enclose a whole name.
    """
    try:
        found = next(csv.reader([names or ""], skipinitialspace=True, strict=True), [])
    except csv.Error:
        raise InputError(
            f"check: {option} {names}: a double quote encloses a whole name, and is doubled inside one; "
            """accepted: '"a, b",c'"""
        ) from None
    return [name.strip() for name in found if name.strip()]


def _content(found: Check) -> dict[str, Any]:
    measures = [asdict(each) for each in found.measures]
    for each in measures:
        del each["satisfied"], each["verifiable_from_release"]
    return {
        "constraints": [asdict(each) for each in found.constraints],
        "measures": measures,
        "rows": found.rows,
        "classes": found.classes,
    }


def _lines(found: Check) -> list[str]:
    from anonymizer.cli.summary import constraint_line, format_measure  # noqa: PLC0415

    lines = [f"{found.rows:,} records in {found.classes:,} equivalence classes"]
    lines += [f"Warning: {warning}" for warning in found.warnings]
    lines += [f"{VERDICTS[each.satisfied]:6} {constraint_line(asdict(each))}" for each in found.constraints]
    for each in found.measures:
        choice = " ".join(f"{key}={value}" for key, value in each.parameters.items() if value != NEUTRAL)
        name = f"{each.model} {choice}".strip()
        lines.append(f"  {name:42} {each.attribute or '':20} {format_measure(each.measured)}")
    return lines
