"""Learned record linkage on the CASC census data: what the best weights link, and what a portfolio links.

Run as ``python -m benchmarks.linkage`` in the folder of the checkout. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import anonymizer as an
from anonymizer.attacks.linkage.families import (
    Bilinear,
    Family,
    Metric,
    Owa,
    TwoAdditiveChoquet,
    WeightedMean,
)
from anonymizer.attacks.linkage.learned import Exact, learn
from anonymizer.attacks.linkage.local_search import Fast, Fit
from anonymizer.attacks.linkage.pairs import Pairs, deviations, standardised, targets_of
from anonymizer.masking import AdditiveNoise, Masking, Microaggregation, RankSwapping
from benchmarks.common import machine, table
from benchmarks.shared import shared

SAMPLE = 400
EXTENDED: tuple[type[Family], ...] = (Bilinear, Metric, TwoAdditiveChoquet)
PROVABLE: tuple[type[Family], ...] = (WeightedMean, Owa)


@dataclass(frozen=True)
class Case:
    """Attributes from the first on, in groups that are masked by MDAV, as Torra and Abril name them."""

    name: str
    sizes: tuple[int, ...]
    ks: tuple[int, ...]

    def masking(self) -> Microaggregation:
        """Return the masking of the case."""
        ends = np.cumsum(self.sizes)
        groups = [list(range(end - size, end)) for end, size in zip(ends, self.sizes, strict=True)]
        return Microaggregation(self.ks, groups)


CASES = (
    Case("M4-33", (2, 2), (3, 3)),
    Case("M4-28", (2, 2), (2, 8)),
    Case("M4-82", (2, 2), (8, 2)),
    Case("M5-38", (3, 2), (3, 8)),
    Case("M6-385", (2, 2, 2), (3, 8, 5)),
    Case("M6-853", (2, 2, 2), (8, 5, 3)),
)


def census() -> np.ndarray:
    """Return all records, shape (1080, 13)."""
    return pd.read_csv(shared("data", "casc_census", "data.csv.gz")).to_numpy(dtype=np.float64)


def sampled(records: np.ndarray, case: Case, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a sample and what became of it, each by its own mean and deviation."""
    rows = np.sort(np.random.default_rng(seed).choice(len(records), SAMPLE, replace=False))
    original = records[rows, : sum(case.sizes)]
    return standardised(original), standardised(case.masking().mask(original))


@dataclass(frozen=True)
class Learnt:
    """What one family reached on one sample; the exact fit is None where it was not asked for."""

    family: str
    equal: float
    fast: Fit
    fast_seconds: float
    exact: Fit | None
    exact_seconds: float


def timed(learner: Fast | Exact, pairs: Pairs, clock: Any) -> tuple[Fit, float]:
    """Return a fit and its seconds by a clock."""
    start = clock()
    fit = learner.fit(pairs, np.random.default_rng(0))
    return fit, clock() - start


def learnt(original: np.ndarray, masked: np.ndarray, kind: type[Family], seconds: float) -> Learnt:
    """Learn one family, exactly too where it can be proven."""
    family = kind(original.shape[1])
    pairs = Pairs(targets_of(original, masked), family)
    equal = pairs.right(family.equal())
    fast, fast_seconds = timed(Fast(), pairs, time.process_time)
    exact, exact_seconds = None, 0.0
    if kind in PROVABLE and seconds > 0:
        exact, exact_seconds = timed(Exact(seconds), pairs, time.perf_counter)
    name = "metric" if kind is Metric else family.name
    return Learnt(name, equal, fast, fast_seconds, exact, exact_seconds)


def row_of(records: np.ndarray, case: Case, seed: int, seconds: float) -> list[str]:
    """Return a row of the table; complain where a family is below one it extends.

    Raises
    ------
    RuntimeError: it is.
    """
    original, masked = sampled(records, case, seed)
    found = [learnt(original, masked, kind, seconds) for kind in (*PROVABLE, *EXTENDED)]
    simple, owa, *extended = found
    if min(simple.fast.right, owa.fast.right) < simple.equal:
        raise RuntimeError(f"{case.name}, sample {seed}: a learned distance links less than Euclid")
    if min(own.fast.right for own in extended) < simple.fast.right:
        raise RuntimeError(f"{case.name}, sample {seed}: a family links less than its weighted means")
    reached = [f"{percent(own.fast.right)}{proof(own)}" for own in found]
    slowest = f"{max(own.fast_seconds for own in found):.1f} s"
    row = [case.name, str(seed), percent(simple.equal), *reached, slowest]
    print(*row, sep="; ", file=sys.stderr, flush=True)
    return row


def percent(right: float, records: int = SAMPLE) -> str:
    """Return a share in percent."""
    return f"{100 * right / records:.2f}"


def proof(own: Learnt) -> str:
    """Return what the exact learner adds to the fast one's figure."""
    if own.exact is None:
        return ""
    state = "proven" if own.exact.proven else f"bound {percent(own.exact.bound)}"
    return f" / {percent(own.exact.right)}, {state}, {own.exact_seconds:.0f} s"


def learning(samples: int, seconds: float) -> str:
    """Return the table of learned weights."""
    records = census()
    headers = ("case", "sample", "Euclid", "weighted mean: fast / exact", "OWA: fast / exact")
    rows = [row_of(records, case, seed, seconds) for seed in range(samples) for case in CASES]
    rows.sort(key=lambda row: row[:2])
    return table((*headers, "bilinear", "metric", "2-additive Choquet", "slowest fast"), rows)


def ranks(values: np.ndarray) -> np.ndarray:
    """Return the mean rank of each value in its column."""
    from scipy.stats import rankdata

    found: np.ndarray = rankdata(values, axis=0)
    return found


def squared(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the squared Euclidean distance of each row of one array to each of the other."""
    differences = left[:, None, :] - right[None, :, :]
    found: np.ndarray = np.einsum("ijk,ijk->ij", differences, differences)
    return found


def nearest(distances: np.ndarray) -> float:
    """Return the share of records that are nearest to their own, ties shared."""
    own = np.diag(distances)
    ties = (distances == distances.min(axis=1)[:, None]).sum(axis=1)
    return float(((own == distances.min(axis=1)) / ties).mean())


def assigned(distances: np.ndarray) -> float:
    """Return the share of records that the assignment of least total distance gives to their own."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(distances)
    return float((rows == columns).mean())


def linked(original: np.ndarray, masked: np.ndarray, **options: object) -> float:
    """Return the share that the attack links with these options."""
    names = [f"attribute {position + 1}" for position in range(original.shape[1])]
    config = {
        "attributes": {name: {"role": "quasi-identifier"} for name in names},
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": [{"attack": "linkage", "aligned": True, **options}],
    }
    frames = (pd.DataFrame(values, columns=names) for values in (masked, original))
    return float(an.attack(*frames, config)["success"].iloc[0])


def portfolio(masking: Masking, name: str, swapped: int | None) -> list[str]:
    """Return what each attack links of all records with all attributes.

    Parameters
    ----------
    swapped: the range that a knowing intruder uses; None where ranks were not swapped.
    """
    original = census()
    masked = np.asarray(masking.mask(original, seed=0))
    together: dict[str, object] = {"linkage": "assignment", "distance": "rank"}
    knowing = None if swapped is None else linked(original, masked, **together, swap_range=swapped)
    units = deviations(original)
    values = np.linalg.cholesky(np.linalg.inv(np.cov(original - masked, rowvar=False)))
    old, new = ranks(original), ranks(masked)
    by_rank = squared(old, new)
    by_furthest = np.abs(old[:, None, :] - new[None, :, :]).max(axis=-1)
    family = WeightedMean(original.shape[1])
    targets = targets_of(standardised(original), standardised(masked))
    learned = learn(targets, family, Fast(), np.random.default_rng(0))
    assert learned.held_out is not None
    reached = [
        nearest(squared(original / units, masked / units)),
        nearest(squared(original @ values, masked @ values)),
        nearest(by_rank),
        linked(original, masked, **together),
        assigned(by_furthest),
        learned.success,
    ]
    held_out = learned.held_out
    return [
        name,
        *(f"{100 * share:.1f}" for share in reached),
        "-" if knowing is None else f"{100 * knowing:.1f}",
        f"{percent(held_out.right, held_out.records)} ({percent(held_out.equal, held_out.records)})",
        f"{100 * max(*reached, knowing or 0.0):.1f}",
    ]


def portfolios() -> str:
    """Return the table of attacks on all records."""
    headers = (
        "masked by",
        "Euclid",
        "Mahalanobis",
        "rank",
        "rank, assigned",
        "largest rank difference, assigned",
        "learned weighted mean",
    )
    maskings: list[tuple[Masking, str, int | None]] = [
        *((RankSwapping(p), f"rank swapping, p = {p}", p) for p in (5, 10, 15)),
        *((AdditiveNoise(share), f"noise, {share:.0%}", None) for share in (0.1, 0.25, 0.5)),
    ]
    rows = [portfolio(*each) for each in maskings]
    return table((*headers, "swap range known, assigned", "learned, held out (Euclid)", "largest"), rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.linkage", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--samples", type=int, default=5, help="of each case (default 5)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each proof (default 60; 0: none)")
    chosen = parser.parse_args()
    print("Right links in % of all 1,080 records, 13 attributes:\n")
    print(portfolios())
    print(f"\nRight links in % of {SAMPLE} records:\n")
    print(learning(chosen.samples, chosen.seconds))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
