"""The public report: what the recipient of a release may know.

``PLACED`` lists every key of the internal report with the rule by which it is public. Each value passes
through it, and a key that is not on the list does not appear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

from anonymizer.attacks.base import ATTACKS, LINKS, TAILS, USED, threat_of
from anonymizer.attacks.tail import number_of
from anonymizer.exposure.finding import ROWS_ARE_PERSONS
from anonymizer.hierarchy.source import HIERARCHY_SOURCES, FlatSource, HierarchySource, make_source
from anonymizer.loss.base import LOSS_METRICS, loss_key
from anonymizer.model.report import Report
from anonymizer.privacy.base import PRIVACY_MODELS
from anonymizer.report.algorithms import full_domain
from anonymizer.report.build import PUBLIC_DETAILS
from anonymizer.report.small_counts import is_small_count, smallest_shown
from anonymizer.report.wording import STARRED, contradictions

RECORDS = (
    "constraints count records, not people; if a person has several records, a class may have fewer people "
    "than records"
)
"""Warning where identifiers are dropped and the publisher does not say that no person has two records."""

LEFT_OUT = ("identifier", "drop")
"""Roles of columns that a release lacks."""

BY_TYPE = frozenset({"t-closeness"})
"""Models whose measure depends on the type of sensitive values, unless a distance without order is set."""

CLASS_LOSSES = ("discernibility", "average_class_size")
"""Losses that follow from class sizes; for appended records, from those of the new records alone."""

OBJECTIVE_KEYS = ("objective", "bound", "gap", "best_possible")
"""Keys of the objective and its proof."""

PUBLIC_WARNINGS = (
    STARRED,
    "no constraint protects the sensitive attribute ",
    "quasi-identifiers are published exactly",
    "k-anonymity holds for the buckets",
    "alpha-k-anonymity holds for the buckets",
)
"""Beginnings of the warnings that follow from the config and the release; others may reveal input or seed."""


class _Terms(NamedTuple):
    """The facts of a report that the rules depend on.

    Attributes
    ----------
    smallest: counts below it, except 0, are not public.
    metric: of the objective.
    weighed: whether the objective is by sampling weights, or over persons or other units.
    place: name of a release in a table or under a URL; None for a file in ``share/``.
    proven: whether such a search always ends with a proof, which then reveals nothing.
    suppressed: whether records or cells are suppressed.
    attributes: settings of the columns in the config.
    hidden_threats: threats that some attack measured by more than the release.
    warnings: about attacks that the recipient can repeat.
    """

    smallest: int
    metric: str
    weighed: bool
    place: str | None
    proven: bool
    suppressed: bool
    attributes: Mapping[str, Mapping[str, Any]]
    hidden_threats: frozenset[str | None]
    warnings: frozenset[str]

    @classmethod
    def of(cls, content: Mapping[str, Any], smallest: int) -> _Terms:
        config, release = content["config"], content["release"]
        output = config.get("output", {})
        path = output.get("path") or ""
        place = output.get("table") or (_last_part(path) if "://" in path else None)
        proven = (
            full_domain(content["search"].get("algorithm"))
            and not any((config.get("budget") or {}).values())
            and config.get("suppression", {}).get("method", "classes") == "classes"
            # What an estimate rejects is not proven invalid.
            and not any(PRIVACY_MODELS[each["model"]].by_attack for each in content["constraints"])
        )
        of_release = partial(_of_release_alone, attributes=config["attributes"])
        return cls(
            smallest,
            config["objective"]["metric"],
            any(config["objective"].get(key) is not None for key in ("weights", "unit")),
            place,
            proven,
            bool(release["suppressed_records"] or release["suppressed_cells"]),
            config["attributes"],
            frozenset(threat_of(each) for each in content["attacks"] if not of_release(each)),
            frozenset(what for each, what in contradictions(content) if of_release(each)),
        )


Rule = Callable[[Any, Mapping[str, Any], _Terms], Any]
"""Takes a value, its entry and the terms; returns the public part of the value."""


def public_report(report: Report, k: int | None) -> Report:
    """Return the public report: each key that ``PLACED`` lists, by its rule.

    Counts below max(k, 3) are null. If the number of suppressed records is null, so is every number that
    reveals it. Numbers that depend on hidden values are null: no rounding is coarse enough, as an adversary
    who knows all values except one could try which candidates give the published number. The report depends
    on the multiset of the input's records, not on their order.

    Parameters
    ----------
    k: of the config, None without one.
    """
    content = report.to_dict()
    smallest = smallest_shown(k)
    shown = _public(
        content | _declared_types(content) | _fixed_levels(content),
        PLACEMENT,
        content,
        _Terms.of(content, smallest),
    )
    for section, keys in _revealing(content, smallest):
        shown[section] = {key: None if key in keys else value for key, value in shown[section].items()}
    shown["warnings"] += recipient_warnings(content)
    if "exposure" in content:
        shown["exposure"] = {"findings": content["exposure"]["public"]}
    if "preset" in content:
        own = content["preset"]
        shown["preset"] = {"name": own["name"], "departs": bool(own["departures"])}
    attributes = content["config"]["attributes"]
    for entry, own in zip(shown["attacks"], content["attacks"], strict=True):
        entry["knowledge"] |= _parameters(own, attributes)
        details = {key: own["details"][key] for key in PUBLIC_DETAILS if key in own["details"]}
        if details and _of_release_alone(own, attributes):
            entry["details"] = {key: _rounded_figure(value) for key, value in details.items()}
    return Report(shown)


def _parameters(entry: Mapping[str, Any], attributes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the parameters of an attack that a recipient can repeat; the public config has them, too."""
    given = ATTACKS[entry["attack"]].Settings.model_fields if _of_release_alone(entry, attributes) else ()
    return {key: value for key, value in entry["knowledge"].items() if key in given}


def recipient_warnings(content: Mapping[str, Any]) -> list[str]:
    """Return the warnings that only the public report has.

    Constraints count records where a config leaves columns out and does not say that no person has two.
    """
    config = content["config"]
    roles = {each.get("role") for each in config["attributes"].values()}
    acknowledged = config.get("acknowledge") or ()
    persons = config["input"].get("person") is not None and "person" in _units(config)
    known = ROWS_ARE_PERSONS in acknowledged or persons
    return [] if known or roles.isdisjoint(LEFT_OUT) else [RECORDS]


def _units(config: Mapping[str, Any]) -> Iterator[str]:
    """Yield the unit of each constraint and each model of a scenario; person where they name none."""
    yield from (each.get("unit", "person") for each in config["constraints"])
    for scenario in config.get("scenarios", {}).values():
        yield from (each.get("unit", scenario.get("unit", "person")) for each in scenario["models"])


def _declared_types(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes without types that the config does not declare.

    A detected type depends on hidden values: one suppressed ``33.5`` changes ``integer`` to ``number``.
    """
    settings, columns = content["config"]["attributes"], content.get("attributes", {})
    declared = {name for name in columns if _declares_type(settings.get(name, {}))}
    hidden = {name: each | {"type": None} for name, each in columns.items() if name not in declared}
    return {"attributes": {**columns, **hidden}} if hidden else {}


def _declares_type(settings: Mapping[str, Any]) -> bool:
    """Return whether a column's type is declared; that of released groups is always known."""
    return settings.get("type") is not None or (settings.get("role") == "sensitive" and "labels" in settings)


def _unsaid_levels(content: Mapping[str, Any]) -> set[str]:
    """Return the quasi-identifiers whose hierarchy has more or fewer levels with other hidden values."""
    return {
        name
        for name, each in content["config"]["attributes"].items()
        if each.get("role") == "quasi-identifier" and not source_of(each).fixed_height
    }


def source_of(settings: Mapping[str, Any]) -> HierarchySource[Any]:
    """Return the source of the hierarchy of a column in a report."""
    given = (settings.get("hierarchy") or {}).items()
    sources = (make_source({key: value}, key) for key, value in given if key in HIERARCHY_SOURCES)
    return next(sources, FlatSource())


def public_levels(content: Mapping[str, Any]) -> Mapping[str, int | None] | None:
    """Return the level of each quasi-identifier as the public report says it.

    None without levels, as where they vary by record.

    Parameters
    ----------
    content: with the ``config`` and the ``recoding`` of an internal or a public report.
    """
    levels: Mapping[str, int | None] | None = {**content, **_fixed_levels(content)}["recoding"].get("levels")
    return levels


def _fixed_levels(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recoding without levels whose numbers depend on hidden values.

    One suppressed text that is longer adds a level to a mask, so the level of ``*`` changes for all.
    """
    recoding, unsaid = content.get("recoding"), _unsaid_levels(content)
    if not unsaid or not recoding or recoding.get("levels") is None or "grouping" in recoding:
        return {}  # Anatomy publishes the lowest levels that the config allows.
    levels = {name: None if name in unsaid else level for name, level in recoding["levels"].items()}
    return {"recoding": recoding | {"levels": levels}}


def unplaced_keys(content: Mapping[str, Any]) -> list[str]:
    """Return the paths of an internal report that ``PLACED`` does not list; they are not public.

    Parameters of attacks that a recipient can repeat need no place: one of another distribution has its own.
    """
    attributes = content["config"]["attributes"]
    attacks = []
    for entry in content["attacks"]:
        own = _parameters(entry, attributes)
        known = {key: value for key, value in entry["knowledge"].items() if key not in own}
        attacks.append({**entry, "knowledge": known})
    return [".".join(path) for path in _unplaced({**content, "attacks": attacks}, PLACEMENT, ())]


def _revealing(content: Mapping[str, Any], smallest: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield sections with their keys that would reveal a number that is not public."""
    losses = tuple(content["loss"])
    metric = loss_key(content["config"]["objective"]["metric"])
    if _unsaid_levels(content):
        yield "loss", tuple(key for key in losses if key not in CLASS_LOSSES)
        if metric not in CLASS_LOSSES:
            yield "search", OBJECTIVE_KEYS
    if is_small_count(content["release"]["suppressed_records"], smallest):
        yield from (("input", ("rows",)), ("loss", losses), ("search", OBJECTIVE_KEYS))
    if "applied" not in content:
        return
    if content["applied"]["rows_added"] < smallest:
        yield from (("applied", ("rows_before", "rows_added")), ("input", ("rows",)))
        yield from (("loss", losses), ("search", OBJECTIVE_KEYS))
    yield "loss", CLASS_LOSSES
    if metric in CLASS_LOSSES:
        yield "search", OBJECTIVE_KEYS


def _last_part(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]


def _exact(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show a text, a number, or a list of these."""
    return value


def _written(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show settings that the publisher wrote; plug-ins name their own keys."""
    return value


def _left_out(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Leave the key out."""
    raise AssertionError("keys that are left out are not looked at")


def _null(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Show the key without its value."""


def _count(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show a count of records or classes unless it is small."""
    return None if value is None or is_small_count(value, terms.smallest) else value


def _rounded(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Round a number that follows from the release to three significant digits.

    Hidden values can change the order of a float sum, and so its rounding at a tie. Rounding to twelve digits
    first prevents this.
    """
    return _rounded_figure(value) if isinstance(value, float) else value


def _rounded_figure(value: float) -> float:
    return float(f"{float(f'{value:.12g}'):.3g}")


def _objective(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Show the objective if it follows from the release."""
    of_release_alone = LOSS_METRICS[terms.metric].of_release_alone and not terms.weighed
    return _rounded(value, entry, terms) if of_release_alone else None


def _optimal(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show the proof if every such run has one; else it depends on hidden values."""
    return value if terms.proven else None


def _measured(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Show an exact measure if an audit can measure it on the release."""
    return _exact(value, entry, terms) if _of_released_values(entry, terms) else None


def _worst_classes(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    return _count(value, entry, terms) if _of_released_values(entry, terms) else None


def _of_released_values(entry: Mapping[str, Any], terms: _Terms) -> bool:
    """Return whether a measure follows from released values, without types that depend on hidden ones."""
    if not entry["verifiable_from_release"]:
        return False
    if entry.get("model") not in BY_TYPE or not terms.suppressed:
        return True
    settings = terms.attributes.get(entry["attribute"], {})
    distance = entry["parameters"].get("distance") or settings.get("distance")
    return settings.get("type") is not None or distance not in (None, "ordered")


def _success(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Show the success of an attack only if the recipient can run it; others depend on hidden values."""
    return _rounded(value, entry, terms) if _of_release_alone(entry, terms.attributes) else None


def _tail(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Show the success among the most exposed where the success is shown, and these are not few."""
    if value is None:
        return None
    shown = _of_release_alone(entry, terms.attributes)
    numbers = {share: number_of(TAILS[share], entry["records"]) for share in value}
    return {
        share: _rounded(own, entry, terms) if shown and numbers[share] >= terms.smallest else None
        for share, own in value.items()
    }


def _targets(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Show the number of targets where the success is shown; else it may count what the release hides."""
    return _count(value, entry, terms) if _of_release_alone(entry, terms.attributes) else None


def _of_release_alone(entry: Mapping[str, Any], attributes: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether the recipient can run an attack; not along a hierarchy that is built from the input."""
    known = entry["knowledge"]
    by_recipient = "unit" not in known or (known["unit"] == "person" and known.get(LINKS) == USED)
    if not (ATTACKS[entry["attack"]].of_release_alone and by_recipient):
        return False
    source = source_of(attributes.get(known.get("sensitive"), {}))
    return "level" not in known or isinstance(source, FlatSource) or not source.rule_built


def _strongest(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Show the success of the strongest attack on a threat if the entries of all of them show theirs."""
    return None if entry["threat"] in terms.hidden_threats else _rounded(value, entry, terms)


def _contradicted(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Show whether a claim is contradicted if the deciding success is shown."""
    return None if _strongest(entry["success"], entry, terms) is None else value


def _warning(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show the warnings that follow from the release and the config."""
    return [each for each in value if each.startswith(PUBLIC_WARNINGS) or each in terms.warnings]


def _release_path(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show the name of the release without its location."""
    return value if terms.place is None else terms.place


def _output_path(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    return _last_part(value) if value and "://" in value else value


def _file_name(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Name a hierarchy's file without its folder."""
    return PurePath(value).name


def _withheld(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show that there is a path, but not which; the config in the report stays valid."""
    return "withheld"


def _withheld_key(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show that there is a key, but not where; the config in the report stays valid."""
    return "file:withheld"


def _acknowledged(value: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:  # noqa: ARG001 - a Rule
    """Show that rows are persons; findings name columns and what they show."""
    return [each for each in value if each == ROWS_ARE_PERSONS]


def _each(below: str, rule: Rule, keys: str) -> dict[str, Rule]:
    """Return the same rule for some keys below a path."""
    return {f"{below}{key}": rule for key in keys.split()}


_CONSTRAINT = {
    **_each("", _exact, "model attribute satisfied verifiable_from_release"),
    "parameters/*": _written,
    "measured": _measured,
    "worst_classes": _worst_classes,
}
"""The rules of a constraint, of the config or of a scenario."""

PLACED: Mapping[str, Rule] = {
    **_each("", _exact, "schema status interrupted"),
    "warnings": _warning,
    **_each("config/input/", _left_out, "path database url table query"),
    **_each("config/input/", _exact, "separator allow_files encoding decimal missing strict_header"),
    **_each("config/input/", _exact, "household units/* missing_person population/weight"),
    **_each("config/input/", _withheld, "control population/path"),
    "config/input/person": _written,
    **_each("config/attributes/*/", _exact, "role type format pivot weight levels/min levels/max"),
    **_each("config/attributes/*/", _exact, "labels distance release"),
    "config/attributes/*/hierarchy/file": _file_name,
    **_each("config/", _written, "attributes/*/hierarchy/* constraints/[]/* scenarios/* algorithm/*"),
    **_each("config/", _written, "objective/* attacks/[]/* utility/[]/*"),
    **_each("config/", _exact, "reference preset"),
    "config/acknowledge": _acknowledged,
    "config/exposure/*": _exact,
    **_each("config/", _left_out, "budget bound engine attackers steps apply seed"),
    "config/sign/key": _withheld_key,
    **_each("config/suppression/", _exact, "limit unit method keep_rows whole"),
    "config/output/path": _output_path,
    **_each("config/output/", _left_out, "database url"),
    **_each("config/output/", _exact, "table order separator encoding decimal missing"),
    **_each("attributes/*/", _exact, "role type hierarchy_sha256 label codes/*"),
    **_each("input/", _left_out, "path sha256 separator"),
    **_each("", _left_out, "exposure columns preset"),
    "input/rows": _count,
    "input/columns": _exact,
    "release/path": _release_path,
    **_each("release/", _exact, "sha256 verified separator encoding"),
    **_each("release/", _count, "rows suppressed_records suppressed_cells classes sensitive_table/rows"),
    **_each("release/numbers/*/", _exact, "columns empty high"),
    **_each("release/left_by/*/*/", _exact, "values more"),
    **_each("release/sensitive_table/", _exact, "path sha256"),
    "search/algorithm": _exact,
    # The reasons count distinct rows of the input, and so do the candidates of some algorithms.
    **_each("search/", _left_out, "chosen_because steps attacked estimated seconds bound_seconds seed"),
    **_each("search/", _null, "candidates evaluated bound gap best_possible"),
    "search/optimal": _optimal,
    "search/objective": _objective,
    **_each("recoding/", _exact, "levels/* aggregate k grouping"),
    **_each("recoding/", _count, "blanked_cells/* groups smallest_group largest_group"),
    # A single outlier can be most of a sum of squares, so that no rounding hides it.
    "recoding/sse_over_sst": _null,
    **_each("applied/", _exact, "rows_before rows_added"),
    **_each("applied/", _left_out, "report recoding batch_classes smallest_batch_class difference"),
    **{f"constraints/[]/{key}": rule for key, rule in _CONSTRAINT.items()},
    "scenarios/*/known": _written,
    **_each("scenarios/*/", _exact, "sets recipient sentence"),
    **{f"scenarios/*/constraints/[]/{key}": rule for key, rule in _CONSTRAINT.items()},
    # Other metrics are means over the input's records by values that the release may hide.
    **{
        f"loss/{loss_key(name)}": _rounded if metric.of_release_alone else _null
        for name, metric in LOSS_METRICS.items()
    },
    # Suppressed records have weights and persons, too.
    **_each("", _exact, "weighted_loss/weights unit_loss/unit"),
    **_each("", _null, "weighted_loss/* unit_loss/*"),
    "attacks/[]/attack": _exact,
    **_each(
        "attacks/[]/knowledge/", _exact, "attribute attributes sensitive target subsets linkage distance"
    ),
    **_each("attacks/[]/knowledge/", _exact, "overlap swap_range attacker noise standardise measure width"),
    **_each("attacks/[]/knowledge/", _exact, "deviation missing year typing coding rare threshold level"),
    **_each("attacks/[]/knowledge/", _exact, f"unit {LINKS}"),
    # A number, or words about values, as the config has them.
    "attacks/[]/knowledge/facts": _written,
    **_each("attacks/[]/", _success, "success baseline low high ceiling"),
    **_each("attacks/[]/", _tail, "tail tail_low tail_high tail_baseline"),
    "attacks/[]/records": _targets,
    # Details of PUBLIC_DETAILS are added for attacks that the recipient can run.
    **_each("attacks/[]/", _left_out, "seconds details"),
    **_each("attack_matrix/[]/", _exact, "threat claimed_by"),
    **_each("attack_matrix/[]/", _strongest, "success baseline"),
    "attack_matrix/[]/contradicted": _contradicted,
    "attack_matrix/[]/contradictions": _left_out,
    # Searches for better settings read the input. Shares of people who are not in the release follow from
    # records that the recipient may not have.
    **_each("", _left_out, "utility advice units population three_questions"),
    **_each("", _left_out, "engine recoding_file steps diagnosis seconds"),
    **_each("environment/", _exact, "anonymizer python packages/*"),
}
"""The rule of each key of the internal report, by its path; ``*`` is any key, ``[]`` an item of a list.

A rule applies to single values and lists of them; ``_written`` and ``_left_out`` apply to everything below.
"""

Placement = dict[str, Any]
"""The rules as nested dicts of the shape of a report, a rule at each end."""


def _nested(placed: Mapping[str, Rule]) -> Placement:
    tree: Placement = {}
    for path, rule in placed.items():
        *outer, last = path.split("/")
        branch = tree
        for key in outer:
            branch = branch.setdefault(key, {})
        branch[last] = rule
    return tree


PLACEMENT = _nested(PLACED)


def _rule_of(key: str, placement: Placement) -> Any:
    """Return the rule or the rules below for a key of a section; None for a key that is not listed."""
    return placement.get(key, placement.get("*"))


def _fits(value: Any, rule: Rule) -> bool:
    """Return whether a rule applies to a value; keys below a value must be listed themselves."""
    items = value if isinstance(value, list) else [value]
    return rule in (_written, _left_out, _acknowledged, _tail) or not any(
        isinstance(each, (Mapping, list)) for each in items
    )


def _public(value: Any, placement: Any, entry: Mapping[str, Any], terms: _Terms) -> Any:
    """Return the public part of a value, without entries that are not listed."""
    if callable(placement):
        return placement(value, entry, terms) if _fits(value, placement) else None
    if isinstance(value, Mapping):
        rules = {key: _rule_of(key, placement) for key in value}
        return {
            key: _public(item, rules[key], value, terms)
            for key, item in value.items()
            if rules[key] is not None and rules[key] is not _left_out
        }
    if isinstance(value, list):
        return [_public(item, placement["[]"], entry, terms) for item in value if "[]" in placement]
    return None  # absent, such as levels of a recoding without; a single value is not listed here


def _unplaced(value: Any, placement: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if value is None or (callable(placement) and _fits(value, placement)):
        return
    if placement is None or callable(placement) or not isinstance(value, (Mapping, list)):
        yield path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _unplaced(item, _rule_of(key, placement), (*path, key))
    else:
        for item in value:
            yield from _unplaced(item, placement.get("[]"), (*path, "[]"))
