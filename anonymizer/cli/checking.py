"""What ``anonymizer check`` does and prints."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from anonymizer.cli.output import check_path, column_names, write_line
from anonymizer.cli.verdict import verdict_line
from anonymizer.commands.check import (
    check_config,
    check_names,
    check_pair_config,
    check_pair_names,
    chosen_parameters,
    open_pair,
    with_special_uniques,
)
from anonymizer.config.load import load_config
from anonymizer.data.open import open_file
from anonymizer.data.source import EngineOptions
from anonymizer.errors import InputError, format_measure, plural, settings_in_line
from anonymizer.job.source import is_input, open_checked_rows, open_described, rows_named
from anonymizer.model.report import to_json
from anonymizer.model.table import Role
from anonymizer.plan.plan import plan_of
from anonymizer.plugins import LARGEST_WHOLE
from anonymizer.release.anatomy import find_anatomy_files

if TYPE_CHECKING:
    from anonymizer.commands.check import Check
    from anonymizer.config.model import Config
    from anonymizer.data.relation import Relation
    from anonymizer.release.anatomy import AnatomyFiles

LEVELS = 5
"""Levels of an attribute that a line names."""


class Question(NamedTuple):
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
        _refuse_of_pairs(path, self.person, self.size)
        with open_pair(pair, self.config) as tables:
            if self.config is None:
                return check_pair_names(tables, self.quasi_identifiers, self.sensitive)
            return check_pair_config(tables, plan_of(self.config))

    def opened(self, path: Path) -> Relation:
        """Open a file as the config describes it, or with the spelling of the named columns."""
        if self.config is not None:
            return open_described(self.config, path)
        person = [] if self.person is None else [self.person]
        return open_file(
            path, options=EngineOptions(named=frozenset([*self.quasi_identifiers, *self.sensitive, *person]))
        )


def question_of(
    config: Path | None,
    qi: list[str] | None,
    sensitive: list[str] | None,
    person: str | None,
    size: int | None,
) -> Question:
    """Return what the options ask for.

    Raises
    ------
    InputError: options that do not go together.
    """
    if (config is None) == (not qi):
        raise InputError("check: give either -c CONFIG or --qi A,B (optionally with --sensitive C)")
    if config is not None and sensitive:
        raise InputError("check: --sensitive needs --qi; with -c, the config names the sensitive attributes")
    if config is not None and person is not None:
        raise InputError("check: --person needs --qi; with -c, input.person names the column")
    return Question(
        None if config is None else load_config(config),
        column_names("check: --qi", qi),
        column_names("check: --sensitive", sensitive),
        person,
        size,
    )


def measured(question: Question, data: str, table: str | None, query: str | None) -> Check:
    """Return the measurements of a file, an Anatomy release, or rows of a database."""
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


def print_check(found: Check, *, json: bool) -> None:
    """Print measurements, as lines or in JSON."""
    if json:
        for warning in found.warnings:
            typer.echo(f"Warning: {warning}", err=True)
        write_line(to_json(_content(found)).rstrip())
    else:
        for line in _lines(found):
            write_line(line)


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
