"""The conformance suites of engines and input formats, against counts record by record."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.released import Staged, writer_of
from anonymizer.data.open import open_file
from anonymizer.data.relation import Coding, DistinctRows, KeyWords, Relation, UnitFacts, column_statistics
from anonymizer.data.source import CsvDialect, EngineOptions, MissingTexts
from anonymizer.errors import DataError, InputError
from anonymizer.model.arrays import group_rows
from anonymizer.testing.samples import fail

Record = tuple[str | None, ...]
"""The texts of a record, in the order of the relation's columns; None for a null."""


def check_relation(relation: Relation, records: Sequence[Record]) -> None:
    """Check the answers of a relation; each run checks its files by reading them back.

    Parameters
    ----------
    relation: open; it is not closed, but its values are changed.
    records: of the relation, in its order; at least one.

    Raises
    ------
    AssertionError: an answer differs from the records.
    """
    if relation.rows != len(records):
        fail(f"{relation.rows} rows of {len(records)}")
    columns = [[record[place] for record in records] for place in range(len(relation.columns))]
    for name, texts in zip(relation.columns, columns, strict=True):
        check_column(relation, name, texts)
    for places in combinations(range(len(columns)), min(2, len(columns))):
        check_groups(relation, places, records)
    codings = [
        Coding(name, np.arange(size, dtype=np.int32), size)
        for name in relation.columns
        for size in [len(relation.dictionary(name))]
    ]
    for kept in (relation.combinations(codings), relation.stored_distinct_rows(codings)):
        with kept:
            check_distinct_rows(kept, Counter(_coded(relation, records, relation.columns)))
    check_units(relation, codings, records)
    relation.check_unchanged()
    check_unknown_column(relation)
    check_relabel(relation, records)


def check_unknown_column(relation: Relation) -> None:
    """Check that a column that does not exist is refused."""
    try:
        relation.dictionary("\n")
    except DataError:
        return
    fail("a column that does not exist has a dictionary")


def check_relabel(relation: Relation, records: Sequence[Record]) -> None:
    """Check that values are replaced in all records, or that the engine refuses to."""
    first, last = relation.columns[0], relation.columns[-1]
    labels = {
        name: [None if text is None else f"group {place // 2}" for place, (text, _) in enumerate(known)]
        for name in {first, last}
        for known in [relation.dictionary(name)]
    }
    shown = {
        relation.position(name): {text: label for (text, _), label in zip(known, own, strict=True)}
        for name, own in labels.items()
        for known in [relation.dictionary(name)]
    }
    try:
        relation.relabel(labels)
    except InputError:
        return
    check_groups(
        relation,
        range(len(relation.columns)),
        [
            tuple(shown[place][text] if place in shown else text for place, text in enumerate(record))
            for record in records
        ],
    )


def check_column(relation: Relation, name: str, texts: Sequence[str | None]) -> None:
    """Check the answers on a column, given the text of each record."""
    dictionary = relation.dictionary(name)
    expected = sorted(Counter(texts).items(), key=lambda each: (each[0] is None, each[0] or ""))
    if dictionary != expected:
        fail(f"the dictionary of '{name}' is {dictionary} instead of {expected}")
    if relation.holds_texts(name) and (None in texts or not relation.is_text(name)):
        fail(f"'{name}' holds texts only, but is not a text column or has nulls")
    if relation.profiling.spread(name, len(dictionary)) != column_statistics(dictionary, len(dictionary)):
        fail(f"the column statistics of '{name}' differ from those of its dictionary")
    for pattern in ("[0-9]+", ".?"):
        matching = sum(text is not None and bool(re.fullmatch(pattern, text)) for text in texts)
        if relation.profiling.count_matching(name, pattern) != matching:
            fail(f"records of '{name}' that match {pattern}: not {matching}")
    if relation.changed_records(name, relation) != (0, 0):
        fail(f"'{name}' has changed from itself")
    if not relation.ordered:
        return
    codes = relation.codes(name)
    if codes.dtype != np.int32 or [dictionary[code][0] for code in codes.tolist()] != list(texts):
        fail(f"the codes of '{name}' differ from its records")
    if len(set(zip(relation.profiling.keys(name).tolist(), texts, strict=True))) != len(dictionary):
        fail(f"the keys of '{name}' do not distinguish its texts")


def check_groups(relation: Relation, places: Sequence[int], records: Sequence[Record]) -> None:
    """Check the distinct rows of some columns."""
    names = [relation.columns[place] for place in places]
    expected = Counter(tuple(record[place] for place in places) for record in records)
    groups = relation.group_counts(names)
    own = zip(*(groups.texts(place) for place in range(len(names))), strict=True)
    if dict(zip(own, groups.counts.tolist(), strict=True)) != expected:
        fail(f"the groups of {names} differ from the records")
    alone = sum(size == 1 for size in expected.values())
    if relation.profiling.in_small_classes(names, 3) != (
        alone,
        sum(size for size in expected.values() if size < 3),
    ):
        fail(f"the records in small classes by {names} differ from the groups")


def check_distinct_rows(rows: DistinctRows, expected: Counter[tuple[int, ...]]) -> None:
    """Check distinct rows, given the number of records of each."""
    if rows.number != len(expected):
        fail(f"{rows.number} distinct rows of {len(expected)}")
    codes, counts = rows.fetch()
    if list(zip(map(tuple, codes.tolist()), counts.tolist(), strict=True)) != sorted(expected.items()):
        fail("distinct rows are not sorted, or differ from the records")
    pieces, keys = Counter[tuple[int, ...]](), KeyWords(rows.sizes)
    for piece in rows.pieces():
        own = map(tuple, keys.unpack(piece.keys).tolist())
        pieces.update(dict(zip(own, piece.counts.tolist(), strict=True)))
    if pieces != expected:
        fail("the pieces of distinct rows do not sum to all of them")
    small = Counter[int]()
    for row, records in expected.items():
        small[row[0]] += records
    least = max(small.values())
    if rows.records_in_small_groups(1, least) != sum(size for size in small.values() if size < least):
        fail("the records in small groups differ from the rows")
    halved = Counter[tuple[int, ...]]()
    for row, records in expected.items():
        halved[(row[0] // 2 * 2, *row[1:])] += records
    with rows.rolled_up(
        [np.arange(rows.sizes[0], dtype=np.int32) // 2 * 2, *(None for _ in rows.sizes[1:])]
    ) as up:
        codes, counts = up.fetch()
    if list(zip(map(tuple, codes.tolist()), counts.tolist(), strict=True)) != sorted(halved.items()):
        fail("rows of coarser codes have wrong counts")


def check_units(relation: Relation, codings: Sequence[Coding], records: Sequence[Record]) -> None:
    """Check the units of distinct rows by the last column, or that the engine refuses to store them."""
    name, absent = relation.columns[-1], {None, ""}
    texts = [record[-1] for record in records]
    known = Counter(text for text in texts if text not in absent)
    facts = UnitFacts(len(known), len(records) - known.total(), max(known.values(), default=0))
    if relation.unit_facts(name, absent) != facts:
        fail(f"the units of '{name}' are not {facts}")
    first = relation.columns[0]
    pairs = {(text, record[0]) for text, record in zip(texts, records, strict=True)}
    several = Counter(unit for unit, other in pairs if unit not in absent and other not in absent)
    if relation.units_in_several(name, first, absent) != sum(number > 1 for number in several.values()):
        fail(f"units of '{name}' in several of '{first}' are miscounted")
    units: list[Hashable] = [place if text in absent else (text,) for place, text in enumerate(texts)]
    # With its own column a unit is in rows of its own; without, in rows with others.
    for own in (codings[:-1] or codings, codings[-1:]):
        places = [relation.position(each.name) for each in own]
        coded = _coded(
            relation, [[record[place] for place in places] for record in records], [each.name for each in own]
        )
        try:
            stored = relation.stored_units(own, {"unit": name, "recorded": name}, absent, {"recorded"})
        except InputError:
            return
        rows = relation.stored_distinct_rows(own)
        rows.units = stored
        halves = [np.arange(rows.sizes[0], dtype=np.int32) // 2 * 2, *(None for _ in rows.sizes[1:])]
        with rows:
            _check_units_of(rows, list(zip(coded, units, strict=True)))
            with rows.rolled_up(halves) as up:
                halved = [(row[0] // 2 * 2, *row[1:]) for row in coded]
                _check_units_of(up, list(zip(halved, units, strict=True)))


def _check_units_of(rows: DistinctRows, given: Sequence[tuple[tuple[int, ...], Hashable]]) -> None:
    """Check the units of distinct rows, given the row and the unit of each record."""
    for name in rows.units:
        _check_counts_of(rows, name, given)
    codes, _ = rows.fetch()
    items, numbers, people, records = rows.units["recorded"].fetch().of_rows(codes, rows.sizes).one_by_one
    assert records is not None, "the engine was asked for them"
    found: dict[int, set[Hashable]] = {}
    for item, number, own in zip(items.tolist(), numbers.tolist(), records.tolist(), strict=True):
        found.setdefault(number, set()).add((*codes[item].tolist(), own))
    expected: dict[Hashable, set[Hashable]] = {}
    for (row, unit), own in Counter(given).items():
        expected.setdefault(unit, set()).add((*row, own))
    shown = Counter[Hashable]()
    for number, own_rows in found.items():
        shown[frozenset(own_rows)] += int(people[number])
    if shown != Counter(map(frozenset, expected.values())):
        fail("the records of units in distinct rows differ from the records")


def _check_counts_of(
    rows: DistinctRows, name: str, given: Sequence[tuple[tuple[int, ...], Hashable]]
) -> None:
    """Check the numbers of units in groups of distinct rows."""
    codes, _ = rows.fetch()
    found = rows.units[name].fetch().of_rows(codes, rows.sizes)
    for columns in range(len(rows.sizes) + 1):
        expected: dict[tuple[int, ...], set[Hashable]] = {}
        records = Counter[tuple[int, ...]]()
        for row, unit in given:
            expected.setdefault(row[:columns], set()).add(unit)
            records[row[:columns]] += 1
        groups, number = group_rows(
            ((own, size) for own, size in zip(codes.T[:columns], rows.sizes, strict=False)), len(codes)
        )
        if found.counted(groups, number).tolist() != [len(expected[row]) for row in sorted(expected)]:
            fail(f"the units of groups by {columns} columns differ from the records")
        least = max(map(len, expected.values()))
        small = sum(size for row, size in records.items() if len(expected[row]) < least)
        if columns and rows.records_in_small_groups(columns, least, name) != small:
            fail(f"the records in groups of few units by {columns} columns differ from the records")


def _coded(
    relation: Relation, records: Sequence[Sequence[str | None]], columns: Sequence[str]
) -> list[tuple[int, ...]]:
    """Return the records of some columns by the positions of their texts in the dictionaries."""
    place_of = [
        {text: place for place, (text, _) in enumerate(relation.dictionary(name))} for name in columns
    ]
    return [tuple(own[text] for own, text in zip(place_of, record, strict=True)) for record in records]


Value: TypeAlias = str | int | float | date | None
Writer: TypeAlias = Callable[[Path, Sequence[str], Sequence[Sequence[Value]]], None]

PLAIN = [
    "007",
    "1.50",
    "-0",
    "1e3",
    "true",
    "NULL",
    "NA",
    "nan",
    "2020-01-31",
    "2020-01-31 00:00:00",
    "a b",
    "é 東",
]
"""Texts that every format can hold."""

AWKWARD = ["", " a ", 'a "quoted" word', "a,b;c|d\te", "C:\\x", "first\nsecond", "'", "{}", "😀", "<missing>"]
"""Texts that some formats cannot hold."""

MANY = 12_000
"""Records of a file that is read in several pieces: more than a megabyte, and several blocks of DuckDB."""


def check_input_format(suffix: str, write: Writer) -> None:
    """Check that files of a format are read letter by letter, and all others refused with a ``DataError``.

    Parameters
    ----------
    suffix: of the names of the files, such as ``.parquet``; a registered format reads them.
    write: takes the path of a new file, the names of its columns and its records. Numbers and dates are
        stored as such if the format has types. It raises ``ValueError`` for what the format cannot hold: a
        null, some texts, and names of columns that are empty, repeated or differ in case alone.

    Raises
    ------
    AssertionError: the format breaks a rule.
    """
    with TemporaryDirectory() as name:
        form = _Format(Path(name), suffix, write)
        check_values(form)
        check_pieces(form)
        check_missing_texts(form)
        check_names(form)
        check_hash_and_changes(form)
        check_refusals(form)
        check_encoding(form)
        for stem in ("a[1]", "it's", "year=2020"):
            path = form.file(["a"], [["x"]], stem)
            form.expect(path, ["a"], [("x",)], "by a name that is a pattern or has a quote")
        capital = form.file(["a"], [["x"]]).rename(form.folder / f"CAPITAL{suffix.upper()}")
        form.expect(capital, ["a"], [("x",)], "by a name in capitals")


def check_round_trip(suffix: str, staged: Path, labels: Mapping[str, ColumnLabels] | None = None) -> Path:
    """Check that a release in a format has the texts of the Parquet file that it is written from.

    Parameters
    ----------
    suffix: of a format that is written.
    staged: a Parquet file; the release is written next to it.
    labels: of the columns of the input.

    Returns
    -------
    The release.

    Raises
    ------
    AssertionError: it is read with other texts, or a second writing has other bytes.
    OutputError: the format cannot hold a value.
    """
    path = staged.with_name(f"release{suffix}")
    writer = writer_of(path)
    assert writer is not None, f"releases are not written as {suffix}"
    given = Staged(staged, staged.parent, labels=labels or {})
    writer.write(given, path)
    first = path.read_bytes()
    with open_file(staged) as before, open_file(path) as after:
        if before.columns != after.columns or before.rows != after.rows:
            fail(f"{after.rows} records of {after.columns} instead of {before.rows} of {before.columns}")
        for name in before.columns:
            for own, read in zip(_texts(before, name), _texts(after, name), strict=True):
                # Some formats write a missing text as an empty one, or the other way.
                if (own or "") != (read or ""):
                    fail(f"'{name}' is read as {read!r} instead of {own!r}")
    writer.write(given, path)
    if path.read_bytes() != first:
        fail("a second writing has other bytes")
    return path


class _Format:
    """Writes files of a format in a folder and opens them."""

    def __init__(self, folder: Path, suffix: str, write: Writer) -> None:
        self.folder, self.suffix, self._write = folder, suffix, write

    def file(self, columns: Sequence[str], records: Sequence[Sequence[Value]], stem: str = "a") -> Path:
        path = self.folder / f"{stem}{self.suffix}"
        path.unlink(missing_ok=True)
        self._write(path, columns, records)
        return path

    def holds(self, columns: Sequence[str], record: Sequence[Value]) -> bool:
        """Return whether the format can hold a record."""
        try:
            self.file(columns, [record])
        except ValueError:
            return False
        return True

    def holds_exactly(self, path: Path, columns: Sequence[str], records: Sequence[Record]) -> bool:
        """Return whether a file is read as these records."""
        try:
            self.expect(path, columns, records, "a file")
        except (AssertionError, DataError):
            return False
        return True

    def expect(self, path: Path, columns: Sequence[str], records: Sequence[Record], what: str) -> None:
        """Check that a file is read as these records, in their order."""
        with open_file(path) as relation:
            if relation.columns != tuple(columns):
                fail(f"{what}: columns {relation.columns} instead of {tuple(columns)}")
            found = list(zip(*(_texts(relation, name) for name in relation.columns), strict=True))
        if found != list(records):
            place = next(
                (i for i, (a, b) in enumerate(zip(found, records, strict=False)) if a != b), len(found)
            )
            fail(f"{what}: {len(found)} records of {len(records)}, the first wrong one is {place}")


def _texts(relation: Relation, name: str) -> list[str | None]:
    """Return the text of each record in a column."""
    dictionary = relation.dictionary(name)
    return [dictionary[code][0] for code in relation.codes(name).tolist()]


def _text(value: Value) -> str | None:
    """Return the text of a value that a format with types stores."""
    return value if value is None or isinstance(value, str) else str(value)


def check_values(form: _Format) -> None:
    """Check texts, numbers, dates and nulls of a small file, by all that a relation answers."""
    texts = [*PLAIN, *(text for text in AWKWARD if form.holds(["a", "b"], [text, "x"]))]
    null = form.holds(["a", "b"], [None, "x"])
    records: list[list[Value]] = [
        [
            text,
            n % 4 - 2,
            n / 4 + 0.125,
            date(2020, 2, 27) + timedelta(n % 5),
            None if null and n % 3 else "x",
        ]
        for n, text in enumerate(texts)
    ]
    path = form.file(["text", "number", "fraction", "day", "absent"], records)
    with open_file(path) as relation:
        has_nulls = any(text is None for text, _ in relation.dictionary("absent"))
        expected = [
            tuple("" if value is None and not has_nulls else _text(value) for value in record)
            for record in records
        ]
        check_relation(relation, expected)
    form.expect(path, relation.columns, expected, "a small file")


def check_pieces(form: _Format) -> None:
    """Check that a large file, read in pieces and by several threads, has all its records in their order."""
    records = [(f"{n:05}", f"{n * 7919 % 997} {'ä東' * (n % 30)}x") for n in range(MANY)]
    form.expect(form.file(["n", "text"], records), ["n", "text"], records, "a file read in pieces")


def check_missing_texts(form: _Format) -> None:
    """Check that the texts of ``input.missing`` are read as nulls."""
    path = form.file(["a", "b"], [["?", "x"], ["y", "x"], ["?", "?"]])
    options = EngineOptions(missing=MissingTexts("", read=("?", "")))
    with open_file(path, options=options) as relation:
        found = [relation.dictionary(name) for name in relation.columns]
    if found != [[("y", 1), (None, 2)], [("x", 2), (None, 1)]]:
        fail(f"texts of missing values are read as {found}")


def check_names(form: _Format) -> None:
    """Check the names of columns, and that unnamed and repeated ones get a name with a warning."""
    for columns in (['a "b"', "é", "c0", "records", "0"], ["A", "a"]):
        if form.holds(columns, columns):
            form.expect(form.file(columns, [columns]), columns, [tuple(columns)], "names of columns")
    columns = ["a", "a", ""]
    if not form.holds(columns, columns):
        return
    path = form.file(columns, [["1", "2", "3"]])
    form.expect(path, ["a", "a_2", "column_3"], [("1", "2", "3")], "repeated and unnamed columns")
    with open_file(path) as relation:
        if len(relation.renamed) != 2:
            fail("no warning names a repeated or unnamed column")
    with refused(path, "repeated columns, with strict_header"):
        open_file(path, options=EngineOptions(strict_header=True))


def check_hash_and_changes(form: _Format) -> None:
    """Check the hash of a file, and that a change while it is open is found."""
    path = form.file(["a"], [["x"], ["y"]])
    with open_file(path) as relation:
        if relation.sha256 != hashlib.sha256(path.read_bytes()).hexdigest():
            fail(f"the hash of the file is {relation.sha256}")
        os.utime(path, ns=(1, 1))
        with refused(path, "a file that changes while it is open"):
            relation.check_unchanged()


def check_refusals(form: _Format) -> None:
    """Check that what is not a file of the format with records is refused."""
    path = form.folder / f"bad{form.suffix}"
    with refused(path, "a file that does not exist"):
        open_file(path)
    path.mkdir()
    with refused(path, "a folder"):
        open_file(path)
    path.rmdir()
    records = [("x", f"y {n}") for n in range(50)]
    whole = form.file(["a", "b"], records).read_bytes()
    noise = bytes(range(256)) * 40
    for content, what in ((b"", "an empty file"), (noise, "bytes of no format")):
        path.write_bytes(content)
        with refused(path, what):
            open_file(path)
    path.write_bytes(whole + noise)
    # A format whose files say where they end may ignore what follows, but must not read it.
    if not form.holds_exactly(path, ["a", "b"], records):
        with refused(path, "a damaged file"):
            open_file(path)
    with suppress(ValueError):
        form.file(["a", "b"], [], "bad")
        with refused(path, "a file without records"):
            open_file(path)
    path.write_bytes(whole[: len(whole) // 2])
    # The end of a text may be missing unnoticed, but nothing else may be raised.
    with suppress(DataError):
        open_file(path).close()


@contextmanager
def refused(path: Path, what: str) -> Iterator[None]:
    """Check that the block raises a ``DataError`` in one line that names a file."""
    try:
        yield
    except DataError as error:
        if path.name not in str(error) or "\n" in str(error):
            fail(f"{what}: the message is not one line with the name of the file: {error}")
        return
    except Exception as error:
        raise AssertionError(f"{what}: raises {type(error).__name__}, not DataError: {error}") from error
    fail(f"{what} is read")


def check_encoding(form: _Format) -> None:
    """Check a text file with a byte-order mark and one that is not UTF-8; others have no encoding."""
    path = form.file(["a", "b"], [["é", "x"]])
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    if "é" not in text or "\0" in text:
        return
    path.write_bytes(b"\xef\xbb\xbf" + content)
    form.expect(path, ["a", "b"], [("é", "x")], "a byte-order mark")
    path.write_bytes(text.encode("latin-1"))
    with refused(path, "Latin-1 read as UTF-8"):
        open_file(path, CsvDialect())
