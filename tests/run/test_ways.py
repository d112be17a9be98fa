"""A draft that would lose more than half: three ways are tried, and what is printed is what a run shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
import yaml

import anonymizer as an
from tests.run.commands import call

NAMES = ("age", "sex", "zip", "occupation", "education", "marital_status", "nationality", "religion")
FURTHER = ("region", "birth_place", "language", "housing")


def people(*names: str, records: int = 300, values: int = 12) -> pd.DataFrame:
    """Return columns that say nothing about each other."""
    random = Random(4)
    drawn = {name: [f"{name} {random.randrange(values)}" for _ in range(records)] for name in names}
    return pd.DataFrame(drawn | {"age": [random.randint(18, 90) for _ in range(records)]})


def drafted(folder: Path, frame: pd.DataFrame, *options: str) -> tuple[str, Path]:
    frame.to_csv(folder / "people.csv", index=False)
    done = call("init", folder / "people.csv", *options)
    assert done.code == 0, done.err
    return done.out, folder / "people.yaml"


def loss_of(config: Path, *options: str) -> float:
    done = call("run", config, "-o", config.with_suffix(""), "--overwrite", "--json", *options)
    assert done.code == 0, done.err
    loss: float = done.json["loss"]["loss"]
    return loss


def ways(config: Path) -> Iterator[tuple[float, Mapping[str, Any]]]:
    """Yield the loss and the lines of each way at the end of a config."""
    _, _, end = config.read_text(encoding="utf-8").partition("# Other ways")
    for each in re.split(r"^# \d\. ", end, flags=re.MULTILINE)[1:]:
        lines = [line[2:] for line in each.splitlines() if line.startswith("#   ")]
        words = " ".join(line.removeprefix("# ") for line in each.splitlines() if not line.startswith("#   "))
        yield float(re.search(r"loss (0\.\d+)", words)[1]), yaml.safe_load("\n".join(lines)) or {}  # type: ignore[index]


def with_lines(config: Path, sections: Mapping[str, Any]) -> Path:
    """Return a config in which the lines of a way stand in place of those with the same keys."""
    content = yaml.safe_load(config.read_text(encoding="utf-8"))
    attributes = {**content["attributes"], **sections.get("attributes", {})}
    other = config.with_name("other.yaml")
    text = yaml.safe_dump({**content, **sections, "attributes": attributes}, sort_keys=False)
    other.write_text(text, encoding="utf-8")
    return other


@pytest.mark.slow
def test_the_draft_loses_at_most_half_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    out, config = drafted(tmp_path, people(*NAMES, *FURTHER))
    (first,) = [line for line in out.splitlines() if "would lose" in line and "more than half" in line]
    assert out.splitlines()[0] == first
    found = re.search(r"This draft leaves out (.*): loss (0\.\d+)", first)
    assert found is not None
    loss = loss_of(config)
    assert loss <= 0.5
    assert loss == pytest.approx(float(found[2]), abs=0.0006)
    left_out = [
        name
        for name, own in yaml.safe_load(config.read_text())["attributes"].items()
        if own["role"] == "drop"
    ]
    assert left_out
    assert out.splitlines()[-1].endswith(f"Next: anonymizer run {config}")


@pytest.mark.slow
def test_the_lines_of_each_other_way_lose_what_it_says(tmp_path: Path) -> None:
    _, config = drafted(tmp_path, people(*NAMES))
    found = list(ways(config))
    assert len(found) == 3
    for said, sections in found:
        assert loss_of(with_lines(config, sections)) == pytest.approx(said, abs=0.0006), sections
    assert any("scenarios" in sections for _, sections in found)


@pytest.mark.slow
def test_what_the_user_names_is_not_left_out(tmp_path: Path) -> None:
    out, config = drafted(tmp_path, people(*NAMES, *FURTHER), "--qi", ",".join((*NAMES, *FURTHER)))
    attributes = yaml.safe_load(config.read_text(encoding="utf-8"))["attributes"]
    assert {own["role"] for own in attributes.values()} == {"quasi-identifier"}
    assert "No way that loses less than half was found" in out.splitlines()[0]
    assert "Decide what to leave out or to coarsen before you run it: anonymizer run" in out.splitlines()[-1]
    assert loss_of(config) > 0.5


def test_a_column_that_is_a_star_for_nearly_all_is_left_out(tmp_path: Path) -> None:
    random = Random(3)
    frame = people("sex", "region", records=400, values=2).assign(
        street=[f"street {random.randrange(10**6)}" for _ in range(400)],
        code=[f"{random.randrange(10**4)}-{number}" for number in range(400)],
    )
    _, config = drafted(tmp_path, frame)
    attributes = yaml.safe_load(config.read_text(encoding="utf-8"))["attributes"]
    known = [name for name, own in attributes.items() if own["role"] == "quasi-identifier"]
    assert {"age", "sex", "region"} <= set(known)
    done = call("run", config, "-o", tmp_path / "out", "-q")
    assert done.code == 0, done.err
    release = pd.read_csv(tmp_path / "out" / "share" / "release.csv", dtype=str)
    assert all((release[name] == "*").mean() < 0.9 for name in known)


@pytest.mark.parametrize("records", [1, 6])
def test_a_file_of_few_records_has_a_draft(tmp_path: Path, records: int) -> None:
    _, config = drafted(tmp_path, people(*NAMES, records=records))
    assert config.is_file()


@pytest.mark.slow
def test_a_frame_is_drafted_alike() -> None:
    draft = an.init(people(*NAMES, *FURTHER))
    assert "drop" in {own["role"] for own in draft["attributes"].values()}
    assert any("more than half" in each for each in draft.warnings)
