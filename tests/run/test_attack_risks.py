"""`interval-risk` and `uniqueness` as constraints: searched, measured again, refused where idle."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import anonymizer as an
from anonymizer.errors import InputError
from tests.run.commands import call
from tests.twins import attacks as twins

WIDTHS = [5, 10, 20]
UNIQUE = {"model": "uniqueness", "max": 0.02}
INTERVAL = {"model": "interval-risk", "max": 0.1, "width": 0.1, "measure": "rid"}


def people() -> pd.DataFrame:
    random = np.random.default_rng(5)
    ages, zips = random.integers(20, 60, 120), random.choice(["10a", "11a", "12a", "20a", "21b"], 120)
    return pd.DataFrame({"age": ages, "zip": zips, "illness": random.choice(list("abc"), 120)})


def settings(*constraints: dict[str, Any], **changed: Any) -> dict[str, Any]:
    intervals = {"intervals": {"width": WIDTHS, "origin": 0}}
    return {
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": intervals},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": {}}},
            "illness": {"role": "sensitive"},
        },
        "constraints": list(constraints),
        **changed,
    }


def generalized(levels: dict[str, int]) -> list[tuple[int, str]]:
    """Return what a transformation publishes of each record, as numbers of groups."""
    own = people()
    ages = [_age(int(age), levels["age"]) for age in own["age"]]
    return list(zip(ages, [text[: 3 - levels["zip"]] for text in own["zip"]], strict=True))


def _age(age: int, level: int) -> int:
    return age if level == 0 else 0 if level > len(WIDTHS) else age // WIDTHS[level - 1]


def share_unique(levels: dict[str, int], known: tuple[int, ...] = (0, 1)) -> Fraction:
    return twins.uniqueness([(str(age), text) for age, text in generalized(levels)], known)


def middles(levels: dict[str, int]) -> list[float]:
    """Return the middle of the ages that each record's published age covers."""
    groups = [age for age, _ in generalized(levels)]
    own = people()["age"].tolist()
    covered = {
        each: [age for age, group in zip(own, groups, strict=True) if group == each] for each in groups
    }
    return [(min(covered[each]) + max(covered[each])) / 2 for each in groups]


def share_near(levels: dict[str, int]) -> Fraction:
    own = people()["age"].tolist()
    return twins.rid(own, middles(levels), ceil(Fraction("0.1") * len(own)))


@pytest.mark.parametrize(
    ("constraint", "counted", "most"), [(UNIQUE, share_unique, 0.02), (INTERVAL, share_near, 0.155)]
)
def test_the_search_finds_the_best_that_a_loop_lets_pass(constraint: Any, counted: Any, most: float) -> None:
    free = an.anonymize(people(), settings({"model": "k-anonymity", "k": 1})).report.to_dict()
    assert free["recoding"]["levels"] == {"age": 0, "zip": 0}
    own = settings({**constraint, "max": most}, attackers="every-step")
    found = an.anonymize(people(), own).report.to_dict()
    losses = {
        tuple(each["candidate"].values()): (each["objective"], counted(each["candidate"]))
        for each in found["steps"]
        if each["attackers"]
    }
    assert len(losses) > 5
    for each in found["steps"]:
        for attacker in each["attackers"]:
            assert attacker["measured"] == pytest.approx(float(counted(each["candidate"])))
    best = min(loss for loss, share in losses.values() if share <= most)
    assert found["search"]["objective"] == best
    assert found["search"]["optimal"]
    assert found["constraints"][0]["measured"] == pytest.approx(float(counted(found["recoding"]["levels"])))


@pytest.mark.parametrize("algorithm", ["local", "mondrian"])
def test_other_searches_satisfy_both(algorithm: str) -> None:
    own = settings(UNIQUE, {**INTERVAL, "max": 0.3}, algorithm={"name": algorithm}, budget={"steps": 60})
    result = an.anonymize(people(), own)
    rows = Counter(zip(result.data["age"], result.data["zip"], strict=True))
    alone = sum(size == 1 for size in rows.values())
    unique, interval = result.report.to_dict()["constraints"]
    assert unique["measured"] == pytest.approx(alone / len(result.data))
    assert alone <= 0.02 * len(result.data)
    assert interval["measured"] <= 0.3


def test_uniqueness_by_known_columns_and_by_all_sets() -> None:
    own = settings(
        {**UNIQUE, "max": 1, "knowledge": ["age"]}, {**UNIQUE, "max": 1, "subsets": "all", "size": 1}
    )
    found = an.anonymize(people(), own).report.to_dict()["constraints"]
    by_one = [share_unique({"age": 0, "zip": 0}, (place,)) for place in (0, 1)]
    assert [each["measured"] for each in found] == pytest.approx([float(by_one[0]), float(max(by_one))])


def written(tmp_path: Path, *constraints: dict[str, Any], **changed: Any) -> Path:
    people().to_csv(tmp_path / "people.csv", index=False)
    config = {"input": {"path": "people.csv"}, **settings(*constraints, **changed)}
    (tmp_path / "job.yaml").write_text(yaml.safe_dump(config))
    return tmp_path / "job.yaml"


def test_a_file_tells_its_uniqueness_and_not_its_interval_risk(tmp_path: Path) -> None:
    job = written(tmp_path, UNIQUE, {**INTERVAL, "max": 0.5})
    checked = call("check", tmp_path / "people.csv", "-c", job, "--json")
    assert checked.code == 1
    unique, interval = checked.json["constraints"]
    assert (unique["measured"], unique["satisfied"]) == (
        pytest.approx(float(share_unique({"age": 0, "zip": 0}))),
        False,
    )
    assert (interval["measured"], interval["satisfied"]) == (None, None)
    done = call("run", job, "-o", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert [each["verifiable_from_release"] for each in done.json["constraints"]] == [True, False]
    audited = call("audit", tmp_path / "out" / "share" / "release.csv", "--json")
    assert audited.code == 0, audited.err
    assert audited.json["constraints"][0]["measured"] == done.json["constraints"][0]["measured"]
    assert [each for each in audited.json["findings"] if "uniqueness" in each] == []


def test_an_audit_counts_unique_records_itself(tmp_path: Path) -> None:
    done = call("run", written(tmp_path, {**UNIQUE, "max": 1}), "-o", tmp_path / "out")
    assert done.code == 0, done.err
    report = tmp_path / "out" / "report.json"
    text = report.read_text()
    report.write_text(text.replace('"max": 1.0', '"max": 0.01').replace('"max": 1\n', '"max": 0.01\n'))
    audited = call("audit", tmp_path / "out" / "share" / "release.csv", "--report", report)
    assert audited.code == 1
    assert "uniqueness is violated" in audited.out


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, "measures numbers and dates; no quasi-identifier has any (age and zip)"),
        ({"attributes": ["zip"]}, "measures numbers and dates; no quasi-identifier has any"),
    ],
)
def test_a_table_without_numbers_is_refused(changed: dict[str, Any], words: str) -> None:
    texts = people().assign(age=lambda own: "a" + own["age"].astype(str))
    own = settings({**INTERVAL, **changed})
    own["attributes"]["age"] = {"role": "quasi-identifier"}
    with pytest.raises(InputError) as refused:
        an.anonymize(texts, own)
    assert "constraints[0]: interval-risk: " in str(refused.value)
    assert words in str(refused.value)


def test_attributes_that_are_text_are_refused_by_command(tmp_path: Path) -> None:
    done = call("run", written(tmp_path, {**INTERVAL, "attributes": ["zip"]}), "-o", tmp_path / "out")
    assert done.code == 2
    assert "'zip' is not a quasi-identifier with numbers or dates; accepted: age" in done.err


def test_known_columns_are_quasi_identifiers(tmp_path: Path) -> None:
    done = call("run", written(tmp_path, {**UNIQUE, "knowledge": ["illness"]}), "-o", tmp_path / "out")
    assert done.code == 2
    assert "constraints[0].knowledge: 'illness' is not a quasi-identifier" in done.err


@pytest.mark.parametrize(("most", "warned"), [(0.3, True), (1, False)])
def test_a_run_says_that_a_guess_exceeds_the_limit(most: float, warned: bool) -> None:
    """Nine of ten gains are 0: a guess is right more often than the limit says, whatever is published."""
    frame = people().assign(gain=[0] * 108 + [5000 + 700 * each for each in range(12)])
    gain = {"role": "quasi-identifier", "hierarchy": {"intervals": {"width": [20000], "origin": 0}}}
    own = settings({**INTERVAL, "max": most, "attributes": ["gain"]})
    own["attributes"]["gain"] = gain
    report = an.anonymize(frame, own).report.to_dict()
    said = [each for each in report["warnings"] if "a guess without the release succeeds for 100 %" in each]
    assert bool(said) == warned
    assert all("more often than interval-risk allows (30 %)" in each for each in said)
