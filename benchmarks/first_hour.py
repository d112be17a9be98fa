"""The first hour with a file: ``init`` and ``run`` without an edit, and every label held against the input.

``python -m benchmarks.first_hour FILE ...`` runs the real command in a folder of its own. The drafted config
gets one more column, the number of the row, released unchanged; so each published cell is compared with the
value it came from:

- false: the value lies outside of what its label says, read by this script alone;
- extreme: a label shows the smallest or largest value of a column, which fewer than ten records have;
- identifier: a column whose values nearly all differ is released as text.

Files are looked at, never kept.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

ROW = "row_of_the_input"
FEW = 10
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
_RANGES = (
    (re.compile(rf"({_NUMBER})-({_NUMBER})"), True),
    (re.compile(rf"({_NUMBER}) to ({_NUMBER})"), True),
    (re.compile(rf"({_NUMBER})\.\.({_NUMBER})"), True),
    (re.compile(rf"\[({_NUMBER})[,;] ({_NUMBER})\)"), False),
    (re.compile(rf"\[({_NUMBER})[,;] ({_NUMBER})\]"), True),
    (re.compile(rf"({_NUMBER})(\+)"), True),
    (re.compile(rf"(<) ?({_NUMBER})"), False),
)
_DAY = re.compile(r"(\d{4})(?:-(\d\d)|-Q(\d))?(?:-(\d\d))?")


@dataclass(frozen=True)
class Span:
    """What a label says about numbers: from low to high, the latter included or not."""

    low: float
    high: float
    closed: bool

    def covers(self, value: float) -> bool:
        """Return whether a number lies within."""
        return self.low <= value and (value <= self.high if self.closed else value < self.high)


def number(text: str) -> float | None:
    """Return a text as a number; None if it is none."""
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        return None


def span(label: str) -> Span | None:
    """Return the numbers that a label stands for; None for a label of another kind."""
    for form, closed in _RANGES:
        found = form.fullmatch(label)
        if found is not None:
            low, high = (number(end) for end in found.groups())
            return Span(-float("inf") if low is None else low, float("inf") if high is None else high, closed)
    return None


def period(label: str, day: date) -> bool | None:
    """Return whether a day lies in a published period; None if the label is none."""
    if re.fullmatch(r"\d{3}0s", label):
        return day.year // 10 * 10 == int(label[:4])
    found = _DAY.fullmatch(label)
    if found is None:
        return None
    year, month, quarter, number_of_day = (int(part) if part else None for part in found.groups())
    return (
        day.year == year
        and month in (None, day.month)
        and quarter in (None, (day.month + 2) // 3)
        and number_of_day in (None, day.day)
    )


@dataclass
class Findings:
    """What is wrong with the labels of a release."""

    false: Counter[str]
    extremes: Counter[str]
    identifiers: list[str]

    def __bool__(self) -> bool:
        """Return whether anything was found."""
        return bool(self.false or self.extremes or self.identifiers)


def examine(
    release: pd.DataFrame, original: pd.DataFrame, days: dict[str, dict[str, date]], fixed: set[str]
) -> Findings:
    """Hold every published cell against the value that it came from.

    ``fixed``: columns whose labels have other ends than the data's, such as round intervals.
    """
    found = Findings(Counter(), Counter(), [])
    rows = release[ROW].astype(int)
    for column in release.columns.intersection(original.columns).difference([ROW]):
        published, values = release[column], original.loc[rows, column].set_axis(release.index)
        pairs = Counter(zip(published, values, strict=True))
        present = Counter(text for text in original[column] if number(text) is not None)
        ends = set() if column in fixed else _extremes(present)
        rare = {extreme for extreme in ends if present[extreme] < FEW}
        for (label, value), records in pairs.items():
            if label == value:
                continue
            if is_false(label, value, days.get(column, {})):
                found.false[f"{column}: {label} for {value}"] += records
            if rare & set(re.findall(_NUMBER, label)) and number(value) is not None:
                found.extremes[f"{column}: {label}"] += records
        if (published == values).all() and values.nunique() > 0.8 * len(values) and not present:
            found.identifiers.append(str(column))
    return found


def _extremes(present: Iterable[str]) -> set[str]:
    texts = sorted(present, key=lambda text: number(text) or 0.0)
    return {texts[0], texts[-1]} if texts else set()


def is_false(label: str, value: str, days: dict[str, date]) -> bool:
    """Return whether a label says something about a value that is not so."""
    measured = number(value)
    said = span(label)
    if said is not None and measured is not None:
        return not said.covers(measured)
    if value in days:
        return period(label, days[value]) is False
    return False


def days_of(config: dict[str, Any], original: pd.DataFrame) -> dict[str, dict[str, date]]:
    """Return the day of every text in the columns that the config declares as dates."""
    found = {}
    for name, settings in config["attributes"].items():
        if settings.get("type") == "date":
            form = settings.get("format")
            texts = original[name].drop_duplicates()
            read = pd.to_datetime(
                texts, format=form if isinstance(form, str) else "mixed", errors="coerce", utc=True
            )
            found[name] = {
                text: each.date() for text, each in zip(texts, read, strict=True) if not pd.isna(each)
            }
    return found


def fixed_columns(config: dict[str, Any]) -> set[str]:
    """Return the columns whose hierarchy has ends that do not come from the data."""
    kinds = {"date", "frequency", "intervals", "ready"}
    return {
        name
        for name, settings in config["attributes"].items()
        if kinds & set(settings.get("hierarchy") or ())
    }


def command(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the real command."""
    return subprocess.run(
        [sys.executable, "-m", "anonymizer", *words], capture_output=True, text=True, check=False
    )


def first_hour(file: Path, folder: Path, encoding: str) -> bool:
    """Print the draft, the answer and every wrong label; return whether there is none."""
    config_file = folder / f"{file.stem}.yaml"
    drafted = command("init", str(file), "-o", str(config_file), "--encoding", encoding)
    print(f"# {file.name}\n{drafted.stdout}{drafted.stderr}")
    if drafted.returncode:
        return False
    config = yaml.safe_load(config_file.read_text(encoding="utf-8"))
    own = config["input"]
    original = pd.read_csv(
        file, sep=own.get("separator", ","), dtype=str, keep_default_na=False, encoding=encoding
    )
    names = list(config["attributes"])
    original.columns = pd.Index(names)
    numbered = folder / f"{file.stem}-numbered.csv"
    with_rows = original.assign(**{ROW: range(len(original))})
    with_rows.to_csv(numbered, sep=own.get("separator", ","), index=False)
    config["input"] = {**own, "path": numbered.name, "encoding": "utf-8"}
    config["attributes"][ROW] = {"role": "insensitive"}
    second = folder / f"{file.stem}-numbered.yaml"
    second.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    answers = [command("run", str(each), "-o", str(folder / each.stem)) for each in (config_file, second)]
    print("\n".join(answer.stdout + answer.stderr for answer in answers[:1]))
    if any(answer.returncode for answer in answers):
        print(answers[1].stderr)
        return False
    report = json.loads((folder / second.stem / "report.json").read_text(encoding="utf-8"))
    path = folder / second.stem / report["release"]["path"]
    release = pd.read_csv(path, sep=report["release"]["separator"], dtype=str, keep_default_na=False)
    found = examine(release, original, days_of(config, original), fixed_columns(config))
    for kind, lines in (("false", found.false), ("extreme", found.extremes)):
        for line, records in lines.most_common(5):
            print(f"{kind}: {line} ({records} records)")
    print(*(f"identifier: {name}" for name in found.identifiers), sep="\n")
    return not found


def main() -> int:
    """Go through the files; return 1 if a label is wrong in one of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--encoding", default="utf-8")
    parser.add_argument("--folder", type=Path, help="where configs and releases are kept; default: nowhere")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        good = [first_hour(file, folder, given.encoding) for file in given.files]
    print(f"{sum(good)} of {len(good)} files without a wrong label")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
