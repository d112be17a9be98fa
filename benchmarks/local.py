"""Local recoding on Adult and the sample beside lattice, Mondrian and bound; and on a million records.

Run as ``python -m benchmarks.local`` in the folder of the checkout.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from anonymizer.config.load import load_config
from anonymizer.job.source import input_path, open_as
from anonymizer.job.table import prepare
from anonymizer.model.recoding import Outcome
from anonymizer.plan.plan import plan_of
from anonymizer.plan.prepared import Prepared
from anonymizer.search.base import Control, first_with, search_with
from anonymizer.search.local.bound import best_possible
from benchmarks import adult
from benchmarks.common import ROOT, machine, python, read_report, run_command, run_process, seconds_of, table
from benchmarks.million import SEED, process_row, resampled, write

PEER = {2: 0.0239, 5: 0.0524, 10: 0.0778, 25: 0.1156, 50: 0.1501, 100: 0.1924}
"""Loss of ARX's local recoding by k, the best of six settings; its finest takes 32.7 s at k = 5."""

MODELS: dict[str, tuple[Mapping[str, Any], float]] = {
    "l-diversity, l 3": ({"model": "l-diversity", "l": 3}, 0.0325),
    "t-closeness, t 0.2 (equal)": ({"model": "t-closeness", "t": 0.2, "distance": "equal"}, 0.4348),
    "recursive (4, 3)-diversity": ({"model": "recursive-cl-diversity", "c": 4, "l": 3}, 0.0581),
}
"""With k = 5, and what ARX's local recoding loses."""

BETA = {"model": "enhanced-beta-likeness", "beta": 2}
DELTA = {"model": "delta-disclosure", "delta": 1.5, "absent": "ignored"}
SENSITIVE: dict[str, dict[str, Sequence[Mapping[str, Any]]]] = {
    "Adult": {
        "beta 2": [BETA],
        "delta 1.5": [DELTA],
        "t 0.2": [{"model": "t-closeness", "t": 0.2, "distance": "equal"}],
        "l 5": [{"model": "l-diversity", "l": 5}],
    },
    "sample": {
        "beta 2": [BETA],
        "delta 1.5": [DELTA],
        "t 0.4": [{"model": "t-closeness", "t": 0.4, "distance": "equal"}],
        "all five": [
            BETA,
            DELTA,
            {"model": "t-closeness", "t": 0.4, "distance": "equal"},
            {"model": "l-diversity", "l": 3},
        ],
    },
}
"""Models of the sensitive attribute, with k = 5 and no suppression."""

LEARNED = {"model": "linkage-risk", "linkage": "learned"}
ATTACKERS: dict[str, dict[str, Sequence[Mapping[str, Any]]]] = {
    "Adult": {"linkage .05": [{**LEARNED, "max": 0.05}]},
    "sample": {
        "linkage .10": [{**LEARNED, "max": 0.1}],
        "linkage .10, 5 % noise": [{**LEARNED, "max": 0.1, "noise": 0.05}],
        "l 3, t .4, linkage .03": [
            {"model": "l-diversity", "l": 3},
            {"model": "t-closeness", "t": 0.4, "distance": "equal"},
            {**LEARNED, "max": 0.03},
        ],
        "all five, linkage .02": [*SENSITIVE["sample"]["all five"], {**LEARNED, "max": 0.02}],
        "inference .35": [{"model": "inference-risk", "max": 0.35}],
        "vulnerability .10": [{"model": "vulnerability", "max": 0.1}],
        "vulnerability .30 of values": [
            {"model": "vulnerability", "max": 0.3, "target": "attribute-inference"}
        ],
    },
}
"""Attackers in the search, with k = 5 and no suppression; vulnerability is measured without an attack."""

SAMPLE = ROOT / "examples" / "sample.yaml"
HEADERS = ("local", "bound", "gap", "suppressed", "steps", "seconds", "lattice", "Mondrian", "ARX, local")
LIMIT = 0.02
MOST = 120.0
"""Seconds that the lattice and Mondrian may take each."""

MILLION = 1_000_000


def job(config: Mapping[str, Any], name: str, **options: object) -> Prepared:
    """Return a config as a problem with one of the algorithms."""
    chosen = load_config({**config, "algorithm": {"name": name, **options}})
    with open_as(chosen, input_path(chosen)) as relation:
        return prepare(plan_of(chosen), relation)


def searched(config: Mapping[str, Any], control: Control, name: str, **options: object) -> Outcome:
    """Return what an algorithm finds."""
    asked = job(config, name, **options)
    algorithm = load_config({**config, "algorithm": {"name": name, **options}}).algorithm.build()
    return algorithm.search(asked.problem, control)


def shown(loss: float | None) -> str:
    """Return a loss as text, a dash where there is none."""
    return "-" if loss is None else f"{loss:.4f}"


def row(title: object, config: Mapping[str, Any], seconds: float, peer: float) -> list[object]:
    """Return what the three algorithms lose."""
    asked = job(config, "local")
    algorithm = load_config({**config, "algorithm": {"name": "local"}}).algorithm.build()
    found: list[Outcome] = []
    taken = seconds_of(lambda: found.append(algorithm.search(asked.problem, Control(seconds=seconds))))
    own = found[0]
    lattice = searched(config, Control(seconds=MOST), "lattice")
    mondrian = searched(config, Control(seconds=MOST), "mondrian", labels="hierarchy")
    suppressed = 0
    if own.recoding is not None:
        suppressed = int(own.recoding.table.counts[own.recoding.suppressed].sum())
    return [
        title,
        shown(own.objective),
        shown(own.bound),
        "-" if own.objective is None or own.bound is None else f"{1 - own.bound / own.objective:.1%}",
        suppressed,
        len(own.steps),
        f"{taken:.1f}",
        shown(lattice.objective),
        shown(mondrian.objective),
        shown(peer),
    ]


def with_models(*models: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with occupation as the sensitive attribute and eight quasi-identifiers."""
    config = adult.config(adult.data(), LIMIT)
    config["attributes"][adult.SENSITIVE] = {"role": "sensitive"}
    config["constraints"] += map(dict, models)
    return config


def bases() -> dict[str, dict[str, Any]]:
    """Return configs of Adult, with occupation as the sensitive attribute, and of the sample: k = 5 alone."""
    asked = {"constraints": [{"model": "k-anonymity", "k": 5}], "suppression": {"limit": 0}}
    own = yaml.safe_load(SAMPLE.read_text(encoding="utf-8"))
    path = str(SAMPLE.parent / own["input"]["path"])
    return {
        "Adult": {**with_models(), **asked},
        "sample": {"input": {"path": path}, "attributes": own["attributes"], **asked},
    }


def sensitive_rows(seconds: float, only: str) -> Iterator[list[object]]:
    """Yield what Mondrian loses by cuts alone and with merged regions, and what local recoding does."""
    for name, config in bases().items():
        for title, models in SENSITIVE[name].items():
            if only not in f"{name} {title}":
                continue
            asked = {**config, "constraints": [*config["constraints"], *models]}
            problem = job(asked, "mondrian", labels="hierarchy").problem
            cut = first_with("mondrian", problem, Control(), labels="hierarchy")
            merged = search_with("mondrian", problem, Control(), labels="hierarchy")
            began = time.process_time()
            local = searched(asked, Control(cpu_seconds=seconds), "local")
            taken = f"{time.process_time() - began:.1f}"
            losses = [shown(each) for each in (cut.objective, merged.objective, local.objective, local.bound)]
            yield [name, title, *losses, len(local.steps), taken]


def attacker_rows(seconds: float, only: str) -> Iterator[list[object]]:
    """Yield what Mondrian and local recoding lose with an attacker, its success, attacks and time."""
    for name, config in bases().items():
        for title, models in ATTACKERS[name].items():
            if only not in f"{name} {title}":
                continue
            asked = {**config, "constraints": [*config["constraints"], *models]}
            found: list[object] = []
            for algorithm, options in (("mondrian", {"labels": "hierarchy"}), ("local", {})):
                began = time.process_time()
                own = searched(asked, Control(cpu_seconds=seconds), algorithm, **options)
                taken = f"{time.process_time() - began:.1f}"
                attacked = [step for step in own.steps if step.attackers]
                passed = [each for each in attacked if each.accepted and each.objective == own.objective]
                success = f"{passed[-1].attackers[-1].measured:.4f}" if passed else "-"
                found += [shown(own.objective), success, len(attacked), taken]
            yield [name, title, *found, shown(own.bound)]


T_CLOSE = {"model": "t-closeness", "t": 0.4, "distance": "equal"}
LINKED = {**LEARNED, "max": 0.1}
CARD: dict[str, Sequence[Mapping[str, Any]]] = {
    "k": [],
    "k, l 3": [{"model": "l-diversity", "l": 3}],
    "k, l, t .4": [{"model": "l-diversity", "l": 3}, T_CLOSE],
    "k, beta 2": [BETA],
    "k, delta 1.5": [DELTA],
    "all five": SENSITIVE["sample"]["all five"],
    "k, linkage .10": [LINKED],
    "k, l, t, linkage .10": [{"model": "l-diversity", "l": 3}, T_CLOSE, LINKED],
    "all five, linkage .10": [*SENSITIVE["sample"]["all five"], LINKED],
}
"""Every kind of constraint on the sample, alone and together, with k = 5."""

SEARCHES = ("lattice", "mondrian", "local", "auto")


def card_rows(budgets: Sequence[float], only: str) -> Iterator[list[object]]:
    """Yield what each algorithm loses under each set of constraints, its gap, and the bound for all.

    No local recoding loses less than the bound, and other releases are such recodings. The lattice is said
    to be proven where it found the best full-domain release.
    """
    config = bases()["sample"]
    for title, models in CARD.items():
        if only not in title:
            continue
        asked = {**config, "constraints": [*config["constraints"], *models]}
        bound = best_possible(job(asked, "local").problem) or 0.0
        found: list[tuple[float, list[Outcome]]] = []
        for seconds in budgets:
            own = [searched(asked, Control(cpu_seconds=seconds), algorithm) for algorithm in SEARCHES]
            # The lattice's own bound is on full-domain releases.
            bound = max([bound, *(each.bound for each in own[1:] if each.bound is not None)])
            found.append((seconds, own))
        for seconds, own in found:
            cells: list[object] = []
            for each in own:
                gap = "-" if not each.objective else f"{1 - bound / each.objective:.0%}"
                cells += [shown(each.objective), f"{gap}, proven" if each.optimal else gap]
            yield [title, f"{seconds:g} s", *cells, shown(bound)]


def million() -> str:
    """Run a million records with eight quasi-identifiers beside a bare GROUP BY; return Markdown."""
    names = [name for name in adult.ATTRIBUTES if name != adult.SENSITIVE]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "records.parquet"
        write(resampled(MILLION, SEED)[names], path)
        target = folder / "records.json"
        config = {**adult.config(path, LIMIT, attributes=names), "algorithm": {"name": "local"}}
        target.write_text(json.dumps(config), encoding="utf-8")
        command = [*run_command(target, folder / "out"), "--set", "budget.steps=1"]
        columns = ", ".join(f'"{own}"' for own in names)
        query = f"SELECT {columns}, count(*) FROM '{path}' GROUP BY ALL"
        grouping = python("-c", f"import duckdb; duckdb.connect().execute({query!r}).fetchnumpy()")
        whole, bare = run_process(command), run_process(grouping)
        report = read_report(folder / "out")
    search = report["search"]
    title = (
        f"{MILLION:,} records, the start alone: loss {search['objective']:.4f}, "
        f"{report['release']['classes']:,} classes, {report['release']['suppressed_records']:,} suppressed, "
        f"{search['seconds']:.1f} s of search"
    )
    rows = [process_row("`anonymizer run`", [whole]), process_row("bare GROUP BY in DuckDB", [bare])]
    return f"{title}\n\n{table(('process', 'seconds', 'CPU seconds', 'peak memory'), rows)}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.local", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=30.0, help="of each search (default 30)")
    parser.add_argument("--k", type=int, nargs="*", default=list(PEER), help="values of k (default all)")
    parser.add_argument("--skip-models", action="store_true", help="k-anonymity alone")
    parser.add_argument("--skip-million", action="store_true", help="without the million records")
    parser.add_argument("--sensitive", action="store_true", help="models of a sensitive attribute alone")
    parser.add_argument("--attackers", action="store_true", help="attackers in the search alone")
    parser.add_argument("--card", action="store_true", help="all kinds of constraints on the sample alone")
    parser.add_argument("--only", default="", help="rows of these three whose name has this text")
    chosen = parser.parse_args()
    if chosen.sensitive:
        print("k = 5 and models of the sensitive attribute, nothing suppressed, budget in processor time\n")
        names = ("data", "model", "cut", "merged", "local", "bound", "steps", "seconds")
        print(f"{table(names, sensitive_rows(chosen.seconds, chosen.only))}\n\n{machine()}")
        return
    if chosen.attackers:
        print("k = 5 and attackers, nothing suppressed, budget in processor time\n")
        own = ("loss", "success", "attacks", "seconds")
        found = (f"{name} {each}" for name in ("mondrian", "local") for each in own)
        lines = attacker_rows(chosen.seconds, chosen.only)
        print(f"{table(('data', 'attacker', *found, 'bound'), lines)}\n\n{machine()}")
        return
    if chosen.card:
        print("the sample, k = 5, nothing suppressed, budget in processor time; loss and gap\n")
        cells = (each for name in SEARCHES for each in (name, "gap"))
        names = ("constraints", "budget", *cells, "bound")
        print(f"{table(names, card_rows((20.0, 60.0), chosen.only))}\n\n{machine()}")
        return
    print(f"k-anonymity, nine quasi-identifiers, at most {LIMIT:.0%} suppressed, metric loss\n")
    rows = (
        row(k, adult.config(adult.data(), LIMIT, k), chosen.seconds, PEER.get(k, float("nan")))
        for k in chosen.k
    )
    print(table(("k", *HEADERS), rows))
    if not chosen.skip_models:
        print("\nk = 5 with occupation as sensitive attribute, eight quasi-identifiers\n")
        named = (
            row(name, with_models(model), chosen.seconds, peer) for name, (model, peer) in MODELS.items()
        )
        print(table(("model", *HEADERS), named))
    if not chosen.skip_million:
        print(f"\n{million()}")
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
