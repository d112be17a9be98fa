"""An earlier release with new records in one table: written, counted again, and compared with both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anonymizer.adversary.files import adversary_from_files
from anonymizer.config.search import EngineName
from anonymizer.data.relation import Coding, EngineRelation, Groups, Relation, ReleaseQuery
from anonymizer.errors import AuditFailed, InputError
from anonymizer.job.constraints import countable_constraints
from anonymizer.job.verify import ReadBack, Shape, Tables, joined_query, released_query
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.classes import Classes
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plan.plan import Plan
from anonymizer.plan.prepared import Found
from anonymizer.release.classes import classes_of, measure
from anonymizer.release.comparison import mismatched_append
from anonymizer.release.query import count_union, counted_rows, single_shuffled


@dataclass(frozen=True, eq=False)
class Sources:
    """An earlier release and the records to append to it.

    Attributes
    ----------
    path: of the earlier release.
    new: the input.
    attributes: the sensitive ones, over the values of both.
    names: the quasi-identifiers and, last, the sensitive attributes.
    """

    earlier: Relation
    path: Path
    new: Relation
    attributes: tuple[SensitiveAttribute, ...]
    names: tuple[str, ...]


def published_rows(engine: str, relation: Relation, names: Sequence[str], most: int | None = None) -> Groups:
    """Return the distinct rows of some columns of a release with their counts.

    Parameters
    ----------
    engine: that counts; every engine except memory fetches only the distinct rows.
    most: maximum number of rows in memory; None for any number.

    Raises
    ------
    InputError: there are more distinct rows.
    """
    if engine == EngineName.MEMORY.value:
        return relation.group_counts(names)
    values = tuple(tuple(text for text, _ in relation.dictionary(name)) for name in names)
    codings = [
        Coding(name, np.arange(len(texts), dtype=np.int32), len(texts))
        for name, texts in zip(names, values, strict=True)
    ]
    with relation.stored_distinct_rows(codings) as found:
        if most is not None and found.number > most:
            raise InputError(
                f"engine {engine}: {relation.name} has {found.number:,} distinct rows, but only "
                f"{most:,} fit in memory; raise engine.memory_limit or engine.options.combinations"
            )
        codes, counts = found.fetch()
    return Groups(values, codes, counts)


class AppendedShape(Shape):
    """An earlier release and new records in one table.

    Parameters
    ----------
    groups: the distinct rows of the earlier release, by the columns ``sources.names``.
    """

    fault = "are neither of the earlier release nor as published"
    whole = False

    def __init__(self, plan: Plan, sources: Sources, groups: Groups) -> None:
        self._plan = plan
        self._sources = sources
        self._groups = groups
        self.columns = [sources.earlier.columns]

    def queries(self, found: Found, scratch: Path | None) -> tuple[ReleaseQuery, ...]:
        """Return both as one table, from the frequency tables alone if the release follows from them."""
        earlier, new, shuffled = self._sources.earlier, self._sources.new, self._plan.shuffled
        assert isinstance(earlier, EngineRelation), "a release is a file, which an engine reads"
        assert isinstance(new, EngineRelation), "a DataFrame is never appended"
        assert scratch is not None, "the release is written to files"
        columns = self._plan.released(new.columns)
        own = counted_rows(new, found.recoding, found.prepared.positions, columns)
        rows = None if own is None else count_union(earlier, self._groups, self._sources.names, own)
        if rows is not None:
            return (earlier.counted_query(single_shuffled(rows) if shuffled else rows),)
        if found.prepared.problem.placing or found.prepared.counted.beyond or not new.ordered:
            alone = joined_query(new, found, columns, shuffled=False)
        else:
            alone = released_query(found, columns, shuffled=False)
        return (earlier.appended_query(alone, self._sources.path, scratch, shuffled=shuffled),)

    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count the whole release as its recipient does."""
        (release,), sources, prepared = tables, self._sources, found.prepared
        groups, before = (
            published_rows(prepared.engine, each, sources.names) for each in (release, sources.earlier)
        )
        classes = classes_of(release.name, groups, sources.attributes, ())
        measured = measure(classes, countable_constraints(prepared.constraints))

        def wrong() -> int:
            return mismatched_append(release.name, groups, before, found.recoding, sources.attributes)

        return ReadBack(classes, measured, wrong)

    def check_sizes(self, release: Relation, classes: Classes, found: Found) -> None:  # noqa: ARG002
        """Check that the release has as many records as the earlier release and the new ones together.

        Raises
        ------
        AuditFailed: it has not.
        """
        earlier, added = self._sources.earlier, self._added(found)
        if release.rows != earlier.rows + added:
            raise AuditFailed(
                f"{release.name}: {release.rows:,} records, expected {earlier.rows:,} of the earlier release "
                f"and {added:,} new ones"
            )

    def _added(self, found: Found) -> int:
        """Return the number of released new records."""
        return int(found.promised.table.counts[~found.recoding.removed].sum())

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Check that every other column has the values of both, except those of removed new records.

        Raises
        ------
        AuditFailed: a column has other values.
        """
        earlier, new = self._sources.earlier, self._sources.new
        for name in release.columns:
            if name not in self._sources.names:
                # A null and an empty text count as equal, as in a CSV file.
                union = release.put_together(name, earlier, new)
                if union.lacking or union.added or union.missing != new.rows - self._added(found):
                    raise AuditFailed(
                        f"{release.name}: column '{name}' does not contain the values that were written"
                    )
        earlier.check_unchanged()

    def view(self, tables: Tables, found: Found) -> AdversaryView:  # noqa: ARG002 - of any
        """Return the view of adversaries with the release alone: the earlier originals are not available."""
        return adversary_from_files(self._plan, tables[0], weights=self._plan.weights)
