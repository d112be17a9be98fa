"""The dossier of a release: what was measured, what a template asks, and what people have answered.

Everything measured is taken from the report, never computed again. What only people can say are answers, kept
in dossier.yaml; one that is missing is a blank. A threshold that the report does not reach, a warning that
nobody has acknowledged and a threat that nobody tried are open points: the reader decides about each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anonymizer.attacks.base import guess_of, is_below_baseline
from anonymizer.errors import listed, plural
from anonymizer.exposure.finding import ROWS_ARE_PERSONS
from anonymizer.presets.preset import PRESETS, Preset
from anonymizer.presets.rules import LeastClass
from anonymizer.privacy.base import PRIVACY_MODELS
from anonymizer.report.exposure import findings_of, mended_of, remedy_of_few, unproven_end
from anonymizer.report.facts import Facts
from anonymizer.report.small_counts import smallest_shown
from anonymizer.report.wording import constraint_name, measured_of, number, parameters_of, percent

QUESTIONS: Mapping[str, str] = {
    "purpose": "What is the release for, and why does the recipient need these columns and no fewer?",
    "recipient": "Who receives it: names, offices, countries?",
    "legal_basis": "On what legal basis is it released?",
    "contract": "Which contract or terms bind the recipient? Do they forbid to identify anybody?",
    "environment": "Where is it kept and used, and who else can reach it?",
    "risk_before": "How large is the risk of the input itself? report.html draws it by the columns that "
    "somebody knows.",
    "decides": "Who decides about this release: name and office?",
}
"""What every template asks, by key."""

BEFORE = "risk_before"
"""The question about the input, which no report answers."""

DATES: Mapping[str, str] = {
    "decided_on": "On which day is that decided, such as 2027-01-31?",
    "expires": "On which day does the decision expire, such as 2029-01-31?",
}
"""The days that every template asks for, by key."""

FULFILLED = 1 + 1e-9
"""A risk of 1/n is rounded in a report, so that n times it may be slightly above 1."""


@dataclass(frozen=True)
class Dossier:
    """A release, what a template asks about it, and the answers.

    Attributes
    ----------
    content: of report.json.
    report_sha256: of that file.
    template: as in its file, with every key.
    answers: as in dossier.yaml, with every key; empty texts are blanks.
    changed: whether the answers were written about another release.
    """

    content: Mapping[str, Any]
    report_sha256: str
    template: Mapping[str, Any]
    answers: Mapping[str, Any]
    changed: bool = False

    @property
    def preset(self) -> type[Preset] | None:
        """The preset whose rules are thresholds of the template."""
        name = self.template.get("preset")
        return None if name is None else PRESETS[name]

    def answer(self, key: str) -> str:
        """Return an answer, whether every template or this one asks for it; empty for a blank."""
        own = self.answers if key in self.answers else self.answers["answers"]
        return str(own.get(key, ""))

    def asked(self) -> dict[str, str]:
        """Return every question with a key of its own, in the order of the dossier."""
        own = [*self.template["criteria"], *self.template["questions"]]
        return {**QUESTIONS, **DATES, **{each["key"]: each["asks"] for each in own}}

    def blanks(self) -> list[str]:
        """Return the keys of the questions without an answer."""
        return [key for key in self.asked() if not self.answer(key)]


@dataclass(frozen=True)
class Threshold:
    """Something that was asked of a release, with where it comes from.

    Attributes
    ----------
    asks, source, measured: in words; nothing measured is None.
    met: None where nothing measures it.
    remedy: what would measure or meet it; empty for what a run has already judged.
    """

    asks: str
    source: str
    measured: str | None
    met: bool | None
    remedy: str = ""

    @property
    def verdict(self) -> str:
        """Whether it is met, in words."""
        return {True: "holds", False: "fails", None: "not measured"}[self.met]


def facts_of(content: Mapping[str, Any]) -> Facts:
    """Return the facts of a page that follow from a report alone."""
    entries = [*content["constraints"], *_of_scenarios(content)]
    # That of k-map counts people of the population.
    own = (each for each in entries if not PRIVACY_MODELS[each["model"]].needs_population)
    sizes = (each["parameters"].get("k") for each in own)
    k = max((each for each in sizes if isinstance(each, int)), default=None)
    return Facts(smallest_shown(k), None, (), (), (), (), (None,) * len(content["constraints"]))


def _of_scenarios(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for own in content.get("scenarios", {}).values() for each in own["constraints"]]


def thresholds(dossier: Dossier) -> list[Threshold]:
    """Return everything that was asked of the release: by the config, its preset and the template."""
    content = dossier.content
    found = [_of_constraint(content, each, "config") for each in content["constraints"]]
    for name, scenario in content.get("scenarios", {}).items():
        found += [
            _of_constraint(content, each, f"config, scenario {name}") for each in scenario["constraints"]
        ]
    if dossier.preset is not None:
        found += _of_preset(content, dossier.preset, dossier.template["name"])
    of_template = f"template {dossier.template['name']}"
    found += [_of_template(content, each, of_template) for each in dossier.template["thresholds"]]
    return found


def _of_constraint(content: Mapping[str, Any], entry: Mapping[str, Any], source: str) -> Threshold:
    preset = content.get("preset")
    rule = None if preset is None else PRESETS[preset["name"]].least_class()
    if rule is not None and entry["model"] == "k-anonymity" and entry["parameters"].get("k", 0) >= rule.k:
        source = f"{source}; {preset['name']}: {rule.source}" if preset else source
    asks = ", ".join(each for each in (constraint_name(entry), parameters_of(entry)) if each)
    return Threshold(asks, source, measured_of(entry, number, " and "), entry["satisfied"])


def _of_preset(content: Mapping[str, Any], preset: type[Preset], template: str) -> Iterator[Threshold]:
    """Yield the rules of a preset: of classes from what was measured, of columns from its own run."""
    own = content.get("preset")
    judged = own is not None and own["name"] == preset.name
    departures = own["departures"] if own is not None and judged else ()
    for rule in preset.rules:
        source = f"template {template}: {rule.source}"
        if isinstance(rule, LeastClass):
            yield _least_class(content, rule, source)
        elif not judged:
            yield Threshold(rule.asks, source, None, None, f"`preset: {preset.name}` in the config")
        else:
            departs = [each for each in departures if each["source"] == rule.source]
            said = [f"{each['column'] or 'the release'}: {each['has']}" for each in departs]
            remedy = f"{listed(said)}" if said else ""
            yield Threshold(rule.asks, source, remedy or "nothing departs", not said, remedy)


def _least_class(content: Mapping[str, Any], rule: LeastClass, source: str) -> Threshold:
    """Return the rule about the size of classes, measured by k-anonymity or by the highest risk."""
    sizes = _measures(content, "k-anonymity")
    if sizes:
        return Threshold(
            rule.asks,
            source,
            f"k-anonymity {number(min(sizes))}",
            min(sizes) >= rule.k,
            f"k-anonymity with k of at least {rule.k}",
        )
    risks = [
        each["measured"]
        for each in content["constraints"]
        if each["model"] == "prosecutor-risk" and each["parameters"].get("at", "highest") == "highest"
    ]
    met = max(risks) * rule.k <= FULFILLED if risks else None
    measured = f"prosecutor-risk {number(max(risks))}" if risks else None
    return Threshold(rule.asks, source, measured, met, f"k-anonymity with k of at least {rule.k}")


def _measures(content: Mapping[str, Any], model: str) -> list[Any]:
    """Return what was measured for a model of one number, outside scenarios."""
    found = [each["measured"] for each in content["constraints"] if each["model"] == model]
    return [each for each in found if isinstance(each, int | float)]


def _of_template(content: Mapping[str, Any], asked: Mapping[str, Any], template: str) -> Threshold:
    """Return a threshold of a template; of an estimate, the end of its interval that is worse counts."""
    most, least = asked.get("at_most"), asked.get("at_least")
    if asked.get("constraint") is not None:
        what = asked["constraint"]
        values = _measures(content, what)
    elif asked.get("attack") is not None:
        what = asked["attack"]
        values = [each["high"] for each in content["attacks"] if is_named(each, what)]
    else:
        what = f"exposure {asked['exposure']}"
        own = content.get("exposure", {}).get(asked["exposure"])
        values = [] if own is None else [own]
    source = f"{template}: {asked['source']}"
    if not values:
        remedy = (
            f"`{what}` in the config" if "exposure" not in what else "a run whose records fit into memory"
        )
        return Threshold(asked["asks"], source, None, None, remedy)
    worst = max(values) if most is not None else min(values)
    met = worst <= float(most) if most is not None else worst >= float(least or 0)
    return Threshold(asked["asks"], source, f"{what} {number(worst)}", met, "a config with this threshold")


def is_named(entry: Mapping[str, Any], name: str) -> bool:
    """Return whether an entry of ``attacks`` is of an attack, or of one of its targets.

    >>> is_named({"attack": "linkage", "knowledge": {}}, "linkage")
    True
    >>> is_named({"attack": "vulnerability", "knowledge": {"target": "re-identification"}}, "vulnerability:x")
    False
    """
    attack, _, target = name.partition(":")
    return bool(entry["attack"] == attack and (not target or entry["knowledge"].get("target") == target))


def evidence(dossier: Dossier, criterion: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the entries of attacks that speak about a criterion."""
    return [
        each
        for each in dossier.content["attacks"]
        if any(is_named(each, name) for name in criterion["attacks"])
    ]


def said_about(dossier: Dossier, criterion: Mapping[str, Any]) -> list[str]:
    """Return what was measured about a criterion, an item for each attack and each answer with a control."""
    lines = [
        f"{_named(each)}: {percent(each['success'])} (guess {percent(guess_of(each))})"
        for each in worst_first(evidence(dossier, criterion))
    ]
    asked = criterion.get("question")
    lines += [
        each["sentence"]
        for each in dossier.content.get("three_questions", ())
        if asked is not None and each["question"] == asked
    ]
    return lines or ["no attack of the run measures it"]


def worst_first(attacks: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return attacks by how far they exceed a guess, as a paper may have room for the first ones only."""
    return sorted(attacks, key=lambda each: guess_of(each) - each["success"])


def _named(entry: Mapping[str, Any]) -> str:
    who = entry["knowledge"].get("sensitive") or entry["knowledge"].get("target")
    return f"{entry['attack']} ({who})" if who else str(entry["attack"])


@dataclass(frozen=True)
class Done:
    """A finding about a release, and what was done about it.

    Attributes
    ----------
    what: the finding.
    done: in words; empty where it is an open point.
    """

    what: str
    done: str


def findings(content: Mapping[str, Any]) -> list[Done]:
    """Return the findings about a release, open ones first, with what was done about each."""
    found = [Done(_sentence(each["sentence"]), "") for each in findings_of(content)]
    for each in mended_of(content):
        if "taken_back" in each:
            done = f"Not mended: {each['change']} allows no release ({each['taken_back']})"
        else:
            done = f"Mended: {each['change']}; loss {number(each['loss_after'])}"
            done += f", before {number(each['loss_before'])}"
        found.append(Done(_sentence(each["finding"]), done))
    return found + [Done(own["finding"], _acknowledged(own)) for own in acknowledgements(content)]


def acknowledgements(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what the config acknowledges, in its long form."""
    given = content["config"].get("acknowledge") or ()
    return [each if isinstance(each, Mapping) else {"finding": each} for each in given]


def _acknowledged(own: Mapping[str, Any]) -> str:
    because = own.get("because") or ""
    if not because and own["finding"] == ROWS_ARE_PERSONS:
        because = "no person has two records"
    said = f"Acknowledged by {own['by']}" if own.get("by") else "Acknowledged"
    return f"{said}: {because}" if because else f"{said}, without a reason"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def open_points(dossier: Dossier, asked: Sequence[Threshold]) -> list[str]:
    """Return what is open about a release, in the order of the report: each needs a decision."""
    content = dossier.content
    points = [f"{_sentence(each['sentence'])}. Remedy: {each['because']}." for each in findings_of(content)]
    few = remedy_of_few(content)
    if few is not None:
        points.append(f"{content['exposure']['sentence']} Remedy: {few['because']}.")
    points += [_sentence(each) for each in content["warnings"]]
    alike = unproven_end(content)
    points += [] if alike is None else [f"{_sentence(alike)}."]
    points += ["The search was interrupted."] if content["interrupted"] else []
    for each in asked:
        if not each.met:
            what = "is not met" if each.met is False else "was not measured"
            measured = f": {each.measured}" if each.met is False and each.measured else ""
            remedy = f" Remedy: {each.remedy}." if each.remedy and each.remedy != each.measured else ""
            points.append(f"{_sentence(each.asks)} ({each.source}) {what}{measured}.{remedy}")
    points += list(_not_tried(content))
    return list(dict.fromkeys(points))


def _not_tried(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was not tried or not looked at; its risk is unknown."""
    missing = [row["threat"] for row in content["attack_matrix"] if row["success"] is None]
    if missing:
        risk = "Its risk is" if len(missing) == 1 else "Their risk is"
        yield f"Not attacked: {listed(missing)}. {risk} unknown, not zero."
    for each in content["attacks"]:
        if is_below_baseline(each["success"], each["baseline"]):
            yield f"The attack {_named(each)} does worse than a guess and says nothing about the risk."
    if "exposure" not in content:
        yield "What the columns of the release show together was not measured."
        return
    for each in content["exposure"].get("left_out", ()):
        yield f"Not looked at: {each}."
    for each in content["exposure"].get("unused", ()):
        if each != ROWS_ARE_PERSONS:
            yield f"Acknowledged, but it does not occur: {each}."


@dataclass(frozen=True)
class Point:
    """An open point with the decision about it, empty for a blank."""

    what: str
    decision: str


@dataclass(frozen=True)
class Review:
    """What follows from a report and a template before anything is answered.

    Attributes
    ----------
    thresholds: what was asked.
    points: what is open, with decisions.
    stale: points with a decision that the release no longer has.
    """

    thresholds: Sequence[Threshold]
    points: Sequence[Point]
    stale: Sequence[str] = field(default=())

    @classmethod
    def of(cls, dossier: Dossier) -> Review:
        """Return the review of a release."""
        asked = thresholds(dossier)
        decided = {each["point"]: each["decision"] for each in dossier.answers["open_points"]}
        points = [Point(each, decided.get(each, "")) for each in open_points(dossier, asked)]
        known = {each.what for each in points}
        stale = [each for each, decision in decided.items() if decision and each not in known]
        return cls(asked, points, stale)

    def undecided(self) -> list[str]:
        """Return the points without a decision."""
        return [each.what for each in self.points if not each.decision]


def released_as(content: Mapping[str, Any]) -> str:
    """Return the size of a release in words, without a small number of suppressed records."""
    facts, source, released = facts_of(content), content["input"], content["release"]
    suppressed = released["suppressed_records"]
    if 0 < suppressed < facts.smallest:
        # The exact number of released records would tell it.
        return f"all but fewer than {facts.smallest} of {source['rows']:,} records"
    kept = "kept as * " if content["config"].get("suppression", {}).get("keep_rows") else ""
    return (
        f"{plural(released['rows'], 'record')} of {source['rows']:,}; {suppressed:,} suppressed {kept}"
    ).rstrip()
