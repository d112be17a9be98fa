"""Anatomy under attackers: groups grow until the deFinetti attack does not break them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.run.commands import DIAGNOSES, call
from tests.run.grouped import anatomy_job


def telling(records: int = 300) -> list[tuple[str, ...]]:
    """Return people whose sex and zip say much of their diagnosis."""
    random = Random(3)
    rows = []
    for number in range(records):
        place = random.randrange(4)
        diagnosis = DIAGNOSES[place] if random.random() < 0.8 else random.choice(DIAGNOSES)
        rows.append((f"person {number}", "30", f"0{place}17", random.choice("FM"), diagnosis, "none"))
    return rows


@pytest.mark.slow
def test_groups_grow_until_the_attack_does_not_break_them(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path, attacks=[{"attack": "definetti", "sweeps": 200}]).rows(telling())
    job.constraints({"model": "l-diversity", "l": 2})
    assert job.run().code == 0
    free = job.report()
    reached, baseline = free["attacks"][0]["success"], free["attacks"][0]["baseline"]
    assert reached > baseline + 0.1
    job.constraints({"model": "l-diversity", "l": 2}, {"model": "inference-risk", "max": 0.7, "sweeps": 128})
    assert baseline < 0.7 < reached
    done = job.run("--overwrite")
    assert done.code == 0, done.err
    report = job.report()
    assert report["constraints"][1]["measured"] <= 0.7
    assert report["recoding"]["groups"] < free["recoding"]["groups"]
    refused = [step for step in report["steps"] if not step["accepted"]]
    assert refused[0]["candidate"] == {"groups": 150}
    assert "inference-risk" in refused[0]["failed"][0]
    audited = call("audit", job.release)
    assert audited.code == 0
    assert "not verifiable from the release alone" in audited.out
    checked = call("check", job.release, "-c", job.file, "--json").json
    assert [each["satisfied"] for each in checked["constraints"]] == [True, None]


@pytest.mark.slow
def test_what_no_grouping_keeps_is_not_released(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path).rows(telling(16))
    job.constraints(
        {"model": "l-diversity", "l": 2}, {"model": "inference-risk", "max": 0.05, "chains": 2, "sweeps": 64}
    )
    done = job.run()
    assert done.code == 1
    assert "UNDECIDED" in done.err
    assert not job.output.exists()


def test_linkage_risk_sees_the_exact_values(tmp_path: Path) -> None:
    job = anatomy_job(tmp_path)
    job.constraints({"model": "l-diversity", "l": 3}, {"model": "linkage-risk", "max": 0.2})
    done = job.run()
    assert done.code == 1
    assert "UNDECIDED: none of" in done.err
    assert job.run("--set", "constraints.1.max=1").code == 0
    assert job.report()["constraints"][1]["measured"] > 0.5
