"""Whether any release of a table exists at all, by going through every partition of its few records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from tests.twins.search import BruteForce, ProblemSpec, Release, Rows

Labels = tuple[str, ...]
STAR = "*"


def partitions(rows: Sequence[int]) -> Iterator[list[Rows]]:
    """Return every way to put some rows into classes: 203 for six rows."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for others in partitions(rest):
        yield [[first], *others]
        for i, own in enumerate(others):
            yield [*others[:i], [first, *own], *others[i + 1 :]]


class Publishing(ABC):
    """What one class may be published as."""

    @abstractmethod
    def labels(self, rows: Rows) -> set[Labels]:
        """Return every vector of labels that the records of a class may share."""

    def separates(self, classes: Sequence[Rows], taken: frozenset[Labels] = frozenset()) -> bool:
        """Tell whether each class can have labels of its own, so that it is a class to whoever reads them."""
        if not classes:
            return True
        return any(self.separates(classes[1:], taken | {own}) for own in self.labels(classes[0]) - taken)


class AnyValues(Publishing):
    """Aggregates: every class is told apart by what it happens to hold."""

    def labels(self, rows: Rows) -> set[Labels]:
        """Return one vector, different for all classes."""
        return {tuple(map(str, rows))}


class WithinLevels(AnyValues):
    """Sets and intervals: the same, of records that lie under one node at the highest allowed level."""

    def __init__(self, problem: ProblemSpec) -> None:
        self._data = problem.data

    def labels(self, rows: Rows) -> set[Labels]:
        """Return one vector, or none when the class is wider than it may be."""
        for position, spec in enumerate(self._data.quasi_identifiers):
            if len({spec.paths[value][spec.maximum] for value in self._data.column(position, rows)}) > 1:
                return set()
        return super().labels(rows)


class LocalNodes(Publishing):
    """Nodes of the hierarchies that all records of the class lie under, within the allowed levels."""

    def __init__(self, problem: ProblemSpec) -> None:
        self._data = problem.data

    def labels(self, rows: Rows) -> set[Labels]:
        """Return the combinations of common nodes; two with the same leaves are one, by the lower's label."""
        common = []
        for position, spec in enumerate(self._data.quasi_identifiers):
            paths = [spec.paths[value] for value in self._data.column(position, rows)]
            shared = [
                (frozenset(own for own, path in spec.paths.items() if path[level] == paths[0][level]), level)
                for level in range(spec.minimum, spec.maximum + 1)
                if len({path[level] for path in paths}) == 1
            ]
            lowest = dict(reversed(shared))
            common.append([paths[0][level] for level in lowest.values()])
        return set(product(*common))


class BlankedNode(Publishing):
    """The labels of one node of the lattice, of which cells may be blanked, but not all of a record."""

    def __init__(self, problem: ProblemSpec, levels: tuple[int, ...]) -> None:
        self._data = problem.data
        self._levels = levels

    def labels(self, rows: Rows) -> set[Labels]:
        """Return the combinations of blanks and common labels."""
        choices, nodes = [], []
        for position, (spec, level) in enumerate(
            zip(self._data.quasi_identifiers, self._levels, strict=True)
        ):
            own = {spec.paths[value][level] for value in self._data.column(position, rows)}
            nodes.append(own)
            choices.append([STAR, *own] if len(own) == 1 else [STAR])
        blank = tuple(STAR for _ in nodes)
        return set(product(*choices)) - ({blank} if set().union(*nodes) != {STAR} else set())


class Feasibility(BruteForce):
    """Goes through the releases that suppress whole classes, as the contract says which, or any records."""

    def __init__(self, problem: ProblemSpec) -> None:
        super().__init__(problem)
        self._known: dict[tuple[tuple[int, ...], tuple[int, ...]], bool] = {}
        self._rows = list(range(len(problem.data.records)))

    def holds(self, rows: Rows, reference: Rows) -> bool:
        """Tell whether a class satisfies every model of classes; every answer is kept."""
        moving = self.problem.moving_reference
        key = (tuple(sorted(rows)), tuple(sorted(reference)) if moving else ())
        if key not in self._known:
            self._known[key] = super().holds(rows, reference)
        return self._known[key]

    def by_classes(self, publishing: Publishing) -> bool:
        """Tell whether some partition into classes, of which those that fail are dropped, may be released."""
        releases = (self.release(classes) for classes in partitions(self._rows))
        return any(own is not None and self._can_publish(own, publishing) for own in releases)

    def by_records(self, publishing: Publishing) -> bool:
        """Tell whether the rest of some suppressed records has a partition into classes that all hold."""
        return any(
            self._can_publish(own, publishing)
            for suppressed in self._suppressed()
            for classes in partitions([row for row in self._rows if row not in suppressed])
            for own in self._releases(classes, suppressed)
        )

    def full_domain_by_records(self) -> bool:
        """Tell whether the classes of some node hold once some records are suppressed."""
        for levels, suppressed in product(self.nodes(), list(self._suppressed())):
            classes = [[row for row in rows if row not in suppressed] for rows in self.classes(levels)]
            if self._releases([rows for rows in classes if rows], suppressed):
                return True
        return False

    def full_domain_by_cells(self) -> bool:
        """Tell whether some node can be released with records suppressed and cells of others blanked."""
        return any(self.by_records(BlankedNode(self.problem, levels)) for levels in self.nodes())

    def _suppressed(self) -> Iterator[frozenset[int]]:
        for number in range(self.problem.limit + 1):
            yield from map(frozenset, combinations(self._rows, number))

    def _releases(self, classes: list[Rows], suppressed: frozenset[int]) -> list[Release]:
        """Return the valid releases of these classes: with the suppressed records starred, or removed."""
        found = []
        if self.problem.keep_rows and suppressed:
            found.append(Release([*classes, sorted(suppressed)], suppressed, kept_suppressed=True))
        found.append(Release(classes, suppressed, kept_suppressed=False))
        return [own for own in found if own.classes and self._valid(own)]

    def _valid(self, release: Release) -> bool:
        reference = self._rows
        if self.problem.moving_reference:
            reference = [row for rows in release.classes for row in rows]
        return all(self.holds(rows, reference) for rows in release.classes) and self.table_holds(
            release.classes
        )

    def _can_publish(self, release: Release, publishing: Publishing) -> bool:
        if not release.kept_suppressed:
            return publishing.separates(release.classes)
        stars = tuple(STAR for _ in self.data.quasi_identifiers)
        return publishing.separates(release.classes[:-1], frozenset({stars}))
