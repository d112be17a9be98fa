"""The loss metrics straight from their definitions, record by record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log2, prod

from tests.twins.microdata import Microdata, QuasiIdentifierSpec, Value


@dataclass(frozen=True)
class TwinRelease:
    """A full-domain recoding of records.

    Attributes
    ----------
    class_sizes: of the classes of the release, the starred records' class among them.
    suppressed: rows that are suppressed, starred or removed.
    k: of the config's k-anonymity.
    """

    data: Microdata
    levels: tuple[int, ...]
    class_sizes: tuple[int, ...]
    suppressed: frozenset[int]
    kept_suppressed: int
    k: int | None


Cell = Callable[[Microdata, int, int, Value], float]


def leaf_share(data: Microdata, position: int, level: int, value: Value) -> float:
    """(n - 1) / (m - 1) of the leaves."""
    paths = data.quasi_identifiers[position].paths
    under = sum(path[level] == paths[value][level] for path in paths.values())
    return (under - 1) / (len(paths) - 1) if len(paths) > 1 else 0.0


def certainty_penalty(data: Microdata, position: int, level: int, value: Value) -> float:
    """Range or share of the input's values under the published node."""
    spec = data.quasi_identifiers[position]
    present = set(data.column(position))
    covered = {other for other in present if spec.paths[other][level] == spec.paths[value][level]}
    if not spec.numeric:
        return len(covered) / len(present) if len(covered) > 1 else 0.0
    if None in covered and len(covered) > 1:
        return 1.0
    if covered == {None}:
        return 0.0
    known = [other for other in present if other is not None]
    span = max(known) - min(known)
    return (max(covered) - min(covered)) / span if span else 0.0


def generalization(data: Microdata, position: int, level: int, value: Value) -> float:
    """level / top level."""
    height = data.quasi_identifiers[position].height
    return level / height if height else 0.0


def aggregate(name: str, losses: Sequence[float], attributes: Sequence[QuasiIdentifierSpec]) -> float:
    """Join one loss per attribute."""
    weights = [attribute.weight for attribute in attributes]
    pairs = list(zip(losses, weights, strict=True))
    if name == "maximum":
        return max(loss for loss, weight in pairs if weight > 0)
    if name == "geometric-mean":
        return prod((1 + loss) ** (weight / sum(weights)) for loss, weight in pairs) - 1
    return sum(loss * weight for loss, weight in pairs) / sum(weights)


def _cells(cost: Cell) -> Callable[[TwinRelease, str], float]:
    def value(release: TwinRelease, name: str) -> float:
        data, losses = release.data, []
        for position, level in enumerate(release.levels):
            memory = {cell: cost(data, position, level, cell) for cell in set(data.column(position))}
            costs = [
                1.0 if row in release.suppressed else memory[cell]
                for row, cell in enumerate(data.column(position))
            ]
            losses.append(sum(costs) / len(costs))
        return aggregate(name, losses, data.quasi_identifiers)

    return value


def discernibility(release: TwinRelease, name: str) -> float:
    """Kept records cost their class size, suppressed ones N."""
    kept = list(release.class_sizes)
    if release.kept_suppressed:
        kept.remove(release.kept_suppressed)
    return sum(size * size for size in kept) + len(release.suppressed) * len(release.data.records)


def average_class_size(release: TwinRelease, name: str) -> float:
    """Released records / classes / k."""
    sizes = release.class_sizes
    return sum(sizes) / len(sizes) / (release.k or min(sizes))


def nonuniform_entropy(release: TwinRelease, name: str) -> float:
    """Bits that the published nodes leave open, and the bits of the suppressed records' nodes."""
    total = 0.0
    for position, level in enumerate(release.levels):
        paths = release.data.quasi_identifiers[position].paths
        cells = release.data.column(position)
        values = Counter(cells)
        nodes = Counter(paths[cell][level] for cell in cells)
        total += sum(-log2(values[cell] / nodes[paths[cell][level]]) for cell in cells)
        lost = [paths[cells[row]][level] for row in release.suppressed]
        total += sum(-log2(count / len(lost)) * count for count in Counter(lost).values())
    return total


def height(release: TwinRelease, name: str) -> float:
    """Sum of levels."""
    return sum(release.levels)


LOSS_TWINS: dict[str, Callable[[TwinRelease, str], float]] = {
    "loss": _cells(leaf_share),
    "ncp": _cells(certainty_penalty),
    "precision": _cells(generalization),
    "discernibility": discernibility,
    "average-class-size": average_class_size,
    "nonuniform-entropy": nonuniform_entropy,
    "height": height,
}
