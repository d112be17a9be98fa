"""Files of SPSS."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.coded import HIDDEN, Coded, CodedFormat
from anonymizer.data.duckdb.readstat import Readstat
from anonymizer.data.duckdb.released import EXACT, FINITE, SECONDS, Staged
from anonymizer.data.foreign import needing
from anonymizer.data.source import SPSS_FILES
from anonymizer.errors import OutputError
from anonymizer.model.table import Code

_TIMES = slice(92, 109)
"""Where the header has the day and time of writing."""


class Spss(Readstat, CodedFormat):
    """A file of SPSS, by its labels."""

    name = "spss"
    kind = "an SPSS file"
    suffixes = SPSS_FILES.suffixes
    reader = "read_sav"
    package = "SPSS"
    writer = "write_sav"
    names = re.compile(r"[^\W\d_](?:[\w.@#$]*[\w@#$])?")
    longest_name, longest_title, longest_label, longest_text = 64, 256, 120, 32767
    reserved = frozenset({"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"})
    lacking = "contains(v, chr(0)) OR suffix(v, ' ')"
    stored = {
        "BIGINT": EXACT,
        "DOUBLE": f"{FINITE} AND abs(v) < 1e300",
        "BOOLEAN": "",
        "DATE": "v >= DATE '1582-10-15' AND v <= DATE '9999-12-31'",
        "TIMESTAMP": f"v >= DATE '1582-10-15' AND v < DATE '9999-12-31' AND {SECONDS}",
        "TIME": "microsecond(v) % 1000000 = 0",
    }

    def absent_codes(self, texts: Sequence[str], known: ColumnLabels) -> dict[str, Code]:
        """Return the codes of the input; letters of Stata become numbers below zero."""
        codes: dict[str, Code] = {}
        numeric = not any(isinstance(code, str) for code in known.codes.values())
        for text in texts:
            code = known.absent[text]
            letter = isinstance(code, str) and numeric and len(code) == 1
            codes[text] = ord("`") - ord(str(code)) if letter else code
        return codes

    def unnamed(self, code: Code) -> str:
        """Return the text that a missing value without a label is read as."""
        return f"missing {code}"

    def write(self, release: Staged, path: Path) -> None:
        """Write a release with labels of values and columns."""
        with needing(path):
            from anonymizer.data.office.coding import write_coded  # noqa: PLC0415 - an extra
        write_coded(self, release, path)

    def said(self, coded: Coded) -> dict[str, Any]:
        """Return labels, missing values and levels of measurement."""
        whole = [
            name
            for name, values in coded.columns.items()
            if values.dtype.kind == "i" or (name in coded.labels and values.dtype.kind != "O")
        ]
        return {
            "row_compress": True,
            "column_labels": {**coded.titles},
            "variable_value_labels": coded.labels,
            "missing_ranges": {name: self._ranges(name, coded) for name in coded.absent},
            "variable_measure": coded.measures,
            "variable_format": dict.fromkeys(whole, "F8.0"),
        }

    @staticmethod
    def without_time(path: Path) -> None:
        """Write another time into the header."""
        with path.open("r+b") as file:
            file.seek(_TIMES.start)
            file.write(b"01 Jan 8000:00:00")

    @classmethod
    def _ranges(cls, name: str, coded: Coded) -> list[Any]:
        """Return the missing values of a column: at most three, or a range and one beside it."""
        absent, labels = coded.absent[name], coded.labels[name]
        if len(absent) <= 3 or any(isinstance(code, str) for code in absent):
            return absent
        values, order = coded.columns[name], sorted(absent)
        present = values[~values.isin(absent)]
        for inside, beside in ((order, []), (order[1:], order[:1]), (order[:-1], order[-1:])):
            if not present.between(inside[0], inside[-1]).any():
                return [{"lo": inside[0], "hi": inside[-1]}, *beside]
        kinds = [code for code in absent if labels.get(code) not in HIDDEN]
        if len(kinds) < len(absent):
            # Its own kinds of missing values are worth more than what the release adds.
            return cls._ranges(name, replace(coded, absent={name: kinds}))
        raise OutputError(
            f"column '{name}' has {len(absent)} kinds of missing values among its values, of which SPSS has "
            "three; set output.path to a .csv"
        )
