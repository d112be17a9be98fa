"""How random runs spell files: separators, decimal signs, encodings, markers of missing values."""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

SIGN = re.compile(r"(?<=\d),(?=\d)")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def write(self, path: Path, rows: Sequence[Sequence[str]]) -> None:
        """Write rows as a text file, compressed if its name says so."""
        out = io.StringIO()
        csv.writer(out, delimiter=self.separator, lineterminator="\n").writerows(rows)
        content = out.getvalue().encode(self.encoding)
        path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)

    def spell(self, number: str) -> str:
        """Return a number with the decimal sign of the file."""
        return number.replace(".", self.decimal)

    def read(self, number: str) -> str:
        """Return a number, or the label of some, with decimal points; sets escape the commas in numbers."""
        return SIGN.sub(".", number.replace("\\,", ",")) if self.decimal == "," else number


def table_of(path: Path, dialect: Dialect | None = None) -> list[dict[str, str]]:
    """Return the rows of a file by column; nulls are empty."""
    own = dialect or Dialect()
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        rows = pq.read_table(path).to_pylist()
        return [{name: _text(value) for name, value in row.items()} for row in rows]
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode(own.encoding)
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=own.separator))


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def draw_dialect(random: Random, *, plain: bool) -> Dialect:
    """Return how the input is written."""
    decimal = random.choice((".", ".", ","))
    separator = random.choice(",;\t" if decimal == "." else ";\t")
    encoding = "utf-8" if plain else random.choice(("utf-8", "utf-8", "latin-1", "utf-16"))
    return Dialect(separator, decimal, encoding)


def draw_output(random: Random, own: Dialect) -> dict[str, str]:
    """Return keys of ``output`` that differ from how the input is written."""
    found: dict[str, str] = {
        "path": random.choice(("release.csv",) * 4 + ("release.csv.gz", "release.parquet"))
    }
    text = not found["path"].endswith(".parquet")
    if random.random() < 0.3:
        found["decimal"] = random.choice(".,")
    if text and (random.random() < 0.3 or found.get("decimal") == ","):
        found["separator"] = ";"
    if text and random.random() < 0.2:
        found["encoding"] = random.choice(("utf-8", "utf-16"))
    if random.random() < 0.3:
        found["missing"] = random.choice(("", "NA")) if text else ""
    return found


def output_dialect(own: Dialect, output: dict[str, Any]) -> Dialect:
    """Return how a release is written."""
    return Dialect(
        output.get("separator", own.separator),
        output.get("decimal", own.decimal),
        output.get("encoding", own.encoding),
    )
