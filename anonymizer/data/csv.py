"""Strict reading of CSV files: header, separator, encoding, digest, and the location of a faulty line.

One pass over the bytes computes the digest, checks the encoding, and counts what a later parse must agree
with. The slow, strict reader finds the faulty line, or copies an unusual file to a plain one.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.source import (
    CHUNK,
    SEPARATORS,
    CsvDialect,
    is_gzipped,
    name_columns,
    open_content,
    reading,
    reads_back,
    separator_of,
)
from anonymizer.errors import DataError, plural

if TYPE_CHECKING:
    from _csv import Reader

_QUOTE = ord('"')


class Tally:
    """Counts that a parser of the text must agree with; exact if ``plain`` is true.

    Parameters
    ----------
    separator: between fields, one ASCII character.

    Attributes
    ----------
    size: bytes without a byte-order mark.
    separators: number of separators outside quotes.
    """

    def __init__(self, separator: str) -> None:
        self._separator = ord(separator)
        self._around = np.zeros(256, dtype=bool)
        self._around[[self._separator, ord("\n"), ord("\r"), _QUOTE]] = True
        self._started = False
        self._quoted = False
        self._last = ord("\n")
        self._enclosing = True
        self._feeds = self._returns = self._pairs = 0
        self.size = 0
        self.separators = 0

    @property
    def plain(self) -> bool:
        """Whether all lines end alike, no field has another line end, and quotes enclose whole fields."""
        alike = not self._returns or not self._feeds or self._returns == self._pairs == self._feeds
        return alike and self._enclosing and not self._quoted

    def add(self, data: bytes) -> None:
        """Count the next chunk, in UTF-8."""
        if not self._started:
            data = data.removeprefix(codecs.BOM_UTF8)
            self._started = bool(data)
        if not data:
            return
        self._count_line_ends(data)
        self._count_separators(data)
        self.size += len(data)
        self._last = data[-1]

    def _count_line_ends(self, data: bytes) -> None:
        self._feeds += data.count(b"\n")
        if b"\r" in data:
            self._returns += data.count(b"\r")
            self._pairs += data.count(b"\r\n")
        self._pairs += self._last == ord("\r") and data[0] == ord("\n")

    def _count_separators(self, data: bytes) -> None:
        if b'"' not in data:
            self.separators += 0 if self._quoted else data.count(self._separator)
            self._check_first(data)
            return
        text = np.frombuffer(data, dtype=np.uint8)
        quotes = np.flatnonzero(text == _QUOTE)
        # A doubled quote in a field closes and opens it: an even number of quotes before a place is outside.
        before = np.searchsorted(quotes, np.flatnonzero(text == self._separator)) + self._quoted
        self.separators += int(np.count_nonzero(before % 2 == 0))
        self._check_first(data)
        self._check_neighbours(text, quotes[int(self._quoted) :: 2], quotes[int(not self._quoted) :: 2])
        self._quoted ^= len(quotes) % 2 == 1

    def _check_first(self, data: bytes) -> None:
        """Check the character after a closing quote at the end of the previous chunk."""
        if self._last == _QUOTE and not self._quoted:
            self._enclosing &= bool(self._around[data[0]])

    def _check_neighbours(
        self, text: NDArray[np.uint8], opening: NDArray[np.intp], closing: NDArray[np.intp]
    ) -> None:
        """Check that separators, line ends or quotes come before opening and after closing quotes."""
        before = text[opening - 1]
        if len(opening) and opening[0] == 0:
            before[0] = self._last
        after = text[closing[closing < len(text) - 1] + 1]
        self._enclosing &= bool(self._around[before].all() and self._around[after].all())


UTF8 = frozenset({"utf-8", "utf-8-sig"})


class Scan(NamedTuple):
    """The result of one pass over a CSV file.

    Attributes
    ----------
    sha256: of the bytes on disk, compressed or not.
    separators: number of separators outside quotes, header included.
    plain: as for ``Tally``.
    """

    sha256: str
    separators: int
    plain: bool


class _Digested:
    """A file that hashes the bytes it returns."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.sha256.update(data)
        return data


def codec(path: Path, encoding: str) -> codecs.CodecInfo:
    """Return the text codec with a name.

    Raises
    ------
    DataError: Python has no such codec.
    """
    if not reads_back(encoding):
        raise DataError(
            f"{path}: unknown input.encoding '{encoding}'; accepted: utf-8, utf-16, windows-1252, latin-1, "
            "or any other text encoding of Python"
        )
    return codecs.lookup(encoding)


def scan(path: Path, encoding: str, separator: str, utf8_copy: Path) -> Scan:
    """Read a whole CSV file once.

    Parameters
    ----------
    encoding: of the content; unless it is UTF-8, the content is written to ``utf8_copy`` in UTF-8.
    separator: to count outside quotes.

    Raises
    ------
    DataError: it cannot be read, or a byte is not text in this encoding.
    """
    info = codec(path, encoding)
    with reading(path), path.open("rb") as file:
        source = _Digested(file)
        opened = gzip.GzipFile(fileobj=cast(Any, source)) if is_gzipped(path) else source
        tally = Tally(separator)
        if info.name in UTF8:
            for data in _checked(path, info, opened):
                tally.add(data)
        else:
            with utf8_copy.open("wb") as copy:
                for data in _checked(path, info, opened):
                    tally.add(data)
                    copy.write(data)
        return Scan(source.sha256.hexdigest(), tally.separators, tally.plain)


def _checked(path: Path, info: codecs.CodecInfo, source: Any) -> Iterator[bytes]:
    """Yield the content as UTF-8 in chunks, each after it is decoded and has no NUL byte."""
    decoder = codecs.getincrementaldecoder(info.name)("strict")
    utf8 = info.name in UTF8
    read = line = 0
    while True:
        raw: bytes = source.read(CHUNK)
        pending = decoder.getstate()[0]
        content = raw
        if not utf8 or pending or not raw.isascii():
            try:
                text = decoder.decode(raw, final=not raw)
            except UnicodeDecodeError as error:
                sound = error.object[: error.start].decode(info.name, "ignore")
                at = read - len(pending) + error.start
                number = line + sound.count("\n") + 1
                raise DataError(_undecodable(path, info.name, number, at)) from None
            content = raw if utf8 else text.encode("utf-8", "surrogatepass")
        if b"\0" in content:
            number = line + content[: content.index(b"\0")].count(b"\n") + 1
            raise DataError(
                f"{path}: line {number} has a NUL byte; the file is damaged, not text, "
                "or in another encoding (set input.encoding, for example to utf-16)"
            )
        yield content
        read += len(raw)
        line += content.count(b"\n")
        if not raw:
            return


UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SHOWN_BYTES = 3
"""Number of bytes that a message about an encoding names."""


def _check_utf16(path: Path, encoding: str) -> None:
    """Refuse a file that begins with the mark of UTF-16 if it is to be read as UTF-8."""
    if codec(path, encoding).name not in UTF8:
        return
    with reading(path), open_content(path) as content:
        if content.read(2) in UTF16_MARKS:
            raise DataError(
                f"{path}: begins with the byte-order mark of UTF-16, so it is not {encoding}; "
                "set input.encoding: utf-16"
            )


def _undecodable(path: Path, encoding: str, line: int, offset: int) -> str:
    where = f"{path}: line {line}, byte {offset} is not {encoding}"
    if encoding not in UTF8:
        return f"{where}; set input.encoding to the encoding of the file, for example utf-8"
    found = _bytes_outside_utf8(path)
    number = plural(found.total(), "such byte")
    if not all(_decoded(value, "cp1252") for value in found):
        return (
            f"{where}; the file has {number}, and it is not Windows-1252 either; "
            "set input.encoding to the encoding of the file, for example cp850 or latin-1"
        )
    likeliest = sorted(found, key=lambda value: (-found[value], value))[:SHOWN_BYTES]
    shown = ", ".join(_as_character(value) for value in likeliest)
    return (
        f"{where}; the file has {number}: {shown}; if these are the right "
        "characters, set input.encoding: cp1252"
    )


def _bytes_outside_utf8(path: Path) -> Counter[int]:
    """Return how often each byte occurs that is not part of a character in UTF-8."""
    found: Counter[int] = Counter()
    # A byte that cannot be decoded becomes a surrogate: 0xDC00 and the byte.
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    with open_content(path) as content:
        while raw := content.read(CHUNK):
            escaped = re.findall(r"[\udc80-\udcff]", decoder.decode(raw))
            found.update(ord(character) - 0xDC00 for character in escaped)
        found.update(ord(each) - 0xDC00 for each in decoder.decode(b"", final=True))
    return found


def _decoded(value: int, encoding: str) -> str:
    """Return the character of a byte; empty if the encoding has none or it is not printed."""
    character = bytes([value]).decode(encoding, "ignore")
    return character if character.isprintable() or character == "\xa0" else ""


def _as_character(value: int) -> str:
    """Return what a byte would be in Windows-1252, and whether it would be the same in Latin-1.

    >>> _as_character(0xE9), _as_character(0x80)
    ('0xE9 would be é in Windows-1252 and Latin-1', '0x80 would be € in Windows-1252')
    """
    character = _decoded(value, "cp1252")
    both = " and Latin-1" if _decoded(value, "latin-1") == character else ""
    shown = "a no-break space" if character == "\xa0" else character
    return f"0x{value:02X} would be {shown} in Windows-1252{both}"


SAMPLE_CHARACTERS = 1 << 18
SAMPLE_RECORDS = 100


@dataclass(frozen=True)
class Header:
    """The header of a CSV file.

    Attributes
    ----------
    columns: names in order.
    separator: between fields.
    lines: number of lines of the header, with blank lines and the note before it.
    warnings: as for ``Naming``, and about lines that may be the header in place of this one.
    note: the line ``sep=X`` before the header, in which Excel keeps the separator; empty without one.
    """

    columns: tuple[str, ...]
    separator: str
    lines: int
    warnings: tuple[str, ...] = ()
    note: str = ""

    @property
    def simple(self) -> bool:
        """Whether the header is one line at the beginning of the file, or after the note there."""
        return self.lines == 1 + bool(self.note)

    @property
    def noted_separators(self) -> int:
        """Number of separators in the note outside quotes."""
        return sum(part.count(self.separator) for part in self.note.split('"')[::2])

    def skip(self, reader: Reader) -> list[str]:
        """Read the header, with blank lines and the note before it, and return its names."""
        records = (record for record in reader if record)
        if self.note:
            next(records)
        return next(records)


@contextmanager
def open_text(path: Path, encoding: str) -> Iterator[TextIO]:
    """Open a CSV file as text with its own line ends; undecodable bytes are replaced."""
    name = codec(path, encoding).name
    with reading(path), open_content(path) as content:
        decoded = "utf-8-sig" if name in UTF8 else name
        yield io.TextIOWrapper(content, encoding=decoded, errors="replace", newline="")


def records(text: TextIO, separator: str) -> Reader:
    """Return a strict reader of the records of a CSV text, fields of any length."""
    csv.field_size_limit(sys.maxsize)
    return csv.reader(text, delimiter=separator, strict=True)


def read_header(path: Path, dialect: CsvDialect, *, strict: bool = False) -> Header:
    """Read the header; detect the separator unless the file, the dialect or the suffix ``.tsv`` sets it.

    A first line ``sep=X``, quoted or not, is a note of Excel: it is skipped, and X is the separator.

    Parameters
    ----------
    strict: as for ``name_columns``.

    Raises
    ------
    DataError: the file cannot be read, is empty or in UTF-16 without saying so, a quote never closes, the
        only column has another known separator in its name, the first line sets another separator than the
        dialect, or as for ``name_columns``.
    """
    _check_utf16(path, dialect.encoding)
    with open_text(path, dialect.encoding) as text:
        sample = text.read(SAMPLE_CHARACTERS)
    if not sample.strip():
        raise DataError(f"{path}: the file is empty; a header and records are needed")
    note, noted = _note(sample)
    if noted and dialect.separator not in (None, noted):
        raise DataError(
            f"{path}: its first line sets the separator {noted!r}, but input.separator is "
            f"{dialect.separator!r}; set input.separator to {noted!r}, or remove the line"
        )
    separator = noted or dialect.separator or separator_of(path.name) or detect_separator(sample)
    header = _first_record(path, dialect.encoding, Header((), separator, 0, note=note))
    for other, name in SEPARATORS.items() if len(header.columns) == 1 else ():
        if other != separator and other in header.columns[0]:
            given = SEPARATORS.get(separator, repr(separator))
            raise DataError(
                f"{path}: the separator is a {given}, but the only column has a {name} in its name; "
                f"set input.separator to {other!r}"
            )
    named = name_columns(str(path), header.columns, strict=strict)
    doubts = [f"{path}: {doubt}" for doubt in _doubts(sample, header)]
    return replace(header, columns=named.columns, warnings=(*named.warnings, *doubts))


_NOTE = re.compile(r"""("?)sep=([^\w\s"']|\t)\1[\t ]*\2*[\t ]*""", re.ASCII | re.IGNORECASE)


def _note(sample: str) -> tuple[str, str]:
    """Return the line in which Excel notes the separator, and the separator; empty texts without one.

    >>> _note("sep=;\\r\\nage;sex\\r\\n"), _note('"sep=,"\\na,b\\n'), _note("sep;a\\n")
    (('sep=;', ';'), ('"sep=,"', ','), ('', ''))
    """
    line = re.split(r"[\r\n]", sample.lstrip("\r\n"), maxsplit=1)[0]
    found = _NOTE.fullmatch(line)
    return ("", "") if found is None or not found[2].isascii() else (line, found[2])


LOOKED_AT = 20
"""Number of records that tell whether the header is one."""

_NUMBER = re.compile(r"\s*[-+]?[\d.,]*\d[\d.,]*(?:[eE][-+]?\d+)?\s*")
_NO_NAMES = frozenset(
    {"", "?", "-", ".", "na", "n/a", "nan", "null", "none", "missing", "unknown", "<missing>"}
)


def _doubts(sample: str, header: Header) -> Iterator[str]:
    """Yield why the header may be a title, or the line after it the header, with the number of the line."""
    lines, rows = _first_rows(sample, header)
    several = ""
    if len(header.columns) > 1 and _filled(header.columns) == 1 and any(_filled(row) > 1 for row in rows):
        several = "the lines after it have values in several columns"
    elif len(header.columns) == 1 and (other := _separator_below(sample, header)):
        several = f"the lines after it have several fields, separated by {other!r}"
    if several:
        what = f"line {header.lines} is read as the header and has one name, but {several}"
        yield f"{what}; if it is a title, remove it from the file"
    elif rows and _looks_like_names(rows[0], rows[1:]):
        what = f"line {lines[0]} looks like names of columns, because the lines after it have numbers"
        yield f"{what}; if line {header.lines} is a title, remove it from the file"


def _first_rows(sample: str, header: Header) -> tuple[list[int], list[list[str]]]:
    """Return the first records after the header, and the lines at which they end."""
    reader = records(io.StringIO(sample, newline=""), header.separator)
    lines: list[int] = []
    rows: list[list[str]] = []
    try:
        header.skip(reader)
        for row in islice(filter(None, reader), LOOKED_AT):
            lines.append(reader.line_num)
            rows.append(row)
    except (csv.Error, StopIteration):
        pass  # a sample may end inside quotes; a wrong separator may make quotes look misplaced
    return lines, rows


def _filled(row: Sequence[str]) -> int:
    return sum(map(bool, map(str.strip, row)))


def _separator_below(sample: str, header: Header) -> str:
    """Return another separator by which the lines after a header of one column have equally many fields."""
    for other in SEPARATORS:
        if other != header.separator:
            _, rows = _first_rows(sample, replace(header, separator=other))
            widths = set(map(len, rows))
            if len(widths) == 1 and min(widths) > 1:
                return other
    return ""


def _looks_like_names(row: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Return whether a record has a text in columns that else have numbers, and no value of the others."""
    columns = [[other[place] for other in others if place < len(other)] for place in range(len(row))]
    if len(others) < 2 or any(_NUMBER.fullmatch(cell) for cell in row):
        return False
    numeric = [all(map(_NUMBER.fullmatch, filter(None, column))) and any(column) for column in columns]
    named = [cell for cell, number in zip(row, numeric, strict=True) if number]
    again = any(cell in column for cell, column in zip(row, columns, strict=True))
    return bool(named) and not again and not any(cell.strip().lower() in _NO_NAMES for cell in named)


def detect_separator(sample: str) -> str:
    """Return the separator with the most columns in the header and as many fields in each record.

    If no separator has as many fields in all records, the one with the most columns; a comma for one column.

    >>> detect_separator("a;b,c\\n1;2,5\\n3;4\\n")
    ';'
    """
    return max(SEPARATORS, key=lambda separator: _fit(sample, separator))


def _fit(sample: str, separator: str) -> tuple[bool, int]:
    """Return whether all sampled records have as many fields as the header, and how many the header has."""
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


def _first_record(path: Path, encoding: str, header: Header) -> Header:
    """Return the header with its names and lines."""
    with open_text(path, encoding) as text:
        reader = records(text, header.separator)
        try:
            columns = header.skip(reader)
        except (csv.Error, StopIteration):
            raise DataError(
                f"{path}: line {max(reader.line_num, 1)}: the header has a misplaced or unclosed quote; "
                "write a quote inside a quoted name twice"
            ) from None
        return replace(header, columns=tuple(columns), lines=reader.line_num)


def rewrite(path: Path, encoding: str, header: Header, copy: Path) -> None:
    """Copy the records of a CSV file in UTF-8 with every field quoted, which all readers read alike.

    For files that the fast reader refuses or reads wrongly: a header of several lines, mixed line ends,
    quotes that do not enclose a whole field, surplus empty fields.

    Raises
    ------
    DataError: a record has another number of fields than the header, or a quote is misplaced.
    """
    with copy.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, delimiter=header.separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerows(_sound_records(path, encoding, header))


def _sound_records(path: Path, encoding: str, header: Header) -> Iterator[list[str]]:
    width = len(header.columns)
    with open_text(path, encoding) as text:
        reader = records(text, header.separator)
        header.skip(reader)
        line = header.lines + 1
        try:
            for record in reader:
                if len(record) != width and record:
                    raise DataError(
                        f"{path}: line {line} has {plural(len(record), 'field')}, but the header has "
                        f"{plural(width, 'column')}; "
                        "quote fields that contain the separator, or set input.separator"
                    )
                # A blank line is an empty value of a single column; with several columns it is ignored.
                if record or width == 1:
                    yield record or [""]
                line = reader.line_num + 1
        except csv.Error:
            raise DataError(
                f"{path}: line {line}: a quote is misplaced or never closed; "
                "quote the whole field and write each quote inside it twice"
            ) from None
