"""Learned record linkage on the CASC census data: what the best weights link, and what a portfolio links.

With ``--adult``, what each attacker links of generalized releases of Adult, by originals that are exact or
partly wrong.

Run as ``python -m benchmarks.linkage`` in the folder of the checkout. Seconds are those of the processor.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import anonymizer as an
from anonymizer.adversary.candidate import adversary_of
from anonymizer.attacks.base import clopper_pearson, draw_sample
from anonymizer.attacks.linkage.attack import FALSE_LINKS, MISSED_LINKS, with_errors
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    ErrorRates,
    Likelihood,
    Parametrized,
    comparison_space,
)
from anonymizer.attacks.linkage.families import (
    Bilinear,
    Family,
    Metric,
    Owa,
    TwoAdditiveChoquet,
    WeightedMean,
)
from anonymizer.attacks.linkage.learned import Exact, learn
from anonymizer.attacks.linkage.linkers import ProbabilisticLinking
from anonymizer.attacks.linkage.local_search import Fast, Fit
from anonymizer.attacks.linkage.pairs import Pairs
from anonymizer.attacks.linkage.portfolio import PortfolioLinking
from anonymizer.masking import AdditiveNoise, Masking, Microaggregation, RankSwapping
from anonymizer.model.adversary import AdversaryView, Links, ValueCoverage
from anonymizer.model.arrays import CodeArray
from benchmarks import adult
from benchmarks.common import machine, table
from benchmarks.number_arrays import deviations, standardised, targets_of
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


COLUMNS = {
    "adult": adult.ATTRIBUTES[:-1],
    "adult_full": (
        "age",
        "workclass",
        "education",
        "marital-status",
        "occupation",
        "relationship",
        "race",
        "sex",
        "hours-per-week",
        "native-country",
    ),
}
"""The quasi-identifiers of each file."""

WORSE, BETTER = 2.5, 0.25
"""In the uneven setting, times the mean share of wrong values in one column of three, and in the others."""


@dataclass(frozen=True)
class Uneven(ErrorRates):
    """Wrong values that are more frequent in some columns than in others.

    Attributes
    ----------
    worse: the columns with more.
    """

    worse: frozenset[str] = frozenset()

    def drawn(
        self, meaning: ValueCoverage, codes: CodeArray, others: CodeArray, random: np.random.Generator
    ) -> CodeArray:
        """Return known values of a column with errors, shape (records,)."""
        times = WORSE if meaning.column.name in self.worse else BETTER
        return ErrorRates(noise=times * self.noise).drawn(meaning, codes, others, random)


def release_of(name: str, algorithm: str, k: int, records: int) -> AdversaryView:
    """Return what an adversary sees of a release of a random sample of a file, with the true links."""
    whole = pd.read_csv(shared("data", name, "data.csv.gz"), dtype=str, keep_default_na=False)
    some = np.sort(np.random.default_rng(0).choice(len(whole), min(records, len(whole)), replace=False))
    columns = COLUMNS[name]
    trees = {each: str(shared("data", name, "hierarchies", f"{each}.csv")) for each in columns}
    config = {
        "attributes": {
            each: {"role": "quasi-identifier", "hierarchy": {"file": tree}} for each, tree in trees.items()
        },
        "constraints": [{"model": "k-anonymity", "k": k}],
        "suppression": {"limit": 0.05 if algorithm == "lattice" else 0},
        "algorithm": {"name": algorithm},
        "bound": "none",
        "budget": {"steps": 60},
    }
    basis = an.anonymize(whole.iloc[some][list(columns)].reset_index(drop=True), config)._basis
    assert basis.table is not None
    return adversary_of(basis.table, basis.released.recoding)


def drawn_space(view: AdversaryView, rates: ErrorRates, targets: int) -> ComparisonSpace:
    """Return some targets of an adversary whose values are partly wrong, and all classes."""
    random = np.random.default_rng(1)
    assert view.original is not None
    known = with_errors(view.original, view.original.links, rates, random)
    drawn = draw_sample(known.links.counts, min(targets, known.links.records), random)
    links = Links(known.links.original, known.links.release, drawn)
    held = np.bincount(links.original, weights=drawn, minlength=len(known.counts)).astype(np.int64)
    return comparison_space(view.release, known, known.names, held, links)


def settings_of(
    columns: Sequence[str], shares: Sequence[float]
) -> Iterator[tuple[str, ErrorRates, ErrorRates]]:
    """Yield what originals are like, with their errors and those that the adversary reckons with.

    Parameters
    ----------
    shares: of wrong values.
    """
    for share in shares:
        told = "exact" if not share else f"{share:.0%} wrong"
        yield told, ErrorRates(noise=share), ErrorRates(noise=share)
        if share == max(shares) > 0:
            some = frozenset(columns[::3])
            yield f"{share:.0%} wrong, uneven", Uneven(noise=share, worse=some), ErrorRates(noise=share)
            yield f"{share:.0%} wrong, share not known", ErrorRates(noise=share), ErrorRates()


def adult_rows(
    name: str, algorithm: str, k: int, shares: Sequence[float], size: tuple[int, int]
) -> Iterator[dict[str, str]]:
    """Yield a row for each setting, by column: the ceiling, and what each attacker of the portfolio links.

    Parameters
    ----------
    shares: of wrong values.
    size: records and targets.
    """
    records, targets = size
    view = release_of(name, algorithm, k, records)
    probabilistic = ProbabilisticLinking(FALSE_LINKS, MISSED_LINKS)
    for told, rates, believed in settings_of(COLUMNS[name], shares):
        space = drawn_space(view, rates, targets)
        attackers = PortfolioLinking(Parametrized(Likelihood, believed), probabilistic)
        linked = attackers.each(space, np.random.default_rng(2))
        reached = {each: own.right @ space.truth.counts / space.truth.records for each, own in linked.items()}
        best = max(reached.values())
        low, high = clopper_pearson(best * space.truth.records, space.truth.records)
        row = {
            "file": name,
            "algorithm": algorithm,
            "k": str(k),
            "classes": f"{len(space.sizes):,}",
            "originals": told,
            "ceiling": f"{100 * space.ceiling:.1f}",
            "best": f"{100 * best:.1f} [{100 * low:.1f}, {100 * high:.1f}]",
            **{each: f"{100 * share:.1f}" for each, share in reached.items()},
        }
        print(*row.values(), sep="; ", file=sys.stderr, flush=True)
        yield row


def generalized(
    names: Sequence[str], ks: Sequence[int], shares: Sequence[float], size: tuple[int, int]
) -> str:
    """Return the table of generalized releases, with a column for each attacker."""
    rows = [
        row
        for name in names
        for algorithm in ("lattice", "mondrian", "local")
        for k in ks
        for row in adult_rows(name, algorithm, k, shares, size)
    ]
    headers = list(dict.fromkeys(header for row in rows for header in row))
    return table(headers, ([row.get(header, "-") for header in headers] for row in rows))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.linkage", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--samples", type=int, default=5, help="of each case (default 5)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each proof (default 60; 0: none)")
    parser.add_argument(
        "--adult", nargs="*", choices=list(COLUMNS), help="generalized releases of these files instead; all"
    )
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10], help="of these releases")
    parser.add_argument("--records", type=int, default=5000, help="sample of each file (default 5000)")
    parser.add_argument("--targets", type=int, default=300, help="sample of targets (default 300)")
    parser.add_argument(
        "--wrong", type=float, nargs="+", default=[0, 0.05, 0.1, 0.2], help="shares of wrong values"
    )
    chosen = parser.parse_args()
    if chosen.adult is not None:
        print(f"Right links in % of {chosen.targets} targets, on which learners have learned:\n")
        size = chosen.records, chosen.targets
        print(generalized(chosen.adult or list(COLUMNS), chosen.k, chosen.wrong, size))
        print(f"\n{machine()}")
        return
    print("Right links in % of all 1,080 records, 13 attributes:\n")
    print(portfolios())
    print(f"\nRight links in % of {SAMPLE} records:\n")
    print(learning(chosen.samples, chosen.seconds))
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
