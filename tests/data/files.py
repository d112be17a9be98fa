"""Small files and strategies for the tests of reading and writing."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from hypothesis import strategies as st

from anonymizer.data.relation import Relation

NASTY = [
    *[
        "",
        " ",
        "a",
        "b ",
        ",",
        ";",
        "\t",
        '"',
        '""',
        "\n",
        "\r",
        "\r\n",
        "x\ny",
        "é",
        "אב",
        "𝔘",
        "=cmd|' /C'!A0",
    ],
    *["'", "\\", "NULL", "nan", "0", "01", "#", "-", "\u2028", "\ufeff", "*", "<missing>"],
]

texts = st.one_of(
    st.sampled_from(NASTY),
    st.lists(st.sampled_from(NASTY), min_size=2, max_size=4).map("".join),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
)


def write(path: Path, content: str | bytes) -> Path:
    """Write content as it is, gzipped where the name ends so."""
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def rows(relation: Relation) -> list[tuple[str | None, ...]]:
    """Return all records as texts, in order, by the dictionaries and codes of the columns."""
    decoded = []
    for column in relation.columns:
        values = [text for text, _ in relation.dictionary(column)]
        decoded.append([values[code] for code in relation.codes(column)])
    return list(zip(*decoded, strict=True))


def frame(columns: Sequence[str], records: Sequence[Sequence[str | None]]) -> pd.DataFrame:
    """Return records of texts as a DataFrame."""
    return pd.DataFrame(list(records), columns=list(columns), dtype=object)
