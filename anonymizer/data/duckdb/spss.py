"""Files of SPSS."""

from __future__ import annotations

from anonymizer.data.duckdb.readstat import Readstat
from anonymizer.data.source import SPSS_FILES


class Spss(Readstat):
    """A file of SPSS, by its labels."""

    name = "spss"
    kind = "an SPSS file"
    suffixes = SPSS_FILES.suffixes
    reader = "read_sav"
