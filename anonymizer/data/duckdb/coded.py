"""Columns of a release as codes with labels, as SPSS and Stata have them.

A text that the input has a code for keeps it. Groups of numbers, which are texts elsewhere, are whole numbers
from 1 in their order, with the groups as labels. Only labels of released values are written: others
of the input may tell what was taken out.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from anonymizer.data.codebook import ColumnLabels
from anonymizer.data.duckdb.released import WrittenFormat
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
    writer: name of the function of pyreadstat.
    stored: types that it has, as for ``typed``.
    names: pattern of names of columns.
    longest_name, longest_title, longest_label, longest_text: most bytes of each.
    lacking: condition in SQL for texts ``v`` that it changes.
    reserved: names that no column can have, in capitals.
    labels_texts: whether texts can have labels.
    """

    package: ClassVar[str]
    writer: ClassVar[str]
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

    @abstractmethod
    def said(self, coded: Coded) -> dict[str, Any]:
        """Return what the library is given beside the columns."""

    @staticmethod
    @abstractmethod
    def without_time(path: Path) -> None:
        """Take the time of writing out of a file, so that a run repeats byte for byte."""

    @property
    def lacks(self) -> list[tuple[str, str]]:
        """Conditions in SQL of texts that it lacks, each with the words for a message."""
        return [
            (self.lacking, f"which {self.package} cannot hold: it ends in a space or has a null character"),
            (f"strlen(v) > {self.longest_text}", f"longer than the {self.longest_text:,} bytes of a text"),
        ]

    def coding(self, name: str, texts: Sequence[str], known: ColumnLabels, *, grouped: bool) -> Coding | None:
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


def hidden(texts: Collection[str], known: ColumnLabels) -> dict[str, Code]:
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
