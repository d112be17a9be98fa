"""Which runs are recommended, and what is said of them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.commands.planning import risk_limit
from anonymizer.config.model import Config
from anonymizer.report.comparison import (
    ComparedRun,
    Comparison,
    Risk,
    RunStatus,
    measured_of,
)
from anonymizer.report.comparison_page import compare_page
from anonymizer.report.comparison_table import lines, to_csv, to_dict
from tests.helpers.messages import exchange
from tests.report.comparisons import LINKAGE, comparison, counted, run, without

QUOTING = (RunStatus.REFUSED, RunStatus.FAILED)


def test_overlapping_intervals_beat_nothing() -> None:
    wide = Risk(0.2, 0.1, 0.3, 0.0)
    found = comparison(run(1, 0.1, wide), run(2, 0.9, Risk(0.25, 0.15, 0.35, 0.0)), run(3, 0.9, counted(0.4)))
    assert found.unbeaten == {1, 2}
    assert found.indistinguishable == ((1, 2),)
    assert "1 and 2: not distinguishable in risk, their intervals overlap" in list(found.remarks())


def test_equal_runs_are_all_pareto_optimal_and_named() -> None:
    found = comparison(run(1, 0.1, counted(0.3)), run(2, 0.2, counted(0.2)), run(3, 0.1, counted(0.3)))
    assert [each.run.number for each in found.pareto] == [2, 1, 3]
    assert list(found.remarks()) == ["1 and 3: the same risk and loss"]


def test_the_attack_is_the_strongest_of_those_common_to_all() -> None:
    one = {"weak": counted(0.9, 0.9), "strong": counted(0.5, 0.1), "alone": counted(1.0)}
    other = {"weak": counted(0.95, 0.9), "strong": counted(0.2, 0.1)}
    found = comparison(run(1, 0.1, one), run(2, 0.2, other))
    assert found.attacks == ("weak", "strong")
    assert found.attack == "strong"


@pytest.mark.parametrize(
    ("runs", "first"),
    [
        ((run(1, 0.1, counted(0.2)),), "Run 1 beats or equals every other by risk and loss."),
        (
            (run(1, 0.1, counted(0.2)), run(2, 0.2, counted(0.1))),
            "Pareto-optimal: runs 1 and 2; among them, lower risk means higher loss.",
        ),
        (
            (run(1, 0.1, counted(0.2), ncp=0.5), run(2, 0.2, counted(0.1), ncp=0.4)),
            "Pareto-optimal: runs 1 and 2; among them, lower risk means higher loss.",
        ),
        (
            (
                run(1, 0.1, {"a": counted(0.2), "b": counted(0.1)}),
                run(2, 0.2, {"a": counted(0.1), "b": counted(0.3)}),
            ),
            "Run 1 beats or equals every other by risk and loss.",
        ),
        ((without(1, RunStatus.INFEASIBLE),), "None of 1 runs has a release."),
    ],
)
def test_the_first_line(runs: tuple[ComparedRun, ...], first: str) -> None:
    assert comparison(*runs).headline() == first
    assert next(lines(comparison(*runs))) == first


def test_an_attack_that_was_asked_for_goes_before_a_stronger_one() -> None:
    risks = {"linkage nearest": counted(0.2), "vulnerability": counted(0.9)}
    both = comparison(run(1, 0.1, risks))
    assert both.attack == "vulnerability"
    assert replace(both, asked=("linkage",)).attack == "linkage nearest"
    assert replace(both, asked=("interval",)).attack == "vulnerability"


def test_a_beaten_run_that_is_safer_by_another_attack_is_named() -> None:
    found = comparison(
        run(1, 0.1, {"a": counted(0.5), "b": counted(0.3)}),
        run(2, 0.2, {"a": counted(0.5), "b": counted(0.2)}),
        run(3, 0.3, {"a": counted(0.6), "b": counted(0.3)}),
    )
    assert found.unbeaten == {1}
    assert list(found.remarks()) == ["2: not Pareto-optimal, but safer than all that are against b"]


def test_less_risk_is_more_loss_only_where_it_is() -> None:
    same = comparison(run(1, 0.1, counted(0.2)), run(2, 0.1, counted(0.2)))
    assert same.headline() == "Pareto-optimal: runs 1 and 2."
    wide = comparison(run(1, 0.1, Risk(0.2, 0.1, 0.3, 0.0)), run(2, 0.9, Risk(0.25, 0.15, 0.35, 0.0)))
    assert wide.headline() == "Pareto-optimal: runs 1 and 2."


def test_many_unbeaten_runs_are_counted_in_the_first_line() -> None:
    runs = [run(number, number / 10, counted(1 - number / 10)) for number in range(1, 7)]
    found = comparison(*runs, run(7, 0.9, counted(0.9)))
    expected = "Pareto-optimal: 6 of 7 releases; among them, lower risk means higher loss."
    assert found.headline() == expected


def test_the_choice_of_auto_is_named() -> None:
    made = replace(run(1, 0.1, counted(0.2)), algorithm="auto")
    assert "auto (lattice)" in "\n".join(lines(comparison(made)))


def test_a_metric_that_cannot_be_compared_is_noted() -> None:
    two, five = (("constraints.0.k", "2"),), (("constraints.0.k", "5"),)
    runs = [
        run(1, 0.1, counted(0.2), two, average_class_size=4.0, height=None),
        run(2, 0.2, counted(0.1), five, average_class_size=2.0, height=3.0),
    ]
    winners = {each.measure: each for each in comparison(*runs).loss_winners}
    assert winners["average_class_size"].note == "each run is divided by its own k"
    assert (winners["height"].runs, winners["height"].note) == ((2,), "only 1 of 2 have it")
    assert comparison(*runs).headline().startswith("Pareto-optimal")


def test_query_error_is_a_measure_like_the_others() -> None:
    runs = [run(1, 0.1, counted(0.2)), run(2, 0.2, counted(0.1))]
    assert [each.measure for each in comparison(*runs).loss_winners] == ["loss"]
    errors = zip(runs, (0.5, 0.25), strict=True)
    asked = [replace(own, measured=replace(own.measured, query_error=error)) for own, error in errors]
    found = comparison(*asked)
    assert [(each.measure, each.runs) for each in found.loss_winners] == [
        ("loss", (1,)),
        ("query_error", (2,)),
    ]
    assert found.headline().startswith("Pareto-optimal: runs 1 and 2")
    rows = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [row["query_error"] for row in rows] == ["0.5", "0.25"]
    assert to_csv(found).splitlines()[0].split(",").count("query_error") == 1


def test_risks_that_are_not_distinguishable_win_together() -> None:
    risks = [Risk(0.2, 0.1, 0.3, 0.0), Risk(0.25, 0.15, 0.35, 0.0), counted(0.31)]
    runs = [run(number, 0.1, risk) for number, risk in enumerate(risks, start=1)]
    (winner,) = comparison(*runs).attack_winners
    assert winner.runs == (1, 2)
    assert "not distinguishable" in winner.note


def test_no_run_is_dropped() -> None:
    found = comparison(
        run(1, 0.1, counted(0.2)),
        without(2, RunStatus.UNDECIDED, "the budget ended"),
        without(3, RunStatus.INFEASIBLE, "no release"),
        without(4, RunStatus.INFEASIBLE, "no release"),
        without(5, RunStatus.FAILED, "signal 9"),
    )
    text = "\n".join(lines(found))
    for said in ("2 undecided: the budget ended", "3 and 4 infeasible: no release", "5 failed: signal 9"):
        assert said in text
    rows = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [row["run"] for row in rows] == ["1", "2", "3", "4", "5"]
    assert [row["status"] for row in rows] == ["satisfied", "undecided", "infeasible", "infeasible", "failed"]
    assert [row["reason"] for row in rows][1:] == [
        "the budget ended",
        "no release",
        "no release",
        "a verification failed, or its process ended; its command says why",
    ]


def test_a_row_for_each_run_with_every_number() -> None:
    found = comparison(
        run(1, 0.1, counted(0.2), (("constraints.0.k", "2"),), ncp=0.5),
        run(2, 0.2, Risk(0.1, 0.05, 0.15, 0.01), (("constraints.0.k", "5"),), ncp=0.6),
        run(3, 0.3, counted(0.2), (("constraints.0.k", "9"),), ncp=None),
    )
    rows = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [row["constraints.0.k"] for row in rows] == ["2", "5", "9"]
    assert [row["unbeaten"] for row in rows] == ["yes", "yes", "no"]
    assert [row["ncp"] for row in rows] == ["0.5", "0.6", ""]
    names = [f"{LINKAGE} {part}" for part in ("success", "low", "high", "baseline")]
    assert [rows[1][name] for name in names] == ["0.1", "0.05", "0.15", "0.01"]


def test_json_has_every_run_and_the_recommended() -> None:
    found = comparison(run(1, 0.1, counted(0.2)), run(2, 0.2, counted(0.3)), without(3, RunStatus.REFUSED))
    content = json.loads(json.dumps(to_dict(found), allow_nan=False))
    assert set(content) == {"runs", "recommended", "advice"}
    assert content["advice"] is None
    assert content["recommended"] == [
        {
            "run": 1,
            "command": "anonymizer run desk/job.yaml -o desk/job-release-1 --set constraints.0.k=1",
        }
    ]
    assert [each["unbeaten"] for each in content["runs"]] == [True, False, False]
    assert content["runs"][0]["best_by"] == ["loss", LINKAGE]
    assert content["runs"][2]["reason"] == "why"
    assert content["runs"][2]["command"] == (
        "anonymizer run desk/job.yaml -o desk/job-release-3 --set 'algorithm={name: local}'"
    )


def test_shares_of_persons_and_of_records_are_not_one_measure() -> None:
    def entry(success: float, **unit: str) -> dict[str, Any]:
        known = {"attributes": ["a"], "target": "re-identification", **unit}
        return {"attack": "vulnerability", "knowledge": known, "low": success, "high": success} | {
            "success": success,
            "baseline": 0.0,
        }

    def risks(*entries: dict[str, Any]) -> dict[str, Risk]:
        report = {
            "config": {"objective": {"metric": "loss"}},
            "search": {"optimal": True, "algorithm": "local"},
            "release": {"suppressed_records": 0, "classes": 1},
            "loss": {"loss": 0.25},
            "attacks": list(entries),
        }
        return measured_of(report).risks

    persons, records = risks(entry(0.5, unit="person")), risks(entry(0.2))
    name = "vulnerability re-identification"
    assert [*persons, *records] == [f"{name} of persons", name]
    found = comparison(run(1, 0.1, persons), run(2, 0.2, persons), run(3, 0.3, records))
    said = f"{name}: of persons in 1 and 2, of records in 3; shares of different targets are not compared"
    assert said in list(found.remarks())
    assert said in "\n".join(lines(found))
    assert (found.attacks, found.attack) == ((), None)
    assert found.headline() == "No attack has the same targets in all runs, so no run is recommended by risk."
    content = to_dict(found)["runs"]
    assert content[0]["attacks"][f"{name} of persons"]["unit"] == "person"
    assert "unit" not in content[2]["attacks"][name]
    both = risks(entry(0.5, unit="person"), entry(0.2))
    assert not list(comparison(run(1, 0.1, both), run(2, 0.2, both)).remarks())[1:]


@pytest.mark.parametrize(
    ("unit", "limited"),
    [
        (None, [LINKAGE, "vulnerability re-identification"]),
        ("person", ["vulnerability re-identification of persons"]),
        ("household", []),
    ],
)
def test_a_limit_is_compared_with_what_it_limits(unit: str | None, limited: list[str]) -> None:
    """Of a person who is linked once for each record, or of a household, more are found than 1/k."""
    end = {None: "", "person": " of persons", "household": " of households"}[unit]
    for name in (LINKAGE, "vulnerability re-identification"):
        risks = {f"{name}{end}": replace(counted(0.3), unit=unit)}
        found = replace(comparison(run(1, 0.1, risks), run(2, 0.2, risks)), own_limit=0.2)
        assert (found.advice is not None) is (f"{name}{end}" in limited)
        # One guess may find more than 1/k of the persons: no run is within the limit then.
        assert found.advice is None or found.advice.within == 0


def test_a_limit_on_records_is_none_on_persons() -> None:
    asked: dict[str, Any] = {
        "input": {"path": "a.csv", "person": "id", "household": "home"},
        "attributes": {
            "age": {"role": "quasi-identifier"},
            **{name: {"role": "identifier"} for name in ("id", "home")},
        },
    }
    for units, limit in (
        (["record"], None),
        (["person"], 0.2),
        (["household"], 0.2),
        (["record", "person"], 0.2),
        (["record", "household"], 0.2),
    ):
        constraints = [
            {"model": "k-anonymity", "k": 9 if unit == "record" else 5, "unit": unit} for unit in units
        ]
        assert risk_limit(Config.model_validate({**asked, "constraints": constraints})) == limit
    for unit, limit in (("record", None), ("person", 0.3)):
        constraints = [{"model": "vulnerability", "max": 0.3, "unit": unit}]
        assert risk_limit(Config.model_validate({**asked, "constraints": constraints})) == limit


def test_a_file_does_not_quote_a_refusal() -> None:
    quoting = (without(number, status, "value 'secret'") for number, status in enumerate(QUOTING, start=2))
    found = comparison(run(1, 0.1, counted(0.2)), *quoting)
    assert "secret" not in to_csv(found)
    assert "desk" not in to_csv(found)
    assert "secret" in "\n".join(lines(found))


def test_attacks_of_one_name_are_distinguished() -> None:
    known: list[dict[str, Any]] = [
        {"attributes": ["a"], "target": "re-identification"},
        {"attributes": ["b"]},
    ]
    numbers = {"success": 0.5, "low": 0.4, "high": 0.6, "baseline": 0.1}
    entries = [{"attack": "vulnerability", "knowledge": each, **numbers} for each in [*known, *known]]
    report = {
        "config": {"objective": {"metric": "loss"}},
        "search": {"optimal": True, "algorithm": "local"},
        "release": {"suppressed_records": 3, "classes": 7},
        "loss": {"loss": 0.25, "height": None},
        "attacks": entries,
    }
    own = measured_of(report)
    assert list(own.risks) == [
        "vulnerability re-identification",
        "vulnerability",
        "vulnerability re-identification (2)",
        "vulnerability (2)",
    ]
    assert own.risks["vulnerability"] == Risk(0.5, 0.4, 0.6, 0.1)
    assert (own.loss, own.suppressed, own.classes, own.algorithm) == (0.25, 3, 7, "local")


@pytest.mark.parametrize(("one", "other"), list(product([0.1, 0.2], repeat=2)))
def test_intervals_that_share_a_point_overlap(one: float, other: float) -> None:
    assert Risk(one, one, 0.3, 0).overlaps(Risk(other, other, 0.4, 0))
    assert not Risk(one, one, one, 0).overlaps(Risk(0.5, 0.5, 0.6, 0))


def three_runs() -> Comparison:
    """Return three Pareto-optimal runs."""
    return comparison(run(1, 0.1, counted(0.3)), run(2, 0.2, counted(0.1)), run(3, 0.4, counted(0.02)))


@pytest.mark.parametrize(
    ("limit", "number", "less_loss", "safer"),
    [(0.1, 2, 1, 3), (0.5, 1, None, 2), (0.05, 3, 2, None), (0.01, 3, 2, None)],
)
def test_one_run_is_named_by_the_risk_that_is_accepted(
    limit: float, number: int, less_loss: int | None, safer: int | None
) -> None:
    content = to_dict(replace(three_runs(), max_risk=limit))["advice"]
    assert content["run"] == number
    assert content["within"] == sum(risk <= limit for risk in (0.3, 0.1, 0.02))
    assert [content[key] and content[key]["run"] for key in ("less_loss", "safer")] == [less_loss, safer]


def test_the_advice_says_why_and_what_its_neighbors_cost(message: SnapshotAssertion) -> None:
    shown = [*lines(replace(three_runs(), max_risk=0.1))][:4]
    assert exchange("--max-risk 0.1", "\n".join(shown)) == message


def test_the_limit_of_the_config_is_one_on_re_identification() -> None:
    assert replace(three_runs(), own_limit=0.2).advice is not None
    risks = {"homogeneity ill": counted(0.9), LINKAGE: counted(0.1)}
    found = replace(comparison(run(1, 0.1, risks), run(2, 0.2, risks)), own_limit=0.2)
    assert found.attack == LINKAGE
    assert found.advice is not None
    assert found.advice.attack == LINKAGE
    assert found.advice.because.endswith(f"(attack {LINKAGE}): risk 10 %, loss 0.1.")
    free = replace(found, own_limit=None)
    assert free.attack == "homogeneity ill"
    assert free.advice is None


@pytest.mark.parametrize("limit", [0.01, 0.15, 0.25, 0.6])
@pytest.mark.parametrize("given", ["max_risk", "own_limit"])
def test_one_run_is_recommended_and_nothing_contradicts_it(given: str, limit: float) -> None:
    """By the attack on the diagnosis, the runs would be in the opposite order."""
    runs = [
        run(number, loss, {"homogeneity ill": counted(1 - risk), LINKAGE: counted(risk)}, ncp=1 - loss)
        for number, loss, risk in ((1, 0.1, 0.3), (2, 0.2, 0.2), (3, 0.3, 0.1), (4, 0.35, 0.2))
    ]
    found = replace(comparison(*runs), **{given: limit})
    content, said = to_dict(found), [*lines(found)]
    assert found.advice is not None
    taken = found.advice.point.run.number
    assert [each["run"] for each in content["recommended"]] == [taken]
    assert {each["risk"]["attack"] for each in content["runs"]} == {content["advice"]["attack"]}
    assert content["runs"][taken - 1]["unbeaten"]
    assert said[0] == content["advice"]["because"]
    assert not any("disagree" in line or "Recommended" in line for line in said)
    assert [line for line in said if "Take run" in line] in ([], [said[0]])
    page = compare_page(found, "1")
    assert page.count("(recommended)") == 1
    assert f"<h3>{taken}: {found.runs[taken - 1].title} (recommended)</h3>" in page
    assert "disagree" not in page
