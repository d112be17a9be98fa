"""Strict reading of CSV files: header, separator, encoding, digest, and the location of a faulty line.

One pass over the bytes gives the digest, the encoding and the counts that a later parse must agree with.
The slow, strict reader finds the faulty line, or copies an unusual file to a plain one.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import re
import sys
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from anonymizer.data.source import CsvDialect, is_gzipped, separator_of
from anonymizer.errors import DataError

if TYPE_CHECKING:
    from _csv import Reader

_QUOTE = ord('"')


class Tally:
    """What a parser of the text must agree with; exact as long as ``plain`` holds.

    Parameters
    ----------
    separator: between fields, one ASCII character.

    Attributes
    ----------
    size: bytes without a byte-order mark.
    separators: separators outside quotes.
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
        """Whether all lines end alike, no field holds another line end, and quotes enclose whole fields."""
        alike = not self._returns or not self._feeds or self._returns == self._pairs == self._feeds
        return alike and self._enclosing and not self._quoted

    def add(self, data: bytes) -> None:
        """Count one more chunk, UTF-8."""
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
        # A doubled quote in a field closes and opens again: the parity of quotes tells inside from outside.
        before = np.searchsorted(quotes, np.flatnonzero(text == self._separator)) + self._quoted
        self.separators += int(np.count_nonzero(before % 2 == 0))
        self._check_first(data)
        self._check_neighbours(text, quotes[int(self._quoted) :: 2], quotes[int(not self._quoted) :: 2])
        self._quoted ^= len(quotes) % 2 == 1

    def _check_first(self, data: bytes) -> None:
        """Check what follows a closing quote that ended the chunk before."""
        if self._last == _QUOTE and not self._quoted:
            self._enclosing &= bool(self._around[data[0]])

    def _check_neighbours(
        self, text: NDArray[np.uint8], opening: NDArray[np.intp], closing: NDArray[np.intp]
    ) -> None:
        """Check that separators, line ends or quotes stand before opening and after closing quotes."""
        before = text[opening - 1]
        if len(opening) and opening[0] == 0:
            before[0] = self._last
        after = text[closing[closing < len(text) - 1] + 1]
        self._enclosing &= bool(self._around[before].all() and self._around[after].all())


CHUNK = 1 << 20
UTF8 = frozenset({"utf-8", "utf-8-sig"})


@dataclass(frozen=True)
class Scan:
    """What one pass over a CSV file found.

    Attributes
    ----------
    sha256: of the file as it is on disk, compressed or not.
    characters: length of the content, in bytes for UTF-8.
    separators: separator characters outside quotes, header included.
    plain: whether all lines end alike, no field holds another line end, and quotes enclose whole fields.
    """

    sha256: str
    characters: int
    separators: int
    plain: bool


class _Digested:
    """A file that hashes what is read from it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.sha256.update(data)
        return data


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the errors of reading a file into messages about it.

    Raises
    ------
    DataError: missing, a directory, not permitted, a damaged gzip file, or any other failure to read.
    """
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check input.path") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a directory; name a file in it") from None
    except UnicodeError as error:
        raise DataError(f"{path}: cannot be decoded: {error}; check input.encoding") from None
    except EOFError:
        raise DataError(f"{path}: the gzip file ends early; it was cut off, fetch it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise DataError(f"{path}: not a gzip file, or a damaged one; drop '.gz' if it is text") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or type(error).__name__}") from None


def open_content(path: Path) -> BinaryIO:
    """Open the content of a file for reading, decompressed when its name ends in ``.gz``."""
    return cast(BinaryIO, gzip.open(path, "rb")) if is_gzipped(path) else path.open("rb")


def codec(path: Path, encoding: str) -> codecs.CodecInfo:
    """Return the text codec of a name.

    Raises
    ------
    DataError: Python has none of that name.
    """
    try:
        info = codecs.lookup(encoding)
        "".encode(encoding)  # refuses the codecs that are not of text
        codecs.getincrementaldecoder(encoding)
    except LookupError:
        raise DataError(
            f"{path}: unknown input.encoding '{encoding}'; accepted: utf-8, utf-16, windows-1252, latin-1, "
            "or any other text encoding of Python"
        ) from None
    return info


def scan(path: Path, encoding: str, separator: str, utf8_copy: Path) -> Scan:
    """Read a CSV file once from end to end.

    Parameters
    ----------
    encoding: of the content; when it is not UTF-8, the content is written to ``utf8_copy`` in UTF-8.
    separator: that is counted outside quotes.

    Raises
    ------
    DataError: it cannot be read, or its content is not text in that encoding; names line and byte.
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
        return Scan(source.sha256.hexdigest(), tally.size, tally.separators, tally.plain)


def _checked(path: Path, info: codecs.CodecInfo, source: Any) -> Iterator[bytes]:
    """Yield the content as UTF-8, chunk by chunk, once it is known to be sound."""
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
                raise DataError(_undecodable(path, info.name, number, at, raw)) from None
            content = raw if utf8 else text.encode("utf-8", "surrogatepass")
        if b"\0" in content:
            number = line + content[: content.index(b"\0")].count(b"\n") + 1
            raise DataError(
                f"{path}: line {number} holds a NUL byte; the file is damaged, not text, "
                "or in another encoding (set input.encoding, for instance to utf-16)"
            )
        yield content
        read += len(raw)
        line += content.count(b"\n")
        if not raw:
            return


def _undecodable(path: Path, encoding: str, line: int, offset: int, data: bytes) -> str:
    utf16 = offset == 0 and data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    other = "utf-16" if utf16 else "windows-1252" if encoding in UTF8 else "utf-8"
    return (
        f"{path}: line {line}, byte {offset} is not {encoding}; "
        f"set input.encoding to what the file was saved in, for instance {other}"
    )


_INDEX_LEVEL = re.compile(r"__index_level_\d+__")


def check_header(name: str, columns: Sequence[str]) -> None:
    """Check that column names can serve as such.

    Raises
    ------
    DataError: a name is empty or occurs twice; says which and where.
    """
    first: dict[str, int] = {}
    for number, column in enumerate(columns, start=1):
        if not column.strip():
            raise DataError(
                f"{name}: column {number} of {len(columns)} has no name; the header must give one"
            )
        if column in first:
            raise DataError(
                f"{name}: columns {first[column]} and {number} are both named '{column}'; rename one of them"
            )
        first[column] = number


def pandas_index(
    columns: Sequence[str], metadata: str | None, named: Collection[str] | None
) -> tuple[str, ...]:
    """Return the columns of a Parquet file that are the index of a pandas frame and have no role.

    Never all columns.

    Parameters
    ----------
    metadata: what pandas wrote into the file, in JSON; None for nothing.
    named: columns with a role; None to return none.

    >>> pandas_index(["a", "id"], '{"index_columns": ["id"]}', {"a"}), pandas_index(["id"], None, None)
    (('id',), ())
    """
    if named is None:
        return ()
    try:
        content = json.loads(metadata or "{}")
    except ValueError:
        content = {}
    stated = content.get("index_columns") if isinstance(content, dict) else None
    stated = stated if isinstance(stated, list) else []
    found = tuple(
        name
        for name in columns
        if name not in named and (name in stated or _INDEX_LEVEL.fullmatch(name) is not None)
    )
    return found if len(found) < len(columns) else ()


def index_warnings(index_columns: Sequence[str]) -> list[str]:
    """Return what to say of columns that were left out because they are the index of pandas."""
    return [
        f"column '{name}' is the index of pandas and is left out; to use it, give it a role"
        for name in index_columns
    ]


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
    separator = dialect.separator or separator_of(path.name)
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


def rewrite(path: Path, encoding: str, header: Header, copy: Path) -> None:
    """Copy the records of a CSV file as UTF-8, all lines ending alike: any reader agrees on such fields.

    Needed for what the fast reader refuses or reads too kindly: a header of several lines, mixed line ends,
    quotes that do not enclose a whole field, surplus empty fields.

    Raises
    ------
    DataError: a record has another number of fields than the header, or a quote is misplaced; names the line.
    """
    with copy.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target, delimiter=header.separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerows(_sound_records(path, encoding, header))


def _sound_records(path: Path, encoding: str, header: Header) -> Iterator[list[str]]:
    width = len(header.columns)
    with open_text(path, encoding) as text:
        reader = records(text, header.separator)
        next(record for record in reader if record)
        line = header.lines + 1
        try:
            for record in reader:
                if len(record) != width and record:
                    raise DataError(
                        f"{path}: line {line} has {len(record)} fields where the header has {width} columns; "
                        "quote fields that hold the separator, or set input.separator"
                    )
                # A blank line is an empty value in a single column, and nothing between wider records.
                if record or width == 1:
                    yield record or [""]
                line = reader.line_num + 1
        except csv.Error:
            raise DataError(
                f"{path}: line {line}: a quote is misplaced or never closed; "
                "quote the whole field and write each quote inside it twice"
            ) from None
