"""Which record goes to which part of a combination that a recoding publishes in several ways."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.data.relation import Relation
from anonymizer.model.arrays import CodeArray
from anonymizer.model.recoding import Recoding


def rows_of_records(
    relation: Relation, combination: CodeArray, recoding: Recoding, columns: Sequence[str]
) -> CodeArray:
    """Return the row of the recoding's table for each record, shape (records,), int32.

    Records of a combination differ at most in columns that are released unchanged. In the order of these
    they fill its parts one after another, so that the order of the input changes nothing.

    Parameters
    ----------
    combination: of each record, a position in the searched table, shape (records,), int32.
    columns: that are released.
    """
    if recoding.owner is None:
        return combination
    recoded = {attribute.name for attribute in recoding.table.quasi_identifiers}
    unchanged = [relation.codes(name) for name in reversed(columns) if name not in recoded]
    order = np.lexsort((*unchanged, combination))
    rows = np.empty(len(combination), dtype=np.int32)
    rows[order] = np.repeat(np.arange(len(recoding.owner), dtype=np.int32), recoding.table.counts)
    return rows
