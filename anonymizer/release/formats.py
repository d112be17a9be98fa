"""The file formats of a release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from anonymizer.errors import OutputError

FORMATS: Mapping[str, str | None] = {
    ".csv": ",",
    ".csv.gz": ",",
    ".tsv": "\t",
    ".tsv.gz": "\t",
    ".parquet": None,
}
r"""The separator of each format by the suffix of the file; Parquet has none.

Text is UTF-8 with a header, quotes where needed, lines ending in ``\n``; gzipped for ``.gz``. Parquet has no
metadata but the schema; recoded columns are text.
"""


def release_separator(path: Path) -> str | None:
    """Return the separator of the format that the name of a file asks for; None for Parquet.

    Raises
    ------
    OutputError: none has that suffix.
    """
    for suffix, separator in FORMATS.items():
        if path.name.lower().endswith(suffix) and len(path.name) > len(suffix):
            return separator
    raise OutputError(
        f"output.path '{path.name}': unknown kind of file; accepted: a name in {', '.join(FORMATS)}"
    )
