"""``anonymizer compare``: which algorithm, which settings?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymizer.cli.output import Json, Quiet, write_json, write_line
from anonymizer.cli.stop import stop_on_interrupt

Algorithms = Annotated[
    list[str] | None,
    typer.Option("--algorithm", metavar="NAME", help="An algorithm to compare; repeatable."),
]
Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", metavar="KEY=V1,V2", help="Values to try for a config key; repeatable."),
]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for the comparison [default: comparison/ beside CONFIG]."),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Runs at a time [default: the number of cores].")
]


def compare(
    config: Annotated[Path, typer.Argument(help="YAML, TOML or JSON file.")],
    algorithm: Algorithms = None,
    vary: Vary = None,
    output: Output = None,
    workers: Workers = None,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
    """Run CONFIG with every algorithm and every combination of values; show risk, loss and time side by side.

    No run leaves a release. Each result is kept: the same command goes on where an earlier one was ended.
    Without --algorithm and --vary: every algorithm that suits CONFIG. Exit code 1 when no run has a
    release, or one failed.
    """
    from anonymizer.cli.comparing import progress_monitor  # noqa: PLC0415 - --help needs none of it
    from anonymizer.config.vary import variations  # noqa: PLC0415
    from anonymizer.flow.compare import compare as compare_runs  # noqa: PLC0415
    from anonymizer.flow.compare import open_folder  # noqa: PLC0415
    from anonymizer.flow.comparing.plan import planned  # noqa: PLC0415
    from anonymizer.flow.comparing.pool import cores  # noqa: PLC0415
    from anonymizer.report.build import environment  # noqa: PLC0415
    from anonymizer.report.comparison_page import compare_page  # noqa: PLC0415
    from anonymizer.report.comparison_table import (  # noqa: PLC0415
        lines,
        to_csv,  # noqa: PLC0415
        to_dict,
    )

    plan = planned(config, algorithm or [], variations(vary or []))
    folder = open_folder(output if output is not None else config.parent / "comparison", plan)
    number = min(workers or cores(), len(plan))
    with stop_on_interrupt() as stopped, progress_monitor(stopped, quiet=quiet) as watch:
        found = compare_runs(plan, folder, number, watch)
    folder.show("compare.csv", to_csv(found))
    folder.show("compare.html", compare_page(found, environment()["anonymizer"]))
    if json:
        write_json(to_dict(found))
    else:
        for line in (*lines(found), ""):
            write_line(line)
        write_line(f"Keep:  {folder.directory}/    compare.html  compare.csv  (internal)")
    return 0 if found.recommended_runs and not found.failed else 1
