"""Releases written as files of SPSS and Stata, with codes and labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

from anonymizer.data.duckdb.coded import NO_LABELS, Coded, CodedFormat, hidden
from anonymizer.data.duckdb.released import Staged, typed_file
from anonymizer.errors import OutputError


def write_coded(form: CodedFormat, release: Staged, path: Path) -> None:
    """Write a release with labels of values and columns.

    Raises
    ------
    OutputError: the format lacks a name, a value or a kind of missing values.
    """
    given = typed_file(release, form.stored, form.lacks, path)
    coded = Coded()
    with pq.ParquetFile(given) as file:
        names = file.schema_arrow.names
        form.check_names(path, names)
        for name in names:
            column = file.read([name]).column(0)
            _add(form, coded, name, column, release)
    said = form.said(coded)
    try:
        getattr(pyreadstat, form.writer)(pd.DataFrame(coded.columns), str(path), **said)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as error:
        raise OutputError(f"{path.name}: cannot be written: {error}; set output.path to a .csv") from None
    form.without_time(path)


def _add(form: CodedFormat, coded: Coded, name: str, column: Any, release: Staged) -> None:
    """Add a column: its values, or codes in place of texts."""
    known = release.labels.get(name, NO_LABELS)
    if known.title:
        coded.titles[name] = known.title.encode()[: form.longest_title].decode(errors="ignore")
    if known.measure:
        coded.measures[name] = known.measure
    if pa.types.is_boolean(column.type):
        coded.labels[name] = {0: "false", 1: "true"}
        column = column.cast(pa.int8())
    coding = None
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        keys = pa.chunked_array([column.combine_chunks()]).dictionary_encode().combine_chunks()
        texts: list[str] = keys.dictionary.to_pylist()
        if known.codes or name in release.numbers:
            known = replace(known, absent={**known.absent, **hidden(texts, known)})
        coding = form.coding(name, texts, known, grouped=name in release.numbers)
    if coding is None:
        coded.columns[name] = column.to_pandas()
        return
    codes = np.array([*(coding.codes[text] for text in texts), None], dtype=object)
    values = pd.Series(codes[keys.indices.fill_null(len(texts)).to_numpy()])
    letters = [code for code in dict.fromkeys(coding.codes.values()) if isinstance(code, str)]
    numbers = [code for code in dict.fromkeys(coding.codes.values()) if not isinstance(code, str)]
    if not letters:
        values = pd.to_numeric(values)
    elif numbers:
        # By the first hundred values, which may all be letters, the library would take them for texts.
        known_codes = pd.Index([*numbers, *letters], dtype=object)
        values = pd.Series(pd.Categorical(values, categories=known_codes))
    coded.columns[name] = values
    coded.labels[name] = coding.labels
    coded.absent[name] = [coding.codes[text] for text in texts if text in known.absent]
    if not coded.absent[name]:
        del coded.absent[name]
    if coding.groups and not known.codes:
        coded.measures[name] = "ordinal"
