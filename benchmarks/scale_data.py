"""Synthetic census-like records whose distinct combinations grow with their number.

Run as ``python -m benchmarks.scale_data RECORDS FILE.parquet [--profile alike] [--further]`` in the checkout.

DuckDB draws every value by hashing the number of the record and of the attribute: the same version writes
the same records on any machine, and the first million of ten are the million that is written alone. Zip codes
and ages are skewed as they are in a population; of 1, 10 and 30 million records 98.6, 95 and 92 % are
expected to be distinct. In the profile ``alike`` there are fewer zip codes and most people have the common
values: half of 10 million records are distinct.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

ROWS_PER_GROUP = 122_880


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier.

    Attributes
    ----------
    values: number of values it can take.
    skew: power that a uniform number is raised to before it chooses one: 1 for none, more for rarer ends.
    text: SQL for the value of a number ``{}`` from 0 to ``values`` - 1.
    hierarchy: as in a config.
    """

    values: int
    skew: float
    text: str
    hierarchy: Mapping[str, Any]


def _named(prefix: str) -> str:
    return f"'{prefix} ' || lpad(CAST({{}} AS VARCHAR), 2, '0')"


def _groups(prefix: str, values: int, *sizes: int) -> Mapping[str, Any]:
    """Return a hierarchy of groups of consecutive values."""
    named = [f"{prefix} {value:02d}" for value in range(values)]
    return {"order": {"sizes": list(sizes), "values": named}}


ATTRIBUTES: Mapping[str, Attribute] = {
    "zip": Attribute(
        30_000, 4.0, "lpad(CAST(({} * 3 + 1001) AS VARCHAR), 5, '0')", {"mask": {"from": "right"}}
    ),
    "age": Attribute(100, 1.4, "{}", {"intervals": {"width": [5, 10, 20, 40], "origin": 0}}),
    "sex": Attribute(2, 1.0, _named("sex"), _groups("sex", 2, 2)),
    "education": Attribute(12, 2.0, _named("education"), _groups("education", 12, 4)),
    "marital": Attribute(6, 3.0, _named("marital"), _groups("marital", 6, 3)),
    "occupation": Attribute(12, 2.0, _named("occupation"), _groups("occupation", 12, 3)),
    "race": Attribute(5, 5.0, _named("race"), _groups("race", 5, 5)),
    "country": Attribute(40, 8.0, _named("country"), _groups("country", 40, 8)),
}
"""In the order of the file; ages are 32-bit integers, the others texts."""

ALIKE: Mapping[str, Attribute] = {
    **ATTRIBUTES,
    "zip": replace(
        ATTRIBUTES["zip"],
        values=300,
        skew=8.0,
        text="lpad(CAST(({} * 300 + 1001) AS VARCHAR), 5, '0')",
    ),
    "education": replace(ATTRIBUTES["education"], skew=3.0),
    "marital": replace(ATTRIBUTES["marital"], skew=4.0),
    "occupation": replace(ATTRIBUTES["occupation"], skew=3.0),
    "race": replace(ATTRIBUTES["race"], skew=6.0),
    "country": replace(ATTRIBUTES["country"], skew=12.0),
}
"""The same attributes with fewer values and steeper distributions."""

PROFILES: Mapping[str, Mapping[str, Attribute]] = {"varied": ATTRIBUTES, "alike": ALIKE}
"""What records may be like, by name."""

FURTHER: Mapping[str, str] = {
    "hours": "CAST(hash(i, 1) % 80 AS DOUBLE) / 2",
    "income": "CASE WHEN hash(i, 2) % 4 > 0 THEN CAST(hash(i, 3) % 100000 AS INTEGER) END",
}
"""SQL for columns that are released unchanged, by name: a number, and one that is null in a quarter."""


def config(path: Path, k: int, **others: Any) -> dict[str, Any]:
    """Return a config for a file of these records: all are quasi-identifiers, k-anonymity."""
    return {
        "input": {"path": str(path)},
        "attributes": {
            name: {
                "role": "quasi-identifier",
                "type": "integer" if name == "age" else "text",
                "hierarchy": dict(each.hierarchy),
            }
            for name, each in ATTRIBUTES.items()
        },
        "constraints": [{"model": "k-anonymity", "k": k}],
        **others,
    }


def further_config(path: Path, k: int, **others: Any) -> dict[str, Any]:
    """Return the same for a file with the further columns."""
    found = config(path, k, **others)
    found["attributes"] |= {name: {"role": "insensitive"} for name in FURTHER}
    return found


def write(
    records: int, path: Path, profile: str = "varied", further: Mapping[str, str] | None = None
) -> None:
    """Write the records of a profile as Parquet.

    Parameters
    ----------
    further: SQL for columns after the attributes, by name.
    """
    own = (_column(position, *each) for position, each in enumerate(PROFILES[profile].items()))
    columns = ", ".join([*own, *(f'{text} AS "{name}"' for name, text in (further or {}).items())])
    with duckdb.connect() as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.execute(
            f"COPY (SELECT {columns} FROM range({records}) AS records(i)) "
            f"TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE {ROWS_PER_GROUP})"
        )


def _column(position: int, name: str, attribute: Attribute) -> str:
    uniform = f"hash(i * {len(ATTRIBUTES)} + {position}) / 18446744073709551616.0::DOUBLE"
    number = f"CAST(floor(pow({uniform}, {attribute.skew}) * {attribute.values}) AS INTEGER)"
    # A hash close to the largest would be rounded up to 1.
    number = f"least({number}, {attribute.values - 1})"
    return f'{attribute.text.format(number)} AS "{name}"'


def main() -> None:
    """Write a file."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_data", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("records", type=int)
    parser.add_argument("path", type=Path, help="of the .parquet file")
    parser.add_argument("--profile", choices=list(PROFILES), default="varied", help="default varied")
    parser.add_argument("--further", action="store_true", help="with columns that are released unchanged")
    chosen = parser.parse_args()
    write(chosen.records, chosen.path, chosen.profile, FURTHER if chosen.further else None)


if __name__ == "__main__":
    main()
