"""Mondrian on Adult: what it loses and takes beside anonypy, and beside the optimal full-domain recoding.

Run as ``python -m benchmarks.mondrian`` in the folder of the checkout; it installs anonypy from the package
index.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import anonymizer
from benchmarks import adult
from benchmarks.common import (
    ROOT,
    Process,
    machine,
    peer_environment,
    read_report,
    run_command,
    run_process,
    table,
)
from benchmarks.shared import shared

PEER = "anonypy==0.2.1"
SEVEN = ("age", "workclass", "education-num", "marital-status", "race", "sex", "native-country")
EIGHT = (*SEVEN, "salary-class")
NUMBERS = ("age", "education-num")
CPU_TARGET = 20
"""At least so many times less CPU time than the peer at k = 5."""

PUBLISHED = {
    2: (1.42, 2.26, 0.49),
    5: (3.40, 6.89, 1.62),
    10: (5.98, 10.40, 2.98),
    25: (11.15, 14.79, 5.66),
    50: (16.30, 20.36, 8.64),
    100: (22.28, 27.05, 12.56),
}
"""Certainty penalty in % by k: anonypy, relaxed Mondrian of qiyuangong, and the target."""

DISCERNIBILITY_TARGET = 256_064
CLASS_SIZE_TARGET = 1.56
LIMITS = (0.0, 0.02, 0.05, 1.0)


def records() -> pd.DataFrame:
    """Return Adult with the years of education as a number."""
    found = adult.frame()
    full = pd.read_csv(shared("data", "adult_full", "data.csv.gz"), dtype=str, keep_default_na=False)
    years = full.drop_duplicates("education").set_index("education")["education-num"]
    found["education-num"] = found["education"].map(years)
    return found[[*EIGHT, adult.SENSITIVE]]


def config(attributes: Sequence[str], k: int, **options: str) -> dict[str, Any]:
    """Return a config without hierarchies: Mondrian with these options, metric ncp."""
    return {
        "attributes": {
            **{name: {"role": "quasi-identifier"} for name in attributes},
            **{name: {"role": "quasi-identifier", "type": "integer"} for name in NUMBERS},
            adult.SENSITIVE: {"role": "sensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": k}],
        "algorithm": {"name": "mondrian", **options},
        "objective": {"metric": "ncp"},
    }


@dataclass(frozen=True)
class Run:
    """One release, verified.

    Attributes
    ----------
    report: the internal report.
    cpu_seconds: of the call: reading the records, the search, and the verification.
    """

    report: Mapping[str, Any]
    cpu_seconds: float

    @property
    def loss(self) -> Mapping[str, Any]:
        """Every loss metric of the release."""
        own: Mapping[str, Any] = self.report["loss"]
        return own


def run(frame: pd.DataFrame, asked: Mapping[str, Any]) -> Run:
    """Anonymize records."""
    start = time.process_time()
    result = anonymizer.anonymize(frame, dict(asked))
    return Run(result.report.to_dict(), time.process_time() - start)


@dataclass(frozen=True)
class Peer:
    """The peer on one table.

    Attributes
    ----------
    process: its whole process.
    cpu_seconds: of the call alone.
    ncp: its certainty penalty.
    """

    process: Process
    cpu_seconds: float
    ncp: float


def peer(interpreter: Path, folder: Path, frame: pd.DataFrame, k: int) -> Peer:
    """Run the peer on records."""
    data, target = folder / "peer.csv", folder / "peer.json"
    frame.to_csv(data, index=False)
    script = str(ROOT / "benchmarks" / "mondrian_peer.py")
    command = [str(interpreter), "-I", "-W", "ignore", script, str(data), str(target), str(k)]
    process = run_process([*command, adult.SENSITIVE, *NUMBERS])
    found = json.loads(target.read_text(encoding="utf-8"))
    if found["records"] != len(frame):
        raise RuntimeError(f"the peer released {found['records']:,} of {len(frame):,} records")
    return Peer(process, found["cpu_seconds"], found["ncp"])


def whole_run(folder: Path, frame: pd.DataFrame, asked: Mapping[str, Any]) -> tuple[Process, float]:
    """Run the command on records once; return the process and the certainty penalty."""
    path = folder / "records.csv"
    frame.to_csv(path, index=False)
    written = folder / "config.json"
    written.write_text(json.dumps({**asked, "input": {"path": str(path)}}), encoding="utf-8")
    process = run_process(run_command(written, folder / "out"))
    return process, read_report(folder / "out")["loss"]["ncp"]


def penalty_table(frame: pd.DataFrame, theirs: Mapping[int, Peer]) -> str:
    """Return the certainty penalty by k; where the peer was run, it stands beside."""
    rows: list[list[object]] = []
    for k, (anonypy, relaxed, target) in PUBLISHED.items():
        own, other = run(frame, config(SEVEN, k, labels="set")), theirs.get(k)
        rows.append(
            [
                k,
                f"{own.loss['ncp']:.2%}",
                f"at most {target:.2f}%",
                f"{anonypy:.2f}%" if other is None else f"{other.ncp:.2%}",
                f"{relaxed:.2f}%",
                f"{own.cpu_seconds:.2f} s",
                "" if other is None else f"{other.cpu_seconds:.1f} s",
                "" if other is None else f"{other.cpu_seconds / own.cpu_seconds:.0f}",
            ]
        )
    headers = ["k", "ours", "target", "anonypy", "qiyuangong, relaxed (published)"]
    return table([*headers, "CPU seconds of ours", "of anonypy", "times less"], rows)


def process_table(folder: Path, frames: Mapping[str, pd.DataFrame], theirs: Mapping[str, Peer]) -> str:
    """Return both as whole processes on some tables at k = 5; ours is run once before, uncounted."""
    rows: list[list[object]] = []
    for name, frame in frames.items():
        asked = config([own for own in frame.columns if own != adult.SENSITIVE], 5, labels="set")
        whole_run(folder, frame, asked)
        own, penalty = whole_run(folder, frame, asked)
        other = theirs[name]
        for what, process, ncp in (
            ("`anonymizer run`, written and verified", own, penalty),
            ("anonypy", other.process, other.ncp),
        ):
            seconds = [f"{process.seconds:.2f} s", f"{process.cpu_seconds:.2f} s"]
            rows.append([name, what, f"{ncp:.2%}", *seconds, f"{process.peak_mib:.0f} MiB"])
        times = other.process.cpu_seconds / own.cpu_seconds
        rows.append([name, f"times less CPU time (target: {CPU_TARGET})", "", "", f"{times:.1f}", ""])
    return table(["attributes", "process", "ncp", "seconds", "CPU seconds", "peak memory"], rows)


def relaxed_table(frame: pd.DataFrame) -> str:
    """Return what relaxed cuts give on eight attributes at k = 5."""
    rows = []
    for mode, labels in (("strict", "set"), ("relaxed", "set"), ("relaxed", "interval")):
        loss = run(frame, config(EIGHT, 5, mode=mode, labels=labels)).loss
        figures = [f"{loss['discernibility']:,}", f"{loss['average_class_size']:.3f}", f"{loss['ncp']:.2%}"]
        rows.append([mode, labels, *figures])
    rows.append(["target", "", f"at most {DISCERNIBILITY_TARGET:,}", f"at most {CLASS_SIZE_TARGET}", ""])
    return table(["mode", "labels", "discernibility", "average class size / k", "ncp"], rows)


def hierarchy_table() -> str:
    """Return the loss with labels of the hierarchies beside that of the optimal full-domain recoding."""
    rows: list[list[object]] = []
    frame = adult.frame()
    for limit in LIMITS:
        asked = adult.config(adult.data(), limit)
        del asked["input"]
        optimum = run(frame, asked)
        for mode in ("strict", "relaxed"):
            own = run(frame, {**asked, "algorithm": {"name": "mondrian", "mode": mode}})
            times = optimum.loss["loss"] / own.loss["loss"]
            rows.append(
                [
                    f"{limit:.0%}",
                    mode,
                    f"{own.loss['loss']:.4f}",
                    f"{optimum.loss['loss']:.4f}",
                    f"{times:.1f}",
                ]
            )
    return table(["limit", "mode", "mondrian", "lattice, proven optimal", "times lower"], rows)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.mondrian", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--all", action="store_true", help="run anonypy at every k, not at 5 alone: minutes")
    parser.add_argument(
        "--environment", type=Path, help="keep and reuse anonypy's environment in this folder"
    )
    chosen = parser.parse_args()
    frame = records()
    seven = frame[[*SEVEN, adult.SENSITIVE]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        interpreter = peer_environment((chosen.environment or folder / "peer").absolute(), PEER)
        theirs = {k: peer(interpreter, folder, seven, k) for k in (PUBLISHED if chosen.all else (5,))}
        beside = {"seven": theirs[5], "eight": peer(interpreter, folder, frame, 5)}
        print(f"Whole processes at k = 5 ({PEER}), strict, value sets.\n")
        print(process_table(folder, {"seven": seven, "eight": frame}, beside))
    print("\nCertainty penalty by k, strict, value sets, seven attributes; CPU seconds of the calls alone.\n")
    print(penalty_table(seven, theirs))
    print("\nEight attributes, k = 5.\n")
    print(relaxed_table(frame))
    print("\nMetric `loss`, nine attributes with their hierarchies, k = 5, by suppression limit.\n")
    print(hierarchy_table())
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
