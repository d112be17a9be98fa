"""An earlier release with new records in one table: written, counted again, and compared with both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anonymizer.adversary.files import adversary_from_files
from anonymizer.append.records import NewRecords, published_rows
from anonymizer.data.relation import EngineRelation, Relation, ReleaseQuery
from anonymizer.errors import AuditFailed
from anonymizer.job.constraints import countable_constraints
from anonymizer.job.verify import ReadBack, Shape, Tables, joined_query, released_query
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.classes import Classes
from anonymizer.plan.prepared import Found
from anonymizer.release.classes import classes_of, measure
from anonymizer.release.comparison import mismatched_append
from anonymizer.release.query import count_union, counted_rows, single_shuffled


class AppendedShape(Shape):
    """An earlier release and new records in one table."""

    fault = "are neither of the earlier release nor as published"
    whole = False

    def __init__(self, new: NewRecords) -> None:
        self._plan = new.prepared.plan
        self._new = new
        self.columns = [new.earlier.columns]

    def queries(self, found: Found, scratch: Path | None) -> tuple[ReleaseQuery, ...]:
        """Return both as one table, from the frequency tables alone if the release follows from them."""
        earlier, new, shuffled = self._new.earlier, self._new.relation, self._plan.target.shuffled
        assert isinstance(earlier, EngineRelation), "a release is a file, which an engine reads"
        assert isinstance(new, EngineRelation), "a DataFrame is never appended"
        assert scratch is not None, "the release is written to files"
        columns = self._plan.columns.released(new.columns)
        own = counted_rows(new, found.recoding, found.prepared.positions, columns)
        rows = None if own is None else count_union(earlier, self._new.groups, self._new.names, own)
        if rows is not None:
            return (earlier.counted_query(single_shuffled(rows) if shuffled else rows),)
        if found.prepared.problem.placing or found.prepared.counted.beyond or not new.ordered:
            alone = joined_query(new, found, columns, shuffled=False)
        else:
            alone = released_query(found, columns, shuffled=False)
        return (earlier.appended_query(alone, self._new.path, scratch, shuffled=shuffled),)

    def count(self, tables: Tables, found: Found) -> ReadBack:
        """Count the whole release as its recipient does."""
        (release,), own, prepared = tables, self._new, found.prepared
        groups, before = (published_rows(prepared.engine, each, own.names) for each in (release, own.earlier))
        classes = classes_of(release.name, groups, own.attributes, ())
        measured = measure(classes, countable_constraints(prepared.constraints))

        def wrong() -> int:
            return mismatched_append(release.name, groups, before, found.recoding, own.attributes)

        return ReadBack(classes, measured, wrong)

    def check_sizes(self, release: Relation, classes: Classes, found: Found) -> None:  # noqa: ARG002
        """Check that the release has as many records as the earlier release and the new ones together.

        Raises
        ------
        AuditFailed: it has not.
        """
        earlier, added = self._new.earlier, self._added(found)
        if release.rows != earlier.rows + added:
            raise AuditFailed(
                f"{release.name}: {release.rows:,} records, expected {earlier.rows:,} of the earlier release "
                f"and {added:,} new ones"
            )

    def _added(self, found: Found) -> int:
        """Return the number of released new records."""
        return int(found.promised.table.counts[~found.recoding.removed].sum())

    def recoded(self, found: Found) -> Sequence[str]:  # noqa: ARG002 - of any
        return self._new.names

    def check_untouched(self, release: Relation, found: Found) -> None:
        """Check that every other column has the values of both, except those of removed new records.

        Raises
        ------
        AuditFailed: a column has other values.
        """
        earlier, new = self._new.earlier, self._new.relation
        for name in release.columns:
            if name not in self.recoded(found):
                # A null and an empty text count as equal, as in a CSV file.
                union = release.put_together(name, earlier, new)
                if union.lacking or union.added or union.missing != new.rows - self._added(found):
                    raise AuditFailed(
                        f"{release.name}: column '{name}' does not contain the values that were written"
                    )
        earlier.check_unchanged()

    def view(self, tables: Tables, found: Found) -> AdversaryView:  # noqa: ARG002 - of any
        """Return the view of adversaries with the release alone: the earlier originals are not available."""
        return adversary_from_files(self._plan, tables[0], weights=self._plan.assessment.weights)
