"""What init drafts for dates and bands, and what a run with the draft publishes."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

import anonymizer as an
from anonymizer.cli.main import main
from anonymizer.model.table import ValueType
from anonymizer.profile.column_statistics import with_known_order
from anonymizer.profile.hierarchies import drafts
from tests.profile.columns import column

COARSE = ["month", "quarter", "year", "decade"]
TWO_YEARS = [datetime(2019, 1, 1) + timedelta(hours=31 * n) for n in range(500)]
EARLY = [date(2014, 1 + n % 12, 1 + n % 11) for n in range(120)]


@pytest.mark.parametrize(
    ("form", "levels", "more"),
    [
        ("%m/%d/%Y", COARSE, {}),
        ("%d.%m.%Y", COARSE, {}),
        ("%d-%b-%Y", COARSE, {}),
        ("%d %B %Y", COARSE, {}),
        ("%Y%m%d", COARSE, {}),
        ("%d.%m.%y", COARSE, {"pivot": 68}),
        ("%m/%d/%y", COARSE, {"pivot": 68}),
        ("%G-W%V", COARSE, {}),
        ("%G-W%V-%u", COARSE, {}),
        ("%b %Y", COARSE[1:], {}),
        ("%m/%Y", COARSE[1:], {}),
        ("%Y-%m", COARSE[1:], {}),
        ("%d.%m.%Y %H:%M", ["day", *COARSE], {}),
        ("%m/%d/%Y %I:%M %p", ["day", *COARSE], {}),
    ],
)
def test_format_is_found(form: str, levels: list[str], more: dict[str, Any]) -> None:
    found = column("seen", [time.strftime(form) for time in TWO_YEARS])
    draft = next(drafts(found))
    assert found.type is ValueType.DATE
    assert draft.hierarchy == {"date": {"levels": levels}}
    assert draft.further == {"format": form, **more}


@pytest.mark.parametrize(
    ("years", "pivot"), [(range(12, 15), 68), ([*range(60, 100), *range(10)], 59), (range(30, 99), 29)]
)
def test_pivot_is_before_the_years_that_nobody_has(years: Sequence[int], pivot: int) -> None:
    days = [f"{1 + n % 28:02}.{1 + n % 12:02}.{year:02}" for n, year in enumerate([*years] * 10)]
    found = column("seen", days)
    assert next(drafts(found)).further["pivot"] == pivot


def test_day_or_month_first_is_asked() -> None:
    """Only the years, on which both readings agree, are drafted."""
    draft = next(drafts(column("seen", [f"{day:%m/%d/%Y}" for day in EARLY])))
    assert draft.hierarchy == {"date": {"levels": ["year", "decade"]}}
    assert draft.further == {"format": "%d/%m/%Y", "levels": {"min": 1}}
    assert '"%d/%m/%Y" and "%m/%d/%Y"' in draft.question


def test_other_columns_decide_day_or_month_first() -> None:
    doubtful = column("seen", [f"{day:%m/%d/%Y}" for day in EARLY])
    certain = column("left", [f"{time:%m-%d-%Y}" for time in TWO_YEARS])
    against = column("born", [f"{time:%d.%m.%Y}" for time in TWO_YEARS])
    resolved, _ = with_known_order([doubtful, certain])
    assert next(drafts(resolved)).further == {"format": "%m/%d/%Y"}
    undecided, *_ = with_known_order([doubtful, certain, against])
    assert next(drafts(undecided)).question


def test_nearly_dates_are_not_grouped_by_spelling() -> None:
    draft = next(drafts(column("seen", [f"{time:%m/%d/%Y}" for time in TWO_YEARS] + ["unclear"])))
    assert (draft.hierarchy, draft.type) == (None, ValueType.TEXT)
    assert draft.question.startswith("1 of ")
    assert "unclear" not in draft.question


def test_words_for_missing_values_are_no_obstacle(tmp_path: Path) -> None:
    config = drafted(
        tmp_path, ["NA" if n % 9 == 0 else f"{each:%m/%d/%Y}" for n, each in enumerate(TWO_YEARS)]
    )
    assert config["attributes"]["seen"]["format"] == "%m/%d/%Y"
    assert "NA" in config["input"]["missing"]


def test_few_dates_keep_their_format(tmp_path: Path) -> None:
    config = drafted(tmp_path, ["5/13/2014", "6/14/2014"] * 50)
    assert config["attributes"]["seen"] == {"role": "quasi-identifier", "type": "date", "format": "%m/%d/%Y"}
    assert {line.split(",")[0] for line in released(tmp_path)[1:]} == {"2014-05-13", "2014-06-14"}


def drafted(folder: Path, texts: Sequence[str]) -> dict[str, Any]:
    """Return the config that init drafts for a file with a column of these texts."""
    draw = random.Random(5)
    lines = [f"{text},{draw.choice('mf')},{draw.choice(('flu', 'cold', 'none'))}" for text in texts]
    (folder / "list.csv").write_text("\n".join(["seen,sex,illness", *lines, ""]), encoding="utf-8")
    assert main(["init", str(folder / "list.csv"), "-o", str(folder / "list.yaml")]) == 0
    found: dict[str, Any] = yaml.safe_load((folder / "list.yaml").read_text(encoding="utf-8"))
    return found


def released(folder: Path) -> list[str]:
    """Return the lines of the release of a run with the draft."""
    assert main(["run", str(folder / "list.yaml"), "-o", str(folder / "out"), "--quiet"]) == 0
    return (folder / "out" / "share" / "release.csv").read_text(encoding="utf-8").splitlines()


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "form", ["%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y", "%b %d, %Y", "%Y%m%d", "%m/%d/%Y %H:%M"]
)
def test_no_false_ranges(tmp_path: Path, form: str) -> None:
    """A line list: every published period contains the date of its record."""
    texts = [f'"{time.strftime(form)}"' for time in TWO_YEARS]
    drafted(tmp_path, texts)
    periods = {line.split(",")[0] for line in released(tmp_path)[1:]}
    possible = {"2010s", "*"}
    for time in TWO_YEARS:
        possible |= {f"{time:%Y}", f"{time:%Y-%m}", f"{time:%Y-%m-%d}", f"{time:%Y}-Q{(time.month + 2) // 3}"}
    assert periods <= possible
    assert periods & {f"{time:%Y-%m}" for time in TWO_YEARS}


def test_questions_are_shown_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On the terminal, in the config and in the JSON a column with two readings is marked with both."""
    drafted(tmp_path, [f"{day:%m/%d/%Y}" for day in EARLY])
    printed = capsys.readouterr().out
    line = next(line for line in printed.splitlines() if line.startswith("seen"))
    assert line.endswith("<- uncertain, please check")
    assert '"%d/%m/%Y" and "%m/%d/%Y"' in line
    assert "day or month first?" in (tmp_path / "list.yaml").read_text(encoding="utf-8")
    assert main(["init", str(tmp_path / "list.csv"), "-o", str(tmp_path / "other.yaml"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["columns"]["seen"]
    assert found["doubtful"]
    assert '"%d/%m/%Y" and "%m/%d/%Y"' in found["reason"]
    assert {line.split(",")[0] for line in released(tmp_path)[1:]} <= {"2014", "2010s", "*"}


def test_an_order_that_another_column_decides_is_asked_about(tmp_path: Path) -> None:
    """Beside ``5/13/2014``, ``5/3/2014`` is read with the month first, but its own values do not say so."""
    rows = [f"{day:%m/%d/%Y},{later:%m/%d/%Y}" for day, later in zip(EARLY, TWO_YEARS, strict=False)]
    (tmp_path / "list.csv").write_text("\n".join(["seen,born", *rows, ""]), encoding="utf-8")
    assert main(["init", str(tmp_path / "list.csv"), "-o", str(tmp_path / "list.yaml")]) == 0
    text = (tmp_path / "list.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["attributes"]["seen"]["format"] == "%m/%d/%Y"
    comments = " ".join(text.replace("#", " ").split())
    assert comments.count("day or month first?") == 1
    assert 'day or month first? "%d/%m/%Y" fits all values, too; other columns of dates' in comments


@pytest.mark.parametrize(("days", "warned"), [(EARLY, True), (TWO_YEARS, False)])
@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive"])
def test_a_format_that_fits_in_the_other_order_too(
    days: Sequence[Any], role: str, *, warned: bool, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"seen": [f"{day:%m/%d/%Y}" for day in days], "sex": "f"})
    attributes = {
        "seen": {"role": role, "type": "date", "format": "%m/%d/%Y"},
        "sex": {"role": "quasi-identifier"},
    }
    config = {"attributes": attributes, "constraints": [{"model": "k-anonymity", "k": 2}]}
    warnings = an.anonymize(frame, config).report.to_dict()["warnings"]
    expected = (
        'column \'seen\' is read as "%m/%d/%Y", and "%d/%m/%Y" fits all its values, too; check '
        "whether day or month comes first"
    )
    assert (expected in warnings) is warned


def test_sensitive_dates_without_a_declaration() -> None:
    """``05/13/2014`` and ``5/13/2014`` are two values for l-diversity unless the column is one of dates."""
    frame = pd.DataFrame({"seen": ["05/13/2014", "5/13/2014"] * 4, "sex": "f"})
    attributes = {"seen": {"role": "sensitive"}, "sex": {"role": "quasi-identifier"}}
    config: dict[str, Any] = {"attributes": attributes, "constraints": [{"model": "l-diversity", "l": 2}]}
    warnings = an.anonymize(frame, config).report.to_dict()["warnings"]
    expected = (
        "column 'seen' looks like dates, but is counted by spelling: two spellings of one day are two "
        'values; set `format: "%m/%d/%Y"`, with `type: date`'
    )
    assert expected in warnings
    attributes["seen"] |= {"type": "date", "format": "%m/%d/%Y"}
    with pytest.raises(an.Infeasible):
        an.anonymize(frame, config)
