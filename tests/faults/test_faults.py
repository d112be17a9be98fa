"""The planted faults fit the package: each can be planted, and its tests exist."""

from __future__ import annotations

from tests.faults.__main__ import FAULTS, ROOT, chosen


def test_every_fault_can_be_planted() -> None:
    for each in FAULTS:
        text = (ROOT / "anonymizer" / each.file).read_text(encoding="utf-8")
        assert text.count(each.old) == 1, each.name
        assert each.new != each.old
        assert all((ROOT / "tests" / test).exists() for test in each.tests), each.name


def test_faults_are_chosen_by_words_of_their_name_or_file() -> None:
    assert len({each.name for each in FAULTS}) == len(FAULTS) >= 60
    assert {each.file for each in chosen(["hierarchy/"])} >= {"hierarchy/intervals.py"}
    assert len({each.file.split("/")[0] for each in FAULTS}) >= 12
