"""``anonymizer benchmark``: algorithms and settings, repeated and measured on data of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymizer.cli.compare import progress_monitor
from anonymizer.cli.output import Json, Quiet, stop_on_interrupt, write_json, write_line

Data = Annotated[
    Path | None, typer.Argument(help="For the suite adult: the file with the data.", show_default=False)
]
SuiteName = Annotated[
    str, typer.Option("--suite", metavar="NAME", help="The data: adult, sample or wide.", show_default=True)
]
Algorithms = Annotated[
    list[str] | None,
    typer.Option(
        "--algorithm",
        metavar="NAME|MODULE:CLASS",
        help="An algorithm, or a class that is one; repeatable [default: all that suit].",
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=V1,V2",
        help="Values of a parameter of a constraint, a config key, or a size; repeatable.",
    ),
]
Repeat = Annotated[int, typer.Option("--repeat", min=1, metavar="N", help="Number of tables.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for all runs as CSV, curves and the command."),
]
Workers = Annotated[
    int,
    typer.Option("--workers", min=1, help="Maximum number of parallel runs, which disturb each other."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an earlier benchmark.")]


def benchmark(  # noqa: PLR0913, PLR0917 - one for each option
    data: Data = None,
    suite: SuiteName = "sample",
    algorithm: Algorithms = None,
    vary: Vary = None,
    repeat: Repeat = 5,
    output: Output = None,
    workers: Workers = 1,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Run search algorithms on tables of a suite, and measure loss, gap, attacks, processor time and memory.

    Every algorithm runs with every combination of values on --repeat tables, which differ in the seed. The
    result is the mean and the spread over the tables. Ctrl-C ends it with the runs that are done. Exit code 1
    if no run found a release, or one failed.
    """
    from anonymizer.commands.benchmark import (  # noqa: PLC0415
        COMMAND,
        PAGE,
        RUNS,
        BenchmarkFolder,
        Request,
        plan_benchmark,
    )
    from anonymizer.commands.benchmark import benchmark as run_benchmark  # noqa: PLC0415
    from anonymizer.report.benchmark import lines, to_csv, to_dict  # noqa: PLC0415
    from anonymizer.report.benchmark_page import benchmark_page  # noqa: PLC0415

    algorithms, varied = tuple(algorithm or ()), tuple(vary or ())
    plan = plan_benchmark(Request(suite, data, algorithms, varied, repeat, output, workers))
    folder = None if output is None else BenchmarkFolder(output, overwrite=overwrite)
    with stop_on_interrupt() as stopped, progress_monitor(stopped, quiet=quiet) as watch:
        found = run_benchmark(plan, watch)
    if folder is not None:
        folder.write({RUNS: to_csv(found), PAGE: benchmark_page(found), COMMAND: f"{found.command}\n"})
    if json:
        write_json(to_dict(found))
    else:
        for line in lines(found):
            write_line(line)
        if folder is not None:
            write_line()
            write_line(f"Wrote {folder.directory.as_posix()}/    {PAGE}  {RUNS}  {COMMAND}")
    released = any(each.run.measured is not None for each in found.trials)
    return 0 if released and not found.failed else 1
