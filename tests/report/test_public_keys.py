"""Keys of persons, households and wards change nothing of what is shared while the release is equal."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given as drawn

from tests.helpers.examples import quickly
from tests.run.commands import call, csv_bytes, snapshot
from tests.strategies import randoms

COLUMNS = ("person", "family", "ward", "age", "zip", "illness")

ATTACKS = ("vulnerability", "uniqueness", "homogeneity", "background", "skewness", "linkage")

MODELS: tuple[dict[str, Any], ...] = (
    {"model": "l-diversity", "l": 2},
    {"model": "t-closeness", "t": 0.6},
    {"model": "vulnerability", "max": 0.6},
    {"model": "prosecutor-risk", "max": 0.5},
    {"model": "linkage-risk", "max": 0.9},
)


def config_of(random: Random) -> dict[str, Any]:
    """Draw a config whose constraints and attacks count records, persons, households or wards."""
    units = ["record", "person", "household", "ward"]
    constraints = [{"model": "k-anonymity", "k": 2, "unit": random.choice(units)}]
    constraints += random.sample(MODELS, random.randint(0, 1))
    attacks = [{"attack": name} for name in random.sample(ATTACKS, 2)]
    attacks.append({"attack": random.choice(ATTACKS[:3]), "unit": random.choice(units)})
    return {
        "input": {
            "path": "data.csv",
            "person": "person",
            "household": "family",
            "units": {"ward": "ward"},
        },
        "attributes": {
            **{name: {"role": "identifier"} for name in COLUMNS[:3]},
            "age": {"role": "quasi-identifier"},
            "zip": {"role": "quasi-identifier"},
            "illness": {"role": "sensitive"},
        },
        "constraints": constraints,
        "suppression": {"limit": random.choice([0, 0.3]), "method": random.choice(["classes", "records"])},
        "algorithm": {"name": random.choice(["lattice", "mondrian", "local"])},
        "attacks": attacks,
    }


def shared(config: dict[str, Any], rows: list[tuple[str, ...]]) -> dict[str, bytes] | None:
    """Return the files of share/; None without a release."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data.csv").write_bytes(csv_bytes(rows, COLUMNS))
        (folder / "job.json").write_text(json.dumps(config), encoding="utf-8")
        done = call("run", folder / "job.json", "-o", folder / "out", "-q")
        return snapshot(folder / "out" / "share") if done.code == 0 else None


def with_keys(values: list[tuple[str, ...]], persons: list[int]) -> list[tuple[str, ...]]:
    """Return records of persons; a family has two persons, and a ward three."""
    keys = [(f"p{each}", f"f{each // 2}", f"w{each // 3}") for each in persons]
    return [(*own, *row) for own, row in zip(keys, values, strict=True)]


def assert_nothing_tells(config: dict[str, Any], before: list[Any], after: list[Any]) -> None:
    one, other = shared(config, before), shared(config, after)
    if one is not None and other is not None and one["release.csv"] == other["release.csv"]:
        assert one == other


@pytest.mark.quick(6)
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("unit", ["person", "household", "ward"])
def test_the_number_of_units_is_not_told(attack: str, unit: str) -> None:
    """The same table, of five persons and of six."""
    values = [("1", "x", "a"), ("1", "x", "b")] * 3
    config = config_of(Random(1)) | {"constraints": [{"model": "k-anonymity", "k": 2}], "suppression": {}}
    units = {} if attack == "linkage" else {"unit": unit}
    config["attacks"] = [{"attack": attack, **units}]
    config["algorithm"] = {"name": "lattice"}
    one, other = (
        shared(config, with_keys(values, persons))
        for persons in ([1, 1, 4, 7, 10, 13], [1, 4, 7, 10, 13, 16])
    )
    assert one is not None
    assert one == other


@quickly(30, 10)
@drawn(randoms())
def test_keys_change_nothing_that_is_shared(random: Random) -> None:
    records = random.randint(4, 9)
    values = [(random.choice("12"), random.choice("xy"), random.choice("ab")) for _ in range(records)]
    persons = [random.randrange(records) for _ in range(records)]
    others = list(persons)
    others[random.randrange(records)] = random.choice([*persons, records])
    assert_nothing_tells(config_of(random), with_keys(values, persons), with_keys(values, others))
