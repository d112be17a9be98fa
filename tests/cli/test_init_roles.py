"""``init`` on tables like public files: what is known outside, what few know, and what the user says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from anonymizer.config.load import load_config
from tests.cli.drafting import assert_runs
from tests.helpers.messages import exchange
from tests.profile.known_columns import values
from tests.run.commands import Done, call

RECORDS = 600
PEOPLE = {"sex": "words", "age": "ages", "region": "places"}


@pytest.fixture(autouse=True)
def _untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts are what names and values say; that a first release of theirs is tried has tests of its own."""
    monkeypatch.setattr("anonymizer.commands.init.trial_of", lambda *_: None)


def table(**kinds: str) -> pd.DataFrame:
    """Return a table with a column of each kind of values, all drawn independently."""
    random = np.random.default_rng(1)
    shuffled = {
        name: random.permutation(np.array(values(kind, RECORDS), object)) for name, kind in kinds.items()
    }
    return pd.DataFrame(shuffled)


def of_persons(frame: pd.DataFrame, records: int = 3) -> pd.DataFrame:
    """Return a table in which each ``records`` records in a row have the sex and age of one person."""
    first = np.arange(len(frame)) // records * records
    return frame.assign(**{name: frame[name].to_numpy()[first] for name in ("sex", "age")})


def drafted(frame: pd.DataFrame, folder: Path, *args: str) -> tuple[Done, Path]:
    frame.to_csv(folder / "people.csv", index=False)
    return call("init", folder / "people.csv", "--overwrite", *args), folder / "people.yaml"


def roles(config: Path) -> dict[str, str]:
    return {name: each.role.value for name, each in load_config(config).attributes.items()}


def test_names_of_people_are_dropped_and_regions_of_health_are_places(tmp_path: Path) -> None:
    frame = table(first="given", last="surnames", health_region="places", age="ages", cause_of_death="words")
    _, config = drafted(frame, tmp_path)
    assert roles(config) == {
        "first": "identifier",
        "last": "identifier",
        "health_region": "quasi-identifier",
        "age": "quasi-identifier",
        "cause_of_death": "sensitive",
    }
    assert_runs(config)


def test_outcomes_grades_and_incomes_are_sensitive_and_get_a_constraint(tmp_path: Path) -> None:
    frame = table(age="ages", sex="words", death="0/1", G3="counts", hhninc="amounts", faminc="amounts")
    _, config = drafted(frame, tmp_path)
    found = load_config(config)
    protected = {each.attribute for each in found.constraints} - {None}
    assert protected == {"death", "G3", "hhninc", "faminc"}
    assert_runs(config)


def test_what_a_column_would_add_is_not_said_where_it_would_add_nothing(tmp_path: Path) -> None:
    """All records are unique by age and sex alone, so another quasi-identifier changes nothing."""
    frame = table(age="ages", q1="1-5").assign(sex=["m", "f"] * (RECORDS // 2), town=range(RECORDS))
    done, config = drafted(frame.assign(age=range(RECORDS)), tmp_path, "--qi", "age,sex")
    assert roles(config)["q1"] == "insensitive"
    assert "would be unique" not in done.out
    done, _ = drafted(table(**PEOPLE, q1="1-5"), tmp_path)
    assert "would be unique if it were a quasi-identifier too" in done.out


@pytest.mark.slow
def test_of_a_questionnaire_only_the_demography_is_known_outside(tmp_path: Path) -> None:
    frame = table(**PEOPLE, **{f"q{number}": "1-5" for number in range(100)})
    done, config = drafted(frame, tmp_path)
    found = roles(config)
    assert {name for name, role in found.items() if role == "quasi-identifier"} == set(PEOPLE)
    assert {role for name, role in found.items() if name not in PEOPLE} == {"insensitive"}
    assert "Known to few people, so not quasi-identifiers: 100 columns (q0, q1, " in done.out
    assert "100.0 % of the records are unique instead of " in done.out
    assert_runs(config)
    cautious, config = drafted(frame, tmp_path, "--cautious")
    assert set(roles(config).values()) == {"quasi-identifier"}
    assert "Known to few" not in cautious.out


@pytest.mark.slow
def test_where_nothing_is_known_outside_some_answers_are_taken_and_it_is_said(tmp_path: Path) -> None:
    done, config = drafted(table(**{f"q{number}": "1-5" for number in range(30)}), tmp_path)
    assert list(roles(config).values()).count("quasi-identifier") == 10
    assert "No column has a name or values that are known outside" in done.out
    assert "No column has a name" in config.read_text()
    assert_runs(config)


def test_a_file_without_a_sensitive_column_says_how_to_name_one(tmp_path: Path) -> None:
    done, config = drafted(table(**PEOPLE, colour="words"), tmp_path)
    assert "--sensitive COLUMN" in done.out
    assert "--sensitive" in config.read_text()
    done, config = drafted(table(**PEOPLE, colour="words"), tmp_path, "--sensitive", "colour")
    assert "--sensitive COLUMN" not in done.out
    assert [each.attribute for each in load_config(config).constraints] == [None, "colour"]
    assert_runs(config)


def test_exact_measurements_are_fingerprints_and_released_in_groups(tmp_path: Path) -> None:
    done, config = drafted(table(**PEOPLE, testosterone="exact", wage="exact"), tmp_path)
    assert "Nearly all values differ: testosterone, wage." in done.out
    text = config.read_text()
    raw = yaml.safe_load(text)
    assert [raw["attributes"][name]["labels"] for name in ("testosterone", "wage")] == ["range"] * 2
    assert call("run", config, "-o", tmp_path / "release").code == 0
    published = pd.read_csv(tmp_path / "release" / "share" / "release.csv", dtype=str)
    given = pd.read_csv(tmp_path / "people.csv", dtype=str)
    for name in ("testosterone", "wage"):
        assert not set(published[name]) & set(given[name])
        assert published[name].value_counts().min() > 1
    assert call("audit", tmp_path / "release" / "share" / "release.csv").code == 0


def test_the_line_beside_groups_releases_the_values_exactly(tmp_path: Path) -> None:
    _, config = drafted(table(**PEOPLE, testosterone="exact", wage="exact"), tmp_path)
    text = config.read_text()
    lines = [line.partition(": ")[2] for line in text.splitlines() if "# to release the exact values" in line]
    assert [yaml.safe_load(line)["role"] for line in lines] == ["insensitive", "sensitive"]
    raw = yaml.safe_load(text)
    raw["attributes"] |= dict(zip(("testosterone", "wage"), map(yaml.safe_load, lines), strict=True))
    raw["attacks"] = ["vulnerability"]
    config.write_text(yaml.safe_dump(raw))
    assert call("run", config, "-o", tmp_path / "release").code == 0
    published = pd.read_csv(tmp_path / "release" / "share" / "release.csv", dtype=str)
    assert set(published["wage"]) <= set(pd.read_csv(tmp_path / "people.csv", dtype=str)["wage"])


def test_survey_weights_are_kept_and_used(tmp_path: Path) -> None:
    frame = table(**PEOPLE, finalwgt="weights", jkw_1="weights", jkw_2="weights", income="amounts")
    done, config = drafted(frame, tmp_path)
    assert {roles(config)[name] for name in ("finalwgt", "jkw_1", "jkw_2")} == {"weight"}
    assert "Warning: sampling weight 'finalwgt' is released unchanged. 600 of its 600 values" in done.out
    assert (
        "in the survey, and link nearly all records to another file from the same survey. Round" in done.out
    )
    assert yaml.safe_load(config.read_text())["attacks"][1] == {"attack": "uniqueness", "weights": "finalwgt"}
    assert call("run", config, "-o", tmp_path / "release").code == 0
    published = pd.read_csv(tmp_path / "release" / "share" / "release.csv", dtype=str)
    assert set(published["finalwgt"]) <= set(pd.read_csv(tmp_path / "people.csv", dtype=str)["finalwgt"])


@pytest.mark.quick(1)
@pytest.mark.parametrize(("odd", "fault"), [("0", "zero"), ("-1.5", "negative"), ("", "missing")])
def test_weights_that_are_not_positive_are_a_warning_and_not_used(
    odd: str, fault: str, tmp_path: Path
) -> None:
    frame = table(**PEOPLE, finalwgt="weights", income="amounts").astype(str)
    frame.loc[[3, 7], "finalwgt"] = odd
    done, config = drafted(frame, tmp_path)
    drafted_as = yaml.safe_load(config.read_text())
    assert drafted_as["attributes"]["finalwgt"]["role"] == "weight"
    assert "attacks" not in drafted_as
    warning = (
        f"Warning: sampling weight 'finalwgt' lacks a positive number in 2 of 600 records (2 {fault}), "
        f"first in record 4{odd and f': {odd!r}'}; "
    )
    assert warning in done.out
    assert warning in " ".join(config.read_text().replace("\n# ", " ").split())
    run = call("run", config, "-o", config.parent / "release")
    assert run.code == 0
    assert warning in run.out
    share = config.parent / "release" / "share" / "report.public.json"
    assert "lacks a positive" not in share.read_text(encoding="utf-8")


def test_a_weight_that_may_be_a_sampling_weight_comes_with_its_line(tmp_path: Path) -> None:
    frame = table(**PEOPLE, income="amounts")
    frame["weight"] = [f"{20 + 1.37 * (number % 290):.2f}" for number in range(RECORDS)]
    done, config = drafted(frame, tmp_path)
    assert "either weights of bodies or sampling weights" in done.out
    text = config.read_text()
    line = "  # if it is a sampling weight: "
    (given,) = (each.removeprefix(line) for each in text.splitlines() if each.startswith(line))
    raw = yaml.safe_load(text)
    assert raw["attributes"]["weight"]["role"] == "insensitive"
    raw["attributes"]["weight"] = yaml.safe_load(given)
    config.write_text(yaml.safe_dump(raw))
    assert_runs(config)


def test_the_line_for_a_loss_by_sampling_weights_runs(tmp_path: Path) -> None:
    _, config = drafted(table(**PEOPLE, finalwgt="weights", income="amounts"), tmp_path)
    config.write_text(config.read_text().replace("# objective:", "objective:"))
    run = call("run", config, "-o", config.parent / "release")
    assert (run.code, "by the sampling weights in column 'finalwgt'" in run.out) == (0, True)


def test_weights_of_which_many_are_negative_are_no_sampling_weights(tmp_path: Path) -> None:
    frame = table(**PEOPLE, finalwgt="weights", income="amounts")
    frame.loc[:20, "finalwgt"] *= -1
    _, config = drafted(frame, tmp_path)
    assert roles(config)["finalwgt"] != "weight"


def test_a_key_of_persons_that_repeats_is_counted_by(tmp_path: Path) -> None:
    frame = of_persons(table(**PEOPLE, income="amounts")).assign(
        id=[number // 3 for number in range(RECORDS)]
    )
    done, config = drafted(frame, tmp_path, "--json")
    column = done.json["columns"]["id"]
    assert (column["role"], column["ground"]) == ("identifier", "key of a person or household")
    assert (
        "Warning: column 'id' repeats: 200 values in 600 records. The draft treats each value as one person"
        in done.err
    )
    assert yaml.safe_load(config.read_text())["input"]["person"] == "id"
    assert_runs(config)


def test_the_lines_for_persons_of_a_draft_run(tmp_path: Path) -> None:
    frame = of_persons(table(**PEOPLE, income="amounts")).assign(
        id=[number // 3 for number in range(RECORDS)]
    )
    _, config = drafted(frame, tmp_path)
    text = config.read_text().replace(
        "# objective: {metric: loss, unit: person}", "objective: {unit: person}"
    )
    config.write_text(text.replace("suppression: {limit: 0.02}", "suppression: {limit: 0.02, unit: person}"))
    run = call("run", config, "-o", config.parent / "release")
    assert (run.code, "with each person counted once" in run.out) == (0, True)
    assert "of 200 persons are suppressed; the limit allows 4" in run.out


def test_keys_of_which_none_is_that_of_persons_are_warned_about(tmp_path: Path) -> None:
    one = [str(100_000 + number // 3) for number in range(RECORDS)]
    other = [str(900_000 + number // 2) for number in range(RECORDS)]
    frame = of_persons(table(**PEOPLE, income="amounts"), 6).assign(zqr=one, mrn=other)
    done, config = drafted(frame, tmp_path)
    assert "column 'zqr' repeats: 200 values in 600 records. k counts records, not people. " in done.out
    assert "To protect persons, set input.person: zqr. " in done.out
    assert "person" not in yaml.safe_load(config.read_text())["input"]


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("key", "thing"),
    [
        ("order_id", "an order"),
        ("StoreNbr", "a store"),
        ("PostID", "a position"),
        ("StellenNr", "a position"),
        ("code_poste", "a position"),
        ("id_puesto", "a position"),
        ("stanowisko_id", "a position"),
        ("должность_id", "a position"),
        ("部署番号", "a department"),
        ("family_doctor_id", "a doctor"),
        ("manager_employee_id", "a manager"),
        ("namelsad", "a place"),
        ("county_fips", "a county"),
    ],
)
def test_numbers_of_other_things_are_no_persons(key: str, thing: str, tmp_path: Path) -> None:
    """Neither drafted nor advised as persons by init and run; the warning asks whether each record is one."""
    shared = [str(100_000 + 7 * (number // 3)) for number in range(RECORDS)]
    frame = table(**PEOPLE, income="amounts").assign(**{key: shared})
    done, config = drafted(frame, tmp_path, "--drop", key)
    assert "person" not in yaml.safe_load(config.read_text())["input"]
    said = [done]
    if key == "order_id":  # the sentence is that of the draft, whatever the number is of
        said.append(call("run", config, "-o", tmp_path / "release"))
        said.append(call("check", tmp_path / "people.csv", "-c", config))
    for each in said:
        (warning,) = (line for line in each.out.splitlines() if f"'{key}' repeats" in line)
        assert f"200 values in 600 records, like the number of {thing}. k counts records" in warning
        assert "input.person" not in warning
    _, config = drafted(frame, tmp_path)
    assert "person" not in yaml.safe_load(config.read_text())["input"]


@pytest.mark.quick(2)
@pytest.mark.parametrize("person", ["StaffID", "Matricule", "Personalnummer", "社員番号", "name"])
def test_a_key_beside_a_number_of_persons_that_never_repeats_is_none_of_persons(
    person: str, tmp_path: Path
) -> None:
    shared = [str(100_000 + 7 * (number // 3)) for number in range(RECORDS)]
    numbers: Any = [str(5000 + 3 * number) for number in range(RECORDS)]
    if person == "name":
        letters = "abcdefghij"
        numbers = [f"Anna {''.join(letters[int(digit)] for digit in text)}" for text in numbers]
    frame = of_persons(table(**PEOPLE, income="amounts")).assign(**{person: numbers, "mrn": shared})
    done, config = drafted(frame, tmp_path)
    assert "person" not in yaml.safe_load(config.read_text())["input"]
    (said,) = (line for line in done.out.splitlines() if "'mrn' repeats" in line)
    assert f"Column '{person}' has a different value in every record" in said
    assert "input.person" not in said


def test_a_key_in_whose_values_a_sex_differs_is_none_of_persons(tmp_path: Path) -> None:
    """Not even with the name of one, while an age that grows with the year is that of a person."""
    shared = [str(100_000 + 7 * (number // 3)) for number in range(RECORDS)]
    frame = table(**PEOPLE, income="amounts").assign(patient_id=shared)
    done, config = drafted(frame, tmp_path)
    assert "person" not in yaml.safe_load(config.read_text())["input"]
    assert "with different values of 'sex', so they are hardly those of persons" in done.out
    assert "input.person" not in done.out
    grown = of_persons(frame).assign(year=[2015 + 5 * (number % 3) for number in range(RECORDS)])
    grown = grown.assign(age=[20 + number // 9 % 40 + 5 * (number % 3) for number in range(RECORDS)])
    _, config = drafted(grown, tmp_path)
    assert yaml.safe_load(config.read_text())["input"]["person"] == "patient_id"
    mixed = grown.assign(age=grown["age"].to_numpy()[np.random.default_rng(2).permutation(RECORDS)])
    _, config = drafted(mixed, tmp_path)
    assert "person" not in yaml.safe_load(config.read_text())["input"]


@pytest.mark.quick(1)
@pytest.mark.parametrize("option", ["--drop", "--identifier"])
def test_a_key_that_the_user_gives_a_role_is_not_taken_for_persons(option: str, tmp_path: Path) -> None:
    shared = [f"p{number // 3}" for number in range(RECORDS)]
    frame = of_persons(table(**PEOPLE, income="amounts")).assign(patient_id=shared)
    _, config = drafted(frame, tmp_path)
    assert yaml.safe_load(config.read_text())["input"]["person"] == "patient_id"
    done, config = drafted(frame, tmp_path, option, "patient_id")
    assert "person" not in yaml.safe_load(config.read_text())["input"]
    assert "set input.person: patient_id" in done.out


@pytest.mark.quick(2)
@pytest.mark.parametrize("key", ["family_no", "idhogar", "familie", "household_head_id", "世帯番号"])
def test_a_household_is_counted_beside_records(tmp_path: Path, key: str) -> None:
    shared = [str(100_000 + 7 * (number // 3)) for number in range(RECORDS)]
    numbers = {"person_id": [f"p{number:04d}" for number in range(RECORDS)]}
    frame = table(**PEOPLE, income="amounts").assign(**numbers, **{key: shared})
    done, config = drafted(frame, tmp_path)
    assert f"column '{key}' repeats: 200 values in 600 records, like the number of a household. " in done.out
    settings = yaml.safe_load(config.read_text())
    assert settings["input"]["household"] == key
    assert settings["constraints"][1] == {"model": "k-anonymity", "k": 3, "unit": "household"}
    assert "person" not in settings["input"]
    if key == "family_no":  # what runs is the draft, whatever the key is called
        assert_runs(config)


def test_a_key_beside_row_numbers_is_that_of_persons(tmp_path: Path) -> None:
    shared = [str(100_000 + 7 * (number // 3)) for number in range(RECORDS)]
    frame = of_persons(table(**PEOPLE, income="amounts")).assign(id=range(RECORDS), mrn=shared)
    _, config = drafted(frame, tmp_path)
    assert yaml.safe_load(config.read_text())["input"]["person"] == "mrn"


def test_a_shared_address_is_a_home_and_a_few_equal_ones_are_chance(tmp_path: Path) -> None:
    for each, warned in ((3, True), (1, False)):
        homes = [f"{number // each % 590 + 1} Main Street" for number in range(RECORDS)]
        _, config = drafted(table(**PEOPLE, income="amounts").assign(address=homes), tmp_path)
        household = yaml.safe_load(config.read_text())["input"].get("household")
        assert household == ("address" if warned else None)


def test_options_set_roles(tmp_path: Path) -> None:
    frame = table(**PEOPLE, **{"a, b": "words"}, colour="words", mood="1-5", pain="1-5", code="codes")
    given = (
        "--qi",
        '"a, b",colour',
        "--qi",
        "mood",
        "--sensitive",
        "pain",
        "--identifier",
        "code",
        "--drop",
        "region",
    )
    _, config = drafted(frame, tmp_path, *given)
    found = roles(config)
    assert found == {
        **{"sex": "quasi-identifier", "age": "quasi-identifier", "region": "drop"},
        **{"a, b": "quasi-identifier", "colour": "quasi-identifier", "mood": "quasi-identifier"},
        **{"pain": "sensitive", "code": "identifier"},
    }
    assert "(chosen; proposed: quasi-identifier)" in config.read_text().replace("\n  # ", " ")
    assert_runs(config)
    assert not {"region", "code"} & set(pd.read_csv(tmp_path / "people-release" / "share" / "release.csv"))


@pytest.mark.parametrize(
    "given",
    [
        ("--qi", "agee"),
        ("--sensitive", "x,age", "--drop", "sex"),
        ("--qi", "age", "--drop", "sex,age"),
        ("--identifier", 'a"b'),
    ],
)
def test_refused_options(given: tuple[str, ...], tmp_path: Path, message: SnapshotAssertion) -> None:
    done, config = drafted(table(**PEOPLE), tmp_path, *given)
    assert (done.code, done.out, config.exists()) == (2, "", False)
    assert exchange(" ".join(given), done.err.rstrip(), tmp_path) == message


@pytest.mark.slow
def test_uncertain_columns_of_a_wide_file_are_listed_first(tmp_path: Path) -> None:
    kinds = {f"q{number}": "1-5" for number in range(150)}
    done, _ = drafted(table(**PEOPLE, **kinds, odd="words", street_name="places"), tmp_path)
    lines = done.out.splitlines()
    assert lines[1].startswith("odd ")
    assert "... 115 more columns, none of them uncertain, in people.yaml" in done.out


def test_the_ground_of_each_column_is_told(tmp_path: Path) -> None:
    frame = table(age="ages", income="amounts", wgt="weights", q1="1-5", remarks="remarks")
    done, config = drafted(frame, tmp_path, "--json")
    grounds = {name: each["ground"] for name, each in done.json["columns"].items()}
    assert grounds == {
        "age": "known outside",
        "income": "known to few",
        "wgt": "survey weight",
        "q1": "known to few",
        "remarks": "identifier",
    }
    for ground in grounds.values():
        assert f"  # {ground}: " in config.read_text()


def test_what_is_drafted_for_a_survey(tmp_path: Path, message: SnapshotAssertion) -> None:
    kinds = {
        "pid": "numbers of persons",
        "finalwgt": "weights",
        "income": "exact",
        "q1": "1-5",
        "q2": "words",
    }
    frame = table(**PEOPLE, **kinds).assign(q3=lambda frame: frame["q1"]).sort_values("pid")
    done, config = drafted(of_persons(frame), tmp_path)
    said = done.out.replace(str(tmp_path), "DIR")
    assert exchange("a survey", f"{said}{config.read_text().partition('constraints:')[0]}") == message


def test_a_single_extreme_is_released_in_an_open_group(tmp_path: Path) -> None:
    """Visits of 0 to 9, and one record with 40: nobody can be that one."""
    frame = table(**PEOPLE, visits_q="1-5")
    frame["visits_q"] = [number % 10 for number in range(len(frame) - 1)] + [40]
    done, config = drafted(frame, tmp_path)
    assert "A single record has the largest or smallest number: visits_q." in done.out
    assert call("run", config, "-o", tmp_path / "release").code == 0
    published = pd.read_csv(tmp_path / "release" / "share" / "release.csv", dtype=str)["visits_q"]
    assert not any("40" in text for text in published)
    assert published.value_counts().min() >= 10


def test_the_key_of_a_panel_is_found_without_a_name_for_it(tmp_path: Path) -> None:
    """100 persons in 8 years: zqr says whose records these are, as sex and origin are constant for it."""
    random = np.random.default_rng(1)
    persons = pd.DataFrame(
        {
            "zqr": 13 + 7 * np.arange(100),
            "sex": random.choice(["f", "m"], 100),
            "origin_country": random.choice(["be", "fr", "nl"], 100),
        }
    )
    frame = pd.concat([persons.assign(year=year) for year in range(1980, 1988)])
    frame = frame.assign(occupation=random.choice(["cook", "smith", "clerk"], len(frame))).astype(str)
    done, config = drafted(frame, tmp_path)
    assert roles(config)["zqr"] == "identifier"
    assert yaml.safe_load(config.read_text())["input"]["person"] == "zqr"
    assert "column 'zqr' repeats: 100 values in 800 records" in done.out
    assert call("run", config, "-o", tmp_path / "release").code == 0
    own = {**yaml.safe_load(config.read_text())}
    del own["input"]["person"]
    config.write_text(yaml.safe_dump(own | {"attacks": ["vulnerability"]}))
    warned = call("run", config, "-o", tmp_path / "records")
    assert "column 'zqr' repeats: 100 values in 800 records. k counts records, not people" in warned.out


def households(**columns: Any) -> pd.DataFrame:
    """Return a survey of 400 households of one to four persons, numbered in order without a name for it."""
    random = np.random.default_rng(3)
    homes = pd.DataFrame(
        {
            "zq030": 5 + np.arange(400),
            "zqsize": random.integers(1, 5, 400),
            "zqland": random.choice(["tyrol", "vienna", "styria"], 400),
            "income": random.integers(10_000, 99_000, 400),
        }
    )
    frame = homes.loc[homes.index.repeat(homes["zqsize"])].reset_index(drop=True)
    own = {"sex": random.choice(["f", "m"], len(frame)), "age": random.integers(0, 90, len(frame))}
    return frame.assign(**own, **columns).astype(str)


@pytest.mark.slow
def test_the_key_of_a_household_is_found_without_a_name_for_it(
    tmp_path: Path, message: SnapshotAssertion
) -> None:
    """Released unchanged, run and check warn of it; the draft leaves it out and takes it for no person's."""
    frame = households()
    done, config = drafted(frame, tmp_path)
    assert roles(config)["zq030"] == "identifier"
    assert "zq030" in done.out
    assert "like the number of a household   <- uncertain" in done.out
    assert "The draft names it in input.household, and each class has people of at least 3" in done.out
    settings = yaml.safe_load(config.read_text())
    assert "person" not in settings["input"]
    assert settings["input"].pop("household") == "zq030"
    del settings["constraints"][1]
    settings["attributes"]["zq030"] = {"role": "insensitive"}
    config.write_text(yaml.safe_dump(settings))
    said = []
    for command in (
        ("run", config, "-o", tmp_path / "release"),
        ("check", tmp_path / "people.csv", "-c", config),
    ):
        out = call(*command).out.splitlines()
        said += [line for line in out if line.startswith("Warning: column 'zq030' is released unchanged")]
    assert len(said) == 2
    assert said[0] == said[1]
    assert exchange("a key of households with the role insensitive", said[0]) == message
    report = json.loads((tmp_path / "release" / "report.json").read_text(encoding="utf-8"))
    assert said[0].removeprefix("Warning: ") in report["warnings"]


@pytest.mark.parametrize("again", [True, False])
def test_times_of_day_are_no_keys(tmp_path: Path, again: bool) -> None:
    """Other columns agree with an appointment as they do with the number of a person, or with none."""
    random = np.random.default_rng(5)
    codes = np.repeat(np.arange(160), 4) if again else random.integers(0, 960, 640)
    frame = pd.DataFrame({"zqtime": [f"{8 + code // 60:02d}:{code % 60:02d}" for code in codes]})
    for name, letters in (("region", "abcdef"), ("education", "klmn"), ("marital_status", "uvw")):
        frame[name] = random.choice(list(letters), 960)[codes if again else np.arange(640)]
    frame["age"] = random.integers(20, 90, len(frame)).astype(str)
    done, config = drafted(frame, tmp_path)
    assert "like the number of" not in done.out
    settings = yaml.safe_load(config.read_text())
    assert settings["attributes"]["zqtime"]["role"] != "identifier" or not again
    assert not {"person", "household"} & settings["input"].keys()


@pytest.mark.slow
def test_measures_and_their_bands_are_no_keys(tmp_path: Path) -> None:
    """Bands follow from a measure, and values that hardly repeat agree in anything by chance."""
    random = np.random.default_rng(4)
    size = len(households())
    steps, rare = random.integers(0, 300, size), random.integers(0, 10**6, size)
    rare[:10] = rare[10:20]
    frame = households(
        zqsteps=steps,
        zqband=steps // 30,
        zqlog=np.round(np.log1p(steps), 1),
        zqrare=rare,
    ).drop(columns="zq030")
    done, config = drafted(frame, tmp_path)
    assert "like the number of" not in done.out
    settings = yaml.safe_load(config.read_text())
    for name in ("zqsteps", "zqrare"):
        assert settings["attributes"][name]["role"] != "identifier"
        settings["attributes"][name] = {"role": "insensitive"}
    config.write_text(yaml.safe_dump(settings))
    assert "looks like the number" not in call("run", config, "-o", tmp_path / "release").out


def test_the_first_line_says_that_names_could_not_be_read(tmp_path: Path) -> None:
    """Headers of a script without words: the draft is cautious, says so everywhere, and runs."""
    kinds = {"სქესი": "0/1", "ასაკი": "ages", "ქალაქი": "codes", "პროფესია": "1-5"}
    done, config = drafted(table(**kinds), tmp_path)
    first = "The names of 4 of 4 columns could not be read, so the draft is cautious"
    assert done.out.startswith(first)
    assert config.read_text(encoding="utf-8").startswith(f"# {first}")
    assert set(roles(config).values()) == {"quasi-identifier"}
    done, config = drafted(table(**kinds), tmp_path, "--json")
    assert next(iter(done.json)) == "names"
    assert (done.json["names"]["read"], done.json["names"]["of"]) == (0, 4)
    assert done.json["names"]["note"].startswith(first)
    assert done.err.lstrip().find(first) >= 0
    assert_runs(config)
