"""Every privacy measure on Adult, beside pycanon in an environment of its own.

Run as ``python -m benchmarks.checkers`` in the folder of the checkout; it installs pycanon from the package index.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import anonymizer
from benchmarks import adult
from benchmarks.common import ROOT, machine, median_seconds, seconds_of, table

PEER = "pycanon==1.3.5"
TARGET = 100
"""At least so many times faster than the peer, on the generalised table."""


@dataclass(frozen=True)
class Row:
    """A measure of ours beside one of the peer's.

    Attributes
    ----------
    model, parameters, item: ours; the item is a position in a measure of several numbers.
    theirs, position: the peer's function, and the position in what it returns.
    why: the reason of a difference.
    """

    model: str
    theirs: str
    why: str
    parameters: tuple[tuple[str, Any], ...] = ()
    item: int | None = None
    position: int | None = None


SAME = "the same definition"
ROWS = (
    Row("k-anonymity", "k_anonymity", SAME),
    Row("alpha-k-anonymity", "alpha_k_anonymity", SAME, item=1, position=0),
    Row("l-diversity", "l_diversity", SAME),
    Row(
        "entropy-l-diversity",
        "entropy_l_diversity",
        "pycanon truncates exp(H) to an integer, after a rounding error that can cost a whole unit",
    ),
    Row(
        "recursive-cl-diversity",
        "recursive_c_l_diversity",
        "ours is the limit that c must exceed at l = 2; pycanon sorts the counts in ascending order, so that the "
        "rarest value stands for r_1, takes l from its own distinct l, and returns the next integer",
        parameters=(("l", 2),),
        position=0,
    ),
    Row("basic-beta-likeness", "basic_beta_likeness", SAME),
    Row(
        "enhanced-beta-likeness",
        "enhanced_beta_likeness",
        "ours is infinite where a gain exceeds -ln p of its value, since no beta then holds; pycanon returns "
        "min(largest gain, -ln of the smallest p), which the table need not satisfy",
    ),
    Row("t-closeness", "t_closeness", SAME + " (equal distance)", parameters=(("distance", "equal"),)),
    Row(
        "delta-disclosure",
        "delta_disclosure",
        "a value that a class lacks violates the definition; pycanon skips it",
        parameters=(("absent", "violates"),),
    ),
    Row(
        "delta-disclosure",
        "delta_disclosure",
        SAME + " once absent values are ignored",
        parameters=(("absent", "ignored"),),
    ),
)


def environment(folder: Path) -> Path:
    """Make a virtual environment with the peer in it, unless it is there; return its Python."""
    interpreter = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    if not interpreter.exists():
        print(f"installing {PEER} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PEER]
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
    return interpreter


def peer(interpreter: Path, data: Path) -> dict[str, Any]:
    """Return what the peer measures on a file, and its seconds."""
    script = ROOT / "benchmarks" / "peer.py"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(interpreter), "-W", "ignore", str(script), str(data), adult.SENSITIVE],
        check=True,
        capture_output=True,
        text=True,
        env=variables,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def quasi_identifiers(records: pd.DataFrame) -> list[str]:
    """Return all columns but the sensitive one."""
    return [name for name in records.columns if name != adult.SENSITIVE]


def ours(records: pd.DataFrame) -> pd.DataFrame:
    """Return what ``check`` measures."""
    return anonymizer.check(
        records, quasi_identifiers=quasi_identifiers(records), sensitive=[adult.SENSITIVE]
    )


def own_value(measures: pd.DataFrame, row: Row) -> float:
    """Return one number of ours."""
    found = [
        own.measured
        for own in measures.itertuples()
        if own.model == row.model and dict(row.parameters).items() <= dict(own.parameters).items()
    ]
    (value,) = found
    return float(value if row.item is None else value[row.item])


def measure_rows(measures: pd.DataFrame, theirs: dict[str, Any]) -> list[Sequence[object]]:
    """Return the table of each measure, ours and the peer's."""
    rows = []
    for row in ROWS:
        value = theirs["measures"][row.theirs]["value"]
        other = value if row.position is None else value[row.position]
        settings = ", ".join(f"{key} {setting}" for key, setting in row.parameters)
        name = f"{row.model} ({settings})" if settings else row.model
        rows.append([name, f"{own_value(measures, row):.8g}", f"{other:.8g}", row.why])
    return rows


def compare(interpreter: Path, records: pd.DataFrame, runs: int) -> str:
    """Measure a table with both and return the results as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.csv"
        records.to_csv(path, index=False)
        theirs = peer(interpreter, path)
        read = pd.read_csv(path, dtype=str, keep_default_na=False)
    first = seconds_of(lambda: ours(read))
    seconds = median_seconds(lambda: ours(read), runs)
    measures = ours(read)
    slow = sum(each["seconds"] for each in theirs["measures"].values())
    times = [
        ["pycanon, all its measures once", f"{slow:.2f} s"],
        [f"`anonymizer.check`, all measures, median of {runs}", f"{seconds:.4f} s"],
        ["`anonymizer.check`, first call", f"{first:.4f} s"],
        ["times faster", f"{slow / seconds:.0f}"],
    ]
    values = table(("measure", "ours", "pycanon", "difference"), measure_rows(measures, theirs))
    classes = records.groupby(quasi_identifiers(records)).ngroups
    versions = ", ".join(f"{name} {number}" for name, number in theirs["versions"].items())
    return (
        f"{len(records):,} records, {classes:,} classes; pycanon's environment: {versions}\n\n"
        f"{table(('', 'seconds'), times)}\n\n{values}"
    )


def main() -> None:
    """Print the comparison for the generalised and, on request, the raw table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.checkers", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--runs", type=int, default=15, help="measured runs of ours (default 15)")
    parser.add_argument("--raw", action="store_true", help="the raw table too; pycanon takes minutes")
    parser.add_argument(
        "--environment", type=Path, help="keep and reuse pycanon's environment in this folder"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        interpreter = environment((chosen.environment or Path(folder) / "peer").absolute())
        records = adult.frame()
        print(f"Generalised (target: at least {TARGET} times faster): ", end="")
        print(compare(interpreter, adult.generalized(records, adult.LEVELS, k=5), chosen.runs))
        if chosen.raw:
            print("\nRaw: ", end="")
            print(compare(interpreter, records, chosen.runs))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
