"""Anatomy releases compared with others."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from anonymizer.report.comparison import ComparedRun
from anonymizer.report.comparison_table import lines, to_csv, to_dict
from tests.report.comparisons import comparison, counted, run


def grouped(number: int, query_error: float | None, risk: float = 0.9) -> ComparedRun:
    """Return a run whose release has exact quasi-identifiers and no loss of recoding."""
    made = run(number, 0.0, counted(risk))
    assert made.measured is not None
    own = replace(made.measured, algorithm="anatomy", query_error=query_error)
    return replace(made, algorithm="anatomy", measured=own)


def test_anatomy_releases_are_ranked_by_query_error_and_beat_no_others() -> None:
    found = comparison(
        grouped(1, 0.3),
        run(2, 0.1, counted(0.2)),
        grouped(3, 0.2),
        run(4, 0.2, counted(0.1)),
        grouped(5, None),
    )
    assert [run.number for run, _ in found.in_groups] == [3, 1, 5]
    assert [each.run.number for each in found.pareto] == [4, 2]
    assert [each.number for each in found.pareto_runs] == [4, 2, 3]
    assert found.loss_winners[0].runs == (2,)
    assert found.attack_winners[0].runs == (4,)
    assert "1, 3 and 5: Anatomy" in "\n".join(found.remarks())
    rows = list(csv.DictReader(io.StringIO(to_csv(found))))
    assert [row["loss"] for row in rows] == ["", "0.1", "", "0.2", ""]
    assert [row["query_error"] for row in rows] == ["0.3", "", "0.2", "", ""]
    assert [each["in_groups"] for each in to_dict(found)["runs"]] == [True, False, True, False, True]


def test_releases_in_groups_alone() -> None:
    found = comparison(grouped(1, 0.3), grouped(2, 0.2))
    assert found.headline() == "Anatomy releases only; Pareto-optimal: 2."
    assert found.unbeaten == {2}
    assert "Anatomy" in "\n".join(lines(found))


def test_a_weaker_promise_in_groups_does_not_beat_a_stronger_one_by_query_error() -> None:
    found = comparison(grouped(1, 0.2, 0.5), grouped(2, 0.3, 0.3), grouped(3, 0.4, 0.3))
    assert found.unbeaten == {1, 2}
    shown = "\n".join(lines(found))
    assert "1: linkage nearest euclidean 50" in shown
    assert "2: linkage nearest euclidean 30" in shown


def test_in_groups_without_an_attack_nothing_is_known_to_be_as_safe() -> None:
    both = (grouped(1, 0.2), grouped(2, 0.3))
    runs = [replace(each, measured=replace(each.measured, risks={})) for each in both if each.measured]
    assert comparison(*runs).unbeaten == {1, 2}
