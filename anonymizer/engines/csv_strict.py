"""The slow, strict reading of a CSV file: it finds the faulty line, or copies an unusual file plainly."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

from anonymizer.engines.csv_header import Header, open_text, records
from anonymizer.errors import DataError


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
