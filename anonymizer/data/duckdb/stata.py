"""Files of Stata."""

from __future__ import annotations

from anonymizer.data.duckdb.readstat import Readstat
from anonymizer.data.source import STATA_FILES


class Stata(Readstat):
    """A file of Stata, by its labels."""

    name = "stata"
    kind = "a Stata file"
    suffixes = STATA_FILES.suffixes
    reader = "read_dta"
