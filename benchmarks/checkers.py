"""Every privacy measure on Adult, beside pycanon in an environment of its own.

Run as ``python -m benchmarks.checkers`` in the folder of the checkout; it installs pycanon from the package
index.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd

import anonymizer
from anonymizer.commands.check import check_names
from anonymizer.data.open import open_frame
from benchmarks import adult
from benchmarks.common import machine, median_seconds, peer_environment, run_peer, table

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
        "ours is the limit that c must exceed at l = 2; pycanon sorts the counts in ascending order, so that "
        "the rarest value stands for r_1, takes the smallest distinct l for l (nan where that is 1), and "
        "returns the next integer",
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
    (value,) = (
        own["measured"]
        for own in measures.to_dict("records")
        if own["model"] == row.model and dict(row.parameters).items() <= own["parameters"].items()
    )
    return float(value if row.item is None else value[row.item])


def measure_rows(measures: pd.DataFrame, theirs: dict[str, Any]) -> list[list[str]]:
    """Return the table of each measure, ours and the peer's."""
    rows = []
    for row in ROWS:
        value = theirs["measures"][row.theirs]["value"]
        other = value if row.position is None else value[row.position]
        settings = ", ".join(f"{key} {setting}" for key, setting in row.parameters)
        name = f"{row.model} ({settings})" if settings else row.model
        rows.append([name, f"{own_value(measures, row):.8g}", f"{other:.8g}", row.why])
    return rows


@dataclass(frozen=True)
class Round:
    """Both measured once, one after the other; ours are medians of several calls.

    Attributes
    ----------
    theirs: seconds of all of the peer's measures.
    ours: seconds of ``check``.
    opened: the same without loading the DataFrame into the engine.
    """

    theirs: float
    ours: float
    opened: float


def measure_round(interpreter: Path, path: Path, runs: int) -> tuple[Round, dict[str, Any]]:
    """Measure a file with both; return the times, and what the peer found."""
    theirs = run_peer(interpreter, "peer.py", str(path), adult.SENSITIVE)
    records = pd.read_csv(path, dtype=str, keep_default_na=False)
    columns = quasi_identifiers(records)
    ours(records)
    own = median_seconds(lambda: ours(records), runs)
    with open_frame(records) as relation:
        opened = median_seconds(lambda: check_names(relation, columns, [adult.SENSITIVE]), runs)
    return Round(sum(each["seconds"] for each in theirs["measures"].values()), own, opened), theirs


def compare(interpreter: Path, records: pd.DataFrame, rounds: int, runs: int) -> str:
    """Measure a table with both, several times, and return the results as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.csv"
        records.to_csv(path, index=False)
        found = [measure_round(interpreter, path, runs) for _ in range(rounds)]
    times, theirs = [each for each, _ in found], found[0][1]
    seconds = [
        ["pycanon, all its measures", f"{median(each.theirs for each in times):.2f} s", ""],
        [
            "`anonymizer.check`, all measures",
            f"{median(each.ours for each in times):.4f} s",
            f"{median(each.theirs / each.ours for each in times):.0f}",
        ],
        [
            "the same without loading the DataFrame into the engine",
            f"{median(each.opened for each in times):.4f} s",
            f"{median(each.theirs / each.opened for each in times):.0f}",
        ],
    ]
    classes = records.groupby(quasi_identifiers(records)).ngroups
    versions = ", ".join(f"{name} {number}" for name, number in theirs["versions"].items())
    values = table(("measure", "ours", "pycanon", "difference"), measure_rows(ours(records), theirs))
    return (
        f"{len(records):,} records, {classes:,} classes; pycanon's environment: {versions}; medians, "
        f"rounds: {rounds}, calls of ours in each: {runs}\n\n"
        f"{table(('', 'seconds', 'times faster'), seconds)}\n\n{values}"
    )


def main() -> None:
    """Print the comparison for the generalised and, on request, the raw table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.checkers", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--runs", type=int, default=15, help="calls of ours in a round (default 15)")
    parser.add_argument("--rounds", type=int, default=3, help="of the generalised table (default 3)")
    parser.add_argument("--raw", action="store_true", help="the raw table too; pycanon takes minutes")
    parser.add_argument(
        "--environment", type=Path, help="keep and reuse pycanon's environment in this folder"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        interpreter = peer_environment((chosen.environment or Path(folder) / "peer").absolute(), PEER)
        records = adult.frame()
        print(f"Generalised (target: at least {TARGET} times faster): ", end="")
        print(compare(interpreter, adult.generalized(records, adult.LEVELS, k=5), chosen.rounds, chosen.runs))
        if chosen.raw:
            print("\nRaw: ", end="")
            print(compare(interpreter, records, 1, chosen.runs))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
