"""The methods of suppression that a judge of candidates applies."""

from __future__ import annotations

from anonymizer.search.base import SuppressionMethod
from anonymizer.search.suppression.records import OptimalRecords
from anonymizer.search.suppression.suppressor import Suppressor
from anonymizer.search.suppression.whole_classes import WholeClasses

SUPPRESSORS: dict[SuppressionMethod, type[Suppressor]] = {
    SuppressionMethod.CLASSES: WholeClasses,
    SuppressionMethod.RECORDS: OptimalRecords,
    SuppressionMethod.CELLS: WholeClasses,
}
"""By their name in a config. Candidates are judged by whole classes where cells are blanked afterwards."""
