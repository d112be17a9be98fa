"""The attacks that count classes on a million records, beside the one GROUP BY that they need.

Run as ``python -m benchmarks.counting`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median

import numpy as np

from anonymizer.adversary.release import read_release
from anonymizer.attacks.base import ATTACKS
from anonymizer.config.load import load_config
from anonymizer.config.model import Config
from anonymizer.data.open import open_file
from anonymizer.model.adversary import AdversaryView
from anonymizer.plan.plan import plan_of
from benchmarks import adult, million
from benchmarks.common import machine, seconds_of, table

NAMES = ("uniqueness", "vulnerability", "homogeneity", "background", "skewness", "similarity", "wildcard")
TARGET = 3
"""All attacks together take at most so many times as long as the GROUP BY."""


def config() -> Config:
    """Return a config with occupation as the sensitive attribute."""
    roles: dict[str, object] = {
        name: {"role": "quasi-identifier"} for name in adult.ATTRIBUTES if name != adult.SENSITIVE
    }
    hierarchy = {"file": str(adult.hierarchy(adult.SENSITIVE))}
    roles[adult.SENSITIVE] = {"role": "sensitive", "hierarchy": hierarchy}
    return load_config({"attributes": roles, "constraints": [{"model": "k-anonymity", "k": 1}]})


def measure(path: Path) -> tuple[float, dict[str, float], int]:
    """Return the seconds of the GROUP BY and of each attack on what it counted, and the combinations."""
    with open_file(path) as relation:
        grouped = seconds_of(lambda: relation.group_counts(adult.ATTRIBUTES))
        release = read_release(plan_of(config()).columns, relation)
    scene, random = AdversaryView(release), np.random.default_rng(0)
    seconds = {}
    for name in NAMES:
        attack = ATTACKS[name]()
        seconds[name] = seconds_of(lambda attack=attack: attack.run(scene, random))  # type: ignore[misc]
    return grouped, seconds, len(release.counts)


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.counting", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--runs", type=int, default=5, help="rounds (default 5)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.parquet"
        million.write(million.resampled(million.RECORDS, million.SEED), path)
        measure(path)
        found = [measure(path) for _ in range(chosen.runs)]
    rows = [["the GROUP BY", f"{median(grouped for grouped, _, _ in found):.3f} s", "1.00"]]
    for name in NAMES:
        ratio = median(own[name] / grouped for grouped, own, _ in found)
        rows.append([f"`{name}`", f"{median(own[name] for _, own, _ in found):.3f} s", f"{ratio:.2f}"])
    ratio = median(sum(own.values()) / grouped for grouped, own, _ in found)
    total = median(sum(own.values()) for _, own, _ in found)
    rows.append([f"all (target: at most {TARGET})", f"{total:.3f} s", f"{ratio:.2f}"])
    records = f"{million.RECORDS:,} records, {len(adult.ATTRIBUTES)} columns, {found[0][2]:,} combinations"
    lines = table(("", "seconds", "in GROUP BYs"), rows)
    print(f"{records}; medians of {chosen.runs}\n\n{lines}\n\n{machine()}")


if __name__ == "__main__":
    main()
