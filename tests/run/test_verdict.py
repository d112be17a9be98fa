"""What a run says of its own release: keys that repeat, contradicted claims, columns that say nothing."""

from __future__ import annotations

import csv
import json
import shlex
from collections.abc import Callable
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import anonymizer as an
from anonymizer.job import advice, job
from anonymizer.model.arrays import distinct_in_groups
from anonymizer.model.table import Role, ValueType
from anonymizer.people.keys import keys_of, repeats
from anonymizer.plan.goal import bind
from anonymizer.profile.column_statistics import ColumnFacts
from anonymizer.report.build import attack_matrix
from anonymizer.report.facts import UselessColumns
from anonymizer.report.public import RECORDS
from anonymizer.report.wording import useless_warnings
from tests.helpers import build
from tests.helpers.messages import exchange
from tests.run.commands import Done, call, read_rows

QI = {"role": "quasi-identifier"}


class Case:
    """A file and a config in a folder.

    Parameters
    ----------
    columns: values of each column.
    """

    def __init__(self, folder: Path, columns: dict[str, list[str]], config: dict[str, Any]) -> None:
        self.folder = folder
        with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
        self.config = folder / "job.json"
        self.config.write_text(json.dumps({"input": {"path": "data.csv"}, **config}), encoding="utf-8")

    def run(self, *options: str) -> Done:
        """Run the job and return what it printed, without paths."""
        done = call("run", self.config, "-o", self.folder / "out", "--overwrite", "-q", *options)
        return Done(done.code, done.out.replace(str(self.folder), "."), done.err)

    def warnings(self, name: str = "report.json") -> list[str]:
        """Return the warnings of a report."""
        content = json.loads((self.folder / "out" / name).read_text(encoding="utf-8"))
        found: list[str] = content["warnings"]
        return found

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The findings about the release."""
        content = json.loads((self.folder / "out" / "report.json").read_text(encoding="utf-8"))
        found: list[dict[str, Any]] = content["exposure"]["findings"]
        return found

    @property
    def public_warnings(self) -> list[str]:
        """The warnings of the public report."""
        return self.warnings("share/report.public.json")


def panel(folder: Path, role: str = "identifier", **config: Any) -> Case:
    """Return 40 persons with one to six records each."""
    random = Random(5)
    records = [(f"{100 + person}", person) for person in range(40) for _ in range(random.randint(1, 9))]
    columns = {
        "id": [text for text, _ in records],
        "age": [str(20 + person) for _, person in records],
        "sex": ["fm"[person % 2] for _, person in records],
    }
    attributes = {
        "id": {"role": role},
        "age": {**QI, "hierarchy": {"intervals": {"width": [2, 4, 20]}}},
        "sex": QI,
    }
    constraints = [{"model": "k-anonymity", "k": 3}]
    return Case(folder, columns, {"attributes": attributes, "constraints": constraints, **config})


@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", ["lattice", "local", "mondrian"])
def test_a_key_that_repeats_is_a_warning_with_its_classes(tmp_path: Path, algorithm: str) -> None:
    case = panel(tmp_path, "insensitive", algorithm={"name": algorithm})
    done = case.run()
    assert done.code == 0, done.err
    released = pd.DataFrame(
        read_rows(tmp_path / "out" / "share" / "release.csv"), columns=["id", "age", "sex"]
    )
    persons = released.groupby(["age", "sex"])["id"].nunique()
    (warning,) = case.warnings()
    assert f"'id' repeats: 40 values in {len(released)} records. k counts records, not people: " in warning
    below = int((persons < 3).sum())
    shown = "a few" if below in (1, 2) else f"{below:,}"
    found = f"{shown} of {len(persons):,} classes contain fewer than 3 of these values"
    if not below:
        found = f"each of {len(persons):,} classes contains at least 3 of these values, but no constraint"
    assert found in warning
    assert f"Warning: {warning}" in done.out
    assert case.public_warnings == []  # nothing was left out


def test_the_public_report_says_that_records_are_counted_without_counts(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    case = panel(tmp_path)
    assert exchange("a panel of 40 persons", case.run().out) == message
    assert case.public_warnings == [RECORDS]


def test_an_acknowledged_warning_is_silent_and_reported(tmp_path: Path) -> None:
    case = panel(tmp_path, acknowledge=["rows-are-persons"])
    assert "repeats" not in case.run().out
    assert case.warnings() == case.public_warnings == []
    for name in ("report.json", "share/report.public.json"):
        content = json.loads((tmp_path / "out" / name).read_text(encoding="utf-8"))
        assert content["config"]["acknowledge"] == ["rows-are-persons"]
    assert call("audit", tmp_path / "out" / "share" / "release.csv").code == 0


def test_a_wrong_acknowledgement_names_the_right_one(tmp_path: Path) -> None:
    done = panel(tmp_path, acknowledge=["rows-are-person"]).run()
    assert done.code == 2
    assert "acknowledge[0].finding: 'rows-are-person'; did you mean 'rows-are-persons'?" in done.err


def test_init_check_and_python_warn_too(tmp_path: Path) -> None:
    case = panel(tmp_path)
    drafted = call("init", tmp_path / "data.csv")
    assert "Warning: column 'id' repeats: 40 values in " in drafted.out
    checked = call("check", tmp_path / "data.csv", "-c", case.config)
    frame = pd.read_csv(tmp_path / "data.csv", dtype=str)
    persons = frame.groupby(["age", "sex"])["id"].nunique()
    counted = f"{(persons < 3).sum()} of {len(persons)} classes contain fewer than 3 of these values"
    assert counted in checked.out
    found = an.check(frame, quasi_identifiers=["age", "sex"])
    alone = f"{(persons < 2).sum()} of {len(persons)} classes contain fewer than 2 of these values"
    assert [alone in each for each in found.attrs["warnings"]] == [True]
    config = json.loads(case.config.read_text(encoding="utf-8"))
    assert any("'id' repeats" in each for each in an.anonymize(frame, config).report["warnings"])


def survey(folder: Path, person: str = "person_id", household: str = "household", **config: Any) -> Case:
    """Return a survey of 40 households of 3 persons, with one record each."""
    random = Random(4)
    columns = {
        person: [f"P{n:03}" for n in range(120)],
        household: [f"H{n // 3:02}" for n in range(120)],
        "age": [str(random.randint(20, 39)) for _ in range(120)],
        "sex": [random.choice("fm") for _ in range(120)],
    }
    attributes = {
        person: {"role": "identifier"},
        household: {"role": "drop"},
        "age": {**QI, "hierarchy": {"intervals": {"width": [2, 4, 20]}}},
        "sex": QI,
    }
    constraints = [{"model": "k-anonymity", "k": 3}]
    return Case(folder, columns, {"attributes": attributes, "constraints": constraints, **config})


ALONE = (
    "Column 'person_id' has a different value in every record. If it identifies persons, each record is a "
    "person"
)
BOTH = "To protect households too, set input.household: household and add a constraint with unit"


def test_a_key_of_households_is_none_of_persons(tmp_path: Path, message: SnapshotAssertion) -> None:
    """In the warning, in the draft and in Python alike; and the rows are not taken for persons in silence."""
    case = survey(tmp_path)
    assert exchange("40 households of 3 persons", case.run().out) == message
    call("init", tmp_path / "data.csv")
    text = (tmp_path / "data.yaml").read_text(encoding="utf-8")
    assert "\n  person:" not in text
    assert "\n  household: household " in text
    frame = pd.read_csv(tmp_path / "data.csv", dtype=str)
    said = [
        *case.warnings(),
        *call("init", tmp_path / "data.csv", "--overwrite", "--drop", "household").out.splitlines(),
        *an.check(frame, quasi_identifiers=["age", "sex"]).attrs["warnings"],
    ]
    said = [each for each in said if "repeats" in each]
    assert len(said) == 3
    for each in said:
        assert "'household' repeats: 40 values in 120 records. " in each
        assert f"{ALONE}, so set acknowledge: [rows-are-persons]. {BOTH}" in each
        assert "input.person" not in each
    assert case.public_warnings == [RECORDS]


@pytest.mark.parametrize("waves", [1, 2])
def test_a_draft_that_counts_persons_says_how_to_protect_households(tmp_path: Path, waves: int) -> None:
    """Where persons have two households, or are counted within one only, it says what to do instead."""
    household = [f"H{n // 3:02}" for n in range(120)] * waves
    person = [f"P{n % (90 if waves == 1 else 120):03}" for n in range(120)] * waves
    columns = {
        "person_id": person,
        "household": household,
        "age": [str(20 + n % 30) for n in range(len(person))],
    }
    Case(tmp_path, columns, {})
    out = call("init", tmp_path / "data.csv").out
    drafted = yaml.safe_load((tmp_path / "data.yaml").read_text(encoding="utf-8"))["input"]
    assert "column 'person_id' repeats" in out
    two = "30 values of column 'person_id' occur with two or more values of column 'household'. If these are"
    assert (two in out) is (waves == 1)
    assert ("If persons moved, name 'household' in input.units" in out) is (waves == 1)
    assert drafted["person"] == "person_id"
    assert drafted.get("household") == (None if waves == 1 else "household")


HOMES_TOO = BOTH.replace(" household and", " hid and")
AGAIN = "If no person has two records, not even with different values of 'wave', set acknowledge"
TIMES = (
    "No two records of a household have the same 'wave'. If each record is a household at one time, set "
    "input.household: hid and unit: household in every constraint"
)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("records", "key", "said"),
    [
        # the same homes in three waves; two people a home and wave without a key; with one
        (1, False, [AGAIN, TIMES]),
        (2, False, [AGAIN, HOMES_TOO]),
        (2, True, [HOMES_TOO]),
    ],
)
def test_records_of_a_household_may_be_of_several_times(
    tmp_path: Path, records: int, key: bool, said: list[str]
) -> None:
    """Run, check and init tell households that are seen again from those of several people."""
    number = 40 * records * 3
    columns = {
        "hid": [f"{100 + n // records % 40}" for n in range(number)],
        "wave": [str(1 + n // (40 * records)) for n in range(number)],
        "age": [str(20 + n % 10) for n in range(number)],
    }
    roles: dict[str, Any] = {"hid": {"role": "identifier"}, "wave": QI, "age": QI}
    if key:
        columns["pid"] = [f"{5000 + n % (40 * records)}" for n in range(number)]
        roles["pid"] = {"role": "identifier"}
    case = Case(tmp_path, columns, {"attributes": roles, "constraints": [{"model": "k-anonymity", "k": 2}]})
    assert case.run().code == 0
    checked = call("check", tmp_path / "data.csv", "--qi", "wave,age")
    outputs = [*case.warnings(), *checked.out.splitlines()]
    # A draft counts persons by their key, and then says another thing of homes.
    outputs += [] if key else call("init", tmp_path / "data.csv", "--drop", "hid").out.splitlines()
    found = [each for each in outputs if "'hid' repeats" in each]
    assert len(found) == (2 if key else 3)
    for each in found:
        assert [part for part in (AGAIN, TIMES, HOMES_TOO) if part in each] == said
        assert ("no person has two" in each) is not key


@pytest.mark.parametrize("hierarchy", [{"mask": {"from": "right"}}, {"ready": "postal-code"}])
@pytest.mark.parametrize(("first", "warned"), [("1067", True), ("01067", False)])
def test_codes_that_may_have_lost_zeros_are_warned_about(
    tmp_path: Path, hierarchy: dict[str, Any], first: str, warned: bool
) -> None:
    """1067 and 10115 both become 1****, though 01067 is another area."""
    columns = {"zip": [first, first, "10115", "10115"]}
    attributes = {"zip": {**QI, "type": "text", "hierarchy": hierarchy}}
    constraints = [{"model": "k-anonymity", "k": 2}]
    case = Case(tmp_path, columns, {"attributes": attributes, "constraints": constraints})
    assert case.run().code == 0
    assert any("'zip': codes have 4 to 5 digits" in each for each in case.warnings()) is warned


def test_a_panel_of_households_that_are_counted_has_no_warning(tmp_path: Path) -> None:
    columns = {
        "hid": [f"{100 + n % 40}" for n in range(120)],
        "wave": [str(1 + n // 40) for n in range(120)],
        "age": [str(20 + n % 10) for n in range(120)],
    }
    config = {
        "input": {"path": "data.csv", "household": "hid"},
        "attributes": {"hid": {"role": "identifier"}, "wave": QI, "age": QI},
        "constraints": [{"model": "k-anonymity", "k": 2, "unit": "household"}],
    }
    case = Case(tmp_path, columns, config)
    assert case.run().code == 0
    assert not any("repeats" in each for each in case.warnings())


def test_a_household_survey_that_is_acknowledged_says_so_nowhere(tmp_path: Path) -> None:
    case = survey(
        tmp_path,
        acknowledge=["rows-are-persons"],
        input={"path": "data.csv", "household": "household"},
        constraints=[
            {"model": "k-anonymity", "k": 3},
            {"model": "k-anonymity", "k": 2, "unit": "household"},
            {"model": "household-risk", "max": 0.9},
        ],
    )
    assert case.run().code == 0
    assert not any("repeats" in each for each in case.warnings())
    assert case.public_warnings == []


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("person", "household", "said", "unsaid"),
    [
        (
            "row",
            "family_id",
            ["no person has two records", "set input.household: family_id"],
            "key of persons",
        ),
        (
            "person_id",
            "address_id",
            ["'person_id' has a different value", "set input.household: address_id"],
            "input.person",
        ),
        (
            "person_id",
            "hid",
            ["'person_id' has a different value", "set input.household: hid"],
            "input.person",
        ),
        ("person_id", "patient_id", ["'person_id' has a different value"], "input.person"),
        ("person_id", "stay_id", ["like the number of a stay", "'person_id' has a different"], "input."),
    ],
)
def test_what_a_repeating_key_is_proposed_for(
    tmp_path: Path, person: str, household: str, said: list[str], unsaid: str
) -> None:
    case = survey(tmp_path, person, household)
    assert case.run().code == 0
    (warning,) = (each for each in case.warnings() if "repeats" in each)
    assert all(each in warning for each in said)
    assert unsaid not in warning


def test_a_named_household_is_not_proposed_again_and_persons_that_repeat_are_no_rows() -> None:
    persons = facts("person_id", [f"p{n}" for n in range(100)])
    homes = facts("zqr", [f"h{n // 2}" for n in range(100)])
    (key,) = keys_of([(persons, Role.IDENTIFIER), (homes, Role.DROP)], {"household": "zqr"})
    assert (key.household, key.known, key.alone) == (True, True, "person_id")
    assert "input." not in key.warning(5)
    panel_of = facts("patient_id", [f"q{n // 4}" for n in range(100)])
    columns = [(persons, Role.IDENTIFIER), (homes, Role.DROP), (panel_of, Role.DROP)]
    assert [each.alone for each in keys_of(columns, {"household": "zqr"})] == ["person_id"] * 2
    rows = facts("id", [f"p{n}" for n in range(100)])
    columns[0] = (rows, Role.IDENTIFIER)
    assert [each.alone for each in keys_of(columns, {"household": "zqr"})] == [None, None]


def facts(name: str, texts: list[str], kind: ValueType = ValueType.TEXT) -> ColumnFacts:
    """Return the statistics of a column."""
    counts = pd.Series(texts).value_counts()
    values = tuple((str(text), int(number)) for text, number in sorted(counts.items()))
    singles = int((counts == 1).sum())
    return ColumnFacts(name, kind, len(texts), 0, len(counts), singles, int(counts.max()), 0.0, values)


@pytest.mark.parametrize(
    ("name", "texts", "dropped", "found"),
    [
        ("patient_id", [f"p{n // 2}" for n in range(100)], False, True),
        ("zqr", [f"{n // 3:05}" for n in range(100)], True, True),
        ("zqr", [f"{n // 3:05}" for n in range(100)], False, False),
        ("zqr", [f"{n:05}" for n in range(100)], True, False),
        ("first", [["michael", "ann", "joe", "eve"][n % 4] for n in range(100)], True, False),
        ("arrested", [f"2013-01-{1 + n % 28:02} 10:00:00" for n in range(100)], True, False),
        ("postcode", [f"{1000 + n // 3}" for n in range(100)], True, False),
        ("says_the_same", [str(n % 2) for n in range(100)], True, False),
        ("duration", [f"{n // 3 / 73:.6f}".replace(".", ",") for n in range(100)], True, False),
        ("duration", [*(f"{n // 3 / 73:.6f}".replace(".", ",") for n in range(100)), "NA"], True, False),
        ("numéro", [f"20,{n // 3:03},X" for n in range(100)], True, True),
        ("dni", [f"20.{n // 3:03}.111" for n in range(100)], True, True),
    ],
)
def test_what_counts_as_a_key(name: str, texts: list[str], dropped: bool, found: bool) -> None:
    assert repeats(facts(name, texts), Role.DROP if dropped else Role.INSENSITIVE) is found


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_file_whose_dropped_column_has_fractions_has_no_key(tmp_path: Path, decimal: str) -> None:
    columns = {
        "age": [str(20 + n % 20) for n in range(400)],
        "duration": [f"{n % 150 / 73:.6f}".replace(".", decimal) for n in range(400)],
    }
    attributes = {"age": QI, "duration": {"role": "drop"}}
    case = Case(
        tmp_path, columns, {"attributes": attributes, "constraints": [{"model": "k-anonymity", "k": 4}]}
    )
    assert case.run().code == 0
    assert case.warnings() == []


def test_an_identifier_with_many_records_a_person_is_a_key() -> None:
    """Eight records of each of 50 persons: what the config calls an identifier identifies somebody."""
    column = facts("nr", [f"{n // 8}" for n in range(400)])
    assert repeats(column, Role.IDENTIFIER)
    assert not repeats(column, Role.DROP)
    assert not repeats(facts("nr", [f"{n % 3}" for n in range(400)]), Role.IDENTIFIER)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5))))
def test_values_are_counted_once_in_each_class(records: list[tuple[int, int]]) -> None:
    class_of, codes = (np.array([each[place] for each in records], dtype=np.int64) for place in (0, 1))
    slow = [len({code for own, code in records if own == number}) for number in range(5)]
    assert distinct_in_groups(class_of, codes, 5).tolist() == slow


def offences(folder: Path, constraints: list[dict[str, Any]]) -> Case:
    """Return a table with a date that is mostly missing, and a charge that follows from the age."""
    random = Random(2)
    ages = [20 + n // 10 for n in range(400)]
    columns = {
        "age": [str(age) for age in ages],
        "date": [f"2014-0{random.randint(1, 9)}-11" if n % 13 == 0 else "" for n in range(400)],
        "charge": [str(age % 3) if age > 30 else random.choice("0123") for age in ages],
    }
    attributes = {"age": QI, "date": {"role": "sensitive", "type": "date"}, "charge": {"role": "sensitive"}}
    config = {"attributes": attributes, "constraints": constraints, "attacks": ["homogeneity"]}
    return Case(folder, columns, config)


def test_certainty_of_a_missing_date_and_of_another_attribute_contradicts_nothing(tmp_path: Path) -> None:
    case = offences(tmp_path, [{"model": "k-anonymity", "k": 5}])
    assert case.run().code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    date, charge = report["attacks"]
    assert date["success"] > 0.2
    assert date["details"]["beyond_guess"] == 0
    assert date["details"]["base_rate"] > 0.9
    assert charge["details"]["beyond_guess"] > 0.2
    claims = {
        name: bind(build.model("alpha-k-anonymity", {"alpha": 0.9, "k": 5}), name)
        for name in ("date", "charge")
    }
    for name, claim in claims.items():
        rows = attack_matrix([claim], report["attacks"], 5)
        row = next(each for each in rows if each["threat"] == "homogeneity")
        assert row["claimed_by"] == ["alpha-k-anonymity"]
        assert row["contradicted"] is (name == "charge")


def test_values_that_all_persons_have_in_common_are_said_with_what_limits_them(tmp_path: Path) -> None:
    """Each person of an age has the charge of the age and one of their own: two values, and certainty."""
    people = [(person, 20 + person // 5) for person in range(100)]
    columns = {
        "id": [f"P{person}" for person, _ in people for _ in range(2)],
        "age": [str(age) for _, age in people for _ in range(2)],
        "charge": [own for person, age in people for own in (f"common {age}", f"own {person % 7}")],
    }
    config: dict[str, Any] = {
        "input": {"path": "data.csv", "person": "id"},
        "attributes": {"id": {"role": "identifier"}, "age": QI, "charge": {"role": "sensitive"}},
        "constraints": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2}],
        "attacks": ["homogeneity"],
    }
    case = Case(tmp_path, columns, config)
    assert case.run().code == 0
    (said,) = (each for each in case.warnings() if "Look again: homogeneity" in each)
    allowed = "l-diversity of charge allows (0 %, the success without the release)"
    assert f"{allowed}; a person with several values counts for each of them" in said
    config["constraints"] = [{"model": "alpha-k-anonymity", "k": 5, "alpha": 0.9}]
    case = Case(tmp_path, columns, config)
    assert case.run().code == 0
    assert not any("homogeneity" in each for each in case.warnings())


def test_many_useless_columns_are_counted_and_ten_named() -> None:
    names = tuple(f"c{number}" for number in range(12))
    (said,) = useless_warnings(UselessColumns(names, ()), 20)
    assert said.endswith(": c0, c1, c2, c3, c4, c5, c6, c7, c8, c9 and 2 more (12 of 20 quasi-identifiers)")
    (ten,) = useless_warnings(UselessColumns((), names[:10]), 20)
    assert ten.endswith("c8 and c9 (10 of 20 quasi-identifiers)")


def test_certainty_does_not_contradict_a_model_that_allows_it(tmp_path: Path) -> None:
    case = offences(tmp_path, [{"model": "alpha-k-anonymity", "alpha": 1, "k": 5, "attribute": "charge"}])
    assert "Look again" not in case.run().out
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert report["attacks"][1]["details"]["beyond_guess"] > 0.2
    assert not any(each["claimed_by"] for each in report["attack_matrix"] if each["threat"] == "homogeneity")


def likely_charges(folder: Path) -> Case:
    """Return a table of three equally frequent charges, one of which has seven tenths of each age."""
    columns = {
        "age": [str(20 + n // 10) for n in range(400)],
        "charge": [str((n // 10 + (n % 10 < 3)) % 3) for n in range(400)],
    }
    constraints = [
        {"model": "k-anonymity", "k": 5},
        {"model": "t-closeness", "t": 0.6, "attribute": "charge"},
    ]
    attributes = {"age": QI, "charge": {"role": "sensitive"}}
    attacks = [{"attack": "skewness", "rare": 0.4}]
    return Case(folder, columns, {"attributes": attributes, "constraints": constraints, "attacks": attacks})


def test_a_contradicted_claim_is_said_above_the_files_to_give(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    case = likely_charges(tmp_path)
    done = case.run()
    assert done.code == 0
    assert exchange("a charge that is likely at an age", done.out) == message
    lines = done.out.splitlines()
    said = next(place for place, line in enumerate(lines) if line.startswith("Look again: skewness"))
    assert lines[said + 1].startswith("Give:")
    assert lines[said] in case.warnings()
    assert case.public_warnings == [lines[said]]  # anybody can repeat this attack
    release = tmp_path / "out" / "share" / "release.csv"
    for report in ([], ["--report", tmp_path / "out" / "report.json"]):
        done = call("audit", release, *report)
        assert done.code == 0, done.out


def useless(folder: Path, **config: Any) -> Case:
    """Return a table that classes of 20 records leave little of."""
    random = Random(1)
    columns = {
        "age": [str(random.randint(18, 90)) for _ in range(300)],
        "zip": [str(random.randint(10000, 99999)) for _ in range(300)],
        "job": [f"job {random.randint(1, 30)}" for _ in range(300)],
        "sex": [random.choice("fm") for _ in range(300)],
    }
    attributes = {
        "age": {**QI, "hierarchy": {"intervals": {"width": [5, 10, 40]}}},
        "zip": {**QI, "type": "text", "hierarchy": {"mask": {"from": "right"}}},
        "job": QI,
        "sex": QI,
    }
    constraints = [{"model": "k-anonymity", "k": 12}]
    return Case(folder, columns, {"attributes": attributes, "constraints": constraints, **config})


@pytest.mark.advice
def test_a_useless_release_is_said_to_be_with_what_would_gain(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    case = useless(tmp_path)
    done = case.run()
    assert exchange("300 records, k = 12", done.out) == message
    (said,) = (line for line in done.out.splitlines() if line.startswith("Look again"))
    assert "published as * for at least 90 % of the records: " in said
    assert case.warnings() == case.public_warnings == [said]
    assert "advice" not in json.loads((tmp_path / "out/share/report.public.json").read_text(encoding="utf-8"))


def of_persons(folder: Path, **config: Any) -> Case:
    """Return the same table where two records each are one person's, so that classes need more records."""
    case = useless(folder, **config)
    frame = pd.read_csv(folder / "data.csv", dtype=str).assign(person=[f"P{n // 2}" for n in range(300)])
    frame.to_csv(folder / "data.csv", index=False)
    raw = json.loads(case.config.read_text(encoding="utf-8"))
    raw["input"] = {"path": "data.csv", **raw["input"], "person": raw["input"].get("person", "person")}
    raw["attributes"]["person"] = {"role": "identifier"}
    case.config.write_text(json.dumps(raw), encoding="utf-8")
    return case


@pytest.mark.advice
@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("made", "algorithm"), [(useless, "auto"), (of_persons, "mondrian"), (of_persons, "lattice")]
)
def test_each_advised_command_runs_and_gains(
    tmp_path: Path, made: Callable[..., Case], algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = made(tmp_path, **({} if algorithm == "auto" else {"algorithm": {"name": algorithm}}))
    assert case.run().code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    advice = report["advice"]
    assert advice["changes"]
    assert advice["columns"][0]["loss"] > 0.9
    assert advice["records"] == 300
    monkeypatch.chdir(tmp_path)
    for number, change in enumerate(advice["changes"], start=1):
        assert change["gain"] > 0
        assert call(*shlex.split(change["command"])[1:]).code == 0
        own = tmp_path / f"{case.config.stem}-release-{number}"
        better = json.loads((own / "report.json").read_text(encoding="utf-8"))
        assert better["loss"]["loss"] == pytest.approx(change["loss_after"], abs=0.01)
    assert case.run().code == 0
    again = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert again["advice"] == advice


@pytest.mark.advice
@pytest.mark.parametrize("asked", ["a pseudonym", "household-risk"])
def test_what_only_the_lattice_counts_has_no_advice_of_others(tmp_path: Path, asked: str) -> None:
    """The other algorithms refuse these."""
    config: dict[str, Any] = {"algorithm": {"name": "lattice"}}
    if asked == "a pseudonym":
        config["input"] = {"path": "data.csv", "person": {"column": "person", "release_as": "pseudonym"}}
        config["suppression"] = {"limit": 1}
    else:
        config["input"] = {"path": "data.csv", "household": "person", "person": None}
        config["constraints"] = [{"model": "household-risk", "max": 0.2}, {"model": "k-anonymity", "k": 12}]
    case = of_persons(tmp_path, **config)
    assert case.run().code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert (bool(report["advice"]["columns"]), report["advice"]["changes"]) == (True, [])


@pytest.mark.advice
def test_searches_that_end_early_give_the_same_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = useless(tmp_path)
    found = []
    for shorten in (True, False):
        if not shorten:
            monkeypatch.setattr(advice, "_objective", lambda *_: inf)
        assert case.run("--overwrite").code == 0
        found.append(json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["advice"])
    assert found[0] == found[1]
    assert found[0]["changes"]


@pytest.mark.advice
@pytest.mark.parametrize("attributes", [["sex"], ["sex", "job"]])
def test_advice_solves_no_programme_for_each_class(tmp_path: Path, attributes: list[str]) -> None:
    constraints = [{"model": "l-diversity", "l": 2, "attribute": name} for name in attributes]
    constraints.append({"model": "k-anonymity", "k": 12})
    case = useless(tmp_path, constraints=constraints, suppression={"limit": 0.02, "method": "records"})
    config = json.loads(case.config.read_text(encoding="utf-8"))
    config["attributes"] |= {name: {"role": "sensitive"} for name in attributes}
    case.config.write_text(json.dumps(config), encoding="utf-8")
    assert case.run().code == 0
    found = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["advice"]
    assert found["columns"]
    assert bool(found["changes"]) == (len(attributes) == 1)


@pytest.mark.advice
def test_nothing_is_tried_for_advice_once_the_user_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "advice_of", lambda found, _: advice.advice_of(found, lambda: True))
    assert useless(tmp_path).run().code == 0
    found = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["advice"]
    assert found["columns"]
    assert found["changes"] == []


@pytest.mark.advice
def test_a_useful_release_has_no_advice(tmp_path: Path) -> None:
    case = panel(tmp_path, acknowledge=["rows-are-persons"])
    assert "Look again" not in case.run().out
    assert "advice" not in json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))


@pytest.mark.advice
@pytest.mark.quick(1)
@pytest.mark.parametrize("algorithm", ["auto", "mondrian", "anatomy"])
def test_advice_suits_every_algorithm(tmp_path: Path, algorithm: str) -> None:
    if algorithm == "anatomy":
        case = offences(tmp_path, [{"model": "l-diversity", "l": 2, "attribute": "charge"}])
        config = json.loads(case.config.read_text(encoding="utf-8"))
        config["attributes"]["date"] = {"role": "insensitive"}
        case.config.write_text(json.dumps({**config, "algorithm": {"name": "anatomy"}, "attacks": []}))
    else:
        case = useless(tmp_path, algorithm={"name": algorithm})
    done = case.run()
    assert done.code == 0, done.err


def exact_columns(folder: Path, top: str) -> Case:
    """Return 30 records of three classes with unchanged columns, the pay of one record being ``top``."""
    pay = [f"{1000 + each % 5}.5" for each in range(29)] + [top]
    columns = {
        "age": [str(20 + each % 3) for each in range(30)],
        "pay": pay,
        "size": [str(each % 10) for each in range(30)],
        "colour": ["ab"[each // 10 % 2] for each in range(30)],
    }
    attributes = {"age": QI, "pay": {"role": "sensitive"}}
    attributes |= {name: {"role": "insensitive"} for name in ("size", "colour")}
    config = {
        "attributes": attributes,
        "constraints": [{"model": "k-anonymity", "k": 5}],
    }
    return Case(folder, columns, config)


DRAFTED = "A single record has the largest or smallest number: pay. "


@pytest.mark.quick(1)
@pytest.mark.parametrize(("top", "warned"), [("9000", True), ("1.5", True), ("1004.5", False)])
def test_a_single_extreme_that_is_released_exactly(top: str, *, warned: bool, tmp_path: Path) -> None:
    case = exact_columns(tmp_path, top)
    assert case.run().code == 0
    rare = [each["records"] for each in case.findings if each["columns"] == ["pay"]]
    assert rare == ([1] if warned else [])
    done = call("init", tmp_path / "data.csv", "--qi", "age", "--sensitive", "pay")
    assert (DRAFTED in done.out) is warned


def test_unchanged_columns_that_single_out_records_together(tmp_path: Path) -> None:
    """No size and no colour is rare, but each age is published with a size of its own."""
    case = exact_columns(tmp_path, "9000")
    done = case.run()
    assert done.out.startswith("SATISFIED, BUT 30 of 30 records are unique by their published quasi")
    (finding,) = (each for each in case.findings if each["kind"] == "singled-out")
    assert (finding["columns"], finding["records"]) == (["size"], 30)
    assert not any("single out" in each for each in case.public_warnings)
