"""The golden cases by name, and what was recorded of each."""

from __future__ import annotations

import difflib
import functools
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.golden import cases
from tests.golden.frames import frames
from tests.golden.record import Case, run_case
from tests.golden.wording import Wording

RECORDED = Path(__file__).parent / "recorded"
WORDING = "wording"
"""The file of the texts that all groups refer to."""

GROUPS = {
    "algorithms": cases.algorithms,
    "suppression": cases.suppression,
    "models": cases.models,
    "objectives": cases.objectives,
    "hierarchies": cases.hierarchies,
    "engines": cases.engines,
    "applying": cases.applying,
    "formats": cases.formats,
    "attacks": cases.attacks,
    "utility": cases.utility,
    "answers": cases.answers,
    "commands": cases.commands,
    "refused": cases.refused,
    "shipped": cases.shipped,
    "frames": frames,
}

LEFT_TO_SLOW = {
    "algorithms": "lattice-quiet mondrian-strict-interval microaggregation-median-variable "
    "auto-many-rows local-seed mondrian-relaxed-set microaggregation-median "
    "microaggregation-mean-variable microaggregation-k anatomy-largest lattice-nodes "
    "local-steps mondrian-relaxed-interval anatomy-similar",
    "suppression": "records-kept-input limit-0-infeasible classes-kept-input "
    "classes-kept-release classes-removed-input records-removed-input records-kept-release "
    "cells-kept-release cells-removed-input local-kept mondrian-records cells-removed-release",
    "models": "enhanced-beta t-closeness-input linkage-risk-learned two-sensitive alpha-k-anonymity "
    "inference-risk linkage-risk-assignment t-closeness-own-distance vulnerability-inference "
    "missing-sensitive delta-disclosure t-closeness-equal linkage-risk recursive-cl sensitive-unprotected",
    "objectives": "nonuniform-entropy loss-maximum ncp-arithmetic-mean "
    "average-class-size loss-geometric-mean loss-arithmetic-mean ncp-maximum "
    "ncp-geometric-mean precision-arithmetic-mean precision-maximum mondrian-discernibility",
    "hierarchies": "date-levels auto-rare ready-age intervals-origin "
    "file-semicolons tree date order auto-default intervals-fractions none",
    "engines": "beyond-lattice-kept "
    "auto memory duckdb-t-closeness duckdb-anatomy duckdb-local duckdb-cells memory-many "
    "beyond-mondrian-interval beyond-lattice beyond-lattice-t-closeness beyond-attacks",
    "applying": "lattice-duckdb batch-required-search search same-folder no-report another-promise "
    "cannot-be-applied",
    "formats": "csv-gz latin-1 utf-16 to-table anatomy-parquet config-toml "
    "tsv bars byte-order-mark query table parquet decimal-comma-means windows-line-ends "
    "semicolons quoted to-csv-gz parquet-to-parquet",
    "attacks": "masked weights command-of-the-input "
    "linkage-mondrian command-anatomy command-lacks-original nothing-to-attack command-original "
    "command-second",
    "utility": "mondrian means",
    "commands": "init-clinic init-odd init-json check-names-json check-config-json audit-refused "
    "hierarchy-validate compare compare-all check-release audit-anatomy",
    "answers": "infeasible-levels infeasible-mondrian infeasible-vulnerability infeasible-anatomy "
    "undecided-json",
    "frames": "anonymize-polars anonymize-means compare measure-utility notebook",
    "shipped": "sample full_domain hospital sample-init",
}
"""Cases that are marked slow, because quicker ones do something like it."""


@functools.cache
def all_cases() -> dict[str, Case]:
    """Return every case by its group and name."""
    found: dict[str, Case] = {}
    for group, make in GROUPS.items():
        for case in make():
            name = f"{group}/{case.name}"
            assert name not in found, f"two cases are named {name}"
            found[name] = case
    slow = {f"{group}/{name}" for group, names in LEFT_TO_SLOW.items() for name in names.split()}
    assert slow <= set(found), f"no such cases: {slow - set(found)}"
    return {name: replace(case, slow=name in slow) for name, case in found.items()}


def select(chosen: Sequence[str], *, slow: bool) -> list[str]:
    """Return the names of cases of some groups or single ones; of all without any."""
    found = [
        name
        for name, case in all_cases().items()
        if (slow or not case.slow) and (not chosen or name in chosen or name.split("/")[0] in chosen)
    ]
    for each in chosen:
        if each not in GROUPS and each not in all_cases():
            raise SystemExit(f"no group or case '{each}'; groups: {', '.join(GROUPS)}")
    return found


def run(name: str, full: str | None = None) -> dict[str, Any]:
    """Run a case in a temporary folder and return what came of it."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        return run_case(all_cases()[name], Path(folder), None if full is None else Path(full) / name)


def run_timed(name: str, full: str | None = None) -> tuple[dict[str, Any], float]:
    """Run a case as ``run`` does, and return also the seconds of processor time that it took."""
    start = time.process_time()
    outcome = run(name, full)
    return outcome, time.process_time() - start


@functools.cache
def recorded(group: str) -> dict[str, Any]:
    """Return what was recorded of the cases of a group, or the texts that they refer to."""
    path = RECORDED / f"{group}.json"
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return content


def differences(name: str, outcome: Mapping[str, Any]) -> list[str]:
    """Return the lines by which an outcome differs from the recorded one, nothing where they are equal."""
    group, _, case = name.partition("/")
    before, wording = recorded(group).get(case), Wording(recorded(WORDING))
    if before is None:
        return ["nothing is recorded of this case; python -m tests.golden --record records it"]
    now = wording.encoded(outcome)
    if before == now:
        return []
    lines = (_text(wording.decoded(each)).splitlines() for each in (before, now))
    return list(difflib.unified_diff(*lines, "recorded", "now", n=4, lineterm="")) or [
        "words that are recorded as digests differ; --full writes them"
    ]


def write(found: Mapping[str, Mapping[str, Any]], *, all_of_them: bool) -> None:
    """Write outcomes down; others of their groups stay, those of cases that are gone do not."""
    RECORDED.mkdir(exist_ok=True)
    wording = Wording(recorded(WORDING))
    wording.encoded(list(found.values()))
    wording = wording.learned(whole=all_of_them)
    (RECORDED / f"{WORDING}.json").write_text(_text(wording.texts) + "\n", encoding="utf-8")
    for group in GROUPS:
        new = {
            name.split("/", 1)[1]: wording.encoded(outcome)
            for name, outcome in found.items()
            if name.startswith(f"{group}/")
        }
        if new:
            kept = {} if all_of_them else recorded(group)
            known = [name.split("/", 1)[1] for name in all_cases() if name.startswith(f"{group}/")]
            merged = {**kept, **new}
            ordered = {name: merged[name] for name in known if name in merged}
            (RECORDED / f"{group}.json").write_text(_text(ordered) + "\n", encoding="utf-8")


def _text(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False)
