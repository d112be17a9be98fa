"""Whole runs of the command, by groups: files to write and arguments to run."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.golden.record import Case
from tests.golden.tables import COLUMNS, columns, csv_text, people

Changes = Mapping[str, Any]
UNCHANGED: Changes = {}

TREE = {"*": {"health": ["doctor", "nurse"], "other": {"road": ["driver"], "house": ["baker", "teacher"]}}}
ILL = {"*": {"lungs": ["asthma", "flu"], "others": ["cancer", "fracture", "stroke"]}}
JOBS_FILE = "doctor,health,*\nnurse,health,*\ndriver,other,*\nbaker,other,*\nteacher,other,*\n"
IDENTIFIER, INSENSITIVE, QUASI = (
    {"role": role} for role in ("identifier", "insensitive", "quasi-identifier")
)
SENSITIVE = {"role": "sensitive"}
AGE = {"intervals": {"width": [5, 10, 20]}}
K3, L2 = {"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2}

CONFIG: dict[str, Any] = {
    "input": {"path": "people.csv"},
    "attributes": {
        "name": IDENTIFIER,
        "age": {**QUASI, "hierarchy": AGE},
        "zip": {**QUASI, "type": "text", "hierarchy": {"mask": {"from": "right"}}},
        "sex": QUASI,
        "job": IDENTIFIER,
        "born": IDENTIFIER,
        "wage": IDENTIFIER,
        "illness": SENSITIVE,
        "note": INSENSITIVE,
    },
    "constraints": [K3, L2],
    "suppression": {"limit": 0.1},
}

NUMBERS = {
    "attributes.zip": IDENTIFIER,
    "attributes.sex": IDENTIFIER,
    "attributes.age": QUASI,
    "attributes.wage": QUASI,
}
UNDECIDED = {
    "budget": {"nodes": 1},
    "suppression.limit": 0,
    "constraints": [{"model": "vulnerability", "max": 0.02}],
    "attributes.sex.levels": {"max": 0},
}
RUN = ("run", "job.json", "-o", "out")
PEOPLE = csv_text(people())


def config(changes: Changes = UNCHANGED, base: Mapping[str, Any] = CONFIG) -> dict[str, Any]:
    """Return the config with values set at dotted paths; None takes the key away."""
    # Through JSON, so that no two columns share the mapping that a change of one of them is made to.
    made: dict[str, Any] = json.loads(json.dumps(base))
    for path, value in changes.items():
        *above, last = path.split(".")
        place = made
        for key in above:
            place = place.setdefault(key, {})
        if value is None:
            del place[last]
        else:
            place[last] = json.loads(json.dumps(value))
    return made


def job(changes: Changes = UNCHANGED) -> str:
    """Return a config file."""
    return json.dumps(config(changes), indent=1)


def run(
    name: str, changes: Changes = UNCHANGED, *args: str, data: str | bytes = PEOPLE, **options: Any
) -> Case:
    """Return a case of one run of the small job."""
    return Case(name, {"people.csv": data, "job.json": job(changes)}, [(*RUN, *args)], **options)


def one(changes: Changes = UNCHANGED, **constraint: Any) -> Changes:
    """Return changes to 2-anonymity and one more constraint."""
    return {"constraints": [{"model": "k-anonymity", "k": 2}, constraint], **changes}


def algorithms() -> list[Case]:
    """Return every algorithm with its options."""
    cases = [
        run("lattice", {"algorithm": {"name": "lattice"}}),
        run("lattice-nodes", {"budget": {"nodes": 12}, "constraints": [{"model": "k-anonymity", "k": 5}]}),
        run("lattice-levels", {"attributes.age.levels": {"min": 1, "max": 2}, "attributes.zip.weight": 3}),
        run("lattice-json", {}, "--json"),
        run("lattice-quiet", {}, "--quiet", "--set", "constraints.0.k=4"),
        run("auto", {"algorithm": {"name": "auto"}}),
        run("auto-many-rows", {"algorithm": {"name": "auto"}}, data=csv_text(people(400, 3))),
        run("local", {"algorithm": {"name": "local"}}),
        run("local-seed", {"algorithm": {"name": "local"}, "seed": 7, "constraints": [K3]}),
        run("local-steps", {"algorithm": {"name": "local"}, "budget": {"steps": 40}}),
    ]
    for mode in ("strict", "relaxed"):
        for labels in ("hierarchy", "interval", "set"):
            options = {"name": "mondrian", "mode": mode, "labels": labels}
            cases.append(run(f"mondrian-{mode}-{labels}", {"algorithm": options, "attributes.born": QUASI}))
    for aggregate in ("mean", "median"):
        for variable in (False, True):
            options = {"name": "microaggregation", "aggregate": aggregate, "variable": variable}
            name = f"microaggregation-{aggregate}{'-variable' if variable else ''}"
            cases.append(run(name, {**NUMBERS, "algorithm": options}))
    given = {"name": "microaggregation", "k": 7}
    cases.append(run("microaggregation-k", {**NUMBERS, "algorithm": given, "constraints": [K3]}))
    for grouping in ("random", "largest", "similar"):
        options = {"name": "anatomy", "grouping": grouping}
        cases.append(run(f"anatomy-{grouping}", {"algorithm": options, "constraints": [L2], "seed": 90125}))
    close = {"model": "t-closeness", "t": 0.3}
    levels = {
        "attributes.age.levels": {"min": 1},
        "algorithm": {"name": "anatomy"},
        "constraints": [L2, close],
    }
    return [*cases, run("anatomy-levels", levels)]


def suppression() -> list[Case]:
    """Return every way of suppressing, with each reference."""
    close = {"model": "t-closeness", "t": 0.45}
    cases = []
    for method in ("classes", "records", "cells"):
        for keep in (False, True):
            for reference in ("release", "input"):
                changes = {
                    "suppression": {"limit": 0.2, "method": method, "keep_rows": keep},
                    "reference": reference,
                    "constraints": [K3, close],
                }
                cases.append(run(f"{method}-{'kept' if keep else 'removed'}-{reference}", changes))
    none = {"suppression": {"limit": 0}, "attributes.zip.levels": {"max": 0}}
    cells = {"suppression": {"method": "cells"}, "attributes.zip.levels": {"max": 0}, "constraints": [K3, L2]}
    return [
        *cases,
        run("limit-0", {"suppression": {"limit": 0}}),
        run("limit-0-infeasible", none),
        run("cells-levels", cells),
        run("mondrian-records", {"suppression.method": "records", "algorithm": {"name": "mondrian"}}),
        run(
            "local-kept",
            {"suppression.keep_rows": True, "algorithm": {"name": "local"}, "budget": {"steps": 60}},
        ),
    ]


def models() -> list[Case]:
    """Return every privacy model with its parameters."""
    wage = {"attributes.wage": {**SENSITIVE, "type": "number"}, "attributes.illness": INSENSITIVE}
    nested = {"attributes.illness": {**SENSITIVE, "distance": "hierarchical", "hierarchy": {"tree": ILL}}}
    both = {"attributes.job": SENSITIVE}
    missing = csv_text(
        [(*row[:7], "" if number % 7 == 0 else row[7], row[8]) for number, row in enumerate(people())]
    )
    ill = {"attribute": "illness"}
    return [
        run("k-anonymity", {"constraints": [{"model": "k-anonymity", "k": 5}]}),
        run("alpha-k-anonymity", {"constraints": [{"model": "alpha-k-anonymity", "alpha": 0.6, "k": 3}]}),
        run("p-sensitive", {"constraints": [{"model": "p-sensitive-k-anonymity", "p": 2, "k": 4}]}),
        run("l-diversity", one(model="l-diversity", l=3)),
        run("entropy-l", one(model="entropy-l-diversity", l=2.1)),
        run("recursive-cl", one(model="recursive-cl-diversity", c=2.5, l=2)),
        run("t-closeness-equal", one(model="t-closeness", t=0.35)),
        run("t-closeness-ordered", one(wage, model="t-closeness", t=0.3)),
        run("t-closeness-hierarchical", one(nested, model="t-closeness", t=0.3)),
        run("t-closeness-own-distance", one(nested, model="t-closeness", t=0.4, distance="equal")),
        run("t-closeness-input", one({"reference": "input"}, model="t-closeness", t=0.35)),
        run("basic-beta", one(model="basic-beta-likeness", beta=2.5)),
        run("enhanced-beta", one(model="enhanced-beta-likeness", beta=2)),
        run("delta-disclosure", one(model="delta-disclosure", delta=1.5)),
        run("delta-disclosure-ignored", one(model="delta-disclosure", delta=1.1, absent="ignored")),
        run("vulnerability", one(model="vulnerability", max=0.2)),
        run("vulnerability-inference", one(model="vulnerability", max=0.6, target="attribute-inference")),
        run("linkage-risk", one(model="linkage-risk", max=0.15)),
        run(
            "linkage-risk-assignment",
            one(model="linkage-risk", max=0.2, linkage="assignment", distance="rank"),
        ),
        run(
            "linkage-risk-learned",
            one(model="linkage-risk", max=0.2, linkage="learned", distance="weighted-mean"),
        ),
        run("inference-risk", one(model="inference-risk", max=0.6)),
        run("two-sensitive", {**both, "constraints": [K3, L2]}),
        run("combined", {**both, "constraints": [K3, {**L2, **ill, "quasi_identifiers": "combined"}]}),
        run("missing-sensitive", one(model="l-diversity", l=3), data=missing),
        run(
            "missing-sensitive-value", one(model="l-diversity", l=3, missing_sensitive="value"), data=missing
        ),
        run("no-sensitive", {"attributes.illness": INSENSITIVE, "constraints": [K3]}),
        run("sensitive-unprotected", {**both, "constraints": [K3, {**L2, **ill}]}),
    ]


def objectives() -> list[Case]:
    """Return every loss metric with every aggregate that goes with it."""
    weighted = {"attributes.age.weight": 2, "attributes.sex.weight": 0.5}
    plain = ("discernibility", "average-class-size", "nonuniform-entropy", "height")
    cases = [run(metric, {"objective": {"metric": metric}}) for metric in plain]
    for metric in ("loss", "ncp", "precision"):
        for aggregate in ("arithmetic-mean", "geometric-mean", "maximum"):
            goal = {"metric": metric, "aggregate": aggregate}
            cases.append(run(f"{metric}-{aggregate}", {**weighted, "objective": goal}))
    mondrian = {"algorithm": {"name": "mondrian"}, "objective": {"metric": "discernibility"}}
    local = {"algorithm": {"name": "local"}, "objective": {"metric": "ncp"}, "budget": {"steps": 40}}
    return [*cases, run("mondrian-discernibility", mondrian), run("local-ncp", local)]


def hierarchies() -> list[Case]:
    """Return every source of hierarchies in a run."""

    def sourced(name: str, column: str, hierarchy: Any, data: str = PEOPLE, **more: Any) -> Case:
        changes = {
            f"attributes.{column}": {**QUASI, "hierarchy": hierarchy, **more},
            "attributes.zip": IDENTIFIER,
        }
        files = {"people.csv": data, "job.json": job(changes), "jobs.csv": JOBS_FILE}
        return Case(name, {**files, "semicolons.csv": JOBS_FILE.replace(",", ";")}, [RUN])

    ready = csv_text(
        [
            (*row[:4], ("Germany", "France", "DE", "Brazil")[len(row[8] + row[4]) % 4], *row[5:])
            for row in people()
        ]
    )
    return [
        sourced("file", "job", {"file": "jobs.csv"}),
        sourced("file-semicolons", "job", {"file": "semicolons.csv"}),
        sourced("tree", "job", {"tree": TREE}),
        sourced(
            "tree-unknown-top", "job", {"tree": {"*": {"health": ["doctor", "nurse"]}}, "unknown": "top"}
        ),
        sourced("intervals-origin", "age", {"intervals": {"width": [10, 30], "origin": 5}}),
        sourced("intervals-fractions", "wage", {"intervals": {"width": [250.5, 1002]}}, type="number"),
        sourced("date", "born", {"date": {}}, type="date"),
        sourced("date-levels", "born", {"date": {"levels": ["year", "decade"]}}),
        sourced("order", "job", {"order": {"sizes": [2, 4]}}),
        sourced(
            "order-values", "age", {"order": {"sizes": [5, 10], "values": [str(n) for n in range(18, 62)]}}
        ),
        sourced("auto", "wage", {"auto": {"levels": 3}}),
        sourced("auto-rare", "name", {"auto": {"rare": 4}}),
        sourced("auto-default", "born", {"auto": {}}),
        sourced("ready", "job", {"ready": "country"}, ready),
        sourced("ready-age", "age", {"ready": "age"}),
        run("mask-left", {"attributes.zip.hierarchy": {"mask": {"from": "left", "steps": [2, 4]}}}),
        run("none", {"attributes.zip": QUASI, "attributes.age": QUASI}),
    ]


def engines() -> list[Case]:
    """Return the same jobs by every engine but Spark, also beyond memory."""
    duckdb = {"name": "duckdb", "memory_limit": "1GB"}
    beyond = {**duckdb, "options": {"combinations": 300, "threads": 1}}
    many = csv_text(people(400, 5))
    close = {"constraints": [K3, {"model": "t-closeness", "t": 0.4}]}
    mondrian = {"algorithm": {"name": "mondrian"}}
    return [
        run("memory", {"engine": {"name": "memory"}}),
        run("auto", {"engine": {"name": "auto", "memory_limit": "1GB"}}),
        run("duckdb", {"engine": duckdb}),
        run("duckdb-t-closeness", {"engine": duckdb, **close}),
        run("duckdb-cells", {"engine": duckdb, "suppression.method": "cells"}),
        run("duckdb-local", {"engine": duckdb, "algorithm": {"name": "local"}, "budget": {"steps": 30}}),
        run(
            "duckdb-anatomy",
            {"engine": duckdb, "algorithm": {"name": "anatomy"}, "constraints": [L2], "seed": 5},
        ),
        run("beyond-lattice", {"engine": beyond, "attributes.note": IDENTIFIER}, data=many),
        run("beyond-lattice-columns", {"engine": beyond}, data=many),
        run("beyond-lattice-t-closeness", {"engine": beyond, **close}, data=many),
        run("beyond-lattice-kept", {"engine": beyond, "suppression.keep_rows": True}, data=many),
        run("beyond-too-many", {"engine": {**duckdb, "options": {"combinations": 40}}}, data=many),
        run("beyond-mondrian", {"engine": beyond, **mondrian}, data=many),
        run(
            "beyond-mondrian-interval",
            {"engine": beyond, "algorithm": {"name": "mondrian", "labels": "interval"}},
            data=many,
        ),
        run("beyond-local-refused", {"engine": beyond, "algorithm": {"name": "local"}}, data=many),
        run(
            "beyond-attacks",
            {"engine": beyond, "attacks": ["uniqueness", "homogeneity", "vulnerability"]},
            data=many,
        ),
        run("memory-many", {"engine": {"name": "memory"}}, data=many),
    ]


def applying() -> list[Case]:
    """Return runs that apply the recoding of an earlier one to further records."""
    mondrian = {"algorithm": {"name": "mondrian"}, "suppression.limit": 0.4}

    def case(
        name: str, changes: Changes, apply: Mapping[str, str], *args: str, later: Changes = UNCHANGED
    ) -> Case:
        files = {
            "people.csv": csv_text(people(80, 2)),
            "later.csv": csv_text(people(30, 9)),
            "job.json": job(changes),
            "later.json": job({**changes, **later, "input.path": "later.csv", "apply": apply}),
        }
        return Case(
            name, files, [("run", "job.json", "-o", "first"), ("run", "later.json", "-o", "out", *args)]
        )

    report = {"report": "first/report.json"}
    duckdb = {"engine": {"name": "duckdb", "memory_limit": "1GB"}}
    return [
        case("lattice", {}, report),
        case("lattice-duckdb", duckdb, report),
        case("mondrian", mondrian, report),
        case("search", {}, {**report, "otherwise": "search"}),
        case("batch-required", {}, {**report, "batch": "require"}),
        case("batch-required-search", {}, {**report, "batch": "require", "otherwise": "search"}),
        case("another-promise", {}, report, "--set", "constraints.0.k=4"),
        case("other-columns", {}, report, later={"attributes.note": IDENTIFIER, "attributes.sex": SENSITIVE}),
        case("cannot-be-applied", {"algorithm": {"name": "local"}, "budget": {"steps": 20}}, report),
        case("no-report", {}, {"report": "elsewhere/report.json"}),
        case("same-folder", {}, report, "-o", "first"),
    ]


def _parquet(rows: list[tuple[str, ...]]) -> Callable[[Path], object]:
    """Return what writes a Parquet file with types of its own."""

    def write(path: Path) -> None:
        import datetime

        import pyarrow as pa
        import pyarrow.parquet

        cells = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        typed = {
            **cells,
            "age": [int(each) for each in cells["age"]],
            "born": [datetime.date.fromisoformat(each) for each in cells["born"]],
            "wage": [float(each) for each in cells["wage"]],
        }
        pyarrow.parquet.write_table(pa.table(typed), path)

    return write


def _database(path: Path) -> None:
    """Write a DuckDB file with a table of people."""
    import duckdb

    with duckdb.connect(path) as connection:
        connection.execute("CREATE SCHEMA visits")
        typed = "name TEXT, age INTEGER, zip TEXT, sex TEXT, job TEXT, born DATE, wage DECIMAL(8, 2)"
        connection.execute(f"CREATE TABLE visits.people ({typed}, illness TEXT, note TEXT)")
        connection.executemany(f"INSERT INTO visits.people VALUES ({', '.join('?' * 9)})", people())


def formats() -> list[Case]:
    """Return every format that is read or written."""

    def read(name: str, path: str, content: Any, changes: Changes = UNCHANGED, *args: str) -> Case:
        return Case(name, {path: content, "job.json": job({"input.path": path, **changes})}, [(*RUN, *args)])

    def written(name: str, *args: str, **options: Any) -> Case:
        return run(name, {}, *args, **options)

    rows = people()
    wage = {
        "attributes.wage": {**QUASI, "type": "number", "hierarchy": {"intervals": {"width": [1000, 2000]}}}
    }
    decimal = [(*row[:6], row[6].replace(".", ","), *row[7:]) for row in rows]
    umlauts = [("Jürgen", *row[1:4], "Bäcker", *row[5:8], f"Straße {row[8]}") for row in rows]
    holes = [(*row[:3], "?" if number % 5 == 0 else row[3], *row[4:]) for number, row in enumerate(rows)]
    quoted = [(*row[:8], f'so, "{row[8]}"\nit was') for row in rows]
    table = {"input": {"database": "people.duckdb", "table": "visits.people"}}
    query = {"input": {"database": "people.duckdb", "query": "SELECT * FROM visits.people WHERE age < 50"}}
    parquet, to_table = _parquet(rows), {"output": {"database": "shared.duckdb", "table": "people"}}
    typed = {"attributes.wage": INSENSITIVE, "attributes.born": INSENSITIVE}
    yaml = (SMALL_YAML, [("run", "job.yaml", "--quiet")])
    return [
        read("csv-gz", "people.csv.gz", gzip.compress(PEOPLE.encode(), mtime=0)),
        read("tsv", "people.tsv", csv_text(rows, separator="\t")),
        read("semicolons", "people.csv", csv_text(rows, separator=";")),
        read("bars", "people.csv", csv_text(rows, separator="|"), {"input.separator": "|"}),
        read("decimal-comma", "people.csv", csv_text(decimal, separator=";"), {"input.decimal": ",", **wage}),
        read(
            "decimal-comma-means",
            "people.csv",
            csv_text(decimal, separator=";"),
            {**NUMBERS, "input.decimal": ",", "algorithm": {"name": "microaggregation"}},
        ),
        read(
            "latin-1",
            "people.csv",
            csv_text(umlauts).encode("latin-1"),
            {"input.encoding": "latin-1", "attributes.job": QUASI},
        ),
        read("utf-16", "people.csv", csv_text(umlauts).encode("utf-16"), {"input.encoding": "utf-16"}),
        read("byte-order-mark", "people.csv", PEOPLE.encode("utf-8-sig")),
        read("windows-line-ends", "people.csv", PEOPLE.replace("\n", "\r\n")),
        read("missing", "people.csv", csv_text(holes), {"input.missing": ["?", ""]}),
        read("quoted", "people.csv", csv_text(quoted)),
        read("parquet", "people.parquet", parquet, typed),
        read(
            "parquet-to-parquet", "people.parquet", parquet, {**typed, "output": {"path": "release.parquet"}}
        ),
        read("table", "people.duckdb", _database, {**typed, **table}),
        read("query", "people.duckdb", _database, {**typed, **query}),
        read("table-to-table", "people.duckdb", _database, {**typed, **table, **to_table}),
        run("to-table", to_table),
        written("to-csv-gz", "--set", "output.path=shared.csv.gz"),
        written("to-parquet", "--set", "output.path=shared.parquet"),
        written("shuffled", "--set", "output.order=shuffled", shuffled=True),
        written(
            "anatomy-parquet",
            "--set",
            "algorithm={name: anatomy}",
            "--set",
            "output.path=r.parquet",
            "--set",
            "constraints=[{model: l-diversity, l: 2}]",
        ),
        Case(
            "config-yaml",
            {
                "people.csv": csv_text(columns(rows, "age", "illness"), ("age", "illness")),
                "job.yaml": yaml[0],
            },
            yaml[1],
        ),
        Case(
            "config-toml",
            {
                "people.csv": csv_text(columns(rows, "age", "illness"), ("age", "illness")),
                "job.toml": SMALL_TOML,
            },
            [("run", "job.toml", "-q")],
        ),
    ]


SMALL_YAML = """\
input: {path: people.csv}
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: {width: [10, 20]}}}
  illness: {role: sensitive}
constraints:
  - {model: k-anonymity, k: 3}
"""
SMALL_TOML = """\
input = {path = "people.csv"}
constraints = [{model = "k-anonymity", k = 3}]
[attributes]
age = {role = "quasi-identifier", hierarchy = {intervals = {width = [10, 20]}}}
illness = {role = "sensitive"}
"""


def attacks() -> list[Case]:
    """Return every attack, in a run and by the command."""
    release_alone = [
        "homogeneity",
        {"attack": "background", "facts": 2},
        {"attack": "skewness", "rare": 0.2, "threshold": 0.4},
        {"attack": "similarity", "level": 1},
        {"attack": "uniqueness", "subsets": "all", "size": 2},
        {"attack": "uniqueness", "population": 5000},
        {"attack": "vulnerability", "knowledge": ["age", "sex"]},
        {"attack": "vulnerability", "subsets": "all"},
        "wildcard",
        {"attack": "definetti", "sweeps": 200, "chains": 2},
    ]
    linking = [
        {"attack": "linkage", "linkage": linkage, **more}
        for linkage, more in (
            ("nearest", {}),
            ("nearest", {"distance": "mahalanobis", "overlap": 0.5}),
            ("assignment", {"distance": "rank"}),
            ("probabilistic", {}),
            ("learned", {"distance": "weighted-mean"}),
            ("learned", {"distance": "owa", "targets": 20}),
        )
    ]
    tree = {"attributes.illness": {**SENSITIVE, "hierarchy": {"tree": ILL}}}
    numbers = {**NUMBERS, "algorithm": {"name": "microaggregation"}, "constraints": [K3]}
    masked = ["interval", {"attack": "interval", "measure": "rid", "width": 0.1}, "linkage", "inference"]
    weights = {"attributes.wage": INSENSITIVE, "attacks": [{"attack": "uniqueness", "weights": "wage"}]}
    two = [
        ("run", "job.json", "-o", "first"),
        ("run", "job.json", "-o", "second", "--set", "attributes.sex.levels={min: 1}", "-q"),
    ]
    files = {"people.csv": PEOPLE, "job.json": job(tree), "plain.json": job({"attacks": ["linkage"]})}
    attack = ("attack", "first/share/release.csv", "-c", "job.json")
    anatomy = job({"algorithm": {"name": "anatomy"}, "constraints": [L2]})
    return [
        run("release-alone", {**tree, "attacks": release_alone}),
        run("linkage", {"attacks": linking}),
        run(
            "linkage-mondrian",
            {"attacks": linking[:3], "algorithm": {"name": "mondrian", "labels": "interval"}},
        ),
        run("masked", {**numbers, "attacks": masked}),
        run(
            "inference",
            {"attacks": ["inference", {"attack": "definetti", "features": "similar", "sweeps": 100}]},
        ),
        run("minimality", {"attacks": ["minimality"], "suppression.limit": 0}),
        run("weights", weights),
        run("nothing-to-attack", {"attacks": ["interval"]}),
        Case("command", files, [two[0], attack]),
        Case("command-original", files, [two[0], (*attack, "--original", "people.csv")]),
        Case("command-second", files, [*two, (*attack, "--second", "second/share/release.csv", "--json")]),
        Case("command-lacks-original", files, [two[0], (*attack[:3], "plain.json")]),
        Case("command-not-there", files, [attack]),
        Case("command-of-the-input", files, [("attack", "people.csv", "-c", "job.json", "--quiet")]),
        Case(
            "command-anatomy",
            {**files, "job.json": anatomy},
            [two[0], ("attack", "first/share/release.qit.csv", "-c", "job.json", "--original", "people.csv")],
        ),
    ]


def utility() -> list[Case]:
    """Return every measure of utility."""
    all_of_them = [
        "marginal-distance",
        {"measure": "pair-distance", "bins": 10},
        {"measure": "query-error", "queries": 100, "dimensions": 2},
        {"measure": "prediction", "held_out": 0.25},
    ]
    return [
        run("lattice", {"utility": all_of_them}),
        run("mondrian", {"utility": all_of_them, "algorithm": {"name": "mondrian", "labels": "set"}}),
        run("means", {**NUMBERS, "algorithm": {"name": "microaggregation"}, "utility": all_of_them}),
        run("anatomy", {"utility": ["query-error"], "algorithm": {"name": "anatomy"}, "constraints": [L2]}),
    ]


def answers() -> list[Case]:
    """Return runs whose answer is no, or that nothing was found in time."""
    return [
        run("infeasible-k", {"constraints": [{"model": "k-anonymity", "k": 61}]}),
        run("infeasible-pair", {"constraints": [K3, {"model": "l-diversity", "l": 6}]}),
        run(
            "infeasible-json",
            {"constraints": [{"model": "p-sensitive-k-anonymity", "p": 6, "k": 9}]},
            "--json",
        ),
        run("infeasible-levels", {"attributes.zip.levels": {"max": 0}, "suppression.limit": 0}),
        run(
            "infeasible-anatomy",
            {"algorithm": {"name": "anatomy"}, "constraints": [{"model": "l-diversity", "l": 6}]},
        ),
        run(
            "infeasible-mondrian",
            {"algorithm": {"name": "mondrian"}, "constraints": [{"model": "k-anonymity", "k": 99}]},
        ),
        run("infeasible-vulnerability", one(model="vulnerability", max=0.01)),
        run("undecided", UNDECIDED),
        run("undecided-json", UNDECIDED, "--json"),
        run("one-node", {"budget": {"nodes": 1}, "suppression.limit": 0}),
        Case("exists", {"people.csv": PEOPLE, "job.json": job()}, [RUN, RUN]),
        Case(
            "overwritten",
            {"people.csv": PEOPLE, "job.json": job()},
            [RUN, (*RUN, "--overwrite", "--set", "suppression.limit=0", "-q")],
        ),
        Case("default-folder", {"people.csv": PEOPLE, "job.json": job()}, [("run", "job.json")]),
    ]


def commands() -> list[Case]:
    """Return the commands beside ``run`` and ``attack``."""
    files = {"people.csv": PEOPLE, "job.json": job(), "jobs.csv": JOBS_FILE}
    check = ("check", "people.csv")
    names = ("--qi", "age,zip,sex", "--sensitive", "illness")
    share, tampered = "out/share/release.csv", "tampered.csv"
    init = ("init", "people.csv", "-o", "drafted.yaml")
    odd = csv_text(
        [
            (
                row[0],
                f"{row[0].replace(' ', '.')}@example.org".lower(),
                row[2],
                " F" if row[3] == "F" else "M",
                "same",
                row[5],
                row[6].replace(".", ","),
                "" if row[4] == "driver" else row[4],
                f"{row[8]} and some words of text more",
            )
            for row in people(80, 4)
        ],
        ("person", "mail", "postcode", "sex", "country", "birth_date", "income", "work", "remarks"),
    )
    build = ("hierarchy", "build", "--data", "people.csv", "--column")
    built = [
        ("age", "auto"),
        ("age", "intervals=5,10,20"),
        ("zip", "mask=left"),
        ("born", "date"),
        ("job", "order=2,4"),
        ("job", "values"),
        ("job", "columns=sex"),
        ("job", "like=jobs.csv"),
        ("age", "rules=rules.csv"),
    ]
    rules = "<18,young\n18..40,middle\n>=41,old\n"
    return [
        Case("check-names", files, [(*check, *names)]),
        Case("check-names-json", files, [(*check, *names, "--json")]),
        Case("check-no-sensitive", files, [(*check, "--qi", "age")]),
        Case("check-config-fails", files, [(*check, "-c", "job.json")]),
        Case("check-config-json", files, [(*check, "-c", "job.json", "--json")]),
        Case("check-release", files, [RUN, ("check", share, "-c", "job.json")]),
        Case(
            "check-refused",
            files,
            [
                (*check,),
                (*check, "--qi", "agee"),
                (*check, "--qi", "age", "--sensitive", "age"),
                ("check", "nowhere.csv", "--qi", "age"),
                (*check, *names, "-c", "job.json"),
            ],
        ),
        Case(
            "audit",
            files,
            [
                RUN,
                ("audit", share),
                ("audit", share, "--json"),
                ("audit", share, "--report", "out/report.json"),
            ],
        ),
        Case(
            "audit-refuted",
            {
                **files,
                tampered: csv_text(
                    columns(people(50, 8), "age", "zip", "sex", "illness", "note"),
                    ("age", "zip", "sex", "illness", "note"),
                ),
            },
            [
                RUN,
                ("audit", tampered, "--report", "out/share/report.public.json"),
                ("audit", tampered, "--report", "out/report.json", "--json"),
            ],
        ),
        Case(
            "audit-refused",
            files,
            [
                ("audit", "people.csv"),
                ("audit", "nowhere.csv"),
                ("audit", "people.csv", "--report", "job.json"),
            ],
        ),
        Case(
            "audit-anatomy",
            {**files, "job.json": job({"algorithm": {"name": "anatomy"}, "constraints": [L2]})},
            [RUN, ("audit", "out/share/release.st.csv")],
        ),
        Case(
            "compare",
            files,
            [
                (
                    "compare",
                    "job.json",
                    "-o",
                    "compared",
                    "--workers",
                    "1",
                    "--algorithm",
                    "lattice",
                    "--vary",
                    "constraints.0.k=2,70",
                )
            ],
        ),
        Case(
            "compare-all",
            {**files, "job.json": job({"budget": {"steps": 30}, "utility": ["query-error"]})},
            [("compare", "job.json", "-o", "compared", "--workers", "1", "--json")],
        ),
        Case(
            "compare-refused",
            files,
            [
                ("compare", "job.json", "--vary", "input.path=a,b"),
                ("compare", "job.json", "--algorithm", "latice"),
                ("compare", "job.json", "--vary", "constraints.0.k=0,2"),
            ],
        ),
        Case("init", files, [init, ("run", "drafted.yaml", "-o", "out")]),
        Case("init-json", files, [(*init, "--json")]),
        Case(
            "init-odd",
            {"odd.csv": odd},
            [("init", "odd.csv"), ("init", "odd.csv"), ("init", "odd.csv", "--overwrite", "-q")],
        ),
        Case("init-clinic", {}, [("init", "SHIPPED/clinic.csv", "-o", "clinic.yaml")]),
        Case(
            "init-refused",
            files,
            [
                ("init", "nowhere.csv"),
                ("init", "people.csv", "-o", "people.csv"),
                ("init", "people.csv", "-o", "drafted.txt"),
                ("init", "people.csv", "--encoding", "latin-99"),
            ],
        ),
        Case(
            "hierarchy-show",
            files,
            [
                ("hierarchy", "show", "jobs.csv"),
                ("hierarchy", "show", "sex", "--json"),
                ("hierarchy", "show", "education", "--children", "2"),
                ("hierarchy", "show", "jobs.csv", "--svg", "jobs.svg"),
                ("hierarchy", "show", "age"),
                ("hierarchy", "show", "sexx"),
            ],
        ),
        Case(
            "hierarchy-validate",
            {**files, "bad.csv": "doctor,health,*\nnurse,*\n"},
            [
                ("hierarchy", "validate", source, "--data", "people.csv", "--column", column, *more)
                for source, column, *more in (
                    ("jobs.csv", "job"),
                    ("jobs.csv", "sex"),
                    ("bad.csv", "job"),
                    ("sex", "sex", "--json"),
                    ("age", "age"),
                    ("jobs.csv", "jobb"),
                )
            ],
        ),
        Case(
            "hierarchy-build",
            {**files, "rules.csv": rules},
            [
                (*build, column, "--by", by, "-o", f"{number}-{by.split('=')[0]}.csv")
                for number, (column, by) in enumerate(built)
            ]
            + [
                (*build, "job", "--by", "values", "--merge-below", "12", "-o", "merged.csv"),
                (*build, "job", "--by", "values", "-o", "jobs.csv"),
                (*build, "job", "--by", "value", "-o", "no.csv"),
                (*build, "job", "--by", "intervals=5", "-o", "no.csv"),
                (*build, "job", "--by", "auto", "-o", "a.csv", "--json"),
            ],
        ),
        Case("schema", {}, [("schema",)]),
        Case(
            "usage",
            files,
            [
                ("--version",),
                (),
                ("runn",),
                ("run",),
                ("run", "job.json", "--sett", "a=1"),
                ("attack", "people.csv"),
                ("hierarchy", "sho"),
                ("compare", "job.json", "--workers", "0"),
            ],
        ),
        Case(
            "help",
            {},
            [
                ("--help",),
                *(
                    (name, "--help")
                    for name in ("init", "run", "check", "attack", "audit", "compare", "hierarchy", "schema")
                ),
                *(("hierarchy", name, "--help") for name in ("show", "validate", "build")),
            ],
        ),
    ]


def refused() -> list[Case]:
    """Return bad configs and inputs: each is one message."""
    rows = people()

    def ages(*values: str) -> str:
        return csv_text(
            [(row[0], value, *row[2:]) for row, value in zip(rows, values, strict=False)]
            + rows[len(values) :]
        )

    def tree(text: str) -> Case:
        files = {
            "people.csv": PEOPLE,
            "job.json": job({"attributes.sex.hierarchy": {"file": "sex.csv"}}),
            "sex.csv": text,
        }
        return Case("", files, [RUN])

    def only(**constraint: Any) -> Changes:
        return {"constraints": [constraint]}

    data: dict[str, str | bytes] = {
        "empty-file": "",
        "header-only": csv_text([]),
        "ragged": PEOPLE + "Ann,20,0117\n",
        "undecodable": PEOPLE.encode().replace(b"Ann 7,", b"Ann \xff,"),
        "repeated-column": csv_text(rows, (*COLUMNS[:-1], "age")),
        "unnamed-column": csv_text(rows, (*COLUMNS[:-1], "")),
        "star": csv_text([*rows, ("Ann", "20", "*", "F", "nurse", "1990-01-01", "1.5", "flu", "x")]),
        "nan": ages("nan"),
        "mixed": ages("abc", "young"),
        "stray-quote": PEOPLE + 'Ann,20,01"17",F,nurse,1990-01-01,1.5,"flu"x,y\n',
        "null-byte": PEOPLE.encode().replace(b"Ann 7,", b"Ann \x00,"),
    }
    changes: dict[str, Changes] = {
        "separator": {"input.separator": ";"},
        "no-such-input": {"input.path": "nowhere.csv"},
        "format": {"input.path": "people.ods"},
        "declared-integer": {"attributes.zip": {**QUASI, "type": "date"}},
        "unknown-column": {"attributes.agee": INSENSITIVE},
        "column-without-role": {"attributes.note": None},
        "no-quasi-identifier": {f"attributes.{name}": INSENSITIVE for name in ("age", "zip", "sex")},
        "no-sensitive": {"attributes.illness": INSENSITIVE},
        "k-0": only(model="k-anonymity", k=0),
        "k-fraction": only(model="k-anonymity", k=1.5),
        "k-lacking": only(model="k-anonymity"),
        "p-above-k": only(model="p-sensitive-k-anonymity", p=5, k=3),
        "t-above-1": only(model="t-closeness", t=1.5),
        "distance": only(model="t-closeness", t=0.5, distance="hierarchical"),
        "attribute": only(model="l-diversity", l=2, attribute="ilness"),
        "combined-k": only(model="k-anonymity", k=3, quasi_identifiers="combined"),
        "model": only(model="k-anonimity", k=3),
        "no-constraints": {"constraints": []},
        "limit": {"suppression.limit": 1.1},
        "limit-text": {"suppression.limit": "much"},
        "unknown-key": {"suppression.limt": 0.1},
        "metric": {"objective": {"metric": "los"}},
        "aggregate": {"objective": {"metric": "height", "aggregate": "maximum"}},
        "cells-height": {"suppression.method": "cells", "objective": {"metric": "height"}},
        "algorithm": {"algorithm": {"name": "latice"}},
        "algorithm-option": {"algorithm": {"name": "mondrian", "mode": "lax", "label": "set"}},
        "microaggregation-text": {"algorithm": {"name": "microaggregation"}},
        "cells-mondrian": {"algorithm": {"name": "mondrian"}, "suppression.method": "cells"},
        "role": {"attributes.sex.role": "quasi"},
        "weight-negative": {"attributes.sex.weight": -1},
        "weight-of-sensitive": {"attributes.illness.weight": 2},
        "levels": {"attributes.sex.levels": {"min": 2, "max": 1}},
        "levels-beyond": {"attributes.sex.levels": {"min": 5}},
        "widths": {"attributes.age.hierarchy": {"intervals": {"width": [5, 12]}}},
        "two-sources": {"attributes.sex.hierarchy": {"mask": {}, "auto": {}}},
        "ready": {"attributes.sex.hierarchy": {"ready": "sexx"}},
        "ready-lacks": {
            "attributes.job.role": "quasi-identifier",
            "attributes.job.hierarchy": {"ready": "sex"},
        },
        "intervals-of-text": {"attributes.sex.hierarchy": {"intervals": {"width": [5]}}},
        "order-lacks": {"attributes.sex.hierarchy": {"order": {"sizes": [2], "values": ["F", "X"]}}},
        "attack": {"attacks": ["linkag"]},
        "attack-option": {"attacks": [{"attack": "background", "fact": 1}]},
        "attack-knowledge": {"attacks": [{"attack": "uniqueness", "knowledge": ["wage"]}]},
        "utility": {"utility": ["queries"]},
        "engine": {"engine": {"name": "sqlite"}},
        "memory-limit": {"engine": {"name": "duckdb", "memory_limit": "lots"}},
        "temp-directory": {"engine": {"name": "duckdb", "options": {"temp_directory": "nowhere"}}},
        "budget": {"budget": {"nodes": 0, "second": 5}},
        "output-format": {"output": {"path": "release.ods"}},
        "output-outside": {"output": {"path": "../people.csv"}},
        "database": {"input": {"database": "no.duckdb", "table": "people"}},
        "url-password": {"input": {"url": "postgresql://ana:secret@db.example/clinic", "table": "people"}},
        "path-and-table": {"input": {"path": "people.csv", "table": "people"}},
        "many-at-once": {"suppression.limit": 2, "objective": {"metric": "los"}, "constraints": [], "sed": 1},
    }
    trees = {
        "tree-two-parents": "F,a,*\nM,b,*\nx,a,+\n",
        "tree-two-roots": "F,*\nM,all\n",
        "tree-ragged": "F,female,*\nM,*\n",
        "tree-lacks": "F,*\n",
        "tree-twice": "F,a,*\nM,a,*\nF,b,*\n",
        "tree-empty": "",
    }
    yaml = {
        "yaml-twice": SMALL_YAML + "constraints: []\n",
        "yaml-broken": SMALL_YAML + "  - {model: l-diversity\n",
        "yaml-lines": SMALL_YAML.replace("role: sensitive", "rol: sensitive").replace("k: 3", "k: three"),
        "yaml-list": "- a\n- b\n",
        "yaml-empty": "",
    }
    small = csv_text(columns(rows, "age", "illness"), ("age", "illness"))
    files = {"people.csv": PEOPLE, "job.json": job()}
    sets = (
        "constraints.0.k=0",
        "nonsense",
        "inputt.path=x",
        "constraints.7.k=2",
        "suppression.limit=[",
        "attributes.age=1",
    )
    return [
        *(run(name, data=content) for name, content in data.items()),
        *(run(name, change) for name, change in changes.items()),
        *(Case(name, tree(text).files, tree(text).steps) for name, text in trees.items()),
        *(
            Case(name, {"people.csv": small, "job.yaml": text}, [("run", "job.yaml")])
            for name, text in yaml.items()
        ),
        Case("overrides", files, [(*RUN, "--set", each) for each in sets]),
        Case("no-config", files, [("run", "nowhere.yaml"), ("run", "people.csv"), ("run", ".")]),
        Case(
            "output-is-a-file",
            files,
            [("run", "job.json", "-o", "people.csv"), ("run", "job.json", "-o", "job.json/x")],
        ),
        Case(
            "broken-gz",
            {"people.csv.gz": b"\x1f\x8b no", "job.json": job({"input.path": "people.csv.gz"})},
            [RUN],
        ),
        Case(
            "broken-parquet",
            {"people.parquet": b"PAR1 no", "job.json": job({"input.path": "people.parquet"})},
            [RUN],
        ),
    ]


def shipped() -> list[Case]:
    """Return the configs that come with the package."""
    return [
        Case(
            "minimal", {}, [("run", "SHIPPED/minimal.yaml", "-o", "out"), ("audit", "out/share/release.csv")]
        ),
        *(
            Case(name, {}, [("run", f"SHIPPED/{name}.yaml", "-o", "out")])
            for name in ("sample", "full_domain", "hospital")
        ),
        Case("sample-init", {}, [("init", "SHIPPED/sample.csv", "-o", "drafted.yaml")]),
    ]
