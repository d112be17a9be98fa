"""The population that the input is a sample of: a table of it, or the input with its sampling weights.

Values of the population that the input lacks are placed in the same hierarchies, so that a generalized value
stands for the same values in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from decimal import Decimal
from math import prod
from typing import Any

import numpy as np

from anonymizer.data.open import open_file
from anonymizer.data.relation import Groups, Relation
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import column_of, number_key, read_columns
from anonymizer.errors import DataError, HierarchyError, InputError, plural
from anonymizer.model.arrays import SPACE, CodeArray, IntArray, count, numbered
from anonymizer.model.classes import Classes
from anonymizer.model.population import LARGEST, Population, PopulationAttribute, PopulationSizes
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import MISSING, POINT, Column, Numerals, QuasiIdentifier, Table
from anonymizer.run.plan import Plan, PlannedPopulation
from anonymizer.search.rollup import RollUp


def population_of(plan: Plan, relation: Relation, table: Table) -> Population | None:
    """Return the population of a table of the input; None if no constraint counts it.

    Raises
    ------
    InputError: the population cannot be read, or the input cannot be a sample of it.
    """
    if not plan.counts_population:
        return None
    with ExitStack() as stack:
        source, weight = relation, plan.sampling_weight
        if plan.population is not None:
            source = stack.enter_context(_opened(plan.population))
            weight = plan.population.weight
        return _Reader(plan, relation, source, table).population(weight)


def _opened(given: PlannedPopulation) -> Relation:
    if not given.path.exists():
        raise InputError(f"{given.path}: no such file; check input.population")
    return open_file(given.path, given.dialect, EngineOptions(strict_header=given.strict_header))


class _Reader:
    """Reads a population in the codes of its values and those of the input.

    Parameters
    ----------
    relation: the input.
    source: the population; the input itself if people are estimated by its weights.
    table: of the input.
    """

    def __init__(self, plan: Plan, relation: Relation, source: Relation, table: Table) -> None:
        self._plan, self._relation, self._source, self._table = plan, relation, source, table

    def population(self, weight: str | None) -> Population:
        """Return the population.

        Parameters
        ----------
        weight: column of the source with the people that a record stands for; None for one each.
        """
        own = self._table.quasi_identifiers
        groups, scaled, scale = _counted(self._plan, self._source, [each.name for each in own], weight)
        found = [self._placed(attribute, groups, place) for place, attribute in enumerate(own)]
        if prod(int(each.nodes.shape[1]) for each, _, _ in found) >= SPACE:
            raise InputError(
                f"{self._plan.config}: constraints that count the population need fewer quasi-identifiers, "
                f"or fewer distinct values: {len(own)} are too many to compare"
            )
        codes = np.stack([codes for _, codes, _ in found], axis=1)
        attributes = tuple(each for each, _, _ in found)
        estimated = self._source is self._relation
        people = Population(self._source.name, attributes, codes, scaled, scale, estimated)
        if not estimated:
            self._check_sample(people, [sample for _, _, sample in found])
        return people

    def _placed(
        self, attribute: QuasiIdentifier, groups: Groups, place: int
    ) -> tuple[PopulationAttribute, CodeArray, IntArray]:
        """Return an attribute, the code of each group, and the code of each value of the input."""
        texts, read = self._read(attribute.column)
        code_of = dict(zip(texts, read.codes.tolist(), strict=True))
        sample = np.zeros(attribute.column.size, dtype=np.int64)
        for text, code in zip(
            [text for text, _ in self._relation.dictionary(attribute.name)],
            self._sample_codes(attribute.column),
            strict=True,
        ):
            sample[code] = code_of[text]
        values = groups.values[place]
        codes = np.array([code_of[text] for text in values], dtype=np.int32)
        present = np.zeros(read.column.size, dtype=bool)
        present[codes] = True
        lacking = np.flatnonzero(~present[sample])
        if len(lacking):
            text, records = attribute.column.texts[lacking[0]], int(attribute.column.counts[lacking[0]])
            raise DataError(
                f"{self._source.name}: column '{attribute.name}' lacks the value '{text}', which "
                f"{plural(records, 'record')} of {self._relation.name} have; the population must have "
                "everyone in the input"
            )
        return self._nodes(attribute, read.column, sample), codes[groups.codes[:, place]], sample

    def _sample_codes(self, column: Column) -> list[int]:
        """Return the code of each text of the input's dictionary."""
        dictionary = self._relation.dictionary(column.name)
        request = self._plan.request(column.name, column.type)
        codes: list[int] = column_of(self._relation.name, dictionary, request, self._missing).codes.tolist()
        return codes

    @property
    def _missing(self) -> frozenset[str]:
        return frozenset({*self._plan.missing, MISSING})

    def _read(self, column: Column) -> tuple[list[str | None], Any]:
        """Return the texts of a column in either table, and the column of all of them."""
        counts: Counter[str | None] = Counter(dict(self._relation.dictionary(column.name)))
        if self._source is not self._relation:
            counts.update(dict(self._source.dictionary(column.name)))
        texts = sorted(counts, key=lambda text: (text is None, text or ""))
        request = self._plan.request(column.name, column.type)
        dictionary = [(text, counts[text]) for text in texts]
        return texts, column_of(self._source.name, dictionary, request, self._missing)

    def _nodes(self, attribute: QuasiIdentifier, column: Column, sample: IntArray) -> PopulationAttribute:
        """Return the nodes of the input's hierarchy for all values.

        Raises
        ------
        InputError: the hierarchy lacks a value, or is another one with the values of the population.
        """
        try:
            (other,) = self._plan.quasi_identifiers({attribute.name: column})
        except HierarchyError as error:
            raise HierarchyError(f"{self._source.name}: {error}") from None
        own, height = attribute.hierarchy, attribute.hierarchy.height
        found = np.full((height + 1, column.size), -1, dtype=np.int32)
        steady = other.hierarchy.height == height
        for level in range(height + 1) if steady else ():
            theirs, mine = other.nodes(level), attribute.nodes(level)
            node = np.full(len(other.hierarchy.labels), -1, dtype=np.int32)
            node[theirs[sample]] = mine
            back = {(int(node[one]), int(one)) for one in np.unique(theirs[sample])}
            labels = {(own.labels[one], other.hierarchy.labels[two]) for one, two in back}
            steady = bool((node[theirs[sample]] == mine).all()) and len({one for one, _ in back}) == len(back)
            steady = steady and (level == 0 or all(one == two for one, two in labels))
            if not steady:
                break
            found[level] = node[theirs]
        if not steady:
            raise InputError(
                f"{self._source.name}: the hierarchy of '{attribute.name}' is built from the values of the "
                "input, and the values of the population would change its groups; use a hierarchy that does "
                "not depend on values, such as a file, a tree, or intervals with an origin"
            )
        return PopulationAttribute(own.labels, found)

    def _check_sample(self, people: Population, sample: Sequence[IntArray]) -> None:
        """Check that the population has every record of the input.

        Raises
        ------
        DataError: it does not; names the values.
        """
        table, sizes = self._table, [each.nodes.shape[1] for each in people.attributes]
        strides = [prod(sizes[place + 1 :]) for place in range(len(sizes))]
        keys = np.zeros(table.combinations, dtype=np.int64)
        for place, (codes, stride) in enumerate(zip(sample, strides, strict=True)):
            keys += codes[table.quasi_identifier_codes(place)] * stride
        distinct, first, group = np.unique(keys, return_index=True, return_inverse=True)
        records = count(group, table.counts, len(distinct))
        found = people.sizes(distinct, [np.arange(size) for size in sizes], strides)
        smaller = np.flatnonzero(found.scaled < records * people.scale)
        if len(smaller):
            own, row = table.quasi_identifiers, first[smaller[0]]
            shown = ", ".join(
                f"{each.name} '{each.column.texts[table.codes[row, place]]}'"
                for place, each in enumerate(own)
            )
            raise DataError(
                f"{people.source}: has too few people with {shown}: {found.people[smaller[0]]:g}, but the "
                f"input has {plural(int(records[smaller[0]]), 'record')} of them; the population must have "
                "everyone in the input"
            )


def exact_weights(
    source: str, name: str, groups: Groups, place: int, numerals: Numerals = POINT
) -> tuple[IntArray, int]:
    """Return the weight of each group times a scale, shape (groups,), int64, and the scale.

    Parameters
    ----------
    place: of the column of weights in the groups.

    Raises
    ------
    DataError: a weight is not a positive number, or has too many digits to be added exactly.
    """
    weights = []
    for text in groups.values[place]:
        plain = None if text is None else numerals.plain(text)
        number = None if plain is None else number_key(plain)
        if number is None or not Decimal(str(number)) > 0:
            raise DataError(
                f"{source}: column '{name}' contains {text!r}; a weight must be a positive number"
            )
        weights.append(Decimal(str(number)).normalize())
    digits = max(0, *(-int(each.as_tuple().exponent) for each in weights))
    scaled = [int(each.scaleb(digits)) for each in weights]
    total = max(scaled) * int(groups.counts.sum())
    if total > LARGEST:
        raise DataError(
            f"{source}: the weights in column '{name}' have too many digits to be added exactly; round them "
            "to 6 decimals"
        )
    return np.array(scaled, dtype=np.int64)[groups.codes[:, place]], 10**digits


def with_people(classes: Classes, groups: Groups, table: Table, recoding: Recoding) -> Classes:
    """Return the classes of a release with their people, found by the texts of the release.

    Whether the population has classes without a record of the input does not follow from the release: some
    of its classes may be suppressed.

    Parameters
    ----------
    groups: distinct rows of the release, its quasi-identifiers first.
    table: that was recoded, with its population.
    """
    population, levels = table.population, recoding.levels
    assert population is not None, "the table has a population"
    assert levels is not None, "only full-domain recoding serves populations"
    width = len(population.attributes)
    first = np.zeros(classes.number, dtype=np.int64)
    first[classes.class_of] = np.arange(len(groups.counts))
    found = population.in_release(groups.values[:width], groups.codes[first, :width], levels)
    whole = RollUp.of(table).classes(levels).population
    assert whole is not None, "the table has a population"
    return classes.with_population(replace(found, absent=whole.absent))


def people_of_rows(table: Table, recoding: Recoding, rows: IntArray) -> PopulationSizes:
    """Return the people of the classes of some distinct rows of a table, in the given order."""
    assert recoding.levels is not None, "only full-domain recoding serves populations"
    classes = RollUp.of(table).classes(recoding.levels)
    assert classes.population is not None, "the table has a population"
    return replace(classes.population, scaled=classes.population.scaled[classes.class_of[rows]])


def people_of_file(plan: Plan, relation: Relation, names: Sequence[str]) -> PopulationSizes | None:
    """Return the people of the classes of a file, in the order of its rows; None if they are unknown.

    They are known from the file's own weights, or from a population whose values, or generalized values of
    one level in each column, are those of the file.

    Parameters
    ----------
    names: of the quasi-identifiers.
    """
    if plan.population is None:
        weight = plan.sampling_weight
        if weight is None or weight not in relation.columns:
            return None
        return _by_weight(relation, names, weight, plan.numerals)
    groups = relation.group_counts(names)
    rows = groups.codes[np.lexsort(groups.codes.T[::-1])]
    with _opened(plan.population) as source:
        people, levels = _alone(plan, source, names, plan.population.weight), []
    for attribute, texts in zip(people.attributes, groups.values, strict=True):
        shown = [{attribute.labels[node] for node in np.unique(own)} for own in attribute.nodes]
        known = {MISSING if text is None or text in plan.missing else text for text in texts}
        levels.append(next((level for level, own in enumerate(shown) if known <= own), -1))
    if min(levels) < 0:
        return None
    values = [[MISSING if text in plan.missing else text for text in texts] for texts in groups.values]
    return people.in_release(values, rows, levels)


def _alone(plan: Plan, source: Relation, names: Sequence[str], weight: str | None) -> Population:
    """Return a population in the hierarchies of its own values."""
    groups, scaled, scale = _counted(plan, source, names, weight)
    read = read_columns(source, plan.requests(names), plan.missing)
    own = plan.quasi_identifiers({name: each.column for name, each in read.items()})
    attributes = tuple(
        PopulationAttribute(
            each.hierarchy.labels,
            np.stack([each.nodes(level) for level in range(each.hierarchy.height + 1)]),
        )
        for each in own
    )
    codes = [read[name].codes[groups.codes[:, place]] for place, name in enumerate(names)]
    return Population(source.name, attributes, np.stack(codes, axis=1), scaled, scale)


def _counted(
    plan: Plan, source: Relation, names: Sequence[str], weight: str | None
) -> tuple[Groups, IntArray, int]:
    """Return the distinct rows of a population, their people times a scale, and the scale."""
    asked = [*names, *([] if weight is None else [weight])]
    for name in asked:
        source.position(name)
    groups = source.group_counts(asked)
    if weight is None:
        return groups, groups.counts, 1
    each, scale = exact_weights(source.name, weight, groups, len(names), plan.numerals)
    return groups, groups.counts * each, scale


def _by_weight(relation: Relation, names: Sequence[str], weight: str, sign: Numerals) -> PopulationSizes:
    groups = relation.group_counts([*names, weight])
    scaled, scale = exact_weights(relation.name, weight, groups, len(names), sign)
    class_of, first = numbered(groups.codes[:, : len(names)].T, len(groups.counts))
    people = np.zeros(len(first), dtype=np.int64)
    np.add.at(people, class_of, scaled * groups.counts)
    return PopulationSizes(people, scale, estimated=True)


def population_facts(population: Population | None) -> dict[str, Any] | None:
    """Return the ``population`` entry of the report; None without one."""
    if population is None:
        return None
    return {
        "source": "sampling weights" if population.estimated else "table",
        "people": population.people,
    }
