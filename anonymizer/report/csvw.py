"""CSVW: a released CSV file described for programs, as the W3C's vocabulary for tabular data has it.

Like the codebook, the description is a function of the public report and of what the released tables show.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from anonymizer.model.table import POINT_SIGN, ValueType
from anonymizer.report.codebook import column_meaning, table_names
from anonymizer.report.described import DescribedColumn, decimal_sign

CONTEXT = "http://www.w3.org/ns/csvw"

MADE_BY = "anonymizer, from report.public.json and the table"
"""Value of ``dc:creator``, by which ``run`` recognizes its own."""

_ENCODINGS = {"utf-8-sig": "utf-8", "iso8859-1": "iso-8859-1", "cp1252": "windows-1252", "ascii": "us-ascii"}
"""Encodings that the web calls otherwise than Python."""


def csvw_texts(public: Mapping[str, Any], columns: Sequence[DescribedColumn]) -> dict[str, str]:
    """Return the metadata of each released CSV file by the name of its file; empty for other releases.

    Parameters
    ----------
    public: content of the public report.
    columns: of the released tables.
    """
    if public["release"]["separator"] is None:
        return {}
    return {
        name: json.dumps(_table(public, name, own), ensure_ascii=False, indent=1) + "\n"
        for place, name in enumerate(table_names(public))
        if (own := [each for each in columns if each.table == place])
    }


def _table(public: Mapping[str, Any], name: str, columns: Sequence[DescribedColumn]) -> dict[str, Any]:
    release = public["release"]
    encoding = codecs.lookup(release["encoding"]).name
    return {
        "@context": CONTEXT,
        "dc:creator": MADE_BY,
        "url": quote(name),
        "dialect": {
            "delimiter": release["separator"],
            "encoding": _ENCODINGS.get(encoding, encoding),
            "header": True,
            "quoteChar": '"',
            "doubleQuote": True,
        },
        "tableSchema": {"columns": [_column(public, each) for each in columns]},
    }


def _column(public: Mapping[str, Any], column: DescribedColumn) -> dict[str, Any]:
    label = public["attributes"].get(column.attribute, {}).get("label")
    return {
        "name": variable_name(column.name),
        "titles": column.name,
        **({} if label is None else {"dc:title": label}),
        "dc:description": column_meaning(public, column),
        "datatype": _datatype(column.kind, decimal_sign(public)),
        "null": list(column.absent) or [""],
    }


def _datatype(kind: ValueType, decimal: str) -> str | dict[str, Any]:
    if kind is ValueType.NUMBER and decimal != POINT_SIGN:
        return {"base": "decimal", "format": {"decimalChar": decimal, "groupChar": POINT_SIGN}}
    return "string" if kind is ValueType.TEXT else kind.value


def variable_name(column: str) -> str:
    """Return the name of a column as a variable of a URI template: other characters are percent-encoded.

    >>> variable_name("age"), variable_name("hours per week"), variable_name("_x-y")
    ('age', 'hours%20per%20week', '%5Fx%2Dy')
    """
    name = quote(column, safe="").replace("-", "%2D").replace("~", "%7E").replace(".", "%2E")
    return f"%5F{name[1:]}" if name.startswith("_") else name
