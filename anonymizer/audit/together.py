"""A counted file against an earlier release and what a recoding publishes of further records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.audit.compare import Compared, surplus
from anonymizer.audit.count import value_codes
from anonymizer.data.relation import Groups
from anonymizer.model.arrays import IntArray
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import SensitiveAttribute


def common_codes(*several: Sequence[str | None]) -> tuple[list[IntArray], int]:
    """Number the texts of several lists, equal ones alike, a null as the empty text.

    Returns
    -------
    The numbers of each list, int64, and how many distinct texts there are.
    """
    known: dict[str, int] = {}
    codes = [
        np.array([known.setdefault(text or "", len(known)) for text in texts], dtype=np.int64)
        for texts in several
    ]
    return codes, len(known)


def mismatched_append(
    source: str,
    groups: Groups,
    earlier: Groups,
    recoding: Recoding,
    attributes: Sequence[SensitiveAttribute],
) -> int:
    """Count the records of a file that are neither of an earlier release nor as a recoding publishes them.

    Parameters
    ----------
    source: what messages call the file.
    groups, earlier: of the file and of the earlier release, by the quasi-identifiers and, last, the sensitive
        attributes of the recoding's table.
    attributes: the sensitive ones, over the values of all records.

    Returns
    -------
    Records that the file has too many of some kind.

    Raises
    ------
    DataError: there is a sensitive value that the attributes have not.
    """
    table, columns = recoding.table, []
    for position, own in enumerate(recoding.published()):
        texts = (groups.values[position], earlier.values[position], own.labels)
        (found, before, now), number = common_codes(*texts)
        promised = np.concatenate([before[earlier.codes[:, position]], now[own.codes]])
        columns.append(Compared(found, promised, number))
    for place, attribute in enumerate(attributes):
        position = len(table.quasi_identifiers) + place
        texts = (groups.values[position], earlier.values[position], table.sensitive[place].column.texts)
        found, before, now = (value_codes(source, attribute.column, each) for each in texts)
        promised = np.concatenate([before[earlier.codes[:, position]], now[table.codes[:, position]]])
        columns.append(Compared(found, promised, attribute.column.size))
    kept = np.concatenate([np.ones(len(earlier.counts), dtype=np.bool_), ~recoding.removed])
    return surplus(groups, columns, kept, np.concatenate([earlier.counts, table.counts]))
