"""Special uniques against brute force over all sets of values of each record."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from fractions import Fraction
from io import StringIO
from itertools import combinations
from math import prod
from pathlib import Path
from random import Random

import numpy as np
import pytest

from anonymizer.attacks.special_uniques import LEAST, file_risk, record_risks, special_uniques
from anonymizer.model.adversary import PublishedTable
from tests.attacks.published import one, release
from tests.run.commands import call
from tests.shared import shared

Rows = list[tuple[str, ...]]


def minimal(rows: Rows, most: int) -> list[list[tuple[int, ...]]]:
    """Return for each record the sets of columns whose values it alone has, and no part of which it does."""
    width = len(rows[0])
    most = min(most, max(width - 1, 1))
    sets = [own for size in range(1, most + 1) for own in combinations(range(width), size)]
    seen = {own: Counter(tuple(row[place] for place in own) for row in rows) for own in sets}
    found = []
    for row in rows:
        alone = [own for own in sets if seen[own][tuple(row[place] for place in own)] == 1]
        found.append([own for own in alone if not any(set(other) < set(own) for other in alone)])
    return found


def score(own: tuple[int, ...], width: int, most: int) -> int:
    return max(prod(width - size for size in range(len(own), min(most, max(width - 1, 1)) + 1)), 1)


def drawn(seed: int) -> tuple[tuple[str, ...], Rows]:
    random = Random(seed)
    width = random.randint(1, 6)
    values = [random.randint(2, 7) for _ in range(width)]
    rows = [tuple(str(random.randrange(each)) for each in values) for _ in range(random.randint(2, 60))]
    return tuple(f"q{place}" for place in range(width)), rows


@pytest.mark.parametrize("seed", range(50))
def test_scores_are_those_of_brute_force(seed: int) -> None:
    names, rows = drawn(seed)
    most = Random(seed).randint(1, 6)
    table = release(names, rows)
    found = special_uniques(table, names, most)
    expected = minimal(rows, most)
    texts = [
        tuple(labels[code] for labels, code in zip(table.labels, codes, strict=True)) for codes in table.codes
    ]
    place = {row: position for position, row in enumerate(texts)}
    for row, sets in zip(rows, expected, strict=True):
        own = place[row]
        assert found.scores[own] == sum(score(each, len(names), most) for each in sets)
        for attribute in range(len(names)):
            of = sum(score(each, len(names), most) for each in sets if attribute in each)
            assert found.of_attributes[attribute, own] == of
    sizes = Counter(len(each) for sets in expected for each in sets)
    assert {size: number for size, number in enumerate(found.by_size, 1) if number} == sizes
    result = one("special-uniques", table, size=most)
    assert result.success == Fraction(sum(map(bool, expected)), len(rows))


def test_the_risk_of_a_file() -> None:
    """Three uniques and two pairs, one in ten sampled: 0.3 / (0.3 + 3.6)."""
    assert file_risk(np.array([1, 1, 1, 2, 2, 5]), 0.1) == pytest.approx(0.3 / 3.9)
    assert file_risk(np.array([1, 1]), 0.1) == 1
    assert file_risk(np.array([2, 3]), 0.1) == 0


def test_risks_of_records_have_the_mean_of_the_file_and_odds_by_score() -> None:
    scores = np.array([1.0, 2.0, 6.0, 24.0])
    risks = record_risks(scores, 0.2)
    assert risks.mean() == pytest.approx(0.2)
    odds = risks / (1 - risks)
    assert odds / odds[0] == pytest.approx(scores)


def test_only_levels_of_many_are_named() -> None:
    """Nine are too few, ten are not."""
    rows = [("a", str(number)) for number in range(LEAST)]
    rows += [("b", str(100 + number)) for number in range(LEAST - 1)] + [("c", "same"), ("c", "same")]
    details = one("special-uniques", release(("q", "r"), rows), size=2).details
    of_r = details["by_attribute"]["r"]
    assert of_r["contribution"] == 1
    assert (of_r["by_level"], of_r["other_levels"]) == ({}, 2 * LEAST - 1)
    assert details["by_attribute"]["q"]["records"] == 0


KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")


def households() -> Rows:
    text = gzip.decompress(shared("data", "sdc_testdata", "data.csv.gz").read_bytes()).decode()
    return [tuple(line[key] for key in KEYS) for line in csv.DictReader(StringIO(text))]


@pytest.mark.slow
def test_a_survey_of_4580_persons() -> None:
    rows = households()
    table: PublishedTable = release(KEYS, rows)
    details = one("special-uniques", table).details
    expected = minimal(rows, 3)
    assert details["special_uniques"] == sum(map(bool, expected))
    sizes = Counter(len(each) for sets in expected for each in sets)
    assert details["minimal_sample_uniques"] == dict(sorted(sizes.items()))
    total = sum(score(each, 7, 3) for sets in expected for each in sets)
    for place, name in enumerate(KEYS):
        of = sum(score(each, 7, 3) for sets in expected for each in sets if place in each)
        assert details["by_attribute"][name]["contribution"] == pytest.approx(of / total)


def test_it_runs_only_when_named(tmp_path: Path) -> None:
    lines = ["a,b,s", *(f"{number % 7},{number % 5},{number % 3}" for number in range(60)), "9,9,1"]
    (tmp_path / "data.csv").write_text("\n".join(lines), encoding="utf-8")
    attributes = {"a": {"role": "quasi-identifier"}, "b": {"role": "quasi-identifier"}, "s": "sensitive"}
    config = {
        "input": {"path": "data.csv"},
        "attributes": attributes,
        "constraints": [{"model": "k-anonymity", "k": 1}],
    }
    (tmp_path / "job.json").write_text(json.dumps(config), encoding="utf-8")
    found = call("attack", tmp_path / "data.csv", "-c", tmp_path / "job.json", "--json").json
    assert "special-uniques" not in {each["attack"] for each in found["attacks"]}
    (tmp_path / "job.json").write_text(
        json.dumps({**config, "attacks": ["special-uniques"]}), encoding="utf-8"
    )
    found = call("attack", tmp_path / "data.csv", "-c", tmp_path / "job.json", "--json").json
    (entry,) = found["attacks"]
    assert entry["success"] == pytest.approx(1 / 61)
    assert entry["details"]["highest_dis"] is None


def test_check_counts_them_when_asked(tmp_path: Path) -> None:
    (tmp_path / "survey.csv").write_text(
        "\n".join([",".join(KEYS), *(",".join(row) for row in households())]), encoding="utf-8"
    )
    asked = "check", tmp_path / "survey.csv", "--qi", ",".join(KEYS)
    plain = call(*asked, "--json").json
    found = call(*asked, "--special-uniques", "2", "--json").json
    expected = minimal(households(), 2)
    assert found.pop("special_uniques")["special_uniques"] == sum(map(bool, expected))
    assert found == plain
    lines = call(*asked, "--special-uniques", "2").out.splitlines()
    assert f"{sum(map(bool, expected))} records singled out by few values" in lines
