"""The Python calls: what they return, what they raise, and that they give what the command gives."""

from __future__ import annotations

import io
import json
from copy import deepcopy
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymizer as an
from anonymizer.data.frames import FrameQuery
from tests.helpers.reports import without_times
from tests.run.commands import COLUMNS, CONFIG, Job, call, people


def frame(records: int = 60) -> pd.DataFrame:
    """Return the made-up people, ages as numbers."""
    made = pd.DataFrame(people(records), columns=list(COLUMNS))
    return made.assign(age=made["age"].astype("int64"))


def config(**sections: Any) -> dict[str, Any]:
    """Return the small config without its input, with other sections."""
    return {**{key: deepcopy(each) for key, each in CONFIG.items() if key != "input"}, **sections}


def as_csv(data: pd.DataFrame) -> str:
    stream = io.StringIO()
    data.to_csv(stream, index=False, lineterminator="\n")
    return stream.getvalue()


@cache
def expected() -> str:
    """Return the release of the small job."""
    return as_csv(an.anonymize(frame(), config()).data)


def test_the_release_is_that_of_the_command(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run().code == 0
    result = an.anonymize(frame(), job.file)
    assert as_csv(result.data) == job.release.read_text(encoding="utf-8") == expected()
    here, there = result.report.to_dict(), job.report()
    for key in ("recoding", "constraints", "loss", "steps", "environment", "attributes", "status"):
        assert here[key] == there[key], key
    assert without_times(here["search"]) == without_times(there["search"])
    assert here["release"] == {
        **there["release"],
        **dict.fromkeys(("path", "sha256", "separator", "encoding")),
    }
    assert (here["input"]["path"], here["input"]["sha256"], here["input"]["rows"]) == (None, None, 60)


def test_the_result_has_a_new_index_and_no_identifier() -> None:
    data = an.anonymize(frame(), config()).data
    assert list(data.columns) == ["age", "zip", "sex", "diagnosis", "note"]
    assert data.index.equals(pd.RangeIndex(len(data)))
    assert data["age"].str.fullmatch(r"\d\d-\d\d").all()


@pytest.mark.parametrize(
    "index",
    [
        list(range(60, 0, -1)),
        [0] * 60,
        [f"patient {number}" for number in range(60)],
        pd.MultiIndex.from_product([range(6), range(10)], names=["age", "zip"]),
        pd.date_range("2024-01-01", periods=60, name="note"),
    ],
    ids=["backwards", "all the same", "texts", "of two levels", "dates"],
)
def test_the_index_is_of_no_matter(index: Any) -> None:
    given = frame().set_axis(index, axis=0)
    assert as_csv(an.anonymize(given, config()).data) == expected()


DTYPES: dict[str, dict[str, Any]] = {
    "nullable": {"age": "Int64", "zip": "string", "sex": "string", "diagnosis": "string"},
    "small integers": {"age": "int8"},
    "whole floats": {"age": "float64"},
    "nullable floats": {"age": "Float64"},
    "categories": {"sex": "category", "zip": "category", "diagnosis": "category", "note": "category"},
    "ordered categories": {
        "diagnosis": pd.CategoricalDtype(["stroke", "flu", "unused", "cancer", "asthma"], ordered=True)
    },
    "objects": dict.fromkeys(COLUMNS, object),
    "arrow": {"age": "int64[pyarrow]", "sex": "string[pyarrow]", "diagnosis": "string[pyarrow]"},
    "numbers as texts": {"age": "str"},
}


@pytest.mark.parametrize("dtypes", DTYPES.values(), ids=DTYPES)
def test_any_dtype_gives_the_same_release(dtypes: dict[str, Any]) -> None:
    given = frame().astype(dtypes)
    before = given.copy(deep=True)
    data = an.anonymize(given, config()).data
    assert as_csv(data) == expected()
    pd.testing.assert_frame_equal(given, before)


def test_kept_columns_keep_their_type_and_unused_categories_are_dropped() -> None:
    given = frame().assign(number=np.arange(60) % 7 / 2, day=pd.Timestamp("2024-05-06"))
    given["note"] = pd.Categorical(given["note"], [*given["note"].unique(), "never seen"])
    roles = config()["attributes"] | {"number": {"role": "insensitive"}, "day": {"role": "insensitive"}}
    data = an.anonymize(given, config(attributes=roles)).data
    assert data["number"].dtype == "float64"
    assert data["day"].dtype == given["day"].dtype
    assert "never seen" not in data["note"].cat.categories


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA], ids=["None", "NaN", "NA"])
def test_missing_values_are_one_value(missing: Any) -> None:
    given = frame().astype({"age": object, "sex": object, "diagnosis": object})
    given.loc[:9, "age"] = missing
    given.loc[5:14, "sex"] = missing
    given.loc[10:14, "diagnosis"] = missing
    given = given.astype({"age": "Int64"})
    result = an.anonymize(given, config(suppression={"limit": 0.4}))
    assert result.report["constraints"][0]["measured"] >= 3
    rows = given.astype(object).where(given.notna(), "").astype(str).to_csv(index=False)
    text = an.anonymize(pd.read_csv(io.StringIO(rows), dtype=str, keep_default_na=False),
                        config(suppression={"limit": 0.4}))  # fmt: skip
    assert as_csv(text.data) == as_csv(result.data)
    assert text.report["recoding"] == result.report["recoding"]


def test_a_missing_quasi_identifier_is_published_by_name() -> None:
    given = frame().assign(sex=["", *["F"] * 29, *["M"] * 30]).astype({"sex": object})
    given.loc[:19, "sex"] = None
    roles = config()["attributes"]
    for name in ("age", "zip"):
        roles[name] = {"role": "insensitive"}
    roles["sex"]["levels"] = {"max": 0}
    data = an.anonymize(given, config(attributes=roles)).data
    assert set(data["sex"]) == {"<missing>", "F", "M"}


def test_a_config_comes_as_a_mapping_a_file_or_itself(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    loaded = an.load_config(job.file)
    assert isinstance(loaded, an.Config)
    for given in (job.file, str(job.file), loaded, job.config):
        assert as_csv(an.anonymize(frame(), given).data) == expected()


def test_numbers_of_other_kinds_in_a_config() -> None:
    given = config(suppression={"limit": Decimal("0.1")})
    given["constraints"][0]["k"] = np.int64(3)
    assert as_csv(an.anonymize(frame(), given).data) == expected()


def test_the_report_is_that_of_the_contract_and_plain_json() -> None:
    report = an.anonymize(frame(), config()).report
    assert isinstance(report, an.Report)
    assert json.loads(report.to_json()) == report.to_dict()
    assert repr(report) == "Report(status='satisfied')"


def test_infeasible_carries_the_report() -> None:
    with pytest.raises(an.Infeasible, match="INFEASIBLE") as caught:
        an.anonymize(frame(), config(constraints=[{"model": "l-diversity", "l": 5}]))
    assert caught.value.report["status"] == "infeasible"
    assert caught.value.report["diagnosis"]["suggestions"] == ["constraints.0.l=4"]
    assert caught.value.exit_code == 1


def test_undecided_is_infeasible_with_another_status() -> None:
    given = config(constraints=[{"model": "vulnerability", "max": 0.02}], budget={"nodes": 1})
    given["attributes"]["sex"]["levels"] = {"max": 0}
    given["suppression"] = {"limit": 0}
    with pytest.raises(an.Infeasible, match="UNDECIDED") as caught:
        an.anonymize(frame(), given)
    assert caught.value.report["status"] == "undecided"


WRONG: dict[str, tuple[Any, Any, str]] = {
    "no records": (frame().iloc[:0], config(), "record"),
    "a column without a role": (frame().assign(extra=1), config(), "attributes.extra"),
    "a column that is not there": (frame().drop(columns="note"), config(), "attributes.note"),
    "two columns of one name": (frame().set_axis([*COLUMNS[:-1], "age"], axis=1), config(), "age"),
    "a name that is no text": (frame().set_axis([*COLUMNS[:-1], 5], axis=1), config(), "5"),
    "inf": (frame().assign(age=[np.inf, *[30.0] * 59]), config(), "age"),
    "k": (frame(), config(constraints=[{"model": "k-anonymity", "k": 0}]), r"constraints\[0\].k"),
    "no constraint": (frame(), config(constraints=[]), "constraints"),
}


@pytest.mark.parametrize(("given", "asked", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_an_input_error(given: pd.DataFrame, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(an.InputError, match=said):
        an.anonymize(given, asked)


def test_a_frame_released_otherwise_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    release = FrameQuery.frame
    monkeypatch.setattr(FrameQuery, "frame", lambda query: release(query).assign(sex="F"))
    with pytest.raises(an.AuditFailed):
        an.anonymize(frame(), config())


def test_check_is_a_table_of_measures() -> None:
    given = frame().set_axis([7] * 60, axis=0)
    before = given.copy(deep=True)
    table = an.check(given, quasi_identifiers=["zip", "sex"], sensitive=["diagnosis", "note"])
    assert list(table.columns) == ["model", "attribute", "parameters", "measured", "worst_classes"]
    pd.testing.assert_frame_equal(given, before)
    sizes = given.groupby(["zip", "sex"]).size()
    k = table[table["model"] == "k-anonymity"].iloc[0]
    assert (k["measured"], k["worst_classes"]) == (sizes.min(), (sizes == sizes.min()).sum())
    l_diversity = table[table["model"] == "l-diversity"].set_index("attribute")["measured"]
    for name in ("diagnosis", "note"):
        assert l_diversity[name] == given.groupby(["zip", "sex"])[name].nunique().min()


def test_check_gives_what_the_command_gives(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    done = call("check", job.input, "--qi", "age,zip", "--sensitive", "diagnosis", "--json")
    table = an.check(frame(), quasi_identifiers=["age", "zip"], sensitive=["diagnosis"])
    records = table.astype(object).where(table.notna(), None).to_dict("records")
    assert done.json["measures"] == json.loads(json.dumps(records).replace("Infinity", '"Infinity"'))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"quasi_identifiers": []}, "no quasi-identifier"),
        ({"quasi_identifiers": ["zipp"]}, "did you mean 'zip'"),
        ({"quasi_identifiers": ["zip"], "sensitive": ["zip"]}, "both"),
        ({"quasi_identifiers": "zip"}, "quasi_identifiers: 'zip'; accepted: a list of names"),
        ({"quasi_identifiers": ["zip"], "sensitive": "note"}, "sensitive: 'note'; accepted: a list of names"),
    ],
)
def test_check_refuses_wrong_names(names: dict[str, Any], said: str) -> None:
    with pytest.raises(an.InputError, match=said):
        an.check(frame(), **names)
