"""What can be wrong with an input or a config: each is one message and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.run.commands import COLUMNS, Job, assert_message, call, csv_bytes, people, snapshot, spawn

Change = Callable[[Job], object]


@dataclass(frozen=True)
class Bad:
    """One thing that is wrong, and words that its message must hold: the place, the value, the remedy."""

    name: str
    change: Change
    words: tuple[str, ...]


def tree_file(text: str) -> Change:
    """Return a change that gives ``sex`` a hierarchy file."""

    def change(job: Job) -> None:
        (job.folder / "sex.csv").write_text(text, encoding="utf-8")
        job.attribute("sex", role="quasi-identifier", hierarchy={"file": "sex.csv"})

    return change


def ages(*values: str, **settings: str) -> Change:
    """Return a change that gives the first records other ages."""

    def change(job: Job) -> None:
        rows = [list(row) for row in people()]
        for row, value in zip(rows, values, strict=False):
            row[1] = value
        job.rows(rows)
        job.config["attributes"]["age"].update(settings)

    return change


def data(content: bytes) -> Change:
    return lambda job: setattr(job, "data", content)


def strictly(change: Change) -> Change:
    def strict(job: Job) -> None:
        job.config["input"]["strict_header"] = True
        change(job)

    return strict


def constraint(**settings: object) -> Change:
    return lambda job: job.constraints(settings)


def without_role(job: Job) -> None:
    del job.config["attributes"]["note"]


def no_quasi_identifier(job: Job) -> None:
    for name in ("age", "zip", "sex"):
        job.attribute(name, role="insensitive")


FILE_CASES = (
    Bad("empty file", data(b""), ("people.csv", "empty")),
    Bad("header only", data(csv_bytes([])), ("people.csv", "no records", "at least one record")),
    Bad(
        "ragged rows",
        data(csv_bytes([*people(), ("a", "20", "0117")])),
        ("people.csv", "62", "6", "3"),
    ),
    Bad(
        "wrong separator",
        lambda job: job.set("input", separator=";"),
        ("people.csv", "separator"),
    ),
    Bad(
        "undecodable bytes",
        data(csv_bytes(people()).replace(b"person 7,", b"person \xff,")),
        ("people.csv", "utf-8", "input.encoding"),
    ),
    Bad(
        "duplicate column names",
        strictly(data(csv_bytes(people(), (*COLUMNS[:-1], "age")))),
        ("people.csv", "'age'"),
    ),
    Bad(
        "unknown column in the config",
        lambda job: job.attribute("agee", role="insensitive"),
        ("job.json", "attributes.agee", "no such column", "people.csv"),
    ),
    Bad(
        "a column without a role",
        without_role,
        ("job.json", "attributes.note", "has no role", "identifier", "insensitive"),
    ),
    Bad(
        "a star, which stands for suppressed",
        data(csv_bytes([*people(), ("a", "20", "*", "F", "flu", "x")])),
        ("people.csv", "'zip'", "'*'", "input.missing"),
    ),
    Bad(
        "UTF-16 without a byte-order mark",
        lambda job: job.set("input", encoding="utf-16"),
        ("people.csv", "input.encoding"),
    ),
    Bad(
        "no folder for temporary files",
        lambda job: job.set("engine", options={"temp_directory": "/dev/null/x"}),
        ("engine.options.temp_directory", "/dev/null/x"),
    ),
    Bad("NaN", ages("nan"), ("people.csv", "'age'", "'nan'", "input.missing")),
    Bad("inf", ages("-inf", type="number"), ("people.csv", "'age'", "'-inf'", "input.missing")),
    Bad("mixed types", ages("abc", "young"), ("people.csv", "'age'", "2 are not", "type: text")),
    Bad(
        "mixed types in a declared column",
        ages("abc", type="integer"),
        ("people.csv", "'age'", "declared integer", "'abc'", "type: text"),
    ),
    Bad(
        "a fraction in a column of integers",
        ages("20.5", type="integer"),
        ("people.csv", "'age'", "'20.5'", "type: number"),
    ),
)

CONFIG_CASES = (
    Bad("no quasi-identifier", no_quasi_identifier, ("job.json", "role: quasi-identifier")),
    Bad(
        "l-diversity without a sensitive attribute",
        lambda job: job.attribute("diagnosis", role="insensitive"),
        ("job.json", "constraints[1]", "l-diversity", "role: sensitive"),
    ),
    Bad("k = 0", constraint(model="k-anonymity", k=0), ("constraints[0].k", "0", "a whole number")),
    Bad("k = 1.5", constraint(model="k-anonymity", k=1.5), ("constraints[0].k", "1.5", "a whole number")),
    Bad("k missing", constraint(model="k-anonymity"), ("constraints[0].k",)),
    Bad("limit above 1", lambda job: job.set("suppression", limit=1.1), ("suppression.limit", "1.1", "1")),
    Bad("limit below 0", lambda job: job.set("suppression", limit=-0.1), ("suppression.limit", "-0.1", "0")),
    Bad(
        "limit that is no number",
        lambda job: job.set("suppression", limit="much"),
        ("suppression.limit", "much"),
    ),
    Bad(
        "unknown model",
        constraint(model="k-anonimity", k=3),
        ("constraints[0].model", "k-anonimity", "did you mean 'k-anonymity'"),
    ),
    Bad(
        "unknown metric",
        lambda job: job.set("objective", metric="los"),
        ("objective.metric", "los", "did you mean 'loss'"),
    ),
    Bad(
        "unknown algorithm",
        lambda job: job.set("algorithm", name="latice"),
        ("algorithm.name", "latice", "did you mean 'lattice'"),
    ),
    Bad(
        "unknown key",
        lambda job: job.set("suppression", limt=0.1),
        ("suppression.limt", "unknown key", "did you mean 'limit'"),
    ),
    Bad(
        "unknown role",
        lambda job: job.attribute("sex", role="quasi"),
        ("attributes.sex.role", "quasi", "quasi-identifier"),
    ),
)

HIERARCHY_CASES = (
    Bad("missing file", lambda job: job.config["attributes"]["sex"].update(hierarchy={"file": "no.csv"}),
        ("hierarchy file no.csv", "looked in")),
    Bad("two parents", tree_file("F,a,*\nM,b,*\nx,a,+\n"), ("sex.csv", "'a'")),
    Bad("two roots", tree_file("F,*\nM,all\n"), ("sex.csv", "'*'", "'all'")),
    Bad("ragged rows", tree_file("F,female,*\nM,*\n"), ("sex.csv", "2")),
    Bad("a missing value", tree_file("F,*\n"), ("sex.csv", "column 'sex'", "29 rows", "'M'", "unknown: top")),
    Bad("a duplicate value", tree_file("F,a,*\nM,a,*\nF,b,*\n"), ("sex.csv", "'F'")),
    Bad("an empty file", tree_file(""), ("sex.csv",)),
)  # fmt: skip


@pytest.mark.parametrize("bad", [*FILE_CASES, *CONFIG_CASES, *HIERARCHY_CASES], ids=lambda bad: bad.name)
def test_it_is_one_message_and_nothing_is_written(bad: Bad, tmp_path: Path) -> None:
    job = Job(tmp_path)
    bad.change(job)
    job.write()
    before = snapshot(tmp_path)
    done = call("run", job.file)
    assert (done.code, done.out) == (2, "")
    assert_message(done.err, bad.words)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("existing", [False, True], ids=["no release", "with a release"])
def test_a_missing_input(existing: bool, tmp_path: Path) -> None:
    job = Job(tmp_path)
    if existing:
        assert job.run().code == 0
    job.set("input", path="nowhere.csv")
    job.file.write_text(json.dumps(job.config), encoding="utf-8")
    before = snapshot(tmp_path)
    done = call("run", job.file, "--overwrite")
    assert done.code == 2
    assert "nowhere.csv" in done.err
    assert snapshot(tmp_path) == before


def test_a_directory_as_input(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    (tmp_path / "folder.csv").mkdir()
    done = call("run", job.file, "--set", "input.path=folder.csv")
    assert done.code == 2
    assert_message(done.err.replace("folder.csv", "people.csv"), ("people.csv", "directory"))
    assert not job.output.exists()


def test_a_missing_config(tmp_path: Path) -> None:
    done = call("run", tmp_path / "nowhere.yaml")
    assert done.code == 2
    assert_message(done.err, ("nowhere.yaml",))
    assert snapshot(tmp_path) == {}


def test_all_problems_of_a_config_at_once(tmp_path: Path) -> None:
    job = Job(tmp_path).set("suppression", limit=2).set("objective", metric="los").constraints()
    done = job.run()
    assert done.code == 2
    assert_message(done.err, ("3 problems", "suppression.limit", "objective.metric", "constraints"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [(["constraints.0.k=0"], "constraints[0].k"), (["nonsense"], "KEY=VALUE"), (["inputt.path=x"], "input")],
)
def test_a_bad_override(settings: list[str], said: str, tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    done = call("run", job.file, *(word for each in settings for word in ("--set", each)))
    assert done.code == 2
    assert_message(done.err, (said,))
    assert not job.output.exists()


NUL, LONG = "a\0b", "x" * 300

PATHS: tuple[tuple[str, Callable[[str], dict[str, object]]], ...] = (
    ("input.path", lambda path: {"input": {"path": f"{path}.csv"}}),
    ("input.database", lambda path: {"input": {"database": path, "table": "t"}}),
    ("output.path", lambda path: {"output": {"path": f"{path}.csv"}}),
    ("output.database", lambda path: {"output": {"database": path, "table": "t"}}),
    ("apply.report", lambda path: {"apply": {"report": f"folder/{path}/report.json"}}),
    ("apply.report", lambda path: {"apply": path}),
    ("engine.options.temp_directory", lambda path: {"engine": {"options": {"temp_directory": path}}}),
)
"""Every path that a config can name, but those of hierarchies."""


@pytest.mark.parametrize(("path", "said"), [(NUL, "NUL byte"), (LONG, "at most 255 bytes")])
@pytest.mark.parametrize(("key", "section"), PATHS)
def test_a_path_that_no_file_can_have(
    key: str, section: Callable[[str], dict[str, object]], path: str, said: str, tmp_path: Path
) -> None:
    job = Job(tmp_path).write()
    content = {**job.config, **section(path)}
    content["attributes"]["sex"] = {"role": "quasi-identifier", "hierarchy": {"file": path}}
    job.file.write_text(json.dumps(content), encoding="utf-8")
    before = snapshot(tmp_path)
    done = call("run", job.file)
    assert done.code == 2
    assert_message(done.err, ("2 problems", f"{key}: ", "attributes.sex.hierarchy.file: ", said))
    assert done.err.count(said) == 2
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(("path", "said"), [(NUL, "NUL byte"), (LONG, "at most 255"), ("\udcff", "UTF-8")])
@pytest.mark.parametrize(
    "words",
    [
        ("run", "{}.json"),
        ("run", "job.json", "-o", "{}"),
        ("check", "{}.csv", "--qi", "age"),
        ("check", "people.csv", "-c", "{}.json"),
        ("init", "{}.csv"),
        ("init", "people.csv", "-o", "{}.yaml"),
        ("audit", "{}.csv"),
        ("audit", "people.csv", "--report", "{}.json"),
        ("attack", "{}.csv", "-c", "job.json"),
        ("attack", "people.csv", "-c", "job.json", "--original", "{}.csv"),
        ("attack", "people.csv", "-c", "job.json", "--second", "{}.csv"),
        ("compare", "job.json", "-o", "{}"),
        ("hierarchy", "show", "{}.csv"),
        ("hierarchy", "show", "country", "--svg", "{}.svg"),
        ("hierarchy", "validate", "country", "--data", "{}.csv", "--column", "sex"),
        ("hierarchy", "build", "--data", "people.csv", "--column", "sex", "--by", "flat", "-o", "{}.csv"),
    ],
    ids=" ".join,
)
def test_a_path_on_the_command_line_that_no_file_can_have(
    words: tuple[str, ...], path: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Job(tmp_path).write()
    monkeypatch.chdir(tmp_path)
    before = snapshot(tmp_path)
    done = call(*(word.format(path) for word in words))
    assert (done.code, done.out) == (2, "")
    assert_message(done.err, (said,))
    assert snapshot(tmp_path) == before


def test_an_output_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    before = snapshot(tmp_path)
    done = spawn("run", job.file, "-o", str(tmp_path / "out\udcff"))
    assert (done.code, done.out) == (2, "")
    assert_message(done.err, ("out\\udcff", "is not UTF-8"))
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    "error", [OSError(5, "Input/output error", "people.csv"), ValueError("embedded null byte")]
)
def test_what_the_system_refuses_is_a_message(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("anonymizer.commands.run.input_source", refused)
    done = Job(tmp_path).run()
    assert done.code == 2
    assert_message(
        done.err, ("people.csv: Input/output error" if isinstance(error, OSError) else "NUL byte",)
    )


def test_a_nul_byte_in_a_hierarchy_is_named_where_it_stands(tmp_path: Path) -> None:
    job = Job(tmp_path)
    tree_file("F,female,*\nM,ma\0le,*\n")(job)
    done = job.run()
    assert done.code == 2
    assert_message(done.err, ("hierarchy file sex.csv line 2", "NUL byte"))
    job.attribute("sex", role="quasi-identifier", hierarchy={"tree": {"*": {"a\0": ["F"], "b": ["M"]}}})
    done = job.run()
    assert done.code == 2
    assert_message(done.err, ("attributes.sex.hierarchy", "'a\\0'", "NUL byte"))
    assert not job.output.exists()


@pytest.mark.slow
def test_k_above_the_number_of_rows_says_the_largest_reachable(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 61}).set("suppression", limit=0).write()
    before = snapshot(tmp_path)
    done = spawn("run", job.file)
    assert (done.code, done.out) == (1, "")
    assert "61" in done.err
    assert "k = 60" in done.err
    assert "--set constraints.0.k=60" in done.err
    assert "Traceback" not in done.err
    assert snapshot(tmp_path) == before


@pytest.mark.slow
def test_a_process_of_its_own_says_the_same(tmp_path: Path) -> None:
    job = Job(tmp_path).constraints({"model": "k-anonymity", "k": 0}).write()
    done = spawn("run", job.file)
    here = call("run", job.file)
    assert (done.code, done.out, done.err) == (2, "", here.err)
