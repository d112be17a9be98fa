"""Read a file of synthetic records into its frequency table: what ``benchmarks.scale`` measures as a process.

Run as ``python -m benchmarks.scale_group FILE.parquet`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from anonymizer.data.open import open_file
from anonymizer.data.table import ColumnRequest, encode, read_columns
from benchmarks.scale_data import ATTRIBUTES


def main() -> None:
    """Print the numbers of records and of distinct combinations."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_group", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("path", type=Path, help="of the .parquet file")
    with open_file(parser.parse_args().path) as relation:
        columns = read_columns(relation, [ColumnRequest(name) for name in ATTRIBUTES])
        encoded = encode(relation, list(columns.values()))
        print(relation.rows, len(encoded.counts))


if __name__ == "__main__":
    main()
