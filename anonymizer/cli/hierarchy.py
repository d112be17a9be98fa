"""``anonymizer hierarchy``: draw a hierarchy, check it against a column, build one from a column."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from anonymizer.cli.output import Json, Quiet, with_usable_paths, write_json, write_line
from anonymizer.config.attribute import contradictory
from anonymizer.data.table import NotDates, read_column
from anonymizer.errors import HierarchyError, InputError, OutputError
from anonymizer.hierarchy.builder import make_builder, named_source, usages
from anonymizer.hierarchy.draw import NO_COLUMN, draw
from anonymizer.hierarchy.draw import svg as picture
from anonymizer.hierarchy.file import write_rows
from anonymizer.hierarchy.leaves import fitted
from anonymizer.hierarchy.placement import Placement, place
from anonymizer.hierarchy.ready import ReadySource, read_ready
from anonymizer.hierarchy.source import HierarchySource, compile_tree, merge_small
from anonymizer.model.dates import DateFormat, format_problem
from anonymizer.model.table import Column, Hierarchy
from anonymizer.plugins import LARGEST_WHOLE
from anonymizer.system import write_whole

hierarchy_app = typer.Typer(help="Show, validate or build a hierarchy.", add_completion=False)

Source = Annotated[str, typer.Argument(help="A hierarchy CSV file, or the name of a ready-made hierarchy.")]
Data = Annotated[Path, typer.Option("--data", help="The data file.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")]
ColumnName = Annotated[str, typer.Option("--column", help="The column of the data file.")]

Format = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="How the column's dates are written, such as %d.%m.%Y; may be given several times. The "
        "hierarchy has them in ISO 8601, like a run with type: date and this format.",
    ),
]

HERE = Path()


@hierarchy_app.command()
@with_usable_paths
def show(
    source: Source,
    children: Annotated[int, typer.Option(min=1, help="Maximum number of children drawn under a node.")] = 8,
    svg: Annotated[Path | None, typer.Option(help="Draw the hierarchy into this SVG file instead.")] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Draw a hierarchy as a tree."""
    named, children = named_source(source), min(children, LARGEST_WHOLE)
    if isinstance(named, ReadySource) and read_ready(source).hierarchy.rule_built:
        raise InputError(
            f"{named.describe()} is built from the values of a column and cannot be shown without one; "
            f"use hierarchy validate {source} --data FILE --column NAME or hierarchy build --by like={source}"
        )
    hierarchy = compile_tree(named.build(NO_COLUMN, HERE), named.describe())
    if svg is not None:
        _check_output(svg, Path(source), overwrite)
        write_whole(svg, picture(hierarchy, children))
    if json:
        write_json(_summary(hierarchy, []))
        return
    if svg is None:
        wide = None if sys.stdout.isatty() else 10_000
        Console(width=wide, highlight=False).print(draw(hierarchy, children))
    if not quiet:
        write_line(f"{'' if svg is None else f'Drew {svg}. '}{_size(hierarchy)}")


@hierarchy_app.command()
@with_usable_paths
def validate(
    source: Source,
    data: Data,
    column: ColumnName,
    form: Format = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check that a hierarchy is one tree that places every value of a column; exit code 1 if not."""
    named = named_source(source)
    values = _values(data, column, form)
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
@with_usable_paths
def build(  # noqa: PLR0913 - one for each option
    *,
    data: Data,
    column: ColumnName,
    by: Annotated[str, typer.Option(metavar="HOW[=VALUE]", help=f"How: {usages()}.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The CSV file to write.")],
    merge_below: Annotated[
        int | None,
        typer.Option(min=1, help="Merge values of fewer records with siblings into 'other'."),
    ] = None,
    form: Format = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Build a hierarchy from the values of a column, and write it as a CSV file that you can edit."""
    builder = make_builder(by)
    _check_output(output, data, overwrite)
    values = _values(data, column, form)
    if not values.present:
        raise InputError(
            f"{data}: column '{column}' has only missing values; a hierarchy needs at least one value"
        )
    name = f"column '{column}': hierarchy by {by}"
    hierarchy = compile_tree(fitted(builder.build(data, values), values, name), name)
    if merge_below is not None:
        records = dict(zip(values.present, values.counts.tolist(), strict=False))
        hierarchy = compile_tree(merge_small(hierarchy, records, min(merge_below, LARGEST_WHOLE)), name)
    write_rows(hierarchy, output)
    if json:
        write_json(_summary(hierarchy, []))
    elif not quiet:
        write_line(f"Wrote {output}. {_size(hierarchy)}")


def _values(data: Path, name: str, forms: list[str] | None) -> Column:
    """Return the column of a file.

    Raises
    ------
    InputError: a format is wrong, or the column cannot be read; the remedy is an option, not a key.
    """
    try:
        return read_column(data, name, _dates(forms))
    except NotDates as error:
        raise InputError(f"{error.args[0]}; give another --format, or leave the option out") from None


def _dates(forms: list[str] | None) -> DateFormat:
    """Return the declared formats of dates.

    Raises
    ------
    InputError: a format is wrong, or two of them read one text as two dates.
    """
    known = tuple(forms or ())
    for wrong in (*map(format_problem, known), *contradictory(known)):
        if wrong is not None:
            raise InputError(f"--format: {wrong}")
    return DateFormat(known)


def _tree_alone(column: Column, source: HierarchySource[Any]) -> Hierarchy | None:
    """Return the hierarchy without placing the column's values; None if it is not a tree."""
    try:
        return compile_tree(source.build(column, HERE), source.describe())
    except HierarchyError:
        return None


def _check_output(output: Path, read: Path, overwrite: bool) -> None:
    if not output.exists():
        return
    if read.exists() and output.samefile(read):
        raise OutputError(f"{output}: is the input, which is never modified; give another path")
    if not overwrite:
        raise OutputError(f"{output}: exists; give another path, or --overwrite")


def _summary(hierarchy: Hierarchy | None, problems: list[str]) -> dict[str, Any]:
    return {
        "levels": hierarchy.height + 1 if hierarchy else None,
        "leaves": hierarchy.leaves if hierarchy else None,
        "problems": problems,
    }


def _size(hierarchy: Hierarchy) -> str:
    return f"{hierarchy.height + 1} levels, {hierarchy.leaves:,} leaves"
