"""``init``: from a file to a config that runs."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest

from anonymizer.config.load import load_config
from tests.cli.drafting import COLUMNS, assert_runs, drafted, text
from tests.profile.planted import ORDINARY, PLANTED, write_planted
from tests.run.commands import call


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drafts are what names and values say; no first release of theirs is tried."""
    monkeypatch.setattr("anonymizer.commands.init.trial_of", lambda *_: None)


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", text().encode()),
        ("bom.csv", b"\xef\xbb\xbf" + text().encode()),
        ("semicolons.csv", text(separator=";").encode()),
        ("tabs.tsv", text(separator="\t").encode()),
        ("zipped.csv.gz", gzip.compress(text().encode())),
        ("returns.csv", text().replace("\n", "\r\n").encode()),
    ],
)
def test_what_files_look_like(name: str, content: bytes, tmp_path: Path) -> None:
    done, config = drafted(tmp_path, content, name)
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()[1:5]] == list(COLUMNS)
    assert_runs(config)


def test_parquet(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.read_csv(io.StringIO(text()))
    frame.loc[:3, "age"] = None
    frame.to_parquet(tmp_path / "people.parquet")
    assert call("init", tmp_path / "people.parquet").code == 0
    assert_runs(tmp_path / "people.yaml")


ODD_NAMES = (
    *("a: b", "quote'd", 'double "quotes"', "Größe 人 🙂", "  blanks  ", "null", "1e5", "- dash", "#hash"),
    *(
        "{brace}",
        "a\nb",
        "tab\tin",
        "yes",
        "*",
        "back\\slash",
        "<<",
        "\u2028line",
        "?",
        "7",
        "~",
        "!tag",
        "&a",
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("part", [ODD_NAMES[:8], ODD_NAMES[8:15], ODD_NAMES[15:]])
def test_column_names_that_yaml_would_take_for_something_else(part: tuple[str, ...], tmp_path: Path) -> None:
    names = (*part, f"{part[0]} diagnosis")
    lines = [
        [str((row + 3 * place) % 5) for place in range(len(part))] + ["ABC"[row % 3]] for row in range(90)
    ]
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([names, *lines])
    done, config = drafted(tmp_path, stream.getvalue())
    assert done.code == 0, done.err
    assert tuple(load_config(config).attributes) == names
    assert load_config(config).constraints[-1].attribute == names[-1]
    assert all(line.isprintable() for line in done.out.split("\n"))
    assert_runs(config)


@pytest.mark.usefixtures("untried")
def test_what_it_says(tmp_path: Path) -> None:
    done, config = drafted(tmp_path, text())
    lines = done.out.splitlines()
    assert lines[0] == "200 rows x 4 columns, comma, UTF-8"
    assert lines[1].startswith("age        quasi-identifier  40 values, ")
    assert lines[3].endswith("   <- uncertain, please check")
    assert lines[4] == "diagnosis  sensitive         4 values, name suggests health"
    assert lines[5].startswith("Together, the 2 quasi-identifiers make ")
    assert lines[-1] == f"Wrote {config} (k=5, suppression limit 2 %). Next: anonymizer run {config}"


def test_json(tmp_path: Path) -> None:
    done, config = drafted(tmp_path, text(), "people.csv", "--json")
    assert set(done.json) == {"names", "config", "columns"}
    assert done.json["names"] == {"read": 4, "of": 4, "note": None}
    assert done.json["config"] == load_config(config).to_dict()
    assert list(done.json["columns"]) == list(COLUMNS)
    assert done.json["columns"]["diagnosis"]["role"] == "sensitive"
    assert done.json["columns"]["sex"]["distinct"] == 2


@pytest.mark.slow
def test_identifiers_are_dropped_and_said(tmp_path: Path) -> None:
    done = call("init", write_planted(tmp_path / "people.csv"), "--json")
    columns = done.json["columns"]
    assert {name: each["looks_like"] for name, each in columns.items()} == {
        **{name: what for name, (_, what) in PLANTED.items()},
        **dict.fromkeys(ORDINARY),
    }
    assert {name for name, each in columns.items() if each["role"] == "identifier"} == set(PLANTED)
    assert_runs(tmp_path / "people.yaml")
    header = (tmp_path / "people-release/share/release.csv").read_text().splitlines()[0]
    # A first release hides the postal codes of so few records.
    assert header == ",".join(name for name in ORDINARY if columns[name]["role"] != "drop")


def test_neither_the_config_nor_the_answer_holds_a_value(tmp_path: Path) -> None:
    columns = ("age", "name", "code", "diagnosis", "city")
    canaries = [f"canary{number}" for number in range(120)]
    records = [
        f"{20 + number % 40},{each},{each}x,{each[:7]}d,{each[:7]}c" for number, each in enumerate(canaries)
    ]
    done, config = drafted(tmp_path, "\n".join([",".join(columns), *records, "977,n,c,d,c", ""]))
    assert done.code == 0
    other = call("init", tmp_path / "people.csv", "-o", tmp_path / "b.yaml", "--json")
    for said in (done.out, config.read_text(), other.out):
        assert "canary" not in said
        assert "977" not in said


def test_missing_values_are_found(tmp_path: Path) -> None:
    lines = [
        f"{20 + n % 40 if n % 9 else 'NA'},{'ABC'[n % 3] if n % 7 else '?'},{'NA' if n % 2 else 'DE'}"
        for n in range(150)
    ]
    done, config = drafted(tmp_path, "\n".join(["age,city,country", *lines, ""]))
    assert done.code == 0
    loaded = load_config(config)
    assert loaded.input.missing == ("", "?", "NA")
    assert loaded.attributes["age"].type == "integer"
    assert_runs(config)


@pytest.mark.slow
def test_a_column_of_numbers_and_words_is_text(tmp_path: Path) -> None:
    lines = [f"{20 + n % 40},{'about ten' if n == 5 else n % 50}" for n in range(150)]
    _, config = drafted(tmp_path, "\n".join(["age,size", *lines, ""]), "people.csv", "--qi", "age,size")
    assert load_config(config).attributes["size"].type == "text"
    assert_runs(config)


def test_stars_do_not_stop_the_run(tmp_path: Path) -> None:
    lines = [f"{20 + n % 40},{'*' if n % 10 == 0 else 'xyzuvw'[n % 6]}" for n in range(150)]
    _, config = drafted(tmp_path, "\n".join(["age,city", *lines, ""]))
    assert_runs(config)


def test_columns_that_say_the_same_are_kept_once(tmp_path: Path) -> None:
    lines = [f"{n % 4},{'abcd'[n % 4]},{20 + n % 37}" for n in range(200)]
    _, config = drafted(tmp_path, "\n".join(["level,grade_name,age", *lines, ""]))
    roles = {name: each.role.value for name, each in load_config(config).attributes.items()}
    assert (roles["level"], roles["grade_name"]) != ("quasi-identifier", "quasi-identifier")
    assert_runs(config)


def test_only_a_date_of_birth_is_generalized_rather_than_dropped(tmp_path: Path) -> None:
    lines = [f"{1940 + n % 50}-0{1 + n % 9}-11,{'ABC'[n % 3]}" for n in range(300)]
    _, config = drafted(tmp_path, "\n".join(["birthday,diagnosis", *lines, ""]))
    assert load_config(config).attributes["birthday"].role == "quasi-identifier"
    assert_runs(config)


def test_one_column(tmp_path: Path) -> None:
    _, config = drafted(tmp_path, "age\n" + "".join(f"{20 + n % 30}\n" for n in range(100)))
    assert_runs(config)


def test_the_example_of_sixteen_people(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "examples" / "clinic.csv"
    _, config = drafted(tmp_path, source.read_bytes(), "clinic.csv")
    roles = [each.role.value for each in load_config(config).attributes.values()]
    assert roles == ["quasi-identifier", "quasi-identifier", "sensitive"]
    assert call("run", config).code == 0


def test_a_config_elsewhere_finds_the_data(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "configs").mkdir()
    (tmp_path / "a b" / "people.csv").write_text(text())
    config = tmp_path / "configs" / "job.yaml"
    assert call("init", tmp_path / "a b" / "people.csv", "-o", config).code == 0
    assert load_config(config).input.path == "../a b/people.csv"
    assert_runs(config)


def test_another_encoding(tmp_path: Path) -> None:
    content = text(("age", "sex", "ciudad", "diagnóstico")).encode("latin-1")
    done, config = drafted(tmp_path, content)
    assert done.code == 2
    assert "0xF3 would be ó in Windows-1252 and Latin-1" in done.err
    assert done.err.endswith("if these are the right characters, give --encoding cp1252\n")
    done, config = drafted(tmp_path, content, "people.csv", "--encoding", "latin-1", "--separator", ",")
    assert done.code == 0
    assert_runs(config)


def test_the_order_of_the_records_changes_nothing(tmp_path: Path) -> None:
    header, *records = text().splitlines()
    _, one = drafted(tmp_path, "\n".join([header, *records, ""]), "one.csv")
    _, other = drafted(tmp_path, "\n".join([header, *reversed(records), ""]), "other.csv")
    assert one.read_text() == other.read_text().replace("other.csv", "one.csv")


def test_interactive_asks_about_doubtful_columns_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x\nq\n"))
    done, config = drafted(tmp_path, text(), "people.csv", "--interactive")
    assert done.code == 0
    assert done.err.count("role [") == 2
    assert "colour: 4 values" in done.err
    assert "age:" not in done.err
    assert load_config(config).attributes["colour"].role == "quasi-identifier"
    assert "(chosen; proposed: insensitive)" in config.read_text().replace("\n  # ", " ")


def test_interactive_without_an_answer_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    done, config = drafted(tmp_path, text(), "people.csv", "--interactive")
    assert (done.code, "no answer on standard input" in done.err) == (2, True)
    assert not config.exists()
