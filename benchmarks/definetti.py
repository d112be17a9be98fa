"""The deFinetti attack on Adult in groups of 2, 3 and 4, beside the figures of the paper.

Run as ``python -m benchmarks.definetti`` in the folder of the checkout. Records are the first 30,162
complete ones of the training part; quasi-identifiers workclass, relationship, sex and salary class;
sensitive occupation.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from anonymizer.attacks.definetti import (
    Feature,
    Groups,
    LatentAssignment,
    NaiveBayes,
    Posterior,
    SamplerSettings,
    Score,
    SideBySide,
    groups_of,
    posterior,
)
from anonymizer.attacks.definetti.chains import Chains
from anonymizer.attacks.definetti.kernel import Compiled
from anonymizer.model.arrays import IntArray
from benchmarks.common import machine, table
from benchmarks.shared import shared

RECORDS = 30_162
NAMES = ("workclass", "relationship", "sex", "salary-class")
SENSITIVE = "occupation"
PAPER = {2: (532.57, 318.47, 0.770), 3: (968.28, 572.53, 0.576), 4: (1243.63, 746.51, 0.406)}
"""ABS, SSQ and ACC that the paper prints for groups of so many."""

STARTS = 20
ENDLESS = 10**9
"""Effective draws that are never reached, so that all sweeps are made."""

Grouping = Callable[[IntArray, int, np.random.Generator], IntArray]


def records() -> pd.DataFrame:
    """Return the records of the paper."""
    whole = pd.read_csv(shared("data", "adult_full", "data.csv.gz"), dtype=str, keep_default_na=False)
    complete = ~whole.isin(["?", ""]).any(axis=1)
    return whole[complete & (whole["part"] == "train")].head(RECORDS)


def by_size(secrets: IntArray, least: int, random: np.random.Generator) -> IntArray:
    """Return the group of each record as Xiao and Tao deal them out, drawing within the values.

    A group takes one record of each of the values with most records left, ties in random order; the last
    records join a group without their value, drawn at random.
    """
    piles = [random.permutation(np.flatnonzero(secrets == value)).tolist() for value in np.unique(secrets)]
    left = np.array([len(pile) for pile in piles])
    group, members = np.full(len(secrets), -1), []
    while (left > 0).sum() >= least:
        largest = np.lexsort((random.random(len(left)), -left))[:least]
        group[[piles[value].pop() for value in largest]] = len(members)
        left[largest] -= 1
        members.append(set(largest.tolist()))
    for value, pile in enumerate(piles):
        for record in pile:
            free = [at for at in random.permutation(len(members))[:1000] if value not in members[at]]
            group[record] = free[0]
            members[free[0]].add(value)
    return group


def by_arrival(secrets: IntArray, least: int, random: np.random.Generator) -> IntArray:
    """Return the group of each record when records come in random order.

    Each joins the oldest group that is not full and lacks its value. The records of groups that stay
    incomplete join a full group without their value, drawn at random.
    """
    group, members, waiting = np.full(len(secrets), -1), [], []
    for record in random.permutation(len(secrets)).tolist():
        value = int(secrets[record])
        own = next((at for at in waiting if value not in members[at]), None)
        if own is None:
            own = len(members)
            members.append(set())
            waiting.append(own)
        members[own].add(value)
        group[record] = own
        if len(members[own]) == least:
            waiting.remove(own)
    incomplete = set(waiting)
    for record in np.flatnonzero(np.isin(group, waiting)).tolist():
        drawn = (int(at) for at in random.permutation(len(members)) if int(at) not in incomplete)
        own = next(at for at in drawn if secrets[record] not in members[at])
        members[own].add(int(secrets[record]))
        group[record] = own
    return np.unique(group, return_inverse=True)[1]


GROUPINGS: dict[str, Grouping] = {"largest values first": by_size, "order of arrival": by_arrival}


@dataclass(frozen=True, eq=False)
class Case:
    """Adult in groups.

    Attributes
    ----------
    true: people of each entry's kind with its value, shape (entries,).
    """

    groups: Groups
    model: NaiveBayes
    true: IntArray

    def part(self, size: int) -> IntArray:
        """Return the people in groups of one size."""
        own = self.groups.sizes[self.groups.group[self.groups.kind]] == size
        return np.where(own, self.true, 0)


def grouped(frame: pd.DataFrame, grouping: Grouping, least: int, seed: int) -> Case:
    """Return the records in groups."""
    secrets = np.asarray(pd.factorize(frame[SENSITIVE], sort=True)[0], dtype=np.int64)
    coded = [pd.factorize(frame[name], sort=True) for name in NAMES]
    group = grouping(secrets, least, np.random.default_rng(seed)).astype(np.int64)
    size = int(secrets.max()) + 1
    pairs, number = np.unique(group * size + secrets, return_counts=True)
    codes = np.column_stack([codes for codes, _ in coded]).astype(np.int64)
    ones = np.ones(len(frame), dtype=np.int64)
    groups, kind = groups_of(codes, group, ones, (pairs // size, pairs % size, number), size)
    model = NaiveBayes(groups, [Feature(len(values)) for _, values in coded], 1.0)
    true = np.bincount(groups.entries_of(kind, secrets), minlength=int(groups.first[-1]))
    return Case(groups, model, true.astype(np.int64))


def attacked(case: Case, chains: int, sweeps: int, seed: int) -> Posterior:
    """Return the posterior from so many starts; the second half of the sweeps counts."""
    randoms = np.random.default_rng(seed).spawn(chains)
    return posterior(case.groups, case.model, SamplerSettings(chains, sweeps, 1 + 1e-9, ENDLESS), randoms)


def seconds_of_sweeps(case: Case, kind: type[Chains], sweeps: int) -> tuple[float, float]:
    """Return the seconds and the seconds of CPU that one chain takes for so many sweeps."""
    chain = kind(case.groups, LatentAssignment.of(case.groups), case.model, [np.random.default_rng(0)])
    start, spent = time.perf_counter(), time.process_time()
    chain.run(sweeps, lambda _: None)
    return time.perf_counter() - start, time.process_time() - spent


def _row(name: str, score: Score, more: tuple[str, ...] = ()) -> list[str]:
    figures = (f"{1000 * score.absolute:.1f}", f"{1000 * score.squared:.1f}", f"{float(score.accuracy):.4f}")
    return [name, *figures, *more]


def compare(frame: pd.DataFrame, sweeps: int) -> str:
    """Return the figures of each grouping beside the paper's."""
    rows = []
    for least, (absolute, squared, accuracy) in PAPER.items():
        rows.append([f"{least}, the paper", f"{absolute}", f"{squared}", f"{accuracy}", "", ""])
        for name, grouping in GROUPINGS.items():
            case = grouped(frame, grouping, least, seed=1)
            found = attacked(case, STARTS, sweeps, seed=2)
            score = Score.of(case.groups, found.chances, case.true)
            each = [float(Score.of(case.groups, own, case.true).accuracy) for own in found.by_chain]
            sure = f"{score.sure:.3f}, {score.sure_right or 0:.3f}"
            more = (f"{min(each):.4f} to {max(each):.4f}", sure)
            rows.append(_row(f"{least}, {name}", score, more))
            larger = case.part(least + 1)
            if larger.any():
                own = Score.of(case.groups, found.chances, larger)
                rows.append(
                    _row(
                        f"{least}, {name}: the {int(larger.sum())} people in groups of {least + 1}",
                        own,
                        ("", ""),
                    )
                )
        blind = Score.of(case.groups, case.groups.shares, case.true)
        rows.append(_row(f"{least}, random worlds", blind, ("", "")))
    head = [
        "groups of",
        "ABS",
        "SSQ",
        "ACC",
        f"ACC of {STARTS} starts",
        "guessed at 0.8 or more, of these right",
    ]
    return table(head, rows)


def speed(frame: pd.DataFrame, sweeps: int) -> str:
    """Return what sweeps take."""
    rows = []
    for least in PAPER:
        case = grouped(frame, by_size, least, seed=1)
        for name, kind in (("compiled", Compiled), ("numpy", SideBySide)):
            wall, spent = seconds_of_sweeps(case, kind, sweeps)
            figures = f"{wall:.2f} s", f"{spent:.2f} s", f"{1000 * spent / sweeps:.2f} ms"
            rows.append([f"{least}, {name}", f"{sweeps:,}", *figures])
    return table(["groups of", "sweeps", "seconds", "CPU seconds", "a sweep"], rows)


def main() -> None:
    """Print the results as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sweeps", type=int, default=512, help="of each start; half of them count")
    parser.add_argument("--timed", type=int, default=2000, help="sweeps that are timed")
    given = parser.parse_args()
    frame = records()
    print("## The deFinetti attack on Adult\n`python -m benchmarks.definetti`\n")
    print(compare(frame, given.sweeps), "\n")
    print(speed(frame, given.timed), "\n")
    print(machine())


if __name__ == "__main__":
    main()
