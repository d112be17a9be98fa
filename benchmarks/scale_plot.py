"""Processor seconds per million records against records, a line for each process of ``benchmarks.scale``.

Run as ``python -m benchmarks.scale_plot [RECORDS …]`` in the folder of the checkout; writes ``scale.svg``
into benchmarks/. A line that does not rise is work that grows as the records do.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.common import ROOT
from benchmarks.scale import ALGORITHMS, timed

RECORDS = (1_000_000, 3_000_000, 10_000_000, 30_000_000)


def draw(seconds: Mapping[str, Sequence[float]], records: Sequence[int], path: Path) -> None:
    """Draw processor seconds of each process, one for each number of records."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, own in seconds.items():
        rates = [each * 1e6 / number for each, number in zip(own, records, strict=True)]
        axes.plot(records, rates, "o-", label=name)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("records")
    axes.set_ylabel("processor seconds per million records")
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_plot", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("records", type=int, nargs="*", default=list(RECORDS))
    parser.add_argument("--algorithms", nargs="*", choices=list(ALGORITHMS), default=["lattice"])
    chosen = parser.parse_args()
    seconds: dict[str, list[float]] = {}
    for number in chosen.records:
        for name, found in timed(number, "varied", chosen.algorithms).items():
            seconds.setdefault(name, []).append(found)
    draw(seconds, chosen.records, ROOT / "benchmarks" / "scale.svg")


if __name__ == "__main__":
    main()
