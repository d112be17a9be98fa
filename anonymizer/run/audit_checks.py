"""The checks of an audit: each compares some figures of a report with what the files show.

A check says which figures it looked at by comparing them, see ``Claims``; what none compares is listed as not
checked. So a new figure of the report needs a check, or lists itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from anonymizer.attacks.base import AttackResult
from anonymizer.attacks.similarity import Similarity
from anonymizer.audit.claims import ABSENT, PUBLIC_DIGITS, Claims, Key, agrees, as_reported
from anonymizer.audit.classes import measure, verifiable
from anonymizer.config.attribute import AttributeSettings, Role
from anonymizer.config.model import Config
from anonymizer.data.relation import Relation
from anonymizer.errors import HierarchyError, InputError
from anonymizer.hierarchy.source import FlatSource, HierarchySource
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.arrays import IntArray
from anonymizer.model.classes import Classes
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import MISSING, SUPPRESSED
from anonymizer.privacy.base import ClassConstraint, Constraint, CountedConstraint, ReleaseConstraint
from anonymizer.release.anatomy import pair_named
from anonymizer.report.build import ATTACK_KEYS, attack_entry, attack_matrix
from anonymizer.run.assessment import run_timed
from anonymizer.run.plan import Plan, PlannedHierarchy

IDENTITY = ("model", "attribute", "parameters")
"""The keys of a reported constraint that say which of the config it is."""


@dataclass(frozen=True, eq=False)
class AuditCase:
    """A release and its report, opened and counted.

    Attributes
    ----------
    claims: of the report.
    config: the one in the report.
    plan: of that config.
    relations: the released tables, one or two.
    classes: its equivalence classes; of records in groups, the groups.
    judged: gives what a constraint judges: the classes, or of records in groups the exact tuples; with True,
        by sensitive values read as texts.
    sensitive: names of the sensitive attributes.
    look: counts what somebody has who holds the release alone.
    constraints: gets what was measured of each constraint.
    notes: gets what could not be told.
    """

    claims: Claims
    config: Config
    plan: Plan
    relations: Sequence[Relation]
    classes: Classes
    judged: Callable[[Constraint, bool], Classes]
    sensitive: Sequence[str]
    look: Callable[[], AdversaryView]
    constraints: list[dict[str, Any]]
    notes: list[str]

    @cached_property
    def scene(self) -> AdversaryView:
        """What somebody has who holds the release alone; counted when it is first asked for."""
        return self.look()

    @property
    def in_groups(self) -> bool:
        """Whether the release is one of records in groups."""
        return len(self.relations) == 2

    @property
    def appended(self) -> bool:
        """Whether losses and suppressed records are those of further records, not of the whole release."""
        return self.claims.get(("applied",)) is not ABSENT

    @property
    def quasi_identifiers(self) -> Mapping[str, Mapping[str, int]]:
        """The records of each published text, by quasi-identifier; a null is the empty text."""
        return {
            name: {text or "": records for text, records in self.relations[0].dictionary(name)}
            for name in self.relations[0].columns
            if name in self.config.with_role(Role.QUASI_IDENTIFIER)
        }


def check_verdict(case: AuditCase) -> None:
    """A report of a release says that the release satisfies its constraints and was verified."""
    case.claims.agree(("schema",))
    case.claims.compare(("status",), "satisfied")
    case.claims.compare(("release", "verified"), found=True)


def check_names(case: AuditCase) -> None:
    """The files have the names that the config gives them, in the folder that is handed over."""
    output, claims = case.config.output, case.claims
    if output.path is None or "://" in output.path:
        return
    path = PurePath(output.path)
    names = list(pair_named(Path(path.name)).names) if case.in_groups else [path.name]
    own = claims.get(("release", "path"))
    # An internal report of a release elsewhere has the whole path; the recipient has the name.
    elsewhere = claims.internal and isinstance(own, str) and "://" in own and own.endswith(f"/{names[0]}")
    found = own if elsewhere else f"share/{names[0]}"
    if claims.compare(("release", "path"), found):
        claims.agree(("config", "output", "path"))
    if case.in_groups:
        claims.compare(("release", "sensitive_table", "path"), f"share/{names[1]}")


def check_attributes(case: AuditCase) -> None:
    """Roles, types and hierarchies of the columns are those of the config."""
    claims, config = case.claims, case.config
    described = claims.get(("attributes",))
    if isinstance(described, Mapping) and set(described) != set(config.attributes):
        claims.refute(("attributes",), "has other columns than the config of the report")
        return
    claims.compare(("input", "columns"), len(config.attributes))
    columns = case.plan.columns
    for name, settings in config.attributes.items():
        if claims.compare(("attributes", name, "role"), settings.role.value):
            claims.agree(("config", "attributes", name, "role"))
        _check_type(claims, settings, name)
        _check_hierarchy(claims, columns[name].hierarchy, name)


def _check_type(claims: Claims, settings: AttributeSettings, name: str) -> None:
    """A type is the declared one; the public report has no other, the internal one that of all values."""
    key = ("attributes", name, "type")
    if settings.role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        claims.compare(key, None)
    elif settings.type is not None:
        if claims.compare(key, settings.type.value):
            claims.agree(("config", *key))
    elif claims.get(key) is None and not claims.internal:
        claims.agree(key)


def _check_hierarchy(claims: Claims, planned: PlannedHierarchy | None, name: str) -> None:
    key = ("attributes", name, "hierarchy_sha256")
    if planned is None:
        claims.compare(key, None)
        return
    if claims.get(key) is None:
        claims.refute(key, "the config of the report has a hierarchy, found no digest of one")
        return
    try:
        digest = planned.digest()
    except (OSError, InputError):
        return
    if claims.compare(key, digest) and not planned.files:
        claims.agree(("config", "attributes", name, "hierarchy"))


def check_counts(case: AuditCase) -> None:
    """Rows and classes are as many as counted."""
    claims = case.claims
    claims.compare(("release", "rows"), case.classes.records)
    claims.compare(("release", "classes"), case.classes.number)
    if case.in_groups:
        claims.compare(("release", "sensitive_table", "rows"), case.relations[1].rows)
        sizes = case.classes.sizes
        claims.expect(("recoding",), ("grouping",))
        claims.compare(("recoding", "groups"), len(sizes))
        _check_group_numbers(case)
        claims.compare(("recoding", "smallest_group"), int(sizes.min()))
        claims.compare(("recoding", "largest_group"), int(sizes.max()))


def _check_group_numbers(case: AuditCase) -> None:
    """Groups are numbered from 1 without gaps, in digits alone; both tables have the same ones."""
    found = {text or "" for text, _ in case.relations[0].dictionary(GROUP)}
    strange = sorted(found - {str(number) for number in range(1, len(found) + 1)})
    if strange:
        what = f"groups are numbered from 1 to {len(found)}, found a group '{strange[0]}'"
        case.claims.refute(("recoding", "groups"), what)


def check_order(case: AuditCase) -> None:
    """A sorted release is in the order of its values, so that the order says nothing that these do not."""
    key = ("config", "output", "order")
    if case.config.output.order.value != "sorted" or not all(each.ordered for each in case.relations):
        return
    for relation in case.relations:
        if not rows_ascend(relation, (GROUP, COUNT) if case.in_groups else ()):
            what = 'the report says "sorted", found rows in another order, which can carry what values hide'
            case.claims.refute(key, what)
            return
    case.claims.agree(key)


def rows_ascend(relation: Relation, counted: Collection[str] = ()) -> bool:
    """Tell whether the rows of a file are sorted by all columns, left to right, texts by code point.

    Parameters
    ----------
    counted: columns of whole numbers without leading zeros, which are sorted as such: by length, then digits.
    """
    tied = np.ones(max(relation.rows - 1, 0), dtype=bool)
    for column in relation.columns:
        codes = relation.codes(column).astype(np.int64)
        texts = [text for text, _ in relation.dictionary(column)]
        if column in counted:
            codes = _ranks([(len(text or ""), text or "") for text in texts])[codes]
        elif None in texts:
            # A null is the last in the order of values, but written as the empty text it is the first.
            first = _ranks([text or "" for text in texts])[codes]
            if not (tied & (first[1:] < first[:-1])).any():
                codes = first
        if (tied & (codes[1:] < codes[:-1])).any():
            return False
        tied &= codes[1:] == codes[:-1]
    return True


def _ranks(values: Sequence[Any]) -> IntArray:
    place = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return np.array([place[value] for value in values], dtype=np.int64)


def check_texts(case: AuditCase) -> None:
    """Recoded columns are texts, without nulls, where a file has types.

    Raises
    ------
    InputError: one is not.
    """
    relation = case.relations[0]
    if relation.separator is not None:
        return
    for name in case.quasi_identifiers:
        if not relation.is_text(name) or missing_cells(relation, name)[0]:
            raise InputError(f"{relation.name}: column '{name}' was recoded, but holds other than texts")


def missing_cells(relation: Relation, name: str) -> tuple[int, int]:
    """Return how many cells of a column are null, and how many are the empty text."""
    nulls = relation.profiling.spread(name, 1).nulls
    return nulls, relation.profiling.count_matching(name, "") if relation.is_text(name) else 0


def check_suppression(case: AuditCase) -> None:
    """Suppressed records are those that the input has and the release has not, and within the limit."""
    claims, settings = case.claims, case.config.suppression
    key, rows = ("release", "suppressed_records"), case.classes.records
    if case.appended:
        before = claims.number(("applied", "rows_before"))
        if before is not None and not settings.keep_rows:
            claims.compare(("applied", "rows_added"), rows - int(before))
        return
    records, suppressed = claims.number(("input", "rows")), claims.number(key)
    if records is not None:
        removed = int(records) - rows
        if not settings.keep_rows:
            claims.compare(key, removed)
        elif suppressed is not None:
            kept_suppressed = int(suppressed) - removed
            if removed < 0 or not 0 <= kept_suppressed <= _starred(case):
                claims.refute(key, f"the report says {suppressed}, found {_starred(case)} rows of * alone")
            elif not _starred(case):
                # A class at all roots is published as suppressed records are.
                claims.agree(key)
        if suppressed is not None and suppressed > settings.most(int(records)):
            what = f"{suppressed} is more than suppression.limit {settings.limit} allows of {records} records"
            claims.refute(key, what)
    _check_blanks(case)


def _starred(case: AuditCase) -> int:
    """Count the records whose quasi-identifiers are all ``*``."""
    table = case.scene.release
    return int(table.counts[table.blanks.all(axis=1)].sum())


def _check_blanks(case: AuditCase) -> None:
    """Blanked cells are the ``*`` of columns that also publish other values, but for rows of ``*`` alone."""
    claims = case.claims
    table = case.scene.release
    blanks = table.blanks
    alone = np.logical_and.reduce(blanks, axis=1)
    cells = dict(zip(table.names, (table.counts @ (blanks & ~alone[:, None])).tolist(), strict=True))
    if case.config.suppression.method.value != "cells":
        claims.compare(("release", "suppressed_cells"), 0)
        for name, found in cells.items():
            if found and _at_the_lowest(claims, name):
                claims.refute(
                    ("release", "suppressed_cells"), f"nothing blanks cells, found {found} in '{name}'"
                )
        return
    claims.expect(("recoding",), ("blanked_cells",))
    claims.expect(("recoding", "blanked_cells"), cells)
    if blanks.all(axis=0).any() or (alone.any() and not case.config.suppression.keep_rows):
        # A column of * alone can be at its root, so that its blanks cannot be told.
        return
    certain = {name for name, found in cells.items() if not found or _at_the_lowest(claims, name)}
    _compare_blanks(claims, ("release", "suppressed_cells"), sum(cells.values()), exact=certain == set(cells))
    for name in claims.section(("recoding", "blanked_cells")):
        _compare_blanks(
            claims, ("recoding", "blanked_cells", name), cells.get(name, 0), exact=name in certain
        )


def _at_the_lowest(claims: Claims, name: str) -> bool:
    """Return whether a column publishes its own values, so that no level of its hierarchy gives a ``*``."""
    levels = claims.get(("recoding", "levels"))
    return isinstance(levels, dict) and levels.get(name) == 0


def _compare_blanks(claims: Claims, key: Key, found: int, *, exact: bool) -> None:
    """Compare a number of blanked cells; a hierarchy may hold ``*`` below its top, so some may be none."""
    claimed = claims.number(key)
    if exact or (claimed is not None and claimed > found):
        claims.compare(key, found)


def check_constraints(case: AuditCase) -> None:
    """Every constraint of the config holds, and measures what the report says."""
    claims = case.claims
    bound = case.plan.constraints(case.sensitive)
    claimed = claims.get(("constraints",))
    count = len(claimed) if isinstance(claimed, list) else 0
    if count != len(bound) or any(_differs(claims, at, each) for at, each in enumerate(bound)):
        claims.refute(("constraints",), "the constraints of the report are not those of the config in it")
        return
    for position, place in enumerate(case.plan.positions(case.sensitive)):
        claims.agree(("config", "constraints", place))
        for name in IDENTITY:
            claims.agree(("constraints", position, name))
    for position, constraint in enumerate(bound):
        _judge(case, constraint, position)


def _differs(claims: Claims, position: int, constraint: Constraint) -> bool:
    own = (constraint.model.name, constraint.attribute, constraint.parameters())
    claimed = tuple(claims.get(("constraints", position, name)) for name in IDENTITY)
    return not agrees(list(claimed), as_reported(list(own)))


def _judge(case: AuditCase, constraint: Constraint, position: int) -> None:
    """Measure one constraint, or take over what is reported where the file cannot tell."""
    claims, key = case.claims, ("constraints", position)
    claim = dict(claims.get(key))
    title = constraint.model.name + (f" of {constraint.attribute}" if constraint.attribute else "")
    claims.compare((*key, "satisfied"), found=True)
    classes = case.judged(constraint, False)
    at_hand = not isinstance(constraint, ReleaseConstraint) and _reference_at_hand(
        case.plan, constraint, classes
    )
    if not at_hand:
        claims.compare((*key, "verifiable_from_release"), found=False)
    if isinstance(constraint, ReleaseConstraint) or not (at_hand and verifiable(classes, constraint)):
        case.constraints.append({**claim, "verifiable_from_release": False})
        holds = "holds" if claim.get("satisfied") is True else "does not hold"
        case.notes.append(f"{title}: the release alone cannot tell; the report says it {holds}")
        return
    found = asdict(measure(classes, [constraint])[0])
    if _type_is_hidden(case, constraint) and not agrees(
        claim.get("measured"), as_reported(found["measured"])
    ):
        # A value that the release lacks can make texts of numbers.
        read = asdict(measure(case.judged(constraint, True), [constraint])[0])
        hidden = claim.get("measured") is None and not found["satisfied"]
        if hidden or agrees(claim.get("measured"), as_reported(read["measured"])):
            found = read
    case.constraints.append(found)
    same = [
        claims.compare((*key, name), found[name])
        for name in ("measured", "worst_classes", "verifiable_from_release")
    ]
    if not found["satisfied"]:
        claims.refute(key, f"{title} measures {found['measured']}, which does not hold")
    elif same[0] and _uses_reference(constraint):
        claims.agree(("config", "reference"))


def _type_is_hidden(case: AuditCase, constraint: Constraint) -> bool:
    """Tell whether the report does not say as what the values that a constraint is about were read."""
    name = constraint.attribute
    return name is not None and case.claims.get(("attributes", name, "type")) is None


def _uses_reference(constraint: CountedConstraint) -> bool:
    return isinstance(constraint, ClassConstraint) and constraint.model.uses_reference


def _reference_at_hand(plan: Plan, constraint: CountedConstraint, classes: Classes) -> bool:
    """Tell whether neither the input's distribution nor a tree that grew from the input is needed."""
    if not plan.moving_reference and _uses_reference(constraint):
        return False
    if constraint.attribute not in plan.grown:
        return True
    counts, _ = classes.sensitive_counts(constraint.attribute, combined=constraint.combined)
    return not constraint.model.along_hierarchy(counts.attribute)


def check_levels(case: AuditCase) -> None:
    """The published texts are of the level that is reported, as far as the hierarchy is at hand."""
    claims, config = case.claims, case.config
    levels = claims.get(("recoding", "levels"))
    if not isinstance(levels, Mapping):
        return
    texts = case.quasi_identifiers
    if set(levels) != set(texts):
        claims.refute(("recoding", "levels"), "has other columns than the quasi-identifiers")
        return
    blanking = config.suppression.keep_rows or config.suppression.method.value == "cells"
    for name, level in levels.items():
        if case.appended:
            continue
        settings = config.attributes[name].hierarchy
        source = FlatSource() if settings is None else settings.build()
        shown = [text for text in texts[name] if text not in ("", SUPPRESSED, MISSING)]
        # Where * is not the root alone, and nothing else is published, it does not tell the level.
        if not shown and (SUPPRESSED not in texts[name] or blanking):
            continue
        try:
            possible = source.levels_of(shown, config.folder)
        except (OSError, HierarchyError):
            continue
        if possible is None or (not possible and settings is not None and settings.unknown.value == "top"):
            continue
        if shown and not blanking and _has_wrong_stars(case, name, level, source):
            what = f"the report says {level}, which has no '{SUPPRESSED}'"
            claims.refute(("recoding", "levels", name), what)
            continue
        if type(level) is not int or level not in possible:
            found = ", ".join(map(str, sorted(possible))) or "no level of the hierarchy"
            claims.refute(
                ("recoding", "levels", name), f"the report says {level}, the published texts {found}"
            )
        elif len(possible) == 1:
            claims.agree(("recoding", "levels", name))


def _has_wrong_stars(case: AuditCase, name: str, level: Any, source: HierarchySource[Any]) -> bool:
    """Return whether a column publishes ``*`` at a level of its hierarchy that surely has none."""
    settings = case.config.attributes[name].hierarchy
    if SUPPRESSED not in case.quasi_identifiers[name]:
        return False
    if settings is not None and settings.unknown.value == "top":
        return False
    starred = source.levels_of([SUPPRESSED], case.config.folder)
    return starred is not None and level not in starred


def check_losses(case: AuditCase) -> None:
    """Losses of the sizes of classes and of levels are those of the release."""
    claims, levels = case.claims, case.claims.get(("recoding", "levels"))
    known: dict[str, Any] = {} if case.appended else _losses_of_sizes(case)
    if isinstance(levels, Mapping) and all(type(each) is int for each in levels.values()):
        known["height"] = sum(levels.values())
    elif levels is None:
        known["height"] = None
    for name, loss in known.items():
        claims.compare(("loss", name), loss)
    if not case.appended:
        _check_objective(case, known)


def _losses_of_sizes(case: AuditCase) -> dict[str, Any]:
    """Return the losses that sizes of classes and the number of suppressed records determine."""
    claims, sizes, found = case.claims, case.classes.sizes, {}
    if len(sizes):
        average = Fraction(int(sizes.sum()), len(sizes)) / (case.plan.k or int(sizes.min()))
        found["average_class_size"] = float(average)
    suppressed, records = claims.number(("release", "suppressed_records")), claims.number(("input", "rows"))
    if suppressed is not None and records is not None:
        kept_suppressed = int(suppressed) - (int(records) - case.classes.records)
        kept = int((sizes.astype(object) ** 2).sum()) - kept_suppressed**2
        found["discernibility"] = kept + int(suppressed) * int(records)
    return found


def _check_objective(case: AuditCase, known: Mapping[str, Any]) -> None:
    """The objective is the loss of its name, and the gap is that between it and the bound.

    Parameters
    ----------
    known: losses that were found, unrounded; the others are as reported.
    """
    claims, key, shown = case.claims, ("search", "objective"), case.claims.section(("loss",))
    aggregate = claims.get(("config", "objective", "aggregate"))
    metric = str(claims.get(("config", "objective", "metric"))).replace("-", "_")
    losses = {name: known.get(name, claims.number(("loss", name))) for name in shown}
    if aggregate in ("arithmetic-mean", ABSENT) and losses.get(metric) is not None:
        # A search can count in floats, and these are rounded.
        if isinstance(claims.get(key), float):
            losses = {name: loss if loss is None else float(loss) for name, loss in losses.items()}
        same = claims.compare(key, losses[metric])
        # Where another loss is as large, by chance or after rounding, the objective does not tell the metric.
        digits = None if claims.internal else PUBLIC_DIGITS
        tied = [name for name, loss in losses.items() if agrees(claims.get(key), loss, digits)]
        if same and tied == [metric]:
            claims.agree(("config", "objective", "metric"))
    objective, bound = (claims.number(("search", name)) for name in ("objective", "bound"))
    if objective is None or bound is None or not claims.internal:
        return
    if objective:
        claims.compare(("search", "gap"), (objective - bound) / objective)
    else:
        claims.compare(("search", "bound"), objective)
        claims.compare(("search", "gap"), 0.0)


def check_attacks(case: AuditCase) -> None:
    """An attack that needs the release alone reaches what is reported."""
    claims, attacks = case.claims, case.config.attacks
    entries = claims.get(("attacks",))
    written = claims.get(("config", "attacks"))
    # The config has none of those that are of a plug-in which is not here.
    if not isinstance(entries, list) or not isinstance(written, list) or len(written) != len(attacks):
        return
    for position in range(len(entries)):
        claims.expect(("attacks", position), ATTACK_KEYS if claims.internal else ATTACK_KEYS[:-2])
    if not attacks:
        if entries:
            claims.refute(("attacks",), "has attacks that the config of the report does not ask for")
        claims.agree(("attacks",))
        claims.agree(("config", "attacks"))
        return
    asked = {each.attack for each in attacks}
    named = {str(each.get("attack")) if isinstance(each, Mapping) else str(each) for each in entries}
    if asked != named:
        claims.refute(("attacks",), f"has {_names(named)}, the config of the report asks for {_names(asked)}")
        return
    built = [each.build() for each in attacks]
    own = [
        each
        for each in built
        if each.of_release_alone
        and each.missing_requirement(case.scene) is None
        and not (isinstance(each, Similarity) and _trees_missing(case))
    ]
    found = [
        each.finding for each in run_timed(own, 0, lambda attack, random: attack.run(case.scene, random))
    ]
    repeated = {each.name for each in own}
    for position, settings in enumerate(attacks):
        if settings.attack in repeated:
            _agree_options(claims, position, settings.attack)
    _compare_findings(claims, entries, found, repeated)


def _agree_options(claims: Claims, position: int, attack: str) -> None:
    """Take those options of a repeated attack as checked that an entry of it shows.

    What others do, such as the size of a population, stands in the details, which the internal report has.
    """
    key = ("config", "attacks", position)
    entries = claims.get(("attacks",))
    shown = [
        each.get("knowledge")
        for each in entries
        if isinstance(each, Mapping) and each.get("attack") == attack
    ]
    known = [each for each in shown if isinstance(each, Mapping)]
    options = claims.section(key)
    if claims.internal or not options:
        claims.agree(key)
    for name, value in options.items():
        told = "attributes" if name == "knowledge" else name
        if name == "attack" or value is None or any(_same_option(each.get(told), value) for each in known):
            claims.agree((*key, name))


def _same_option(shown: Any, value: Any) -> bool:
    """Tell whether an entry shows an option so; it has exact decimals as texts."""
    return agrees(shown, value) or (isinstance(value, (int, float)) and shown == str(value))


def _trees_missing(case: AuditCase) -> bool:
    """Tell whether a sensitive attribute has a hierarchy that is not at hand, or that grew from the input."""
    known = case.scene.disclosing.sensitive
    return any(
        case.config.attributes[name].hierarchy is not None and own.attribute.hierarchy is None
        for name, own in known.items()
    )


def _compare_findings(
    claims: Claims, entries: Sequence[Any], found: Sequence[AttackResult], repeated: set[str]
) -> None:
    """Compare the entries of repeated attacks with their findings, which are in the same order."""
    if not all(isinstance(each, Mapping) for each in entries):
        claims.refute(("attacks",), "has an entry that is no mapping")
        return
    places = [at for at, each in enumerate(entries) if each.get("attack") in repeated]
    for position in set(range(len(entries))) - set(places):
        claims.agree(("attacks", position, "attack"))
    if len(places) != len(found):
        claims.refute(("attacks",), f"has {len(places)} entries of {_names(repeated)}, found {len(found)}")
        return
    for position, finding in zip(places, found, strict=True):
        entry = attack_entry(finding, 0.0)
        for name in ("attack", "knowledge", "success", "baseline", "low", "high", "records"):
            claims.compare(("attacks", position, name), entry[name])
        if claims.internal:
            claims.compare(("attacks", position, "details"), entry["details"])


def _names(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def check_matrix(case: AuditCase) -> None:
    """The table of threats follows from the constraints and the attacks that are reported."""
    claims, entries = case.claims, case.claims.get(("attacks",))
    rows = claims.get(("attack_matrix",))
    if not isinstance(entries, list) or not isinstance(rows, list):
        return
    try:
        # As low and as high as rounding lets the figures be, and with the hidden ones at either end.
        bounds = [_matrix(case, entries, slack, hidden) for slack in (-1.0, 1.0) for hidden in (0.0, 1.0)]
    except (KeyError, TypeError, AttributeError):
        # An entry is not one that a run writes.
        return
    if len(rows) != len(bounds[0]):
        claims.refute(("attack_matrix",), f"has {len(rows)} rows, found {len(bounds[0])}")
        return
    for position, found in enumerate(zip(*bounds, strict=True)):
        row = found[0]
        claims.expect(("attack_matrix", position), row)
        certain = {name for name in row if all(each[name] == row[name] for each in found)}
        for name in ("threat", "claimed_by", "success", "contradicted"):
            if name in certain:
                claims.compare(("attack_matrix", position, name), row[name])
        verdict = ("attack_matrix", position, "contradicted")
        if "success" in certain and row["success"] is None and claims.get(verdict) is None:
            # The public report has no verdict on a threat that nothing measured.
            claims.agree(verdict)
        if {"success", "baseline"} <= certain:
            _check_baseline(claims, position, row)


FIGURES = ("success", "baseline", "low", "high")
"""Of an attack; the public report hides those that would tell of the input."""


def _matrix(case: AuditCase, entries: Sequence[Any], slack: float, hidden: float) -> list[dict[str, Any]]:
    """Return the table of reported entries, each as low or as high as its rounding lets it be.

    Parameters
    ----------
    slack: -1 for as low, 1 for as high as can be.
    hidden: taken for every figure that the report hides.
    """
    models = [each.model for each in case.plan.constraints(case.sensitive)]
    # Half a unit in the third digit is at most 0.5 %, of the lower end as of what it is compared with.
    share = 0.0 if case.claims.internal else 0.02 * slack
    shown = [each | {name: hidden for name in FIGURES if each[name] is None} for each in entries]
    shown = [each | {"low": each["low"] * (1 + share)} for each in shown]
    return attack_matrix(models, shown, case.plan.k)


def _check_baseline(claims: Claims, position: int, row: Mapping[str, Any]) -> None:
    """Compare the baseline of the worst attack; rounding can make others of the threat as bad."""
    if row["success"] is None or claims.internal:
        claims.compare(("attack_matrix", position, "baseline"), row["baseline"])
        return
    key = ("attack_matrix", position, "baseline")
    entries = claims.get(("attacks",))
    tied = [each.get("baseline") for each in entries if each.get("success") == row["success"]]
    claims.compare(key, claims.get(key) if claims.get(key) in tied else row["baseline"])


CHECKS: Sequence[Callable[[AuditCase], None]] = (
    check_verdict,
    check_names,
    check_attributes,
    check_counts,
    check_order,
    check_texts,
    check_suppression,
    check_constraints,
    check_levels,
    check_losses,
    check_attacks,
    check_matrix,
)
"""The checks that need the release and a report, in the order of their findings."""
