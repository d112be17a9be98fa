"""Processor seconds per million records against records, a line for each process of ``benchmarks.scale``.

Run as ``python -m benchmarks.scale_plot [RECORDS …]`` in the folder of the checkout; writes ``scale.svg``
into benchmarks/ and prints the same numbers. A line that does not rise is work that grows as the records do.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.common import ROOT, machine, table
from benchmarks.scale import ALGORITHMS, timed

RECORDS = (1_000_000, 3_000_000, 10_000_000, 30_000_000)


def draw(seconds: Mapping[str, Sequence[float]], records: Sequence[int], path: Path) -> None:
    """Draw processor seconds of each process, one for each number of records."""
    import matplotlib.pyplot as plt

    # The same numbers give the same bytes, and letters stay letters.
    plt.rcParams.update({"svg.hashsalt": "scale", "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for name, own in seconds.items():
        axes.plot(records, rates(own, records), "o-", label=name)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("records")
    axes.set_ylabel("processor seconds per million records")
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close(figure)


def rates(seconds: Sequence[float], records: Sequence[int]) -> list[float]:
    """Return processor seconds per million records."""
    return [own * 1e6 / number for own, number in zip(seconds, records, strict=True)]


def told(seconds: Mapping[str, Sequence[float]], records: Sequence[int]) -> str:
    """Return the table of what is drawn, as Markdown, and how much more the most records take of each."""
    rows = []
    for name, own in seconds.items():
        found = rates(own, records)
        rows.append([name, *(f"{each:.2f}" for each in found), f"{found[-1] / found[0]:.2f}"])
    return table(("process", *(f"{number:,}" for number in records), "last / first"), rows)


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
    print(told(seconds, chosen.records))
    print(f"\n{machine()}")
    draw(seconds, chosen.records, ROOT / "benchmarks" / "scale.svg")


if __name__ == "__main__":
    main()
