"""What measuring a whole release costs, by part, beside the run that it belongs to: processor time.

Run as ``python -m benchmarks.exposure [--records N] [--columns N]`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from anonymizer.config.load import load_config
from anonymizer.exposure.measure import DETECTORS, exposure_of
from anonymizer.job.clock import UNWATCHED
from anonymizer.job.exposure import released_records
from anonymizer.job.source import input_source
from anonymizer.plan.engine import engine_options
from anonymizer.plan.plan import plan_of
from benchmarks.common import machine, read_report, run_command, run_process, table

SHAPES = ((1_000_000, 20), (20_000, 500))
SEED = 1
TARGET = 0.5
"""Share of the rest of a run that measuring may take."""

KNOWN = {"age": "integer", "sex": "text", "district": "text", "admitted": "date", "discharged": "date"}
SECRET = ("diagnosis", "income")


def stays(records: int, columns: int, seed: int) -> pd.DataFrame:
    """Return made-up hospital stays of people in households, with answers up to a number of columns."""
    draw = np.random.default_rng(seed)
    home = draw.integers(records // 3, size=records)
    start = np.datetime64("2021-01-01") + draw.integers(900, size=records)
    stay = 1 + draw.geometric(0.12, size=records)
    frame = pd.DataFrame(
        {
            "case": np.arange(records),
            "home": home,
            "age": draw.integers(98, size=records),
            "sex": draw.choice(["F", "M"], size=records),
            "district": [f"D{each}" for each in home % 40],
            "admitted": start,
            "discharged": start + stay,
            "length_of_stay": stay,
            "rent": 300 + home * 7 % 1_200,
            "diagnosis": draw.choice(["C50", "F32", "I10", "J44", "M17"], size=records),
            "income": (draw.lognormal(7.5, 0.5, size=records) // 100 * 100).astype(int),
        }
    )
    answers = {f"q{each}": draw.integers(5, size=records) for each in range(columns - frame.shape[1])}
    return pd.concat([frame, pd.DataFrame(answers)], axis=1)


def settings(path: Path, frame: pd.DataFrame) -> dict[str, Any]:
    """Return a config in which dates are known, and what follows from them is not thought of."""
    roles: dict[str, Any] = dict.fromkeys(frame.columns, "insensitive")
    roles |= {"case": "identifier", "home": "drop", **dict.fromkeys(SECRET, "sensitive")}
    roles |= {name: {"role": "quasi-identifier", "type": kind} for name, kind in KNOWN.items()}
    return {
        "input": {"path": str(path), "household": "home"},
        "attributes": roles,
        "constraints": [
            {"model": "k-anonymity", "k": 5},
            *({"model": "l-diversity", "l": 2, "attribute": each} for each in SECRET),
        ],
        "algorithm": {"name": "mondrian"},
        "attacks": [],
    }


def by_part(config: dict[str, Any]) -> dict[str, float]:
    """Return the processor seconds of each part of the measure."""
    loaded = load_config(config)
    plan = plan_of(loaded)
    with input_source(loaded).task(plan, engine_options(loaded), UNWATCHED) as task:
        found = task.find()
        parts, since = {}, process_time()
        records = released_records(found)
        parts["reading the records"] = process_time() - since
        since = process_time()
        exposure_of(records, plan.assessment.exposure)
        whole = process_time() - since
        for detector in DETECTORS:
            since = process_time()
            for finding in detector.find(records, plan.assessment.exposure.of(detector)):
                detector.remedy(finding, records)
            parts[detector.kind.value] = process_time() - since
    return parts | {"counts, and public kinds": whole - sum(list(parts.values())[1:])}


def measured(records: int, columns: int) -> str:
    """Run on records of one shape and return the results as Markdown."""
    frame = stays(records, columns, SEED)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stays.csv"
        frame.to_csv(path, index=False)
        config = settings(path, frame)
        written = Path(folder) / "stays.yaml"
        written.write_text(json.dumps(config), encoding="utf-8")
        whole = run_process(run_command(written, Path(folder) / "release"))
        report = read_report(Path(folder) / "release")
        parts = by_part(config)
    all_parts = sum(parts.values())
    rest = whole.cpu_seconds - all_parts
    rows = [
        [f"the run without it, {records:,} x {columns}", f"{rest:.2f} s", "1.00"],
        *([name, f"{each:.2f} s", f"{each / rest:.3f}"] for name, each in parts.items()),
        [f"all parts (target: at most {TARGET:g})", f"{all_parts:.2f} s", f"{all_parts / rest:.2f}"],
    ]
    kinds = sorted({each["kind"] for each in report["exposure"]["findings"]})
    return (
        f"{table(('part', 'CPU seconds', 'of the run'), rows)}\n\nfound: {', '.join(kinds)}; "
        f"peak memory {whole.peak_mib:,.0f} MiB"
    )


def main() -> None:
    """Print what each shape takes."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.exposure", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--records", type=int, help="records of one shape")
    parser.add_argument("--columns", type=int, default=20, help="its columns (default 20)")
    chosen = parser.parse_args()
    shapes = SHAPES if chosen.records is None else [(chosen.records, chosen.columns)]
    print("\n\n".join(measured(*each) for each in shapes))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
