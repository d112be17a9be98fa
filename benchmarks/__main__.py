"""The command `anonymizer benchmark` on the sample and on Adult, as Markdown.

Run as ``python -m benchmarks`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse

from anonymizer.commands.benchmark import Request, benchmark, plan_benchmark
from anonymizer.report.benchmark import attack_cells, first_cells, head, rows
from benchmarks import adult
from benchmarks.common import machine, table

VARIED = ("k=2,5,10",)


def shown(request: Request) -> str:
    """Return what a benchmark measured, as its command and two tables."""
    found = benchmark(plan_benchmark(request))
    attacked = [(*first_cells(found, cell), *attack_cells(found, cell)) for cell in found.cells]
    return "\n\n".join(
        (
            found.headline(),
            table(head(found), rows(found)),
            "Success of attacks, in percent:",
            table((*found.keys, "algorithm", *found.attacks), attacked),
        )
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--vary", action="append", help="as of the command (default k=2,5,10)")
    parser.add_argument("--repeat", type=int, default=5, help="tables (default 5)")
    parser.add_argument("--without-adult", action="store_true", help="the sample alone")
    asked = parser.parse_args()
    varied = tuple(asked.vary or VARIED)
    print(shown(Request("sample", vary=varied, repeat=asked.repeat)))
    if not asked.without_adult:
        print("\n" + shown(Request("adult", adult.data(), vary=varied, repeat=asked.repeat)))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
