"""One pass over the bytes of a CSV file: its digest, its encoding, and what a later parse must agree with."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

from anonymizer.engines.csv_tally import Tally
from anonymizer.errors import DataError

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
    return cast(BinaryIO, gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


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
        opened = gzip.GzipFile(fileobj=cast(Any, source)) if path.suffix == ".gz" else source
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
