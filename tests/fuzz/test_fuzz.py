"""The fuzz itself: some cases of it find nothing, and its judge sees what is planted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.__main__ import CASES_OF_A_SEED, Fuzz, judged
from tests.fuzz.brute_force import Truth
from tests.fuzz.cases import Case, draw_case
from tests.fuzz.columns import Attribute
from tests.fuzz.judge import Judge, covers, matched
from tests.fuzz.models import Asked, Counts, Records, View, of_class, over_classes
from tests.fuzz.planting import Ran, cell, constraint, planted, report_of, set_in
from tests.fuzz.published import Grammar, of_two_levels
from tests.fuzz.relations import audited, invoke

CITIES = {
    "a": ("a", "north", "*"),
    "b": ("b", "north", "*"),
    "c": ("c", "south", "*"),
    "d": ("d", "south", "*"),
}


ROWS = ("ax", "ax", "ax", "by", "bx", "cy", "cx", "dy", "dx", "dz", "ay", "bz")


def case(rows: Sequence[str] = ROWS, **changes: Any) -> Case:
    """Return a run whose release is not trivial: cities are published as regions.

    Parameters
    ----------
    rows: city and sensitive value of each record.
    changes: of the config.
    """
    city = Attribute(
        "city",
        {
            "role": "quasi-identifier",
            "type": "text",
            "hierarchy": {"tree": {"*": {"north": ["a", "b"], "south": ["c", "d"]}}},
        },
        "text",
        tuple(row[0] for row in rows),
        CITIES,
        0,
        2,
        Fraction(1),
    )
    secret = Attribute("s", {"role": "sensitive", "type": "text"}, "text", tuple(row[1] for row in rows))
    config = {
        "input": {"path": "in.csv", "separator": ",", "missing": ["", "?"]},
        "attributes": {"city": city.entry, "s": secret.entry},
        "constraints": [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 3, "attribute": "s"}],
        "reference": "release",
        "suppression": {"limit": 0.1, "method": "classes"},
        "algorithm": {"name": "lattice"},
        "objective": {"metric": "loss"},
        "seed": 123456,
        "output": {"path": "release.csv", "order": "sorted"},
    }
    return Case(0, (city, secret), config | changes)


PLANTS = {
    "a cell that no input record fits": (cell(0, "city", "south"), "different input records"),
    "a sensitive value that the input lacks": (cell(0, "s", "w"), "the input lacks"),
    "a sensitive value too often": (cell(0, "s", "z"), "the input lacks"),
    "a value of its own": (cell(0, "city", "a"), "does not hold on the file"),
    "another hash": (cell(0, "s", "w"), "another hash"),
    "order": (lambda report, rows: rows.reverse(), "not sorted"),
    "a record missing": (lambda report, rows: rows.pop(), "records are missing"),
    "a record twice": (lambda report, rows: rows.append(dict(rows[-1])), "release.rows"),
    "measured lowered": (constraint(0, "measured", 4), "measured 4"),
    "measured raised": (constraint(1, "measured", 5), "measured 5"),
    "not satisfied": (constraint(0, "satisfied", False), "is reported as"),
    "worst classes": (constraint(0, "worst_classes", 3), "worst_classes 3"),
    "classes": (set_in("release", "classes", 3), "release.classes"),
    "suppressed records": (set_in("release", "suppressed_records", 2), "the limit is 1"),
    "a suppressed record that is there": (
        set_in("release", "suppressed_records", 1),
        "suppressed_records is 1",
    ),
    "an objective that is too low": (set_in("search", "objective", 0.1), "below the lowest possible"),
    "a bound that is too high": (set_in("search", "bound", 0.6), "the bound"),
    "a loss": (set_in("loss", "ncp", 0.1), "ncp is reported"),
    "a proof of nothing": (
        lambda report, rows: report.update(status="infeasible"),
        "infeasible is claimed",
    ),
}


CASE = case()


@pytest.mark.parametrize("name", PLANTS)
def test_the_judge_sees_what_is_planted(ran: Ran, name: str, tmp_path: Path) -> None:
    plant, said = PLANTS[name]
    found = planted(ran, tmp_path, CASE, plant)
    assert any(said in each for each in found), found


def test_the_judge_sees_a_false_optimum(tmp_path: Path) -> None:
    """A lattice that begins a level too high is not optimal where the levels are free."""
    [city, secret] = case().attributes
    high = dict(city.entry, levels={"min": 2})
    config = case().config
    restricted = Case(
        0,
        (Attribute("city", high, "text", city.cells, CITIES, 2, 2), secret),
        config | {"attributes": {"city": high, "s": secret.entry}},
    )
    assert judged(restricted, tmp_path, Counter()) == []
    release = tmp_path / "release"
    report = json.loads((release / "report.json").read_text(encoding="utf-8"))
    assert report["search"]["optimal"]
    found = Judge(case(), report, release, Counter()).findings()
    assert any("claimed to be optimal" in each for each in found)
    assert any("the bound" in each for each in found)


def test_the_judge_sees_small_counts_secrets_and_identifiers_in_what_is_shared(tmp_path: Path) -> None:
    own = case(suppression={"limit": 0.25, "method": "classes"})
    own = Case(
        0,
        (
            *own.attributes,
            Attribute("who", {"role": "identifier"}, "text", tuple(f"p{i}p" for i in range(12))),
        ),
        own.config | {"attributes": {**own.config["attributes"], "who": {"role": "identifier"}}},
    )
    assert judged(own, tmp_path, Counter()) == []
    release = tmp_path / "release"
    report = json.loads((release / "report.json").read_text(encoding="utf-8"))
    public = release / "share" / "report.public.json"
    content = json.loads(public.read_text(encoding="utf-8"))
    public.write_text(json.dumps(content | {"seed": 123456, "note": "p3p"}), encoding="utf-8")
    found = Judge(own, report, release, Counter()).findings()
    assert any("has '123456'" in each for each in found)
    assert any("has an identifier" in each for each in found)
    report["release"]["suppressed_records"] = 1
    found = Judge(own, report, release, Counter()).findings()
    assert any("shows suppressed_records 0" in each for each in found)


LOCAL = case(
    ("ax", "ay", "bx", "cx", "cy", "cy"),
    constraints=[{"model": "k-anonymity", "k": 2}],
    algorithm={"name": "local"},
)
CELLS = case(
    ("ax", "ay", "bx", "cx", "cy"),
    constraints=[{"model": "k-anonymity", "k": 2}],
    suppression={"limit": 0.2, "method": "cells"},
)
RECORDS = case(
    ("ax", "ax", "ax", "ay", "az", "cx", "cy"),
    constraints=[{"model": "alpha-k-anonymity", "k": 1, "alpha": 0.5, "attribute": "s"}],
    suppression={"limit": 0.2, "method": "records"},
)
SMALL = {
    "a local bound": (LOCAL, set_in("search", "bound", 0.9), "local: the bound"),
    "a local objective": (LOCAL, set_in("search", "objective", 0.01), "local: the objective"),
    "best possible": (LOCAL, set_in("search", "best_possible", 0.9), "best_possible 0.9"),
    "a bound of cells": (CELLS, set_in("search", "bound", 0.9), "cells: the bound"),
    "an objective of cells": (CELLS, set_in("search", "objective", 0.01), "cells: the objective"),
    "blanked cells": (CELLS, set_in("release", "suppressed_cells", 3), "suppressed_cells is not the sum"),
    "a bound of records": (RECORDS, set_in("search", "bound", 0.9), "records: the bound"),
    "an objective of records": (RECORDS, set_in("search", "objective", 0.01), "records: the objective"),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_judge_tries_everything_where_tables_are_small(ran: Ran, name: str, tmp_path: Path) -> None:
    own, plant, said = SMALL[name]
    found = planted(ran, tmp_path, own, plant)
    assert any(said in each for each in found), found


@pytest.mark.parametrize("own", [LOCAL, CELLS, RECORDS])
def test_the_judge_sees_a_false_proof_and_a_false_optimum(ran: Ran, own: Case, tmp_path: Path) -> None:
    report = report_of(ran(own))
    refuted = Judge(own, report | {"status": "infeasible"}, tmp_path, Counter()).findings()
    assert any("infeasible is claimed" in each for each in refuted)
    search = report["search"] | {"objective": 0.99, "optimal": True}
    found = Judge(own, report | {"search": search}, ran(own) / "release", Counter()).findings()
    assert any("claimed to be optimal" in each for each in found)


def anatomy(folder: Path) -> tuple[Case, Path, dict[str, Any]]:
    """Run anatomy; return the case, its folder, and the report."""
    own = case(
        constraints=[{"model": "l-diversity", "l": 2, "attribute": "s"}],
        suppression={"limit": 0, "method": "classes"},
        algorithm={"name": "anatomy"},
    )
    assert judged(own, folder, Counter()) == []
    report = json.loads((folder / "release" / "report.json").read_text(encoding="utf-8"))
    return own, folder / "release", report


def test_the_judge_sees_two_tables_that_do_not_belong_together(tmp_path: Path) -> None:
    own, release, report = anatomy(tmp_path)
    second = release / "share" / "release.st.csv"
    text = second.read_text(encoding="utf-8")
    second.write_text(text.replace(",x,1", ",z,1", 1), encoding="utf-8")
    assert any("the input lacks" in each for each in Judge(own, report, release, Counter()).findings())
    second.write_text(text.replace(",1\n", ",2\n", 1), encoding="utf-8")
    assert any("other sizes" in each for each in Judge(own, report, release, Counter()).findings())


def test_an_audit_that_fails_is_a_finding(tmp_path: Path) -> None:
    assert judged(case(), tmp_path, Counter()) == []
    path = tmp_path / "release" / "share" / "release.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("north", "south", 1), encoding="utf-8")
    [found] = audited(case(), tmp_path, report_of(tmp_path), Counter())
    assert "NOT VERIFIED" in found


def test_what_a_command_lets_through_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(words: list[str]) -> int:
        raise KeyError("unexpected")

    monkeypatch.setattr("tests.fuzz.relations.command", broken)
    assert "KeyError" in judged(case(), tmp_path, Counter())[0]
    monkeypatch.setattr("tests.fuzz.relations.command", lambda words: 134)
    assert "exit 134" in judged(case(), tmp_path, Counter())[0]


def test_formulas_by_hand() -> None:
    """Numbers that were computed with pencil and paper: the judge is not the package's echo."""
    text = Attribute("s", {"role": "sensitive"}, "text", ())
    number = Attribute("s", {"role": "sensitive"}, "integer", ())
    everyone = list("ppqr")

    def measure(attribute: Attribute, values: list[str], known: list[str], **parameters: Any) -> Any:
        return of_class(parameters, Counts.count(values), Counts.count(known), attribute)

    assert measure(text, list("pp"), everyone, model="t-closeness", t=0.5) == (Fraction(1, 2), True)
    salaries = [*"12345"]
    ordered = measure(number, ["1", "2"], salaries, model="t-closeness", t=0.3)
    # cumulative 0.3, 0.6, 0.4, 0.2, 0 over four steps
    assert ordered == (Fraction(3, 8), False)
    assert measure(text, list("ppq"), everyone, model="recursive-cl-diversity", c=2, l=2) == (2, False)
    assert measure(text, list("ppq"), everyone, model="recursive-cl-diversity", c=2.5, l=2) == (2, True)
    assert measure(text, list("qq"), everyone, model="basic-beta-likeness", beta=3) == (3, True)
    assert measure(text, list("qq"), everyone, model="enhanced-beta-likeness", beta=3)[1] is False
    assert (
        measure(text, list("pq"), everyone, model="delta-disclosure", delta=9, absent="violates")[1] is False
    )
    assert (
        measure(text, list("pq"), everyone, model="delta-disclosure", delta=0.7, absent="ignored")[1] is True
    )
    assert measure(text, ["p", ""], everyone, model="l-diversity", l=2) == (1, False)
    entropy, holds = measure(text, list("pqr"), everyone, model="entropy-l-diversity", l=2.9)
    assert (round(entropy, 9), holds) == (3, True)
    records = Records([(value,) for value in "ppqp"], [text], {"record": range(4)})
    guess = Asked({"model": "vulnerability", "max": 0.7, "target": "attribute-inference"}, "s")
    found = over_classes(guess, View(records, [[0, 1, 2], [3]], range(4)))
    assert (found.value, found.holds) == (Fraction(3, 4), False)


def test_losses_and_matching_by_hand() -> None:
    truth = Truth(case())
    at = truth.without(truth.at((1,)), {0})
    # eleven regions at (2 - 1)/(4 - 1), one record gone
    assert truth.objective(at) == pytest.approx((11 / 3 + 1) / 12)
    assert truth.loss(at, "ncp") == pytest.approx((11 / 2 + 1) / 12)
    assert truth.loss(at, "discernibility") == 6**2 + 5**2 + 12
    assert matched([[0, 1], [0]], 2)
    assert not matched([[0], [0]], 2)


def test_every_algorithm_and_method_is_drawn() -> None:
    drawn = {(own.algorithm, own.method) for own in map(draw_case, range(300))}
    assert {name for name, _ in drawn} == {
        "lattice",
        "mondrian",
        "local",
        "microaggregation",
        "anatomy",
        "auto",
    }
    assert {method for _, method in drawn} == {"classes", "records", "cells"}


@pytest.mark.slow
def test_some_cases_find_nothing(tmp_path: Path) -> None:
    fuzz = Fuzz(tmp_path / "case")
    for number in range(CASES_OF_A_SEED, CASES_OF_A_SEED + 15):
        fuzz.judge(number)
    assert not fuzz.found, fuzz.found
    assert fuzz.tally["audits"] > 2


def test_commands_are_those_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    answer = invoke("run", "nowhere.yaml")
    assert answer.code == 2
    assert answer.error.startswith("error: config nowhere.yaml")
    assert capsys.readouterr().out == ""


def test_a_midpoint_that_is_a_value_too_is_read_as_that_of_the_interval() -> None:
    """14.25 is the middle of 13.5 and 15, and a value of the input."""
    bounds = {
        "14.25": (Fraction("14.25"), Fraction("14.25")),
        "13.5": (Fraction("13.5"), Fraction("13.5")),
        "[13.5, 15)": (Fraction("13.5"), Fraction(15)),
    }
    paths = {value: (value, "[13.5, 15)", "*") for value in ("13.5", "14.25")}
    entry = {"role": "quasi-identifier", "labels": "midpoint"}
    wage = Attribute("wage", entry, "number", ("13.5", "14.25"), paths, 0, 2, bounds=bounds)
    own = Case(0, (wage,), case().config)
    numbers = {"numbers": {"wage": {"columns": ["wage"], "empty": "*"}}}
    read = Grammar(own, {"release": numbers, "recoding": None})
    assert read.row({"wage": "14.25"})["wage"] == "[13.5, 15)"
    assert read.row({"wage": "13.5"})["wage"] == "13.5"
    assert covers("[13.5, 15)", "13.5", wage)
    assert of_two_levels(wage, "[13.5, 15)")
    assert not of_two_levels(wage, "13.5")
    by_level = Grammar(own, {"release": numbers, "recoding": {"levels": {"wage": 0}}})
    assert by_level.row({"wage": "14.25"})["wage"] == "14.25"


def test_numbers_with_another_sign_are_compared_as_numbers_beside_missing_ones(tmp_path: Path) -> None:
    """The first record has no value; that of the second ends with a space, and the release has a point."""
    assert judged(draw_case(9710000315), tmp_path / "case", Counter()) == []
