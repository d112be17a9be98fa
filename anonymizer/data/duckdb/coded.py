"""Columns of a release as codes with labels, as SPSS and Stata have them.

A text that the input has a code for keeps it. Groups of numbers, which are texts elsewhere, are whole numbers
from 1 in their order, with the groups as labels. Only labels of released values are written: others
of the input may tell what was taken out.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.released import (
    Staged,
    WrittenFormat,
    first_text,
    refusal,
    texts_in,
    typed_file,
)
from anonymizer.data.foreign import needing
from anonymizer.errors import OutputError
from anonymizer.model.labels import MISSING, SUPPRESSED
from anonymizer.model.table import Code

NO_LABELS = ColumnLabels()

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


@dataclass(frozen=True)
class Coded:
    """Columns of a release with what a file says about them.

    Attributes
    ----------
    columns: values or codes, by their names; in pandas.
    labels: of codes, by column.
    absent: codes that are missing values, by column.
    titles: of columns.
    measures: levels of measurement.
    """

    columns: dict[str, Any] = field(default_factory=dict)
    labels: dict[str, dict[Code, str]] = field(default_factory=dict)
    absent: dict[str, list[Code]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    measures: dict[str, str] = field(default_factory=dict)


class CodedFormat(WrittenFormat):
    """A format of a statistics package.

    Class attributes
    ----------------
    package: for messages.
    stored: types that it has, as for ``typed``.
    names: pattern of names of columns.
    longest_name, longest_title, longest_label, longest_text: most bytes of each.
    lacking: condition in SQL for texts ``v`` that it changes.
    reserved: names that no column can have, in capitals.
    labels_texts: whether texts can have labels.
    """

    package: ClassVar[str]
    stored: ClassVar[Mapping[str, str]]
    names: ClassVar[re.Pattern[str]]
    longest_name: ClassVar[int]
    longest_title: ClassVar[int]
    longest_label: ClassVar[int]
    longest_text: ClassVar[int]
    lacking: ClassVar[str]
    reserved: ClassVar[Collection[str]]
    labels_texts: ClassVar[bool] = True

    @classmethod
    def check_names(cls, path: Path, names: Collection[str]) -> None:
        """Check that columns can have these names.

        Raises
        ------
        OutputError: naming the first that none can have.
        """
        taken: dict[str, str] = {}
        for name in names:
            other = taken.setdefault(name.lower(), name)
            known = cls.names.fullmatch(name) and name.upper() not in cls.reserved
            if not known or len(name.encode()) > cls.longest_name or other != name:
                raise OutputError(
                    f"{path.name}: {cls.package} has no column named '{name}': accepted: a letter, then "
                    f"letters, digits and _, at most {cls.longest_name} bytes, different not in case alone; "
                    "rename it in the input, or set output.path to a .csv"
                )

    def write(self, release: Staged, path: Path) -> None:
        """Write a release with labels of values and columns."""
        with needing(path):
            import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
            import pyreadstat  # noqa: PLC0415, F401

        given = typed_file(release, self.stored, lambda database: self._check_texts(database, path))
        coded = Coded()
        with pq.ParquetFile(given) as file:
            names = file.schema_arrow.names
            self.check_names(path, names)
            for name in names:
                column = file.read([name]).column(0)
                self._add(coded, name, column, release)
        self.save(coded, path)

    @abstractmethod
    def save(self, coded: Coded, path: Path) -> None:
        """Write columns with their labels."""

    def _check_texts(self, database: Database, path: Path) -> None:
        """Check that fields of text can have all texts.

        Raises
        ------
        OutputError: naming the first that they cannot.
        """
        for condition, why in (
            (self.lacking, f"which {self.package} cannot hold: it ends in a space or has a null character"),
            (f"strlen(v) > {self.longest_text}", f"longer than the {self.longest_text:,} bytes of a text"),
        ):
            found = first_text(database, texts_in(database), condition)
            if found is not None:
                raise refusal(path, *found, why)

    def _add(self, coded: Coded, name: str, column: Any, release: Staged) -> None:
        """Add a column: its values, or codes in place of texts."""
        import pandas as pd  # noqa: PLC0415 - quick start-up
        import pyarrow as pa  # noqa: PLC0415 - an extra

        known = release.labels.get(name, NO_LABELS)
        if known.title:
            coded.titles[name] = known.title.encode()[: self.longest_title].decode(errors="ignore")
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
                known = replace(known, absent={**known.absent, **_hidden(texts, known)})
            coding = self._coding(name, texts, known, grouped=name in release.numbers)
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

    def _coding(
        self, name: str, texts: Sequence[str], known: ColumnLabels, *, grouped: bool
    ) -> Coding | None:
        """Return a code for each text of a column; None if its texts stay texts."""
        absent = self.absent_codes([text for text in texts if text in known.absent], known)
        others = [text for text in texts if text not in absent]
        named = {code: text for text, code in absent.items() if text != self.unnamed(code)}
        if known.codes:
            of_texts = any(isinstance(code, str) for code in known.codes.values())
            codes = {text: known.codes[text] for text in others if text in known.codes}
            groups = [text for text in others if text not in codes]
            if of_texts and (groups or absent or not self.labels_texts):
                return None
            codes |= self._numbered(groups, [*known.codes.values(), *absent.values()], low=True)
        elif absent and (numbers := _numbers(others)) is not None:
            both = set(numbers.values()) & set(absent.values())
            if both:
                raise OutputError(
                    f"column '{name}': {min(both, key=str)} is a value, and would be the code of a kind of "
                    f"missing values in {self.package}; set output.path to a .csv"
                )
            return Coding({**numbers, **absent}, named, groups=False)
        elif grouped or absent:
            groups = others
            codes = self._numbered(groups, list(absent.values()), low=False)
        else:
            return None
        labels = {**{code: text for text, code in codes.items()}, **named}
        long = [text for text in labels.values() if len(text.encode()) > self.longest_label]
        if long and absent:
            raise OutputError(
                f"column '{name}': the label '{long[0][:40]}...' is longer than the {self.longest_label} "
                f"bytes of {self.package}, and without labels its kinds of missing values would be texts; "
                "set output.path to a .csv"
            )
        if long:
            return None
        return Coding({**codes, **absent}, labels, groups=bool(groups))

    @staticmethod
    def _numbered(groups: Sequence[str], taken: Collection[Code], *, low: bool) -> dict[str, Code]:
        """Return whole numbers for groups in their order, which no code has; above all codes if ``low``."""
        used = {code for code in taken if not isinstance(code, str)}
        first = int(max(used, default=0)) + 1 if low else 1
        free = (code for code in count(first) if code not in used)
        return dict(zip(sorted(groups, key=_order), free, strict=False))

    @abstractmethod
    def absent_codes(self, texts: Sequence[str], known: ColumnLabels) -> dict[str, Code]:
        """Return the code of each text that is a kind of missing value."""

    @abstractmethod
    def unnamed(self, code: Code) -> str:
        """Return the text of a missing value that has no label."""


class Coding(NamedTuple):
    """Codes of the texts of a column.

    Attributes
    ----------
    codes: by text.
    labels: by code; numbers have none.
    groups: whether some texts have no code in the input.
    """

    codes: dict[str, Code]
    labels: dict[Code, str]
    groups: bool


def _numbers(texts: Sequence[str]) -> dict[str, Code] | None:
    """Return the number of each text; None if one is no number, or another text for it."""
    if not all(map(_NUMBER.fullmatch, texts)):
        return None
    numbers: dict[str, Code] = {text: float(text) if "." in text else int(text) for text in texts}
    return numbers if all(str(number) == text for text, number in numbers.items()) else None


HIDDEN = (MISSING, SUPPRESSED)
"""Texts that stand for no value, so that no package may count them among values."""


def _hidden(texts: Collection[str], known: ColumnLabels) -> dict[str, Code]:
    """Return a code for each text that stands for no value: above the kinds of missing, or else below all."""
    found = [text for text in HIDDEN if text in texts and text not in known.codes]
    absent = [code for code in known.absent.values() if not isinstance(code, str)]
    own = [code for code in known.codes.values() if not isinstance(code, str)]
    values = [int(float(text)) for text in texts if _NUMBER.fullmatch(text)]
    first, step = (int(max(absent)) + 1, 1) if absent else (int(min([0, *own, *values])) - 1, -1)
    free = (code for code in count(first, step) if code not in (*own, *values))
    return dict(zip(found, free, strict=False))


def _order(text: str) -> tuple[float, int, str]:
    """Return a sort key of groups: by their first number, those below it first."""
    found = _NUMBER.search(text)
    side = {"<": -1, "≤": -1, ">": 1, "≥": 1}.get(text[:1], 0)
    return float(found[0]) if found else float("-inf"), side, text
