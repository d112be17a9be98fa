"""Files whose columns have other names, and links by a key, in attacks on files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymizer as an
from anonymizer.masking import AdditiveNoise
from tests.run.commands import call

NAMES = ["age", "income", "height"]


def original(records: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(11)
    frame = pd.DataFrame({name: random.normal(50, 12, records).round(1) for name in NAMES})
    return frame.assign(id=[f"p{number}" for number in range(records)])


def masked(records: pd.DataFrame) -> pd.DataFrame:
    noisy = AdditiveNoise(0.3).mask(records[NAMES], seed=2).round(4)
    return noisy.assign(id=records["id"])


def config(**options: Any) -> dict[str, Any]:
    return {
        "attributes": {name: {"role": "quasi-identifier", "type": "number"} for name in NAMES},
        "constraints": [{"model": "k-anonymity", "k": 1}],
        "attacks": [{"attack": "linkage", **options}],
    }


def success(release: pd.DataFrame, **options: Any) -> float:
    found = an.attack(release, original(), config(**options), force=True)
    return float(found["success"][0])


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"distance": "mahalanobis"},
        {"distance": "rank"},
        {"linkage": "assignment", "distance": "rank"},
        {"linkage": "learned", "distance": "weighted-mean"},
    ],
    ids=str,
)
def test_a_release_in_thousands_shifted_reversed_and_renamed_is_linked_as_before(
    options: dict[str, Any],
) -> None:
    release = masked(original())
    other = (release[NAMES] / 1000 + 7).assign(id=release["id"])
    other = other.iloc[::-1, ::-1].rename(columns=str.upper).reset_index(drop=True)
    before = success(release, aligned=True, **options)
    assert before > 0.3
    columns = {name: name.upper() for name in [*NAMES, "id"]}
    known = {name: foreign for name, foreign in columns.items() if name != "id"}
    renamed_key = other.rename(columns={"ID": "id"})
    assert success(renamed_key, key="id", columns=known, **options) == pytest.approx(before)


def test_keys_tell_the_true_links_in_any_order() -> None:
    release = masked(original()).sample(frac=0.5, random_state=1).reset_index(drop=True)
    found = an.attack(release, original(), config(key="id"), force=True)
    assert found.attrs["warnings"] == [
        "30 of 30 records of the DataFrame have the key of a record of the DataFrame",
    ]
    assert found["details"][0]["truth"] == "by key"
    assert found["records"][0] == 30


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"key": "name"}, "no column 'name'"),
        ({"key": "group"}, "column 'group' has 2 values in several records; accepted as key"),
        ({"key": "id", "aligned": True}, "aligned and key exclude each other; remove one"),
        ({"columns": {"agee": "AGE"}}, "'agee' is not a column of attributes; did you mean 'age'?"),
        ({"columns": {"age": "years"}}, "columns: 'years' is not a column of"),
        ({"columns": {"age": "X", "income": "X"}}, "'X' is the name of 'age' and 'income'"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], what: str) -> None:
    own = original().assign(group=["a", "b"] * 30)
    with pytest.raises(an.InputError, match=what):
        an.attack(own, own, config(**options), force=True)


def test_without_the_key_in_a_run_it_says_so() -> None:
    with pytest.raises(an.InputError, match="two files with the column 'id', because of key"):
        an.anonymize(original()[NAMES], config(key="id"))


def test_the_command_reads_other_names(tmp_path: Path) -> None:
    people = pd.DataFrame({"age": [20, 21, 30, 31], "illness": list("abcd")})
    people.to_csv(tmp_path / "people.csv", index=False)
    people.rename(columns={"age": "AGE"}).to_csv(tmp_path / "release.csv", index=False)
    (tmp_path / "job.yaml").write_text(
        "attributes: {age: {role: quasi-identifier}, illness: {role: sensitive}}\n"
        "constraints: [{model: k-anonymity, k: 1}]\n"
        "attacks: [{attack: linkage, columns: {age: AGE}}, uniqueness]\n",
        encoding="utf-8",
    )
    done = call(
        "attack",
        tmp_path / "release.csv",
        "-c",
        tmp_path / "job.yaml",
        "--original",
        tmp_path / "people.csv",
        "--json",
    )
    assert done.code == 0, done.err
    assert [each["success"] for each in done.json["attacks"]] == [1, 1]
    aimed = call("attack", tmp_path / "release.csv", "-c", tmp_path / "job.yaml", "--target", "2", "--json")
    assert aimed.code == 0, aimed.err
    assert aimed.json["beliefs"][0]["random_worlds"] == 1
