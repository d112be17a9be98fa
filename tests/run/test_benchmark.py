"""Benchmarks: what is run, what is refused, what is left, and how they end."""

from __future__ import annotations

import csv
import json
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymizer.cli.main import main
from anonymizer.commands import benchmark as benchmarking
from anonymizer.commands.benchmark import BenchmarkPlan, Request, benchmark, plan_benchmark
from anonymizer.commands.compare import ComparisonWatch
from anonymizer.commands.run import run
from anonymizer.commands.workers import Cost, RunResult, run_to_result
from anonymizer.config.load import load_config
from anonymizer.config.model import Origin
from anonymizer.errors import Interrupted
from anonymizer.report.comparison import RunStatus
from anonymizer.search.base import SEARCH_ALGORITHMS
from tests.docs.pages import blocks
from tests.run.commands import ROOT, Done, call, snapshot
from tests.shared import shared

SMALL = ("--vary", "records=60")
PLUG_IN = blocks(ROOT / "docs" / "howto" / "add-a-search.md", "python")[0].text
"""The search that the how-to writes."""

ODD = """
from anonymizer.plugin import SearchAlgorithm

class Broken(SearchAlgorithm):
    name = "broken"
    def search(self, problem, control):
        raise RuntimeError("no idea")

class Unnamed(SearchAlgorithm):
    def search(self, problem, control):
        raise NotImplementedError

class Unfinished(SearchAlgorithm):
    name = "unfinished"

class Namesake(Broken):
    name = "lattice"

class Other:
    name = "other"

class Endless(SearchAlgorithm):
    name = "endless"
    def search(self, problem, control):
        import pathlib, time
        pathlib.Path("begun").touch()
        time.sleep(60)
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the current folder, with modules of plug-ins in it that nothing installs."""
    (tmp_path / "outside.py").write_text(PLUG_IN, encoding="utf-8")
    (tmp_path / "odd.py").write_text(ODD, encoding="utf-8")
    (tmp_path / "lacking.py").write_text("import nowhere_to_be_found\n", encoding="utf-8")
    (tmp_path / "faulty.py").write_text("1 / 0\n", encoding="utf-8")
    (tmp_path / "two.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in ("outside", "odd", "lacking", "faulty"):
        sys.modules.pop(name, None)
    for name in ("datafly", "broken", "endless"):
        if name in SEARCH_ALGORITHMS:
            SEARCH_ALGORITHMS.remove(name)


class Here:
    """Does the jobs of workers in this process, where they take a tenth of the time."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def results(
        self, jobs: Mapping[int, Mapping[str, Any]], stopped: Callable[[], bool]
    ) -> Iterator[tuple[int, RunResult]]:
        for number, job in jobs.items():
            if stopped():
                return
            config = load_config(job["config"]).located(Origin(job["name"], Path(job["beside"])))
            found = run_to_result(partial(run, config, Path(job["folder"]) / f"release-{number}"))
            yield number, RunResult(found.status, 1.0, found.reason, found.report, Cost(2.0, 1.0, 2**20))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarking, "WorkerPool", Here)


def plan(*vary: str, suite: str = "sample", **asked: Any) -> BenchmarkPlan:
    return plan_benchmark(Request(suite, vary=vary, **asked))


def test_algorithms_settings_and_tables(desk: Path) -> None:
    found = plan("k=2,9", "records=50,60", algorithms=("lattice", "mondrian"), repeat=3)
    assert found.tables[:3] == ((3, {"records": 50}), (3, {"records": 60}), (4, {"records": 50}))
    assert len(found.trials) == 2 * 2 * 2 * 3
    assert [each.run.number for each in found.trials] == list(range(1, 25))
    first = [(each.seed, each.table, each.run.algorithm, each.run.settings) for each in found.trials[:5]]
    small, large = ("records", "50"), ("records", "60")
    assert first == [
        (3, 0, "lattice", (small, ("k", "2"))),
        (3, 0, "mondrian", (small, ("k", "2"))),
        (3, 0, "lattice", (small, ("k", "9"))),
        (3, 0, "mondrian", (small, ("k", "9"))),
        (3, 1, "lattice", (large, ("k", "2"))),
    ]
    assert all(each.run.config.seed == each.seed for each in found.trials)
    assert [each.run.config.constraints[0].settings.k for each in found.trials[:4]] == [2, 2, 9, 9]


def test_a_size_with_one_value_is_that_of_all_tables(desk: Path) -> None:
    found = plan("records=50", algorithms=("lattice",), repeat=1)
    assert found.sizes == {"records": 50}
    assert found.trials[0].run.settings == ()
    assert plan(algorithms=("lattice",)).sizes == {"records": 3000}


def test_a_parameter_is_that_of_the_constraints_by_name(desk: Path) -> None:
    found = plan("constraints=k+t,all", "t=0.3", "k=4", algorithms=("lattice",), repeat=1)
    assert [dict(each.run.settings) for each in found.trials] == [
        {"constraints": "k+t", "t": "0.3", "k": "4"},
        {"constraints": "all", "t": "0.3", "k": "4"},
    ]
    both = [{each.model: each.settings for each in trial.run.config.constraints} for trial in found.trials]
    assert [len(each) for each in both] == [2, 5]
    assert {float(each["t-closeness"].t) for each in both} == {0.3}
    assert {each["k-anonymity"].k for each in both} == {4}
    written = plan("constraints=[{model: k-anonymity, k: 7}]", "k=2", algorithms=("lattice",), repeat=1)
    assert [each.settings.k for each in written.trials[0].run.config.constraints] == [2]


def test_without_algorithms_those_run_whose_losses_compare(desk: Path) -> None:
    names = {each.run.algorithm for each in plan(repeat=1).trials}
    assert {"lattice", "local", "mondrian"} <= names
    assert not names & {"anatomy", "auto", "microaggregation"}


@pytest.mark.parametrize("suite", ["sample", "wide"])
def test_a_seed_makes_the_same_table(desk: Path, suite: str) -> None:
    found = plan("records=40", suite=suite, repeat=1, algorithms=("lattice",))
    sizes = found.tables[0][1]
    for name, seed in (("one.csv", 5), ("again.csv", 5), ("other.csv", 6)):
        found.suite.write(desk / name, seed, sizes)
    one, again, other = ((desk / name).read_bytes() for name in ("one.csv", "again.csv", "other.csv"))
    assert one == again != other
    header, *lines = one.decode().splitlines()
    assert sorted(header.split(",")) == sorted(found.suite.attributes(sizes))
    assert len(lines) == 40


def test_the_sample_is_that_of_the_checkout(desk: Path) -> None:
    suite = plan(repeat=1, algorithms=("lattice",)).suite
    suite.write(desk / "sample.csv", suite.first_seed, {"records": 30_000})
    assert (desk / "sample.csv").read_bytes() == (ROOT / "examples" / "sample.csv").read_bytes()


BAD: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (("--suite", "wyde"), ("--suite wyde", "did you mean 'wide'?")),
    (("--suite", "adult"), ("--suite adult", "not shipped", "benchmark adult.csv --suite adult")),
    (("two.csv", "--suite", "adult"), ("two.csv: no column age", "accepted for the suite adult")),
    (("none.csv", "--suite", "adult"), ("none.csv: cannot be read: No such file", "name the file")),
    ((".", "--suite", "adult"), (".: cannot be read",)),
    (("two.csv",), ("two.csv: the suite sample makes its own data", "--suite adult")),
    (("--algorithm", "mondrain"), ("algorithm.name: 'mondrain'", "did you mean 'mondrian'?")),
    (("--algorithm", "lattice", "--algorithm", "lattice"), ("--algorithm lattice: is given twice",)),
    (("--algorithm", "outside:Datafli"), ("has no class 'Datafli'", "did you mean 'Datafly'?")),
    (("--algorithm", "outsid:Datafly"), ("no module 'outsid' in the current folder", "outsid.py")),
    (("--algorithm", "lacking:X"), ("cannot be imported", "nowhere_to_be_found", "install what it needs")),
    (("--algorithm", "faulty:X"), ("cannot be imported: ZeroDivisionError", "mend the module")),
    (("--algorithm", ":X"), ("':X' is not a class", "accepted: MODULE:CLASS")),
    (("--algorithm", "odd:Other"), ("odd:Other: is no search algorithm", "a subclass of SearchAlgorithm")),
    (("--algorithm", "odd:Unnamed"), ("odd:Unnamed: is no search algorithm", "with a name")),
    (("--algorithm", "odd:Unfinished"), ("odd:Unfinished: is no search algorithm", "all of its methods")),
    (("--algorithm", "odd:Namesake"), ("its name 'lattice' is that of another search algorithm",)),
    (("--vary", "kk=3"), ("--vary kk=3: unknown key 'kk'", "accepted:", "records")),
    (("--vary", "k"), ("--vary k: not a key with values", "accepted: KEY=V1,V2")),
    (("--vary", "k=2,2"), ("the value 2 is given twice",)),
    (("--vary", "k=0,5"), ("constraints[0].k: 0", "accepted: a whole number >= 1")),
    (("--vary", "t=0.2"), ("--vary t=0.2", "k+l have no parameter 't'", "--vary constraints=k+t")),
    (("--vary", "columns=3"), ("unknown key 'columns'",)),
    (("--vary", "records=0"), ("--vary records: 0", "whole numbers from 1 to")),
    (("--vary", "records=many"), ("--vary records: many", "whole numbers from 1 to")),
    (("--vary", "constraints=k,l"), ("--vary constraints=l", "accepted: k, k+l")),
    (("--vary", "k=2", "--vary", "constraints.0.k=3"), ("constraints.0.k: is the same key as k",)),
    (("--vary", "seed=3"), ("unknown key 'seed'",)),
    (("--vary", "attributes.age.role=drop"), ("must have the same value in all runs",)),
    (("--repeat", "0"), ("--repeat", "greater than or equal to 1")),
    (("-o", "two.csv"), ("two.csv: is not a folder", "choose another with -o")),
    (("-o", "two.csv/in"), ("two.csv/in: ", "two.csv is not a folder", "choose another with -o")),
    (("-o", ".", "--overwrite"), (".: holds faulty.py, which is not from a benchmark",)),
    (("-o", "nul"), ("nul", "is not possible on Windows")),
]


@pytest.mark.parametrize(("words", "said"), BAD, ids=[" ".join(words) for words, _ in BAD])
def test_what_is_wrong_is_said_before_anything_is_made(
    desk: Path, words: tuple[str, ...], said: tuple[str, ...]
) -> None:
    before = snapshot(desk)
    done = call("benchmark", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert [each for each in said if each not in done.err] == []
    assert "Traceback" not in done.err
    assert snapshot(desk) == before


def bench(*words: str | Path, repeat: int = 2) -> Done:
    return call("benchmark", "--quiet", "--repeat", str(repeat), *SMALL, *words)


def runs_of(folder: Path) -> list[dict[str, str]]:
    """Return the runs of a folder without what differs between two measurements."""
    times = ("cpu_seconds", "search_cpu_seconds", "peak_bytes")
    with (folder / "runs.csv").open(encoding="utf-8", newline="") as stream:
        return [{key: own[key] for key in own if key not in times} for own in csv.DictReader(stream)]


def test_results_are_shown_and_left_in_a_folder(desk: Path, here: None) -> None:
    mine, vary = ("--algorithm", "outside:Datafly", "--algorithm", "lattice"), ("--vary", "k=2,4")
    done = bench(*mine, *vary, "-o", "new/out", repeat=1)
    assert (done.code, done.err) == (0, "")
    folder = desk / "new" / "out"
    assert {path.name for path in folder.iterdir()} == {"benchmark.html", "command.txt", "runs.csv"}
    assert [path.name for path in (desk / "new").iterdir()] == ["out"]
    head = "Suite sample: 4 runs on the table of seed 3 with 60 records."
    assert done.out.splitlines()[0] == head
    assert [line.split()[1] for line in done.out.splitlines()[4:8]] == ["datafly", "lattice"] * 2
    command = (folder / "command.txt").read_text(encoding="utf-8")
    assert f"  {command}" in done.out
    assert command.endswith("-o new/out --overwrite\n")
    runs = runs_of(folder)
    assert [each["algorithm"] for each in runs] == ["datafly", "lattice"] * 2
    assert all(float(each["loss"]) <= 1 for each in runs)

    again = bench("-o", "new/out")
    assert again.code == 2
    assert "new/out: holds an earlier benchmark; replace it with --overwrite" in again.err

    # The command runs as it is printed, and the same seeds give the same losses.
    assert call(*shlex.split(command)[1:], "--quiet").code == 0
    assert runs_of(folder) == runs


def test_json_is_one_object(desk: Path, here: None) -> None:
    done = bench("--algorithm", "lattice", "--json")
    assert done.code == 0
    assert set(done.json) == {
        "suite", "sizes", "seeds", "budget", "interrupted", "results", "runs", "command", "environment",
    }  # fmt: skip
    (result,) = done.json["results"]
    assert (result["algorithm"], result["runs"], result["releases"]) == ("lattice", 2, 2)
    losses = [each["loss"] for each in done.json["runs"]]
    assert result["loss"]["mean"] == pytest.approx(sum(losses) / 2)
    assert result["gap"]["mean"] == 0
    assert result["cpu_seconds"]["mean"] == 2
    assert done.json["seeds"] == [3, 4]
    assert {"linkage nearest euclidean", "inference diagnosis"} <= set(result["attacks"])


def test_no_release_is_exit_1(desk: Path, here: None) -> None:
    done = bench("--algorithm", "lattice", "--vary", "k=61", "-o", "out")
    assert done.code == 1
    assert "lattice k=61: 2 infeasible: no recoding" in done.out
    assert len(runs_of(desk / "out")) == 2


def test_a_refusal_of_all_runs_is_exit_2(desk: Path, here: None) -> None:
    done = bench("--algorithm", "microaggregation", "-o", "out")
    assert done.code == 2
    assert not (desk / "out").exists()


def test_what_is_done_before_a_stop_is_a_result(desk: Path, here: None) -> None:
    found = plan("records=60", algorithms=("lattice", "mondrian"), repeat=2)
    ended: list[str] = []
    watch = ComparisonWatch(finished=lambda run: ended.append(run.title), stopped=lambda: len(ended) == 2)
    result = benchmark(found, watch)
    assert ended == ["lattice seed=3", "mondrian seed=3"]
    assert result.interrupted
    assert result.headline().startswith("Suite sample: 2 of 4 runs on the table of seed 3")
    assert result.headline().endswith("; stopped by the user.")
    with pytest.raises(Interrupted, match="no run has ended; nothing was written"):
        benchmark(found, ComparisonWatch(stopped=lambda: True))


def test_a_failed_run_is_exit_1(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Dead(Here):
        def results(
            self, jobs: Mapping[int, Mapping[str, Any]], stopped: Callable[[], bool]
        ) -> Iterator[tuple[int, RunResult]]:
            for number, found in super().results(jobs, stopped):
                yield number, found if number > 1 else RunResult(RunStatus.FAILED, 0.0, "signal 9")

    monkeypatch.setattr(benchmarking, "WorkerPool", Dead)
    done = bench("--algorithm", "lattice")
    assert done.code == 1
    assert "lattice: 1 failed: signal 9" in done.out


HEADER = "age,sex,race,marital_status,education,Native.Country,workclass,occupation,fnlwgt"
VALUES = (
    ("Male", "Female"),
    ("White", "Black"),
    ("Divorced", "Married"),
    ("Bachelors", "Masters"),
    ("United-States", "?"),
    ("Private", "State-gov"),
    ("Sales", "Tech-support", "Other-service"),
)


def adult(path: Path, records: int = 80) -> Path:
    """Write a file with the columns of Adult in another spelling."""
    lines = [HEADER]
    for number in range(records):
        own = [values[number * 7 // (place + 2) % len(values)] for place, values in enumerate(VALUES)]
        lines.append(", ".join([str(20 + number % 37), *own, "1"]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def bench_adult(path: Path, *words: str) -> Done:
    return call(
        "benchmark", path, "--suite", "adult", "--algorithm", "mondrian", "--repeat", "2", "--json", *words
    )


def test_adult_is_a_file_of_the_user_in_any_spelling(desk: Path, here: None) -> None:
    path = adult(desk / "adult.csv")
    before = path.read_bytes()
    done = bench_adult(path, "--vary", "records=40,80", "--vary", "l=2", "--quiet")
    assert done.code == 0, done.err
    small, large = done.json["results"]
    assert (small["releases"], large["releases"]) == (2, 2)
    assert small["loss"]["sd"] > 0
    assert large["loss"]["sd"] == 0
    assert path.read_bytes() == before
    refused = bench_adult(path, "--vary", "records=81")
    assert refused.code == 2
    assert "--vary records=81" in refused.err
    assert "has 80 records" in refused.err


def test_hierarchies_beside_adult_are_used(desk: Path) -> None:
    path = adult(desk / "adult.csv")
    (desk / "hierarchies").mkdir()
    (desk / "hierarchies" / "sex.csv").write_text("Male;*\nFemale;*\n", encoding="utf-8")
    own = plan_benchmark(Request("adult", path, ("mondrian",), repeat=1)).suite
    columns = own.attributes({"records": 80})
    assert columns["sex"]["hierarchy"] == {"file": str(desk / "hierarchies" / "sex.csv")}
    assert columns["race"]["hierarchy"] == {"auto": {}}
    assert columns["fnlwgt"] == {"role": "drop"}
    assert columns["occupation"] == {"role": "sensitive"}


def test_the_software_says_how_to_cite_it() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["cff-version"] == "1.2.0"
    assert (cited["title"], cited["version"]) == (project["name"], project["version"])
    assert (cited["authors"], cited["keywords"]) == (project["authors"], project["keywords"])
    assert (cited["license"], cited["abstract"]) == (project["license"], project["description"])
    assert "doi" not in cited


def started(desk: Path, *words: str) -> subprocess.Popen[str]:
    """Start the command as a user does, in the folder with the plug-ins."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "anonymizer", "benchmark", *SMALL, *words],
        cwd=desk,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_plug_in_from_outside_the_tree_is_one_more_column(desk: Path) -> None:
    """By real workers, which measure time and memory, of a class that nothing installs."""
    words = ("--algorithm", "outside:Datafly", "--algorithm", "lattice", "--repeat", "1", "--json")
    process = started(desk, *words)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert "1/2  datafly seed=3:  satisfied" in err
    content = json.loads(out)
    mine, lattice = content["results"]
    assert (mine["algorithm"], lattice["algorithm"]) == ("datafly", "lattice")
    assert mine["loss"]["mean"] >= lattice["loss"]["mean"]
    assert (mine["gap"], lattice["gap"]["mean"]) == (None, 0)
    for each in (mine, lattice):
        assert 0 < each["search_cpu_seconds"]["mean"] < each["cpu_seconds"]["mean"]
        assert each["peak_bytes"]["mean"] > 50 * 2**20


@pytest.mark.slow
def test_a_broken_plug_in_is_a_failed_run(desk: Path) -> None:
    done = bench("--algorithm", "odd:Broken", repeat=1)
    assert done.code == 1
    assert "broken: 1 failed: its process ended with code 1: RuntimeError: no idea" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [("odd:Endless", "lattice"), ("lattice", "odd:Endless")])
def test_ctrl_c_leaves_what_is_done_or_nothing(desk: Path, first: str, second: str) -> None:
    process = started(desk, "--algorithm", first, "--algorithm", second, "-o", "out")
    while not (desk / "begun").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if first == "lattice":
        assert process.returncode == 0, err
        assert "1 of 10 runs on" in out.splitlines()[0]
        assert out.splitlines()[0].endswith("stopped by the user.")
        assert (desk / "out" / "runs.csv").exists()
    else:
        assert (process.returncode, out) == (130, "")
        assert "interrupted: no run has ended; nothing was written" in err
        assert not (desk / "out").exists()


@pytest.mark.slow
def test_adult_itself(desk: Path) -> None:
    path = shared("data", "adult", "data.csv.gz")
    done = bench_adult(path, "--vary", "records=500", "--vary", "constraints=k,k+linkage")
    assert done.code == 0, done.err
    assert [each["releases"] for each in done.json["results"]] == [2, 2]


@pytest.mark.slow
def test_the_command_repeats_as_a_user_runs_it(desk: Path) -> None:
    process = started(desk, "--algorithm", "mondrian", "--repeat", "2", "-o", "a folder")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    before = runs_of(desk / "a folder")
    (command,) = [line.strip() for line in out.splitlines() if line.startswith("  anonymizer benchmark")]
    assert main([*shlex.split(command)[1:], "--quiet"]) == 0
    assert runs_of(desk / "a folder") == before
