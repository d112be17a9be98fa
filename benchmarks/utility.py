"""What releases of Adult by several algorithms are good for, beside the originals and mere ``*``.

Run as ``python -m benchmarks.utility`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import anonymizer as an
from benchmarks import adult
from benchmarks.common import machine, table

MEASURES = ("marginal-distance", "pair-distance", "query-error", "prediction")
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "lattice, at most 2 % suppressed": {"suppression": {"limit": 0.02}},
    "mondrian": {"algorithm": {"name": "mondrian"}, "suppression": {"limit": 0}},
    "mondrian, labels: set": {
        "algorithm": {"name": "mondrian", "labels": "set"},
        "suppression": {"limit": 0},
    },
    "local": {"algorithm": {"name": "local"}, "suppression": {"limit": 0}},
}


def measured(setting: Mapping[str, Any], k: int, seconds: float) -> Mapping[str, Any]:
    """Return the report of a release of Adult, occupation sensitive."""
    config = adult.config(adult.data(), 0.0, k)
    del config["input"]
    config["attributes"][adult.SENSITIVE] = {"role": "sensitive"}
    wanted = {**config, **setting, "utility": [*MEASURES], "budget": {"seconds": seconds}}
    return an.anonymize(adult.frame(), wanted).report.to_dict()


def compare(k: int, seconds: float) -> str:
    """Return the measures of every release as Markdown."""
    reports = {name: measured(setting, k, seconds) for name, setting in SETTINGS.items()}
    rows = [
        (name, f"{each['loss']['loss']:.4f}", *(f"{own['value']:.4f}" for own in each["utility"]))
        for name, each in reports.items()
    ]
    last = [*reports.values()][-1]["utility"]
    rows.append(("the originals", "0", *(f"{own['untouched']:.4f}" for own in last)))
    rows.append(("mere `*`", "1", *(f"{own['suppressed']:.4f}" for own in last)))
    longest = [max(each["utility"][place]["seconds"] for each in reports.values()) for place in range(4)]
    rows.append(("longest time, s", "", *(f"{own:.2f}" for own in longest)))
    heading = f"Adult, k = {k}, occupation sensitive; at most {seconds:g} s of searching each. {machine()}"
    return "\n\n".join([heading, table(("release", "loss", *MEASURES), rows)])


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20, help="of each search (default: 20)")
    asked = parser.parse_args()
    print(compare(asked.k, asked.seconds))


if __name__ == "__main__":
    main()
