"""``anonymizer check``: the privacy models measured on a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymizer.cli.output import Json, Quiet, Select, Table, check_path, column_names, write_line
from anonymizer.data.source import READABLE
from anonymizer.errors import InputError, format_measure, plural, settings_in_line
from anonymizer.plugins import LARGEST_WHOLE

if TYPE_CHECKING:
    from anonymizer.commands.check import Check
    from anonymizer.config.model import Config
    from anonymizer.data.relation import Relation
    from anonymizer.release.anatomy import AnatomyFiles

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

    found = _measured(_question(config, qi, sensitive, person, special_uniques), data, table, query)
    if json:
        for warning in found.warnings:
            typer.echo(f"Warning: {warning}", err=True)
        write_line(to_json(_content(found)).rstrip())
    else:
        for line in _lines(found):
            write_line(line)
    return 0 if found.satisfied else 1


@dataclass(frozen=True)
class _Question:
    """The models to measure: those of a config, or those of named columns.

    Attributes
    ----------
    config: None where columns are named.
    quasi_identifiers, sensitive, person: the named columns.
    size: largest number of values that single out a record; None if special uniques are not counted.
    """

    config: Config | None
    quasi_identifiers: list[str]
    sensitive: list[str]
    person: str | None
    size: int | None

    def of_file(self, relation: Relation, path: Path) -> Check:
        """Return the measurements of a file, or of rows of a database."""
        from anonymizer.commands.check import check_config, check_names, with_special_uniques  # noqa: PLC0415
        from anonymizer.job.source import is_input  # noqa: PLC0415
        from anonymizer.model.table import Role  # noqa: PLC0415
        from anonymizer.plan.plan import plan_of  # noqa: PLC0415

        if self.config is None:
            known = self.quasi_identifiers
            found = check_names(relation, known, self.sensitive, self.person)
        else:
            known = list(self.config.with_role(Role.QUASI_IDENTIFIER))
            found = check_config(relation, plan_of(self.config), is_input=is_input(self.config, path))
        if self.size is None:
            return found
        return with_special_uniques(found, relation, known, min(self.size, LARGEST_WHOLE))

    def of_pair(self, pair: AnatomyFiles, path: Path) -> Check:
        """Return the measurements of an Anatomy release, of which ``path`` is a file or the name."""
        from anonymizer.commands.check import check_pair_config, check_pair_names, open_pair  # noqa: PLC0415
        from anonymizer.plan.plan import plan_of  # noqa: PLC0415

        _refuse_of_pairs(path, self.person, self.size)
        with open_pair(pair, self.config) as tables:
            if self.config is None:
                return check_pair_names(tables, self.quasi_identifiers, self.sensitive)
            return check_pair_config(tables, plan_of(self.config))

    def opened(self, path: Path) -> Relation:
        """Open a file as the config describes it, or with the spelling of the named columns."""
        from anonymizer.data.open import open_file  # noqa: PLC0415
        from anonymizer.data.source import EngineOptions  # noqa: PLC0415
        from anonymizer.job.source import open_described  # noqa: PLC0415

        if self.config is not None:
            return open_described(self.config, path)
        person = [] if self.person is None else [self.person]
        return open_file(
            path, options=EngineOptions(named=frozenset([*self.quasi_identifiers, *self.sensitive, *person]))
        )


def _question(
    config: Path | None,
    qi: list[str] | None,
    sensitive: list[str] | None,
    person: str | None,
    size: int | None,
) -> _Question:
    """Return what the options ask for.

    Raises
    ------
    InputError: options that do not go together.
    """
    from anonymizer.config.load import load_config  # noqa: PLC0415

    if (config is None) == (not qi):
        raise InputError("check: give either -c CONFIG or --qi A,B (optionally with --sensitive C)")
    if config is not None and sensitive:
        raise InputError("check: --sensitive needs --qi; with -c, the config names the sensitive attributes")
    if config is not None and person is not None:
        raise InputError("check: --person needs --qi; with -c, input.person names the column")
    return _Question(
        None if config is None else load_config(config),
        column_names("check: --qi", qi),
        column_names("check: --sensitive", sensitive),
        person,
        size,
    )


def _measured(question: _Question, data: str, table: str | None, query: str | None) -> Check:
    """Return the measurements of a file, an Anatomy release, or rows of a database."""
    from anonymizer.job.source import open_checked_rows, rows_named  # noqa: PLC0415
    from anonymizer.release.anatomy import find_anatomy_files  # noqa: PLC0415

    rows, path = rows_named(data, table, query, question.config), Path(data)
    check_path(path)
    if rows is not None:
        with open_checked_rows(rows, question.config) as relation:
            return question.of_file(relation, path)
    pair = find_anatomy_files(path)
    if pair is not None:
        return question.of_pair(pair, path)
    with question.opened(path) as relation:
        return question.of_file(relation, path)


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
    from anonymizer.commands.check import chosen_parameters  # noqa: PLC0415

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
