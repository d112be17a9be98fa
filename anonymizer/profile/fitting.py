"""Whether a drafted hierarchy can be built for its column, tried out as a run will do it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anonymizer.config.hierarchy import HierarchySettings
from anonymizer.data.relation import Relation
from anonymizer.data.table import ColumnRequest, read_columns
from anonymizer.errors import HierarchyError
from anonymizer.hierarchy.placement import Placement, Unknown, place
from anonymizer.profile.drafts import Draft, drafts
from anonymizer.profile.facts import ColumnFacts

WIDEST = 20_000
"""Distinct values up to which a hierarchy is built; the drafts for wider columns are made by rules alone."""


class HierarchyDrafter:
    """Drafts hierarchies for the columns of a relation.

    Parameters
    ----------
    relation: open as long as this is in use.
    missing: texts that stand for a missing value.
    """

    def __init__(self, relation: Relation, missing: Sequence[str]) -> None:
        self._relation = relation
        self._missing = tuple(missing)

    def draft(self, column: ColumnFacts) -> Draft:
        """Return the best draft that places every value of a column."""
        return next(draft for draft in drafts(column) if self._fits(column, draft))

    def _fits(self, column: ColumnFacts, draft: Draft) -> bool:
        if draft.hierarchy is None or column.distinct > WIDEST:
            return True
        settings = HierarchySettings.model_validate(dict(draft.hierarchy))
        placement = Placement(Path(), Unknown(settings.unknown.value), self._missing)
        request = ColumnRequest(column.name, draft.type or column.type, column.numerals)
        read = read_columns(self._relation, [request], self._missing)[column.name].column
        try:
            place(read, settings.build(), placement)
        except HierarchyError:
            return False
        return True
