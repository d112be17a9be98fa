"""The population behind a sample: its table, or the weights of the records.

Values that the input lacks are placed in the same hierarchies, so that a generalized value stands for the
same values in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from anonymizer.data.open import open_file
from anonymizer.data.relation import Groups, Relation
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import Encoded, column_of, read_columns
from anonymizer.data.values import key_of, shared_keys
from anonymizer.errors import DataError, HierarchyError, InputError, plural
from anonymizer.model.arrays import SPACE, CodeArray, IntArray, count, numbered
from anonymizer.model.classes import Classes
from anonymizer.model.households import MEMBERS, Households
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import MISSING, NumberLabels
from anonymizer.model.population import Population, PopulationAttribute, PopulationSizes, RowOwners
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import POINT, Column, QuasiIdentifier, Role, Table, ValueType
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD, Units
from anonymizer.people.weights import exact_weights, rounding_warnings
from anonymizer.plan.columns import Columns
from anonymizer.plan.counting import Counting, PlannedPeople
from anonymizer.plan.plan import Plan
from anonymizer.search.rollup import RollUp


def with_counted_people(
    plan: Plan, relation: Relation, table: Table, encoded: Encoded, units: Mapping[str, IntArray]
) -> Table:
    """Return a table with the households and the population that constraints count.

    Parameters
    ----------
    units: of each record, as ``units_of_records`` returns them; none where the engine stores them.
    """
    if plan.counting.counts_population and PERSON in plan.counting.units and not units:
        raise InputError(
            f"{relation.name}: constraints that count the population count persons in memory only; set "
            "engine.name to memory"
        )
    row_of, persons = None, units.get(PERSON)
    if persons is not None or plan.counting.needs_households:
        row_of = encoded.combination.astype(np.int64)
    if plan.counting.needs_households:
        assert row_of is not None, "the records are in memory"
        households = Households.of_records(row_of, units[HOUSEHOLD], table.combinations, person_of=persons)
        table = replace(table, measure=table.measure.with_units({MEMBERS: households}))
    own = None if row_of is None or persons is None else (row_of, persons)
    return replace(table, population=population_of(plan, relation, table, own))


def population_of(
    plan: Plan, relation: Relation, table: Table, persons: tuple[IntArray, IntArray] | None = None
) -> Population | None:
    """Return the population of a table of the input; None if no constraint counts it.

    Parameters
    ----------
    persons: distinct row and person of each record of the input, -1 without one, both of shape (records,),
        int64; None where records are persons.

    Raises
    ------
    InputError: the population cannot be read, or the input cannot be a sample of it.
    """
    if not plan.counting.counts_population:
        return None
    with ExitStack() as stack:
        source, weight = relation, plan.columns.sampling_weight
        if plan.counting.population is not None:
            source = stack.enter_context(open_people(plan.counting.population))
            weight = plan.counting.population.weight
            _check_columns(source, relation, [each.name for each in table.quasi_identifiers])
        return _Reader(plan, relation, source, table, persons).population(weight)


def open_people(given: PlannedPeople) -> Relation:
    """Open a table of other people.

    Raises
    ------
    InputError: there is no such file, or it cannot be read.
    """
    if not given.path.exists():
        raise InputError(f"{given.path}: no such file; check {given.key}")
    options = EngineOptions(strict_header=given.strict_header, spelling=given.columns, keys=given.units)
    return open_file(given.path, given.dialect, options)


def _check_columns(people: Relation, own: Relation, names: Iterable[str]) -> None:
    """Refuse a table of other people that lacks a column of the input."""
    for name in names:
        if name not in people.columns:
            raise DataError(
                f"{people.name}: no column '{name}', which {own.name} has; add it, or rename the column that "
                "has these values"
            )


def check_held_out(plan: Plan, original: Relation, control: Relation) -> None:
    """Check that nobody who is held out is in the input, as far as both have columns of units.

    Raises
    ------
    InputError: a unit is in both, those who are held out lack a column, or groups of a sensitive attribute
        would be others.
    """
    for role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        _check_columns(
            control, original, () if plan.assessment.foreign_names else plan.columns.with_role(role)
        )
    sources = {name: each.hierarchy.source for name, each in plan.columns.bands.items()}
    first, second = (
        read_columns(each, plan.columns.requests([*sources]), plan.columns.missing)
        for each in (original, control)
    )
    for name, source in sources.items():
        if source.depends_on(first[name].column) != source.depends_on(second[name].column):
            raise InputError(
                f"attributes.{name}.hierarchy: {source.describe()} is built from the values, and those of "
                f"{control.name} would give another one than those of {original.name}; write it to a file "
                "with the command hierarchy build before the run, with the values of both, and use it as "
                "hierarchy: {file: ...}"
            )
    for name, column in plan.counting.units.items():
        if column in original.columns and column in control.columns:
            own, held = (
                {
                    text
                    for text, _ in each.dictionary(column)
                    if text is not None and text not in plan.columns.absent
                }
                for each in (original, control)
            )
            shared = shared_keys(own, held, plan.columns.numerals)
            if shared:
                raise InputError(
                    f"{control.name}: has records of {plural(len(shared), name)} of {original.name} (column "
                    f"'{column}'); held-out people must not be in the release: give a control file without "
                    "them, or remove them from the input"
                )


@dataclass(frozen=True, eq=False)
class _Reader:
    """Reads a population in the codes of its values and those of the input.

    Attributes
    ----------
    relation: the input.
    source: the population; the input itself if people are estimated by its weights.
    table: of the input.
    persons: distinct row and person of each record of the input; None where records are persons.
    """

    plan: Plan
    relation: Relation
    source: Relation
    table: Table
    persons: tuple[IntArray, IntArray] | None

    def population(self, weight: str | None) -> Population:
        """Return the population.

        Parameters
        ----------
        weight: column of the source with the people that a record stands for; None for one each.
        """
        own, estimated = self.table.quasi_identifiers, self.source is self.relation
        names = [each.name for each in own]
        groups, scaled, scale, owners = _counted(
            self.plan.columns, self.plan.counting, self.source, names, weight, sample=estimated
        )
        found = [self._placed(attribute, groups, place) for place, attribute in enumerate(own)]
        if prod(int(each.nodes.shape[1]) for each, _, _ in found) >= SPACE:
            raise InputError(
                f"{self.plan.config}: constraints that count the population need fewer quasi-identifiers, "
                f"or fewer distinct values: {len(own)} are too many to compare"
            )
        codes = np.stack([codes for _, codes, _ in found], axis=1)
        attributes = tuple(each for each, _, _ in found)
        notes = tuple(rounding_warnings(self.plan.columns, self.source, [weight]))
        people = Population(self.source.name, attributes, codes, scaled, scale, estimated, owners, notes)
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
            [text for text, _ in self.relation.dictionary(attribute.name)],
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
                f"{self.source.name}: column '{attribute.name}' lacks the value '{text}', which "
                f"{plural(records, 'record')} of {self.relation.name} have; the population must contain "
                "everyone in the input"
            )
        return self._nodes(attribute, read.column, sample), codes[groups.codes[:, place]], sample

    def _sample_codes(self, column: Column) -> list[int]:
        """Return the code of each text of the input's dictionary."""
        dictionary = self.relation.dictionary(column.name)
        request = self.plan.columns.request(column.name, column.type)
        codes: list[int] = column_of(self.relation.name, dictionary, request, self._missing).codes.tolist()
        return codes

    @property
    def _missing(self) -> frozenset[str]:
        return frozenset({*self.plan.columns.missing, MISSING})

    def _read(self, column: Column) -> tuple[list[str | None], Any]:
        """Return the texts of a column in either table, and the column of all of them."""
        counts: Counter[str | None] = Counter(dict(self.relation.dictionary(column.name)))
        request = self.plan.columns.request(column.name, column.type, "the input")
        if self.source is not self.relation:
            others = self.source.dictionary(column.name)
            # Messages count the records of the population alone.
            column_of(self.source.name, others, request, self._missing)
            counts.update(dict(others))
        texts = sorted(counts, key=lambda text: (text is None, text or ""))
        dictionary = [(text, counts[text]) for text in texts]
        return texts, column_of(self.source.name, dictionary, request, self._missing)

    def _nodes(self, attribute: QuasiIdentifier, column: Column, sample: IntArray) -> PopulationAttribute:
        """Return the nodes of the input's hierarchy for all values.

        Raises
        ------
        InputError: the hierarchy lacks a value, or is another one with the values of the population.
        """
        try:
            (other,) = self.plan.columns.quasi_identifiers({attribute.name: column})
        except HierarchyError as error:
            raise HierarchyError(f"{self.source.name}: {error}") from None
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
                f"{self.source.name}: the hierarchy of '{attribute.name}' is built from the values of the "
                "input, and the values of the population would change its groups; use a hierarchy that does "
                "not depend on values, such as a file, a tree, or intervals with an origin"
            )
        return PopulationAttribute(own.labels, found)

    def _check_sample(self, people: Population, sample: Sequence[IntArray]) -> None:
        """Check that the population has everyone of the input.

        Raises
        ------
        DataError: it does not; names the values.
        """
        table, sizes = self.table, [each.nodes.shape[1] for each in people.attributes]
        strides = [prod(sizes[position + 1 :]) for position in range(len(sizes))]
        keys = np.zeros(table.combinations, dtype=np.int64)
        for position, (codes, stride) in enumerate(zip(sample, strides, strict=True)):
            keys += codes[table.quasi_identifier_codes(position)] * stride
        distinct, first, group = np.unique(keys, return_index=True, return_inverse=True)
        records = count(group, table.counts, len(distinct))
        if self.persons is not None:
            row_of, person_of = self.persons
            records = Units.of_items(group[row_of], person_of, len(distinct)).counted(
                np.arange(len(distinct)), len(distinct)
            )
        found = people.sizes(distinct, [np.arange(size) for size in sizes], strides)
        smaller = np.flatnonzero(found.scaled < records * people.scale)
        if len(smaller):
            own, row = table.quasi_identifiers, first[smaller[0]]
            texts = [each.column.texts[table.codes[row, place]] for place, each in enumerate(own)]
            number, names = int(records[smaller[0]]), [each.name for each in own]
            what = RECORD if self.persons is None else PERSON
            raise _too_few(people.source, "the input", names, texts, found.people[smaller[0]], number, what)


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
    return classes.population.keep(classes.class_of[rows])


def people_of_file(
    plan: Plan, relation: Relation, names: Sequence[str], persons: IntArray | None
) -> PopulationSizes | None:
    """Return the people of the classes of a file, in the order of its rows; None if they are unknown.

    They are known from the file's own weights, or from a population whose values, or generalized values of
    one level in each column, are those of the file.

    Parameters
    ----------
    names: of the quasi-identifiers.
    persons: of each class, shape (classes,), int64; None where the records of the file are persons.

    Raises
    ------
    DataError: the population has fewer people with some values than the file has, or the weights of a person
        differ.
    """
    if plan.counting.population is None:
        weight = plan.columns.sampling_weight
        asked = [weight, plan.counting.units.get(PERSON, weight)]
        if weight is None or any(each not in relation.columns for each in asked):
            return None
        return _by_weight(plan.columns, plan.counting, relation, names, weight)
    groups = relation.group_counts(names)
    order = np.lexsort(groups.codes.T[::-1])
    rows = groups.codes[order]
    with open_people(plan.counting.population) as source:
        _check_columns(source, relation, names)
        types = _types_in_population(plan.columns, source, relation, names)
        typed = replace(plan, columns=plan.columns.typed(types, "the input"))
        people = _alone(typed.columns, typed.counting, source, names, plan.counting.population.weight)
    values, fitting = [], []
    for name, attribute, texts in zip(names, people.attributes, groups.values, strict=True):
        shown = [{attribute.labels[node] for node in np.unique(own)} for own in attribute.nodes]
        known = _as_labels(plan.columns, name, texts, shown[0])
        fitting.append([level for level, own in enumerate(shown) if own.issuperset(known)])
        values.append(known)
    if not all(fitting):
        return None
    sample, what = (groups.counts[order], RECORD) if persons is None else (persons, PERSON)
    if persons is None and PERSON in plan.counting.units:  # a release shows only that a class has a person
        sample, what = np.ones_like(sample), PERSON
    found, smaller = _at_lowest(people, values, rows, fitting, sample)
    if len(smaller):
        first = smaller[0]
        own = [texts[code] for texts, code in zip(values, rows[first], strict=True)]
        number = int(sample[first])
        raise _too_few(people.source, relation.name, names, own, found.people[first], number, what)
    return found


def _at_lowest(
    people: Population,
    values: Sequence[Sequence[str | None]],
    rows: CodeArray,
    fitting: Sequence[Sequence[int]],
    sample: IntArray,
) -> tuple[PopulationSizes, IntArray]:
    """Return the people of classes by the lowest levels at which none has fewer than the sample.

    A label may stand at several levels; the lowest has the fewest people.

    Parameters
    ----------
    fitting: levels of each quasi-identifier that have all its texts.

    Returns
    -------
    The people; and the classes with too few, all by the lowest levels, if no other levels fit.
    """
    tried = []
    for levels in sorted(product(*fitting), key=sum):
        found = people.in_release(values, rows, levels)
        tried.append((found, np.flatnonzero(found.scaled < sample * people.scale)))
        if not len(tried[-1][1]):
            return tried[-1]
    return tried[0]


def _types_in_population(
    columns: Columns, source: Relation, relation: Relation, names: Sequence[str]
) -> dict[str, ValueType | None]:
    """Return the types of the columns of a file whose values are those of a population, by name.

    A run reads its population so. Where the file has generalized values, they say nothing about the type.
    """
    found: dict[str, ValueType | None] = {}
    for request in columns.requests(names):
        try:
            column = read_columns(relation, [request], columns.missing)[request.name].column
        except DataError:
            continue
        key = key_of(column.type, column.numerals, column.dates)
        people = {key(text) for text, _ in source.dictionary(request.name) if text is not None}
        if column.present and people.issuperset(map(key, column.present)):
            found[request.name] = column.type
    return found


def _as_labels(
    columns: Columns, name: str, texts: Sequence[str | None], labels: Collection[str]
) -> list[str]:
    """Return the texts of a column as other labels of the column spell equal values."""
    absent = columns.absent_among(name, texts)
    # Labels that numbers stand for have a decimal point, whatever the file has.
    shown = columns.numerals if columns[name].labels is NumberLabels.RANGE else POINT
    keys = [text_identity, key_of(ValueType.NUMBER, columns.numerals), key_of(ValueType.DATE)]
    of_labels = [text_identity, key_of(ValueType.NUMBER, shown), key_of(ValueType.DATE)]
    spelled: dict[Any, str] = {key(label): label for key in of_labels for label in sorted(labels)}
    spelled.pop(None, None)

    def as_label(text: str) -> str:
        return next((spelled[key(text)] for key in keys if key(text) in spelled), text)

    return [MISSING if text is None or text in absent else as_label(text) for text in texts]


def _too_few(
    population: str,
    sample: str,
    names: Sequence[str],
    values: Sequence[str | None],
    people: float,
    number: int,
    what: str,
) -> DataError:
    """Return the error of a population with fewer people than the sample has of them."""
    shown = ", ".join(f"{name} '{value}'" for name, value in zip(names, values, strict=True))
    return DataError(
        f"{population}: the number of people with {shown} is {people:g}, but {sample} has "
        f"{plural(number, what)} with these values; the population must contain everyone in {sample}"
    )


def _alone(
    columns: Columns, counting: Counting, source: Relation, names: Sequence[str], weight: str | None
) -> Population:
    """Return a population in the hierarchies of its own values."""
    groups, scaled, scale, _ = _counted(columns, counting, source, names, weight, sample=False)
    read = read_columns(source, columns.requests(names), columns.missing)
    own = columns.quasi_identifiers({name: each.column for name, each in read.items()})
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
    columns: Columns,
    counting: Counting,
    source: Relation,
    names: Sequence[str],
    weight: str | None,
    *,
    sample: bool,
) -> tuple[Groups, IntArray, int, RowOwners | None]:
    """Return the distinct rows of a population, their people times a scale, the scale, and their owners.

    Parameters
    ----------
    sample: whether the rows are those of the input, where a person may have several and counts once.

    Raises
    ------
    DataError: a weight is no positive number, or a person of the sample has two.
    """
    person = counting.units.get(PERSON) if sample else None
    asked = [*names, *(each for each in (weight, person) if each is not None)]
    for name in asked:
        source.position(name)
    groups = source.group_counts(asked)
    if weight is None:
        return groups, groups.counts, 1, None
    each, scale = exact_weights(columns, source, weight, groups, len(names))
    if person is None:
        return groups, groups.counts * each, scale, None
    known = np.array([text not in columns.absent for text in groups.values[-1]], dtype=np.bool_)
    person_of = groups.codes[:, -1].astype(np.int64)
    person_of = np.where(known[person_of], person_of, -1)
    owned = np.flatnonzero(person_of >= 0)
    own = np.zeros(len(known), dtype=np.int64)
    own[person_of[owned]] = each[owned]
    other = owned[own[person_of[owned]] != each[owned]]
    if len(other):
        two = sorted({int(own[person_of[other[0]]]), int(each[other[0]])})
        weights = " and ".join(f"{number / scale:g}" for number in two)
        raise DataError(
            f"{source.name}: column '{weight}' has different weights in the records of "
            f"{plural(len(np.unique(person_of[other])), 'person')} of column '{person}', such as {weights}; "
            "a person must have the same weight in all records"
        )
    owners = RowOwners.of(person_of, groups.counts)
    return groups, each * owners.persons, scale, owners


def _by_weight(
    columns: Columns, counting: Counting, relation: Relation, names: Sequence[str], weight: str
) -> PopulationSizes:
    groups, scaled, scale, owners = _counted(columns, counting, relation, names, weight, sample=True)
    class_of, first = numbered(groups.codes[:, : len(names)].T, len(groups.counts))
    owners = RowOwners(np.full(len(class_of), -1), groups.counts) if owners is None else owners
    people, persons = (owners.added(class_of, len(first), each) for each in (scaled, owners.persons))
    return PopulationSizes(people, scale, estimated=True, persons=persons)


def population_facts(population: Population | None) -> dict[str, Any] | None:
    """Return the ``population`` entry of the report; None without one."""
    if population is None:
        return None
    return {
        "source": "sampling weights" if population.estimated else "table",
        "people": population.people,
    }
