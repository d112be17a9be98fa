"""The top of the page: the verdict in plain words, four numbers, what to give and what to keep."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from anonymizer.report.facts.gather import Facts
from anonymizer.report.facts.rounding import is_small_count
from anonymizer.report.html.form import form_of, in_table
from anonymizer.report.html.words import attack, listed, number, plural, strongest
from anonymizer.report.numbers import floored, percent

IN_GROUPS = (
    "Quasi-identifiers are published as exactly as the config allows: a group hides whose the sensitive "
    "values are, not who is in the file."
)
"""What is said of a release in two tables."""

OF_THE_NEW = "Losses, distributions and the price below are those of the new records."
"""What is said of a release that goes on from an earlier one."""


@dataclass(frozen=True)
class Tile:
    """A number with its name and what to compare it with."""

    name: str
    value: str
    note: str


@dataclass(frozen=True)
class Headline:
    """What a reader in a hurry reads.

    Attributes
    ----------
    title: the answer.
    calm: whether nothing contradicts it.
    sentences: what it rests on.
    tiles: its numbers.
    warnings: what to look at again.
    give, keep: files.
    """

    title: str
    calm: bool
    sentences: tuple[str, ...]
    tiles: tuple[Tile, ...]
    warnings: tuple[str, ...]
    give: tuple[str, ...]
    keep: tuple[str, ...]


def verdict_of(report: dict[str, Any], facts: Facts) -> Headline:
    """Return the top of the page."""
    broken = [row["threat"] for row in report["attack_matrix"] if row["contradicted"]]
    promises = len(report["constraints"])
    title = {0: "Nothing was promised", 1: "The promise holds", 2: "Both promises hold"}.get(
        promises, f"All {promises} promises hold"
    )
    if broken:
        title += ", but an attack gains more than they suggest"
    warnings = list(report["warnings"])
    if broken:
        what = "gains more than a model that claims to stop it should allow"
        warnings.insert(0, f"{listed(broken)}: an attack {what}; see the table of attacks and models")
    return Headline(
        title,
        not broken,
        tuple(_sentences(report, facts)),
        _tiles(report, facts),
        tuple(warnings),
        _given(report),
        ("report.html", "report.json") if report["release"]["path"] else (),
    )


def _given(report: dict[str, Any]) -> tuple[str, ...]:
    """Return what may be handed over: nothing of it is a file when the release is in memory."""
    path, second = report["release"]["path"], report["release"].get("sensitive_table")
    if path is None:
        return ()
    tables = [path, *([second["path"]] if second else [])]
    released = tables if in_table(report) else [f"share/{PurePath(each).name}" for each in tables]
    return (*released, "share/report.public.json")


def kept(report: dict[str, Any], facts: Facts) -> str:
    """Return how many records are released, without telling a number of left out ones that is too small."""
    rows, suppressed = report["input"]["rows"], report["release"]["suppressed_records"]
    if is_small_count(suppressed, facts.smallest):
        return f"all but fewer than {facts.smallest} of {rows:,} records"
    return f"{rows - suppressed:,} of {rows:,} records"


def _sentences(report: dict[str, Any], facts: Facts) -> list[str]:
    source, released = report["input"], report["release"]
    kept_suppressed = released["rows"] - (source["rows"] - released["suppressed_records"])
    form = form_of(report)
    sentences = [f"The {form.noun} holds {kept(report, facts)}"]
    if "applied" in report:
        before = report["applied"]["rows_before"]
        sentences[0] += f" of the input, and {before:,} records that were released before"
        sentences.insert(1, OF_THE_NEW)
    elif kept_suppressed > 0 and not is_small_count(kept_suppressed, facts.smallest):
        sentences[0] += f", and {kept_suppressed:,} more with * in every quasi-identifier"
    sentences[0] += f"; it was {form.verified}."
    if "sensitive_table" in released:
        sentences.append(IN_GROUPS)
    elif facts.smallest_class is not None:
        others = plural(facts.smallest_class - 1, "other")
        sentences.append(f"By the quasi-identifiers, each record looks like at least {others}.")
    best = strongest(report["attacks"])
    if best is None:
        sentences.append("No attack was run: what an adversary would reach was not measured.")
    else:
        sentences.append(_attacked(best))
    sentences.append(_price(report))
    return sentences


def _attacked(best: dict[str, Any]) -> str:
    reach, guess = percent(best["success"]), percent(best["baseline"])
    if best["success"] <= best["baseline"]:
        return "None of the attacks that were run does better than a guess without the release."
    return (
        f"Of the attacks that were run, “{attack(best)}” gains most: it is right for {reach} of its targets, "
        f"a guess without the release for {guess}."
    )


def _price(report: dict[str, Any]) -> str:
    search, objective = report["search"], report["config"]["objective"]
    own = f"The price by {objective['metric']} is {number(search['objective'], 3)}"
    if objective["metric"] == "loss":
        own = f"The price is a loss of {number(search['objective'], 3)}, from 0 (unchanged) to 1 (all hidden)"
    if search["optimal"]:
        return f"{own}; of {search['candidates']:,} candidates none loses less (proven)."
    if search["gap"] is not None:
        return f"{own}; no release of this kind has less than {floored(search['bound'])} (proven)."
    if search["best_possible"] is not None:
        least = floored(search["best_possible"])
        return f"{own}; no recoding along the hierarchies loses less than {least} (proven)."
    return f"{own}; how much less would do is not known."


def _proof(search: dict[str, Any]) -> str:
    """Return in two words what is proven."""
    if search["optimal"]:
        return "proven best"
    for key in ("bound", "best_possible"):
        if search[key] is not None:
            return f"at least {floored(search[key])}, proven"
    return "nothing proven"


def _tiles(report: dict[str, Any], facts: Facts) -> tuple[Tile, ...]:
    source, released, search = report["input"], report["release"], report["search"]
    suppressed = released["suppressed_records"]
    hide = is_small_count(suppressed, facts.smallest)
    share = "nearly 100 %" if hide else percent((source["rows"] - suppressed) / max(source["rows"], 1))
    left = f"fewer than {facts.smallest}" if hide else f"{suppressed:,}"
    best = strongest(report["attacks"])
    least = facts.smallest_class
    return (
        Tile("records kept", share, f"{left} of {source['rows']:,} left out"),
        Tile(
            "smallest group",
            f"under {facts.smallest}" if least is None else f"{least:,}",
            plural(released["classes"], "group"),
        ),
        Tile(
            report["config"]["objective"]["metric"],
            number(search["objective"], 3),
            _proof(search),
        ),
        Tile(
            "strongest attack",
            "not run" if best is None else percent(best["success"]),
            "the config lists none" if best is None else f"guess {percent(best['baseline'])}",
        ),
    )
