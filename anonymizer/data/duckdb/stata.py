"""Files of Stata."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.coded import Coded, CodedFormat
from anonymizer.data.duckdb.readstat import Readstat
from anonymizer.data.duckdb.released import EXACT, FINITE, SECONDS, Staged
from anonymizer.data.foreign import needing
from anonymizer.data.source import STATA_FILES
from anonymizer.model.table import Code

_TIME = re.compile(rb"<timestamp>\x11.{17}</timestamp>", re.DOTALL)

RESERVED = frozenset(
    """
    AGGREGATE ARRAY BOOLEAN BREAK BYTE CASE CATCH CLASS COLVECTOR COMPLEX CONST CONTINUE DEFAULT
    DELEGATE DELETE DO DOUBLE ELSE ELTYPEDEF END ENUM EXPLICIT EXPORT EXTERNAL FLOAT FOR FRIEND FUNCTION
    GLOBAL GOTO IF IN INLINE INT LOCAL LONG NAMESPACE NEW NULL PRAGMA PRIVATE PROTECTED QUAD RETURN
    ROWVECTOR SHORT SIGNED STATIC STRL STRING STRUCT SUPER SWITCH TEMPLATE THIS THROW TRY TYPEDEF
    TYPENAME UNION UNSIGNED USING VECTOR VIRTUAL VOID WITH _ALL _B _COEF _CONS _N _PI _PRED _RC _SE
    _SKIP
    """.split()  # noqa: SIM905 - a word a line would be a page
)
"""Names that no column can have."""


class Stata(Readstat, CodedFormat):
    """A file of Stata, by its labels."""

    name = "stata"
    kind = "a Stata file"
    suffixes = STATA_FILES.suffixes
    reader = "read_dta"
    package = "Stata"
    writer = "write_dta"
    names = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    longest_name, longest_title, longest_label, longest_text = 32, 80, 32000, 2045
    reserved = RESERVED
    labels_texts = False
    lacking = "contains(v, chr(0))"
    stored = {
        "BIGINT": EXACT,
        "DOUBLE": f"{FINITE} AND abs(v) < 8e307",
        "BOOLEAN": "",
        "DATE": "v >= DATE '1000-01-01' AND v <= DATE '9999-12-31'",
        "TIMESTAMP": f"v >= DATE '1700-01-01' AND v < DATE '2250-01-01' AND {SECONDS}",
    }

    def absent_codes(self, texts: Sequence[str], known: ColumnLabels) -> dict[str, Code]:
        """Return the letters of the input; numbers get letters that are free."""
        own = {text: str(known.absent[text]) for text in texts if isinstance(known.absent[text], str)}
        codes = {text: code.lower() for text, code in own.items() if len(code) == 1 and code.isalpha()}
        free = (letter for letter in ascii_lowercase if letter not in codes.values())
        return {text: codes[text] if text in codes else next(free) for text in texts[: len(ascii_lowercase)]}

    def unnamed(self, code: Code) -> str:
        """Return the text that a missing value without a label is read as."""
        return f".{code}"

    def write(self, release: Staged, path: Path) -> None:
        """Write a release with labels of values and columns."""
        with needing(path):
            from anonymizer.data.office.coding import write_coded  # noqa: PLC0415 - an extra
        write_coded(self, release, path)

    def said(self, coded: Coded) -> dict[str, Any]:
        """Return labels and missing values."""
        letters = {
            name: [code for code in absent if isinstance(code, str)] for name, absent in coded.absent.items()
        }
        return {
            "column_labels": {**coded.titles},
            "variable_value_labels": coded.labels,
            "missing_user_values": letters,
        }

    @staticmethod
    def without_time(path: Path) -> None:
        """Write another time into the header."""
        with path.open("r+b") as file:
            found = _TIME.search(file.read(1000))
            if found is not None:
                # Behind a byte with its length.
                file.seek(found.start() + len(b"<timestamp>") + 1)
                file.write(b"01 Jan 1980 00:00")
