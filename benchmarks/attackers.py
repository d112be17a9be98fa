"""Attackers of this package beside independent ones, on masked files and on releases of every algorithm.

The independent ones are three scripts in the shared folder, with scikit-learn and nothing of this package: of
linkage on masked numbers, of linkage on generalized releases, and of sensitive values. Each is given the same
files as ours. What ours reach must not be below what theirs reach by more than its interval.

Run as ``python -m benchmarks.attackers --python VENV/bin/python`` in the folder of the checkout, with an
interpreter that has scikit-learn, scipy, pandas and PyYAML. Takes some six minutes of processor time. It
ends with 1 if an attack is below a script by more than its interval.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

import anonymizer as an
from anonymizer.masking import AdditiveNoise, CorrelatedNoise, Masking, Microaggregation, RankSwapping
from benchmarks import adult
from benchmarks.common import ROOT, machine, table
from benchmarks.linkage import census
from benchmarks.shared import shared

MASKED: dict[str, Masking] = {
    "rank swapping, p = 10": RankSwapping(10),
    "rank swapping, p = 20": RankSwapping(20),
    "noise, 50%": AdditiveNoise(0.5),
    "correlated noise, 50%": CorrelatedNoise(0.5),
    "microaggregation, k = 3": Microaggregation(3),
}

COLUMNS = 6
"""Of the census file, where it is generalized."""

NOISE = 0.1
"""Share of the adversary's values that are wrong."""

TREES = ("file", "ready", "auto")
"""Hierarchies whose labels the scripts read from a file of paths."""

SAMPLE = ("age", "sex", "marital_status", "education", "country_of_birth", "postal_code", "occupation")
READY = {
    "age": "age",
    "sex": "sex",
    "marital_status": "marital-status",
    "education": "education",
    "country_of_birth": "country",
    "postal_code": "postal-code",
    "occupation": "occupation",
}
"""Quasi-identifiers of the sample, and the hierarchies that its config gives them."""


@dataclass(frozen=True)
class File:
    """Records, and the config of their columns.

    Attributes
    ----------
    sensitive: the attribute to be guessed; None without one.
    """

    name: str
    records: pd.DataFrame
    attributes: Mapping[str, Mapping[str, Any]]
    sensitive: str | None = None


def drawn(records: pd.DataFrame, number: int) -> pd.DataFrame:
    """Return a random sample with a key for each record."""
    own = records.sample(min(number, len(records)), random_state=0).reset_index(drop=True)
    own.insert(0, "rid", [str(i) for i in range(len(own))])
    return own


def files(number: int) -> Iterator[File]:
    """Yield samples of Adult, of the census and of the example."""
    whole = pd.read_csv(shared("data", "adult", "data.csv.gz"), dtype=str, keep_default_na=False)
    columns = [each for each in adult.ATTRIBUTES[:-1] if each != adult.SENSITIVE]
    trees = {each: {"file": str(shared("data", "adult", "hierarchies", f"{each}.csv"))} for each in columns}
    yield File("Adult", drawn(whole, number), quasi_identifiers(trees), adult.SENSITIVE)
    numbers = pd.read_csv(shared("data", "casc_census", "data.csv.gz")).iloc[:, :COLUMNS]
    yield File(
        "casc_census", drawn(numbers, number), quasi_identifiers({each: {"auto": {}} for each in numbers})
    )
    sample = pd.read_csv(ROOT / "examples" / "sample.csv", dtype=str, keep_default_na=False)
    ready = {each: {"ready": READY[each]} for each in SAMPLE}
    yield File("the sample", drawn(sample, number), quasi_identifiers(ready), "income_class")


def quasi_identifiers(hierarchies: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return entries of quasi-identifiers with hierarchies."""
    texts = {"postal_code": {"type": "text"}}
    return {
        name: {"role": "quasi-identifier", **texts.get(name, {}), "hierarchy": dict(own)}
        for name, own in hierarchies.items()
    }


# ------------------------------------------------------------------------ the scripts


@dataclass
class Scripts:
    """Runs the scripts in another interpreter.

    Attributes
    ----------
    seconds: of processor time, of all runs so far.
    """

    python: str
    seconds: float = field(default=0.0)

    def reached(self, name: str, folder: Path, *words: str) -> dict[str, float]:
        """Return what each attacker of a script reaches on the files in a folder.

        Raises
        ------
        RuntimeError: the script ends with an error.
        """
        before = os.times()
        command = [self.python, str(shared("tools", f"{name}.py")), str(folder), *words]
        variables = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
        after = os.times()
        self.seconds += after.children_user - before.children_user
        self.seconds += after.children_system - before.children_system
        if done.returncode:
            raise RuntimeError(f"{name} ended with {done.returncode}: {done.stderr[-400:]}")
        found = re.findall(r"^  (\S.*?)\s+(\d\.\d{4})\b", done.stdout, flags=re.MULTILINE)
        return {attacker: float(share) for attacker, share in found}


def write_files(
    folder: Path,
    original: pd.DataFrame,
    release: pd.DataFrame,
    attributes: Mapping[str, Any],
    trees: Mapping[str, Any],
) -> None:
    """Write what the scripts read: both files with the key ``rid``, a config, and paths of labels.

    The scripts split paths at commas, so that labels are written without.
    """
    named = [
        name for name, own in attributes.items() if any(kind in own.get("hierarchy", {}) for kind in TREES)
    ]
    written = {name: dict(own) for name, own in attributes.items()}
    frames = []
    for frame in (original, release):
        own = frame.copy()
        for name in named:
            own[name] = own[name].astype(str).str.replace(",", ";")
        frames.append(own)
    for name in named:
        path = folder / f"{name}.csv"
        path.write_text("".join(f"{','.join(each)}\n" for each in paths(trees[name])), encoding="utf-8")
        written[name]["hierarchy"] = {"file": str(path)}
    for name, frame in zip(("orig", "rel"), frames, strict=True):
        frame.to_csv(folder / f"{name}.csv", index=False)
    (folder / "c.yaml").write_text(yaml.safe_dump({"attributes": written}), encoding="utf-8")


def paths(tree: Any) -> Iterator[list[str]]:
    """Yield the labels from each value of a hierarchy to its root."""
    for node in tree:
        if node[0] == 0:
            own, path = node, [tree.nodes[node]["label"]]
            while parents := list(tree.predecessors(own)):
                own = parents[0]
                path.append(tree.nodes[own]["label"])
            yield [each.replace(",", ";") for each in path]


# ------------------------------------------------------------------------ the tables


FAMILIES = {
    "assignment": lambda name: name.endswith("assignment"),
    "sinkhorn": lambda name: name.endswith("sinkhorn"),
    "classifier": lambda name: name == "classifier",
    "learned weights": lambda name: name.startswith("learned"),
    "probabilistic": lambda name: name == "probabilistic",
    "nearest": lambda _: True,
}
"""Attackers of the portfolio, each in the first family that it fits."""

LEFT_OUT = "-"


def by_family(found: Mapping[str, Any]) -> dict[str, float]:
    """Return the best of each family of attackers."""
    best: dict[str, float] = {}
    for name, own in found.items():
        plain = re.sub(r" \(original scale\)$", "", name)
        family = next(family for family, fits in FAMILIES.items() if fits(plain))
        best[family] = max(best.get(family, 0.0), own["success"])
    return best


@dataclass(frozen=True)
class Compared:
    """What ours and theirs reach on the same files.

    Attributes
    ----------
    ours, low, high: success of our attack with its interval.
    theirs: success of each attacker of the script.
    """

    ours: float
    low: float
    high: float
    theirs: Mapping[str, float]

    @property
    def strongest(self) -> str:
        """The attacker of the script that reaches most."""
        return max(self.theirs, key=lambda name: self.theirs[name])

    @property
    def below(self) -> bool:
        """Whether the script reaches more than the interval of ours; its figures have four digits."""
        return self.theirs[self.strongest] > self.high + 5e-5

    def cells(self) -> list[str]:
        """Return the interval, the strongest of theirs, and the verdict."""
        theirs = self.theirs[self.strongest]
        return [
            f"{hundred(self.ours)} [{hundred(self.low)}, {hundred(self.high)}]",
            hundred(theirs),
            self.strongest,
            f"**no, by {hundred(theirs - self.high)}**" if self.below else "yes",
        ]


def hundred(share: float) -> str:
    return f"{100 * share:.1f}"


def compared(entry: Mapping[str, Any], theirs: Mapping[str, float]) -> Compared:
    """Return an entry of a report beside a script."""
    return Compared(entry["success"], entry["low"], entry["high"], theirs)


LINKAGE = ["file", "release", "knowledge", "ceiling", *reversed(FAMILIES)]
VERDICT = ["[95 %]", "the script's best", "which", "not below"]


def linkage_row(
    names: Sequence[str], entry: Mapping[str, Any], theirs: Mapping[str, float]
) -> tuple[list[str], bool]:
    """Return a row of the table of links, and whether ours is below."""
    best = by_family(entry["details"]["attackers"])
    own = [hundred(best[each]) if each in best else LEFT_OUT for each in reversed(FAMILIES)]
    found = compared(entry, theirs)
    row = [*names, hundred(entry["ceiling"]), *own, *found.cells()]
    print(*row, sep="; ", file=sys.stderr, flush=True)
    return row, found.below


def masked_rows(scripts: Scripts, number: int) -> Iterator[tuple[list[str], bool]]:
    """Yield a row for each masked file of the census."""
    names = [f"a{place}" for place in range(census().shape[1])]
    original = drawn(pd.DataFrame(census(), columns=names), number)
    config = {
        "attributes": {name: {"role": "quasi-identifier"} for name in names},
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": [{"attack": "linkage", "aligned": True, "linkage": "portfolio"}],
    }
    for name, masking in MASKED.items():
        masked = original.copy()
        masked[names] = np.asarray(masking.mask(original[names].to_numpy(), seed=0))
        found = an.attack(masked[names], original[names], config).iloc[0].to_dict()
        yield linkage_row(("casc_census", name, "exact"), found, of_masked(scripts, original, masked))


def of_masked(scripts: Scripts, original: pd.DataFrame, masked: pd.DataFrame) -> dict[str, float]:
    """Return what the script for masked numbers reaches."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder)
        original.to_csv(own / "orig.csv", index=False)
        masked.to_csv(own / "rel.csv", index=False)
        return scripts.reached("attacks_linkage", own, "--tries", "200")


@cache
def _quiet() -> None:
    warnings.simplefilter("ignore", an.AnonymizerWarning)


def release_of(
    file: File, algorithm: str, attacks: Sequence[Any], k: int, *, sensitive: bool
) -> tuple[Any, dict[str, Any]]:
    """Return a release of a file by an algorithm, attacked, and the attributes of its config."""
    _quiet()
    attributes = {name: dict(own) for name, own in file.attributes.items()}
    if file.sensitive is None and algorithm in ("mondrian", "microaggregation"):
        # Numbers of the census are published as intervals and means.
        attributes = {name: {"role": "quasi-identifier"} for name in attributes}
    constraints: list[dict[str, Any]] = [] if algorithm == "anatomy" else [{"model": "k-anonymity", "k": k}]
    given: dict[str, Any] = {**attributes, "rid": {"role": "insensitive"}}
    if sensitive and file.sensitive is not None:
        given[file.sensitive] = {"role": "sensitive"}
        constraints.append({"model": "l-diversity", "l": 2, "attribute": file.sensitive})
    config = {
        "attributes": given,
        "constraints": constraints,
        "algorithm": {"name": algorithm},
        "suppression": {"limit": 0.05 if algorithm == "lattice" else 0},
        "bound": "none",
        "attacks": list(attacks),
        "acknowledge": ["rows-are-persons"],
    }
    if algorithm in ("lattice", "local", "auto"):
        config["budget"] = {"steps": 60}
    return an.anonymize(file.records[list(given)], config), attributes


def aligned(file: File, release: Any, attributes: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the released records by their key, and the originals of these."""
    published = release.data.astype(str).set_index("rid")
    original = file.records.set_index("rid").loc[published.index]
    names = [*attributes, *([file.sensitive] if file.sensitive in published else [])]
    return original[names].reset_index(), published[names].reset_index()


def generalized_rows(scripts: Scripts, number: int) -> Iterator[tuple[list[str], bool]]:
    """Yield a row for each release of each file, with exact knowledge and with noise."""
    for file in files(number):
        # With hierarchies, auto is local.
        algorithms = ["lattice", "mondrian", "local"]
        for algorithm in algorithms + ["microaggregation"] * (file.sensitive is None):
            portfolio: dict[str, Any] = {"attack": "linkage", "linkage": "portfolio"}
            noisy = {**portfolio, "knowledge": {"noise": NOISE}}
            asked = [portfolio] if algorithm == "microaggregation" else [portfolio, noisy]
            release, attributes = release_of(file, algorithm, asked, 5, sensitive=False)
            original, published = aligned(file, release, attributes)
            for entry, share in zip(release.report["attacks"], (0.0, NOISE), strict=False):
                told = f"{share:.0%} wrong" if share else "exact"
                if algorithm == "microaggregation":
                    theirs = of_masked(scripts, original, published)
                else:
                    with tempfile.TemporaryDirectory() as folder:
                        write_files(Path(folder), original, published, attributes, release.hierarchies)
                        # With exact knowledge, the quick ones reach the ceiling.
                        words = ("--gbm", "--noise", str(share)) if share else ()
                        theirs = scripts.reached("attacks_generalized", Path(folder), *words)
                yield linkage_row((file.name, algorithm, told), entry, theirs)


INFERENCE = ["file", "release", "attack", "baseline", "ceiling"]


def inference_rows(scripts: Scripts, number: int) -> Iterator[tuple[list[str], bool]]:
    """Yield a row for each attack on the sensitive values of each release."""
    for file in files(number):
        for algorithm in ("lattice", "mondrian", "local", "anatomy") if file.sensitive else ():
            assert file.sensitive is not None
            attacks = ["definetti"] if algorithm == "anatomy" else ["inference", "definetti"]
            release, attributes = release_of(file, algorithm, attacks, 5, sensitive=True)
            original, published = (
                in_buckets(file, release, attributes)
                if algorithm == "anatomy"
                else aligned(file, release, attributes)
            )
            with tempfile.TemporaryDirectory() as folder:
                write_files(Path(folder), original, published, attributes, release.hierarchies)
                theirs = scripts.reached("attacks_inference", Path(folder), file.sensitive)
            for entry in release.report["attacks"]:
                prefix = "held out" if entry["attack"] == "inference" else "class counts"
                found = compared(entry, {own: theirs[own] for own in theirs if own.startswith(prefix)})
                ends = [hundred(entry["baseline"]), hundred(entry["ceiling"])]
                row = [file.name, algorithm, entry["attack"], *ends, *found.cells()]
                print(*row, sep="; ", file=sys.stderr, flush=True)
                yield row, found.below


def in_buckets(file: File, release: Any, attributes: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return an Anatomy release as one whose classes are the buckets, and the originals."""
    published = release.data.astype(str).set_index("rid")
    original = file.records.set_index("rid").loc[published.index]
    (group,) = [name for name in published if name not in attributes and name != file.sensitive]
    own = pd.DataFrame(dict.fromkeys(attributes, "*"), index=published.index)
    own[next(iter(attributes))] = "bucket " + published[group]
    own[file.sensitive] = original[file.sensitive]
    names = [*attributes, file.sensitive]
    return original[names].reset_index(), own[names].reset_index()


def main() -> None:
    """Print the tables; end with 1 if an attack is below a script."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.attackers", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has scikit-learn")
    parser.add_argument(
        "--records", type=int, default=150, help="sample of each file for links (default 150)"
    )
    parser.add_argument("--people", type=int, default=1000, help="the same for values (default 1000)")
    chosen = parser.parse_args()
    scripts = Scripts(chosen.python)
    linked = [*masked_rows(scripts, chosen.records), *generalized_rows(scripts, chosen.records)]
    guessed = list(inference_rows(scripts, chosen.people))
    print(f"Right links in % of {chosen.records} records:\n")
    print(table([*LINKAGE, f"portfolio {VERDICT[0]}", *VERDICT[1:]], (row for row, _ in linked)))
    print(f"\nRight values in % of {chosen.people} records:\n")
    print(table([*INFERENCE, f"ours {VERDICT[0]}", *VERDICT[1:]], (row for row, _ in guessed)))
    below = sum(each for _, each in (*linked, *guessed))
    print(f"\n{len(linked) + len(guessed)} rows; below by more than the interval: {below}")
    print(f"Processor time: ours {time.process_time():.0f} s, the scripts {scripts.seconds:.0f} s.")
    print(f"\n{machine()}")
    sys.exit(1 if below else 0)


if __name__ == "__main__":
    main()
