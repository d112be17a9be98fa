"""Random tables and classes for the suites; the same seed gives the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from anonymizer.hierarchy.source import DiGraph, compile_tree
from anonymizer.model.arrays import CodeArray, IntArray, count
from anonymizer.model.classes import Classes, ClassValues, SensitiveCodes
from anonymizer.model.households import MEMBERS, Households
from anonymizer.model.measure import Measure
from anonymizer.model.population import PopulationSizes
from anonymizer.model.table import Column, Hierarchy, QuasiIdentifier, SensitiveAttribute, Table, ValueType

SENSITIVE = "sensitive"


def fail(message: str) -> None:
    """Report that a plug-in does not conform.

    Raises
    ------
    AssertionError: always.
    """
    raise AssertionError(message)


def tree(random: np.random.Generator, leaves: int, height: int) -> Hierarchy:
    """Return a random tree whose leaves are labeled by their number."""
    graph: DiGraph[tuple[int, str]] = DiGraph()
    graph.add_node((height, "*"))
    below = [str(leaf) for leaf in range(leaves)]
    for level in range(1, height + 1):
        cuts = np.sort(random.integers(0, 3, len(below)))
        above = ["*"] * len(below) if level == height else [f"{level}.{cut}" for cut in cuts]
        graph.add_edges_from(
            ((level, parent), (level - 1, child)) for parent, child in zip(above, below, strict=True)
        )
        below = list(dict.fromkeys(above))
    return compile_tree(graph, "sample")


def column(name: str, codes: CodeArray, size: int) -> Column:
    """Return a text column; every value occurs."""
    texts = tuple(chr(ord("a") + value) for value in range(size))
    return Column(name, ValueType.TEXT, texts, np.bincount(codes, minlength=size), None, None)


def number_column(name: str, codes: CodeArray, size: int) -> Column:
    """Return a column of whole numbers, at different distances; every value occurs."""
    return _of_numbers(name, codes, np.arange(size) * (np.arange(size) + 3))


def _of_numbers(name: str, codes: CodeArray, numbers: IntArray) -> Column:
    texts = tuple(str(number) for number in numbers)
    counts = np.bincount(codes, minlength=len(numbers))
    return Column(name, ValueType.INTEGER, texts, counts, numbers.astype(np.float64), None)


def covering(random: np.random.Generator, records: int, size: int) -> CodeArray:
    """Return random codes among which each occurs."""
    codes = np.concatenate([np.arange(size), random.choice(size, records - size)])
    return random.permutation(codes).astype(np.int32)


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Records with a class and a sensitive value each.

    Attributes
    ----------
    class_of: class of each record, shape (records,), int64, every class with a record.
    codes: sensitive value of each record, shape (records,), int64, every value with a record.
    people: of the population that each record stands for, shape (records,), int64.
    """

    attribute: SensitiveAttribute
    class_of: IntArray
    codes: IntArray
    people: IntArray

    def classes(self) -> Classes:
        """Return the records' classes, with their people; records with equally many are of one household."""
        return self._classes

    @cached_property
    def _classes(self) -> Classes:
        secret = {SENSITIVE: SensitiveCodes(self.attribute, self.codes)}
        ones, number = np.ones(len(self.codes), dtype=np.int64), int(self.class_of.max()) + 1
        population = PopulationSizes(count(self.class_of, self.people, number))
        items = np.arange(len(ones))
        units = {MEMBERS: Households.of_records(items, self.people, len(ones))}
        found = Classes(self.class_of, Measure(ones, units), number, secret, population)
        found.values = ClassValues(
            ["class"], lambda: np.arange(number)[:, None], lambda: [[str(each) for each in range(number)]]
        )
        return found

    def ordered(self, order: IntArray) -> ClassSample:
        """Return the records in another order."""
        return ClassSample(self.attribute, self.class_of[order], self.codes[order], self.people[order])

    def relabeled(self, new: IntArray) -> ClassSample:
        """Return the records with value v coded as ``new[v]``, shape (values,)."""
        codes = new[self.codes]
        old = np.argsort(new)
        own, leaf = self.attribute.column, self.attribute.leaf
        # The texts go along: a model may name a value.
        texts = tuple(own.texts[value] for value in old)
        renamed = replace(column(own.name, codes.astype(np.int32), own.size), texts=texts)
        attribute = SensitiveAttribute(
            renamed,
            self.attribute.hierarchy,
            None if leaf is None else leaf[old],
            self.attribute.distance,
        )
        return ClassSample(attribute, self.class_of, codes, self.people)

    def regrouped(self, class_of: IntArray) -> ClassSample:
        """Return the records in other classes, renumbered without gaps."""
        numbers = np.unique(class_of, return_inverse=True)[1].astype(np.int64)
        return ClassSample(self.attribute, numbers, self.codes, self.people)


def class_samples(
    seed: int, number: int = 60, values_of: Callable[[str, CodeArray, int], Column] = column
) -> Iterator[ClassSample]:
    """Return random classes of few records over few values.

    Parameters
    ----------
    values_of: returns the sensitive column of some codes: of texts, or ``number_column``.
    """
    random = np.random.default_rng(seed)
    for _ in range(number):
        values = int(random.integers(1, 6))
        records = int(random.integers(values + 1, 40))
        codes = covering(random, records, values)
        groups = int(random.integers(1, 7))
        class_of = np.unique(random.integers(0, groups, records), return_inverse=True)[1]
        hierarchy = tree(random, values, int(random.integers(1, 4)))
        attribute = SensitiveAttribute(
            values_of(SENSITIVE, codes, values), hierarchy, np.arange(values, dtype=np.int32)
        )
        # Not drawn from the same source, so that samples are those of earlier versions.
        people = np.random.default_rng([seed, records]).integers(1, 7, records)
        yield ClassSample(attribute, class_of.astype(np.int64), codes.astype(np.int64), people)


def tables(seed: int, number: int = 20) -> Iterator[Table]:
    """Return random tables of two or three quasi-identifiers and a sensitive attribute."""
    return _tables(np.random.default_rng(seed), number, 6, 3, _quasi_identifier)


def numeric_tables(seed: int, number: int = 20) -> Iterator[Table]:
    """Return random tables of one to three numbers without hierarchies and a sensitive attribute."""
    return _tables(np.random.default_rng(seed), number, 8, 2, _number)


def _tables(
    random: np.random.Generator,
    number: int,
    values: int,
    fewest: int,
    attribute: Callable[[np.random.Generator, str, CodeArray, int], QuasiIdentifier],
) -> Iterator[Table]:
    """Yield tables with fewer than ``values`` values in each of at least ``fewest`` columns."""
    for _ in range(number):
        records = int(random.integers(8, 40))
        sizes = [int(size) for size in random.integers(1, values, int(random.integers(fewest, 5)))]
        codes = np.stack([covering(random, records, size) for size in sizes], axis=1)
        own = [attribute(random, f"q{i}", codes[:, i], size) for i, size in enumerate(sizes[:-1])]
        secret = SensitiveAttribute(column(SENSITIVE, codes[:, -1], sizes[-1]))
        distinct, counts = np.unique(codes, axis=0, return_counts=True)
        yield Table(tuple(own), (secret,), np.ascontiguousarray(distinct), Measure(counts.astype(np.int64)))


def _number(random: np.random.Generator, name: str, codes: CodeArray, size: int) -> QuasiIdentifier:
    own = _of_numbers(name, codes, np.sort(random.choice(50, size, replace=False)))
    graph: DiGraph[tuple[int, str]] = DiGraph()
    graph.add_edges_from(((1, "*"), (0, text)) for text in own.texts)
    hierarchy = compile_tree(graph, name)
    return QuasiIdentifier(own, hierarchy, np.arange(size, dtype=np.int32), 1.0, 0, 1, by_range=True)


def _quasi_identifier(random: np.random.Generator, name: str, codes: CodeArray, size: int) -> QuasiIdentifier:
    hierarchy = tree(random, size + int(random.integers(0, 3)), int(random.integers(1, 3)))
    leaf = np.arange(size, dtype=np.int32)
    weight = float(random.choice([0.5, 1.0, 2.0]))
    return QuasiIdentifier(column(name, codes, size), hierarchy, leaf, weight, 0, hierarchy.height)
