"""The file formats of a release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from anonymizer.data.source import CSV_FILES, PARQUET_FILES, separator_of, split_suffix
from anonymizer.errors import OutputError

FORMATS: Mapping[str, str | None] = {
    **{suffix: separator_of(suffix) or "," for suffix in CSV_FILES.suffixes},
    **dict.fromkeys(PARQUET_FILES.suffixes),
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
    suffix = split_suffix(path.name)[1].lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    raise OutputError(
        f"output.path '{path.name}': unknown kind of file; accepted: a name in {', '.join(FORMATS)}"
    )
