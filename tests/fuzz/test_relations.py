"""What other commands and other inputs must agree with: faults planted in these are found."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import relations
from tests.fuzz.__main__ import main, seeds_of
from tests.fuzz.cases import Case, draw_case
from tests.fuzz.judge import Tally
from tests.fuzz.planting import Ran, report_of
from tests.fuzz.relations import Answer, audited, checked, compared
from tests.fuzz.test_people import PERSONS, WEIGHTS

RECORDS = replace(
    PERSONS,
    attributes=PERSONS.attributes[:3],
    keys=(),
    config=PERSONS.config
    | {
        "input": {"path": "in.csv", "missing": [""]},
        "attributes": {each.name: each.entry for each in PERSONS.attributes[:3]},
    },
)
"""The same without persons."""


@pytest.fixture
def altered(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that replaces a text in whatever a command says."""
    real = relations.invoke

    def alter(before: str, after: str) -> None:
        def invoke(*words: str) -> Answer:
            answer = real(*words)
            return Answer(answer.code, answer.out.replace(before, after), answer.error)

        monkeypatch.setattr(relations, "invoke", invoke)

    return alter


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"measured": 3.5', '"measured": 4', "measured 4, counted 7/2"),
        ('"satisfied": true', '"satisfied": false', "satisfied is False"),
    ],
)
def test_a_check_that_measures_something_else_is_a_finding(
    ran: Ran, altered: Callable[[str, str], None], before: str, after: str, said: str
) -> None:
    folder = ran(WEIGHTS)
    altered(before, after)
    found = list(checked(WEIGHTS, folder, report_of(folder), Counter()))
    assert any(said in each for each in found), found


def test_a_check_of_the_release_that_differs_from_the_run_is_a_finding(ran: Ran) -> None:
    folder = ran(RECORDS)
    report = report_of(folder)
    report["constraints"][0]["measured"] = 4
    found = list(checked(RECORDS, folder, report, Counter()))
    assert any("check of the release" in each for each in found), found


def test_an_audit_that_verifies_nothing_is_a_finding(ran: Ran, altered: Callable[[str, str], None]) -> None:
    folder = ran(RECORDS)
    altered("VERIFIED", "NOT MEASURED")
    assert list(audited(RECORDS, folder, report_of(folder), Counter()))


def test_other_bytes_are_a_finding(ran: Ran, tmp_path: Path) -> None:
    folder = tmp_path / "case"
    shutil.copytree(ran(PERSONS), folder)
    assert not list(compared(PERSONS.in_order(range(6, -1, -1)), folder, "another order", "release.csv"))
    public = folder / "release" / "share" / "report.public.json"
    public.write_text(public.read_text(encoding="utf-8").replace("k-anonymity", "k-anonimity"), "utf-8")
    [found] = compared(PERSONS, folder, "again", "release.csv")
    assert "again: ['report.public.json'] differ" in found


def test_a_count_of_persons_in_what_is_shared_is_a_finding(ran: Ran, tmp_path: Path) -> None:
    """Two persons as one give the same release, so nothing that is shared may differ."""
    folder = tmp_path / "case"
    shutil.copytree(ran(PERSONS), folder)
    [key] = PERSONS.keys
    other = PERSONS.with_keys([key.merged(4, 4)], Random(1))
    public = folder / "release" / "share" / "report.public.json"
    report = json.loads(public.read_text(encoding="utf-8"))
    public.write_text(json.dumps(report | {"persons": 5}), encoding="utf-8")
    [found] = compared(other, folder, "two units as one", "release.csv")
    assert "report.public.json" in found
    release = folder / "release" / "share" / "release.csv"
    release.write_text("another release", encoding="utf-8")
    assert not list(compared(other, folder, "two units as one", "release.csv"))


def test_keys_are_renamed_and_merged_by_unit() -> None:
    own = next(each for each in map(draw_case, range(100)) if each.keys)
    renamed = own.renamed(Random(3))
    assert renamed.units == own.units
    assert {each.cells for each in renamed.attributes} != {each.cells for each in own.attributes}


def test_several_seeds_have_totals(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert seeds_of("3..5") == [3, 4, 5]
    seen: list[int] = []

    def judged(case: Case, folder: Path, tally: Tally) -> list[str]:
        seen.append(case.seed)
        folder.mkdir(exist_ok=True)
        return ["a fault"] if case.seed == 3_000_001 else []

    monkeypatch.setattr("tests.fuzz.__main__.judged", judged)
    assert main(["--seeds", "4..5", "--seconds", "0.02"]) == 0
    assert {each // 1_000_000 for each in seen} == {4, 5}
    assert "2 seeds; found: nothing" in capsys.readouterr().out
    assert main(["--seeds", "3", "--keep", str(tmp_path)]) == 1
    assert seen[-1] == 3_000_001
    assert "found: [3000001]" in capsys.readouterr().out
    assert (tmp_path / "3000001").is_dir()
