"""The earlier release together with new records, as whoever gets it counts it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.audit.classes import value_codes
from anonymizer.audit.comparison import common_codes
from anonymizer.data.relation import Groups
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import Classes, SensitiveCodes
from anonymizer.model.counting import group_keys
from anonymizer.model.recoding import Recoding
from anonymizer.model.table import SensitiveAttribute


class Combined:
    """The classes of the earlier records and of new ones, by the texts that are published.

    Items are the combinations of the earlier release, followed by the rows of the recoding's table.

    Attributes
    ----------
    earlier: how many items are of the earlier release.
    classes: all items, none of them suppressed.

    Parameters
    ----------
    groups: of the earlier release by the quasi-identifiers and, last, the sensitive attributes.
    recoding: of the new records; what it suppresses is left out by ``released``, not here.
    attributes: the sensitive ones, over the values of both.
    """

    def __init__(
        self, source: str, groups: Groups, recoding: Recoding, attributes: Sequence[SensitiveAttribute]
    ) -> None:
        table = recoding.table
        self.earlier = len(groups.counts)
        counts = np.concatenate([groups.counts, table.counts])
        keys, number = np.zeros(len(counts), dtype=np.int64), 1
        published = recoding.published()
        for position, column in enumerate(published):
            (before, now), labels = common_codes(groups.values[position], column.labels)
            codes = np.concatenate([before[groups.codes[:, position]], now[column.codes]])
            keys, distinct = group_keys(keys * labels + codes, number * labels)
            number = len(distinct)
        sensitive = {}
        for position, attribute in enumerate(attributes, start=len(published)):
            own = table.sensitive[position - len(published)].column.texts
            before = value_codes(source, attribute.column, groups.values[position])
            now = value_codes(source, attribute.column, own)
            codes = np.concatenate(
                [before[groups.codes[:, position]], now[table.sensitive_codes(attribute.name)]]
            )
            sensitive[attribute.name] = SensitiveCodes(attribute, codes)
        self.classes = Classes(keys, counts, number, sensitive)

    @property
    def new(self) -> BoolArray:
        """Which items are of new records, shape (items,)."""
        return np.arange(len(self.classes.counts)) >= self.earlier

    def part(self, kept: BoolArray) -> tuple[Classes, IntArray]:
        """Return the classes of some items, and the position of each of their items among all items."""
        return self.classes.part(np.where(kept, self.classes.counts, 0))
