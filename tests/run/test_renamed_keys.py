"""The keys of persons and households decide nothing: renamed one to one, they give the same release."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from anonymizer.model.units import numbered_by_content
from tests.helpers.examples import quickly
from tests.run.commands import Job, csv_bytes
from tests.strategies import randoms

COLUMNS = ("person", "home", "age", "sex", "illness", "note")
QI = {"role": "quasi-identifier"}

VARIANTS: dict[str, dict[str, Any]] = {
    **{
        f"relaxed mondrian, {labels}": {
            "algorithm": {"name": "mondrian", "mode": "relaxed", "labels": labels}
        }
        for labels in ("hierarchy", "interval", "set")
    },
    "mondrian": {"algorithm": {"name": "mondrian"}, "suppression": {"limit": 0.3, "method": "records"}},
    "local": {"algorithm": {"name": "local"}, "budget": {"steps": 6}},
    "records": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.3, "method": "records"}},
    "cells": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.3, "method": "cells"}},
    "microaggregation": {"algorithm": {"name": "microaggregation"}},
    "whole persons": {"algorithm": {"name": "lattice"}, "suppression": {"limit": 0.4, "whole": "person"}},
}


def rows_of(random: Random, *, numeric: bool) -> list[tuple[str, ...]]:
    """Return records of persons in households, many of them alike."""
    persons = random.randint(6, 14)
    home = [random.randrange(max(persons // 2, 1)) for _ in range(persons)]
    rows = []
    for _ in range(random.randint(16, 40)):
        person = random.randrange(persons)
        sex = str(random.randint(0, 1)) if numeric else random.choice("FM")
        values = (str(random.randint(30, 33)), sex, random.choice("abc"), random.choice("xyz"))
        rows.append((f"{person}", f"{home[person]}", *values))
    return rows


def renamed(random: Random, rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return the records with other keys of persons and of households."""
    names = [random.sample(range(100, 1000), 50) for _ in range(2)]
    return [(f"p{names[0][int(row[0])]}", f"h{names[1][int(row[1])]}", *row[2:]) for row in rows]


def released(folder: Path, variant: dict[str, Any], rows: list[tuple[str, ...]]) -> bytes | str:
    folder.mkdir()
    job = Job(folder, data=csv_bytes(rows, COLUMNS))
    numbers = variant["algorithm"]["name"] == "microaggregation"
    age = {**QI, "type": "integer", "hierarchy": {"intervals": {"width": [2]}}}
    job.config = {
        "input": {"path": "people.csv", "person": "person", "household": "home"},
        "attributes": {
            "person": {"role": "identifier"},
            "home": {"role": "identifier"},
            "age": age,
            "sex": {**QI, "type": "integer"} if numbers else QI,
            "illness": {"role": "sensitive"},
            "note": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}],
        "bound": "none",
        **variant,
    }
    if "suppression" not in variant:
        job.config["constraints"].append({"model": "l-diversity", "l": 2, "unit": "household"})
    done = job.write().run()
    assert done.code in (0, 3), done.err
    return job.release.read_bytes() if done.code == 0 else done.err


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@quickly(12, 3)
@given(random=randoms())
def test_renamed_keys_give_the_same_release(
    variant: dict[str, Any], random: Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rows = rows_of(random, numeric=variant["algorithm"]["name"] == "microaggregation")
    folder = tmp_path_factory.mktemp("renamed")
    first = released(folder / "first", variant, rows)
    assert released(folder / "second", variant, renamed(random, rows)) == first


@given(random=randoms())
def test_numbers_of_units_do_not_depend_on_keys(random: Random) -> None:
    records, persons = random.randint(1, 30), random.randint(1, 10)
    home = [random.randrange(persons) for _ in range(persons)]
    person_of = np.array([random.randrange(-1, persons) for _ in range(records)])
    home_of = np.array([-1 if own < 0 else home[own] for own in person_of.tolist()])
    content = np.array([random.randrange(3) for _ in range(records)])

    def contents(numbers: dict[str, np.ndarray]) -> list[tuple[int, ...]]:
        return sorted(zip(content.tolist(), *(own.tolist() for own in numbers.values()), strict=True))

    def other(unit_of: np.ndarray) -> np.ndarray:
        names = np.array([*random.sample(range(40), persons), -1])
        return names[unit_of]

    found = numbered_by_content(content, {"person": person_of, "household": home_of})
    for own, given_keys in (("person", person_of), ("household", home_of)):
        assert len({*zip(found[own].tolist(), given_keys.tolist(), strict=True)}) == len(
            {*found[own].tolist()}
        )
        assert ((found[own] < 0) == (given_keys < 0)).all()
    again = numbered_by_content(content, {"person": other(person_of), "household": other(home_of)})
    assert contents(again) == contents(found)
