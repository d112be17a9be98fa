"""``anonymizer hierarchy``: draw a hierarchy, check it against a column, build one from a column."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from anonymizer.cli.output import Json, Quiet, write_json, write_line
from anonymizer.core.hierarchy import Hierarchy
from anonymizer.core.table import Column
from anonymizer.errors import HierarchyError, InputError, OutputError, nearest
from anonymizer.hierarchy.base import HierarchySource
from anonymizer.hierarchy.compile import compile_tree
from anonymizer.hierarchy.draw import NO_COLUMN, draw
from anonymizer.hierarchy.file import FileSettings, FileSource
from anonymizer.hierarchy.mask import Side
from anonymizer.hierarchy.placement import Placement, place
from anonymizer.hierarchy.ready import ReadySettings, ReadySource, read_ready, ready_names
from anonymizer.hierarchy.sources import make_source
from anonymizer.hierarchy.write import write_rows
from anonymizer.table.load import read_column

hierarchy_app = typer.Typer(help="Show, validate or build a hierarchy.", add_completion=False)

Source = Annotated[str, typer.Argument(help="A hierarchy CSV file, or the name of a ready-made hierarchy.")]
Data = Annotated[Path, typer.Option("--data", help="The data file.")]
ColumnName = Annotated[str, typer.Option("--column", help="The column of the data file.")]

HERE = Path()


@hierarchy_app.command()
def show(
    source: Source,
    children: Annotated[int, typer.Option(min=1, help="Children drawn under a node.")] = 8,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draw a hierarchy as a tree."""
    named = _named_source(source)
    if isinstance(named, ReadySource) and read_ready(source).hierarchy.rule_built:
        raise InputError(
            f"{named.describe()} is made from the values of a column; see hierarchy validate {source} --data "
            "FILE --column NAME, or hierarchy build"
        )
    hierarchy = compile_tree(named.build(NO_COLUMN, HERE), named.describe())
    if json:
        write_json(_summary(hierarchy, []))
        return
    wide = None if sys.stdout.isatty() else 10_000
    Console(width=wide, highlight=False).print(draw(hierarchy, children))
    if not quiet:
        write_line(_size(hierarchy))


@hierarchy_app.command()
def validate(
    source: Source, data: Data, column: ColumnName, quiet: Quiet = False, json: Json = False
) -> None:
    """Check that a hierarchy is one tree that places every value of a column; exit code 1 if not."""
    named = _named_source(source)
    values = read_column(data, column)
    problems = []
    try:
        hierarchy: Hierarchy | None = place(values, named, Placement(HERE))[0]
    except HierarchyError as error:
        problems.append(str(error))
        hierarchy = _tree_alone(values, named)
    if json:
        write_json(_summary(hierarchy, problems))
    elif problems:
        for problem in problems:
            write_line(problem)
    elif hierarchy is not None and not quiet:
        write_line(f"{named.describe()} places all {values.size:,} values of '{column}'. {_size(hierarchy)}")
    if problems:
        raise typer.Exit(1)


@hierarchy_app.command()
def build(  # noqa: PLR0913 - one parameter an option
    *,
    data: Data,
    column: ColumnName,
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")],
    auto: Annotated[bool, typer.Option("--auto", help="Balanced by the data's frequencies.")] = False,
    intervals: Annotated[str | None, typer.Option(help="Widths of intervals, as 5,10,20.")] = None,
    mask: Annotated[Side | None, typer.Option(help="The end from which characters are masked.")] = None,
    date: Annotated[bool, typer.Option("--date", help="Month, quarter, year, decade.")] = False,
    order: Annotated[str | None, typer.Option(help="Consecutive values in a group, as 2,4.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file if there is one.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build a hierarchy from the values of a column, and write it as a CSV file that can be edited."""
    given: dict[str, Any] = {
        "auto": {} if auto else None,
        "intervals": {"width": intervals.split(",")} if intervals is not None else None,
        "mask": {"from": mask} if mask is not None else None,
        "date": {} if date else None,
        "order": {"sizes": order.split(",")} if order is not None else None,
    }
    asked = {name: settings for name, settings in given.items() if settings is not None}
    if len(asked) != 1:
        found = " and ".join(f"--{name}" for name in asked) or "no kind of hierarchy"
        raise InputError(f"{found} given; accepted: one of {', '.join(f'--{name}' for name in given)}")
    source = make_source(asked, "hierarchy build")
    _check_output(output, data, overwrite)
    values = read_column(data, column)
    if not values.present:
        raise InputError(f"{data}: column '{column}' has only missing values, which make no hierarchy")
    hierarchy = compile_tree(source.build(values, HERE), f"column '{column}': {source.describe()}")
    write_rows(hierarchy, output)
    if json:
        write_json(_summary(hierarchy, []))
    elif not quiet:
        write_line(f"Wrote {output}. {_size(hierarchy)}")


def _named_source(source: str) -> HierarchySource[Any]:
    if source in ready_names() and not Path(source).is_file():
        return ReadySource(ReadySettings(source))
    if not Path(source).exists():
        raise InputError(f"{source}: no such file, and no ready hierarchy; {nearest(source, ready_names())}")
    return FileSource(FileSettings(source))


def _tree_alone(column: Column, source: HierarchySource[Any]) -> Hierarchy | None:
    """Return the hierarchy without the column's values placed, None where it is no tree."""
    try:
        return compile_tree(source.build(column, HERE), source.describe())
    except HierarchyError:
        return None


def _check_output(output: Path, data: Path, overwrite: bool) -> None:
    if not output.exists():
        return
    if data.exists() and output.samefile(data):
        raise OutputError(f"{output}: is the data file, which is never modified; name another file")
    if not overwrite:
        raise OutputError(f"{output}: exists; name another file, or give --overwrite")


def _summary(hierarchy: Hierarchy | None, problems: list[str]) -> dict[str, Any]:
    return {
        "levels": hierarchy.height + 1 if hierarchy else None,
        "leaves": hierarchy.leaves if hierarchy else None,
        "problems": problems,
    }


def _size(hierarchy: Hierarchy) -> str:
    return f"{hierarchy.height + 1} levels, {hierarchy.leaves:,} leaves"
