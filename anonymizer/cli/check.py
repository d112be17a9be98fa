"""``anonymizer check``: the privacy models measured on a file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymizer.cli.output import Json, Quiet, Select, Table, check_path, column_names, write_line
from anonymizer.data.source import READABLE
from anonymizer.errors import InputError, format_measure, plural, settings_in_line
from anonymizer.plugins import LARGEST_WHOLE

if TYPE_CHECKING:
    from anonymizer.data.relation import Relation
    from anonymizer.run.check import Check

LEVELS = 5
"""Levels of an attribute that a line names."""

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
    from anonymizer.model.report import to_json  # noqa: PLC0415 - --help needs none of it

    found = _measure(data, config, (qi, sensitive, person), (table, query), special_uniques)
    if json:
        for warning in found.warnings:
            typer.echo(f"Warning: {warning}", err=True)
        write_line(to_json(_content(found)).rstrip())
    else:
        for line in _lines(found):
            write_line(line)
    return 0 if found.satisfied else 1


def _measure(
    data: str,
    config: Path | None,
    names: tuple[list[str] | None, list[str] | None, str | None],
    selection: tuple[str | None, str | None],
    size: int | None = None,
) -> Check:
    """Return the measurements.

    Parameters
    ----------
    names: the options --qi, --sensitive and --person.
    selection: the options --table and --query.
    size: the option --special-uniques.
    """
    from anonymizer.config.load import load_config  # noqa: PLC0415
    from anonymizer.data.open import open_file  # noqa: PLC0415
    from anonymizer.data.source import EngineOptions  # noqa: PLC0415
    from anonymizer.model.table import Role  # noqa: PLC0415
    from anonymizer.release.anatomy import find_anatomy_files  # noqa: PLC0415
    from anonymizer.run.check import (  # noqa: PLC0415
        check_config,
        check_names,
        check_pair_config,
        check_pair_names,
        open_pair,
        with_special_uniques,
    )
    from anonymizer.run.plan import plan_of  # noqa: PLC0415
    from anonymizer.run.source import is_input, open_checked_rows, open_described, rows_named  # noqa: PLC0415

    qi, sensitive, person = names
    if (config is None) == (not qi):
        raise InputError("check: give either -c CONFIG or --qi A,B (optionally with --sensitive C)")
    if config is not None and sensitive:
        raise InputError("check: --sensitive needs --qi; with -c, the config names the sensitive attributes")
    if config is not None and person is not None:
        raise InputError("check: --person needs --qi; with -c, input.person names the column")
    loaded = None if config is None else load_config(config)
    named = column_names("check: --qi", qi), column_names("check: --sensitive", sensitive)

    def measured(relation: Relation) -> Check:
        if loaded is None:
            found, known = check_names(relation, *named, person), named[0]
        else:
            found = check_config(relation, plan_of(loaded), is_input=is_input(loaded, path))
            known = list(loaded.with_role(Role.QUASI_IDENTIFIER))
        if size is None:
            return found
        return with_special_uniques(found, relation, known, min(size, LARGEST_WHOLE))

    rows, path = rows_named(data, *selection, loaded), Path(data)
    check_path(path)
    if rows is not None:
        with open_checked_rows(rows, loaded) as relation:
            return measured(relation)
    pair = find_anatomy_files(path)
    if pair is not None:
        _refuse_of_pairs(path, person, size)
        with open_pair(pair, loaded) as tables:
            if loaded is None:
                return check_pair_names(tables, *named)
            return check_pair_config(tables, plan_of(loaded))
    if loaded is not None:
        with open_described(loaded, path) as relation:
            return measured(relation)
    asked = frozenset((*named[0], *named[1], *([] if person is None else [person])))
    with open_file(path, options=EngineOptions(named=asked)) as relation:
        return measured(relation)


def _refuse_of_pairs(path: Path, person: str | None, size: int | None) -> None:
    """Refuse the options that do not fit an Anatomy release."""
    if person is not None:
        raise InputError(
            f"{path}: is an Anatomy release, whose models count records only; leave --person out"
        )
    if size is not None:
        raise InputError(f"{path}: is an Anatomy release; leave --special-uniques out")


def _content(found: Check) -> dict[str, Any]:
    measures = [asdict(each) for each in found.measures]
    for each in measures:
        del each["satisfied"], each["verifiable_from_release"]
    scenarios = {name: [asdict(each) for each in own] for name, own in found.scenarios.items()}
    return {
        "constraints": [asdict(each) for each in found.constraints],
        **({"scenarios": scenarios} if scenarios else {}),
        "measures": measures,
        "rows": found.rows,
        "classes": found.classes,
        **({} if found.special_uniques is None else {"special_uniques": found.special_uniques}),
    }


def _lines(found: Check) -> list[str]:
    from anonymizer.cli.summary import verdict_line  # noqa: PLC0415
    from anonymizer.run.check import chosen_parameters  # noqa: PLC0415

    lines = [f"{plural(found.rows, 'record')} in {plural(found.classes, 'equivalence class')}"]
    lines += [f"Warning: {warning}" for warning in found.warnings]
    lines += [verdict_line(asdict(each)) for each in found.constraints]
    lines += [verdict_line(asdict(each), name) for name, own in found.scenarios.items() for each in own]
    for each in found.measures:
        name = f"{each.model} {settings_in_line(chosen_parameters(each))}".strip()
        lines.append(f"  {name:42} {each.attribute or '':20} {format_measure(each.measured)}")
    return [*lines, *_uniques(found)]


def _uniques(found: Check) -> list[str]:
    """Return the lines about special uniques, if they were asked for."""
    own = found.special_uniques
    if own is None:
        return []
    lines = [f"{plural(own['special_uniques'], 'record')} singled out by few values"]
    for name, each in own["by_attribute"].items():
        levels = [f"{level} {number}" for level, number in each["by_level"].items()][:LEVELS]
        lines.append(f"  {name:20} {each['contribution']:4.0%} of the scores  {', '.join(levels)}".rstrip())
    return lines
