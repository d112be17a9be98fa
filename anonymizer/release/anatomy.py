"""Anatomy releases in two files that share the column ``group``: NAME.qit.csv and NAME.st.csv."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from anonymizer.data.relation import Projection, Relation, Replacement
from anonymizer.data.source import SUFFIXES, split_suffix
from anonymizer.errors import InputError
from anonymizer.model.arrays import CodeArray
from anonymizer.model.recoding import COUNT, GROUP, GroupRecoding
from anonymizer.release.query import project_rows, rows_of_records

RECORDS = ".qit"
"""Before the suffix of the file with the QIT."""

VALUES = ".st"
"""Before the suffix of the file with the ST."""


class AnatomyFiles(NamedTuple):
    """The paths of the two files.

    Attributes
    ----------
    records: of the QIT: one row for each record, with its group.
    values: of the ST: one row for each group and value, with the number of records.
    """

    records: Path
    values: Path

    @property
    def names(self) -> tuple[str, str]:
        """The plain names of the files."""
        return self.records.name, self.values.name


def pair_named(path: Path) -> AnatomyFiles:
    """Return the files of a release: ``release.qit.csv`` and ``release.st.csv`` for ``release.csv``."""
    stem, suffix = split_suffix(path.name)
    return AnatomyFiles(path.with_name(f"{stem}{RECORDS}{suffix}"), path.with_name(f"{stem}{VALUES}{suffix}"))


def find_anatomy_files(path: Path) -> AnatomyFiles | None:
    """Return the files of a release, given one of them, or their common name with or without suffix.

    Returns
    -------
    None if the path is a single file.

    Raises
    ------
    InputError: one of the files is missing.
    """
    stem, suffix = split_suffix(path.name)
    for half in (RECORDS, VALUES):
        if suffix and stem.endswith(half) and len(stem) > len(half):
            return _complete(pair_named(path.with_name(stem.removesuffix(half) + suffix)))
    if path.is_file():
        return None
    for each in [suffix] if suffix else SUFFIXES:
        pair = pair_named(path.with_name(stem + each))
        if pair.records.is_file() or pair.values.is_file():
            return _complete(pair)
    return None


def _complete(pair: AnatomyFiles) -> AnatomyFiles:
    """Return the pair if both files exist.

    Raises
    ------
    InputError: a file is missing.
    """
    both = (pair.records, pair.values)
    missing = [each for each in both if not each.is_file()]
    if len(missing) == len(both):
        raise InputError(
            f"{pair.records}: neither this file nor {pair.values.name} exists; give a released file"
        )
    if missing:
        there = next(each for each in both if each not in missing)
        raise InputError(
            f"{missing[0]}: no such file; {there.name} is one of the two files of an Anatomy release; put "
            "both in one folder"
        )
    return pair


def pair_columns(columns: Sequence[str], sensitive: str) -> tuple[list[str], list[str]]:
    """Return the columns of the QIT and the ST.

    Parameters
    ----------
    columns: that are released, in the order of the input.
    sensitive: the one whose values are in the ST.

    Raises
    ------
    InputError: a column has the name of a new one.
    """
    records = [name for name in columns if name != sensitive]
    taken = {GROUP: columns, COUNT: [sensitive]}
    for new, own in taken.items():
        if new in own:
            raise InputError(
                f"column '{new}': anatomy writes a column of that name; rename it in the input, or give it "
                "role: identifier, so that it is not released"
            )
    return [*records, GROUP], [GROUP, sensitive, COUNT]


def project_pair(
    relation: Relation, combination: CodeArray, recoding: GroupRecoding, columns: Sequence[str]
) -> tuple[Projection, Projection]:
    """Return the projections of the input to the QIT and to the ST.

    A row of the ST is one of the records with its group and value, the first if there are several spellings.

    Parameters
    ----------
    combination: distinct row of each record in the searched table, shape (records,).
    columns: that are released.

    Raises
    ------
    InputError: a column has the name of a new one.
    """
    sensitive = recoding.table.sensitive_names[0]
    of_records, of_values = pair_columns(sorted(columns, key=relation.position), sensitive)
    rows = rows_of_records(relation, combination, recoding, columns)
    # Removed records have no group; the code in its place is not published.
    codes = np.maximum(recoding.group_of[rows], 0).astype(np.int32)
    group = Replacement(tuple(range(1, recoding.groups + 1)), codes)
    known = [name for name in of_records if name != GROUP]
    plain = project_rows(rows, recoding, known, relation.marker)
    records = Projection(tuple(of_records), {**plain.replacements, GROUP: group}, plain.kept)
    return records, _values(relation, recoding, rows, group, of_values)


def _values(
    relation: Relation,
    recoding: GroupRecoding,
    rows: CodeArray,
    group: Replacement,
    columns: Sequence[str],
) -> Projection:
    """Return the ST: a record for each group and value, with its count."""
    name = columns[1]
    value = recoding.table.sensitive_codes(name)[rows]
    order = np.lexsort((relation.codes(name), value, group.codes))
    order = order[~recoding.removed[rows[order]]]
    first = np.r_[True, np.diff(group.codes[order]).astype(bool) | np.diff(value[order]).astype(bool)]
    starts = np.flatnonzero(first)
    numbers = np.diff(np.r_[starts, len(order)])
    labels, codes = np.unique(numbers, return_inverse=True)
    counts = np.zeros(len(rows), dtype=np.int32)
    counts[order[starts]] = codes
    kept = np.zeros(len(rows), dtype=bool)
    kept[order[starts]] = True
    shown = {GROUP: group, COUNT: Replacement(tuple(labels.tolist()), counts)}
    return Projection(tuple(columns), shown, kept)
