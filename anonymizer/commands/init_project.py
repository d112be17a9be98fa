"""From a project file of ARX to a folder with its data, its hierarchies and a config that runs."""

from __future__ import annotations

import codecs
import csv
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import compress
from math import prod
from pathlib import Path
from secrets import token_hex
from typing import Any

from anonymizer.commands.init import check_name, checked_config
from anonymizer.config.model import Config
from anonymizer.config.written import comment, flow, text
from anonymizer.data.open import open_file
from anonymizer.data.relation import Relation
from anonymizer.data.source import CsvDialect, EngineOptions
from anonymizer.errors import DataError, OutputError, plural
from anonymizer.model.table import POINT, Role
from anonymizer.plan.plan import plan_of
from anonymizer.profile.carried import Carried, Constraint, Notes, carry_over
from anonymizer.profile.carried_columns import HIERARCHIES, CarriedColumn, CarriedColumns, carry_columns
from anonymizer.profile.config_text import SECONDS
from anonymizer.profile.deid import DATA, Project, Selection, opened_member, read_project
from anonymizer.system import remove_tree, rename, write_whole

DATA_FILE, POPULATION_FILE = "data.csv", "population.csv"

OLD_ENCODING = "cp1252"
"""Encoding of data that are not UTF-8: early versions wrote that of the system, which mostly was Windows."""

PROVEN = 100_000
"""Maximum number of transformations that are searched without a time limit."""

_BYTES = "latin-1"
"""Encoding in which every byte is a character, so that records are copied byte for byte."""

_CHUNK = 1 << 20
_DIVERSITIES = ("l-diversity", "recursive-cl-diversity")


@dataclass(frozen=True)
class ProjectDraft:
    """A folder that was made from a project: its config, and what of the project has another meaning or none.

    Attributes
    ----------
    path: of the config.
    rows: number of records of the data.
    changed: what was carried over with another meaning.
    left_out: what was not carried over.
    """

    path: Path
    config: Config
    project: Project
    rows: int
    columns: tuple[CarriedColumn, ...]
    changed: tuple[str, ...]
    left_out: tuple[str, ...]


def init_project(
    source: Path,
    output: Path | None = None,
    *,
    overwrite: bool = False,
    phase: Callable[[str], None] = lambda _: None,
) -> ProjectDraft:
    """Make a folder with data, hierarchies and config from a project of ARX, completely or not at all.

    Parameters
    ----------
    output: the config, in a folder of its own; default: a folder with the name of the project, beside it.
    overwrite: whether the files of a folder with that config may be replaced.
    phase: receives the name of each phase as it begins.

    Raises
    ------
    DataError: the project cannot be read, or is none.
    OutputError: the folder cannot be written, or exists already.
    """
    path = output or source.with_suffix("") / f"{source.stem}.yaml"
    _check_folder(path, overwrite=overwrite)
    phase(f"reading {source.name}")
    project = read_project(source)
    notes = Notes()
    carried = carry_over(project, notes)
    with _staged(path.parent) as folder:
        phase("writing the data")
        encoding = _write_data(project, carried, folder)
        everybody = POPULATION_FILE if carried.population else DATA_FILE
        with _opened(project, folder / everybody, encoding) as relation:
            phase("reading the columns")
            columns = carry_columns(project, relation, folder, notes, population=carried.population)
            rows = relation.rows
        if carried.selected and project.selection is not None:
            rows = project.selection.size
        carried = replace(carried, constraints=_counting_missing(carried.constraints, columns.columns))
        told = Notes(notes.changed, [*notes.left_out, *project.unused])
        content = "".join(f"{line}\n" for line in _text(project, carried, columns, encoding, told))
        config = checked_config(content, path)
        plan_of(config)
        write_whole(folder / path.name, content)
        _move(folder, path)
    return ProjectDraft(
        path, config, project, rows, columns.columns, tuple(told.changed), tuple(told.left_out)
    )


def _check_folder(path: Path, *, overwrite: bool) -> None:
    """Refuse a config that would not be in a folder of its own."""
    check_name(path)
    folder = path.parent
    own = f"name a config in a new folder with -o, such as -o new/{path.name}"
    if not folder.parent.is_dir():
        raise OutputError(f"{path}: no folder '{folder.parent}'; create it, or {own}")
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise OutputError(f"{folder}: exists, and is no folder; {own}")
    if path.is_file() and not overwrite:
        raise OutputError(f"{path}: exists; replace it and the files beside it with --overwrite, or {own}")
    if not path.is_file() and any(folder.iterdir()):
        raise OutputError(f"{folder}: has other files; a project gets a folder of its own: {own}")


@contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """Yield a new folder beside another one, or in it if it is there; what is left of it is removed."""
    place = folder if folder.is_dir() else folder.parent
    staged = place / f".{folder.absolute().name}.{token_hex(4)}"
    try:
        staged.mkdir()
        yield staged
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}") from None
    finally:
        remove_tree(staged)


def _move(staged: Path, path: Path) -> None:
    """Give the staged folder its name, or move its files into a folder that is there, the config last."""
    folder = path.parent
    if not folder.exists():
        rename(staged, folder)
        return
    path.unlink(missing_ok=True)
    for name in (HIERARCHIES, POPULATION_FILE, DATA_FILE):
        old, new = folder / name, staged / name
        if old.is_dir() and not old.is_symlink():
            remove_tree(old)
        else:
            old.unlink(missing_ok=True)
        if new.exists():
            rename(new, old)
    rename(staged / path.name, path)


# Data


def _write_data(project: Project, carried: Carried, folder: Path) -> str:
    """Write the records, all or the selected ones and their population; return their encoding."""
    selection = project.selection if carried.selected else None
    target = folder / (DATA_FILE if selection is None else POPULATION_FILE)
    decoder, encoding = codecs.getincrementaldecoder("utf-8")(), "utf-8"
    with opened_member(project, DATA) as content, target.open("wb") as file:
        while chunk := content.read(_CHUNK):
            file.write(chunk)
            if encoding == OLD_ENCODING:
                continue
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                encoding = OLD_ENCODING
    if selection is not None:
        _write_selected(project, selection, folder)
        if not carried.population:
            target.unlink()
    return encoding


def _write_selected(project: Project, selection: Selection, folder: Path) -> None:
    """Write the selected records of the population."""
    try:
        with (
            (folder / POPULATION_FILE).open(encoding=_BYTES, newline="") as content,
            (folder / DATA_FILE).open("w", encoding=_BYTES, newline="") as file,
        ):
            reader = csv.reader(content, delimiter=project.separator)
            writer = csv.writer(file, delimiter=project.separator, lineterminator="\n")
            writer.writerow(next(reader, []))
            places = iter(selection.records.tolist())
            writer.writerows(compress(reader, places))
            fits = next(places, None) is None and next(reader, None) is None
    except csv.Error as error:
        raise DataError(f"{project.path}: {DATA} in it is not CSV: {error}") from None
    if not fits:
        size = plural(len(selection.records), "record")
        raise DataError(
            f"{project.path}: a selection among {size}, but {DATA} in it has another number; save it again"
        )


def _opened(project: Project, path: Path, encoding: str) -> Relation:
    """Open records that were written; messages name the project."""
    dialect, options = CsvDialect(project.separator, encoding), EngineOptions(named=frozenset())
    try:
        try:
            return open_file(path, dialect, options)
        except DataError as error:
            # The tool leaves quotes within a field as they are, which is read only if they are doubled.
            _write_quoted(path, dialect)
            with suppress(DataError):
                return open_file(path, dialect, options)
            raise error from None
    except DataError as error:
        raise DataError(str(error).replace(str(path), f"{project.path}: {DATA} in it")) from None


def _write_quoted(path: Path, dialect: CsvDialect) -> None:
    """Write a CSV file again, with each quote that is part of a value doubled."""
    loose = path.with_suffix(".loose")
    rename(path, loose)
    with (
        suppress(csv.Error),
        loose.open(encoding=_BYTES, newline="") as content,
        path.open("w", encoding=_BYTES, newline="") as file,
    ):
        rows = csv.reader(content, delimiter=str(dialect.separator))
        csv.writer(file, delimiter=str(dialect.separator), lineterminator="\n").writerows(rows)
    loose.unlink()


def _counting_missing(
    constraints: Sequence[Constraint], columns: Sequence[CarriedColumn]
) -> tuple[Constraint, ...]:
    """Return constraints for which a missing sensitive value is one more value, as in the tool."""
    absent = {each.name for each in columns if each.missing and each.role is Role.SENSITIVE}
    return tuple(
        replace(each, settings={**each.settings, "missing_sensitive": "value"})
        if each.settings["model"] in _DIVERSITIES and each.settings.get("attribute") in absent
        else each
        for each in constraints
    )


# The config


def _text(
    project: Project, carried: Carried, columns: CarriedColumns, encoding: str, told: Notes
) -> Iterator[str]:
    """Yield the lines of the config."""
    title = f": {project.title}" if project.title else ""
    version = f" {project.version}" if project.version else ""
    yield from comment(
        f"Made by `anonymizer init` from {project.path.name}, a project of ARX{version}{title}"
    )
    for heading, lines in (
        ("Carried over with another meaning:", told.changed),
        ("Not carried over:", told.left_out),
    ):
        if lines:
            yield "#"
            yield from comment(heading)
        for line in lines:
            yield from comment(f"- {line}")
    yield ""
    yield from _input(project, carried, columns, encoding)
    yield ""
    yield "attributes:"
    for column in columns.columns:
        yield from comment(column.said, "  ")
        yield f"  {text(column.name)}: {flow(column.settings)}"
    yield ""
    yield "# All must be satisfied on the released file."
    yield "constraints:"
    for constraint in carried.constraints:
        yield from comment(constraint.model, "  ")
        yield f"  - {flow(constraint.settings)}"
    if carried.reference is not None:
        yield f"reference: {carried.reference}   # as in ARX"
    yield ""
    yield from _search(carried, columns.columns)


def _input(project: Project, carried: Carried, columns: CarriedColumns, encoding: str) -> Iterator[str]:
    yield "input:"
    yield f"  path: {DATA_FILE}"
    yield f"  separator: {text(project.separator)}"
    if encoding != "utf-8":
        yield f"  encoding: {text(encoding)}"
    if columns.numerals != POINT:
        yield f"  decimal: {text(columns.numerals.decimal)}"
    if columns.missing != ("",):
        yield f"  missing: {flow(list(columns.missing))}   # ARX takes NULL for a missing value"
    if carried.population:
        yield f"  # {POPULATION_FILE} has all records of the project, {DATA_FILE} the selected ones."
        yield f"  population: {flow({'path': POPULATION_FILE})}"


def _search(carried: Carried, columns: Sequence[CarriedColumn]) -> Iterator[str]:
    suppression: dict[str, Any] = {"limit": carried.limit}
    if carried.keep_rows:
        suppression["keep_rows"] = True
    yield f"suppression: {flow(suppression)}"
    yield "# One generalization level for each column, as in ARX. Without this line, auto loses less."
    yield f"algorithm: {flow({'name': 'auto', 'recoding': 'full-domain'})}"
    if prod(each.levels for each in columns) > PROVEN:
        yield f"budget: {flow({'seconds': SECONDS})}"
    yield f"objective: {flow(carried.objective)}"
