"""The header of a CSV file and the separator between its fields."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from anonymizer.engines.csv_scan import UTF8, codec, open_content, reading
from anonymizer.engines.header import check_header
from anonymizer.engines.options import CsvDialect
from anonymizer.errors import DataError

if TYPE_CHECKING:
    from _csv import Reader

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
"""The separators that are detected, the likelier first."""

SAMPLE_CHARACTERS = 1 << 18
SAMPLE_RECORDS = 100


@dataclass(frozen=True)
class Header:
    """What stands at the top of a CSV file.

    Attributes
    ----------
    columns: names in order.
    separator: between fields.
    lines: physical lines that the header takes, blank ones before it included.
    """

    columns: tuple[str, ...]
    separator: str
    lines: int


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[TextIO]:
    """Open the content of a CSV file as text with its line ends untouched; undecodable bytes are replaced."""
    name = codec(path, encoding).name
    with reading(path), open_content(path) as content:
        decoded = "utf-8-sig" if name in UTF8 else name
        yield io.TextIOWrapper(content, encoding=decoded, errors="replace", newline="")


def records(text: TextIO, separator: str) -> Reader:
    """Return a strict reader of the records of a CSV text, fields of any length."""
    csv.field_size_limit(sys.maxsize)
    return csv.reader(text, delimiter=separator, strict=True)


def read_header(path: Path, dialect: CsvDialect) -> Header:
    """Read the header, detecting the separator where neither the dialect nor the suffix ``.tsv`` gives it.

    Raises
    ------
    DataError: the file cannot be read or is empty, a name is empty or occurs twice, a quote never closes, or
        the header is one column that holds another known separator.
    """
    separator = dialect.separator or ("\t" if ".tsv" in path.suffixes else None)
    with open_text(path, dialect.encoding) as text:
        sample = text.read(SAMPLE_CHARACTERS)
    if not sample.strip():
        raise DataError(f"{path}: the file is empty; a header and records are needed")
    header = _first_record(path, dialect.encoding, separator or detect_separator(sample))
    if len(header.columns) == 1:
        _check_single(path, header)
    check_header(str(path), header.columns)
    return header


def detect_separator(sample: str) -> str:
    """Return the separator that parts the header into most columns and the records after it into as many.

    Where none does both, the one with most columns in the header; a comma for a single column.

    >>> detect_separator("a;b,c\\n1;2,5\\n3;4\\n")
    ';'
    """
    return max(SEPARATORS, key=lambda separator: _fit(sample, separator))


def _fit(sample: str, separator: str) -> tuple[bool, int]:
    """Say whether all sampled records have as many fields as the header, and how many the header has."""
    widths: list[int] = []
    reader = records(io.StringIO(sample, newline=""), separator)
    try:
        for record in reader:
            if record:
                widths.append(len(record))
            if len(widths) > SAMPLE_RECORDS:
                break
        else:
            if len(sample) == SAMPLE_CHARACTERS:
                widths = widths[:1] + widths[1:-1]
    except csv.Error:
        # A sample may end inside quotes; a wrong separator may make quotes look misplaced.
        if len(sample) < SAMPLE_CHARACTERS:
            return False, widths[0] if widths else sample.lstrip().split("\n", 1)[0].count(separator) + 1
    if not widths:
        return False, 0
    return widths[0] > 1 and len(set(widths)) == 1, widths[0]


def _first_record(path: Path, encoding: str, separator: str) -> Header:
    with open_text(path, encoding) as text:
        reader = records(text, separator)
        try:
            columns = next(record for record in reader if record)
        except (csv.Error, StopIteration):
            raise DataError(
                f"{path}: line {max(reader.line_num, 1)}: the header has a misplaced or unclosed quote; "
                "write a quote inside a quoted name twice"
            ) from None
        return Header(tuple(columns), separator, reader.line_num)


def _check_single(path: Path, header: Header) -> None:
    """Refuse one column whose name another separator would part: the separator is wrong."""
    for other, name in SEPARATORS.items():
        if other != header.separator and other in header.columns[0]:
            given = SEPARATORS.get(header.separator, repr(header.separator))
            raise DataError(
                f"{path}: one column only, separated by {given}, but its header holds a {name}; "
                f"set input.separator to {other!r}"
            )
