"""What a file says about a column beside its values: title, labels of values, kinds of missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from anonymizer.model.table import Code


@dataclass(frozen=True)
class ColumnLabels:
    """The labels of a column.

    Attributes
    ----------
    title: label of the column, such as the text of a question; empty without one.
    codes: the code of each label that is read as a value, in the order of the codes; empty if the values of
        the column are read as they are stored.
    absent: texts that are kinds of missing values, with their codes.
    measure: level of measurement, such as ``ordinal``; empty if the file states none.
    """

    title: str = ""
    codes: Mapping[str, Code] = field(default_factory=dict)
    absent: Mapping[str, Code] = field(default_factory=dict)
    measure: str = ""

    @property
    def declared(self) -> Mapping[str, Code]:
        """The codes of all labels, of missing values too; empty if values are read as they are stored."""
        return {**self.codes, **self.absent} if self.codes else {}
