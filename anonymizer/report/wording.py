"""The wording of the report page: numbers, constraints, attacks, and the elements of its sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import ROUND_FLOOR, Decimal
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from anonymizer.attacks.base import (
    ATTACKS,
    IGNORED,
    LINKS,
    NOTE,
    ROUNDING,
    guess_of,
    is_below_baseline,
)
from anonymizer.errors import listed, plural
from anonymizer.model.report import metadata_name
from anonymizer.model.warning import Harm, Warned
from anonymizer.privacy.base import PRIVACY_MODELS
from anonymizer.report.algorithms import full_domain, own_nodes
from anonymizer.report.small_counts import masked_count

if TYPE_CHECKING:
    from anonymizer.report.facts import UselessColumns


class Grid(NamedTuple):
    """A table of texts.

    Attributes
    ----------
    caption: of the table.
    head: names of the columns; the first column names the rows.
    rows: of as many cells as the head.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Chart(NamedTuple):
    """A chart with its finding and its data.

    Attributes
    ----------
    title: above it.
    svg: the chart itself.
    finding: the sentence below it.
    data: the numbers that are drawn.
    key: names of its colors and shapes in the template.
    """

    title: str
    svg: str
    finding: str
    data: Grid
    key: tuple[str, ...] = ()


WIDE = 720.0
"""Width of a single chart, in pixels."""

NARROW = 340.0
"""Width of a chart in a row of charts, in pixels."""


def floored(bound: float) -> str:
    """Return a lower bound with two digits, never above it.

    >>> floored(0.1899), floored(0.0446), floored(0.0)
    ('0.18', '0.044', '0')
    """
    exact = Decimal(bound)
    return (
        f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), ROUND_FLOOR)):.2g}" if bound else "0"
    )


def by_weights(column: str) -> str:
    """Return what a loss is averaged by.

    >>> by_weights("people")
    "by the sampling weights in column 'people'"
    """
    return f"by the sampling weights in column '{column}'"


def by_unit(unit: str) -> str:
    """Return how a loss is averaged over units.

    >>> by_unit("person")
    'with each person counted once'
    """
    return f"with each {unit} counted once"


FULL_DOMAIN = "full-domain recodings with these hierarchies"
"""The candidates of a full-domain search; recodings of other kinds can lose less."""

OF_ALL = "all recodings along these hierarchies"
"""What a proof covers of algorithms whose bound holds for more than their candidates."""


def best_of(search: Mapping[str, Any]) -> str:
    """Return of what a release is proven best.

    Parameters
    ----------
    search: entry of a report.

    >>> best_of({"algorithm": "lattice", "candidates": 17280})
    '17,280 full-domain recodings with these hierarchies'
    """
    algorithm = search["algorithm"]
    if own_nodes(algorithm):
        return OF_ALL
    kind = FULL_DOMAIN if full_domain(algorithm) else f"candidates of {algorithm}"
    return f"{search['candidates']:,} {kind}"


def rejected_by_estimates(search: Mapping[str, Any]) -> str:
    """Return why a search that ended has no proof, as the end of a sentence; nothing if it has.

    Parameters
    ----------
    search: entry of a report.
    """
    names = search.get("estimated", ())
    return f", as estimates of {listed(names)} rejected candidates that lose less" if names else ""


def percent(share: float) -> str:
    """Return a share as percent with three digits and a no-break space.

    >>> percent(0), percent(0.0000339), percent(0.0213), percent(0.3579), percent(1)
    ('0\\xa0%', '0.0034\\xa0%', '2.13\\xa0%', '35.8\\xa0%', '100\\xa0%')
    >>> percent(1e-9), percent(0.9999)
    ('under\\xa00.001\\xa0%', '99.99\\xa0%')
    """
    hundredth = 100 * share
    if 0 < hundredth < 0.001:
        return "under\xa00.001\xa0%"
    digits = 3 if hundredth < 99.95 or share == 1 else 4
    text = f"{hundredth:.{digits}g}" if hundredth >= 1 else f"{hundredth:.2g}"
    return f"{text}\xa0%"


def number(value: Any, digits: int = 4) -> str:
    """Return a measure as text, a dash for None.

    >>> number(None), number(5), number(0.36466), number([5, 0.25]), number("Infinity"), number(18658518)
    ('–', '5', '0.3647', '5 and 0.25', 'infinite', '18,658,518')
    >>> number({"share-above": 0.2})
    'share-above 0.2'
    """
    if value is None:
        return "–"
    if isinstance(value, list):
        return " and ".join(number(each, digits) for each in value)
    if isinstance(value, Mapping):
        return " and ".join(f"{key} {number(each, digits)}" for key, each in value.items())
    if isinstance(value, str):
        return "infinite" if value == "Infinity" else value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.{digits}g}" if abs(value) < 10**digits else f"{value:,.0f}"


def units_lost(units: Mapping[str, Any] | None, smallest: int = 0) -> str | None:
    """Return how many units lost records if the suppression limit counts them, as a sentence without its dot.

    Parameters
    ----------
    units: entry of a report.
    smallest: smaller numbers are masked.

    >>> units_lost({"person": {"units": 200, "lost": 3, "lost_at_most": 4}})
    'Records of 3 of 200 persons are suppressed; the limit allows 4'
    >>> units_lost({"person": {"units": 200}}) is None
    True
    """
    for name, own in (units or {}).items():
        if "lost" in own:
            lost = masked_count(own["lost"], smallest, own["units"])
            most = own["lost_at_most"]
            return (
                f"Records of {lost} of {plural(own['units'], name)} are suppressed; the limit allows {most:,}"
            )
    return None


def parameters_of(constraint: Mapping[str, Any]) -> str:
    """Return the parameters of a constraint."""
    return ", ".join(f"{key} = {number(value)}" for key, value in constraint["parameters"].items())


def constraint_name(constraint: Mapping[str, Any]) -> str:
    """Return the name of a constraint with its attribute."""
    own = constraint["attribute"]
    return f"{constraint['model']} of {own}" if own else str(constraint["model"])


def measured_of(constraint: Mapping[str, Any], number: Callable[[Any], str], between: str) -> str:
    """Return the measured value of a constraint, several with the parameters that they belong to.

    Parameters
    ----------
    number: writes a value.
    between: text between several values.

    >>> asked = {"model": "alpha-k-anonymity", "parameters": {"alpha": 0.5, "k": 3}, "measured": [7, 0.25]}
    >>> measured_of(asked, str, ", ")
    'alpha 0.25, k 7'
    """
    measured = constraint["measured"]
    model = PRIVACY_MODELS.get(constraint["model"])
    if not isinstance(measured, list) or model is None or not model.measures:
        return number(measured)
    values = dict(zip(model.measures, measured, strict=True))
    return between.join(f"{key} {number(values[key])}" for key in constraint["parameters"] if key in values)


def attack(entry: Mapping[str, Any]) -> str:
    """Return a short name of an attack with its aim."""
    known = entry["knowledge"]
    who = known.get("sensitive") or known.get("target")
    aims = [str(each) for each in (who, known.get("linkage"), known.get("distance")) if each]
    return f"{entry['attack']}: {', '.join(aims)}" if aims else str(entry["attack"])


def interval(entry: Mapping[str, Any]) -> str:
    """Return the 95% interval of an estimate, or "counted"."""
    if entry["low"] == entry["high"]:
        return "counted"
    return f"{percent(entry['low'])} to {percent(entry['high'])}"


def strongest(entries: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the attack with the largest success over a guess; None without attacks."""
    return max(entries, key=lambda each: each["success"] - guess_of(each), default=None)


def attack_sentence(entry: Mapping[str, Any]) -> str:
    """Return a result of an attack as a sentence, with the interval of an estimate.

    >>> known = {"attributes": ["age", "zip"], "sensitive": "illness"}
    >>> attack_sentence({"attack": "homogeneity", "knowledge": known, "success": 0.25, "baseline": 0,
    ...                  "low": 0.25, "high": 0.25, "details": {"base_rate": 0.4}}).replace("\xa0", " ")
    "An adversary who knows a person's age and zip is certain of illness for 25 % of the records; \
always guessing the most frequent value would be right for 40 %."
    """
    success, guess = percent(entry["success"]), percent(guess_of(entry))
    sentence = ATTACKS[entry["attack"]].sentence(entry["knowledge"], success, guess)
    if entry["low"] != entry["high"]:
        sentence += f" The {success} is an estimate; its 95 % interval is {interval(entry)}."
    if is_below_baseline(entry["success"], entry["baseline"]):
        sentence += (
            f" A guess without the release is right more often, for {percent(entry['baseline'])}: the attack "
            "does not fit this release, and its success says nothing about the risk."
        )
    if note := entry.get("details", {}).get(NOTE):
        sentence += f" {note}"
    if entry["knowledge"].get(LINKS) != IGNORED:
        return sentence
    return f"{sentence} This ignores that pseudonyms link the rows of a person: the risk may be larger."


def exposed_sentence(entry: Mapping[str, Any]) -> str:
    """Return the success among the most exposed as a sentence; empty if it is not above others.

    >>> own = {"success": 0.14, "baseline": 0.003, "ceiling": 1.0, "tail": {"0.01": 0.6}, "details": {},
    ...        "tail_low": {"0.01": 0.1}, "tail_high": {"0.01": 0.9}, "tail_baseline": {"0.01": 0.003}}
    >>> exposed_sentence(own).replace("\xa0", " ")
    'Among the surest 1 %: 60 % (10 % to 90 %); by a guess 0.3 %.'
    """
    tail = (entry.get("tail") or {}).get(MOST)
    # What is counted of a release and needs no guess, an adversary always attacks first.
    if tail is None or entry["ceiling"] is None:
        return ""
    low, high, guess = (entry[f"tail_{end}"][MOST] for end in ("low", "high", "baseline"))
    if tail <= max(entry["success"], guess):
        return ""
    ends = "" if low == high else f" ({percent(low)} to {percent(high)})"
    return f"Among the surest {percent(float(MOST))}: {percent(tail)}{ends}; by a guess {percent(guess)}."


def most_exposed(entry: Mapping[str, Any]) -> str:
    """Return the success among the most exposed percent with that of a guess, "–" without one."""
    if not entry.get("tail"):
        return "–"
    return f"{percent(entry['tail'][MOST])} (guess {percent(entry['tail_baseline'][MOST])})"


MOST = "0.01"
"""The share of the most exposed that the terminal and the page show, a key of ``tail``."""


LOOK_AGAIN = "Look again: "
"""Beginning of the warnings that you should understand before you share a release."""


STARRED = f"{LOOK_AGAIN}published as * for at least 90 % of the records: "
"""Beginning of the warning about columns without values, which anybody can see in the release."""

LINKED_MORE = f"{LOOK_AGAIN}linkage succeeds more often than linkage-risk"
"""Beginning of the warning that an attacker links more than the one of a constraint may."""

COARSE = f"{LOOK_AGAIN}published in groups of at least half of the values, for at least 90 % of the records: "
"""Beginning of the warning about columns in very coarse groups."""


NAMED = 10
"""Maximum number of columns that a warning names."""

BY_DISTINCT = {"l-diversity", "p-sensitive-k-anonymity"}
"""Models that count distinct values."""

VALUES_IN_COMMON = (
    "; a person with several values counts for each of them, so that all persons of a class may have one in "
    "common, which alpha-k-anonymity limits"
)
"""Why distinct values do not stop homogeneity where persons have several, and what does."""


def useless_warnings(useless: UselessColumns, of: int) -> Iterator[str]:
    """Yield the warnings about quasi-identifiers that say next to nothing.

    Parameters
    ----------
    of: number of quasi-identifiers.
    """
    for beginning, names in ((STARRED, useless.starred), (COARSE, useless.coarse)):
        if names:
            more = [f"{len(names) - NAMED:,} more"] if len(names) > NAMED else []
            shown = listed([*names[: NAMED if more else None], *more])
            what = f"{beginning}{shown} ({len(names)} of {plural(of, 'quasi-identifier')})"
            yield Warned(what, Harm.DATA)


def guess_warnings(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the warnings about limits on an attack that a guess without the release exceeds.

    What it reaches is of the last candidate that satisfies all constraints.
    """
    answers = next((step["attackers"] for step in reversed(report["steps"]) if _answered(step)), ())
    asked = [each for each in report["constraints"] if PRIVACY_MODELS[each["model"]].by_attack]
    if len(answers) != len(asked):
        return
    for constraint, answer in zip(asked, answers, strict=True):
        guess = max(
            (max(float(each["baseline"]), each.get("best_guess", 0.0)) for each in answer["attackers"]),
            default=0.0,
        )
        most = float(constraint["parameters"]["max"])
        if constraint["satisfied"] and guess > most + ROUNDING:
            name = constraint_name(constraint)
            yield (
                f"{LOOK_AGAIN}a guess without the release succeeds for {percent(guess)}, more often than "
                f"{name} allows ({percent(most)}). That it holds says little about what the release reveals."
            ).replace("\xa0", " ")


def _answered(step: Mapping[str, Any]) -> bool:
    return bool(step["accepted"] and step.get("attackers"))


def contradictions(report: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield each attack that succeeds more often than constraints allow, with the warning about it.

    Each constraint is named once, with the smallest success that it allows.
    """
    for row in report["attack_matrix"]:
        broken: dict[int, list[Mapping[str, Any]]] = {}
        for each in row.get("contradictions", ()):
            broken.setdefault(each["attack"], []).append(each)
        for place, claims in broken.items():
            entry = report["attacks"][place]
            limits: dict[str, float] = {}
            for each in claims:
                name = constraint_name(report["constraints"][each["constraint"]])
                limits[name] = min(each["allowed"], limits.get(name, 1.0))
            guess, alone = entry["baseline"], f", {ATTACKS[entry['attack']].blind}"
            own = [(name, percent(most) + alone * (most == guess)) for name, most in limits.items()]
            allow = f"{own[0][0]} allows ({own[0][1]})"
            if len(own) > 1:
                allow = f"{listed([f'{name} ({most})' for name, most in own])} allow"
            what = f"{entry['attack']} succeeds more often than {allow}"
            models = {report["constraints"][each["constraint"]]["model"] for each in claims}
            if entry["attack"] == "homogeneity" and entry["knowledge"].get("unit") and models & BY_DISTINCT:
                what += VALUES_IN_COMMON
            yield entry, f"{LOOK_AGAIN}{what}. {attack_sentence(entry)}".replace("\xa0", " ")


def in_table(report: Mapping[str, Any]) -> bool:
    """Return whether the release is a table of a database."""
    return "table" in report["config"].get("output", {})


def beside_tables(report: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the files in share/ that describe the released tables."""
    release = report["release"]
    tables = [
        release["path"],
        *([release["sensitive_table"]["path"]] if "sensitive_table" in release else []),
    ]
    of_text = release["separator"] is not None
    described = [metadata_name(PurePath(each).name) for each in tables] if of_text else []
    signed = ["signature.json"] if report["config"].get("sign") else []
    return ("report.public.json", "README.txt", "codebook.csv", *described, *signed)
