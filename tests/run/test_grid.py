"""Every feature with every algorithm, engine and method: it runs, or is refused with a way out.

The features are those of the table in ``config/features.py``. What has a conflict there ends with its text,
and what that accepts is accepted; what has none is released, counted again from the file, and audited.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anonymizer.config.features import conflicts
from anonymizer.config.load import load_config
from anonymizer.config.section import dotted
from anonymizer.errors import ConfigError
from anonymizer.model.feature_rows import Stage
from anonymizer.model.features import Feature, SuppressionMethod
from anonymizer.search.base import SEARCH_ALGORITHMS
from tests.helpers.covering import covering
from tests.helpers.slow import slow_but
from tests.run.commands import Done, Job, call, csv_bytes, read_rows

pytestmark = pytest.mark.advice

COLUMNS = ("pid", "home", "age", "town", "ill", "wage", "people", "row")

K_MAP = "constraints.+={model: k-map, k: 2}"
LINKAGE = "constraints.+={model: linkage-risk, max: 1}"
PERSON, POPULATION = "input.person=pid", "input.population=census.csv"
SCENARIO = "scenarios={{friend: {{known: [age], models: [{}]}}}}"

USES: dict[Feature, tuple[str, ...]] = {
    Feature.EVERY_STEP: ("attackers=every-step", LINKAGE),
    Feature.COMBINATIONS: ("engine.options.combinations=5",),
    Feature.KEEP_ROWS: ("suppression.keep_rows=true",),
    Feature.UTILITY: ("utility=[query-error]",),
    Feature.INPUT_REFERENCE: ("reference=input", "constraints.+={model: t-closeness, t: 0.9}"),
    Feature.UNIT_COLUMNS: (PERSON, "input.household=home", "constraints.0.unit=record"),
    Feature.MISSING_PERSON: (PERSON, "input.missing_person=own"),
    Feature.WHOLE: (PERSON, "suppression.whole=person"),
    Feature.WHOLE_OF_OTHERS: ("input.household=home", "suppression.whole=household"),
    Feature.UNIT_LIMIT: (PERSON, "suppression.unit=person"),
    Feature.PSEUDONYMS: ("input.person={column: pid, release_as: pseudonym}",),
    Feature.UNITS: (PERSON,),
    Feature.COUNTED_HOUSEHOLDS: ("input.household=home", "constraints.0.unit=household"),
    Feature.ATTACKED_UNITS: (PERSON, LINKAGE),
    Feature.POPULATION: (POPULATION, K_MAP),
    Feature.PERSONS_AMONG_PEOPLE: (PERSON, POPULATION, K_MAP),
    Feature.HOUSEHOLDS: ("input.household=home", "constraints.+={model: household-risk, max: 1}"),
    Feature.DECIMAL: ("output.decimal=','",),
    Feature.SHUFFLED: ("output.order=shuffled",),
    Feature.TABLE: ("output.database=out.duckdb", "output.table=t"),
    Feature.LOSS_WEIGHTS: ("objective.weights=people", "attributes.people={role: weight, release: false}"),
    Feature.LOSS_UNIT: (PERSON, "objective.unit=person"),
    Feature.AGGREGATE: ("objective.aggregate=maximum",),
    Feature.CONTROL: ("input.control=control.csv",),
    Feature.SCENARIOS: (SCENARIO.format("{model: k-anonymity, k: 2}"),),
    Feature.EXACT_SCENARIOS: (SCENARIO.format("{model: delta-disclosure, delta: 9, absent: ignored}"),),
    Feature.NUMBERS: ("attributes.age.labels=low-high",),
    Feature.BANDS: (
        "attributes.wage={role: insensitive, hierarchy: {intervals: {width: 50}}, labels: range}",
    ),
}
"""What makes a config use a feature."""

ELSEWHERE = {
    **dict.fromkeys(SuppressionMethod, "one of the columns of the grid"),
    Feature.APPLY: "needs an earlier release: test_apply",
    Feature.DATABASE: "needs a database: tests/databases",
    Feature.REMOTE: "needs another file system: test_spark_remote",
    Feature.TEXT_INPUT: "every use here is one",
    Feature.OTHER_INPUT: "needs a file of an office: test_features.py",
    Feature.TEXT_OUTPUT: "every use here is one",
    Feature.OUT_OF_CORE: "follows from COMBINATIONS",
    Feature.TOGETHER: "follows from WHOLE",
    Feature.STORED_UNITS: "follows from UNITS",
    Feature.UNITS_OUT_OF_CORE: "follows from UNITS",
    Feature.POPULATION_TABLE: "follows from POPULATION",
    Feature.PEOPLE_UNITS: "follows from POPULATION",
    Feature.SOME_KNOWN: "follows from SCENARIOS",
    Feature.SCENARIOS_BY_RECORD: "follows from SCENARIOS",
    Feature.RECIPE: "of one attack: test_defaults.py, test_recipe.py",
    Feature.TWO_TABLES: "is what anatomy releases",
}

ENGINES = ("memory", "duckdb")
CASES = covering([list(USES), list(SEARCH_ALGORITHMS), list(SuppressionMethod), ENGINES])
WAY_OUT = re.compile(r"accepted|\b(set|use|remove|add|choose|raise|name)\b")
READ_ELSEWHERE = (Feature.NUMBERS, Feature.DECIMAL, Feature.PSEUDONYMS, Feature.TABLE)
"""Features whose releases have other columns, separators or places, which tests of their own read."""


def rows(random: Random, persons: range) -> list[tuple[str, ...]]:
    """Return two or three records of each person, who share an age and a town; homes have two persons."""
    found = []
    for person in persons:
        age, town = str(random.randint(20, 39)), random.choice("rst")
        for _ in range(random.randint(2, 3)):
            wage, people = str(random.randint(0, 199)), str(random.randint(1, 4))
            row = (f"p{person}", f"h{person // 2}", age, town, random.choice(("flu", "gout", "lues")))
            found.append((*row, wage, people, f"r{len(found)}"))
    return found


def job_in(folder: Path) -> Job:
    """Return a job with all that a use may name, and without any use."""
    number = {"role": "quasi-identifier", "type": "integer"}
    records = rows(Random(3), range(20))
    job = Job(folder, data=csv_bytes(records, COLUMNS))
    job.config = {
        "input": {"path": "people.csv"},
        "attributes": {
            "pid": {"role": "identifier"},
            "home": {"role": "identifier"},
            "age": {**number, "hierarchy": {"intervals": {"width": [5, 10], "origin": 0}}},
            "town": {"role": "quasi-identifier"},
            "ill": {"role": "sensitive"},
            "wage": {"role": "drop"},
            "people": {"role": "drop"},
            "row": {"role": "insensitive"},
        },
        "constraints": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "unit": "record"}],
        "suppression": {"limit": 0.5},
        "budget": {"steps": 5},
        "attacks": [],
        "bound": "none",
    }
    everybody = [*records, *rows(Random(4), range(20, 40))]
    (folder / "census.csv").write_bytes(csv_bytes(everybody, COLUMNS))
    (folder / "control.csv").write_bytes(csv_bytes(rows(Random(5), range(50, 60)), COLUMNS))
    return job


def overrides_of(case: tuple[Any, ...]) -> list[str]:
    feature, algorithm, method, engine = case
    chosen = [f"algorithm.name={algorithm}", f"suppression.method={method}", f"engine.name={engine}"]
    town = ["attributes.town.role=insensitive"] if algorithm == "microaggregation" else []
    return [*chosen, *town, *USES[feature]]


def refusals(job: Job, overrides: list[str]) -> list[tuple[str, str]]:
    """Return what the table refuses before a record is read, by key."""
    try:
        config = load_config(job.file, overrides)
    except ConfigError as error:
        return [(each.where, each.what) for each in error.problems]
    return [(dotted(each.path), each.what) for each in conflicts(config, Stage.START)]


def test_every_feature_of_the_table_has_its_row() -> None:
    elsewhere = {each.feature if isinstance(each, SuppressionMethod) else each for each in ELSEWHERE}
    assert {*USES, *elsewhere} == set(Feature)
    assert not set(USES) & elsewhere


@pytest.mark.quick(17)
@pytest.mark.parametrize("case", slow_but(len(CASES) // 3, CASES), ids=lambda case: "-".join(map(str, case)))
def test_a_feature_runs_or_is_refused_with_a_way_out(case: tuple[Any, ...], tmp_path: Path) -> None:
    job, overrides = job_in(tmp_path).write(), overrides_of(case)
    expected = refusals(job, overrides)
    done = call("run", job.file, "-q", *(part for each in overrides for part in ("--set", each)))
    assert "Traceback" not in done.err
    if expected:
        check_refused(job, done, expected, overrides)
    elif done.code == 0:
        check_released(job, done, case)
    elif done.code == 2:
        # Asked when the distinct rows turn out not to fit in memory.
        assert "out of core" in done.err
        assert WAY_OUT.search(done.err), done.err
        assert not job.output.exists()
    else:
        assert done.code == 1
        assert "INFEASIBLE" in done.err or "UNDECIDED" in done.err, done.err
        assert not job.output.exists()


def check_refused(job: Job, done: Done, expected: list[tuple[str, str]], overrides: list[str]) -> None:
    """A refusal says what the table says, leaves nothing behind, and what it accepts is accepted."""
    assert done.code == 2
    assert not job.output.exists()
    for where, what in expected:
        assert where in done.err
        assert what.split("; ")[0] in done.err
        assert WAY_OUT.search(what), what
        named = re.search(r"accepted: ([a-z, ]+)$", what)
        if named and where == "algorithm.name":
            for other in named[1].split(", "):
                again = [other if each.startswith("algorithm.name") else each for each in overrides]
                again = [f"algorithm.name={each}" if each == other else each for each in again]
                assert (where, what) not in refusals(job, again), other


def check_released(job: Job, done: Done, case: tuple[Any, ...]) -> None:
    """What is released holds by a count of its own, and the report says what was asked for."""
    feature, algorithm, method, engine = case
    report = job.report()
    assert report["status"] == "satisfied"
    assert report["release"]["verified"]
    config = report["config"]
    assert (config["suppression"]["method"], config["engine"]["name"]) == (method, engine)
    for use in USES[feature]:
        key = use.partition("=")[0].split(".")[0]
        assert key in config, use
    for constraint in report["constraints"]:
        assert constraint["satisfied"]
    if feature is not Feature.TABLE:
        assert call("audit", job.release, "--report", job.output / "report.json").code in (0, 1)
    if feature not in READ_ELSEWHERE and algorithm != "anatomy":
        check_classes(job, feature)


def check_classes(job: Job, feature: Feature) -> None:
    """The file has the records of the report, in classes of two units and two illnesses, and no key.

    The column ``row`` tells whose a record is; no other column that is released does.
    """
    report = job.report()
    names = job.release.read_text(encoding="utf-8").splitlines()[0].split(",")
    assert not {"pid", "home", "people"} & set(names)
    roles, given = report["attributes"], {row[-1]: row for row in read_rows(job.input)}
    known = [place for place, name in enumerate(names) if roles[name]["role"] == "quasi-identifier"]
    classes: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
    for row in read_rows(job.release):
        original = given[row[names.index("row")]]
        classes[tuple(row[place] for place in known)].append(tuple(original))
    counted = report["constraints"][0]["parameters"].get("unit", "record")
    key = COLUMNS.index({"record": "row", "person": "pid", "household": "home"}[counted])
    sizes = [len({row[key] for row in own}) for own in classes.values()]
    assert report["constraints"][0]["measured"] == min(sizes) >= 2
    assert min(len({row[COLUMNS.index("ill")] for row in own}) for own in classes.values()) >= 2
    assert sum(map(len, classes.values())) == report["release"]["rows"]
    check_whole(given, [row for own in classes.values() for row in own], feature)


def check_whole(given: dict[str, list[str]], kept: list[tuple[str, ...]], feature: Feature) -> None:
    """Units suppressed as a whole have all of their records or none; no more are lost than may be."""
    stays = {row[-1] for row in kept}
    place = COLUMNS.index("home" if feature is Feature.WHOLE_OF_OTHERS else "pid")
    lost, left = (
        {row[place] for row in given.values() if (row[-1] in stays) is own} for own in (False, True)
    )
    if feature in (Feature.WHOLE, Feature.WHOLE_OF_OTHERS):
        assert not lost & left
    if feature is Feature.UNIT_LIMIT:
        assert len(lost) <= 10
