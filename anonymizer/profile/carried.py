"""What a project of ARX means here: its models, measures, types and roles as settings of a config.

Whatever has another meaning here, or none, is named: nothing is dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import ValidationError

from anonymizer.config.plugin_sections import ConstraintSettings
from anonymizer.errors import plural
from anonymizer.model.dates import PIVOT, format_problem
from anonymizer.model.table import Role, ValueType
from anonymizer.profile.deid import Project, ProjectColumn

ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "IDENTIFYING_ATTRIBUTE": Role.IDENTIFIER,
        "QUASI_IDENTIFYING_ATTRIBUTE": Role.QUASI_IDENTIFIER,
        "SENSITIVE_ATTRIBUTE": Role.SENSITIVE,
        "INSENSITIVE_ATTRIBUTE": Role.INSENSITIVE,
    }
)

_TYPES = {
    "string": ValueType.TEXT,
    "ordinal": ValueType.TEXT,
    "integer": ValueType.INTEGER,
    "decimal": ValueType.NUMBER,
}

PLACEHOLDER = {"model": "k-anonymity", "k": 5}
"""The constraint of a project without any that could be carried over."""


@dataclass
class Notes:
    """What is to be told: what has another meaning here, and what could not be carried over."""

    changed: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Constraint:
    """A constraint of the config, and the privacy model of the project that it is for."""

    settings: Mapping[str, Any]
    model: str


@dataclass(frozen=True)
class Carried:
    """Settings of the config, but for those of columns.

    Attributes
    ----------
    selected: whether only the selected records are the input.
    population: whether all records of the project are its population.
    reference: where constraints have their reference distributions; None for the default.
    keep_rows: whether suppressed records stay.
    limit: share of the records that may be suppressed.
    """

    constraints: tuple[Constraint, ...]
    objective: Mapping[str, Any]
    selected: bool
    population: bool
    reference: str | None
    keep_rows: bool
    limit: Decimal


def carry_over(project: Project, notes: Notes) -> Carried:
    """Return the settings that mean what the project says, and note whatever they do not say."""
    selection = project.selection
    mapped = any(_POPULATION.search(model) for model in project.models)
    included = any(model.lower() == "inclusion" for model in project.models)
    selected = selection is not None and (mapped or included)
    if selection is not None and not selected:
        size = f"{selection.size:,} of {len(selection.records):,} records"
        notes.changed.append(f"selection of {size}: no model of the project uses it; all records are taken")
    if included and not project.objects:
        notes.left_out.append(
            "selection of records (Inclusion): the Java objects of the project cannot be read; ALL its "
            "records are taken"
        )
    reading = _Reading(project, notes, selected)
    found = tuple(each for model in project.models for each in reading.constraints(model))
    if not found:
        stand_in = "k-anonymity with k = 5 stands in; decide on your constraints"
        notes.changed.append(f"no privacy model of the project could be carried over: {stand_in}")
        found = (Constraint(PLACEHOLDER, "not of the project"),)
    asked = {each.settings["model"] for each in found}
    population = bool(asked & _OF_POPULATION)
    keep_rows = _keep_rows(project, notes, possible=not population)
    return Carried(
        found,
        _objective(project, notes),
        selected,
        population,
        "input" if asked & _WITH_REFERENCE else None,
        keep_rows,
        _clean(min(max(project.limit, Decimal(0)), Decimal(1))),
    )


_POPULATION = re.compile(r"-map$|-presence", re.IGNORECASE)
_OF_POPULATION = {"k-map", "delta-presence"}
_WITH_REFERENCE = {"t-closeness", "delta-disclosure", "basic-beta-likeness", "enhanced-beta-likeness"}


def _keep_rows(project: Project, notes: Notes, *, possible: bool) -> bool:
    """Return whether suppressed records stay in the release, as in the tool."""
    more = [ROLES[each] for each in project.suppressed if each in ROLES and ROLES[each] in _STAYING]
    if more:
        notes.left_out.append(
            f"suppression of {' and '.join(f'{each} columns' for each in more)}: a suppressed record that "
            "stays keeps them"
        )
    if project.limit <= 0:
        return False
    if not possible:
        notes.changed.append(
            "suppressed records: removed; keep_rows does not go with constraints that count a population"
        )
        return False
    notes.changed.append(
        "suppressed records: stay with * in every quasi-identifier, as in ARX (keep_rows), but as a class "
        "that has to satisfy all constraints, or are removed"
    )
    return True


_STAYING = (Role.SENSITIVE, Role.INSENSITIVE)


def _clean(number: Decimal) -> Decimal:
    """Return a number without an exponent and without zeros at its end."""
    return Decimal(format(number.normalize(), "f"))


# Privacy models

_N = r"([0-9]{1,20}(?:\.[0-9]{1,20})?(?:E-?[0-9]{1,2})?)"
_K = r"([0-9]{1,9})"
_OF = r"(?: for attribute '(?P<attribute>.*)')?"


class _Rule(NamedTuple):
    """How a kind of model reads, and what makes constraints of it."""

    pattern: re.Pattern[str]
    make: Callable[[_Reading, re.Match[str]], list[dict[str, Any]]]


class _Reading:
    """The privacy models of a project, read one by one."""

    def __init__(self, project: Project, notes: Notes, selected: bool) -> None:
        self._roles = {each.name: ROLES.get(each.role) for each in project.columns}
        self._with_tree = {each.name for each in project.columns if each.hierarchy is not None}
        self._ordinal = {each.name for each in project.columns if each.kind.lower() == "ordinal"}
        self._notes = notes
        self._selected = selected
        self._objects = project.objects
        self._suppresses = project.limit > 0

    def constraints(self, model: str) -> list[Constraint]:
        """Return the constraints for a model; none for one that cannot be carried over, which is noted."""
        for rule in _RULES:
            match = rule.pattern.fullmatch(model)
            if match is not None:
                made = [Constraint(each, model) for each in rule.make(self, match)]
                return [each for each in made if self._is_possible(each)]
        self._notes.left_out.append(f"privacy model {model}: has no counterpart here")
        return []

    def _is_possible(self, constraint: Constraint) -> bool:
        attribute = constraint.settings.get("attribute")
        if attribute is not None and self._roles.get(attribute) is not Role.SENSITIVE:
            self._notes.left_out.append(f"privacy model {constraint.model}: '{attribute}' is not sensitive")
            return False
        if constraint.settings.get("distance") == "hierarchical" and attribute not in self._with_tree:
            self._notes.left_out.append(
                f"privacy model {constraint.model}: it has no hierarchy of the values"
            )
            return False
        try:
            ConstraintSettings.model_validate(constraint.settings)
        except ValidationError as error:
            self._notes.left_out.append(f"privacy model {constraint.model}: {error.errors()[0]['msg']}")
            return False
        return True

    def _changed(self, match: re.Match[str], what: str) -> None:
        self._notes.changed.append(f"privacy model {match[0]}: {what}")

    def _left_out(self, match: re.Match[str], why: str) -> list[dict[str, Any]]:
        self._notes.left_out.append(f"privacy model {match[0]}: {why}")
        return []

    def k_anonymity(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return k-anonymity."""
        return [{"model": "k-anonymity", "k": int(match[1])}]

    def inclusion(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return no constraint: the input has the selected records only."""
        if self._selected:
            self._changed(match, "data.csv has the selected records, and no others")
        return []

    def k_map(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return k-map with the whole table as population, or k-anonymity if all of it is released."""
        if self._selected:
            return [{"model": "k-map", "k": int(match[1])}]
        if not self._objects:
            return self._left_out(match, "the selection of records cannot be read")
        self._changed(match, "all records are selected, so that it is k-anonymity")
        return [{"model": "k-anonymity", "k": int(match[1])}]

    def estimated_k_map(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return the k-anonymity that the tool estimated from its population."""
        k = match[2] if match[2].isdigit() else match[1]
        estimate = "its estimate" if match[2].isdigit() else "its estimate is not in the project"
        self._changed(
            match, f"k-anonymity with k = {k} ({estimate}); with a table of the population, use k-map"
        )
        return [{"model": "k-anonymity", "k": int(k)}]

    def presence(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return delta-presence with the whole table as population."""
        if not self._selected:
            return self._left_out(match, "all records are selected, so that every presence is certain")
        low, high = (_clean(Decimal(each)) for each in match.groups()[:2])
        return [{"model": "delta-presence", "min": low, "max": high}]

    def distinct(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return l-diversity."""
        return [self._of(match, {"model": "l-diversity", "l": int(match[1])})]

    def entropy(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return entropy-l-diversity, by Shannon's entropy."""
        if (match[1] or "").lower().startswith("grassberger"):
            self._changed(match, "Shannon's entropy of the class instead of Grassberger's estimate")
        return [self._of(match, {"model": "entropy-l-diversity", "l": _clean(Decimal(match[2]))})]

    def recursive(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return recursive-cl-diversity."""
        own = {"model": "recursive-cl-diversity", "c": _clean(Decimal(match[1])), "l": int(match[2])}
        return [self._of(match, own)]

    def closeness(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return t-closeness with its distance."""
        distance = match[2].lower()
        own = self._of(match, {"model": "t-closeness", "t": _clean(Decimal(match[1])), "distance": distance})
        if distance == "ordered" and own.get("attribute") in self._ordinal:
            self._changed(match, "texts are in the order of code points, not in the order of the project")
        return [own]

    def disclosure(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return delta-disclosure: ARX takes logarithms to base two, and skips absent values."""
        with localcontext() as context:
            context.prec = 12
            delta = Decimal(match[1]) * Decimal(2).ln()
        self._changed(match, f"delta = {delta}, {match[1]} times ln 2: logarithms are natural here")
        return [self._of(match, {"model": "delta-disclosure", "delta": _clean(delta), "absent": "ignored"})]

    def likeness(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return basic or enhanced beta-likeness."""
        kind = f"{match[1].lower()}-beta-likeness"
        return [self._of(match, {"model": kind, "beta": _clean(Decimal(match[2]))})]

    def average_risk(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return the mean of the prosecutor's risk, and a limit on the records above a highest one.

        Suppression can satisfy a highest risk, but no share of records above it: it is asked of all records
        where records may be suppressed.
        """
        mean, highest, share = match[1], match[2], match[3]
        found: list[dict[str, Any]] = [
            {"model": "prosecutor-risk", "max": _clean(Decimal(mean)), "at": "mean"}
        ]
        told = "the mean is of the whole release: it is reached by generalization, not by suppression"
        if highest is not None:
            risk, most = _clean(Decimal(highest)), _clean(Decimal(share))
            some = {"model": "prosecutor-risk", "max": most, "at": {"share-above": risk}}
            every = {"model": "prosecutor-risk", "max": risk, "at": "highest"}
            found.append(every if self._suppresses or not most else some)
            if self._suppresses and most:
                told += f"; stricter: no record may have a risk above {risk}, instead of a share of {most}"
        self._changed(match, told)
        return found

    def uniqueness(self, match: re.Match[str]) -> list[dict[str, Any]]:
        """Return that no record is unique: suppression can satisfy it, as in the tool.

        Whoever is unique in the population is unique in the release.
        """
        own = f"{{model: uniqueness, max: {_clean(Decimal(match[2]))}}}"
        table = "; with a table of the population, use population-uniqueness"
        self._changed(
            match,
            f"stricter: no record may be unique; {own} would allow some, but suppression cannot satisfy it"
            f"{table if match[1].lower() == 'population' else ''}",
        )
        return [{"model": "k-anonymity", "k": 2}]

    @staticmethod
    def _of(match: re.Match[str], own: dict[str, Any]) -> dict[str, Any]:
        attribute = match.groupdict().get("attribute")
        return own if attribute is None else {**own, "attribute": attribute}


def _rule(pattern: str, make: Callable[[_Reading, re.Match[str]], list[dict[str, Any]]]) -> _Rule:
    return _Rule(re.compile(pattern, re.IGNORECASE), make)


_RULES = (
    _rule(rf"\(?{_K}\)?-anonymity", _Reading.k_anonymity),
    _rule("inclusion", _Reading.inclusion),
    _rule(rf"\(?{_K}\)?-map", _Reading.k_map),
    _rule(rf"\(?{_K}\)?-map estimated as \((\w{{1,9}})\)-anonymity.*", _Reading.estimated_k_map),
    _rule(rf"\({_N}, ?{_N}\)-presence", _Reading.presence),
    _rule(rf"distinct-{_K}-diversity{_OF}", _Reading.distinct),
    _rule(rf"(?:(\w+)-)?entropy-{_N}-diversity{_OF}", _Reading.entropy),
    _rule(rf"recursive-\({_N}, ?{_K}\)-diversity{_OF}", _Reading.recursive),
    _rule(
        rf"{_N}-closeness with (equal|hierarchical|ordered)(?: ground-?)? ?distance{_OF}", _Reading.closeness
    ),
    _rule(rf"{_N}-disclosure[ -]privacy{_OF}", _Reading.disclosure),
    _rule(rf"(basic|enhanced)-{_N}-likeness{_OF}", _Reading.likeness),
    _rule(rf"\(<?{_N}(?:, ?[0-9.E-]+ \({_N}\), ?{_N})?\)?-avg-reidentification-risk", _Reading.average_risk),
    _rule(rf"(?=.*-(sample|population)-)\(<?{_N}\)?-\w+-unique(?:s|ness).*", _Reading.uniqueness),
)
"""Models as ``toString`` of the tool's versions 2 to 3 writes them; the first that fits is taken."""


# Quality measures

_METRICS = (
    ("entropybased", None),
    ("loss", "loss"),
    ("discernability", "discernibility"),
    ("average equivalence class size", "average-class-size"),
    ("aecs", "average-class-size"),
    ("height", "height"),
    ("precision", "precision"),
    ("entropy", "nonuniform-entropy"),
)
"""Parts of names of quality measures, and the metrics here; the first that occurs is taken."""

_AGGREGATES = {
    "ARITHMETIC_MEAN": "arithmetic-mean",
    "GEOMETRIC_MEAN": "geometric-mean",
    "MAXIMUM": "maximum",
}
_AGGREGATED = ("loss", "precision")


def _objective(project: Project, notes: Notes) -> Mapping[str, Any]:
    named = project.metric
    lowered = named.lower()
    metric = next((own for part, own in _METRICS if part in lowered), None)
    if metric is None:
        notes.left_out.append(
            f"quality measure {named or '(none)'}: has no counterpart here; loss is minimized"
        )
        metric = "loss"
    elif metric == "loss":
        factors = re.findall(_N, named)
        if len(factors) == 3 and factors[0] not in ("0.5", "0.50"):
            notes.left_out.append(
                f"coding model {factors[0]} (generalization {factors[1]}, suppression {factors[2]}): "
                "generalization and suppression count alike"
            )
    elif "(dm*)" in lowered or lowered.startswith(("normalized", "monotonic")):
        notes.changed.append(f"quality measure {named}: {metric}, as its page defines it")
    found: dict[str, Any] = {"metric": metric}
    if metric not in _AGGREGATED or not project.aggregate:
        return found
    aggregate = _AGGREGATES.get(project.aggregate)
    if aggregate is None:
        notes.changed.append(
            f"aggregate function {project.aggregate} of the quality measure: arithmetic-mean of the columns"
        )
    return {**found, "aggregate": aggregate or "arithmetic-mean"}


# Columns


@dataclass(frozen=True)
class Kind:
    """The type of a column, and how its dates are written; empty for other types."""

    type: ValueType
    form: str = ""


def kind_of(column: ProjectColumn, notes: Notes) -> Kind:
    """Return the type of a column that is generalized or protected."""
    known = _TYPES.get(column.kind.lower())
    if known is ValueType.TEXT and column.kind.lower() == "ordinal" and column.form:
        values = plural(len(column.form.splitlines()), "value")
        notes.left_out.append(
            f"order of the {values} of '{column.name}' (Ordinal): texts are in the order of the numbers in "
            "them, or of code points"
        )
    if known is not None:
        return Kind(known)
    # The first versions wrote the format of a date in place of the type.
    pattern = column.form if column.kind.lower().startswith("date") else column.kind
    pattern = pattern if pattern and pattern != "Default" else "dd.MM.yyyy"
    form = strptime_format(pattern)
    if form is None:
        notes.left_out.append(f"format {pattern} of the dates of '{column.name}': read as text")
        return Kind(ValueType.TEXT)
    if "%y" in form:
        notes.changed.append(
            f"years of two digits of '{column.name}': 00 to {PIVOT} are read as 20.., others as 19.. (pivot)"
        )
    return Kind(ValueType.DATE, form)


_DIRECTIVES: Mapping[str, Callable[[int], str]] = MappingProxyType(
    {
        "y": lambda size: "%y" if size == 2 else "%Y",
        "M": lambda size: "%m" if size < 3 else "%b" if size == 3 else "%B",
        "d": lambda _: "%d",
        "D": lambda _: "%j",
        "H": lambda _: "%H",
        "m": lambda _: "%M",
        "s": lambda _: "%S",
        "S": lambda _: "%f",
        "a": lambda _: "%p",
        "E": lambda size: "%a" if size < 4 else "%A",
        "z": lambda _: "%Z",
        "Z": lambda _: "%z",
        "X": lambda _: "%z",
    }
)
_PART = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|.", re.DOTALL)


def strptime_format(pattern: str) -> str | None:
    """Return a pattern of Java's ``SimpleDateFormat`` as a format of ``strptime``; None if it has none.

    >>> strptime_format("dd.MM.yyyy"), strptime_format("yyyy-MM-dd'T'HH:mm:ss"), strptime_format("HH:mm")
    ('%d.%m.%Y', '%Y-%m-%dT%H:%M:%S', None)
    """
    # Java reads the hours of a pattern without a half of the day from 0 to 23.
    hour = "%I" if "a" in re.sub("'[^']*'", "", pattern) else "%H"
    found = []
    for part in _PART.finditer(pattern):
        quoted, letter = part[1], part[2]
        if quoted is not None:
            found.append(quoted.replace("''", "'").replace("%", "%%") or "'")
        elif letter is None:
            found.append(part[0].replace("%", "%%"))
        elif letter == "h":
            found.append(hour)
        elif letter in _DIRECTIVES:
            found.append(_DIRECTIVES[letter](len(part[0])))
        else:
            return None
    form = "".join(found)
    return None if format_problem(form) else form
