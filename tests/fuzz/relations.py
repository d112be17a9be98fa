"""What else must be true of a run: what other commands say, and what other inputs give."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from anonymizer.cli.main import main as command
from tests.fuzz.brute_force import TooClose, Truth
from tests.fuzz.cases import Case
from tests.fuzz.judge import Tally, alike, beyond
from tests.fuzz.models import Unknown, over_classes

Report = dict[str, Any]


@dataclass
class Answer:
    """What a command said."""

    code: Any
    out: str
    error: str


def invoke(*words: str) -> Answer:
    """Run a command in this process.

    Raises
    ------
    Exception: whatever the command lets through, which is a finding.
    """
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            code: Any = command(list(words))
        except SystemExit as end:
            code = end.code
    return Answer(code, out.getvalue(), error.getvalue())


def run(folder: Path) -> Answer:
    """Run the config of a folder."""
    words = ("-o", str(folder / "release"), "--overwrite", "--json", "--quiet")
    return invoke("run", str(folder / "config.json"), *words)


def release_of(case: Case, folder: Path) -> Path:
    """Return the released file, or the first of two."""
    name, _, suffix = str(case.config["output"]["path"]).partition(".")
    pair = ".qit" if case.algorithm == "anatomy" else ""
    return folder / "release" / "share" / f"{name}{pair}.{suffix}"


# ---------------------------------------------------------------------------------------------------------
# Other commands


def audited(case: Case, folder: Path, report: Report, tally: Tally) -> Iterator[str]:
    """Audit a release by its public report alone."""
    tally["audits"] += 1
    answer = invoke("audit", str(release_of(case, folder)))
    measurable = constraints(report)[0]["verifiable_from_release"]
    verified = answer.code == 0 and answer.out.startswith("VERIFIED")
    if not verified and (measurable or not answer.out.startswith("NOT MEASURED")):
        yield f"audit: exit {answer.code}: {answer.out}{answer.error}"
    # Where records are published differently, several may fit a row, and persons are not counted.
    if case.keys and not case.linked and case.algorithm == "lattice" and case.method == "classes":
        tally["audits of the owner"] += 1
        internal = str(folder / "release" / "report.json")
        answer = invoke("audit", str(release_of(case, folder)), "--report", internal)
        if answer.code != 0 or not answer.out.startswith("VERIFIED"):
            yield f"audit with the input: exit {answer.code}: {answer.out}{answer.error}"


def constraints(report: Report) -> list[Report]:
    """Return what is reported of each constraint, then of those of scenarios."""
    scenarios = report.get("scenarios", {}).values()
    inner = (own["constraints"] if isinstance(own, dict) else own for own in scenarios)
    return [*report["constraints"], *(entry for own in inner for entry in own)]


def checked(case: Case, folder: Path, report: Report, tally: Tally) -> Iterator[str]:
    """Compare what ``check`` measures on input and release with definitions and the run."""
    if case.linked or case.algorithm == "anatomy":
        return
    words = ("-c", str(folder / "config.json"), "--json", "--quiet")
    answer = invoke("check", str(folder / case.config["input"]["path"]), *words)
    tally["checks of the input"] += 1
    if answer.code not in (0, 1) or not answer.out:
        yield f"check of the input: exit {answer.code}: {answer.error}"
        return
    yield from _of_input(case, constraints(json.loads(answer.out)))
    if report["status"] == "satisfied":
        answer = invoke("check", str(release_of(case, folder)), *words)
        tally["checks of the release"] += 1
        if answer.code not in (0, 1) or not answer.out:
            yield f"check of the release: exit {answer.code}: {answer.error}"
            return
        yield from _of_release(constraints(report), constraints(json.loads(answer.out)))


def _of_input(case: Case, said: list[Report]) -> Iterator[str]:
    truth = Truth(case)
    everyone = list(range(case.size))
    labels = list(zip(*(each.values for each in truth.quasi_identifiers), strict=True))
    for asked, entry in zip(truth.asked, said, strict=True):
        where = f"check of the input: {asked}"
        yield from (f"{where}: {each}" for each in beyond(asked, entry))
        try:
            lowest = [0] * len(truth.quasi_identifiers)
            views = list(truth.views(labels, everyone, everyone, asked, lowest))
        except (TooClose, KeyError, TypeError):
            continue
        found = [over_classes(asked, view) for view in views]
        if len(found) == 1 and found[0].value is not Unknown and not alike(entry["measured"], found[0].value):
            yield f"{where}: measured {entry['measured']}, counted {found[0].value}"
        held = {own.holds for own in found}
        if None not in held and entry["satisfied"] not in (None, held == {True}):
            yield f"{where}: satisfied is {entry['satisfied']}, counted {[own.value for own in found]}"


def _of_release(reported: list[Report], said: list[Report]) -> Iterator[str]:
    for own, entry in zip(reported, said, strict=True):
        known = own["verifiable_from_release"] and entry["measured"] is not None
        if known and not (entry["satisfied"] and alike(entry["measured"], own["measured"])):
            yield f"check of the release: {entry}, the run reports {own}"


# ---------------------------------------------------------------------------------------------------------
# Other inputs


def shared(folder: Path) -> dict[str, bytes]:
    """Return the content of each file that may be handed over."""
    share = folder / "release" / "share"
    return {path.name: path.read_bytes() for path in share.rglob("*") if path.is_file()}


def repeated(case: Case, folder: Path, tally: Tally) -> Iterator[str]:
    """Run a case again with its records in another order, or other keys, and compare what is shared."""
    if not case.repeats:
        return
    random = Random(case.seed)
    changes = ["again", "another order", "other keys", "two units as one"]
    change = random.choice(changes if case.keys else changes[:3])
    order = random.sample(range(case.size), case.size)
    own = {
        "again": lambda: case,
        "another order": lambda: case.in_order(order),
        "other keys": lambda: case.renamed(random),
        "two units as one": lambda: case.merged(random),
    }[change]()
    if own is not None:
        tally[f"run again: {change}"] += 1
        yield from compared(own, folder, change, release_of(case, folder).name)


def compared(other: Case, folder: Path, change: str, release: str) -> Iterator[str]:
    """Compare what another run shares; where units are merged, only if it releases the same."""
    before = shared(folder)
    aside = folder.with_name(f"{folder.name}-again")
    other.write(aside)
    answer = run(aside)
    merged = change == "two units as one"
    if answer.code != 0:
        if not merged:
            yield f"{change}: exit {answer.code}, {answer.out[:60]}{answer.error}"
        return
    after = shared(aside)
    if merged and after[release] != before[release]:
        return
    different = sorted(name for name in before | after if before.get(name) != after.get(name))
    if different:
        yield f"{change}: {different} differ{_lines(before, after, different[0])}"


def _lines(before: dict[str, bytes], after: dict[str, bytes], name: str) -> str:
    """Return the first lines that differ of a text file."""
    texts = [own.get(name, b"").decode("utf-8", "replace").splitlines() for own in (before, after)]
    own = [pair for pair in zip(*texts, strict=False) if pair[0] != pair[1]]
    return "".join(f"; {one.strip()} / {other.strip()}" for one, other in own[:3])
