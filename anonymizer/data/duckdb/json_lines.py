"""JSON Lines: an object in each line, whose keys are the columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from anonymizer.data.duckdb.database import Database, plain_name
from anonymizer.data.duckdb.relation import DuckRelation
from anonymizer.data.duckdb.released import FINITE, Staged, WrittenFormat, typed
from anonymizer.data.source import (
    JSON_LINES_FILES,
    EngineOptions,
    FileSource,
    is_gzipped,
    name_columns,
    quoted,
)
from anonymizer.errors import DataError

_STORED = {"BIGINT": "BIGINT", "UBIGINT": "UBIGINT", "DOUBLE": "DOUBLE", "BOOLEAN": "BOOLEAN"}
"""Types of JSON whose values are stored as such; all others are texts."""


class JsonLines(WrittenFormat):
    """Objects with texts, numbers, truth values and nulls; a key that an object lacks is a null."""

    name = "json-lines"
    kind = "a JSON Lines file"
    suffixes = JSON_LINES_FILES.suffixes

    def load(self, database: Database, source: FileSource, folder: Path) -> DuckRelation:
        """Load the file; ``folder`` is for a link if the path is a pattern.

        Raises
        ------
        DataError: empty, a line that is not an object, a key twice in an object, a value that is an object or
            a list, a fraction that no number of 64 bits is near to.
        """
        path = source.path
        if not path.stat().st_size:
            raise DataError(f"{path}: the file is empty; a JSON object in each line is needed")
        packing = quoted("gzip" if is_gzipped(path) else "none")
        given = quoted(plain_name(path, folder))
        lines = f"read_ndjson_objects({given}, compression = {packing})"
        database.run(f"CREATE TABLE lines AS SELECT json FROM {lines}")
        _check_objects(database, path)
        ((structure,),) = database.rows("SELECT json_group_structure(json) FROM lines")
        kinds: dict[str, object] = json.loads(structure or "{}")
        if not kinds:
            raise DataError(f"{path}: the file is empty; a JSON object in each line is needed")
        naming = name_columns(str(path), list(kinds), strict=self.options.strict_header, place="the keys")
        paths = [_path(key) for key in kinds]
        _check_flat(database, path, kinds, paths)
        texts = f"json_extract_string(json, [{', '.join(map(quoted, paths))}])"
        values, fractions = [], []
        for place, kind in enumerate(kinds.values(), start=1):
            stored = _STORED.get(str(kind))
            # A number beyond 64 bits would lose digits, so that its column stays text.
            whole = stored != "DOUBLE" or not database.rows(_LONG.format(quoted(paths[place - 1])))
            if stored == "DOUBLE" and whole:
                fractions.append(place - 1)
            value = f"t[{place}]" if stored is None or not whole else f"CAST(t[{place}] AS {stored})"
            values.append(f"{value} AS c{place - 1}")
        database.run(
            f"CREATE TABLE records AS SELECT {', '.join(values)} FROM (SELECT {texts} AS t FROM lines)"
        )
        for place in fractions:
            _check_finite(database, path, list(kinds)[place], f"c{place}", paths[place])
        database.run("DROP TABLE lines")
        return DuckRelation(database, str(path), naming)

    def write(self, release: Staged, path: Path) -> None:
        """Write an object a record; dates and times are texts."""
        with Database(EngineOptions()) as database:
            typed(database, release, {"BIGINT": "", "DOUBLE": FINITE, "BOOLEAN": ""})
            database.copy(f"COPY (SELECT * FROM typed) TO {quoted(path)} (FORMAT json)", [], path)


_LONG = "SELECT 1 FROM lines WHERE regexp_full_match(json_extract_string(json, {}), '-?[0-9]{{16,}}') LIMIT 1"
"""Query for whole numbers in a column of fractions that may have no equal of 64 bits."""


_NESTED = "SELECT 1 FROM lines WHERE json_type(json, {}) IN ('ARRAY', 'OBJECT') LIMIT 1"


def _path(key: str) -> str:
    """Return the path of a key in an object, as DuckDB takes it."""
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'$."{escaped}"'


def _check_flat(database: Database, path: Path, kinds: Mapping[str, object], paths: Sequence[str]) -> None:
    """Check that no value is a list or an object.

    Parameters
    ----------
    kinds: type of each column, ``JSON`` if it has several.
    paths: of the columns.

    Raises
    ------
    DataError: naming the first column that has one.
    """
    for (key, kind), place in zip(kinds.items(), paths, strict=True):
        if not isinstance(kind, str) or (kind == "JSON" and database.rows(_NESTED.format(quoted(place)))):
            raise DataError(
                f"{path}: column '{key}' holds lists or objects; give each of their values a key of its own"
            )


def _check_finite(database: Database, path: Path, key: str, column: str, place: str) -> None:
    """Check that all fractions of a column are numbers of 64 bits, which JSON does not ask for.

    Raises
    ------
    DataError: naming the first that would be infinite, or is no number.
    """
    ((row,),) = database.rows(f"SELECT min(rowid) FROM records WHERE NOT isfinite({column})")
    if row is None:
        return
    # The rows of both tables are in the order of the file.
    text = f"json_extract_string(json, {quoted(place)})"
    ((given,),) = database.rows(f"SELECT {text} FROM lines WHERE rowid = {row}")
    raise DataError(
        f"{path}: object {row + 1}: column '{key}': no number of 64 bits is {given}; write null for a "
        "missing value, or a text, so that the column is text"
    )


def _check_objects(database: Database, path: Path) -> None:
    """Check that every line is an object in which no key is repeated.

    Raises
    ------
    DataError: naming the first line that is not.
    """
    keys = "json_keys(json)"
    fault = f"json_type(json) <> 'OBJECT' OR len(list_distinct({keys})) < len({keys})"
    found = database.rows(
        f"SELECT rowid + 1, json_type(json) FROM lines WHERE {fault} ORDER BY rowid LIMIT 1"
    )
    for line, kind in found:
        what = "has a key twice" if kind == "OBJECT" else "is not an object"
        raise DataError(f"{path}: object {line} {what}; a JSON object in each line is needed")
