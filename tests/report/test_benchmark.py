"""Results of a benchmark: mean and spread, table, CSV, JSON, and the page with its curves."""

from __future__ import annotations

import csv
import io
import json
import statistics
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from anonymizer.report.benchmark import Benchmark, Trial, lines, rows, spread_of, to_csv, to_dict
from anonymizer.report.benchmark_page import axis_of, benchmark_page, curves
from anonymizer.report.comparison import ComparedRun, RunStatus
from tests.report.comparisons import LINKAGE, counted, run
from tests.report.test_compare_page import Page

COMMAND = "anonymizer benchmark --suite sample --vary k=2,10 --repeat 2 -o 'my results' --overwrite"
MADE = {"anonymizer": "1.2.3"}


def trial(number: int, name: str, k: str, seed: int, loss: float, success: float) -> Trial:
    own = replace(run(number, loss, counted(success), (("k", k),)), algorithm=name)
    return Trial(seed, own, 0.5 * loss if name == "local" else None, 2.0 + seed, 1.0, 100 * 2**20)


def without(number: int, status: RunStatus, reason: str) -> Trial:
    own = ComparedRun(number, "lattice", (("k", "10"),), (), status, 1.0, reason)
    return Trial(4, own, None, None, None, None)


@pytest.fixture
def found() -> Benchmark:
    trials = [
        trial(1, "lattice", "2", 3, 0.1, 0.5),
        trial(2, "local", "2", 3, 0.05, 0.6),
        trial(3, "lattice", "10", 3, 0.3, 0.1),
        trial(4, "lattice", "2", 4, 0.2, 0.4),
        trial(5, "local", "2", 4, 0.07, 0.7),
        without(6, RunStatus.REFUSED, "value 'secret' is unknown"),
    ]
    return Benchmark("sample", {"records": 300}, tuple(trials), 6, COMMAND, {}, MADE)


def test_a_cell_has_the_mean_and_the_standard_deviation_of_its_tables(found: Benchmark) -> None:
    cells = {(each.algorithm, dict(each.settings)["k"]): each for each in found.cells}
    assert list(cells) == [("lattice", "2"), ("local", "2"), ("lattice", "10")]
    loss = cells["lattice", "2"].loss
    assert loss is not None
    assert (loss.mean, loss.sd) == (statistics.mean([0.1, 0.2]), statistics.stdev([0.1, 0.2]))
    assert (loss.low, loss.high, loss.values) == (0.1, 0.2, 2)
    assert cells["lattice", "2"].gap is None
    gap = cells["local", "2"].gap
    assert gap is not None
    assert gap.mean == pytest.approx(0.03)
    alone = cells["lattice", "10"]
    assert (alone.releases, len(alone.trials)) == (1, 2)
    assert alone.loss is not None
    assert (alone.loss.mean, alone.loss.sd) == (0.3, None)
    assert spread_of([]) is None


def test_a_release_with_unchanged_quasi_identifiers_has_no_loss(found: Benchmark) -> None:
    own = found.trials[0]
    assert own.run.measured is not None
    groups = replace(own.run.measured, algorithm="anatomy")
    assert replace(own, run=replace(own.run, measured=groups)).loss is None


def test_the_terminal_has_a_row_for_each_cell_and_the_command(found: Benchmark) -> None:
    shown = list(lines(found))
    assert shown[0] == "Suite sample: 6 runs on tables of seeds 3 to 4 with 300 records."
    assert [row[:4] for row in rows(found)] == [
        ("2", "lattice", "2 of 2", "0.1500 ± 0.0707"),
        ("2", "local", "2 of 2", "0.0600 ± 0.0141"),
        ("10", "lattice", "1 of 2", "0.3000"),
    ]
    assert "lattice k=10: 1 refused: value 'secret' is unknown" in shown
    assert shown[-1] == f"  {COMMAND}"
    attacked = shown[shown.index("Success of attacks, in percent:") + 1 :]
    assert attacked[2].split() == ["k", "algorithm", "euclidean"]
    assert attacked[3].split() == ["2", "lattice", "45.0", "±", "7.1"]


def test_a_clock_and_a_stop_are_said(found: Benchmark) -> None:
    stopped = replace(found, planned=9, budget={"cpu_seconds": 10})
    shown = list(lines(stopped))
    assert shown[0].startswith("Suite sample: 6 of 9 runs on tables")
    assert shown[0].endswith("; stopped by the user.")
    assert "Budget of each search: cpu_seconds 10. A search that the clock ends" in shown[2]
    assert to_dict(stopped)["interrupted"]
    assert not to_dict(found)["interrupted"]


def test_csv_has_a_line_for_each_run_and_quotes_no_value(found: Benchmark) -> None:
    read = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [each["run"] for each in read] == list("123456")
    assert [each["k"] for each in read] == ["2", "2", "10", "2", "2", "10"]
    assert read[0][LINKAGE] == "0.5"
    assert (read[5]["loss"], read[5]["cpu_seconds"]) == ("", "")
    assert "secret" not in to_csv(found)


def test_json_has_results_and_runs(found: Benchmark) -> None:
    content = json.loads(json.dumps(to_dict(found), allow_nan=False))
    first = content["results"][0]
    assert (first["algorithm"], first["settings"], first["runs"]) == ("lattice", {"k": "2"}, 2)
    assert first["attacks"][LINKAGE]["mean"] == pytest.approx(0.45)
    assert content["runs"][0]["attacks"][LINKAGE]["success"] == 0.5
    assert content["runs"][5]["reason"] == "value 'secret' is unknown"
    assert (content["runs"][5]["loss"], content["runs"][5]["attacks"]) == (None, None)
    assert content["command"] == COMMAND


def test_the_page_stands_alone_and_has_every_curve(found: Benchmark) -> None:
    page = benchmark_page(found)
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert [link for link in parsed.links if not link.startswith("#")] == []
    assert len(parsed.ids) == len(set(parsed.ids))
    assert "secret" not in page
    assert COMMAND in parsed.text
    assert [each.title for each in curves(found)] == [
        "Loss",
        "Gap",
        f"Success of {LINKAGE}",
        "Seconds of search",
        "MiB of memory",
    ]
    assert benchmark_page(replace(found)) == page


def test_a_curve_has_its_means_as_data(found: Benchmark) -> None:
    loss, gap, *_ = curves(found)
    assert loss.finding == "Smallest mean: 0.06, local at k=2."
    assert [row[:3] for row in loss.data.rows] == [
        ("2", "lattice", "0.15"),
        ("10", "lattice", "0.3"),
        ("2", "local", "0.06"),
    ]
    assert ElementTree.fromstring(loss.svg).tag.endswith("svg")
    # The only line of the second chart looks like this algorithm's in the first.
    assert "var(--before)" in gap.svg


def test_numbers_are_on_the_horizontal_axis_before_names(found: Benchmark) -> None:
    assert axis_of(found) == "k"
    named = [
        replace(each, run=replace(each.run, settings=(("constraints", name), *each.run.settings)))
        for each in found.trials
        for name in ("k", "all")
    ]
    both = replace(found, trials=tuple(named))
    assert axis_of(both) == "k"
    assert [each.title for each in curves(both)][:2] == ["Loss constraints=k", "Loss constraints=all"]
    bare = [replace(each, run=replace(each.run, settings=())) for each in found.trials]
    alone = replace(found, trials=tuple(bare))
    assert axis_of(alone) == ""
    assert [row[:2] for row in next(curves(alone)).data.rows] == [
        ("lattice", "lattice"),
        ("local", "local"),
    ]


def test_a_benchmark_without_a_release_has_a_page(found: Benchmark) -> None:
    failed = replace(found, trials=found.trials[5:], planned=1)
    page = benchmark_page(failed)
    assert "No run has a release." in page
    assert "refused" in page
    assert not failed.failed
