"""A proposal as a commented config in YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from anonymizer.config.files import TYPED
from anonymizer.config.written import comment, flow, text
from anonymizer.model.table import LEFT_OUT, POINT, Role
from anonymizer.profile.proposal import LIMIT, ColumnProposal, Proposal
from anonymizer.profile.spellings import EMPTY
from anonymizer.profile.ways import ways_in_text, ways_note

NOTHING: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
MOST_CODES = 12
"""Codes of a column that are listed with their labels."""

SECONDS = 30
"""Time budget of the search."""


def config_text(
    proposal: Proposal,
    data: Mapping[str, str],
    encoding: str,
    further: Mapping[str, Mapping[str, Any]] = NOTHING,
    limit: Decimal = LIMIT,
) -> str:
    """Return the text of a config.

    Parameters
    ----------
    data: keys of ``input`` that say where the data are, paths relative to the folder of the config.
    encoding: of its text.
    further: sections at the end of the config.
    limit: of the records that may be suppressed.
    """
    sections = [
        _head(proposal),
        _input(proposal, data, encoding),
        _attributes(proposal),
        _constraints(proposal),
        _search(proposal, limit),
        _objective(proposal),
        _attacks(proposal),
        *([] if "output" in further else [_output(proposal, data)]),
        *([f"{name}: {flow(section)}"] for name, section in further.items()),
        ways_in_text(proposal.ways),
    ]
    texts = ("".join(f"{line}\n" for line in section) for section in sections)
    return "\n".join(each for each in texts if each)


def _head(proposal: Proposal) -> Iterator[str]:
    joint = proposal.joint
    for first in (proposal.names.note, ways_note(proposal.ways)):
        yield from comment(first or "")
    yield from comment(
        f"Drafted by `anonymizer init` from {proposal.rows:,} records of {len(proposal.columns)} columns. "
        "The roles are guesses from names and values; correct them where you know better."
    )
    yield from comment(
        f"Together, the quasi-identifiers make {joint.unique:,} records unique; "
        f"{joint.in_small_classes:,} are in classes of fewer than k = {joint.k} records."
    )
    for note in proposal.notes:
        yield from comment(note)
    if proposal.preset is not None:
        yield from comment(f"{proposal.preset.title}. {proposal.preset.limits} A run says what departs.")
        yield f"preset: {text(proposal.preset.name)}"


def _input(proposal: Proposal, data: Mapping[str, str], encoding: str) -> Iterator[str]:
    for warning in proposal.warnings:
        yield from comment(f"Warning: {warning}")
    yield "input:"
    yield from (f"  {key}: {text(value)}" for key, value in data.items())
    if proposal.separator not in (None, ","):
        yield f"  separator: {text(str(proposal.separator))}"
    if encoding != "utf-8":
        yield f"  encoding: {text(encoding)}"
    if proposal.numerals != POINT:
        yield f"  decimal: {text(proposal.numerals.decimal)}   # as in 2254,25"
    if set(proposal.missing) - {EMPTY}:
        yield f"  missing: {flow(list(proposal.missing))}   # read as missing"
    if proposal.person is not None:
        yield f"  person: {text(proposal.person)}   # constraints count its values, not records"
    if proposal.household is not None:
        yield f"  household: {text(proposal.household)}   # a constraint counts its values, too"
    if proposal.units:
        yield f"  units: {flow(dict(proposal.units))}   # constraints count their values, too"


def _attributes(proposal: Proposal) -> Iterator[str]:
    yield "# identifier: dropped; quasi-identifier: may be known, generalized until all constraints hold;"
    yield "# sensitive: must not be inferred; insensitive: released unchanged; drop: left out for another"
    yield "# reason; weight: a sampling weight, released unchanged unless release: false."
    yield "attributes:"
    for column in proposal.columns:
        yield from _attribute(column)


def _attribute(column: ColumnProposal) -> Iterator[str]:
    doubt = "  <- uncertain, please check" if column.doubtful else ""
    if column.role is not column.proposed.role:
        doubt = f"  (chosen; proposed: {column.proposed.role})"
    ground = "" if column.proposed.role is Role.DROP else f"{column.proposed.ground}: "
    yield from comment(f"{ground}{column.reason}{doubt}", "  ")
    if column.rule:
        yield from comment(f"rule: {column.rule}", "  ")
    if column.facts.title:
        yield from comment(f"label: {column.facts.title}", "  ")
    codes = [f"{code} {label}" for label, code in column.facts.codes]
    if codes and column.role not in LEFT_OUT:
        more = ", …" if len(codes) > MOST_CODES else ""
        yield from comment(f"labels of the codes: {', '.join(codes[:MOST_CODES])}{more}", "  ")
    section = flow(column.settings(column.role))
    if column.role is Role.QUASI_IDENTIFIER and column.draft is not None:
        yield from comment(column.draft.reason, "  ")
    if column.question:
        yield from comment(f"{column.question}  <- uncertain, please check", "  ")
    yield f"  {text(column.name)}: {section}"
    if column.role is Role.IDENTIFIER and column.draft is not None:
        general = flow(column.settings(Role.QUASI_IDENTIFIER))
        yield f"  # to keep it in a coarser form: {general}"
    if column.proposed.weighs and column.role is not Role.WEIGHT:
        yield "  # if it is a sampling weight: {role: weight, release: false}"
    if column.in_bands:
        yield f"  # to release the exact values: {flow(column.settings(column.role, exact=True))}"


def _constraints(proposal: Proposal) -> Iterator[str]:
    yield "# All must be satisfied on the released file."
    yield "constraints:"
    for model, reason in proposal.constraints:
        yield from comment(reason, "  ")
        yield f"  - {flow(model)}"


def _search(proposal: Proposal, limit: Decimal) -> Iterator[str]:
    most = f"{float(100 * limit):g}%"
    yield f"# Records in classes that violate a constraint are suppressed, at most {most} of all."
    if proposal.person is not None:
        yield "# With unit: person behind the limit, it counts persons, each lost with any of its records."
    yield f"suppression: {flow({'limit': limit})}"
    if proposal.person is not None:
        yield "# With this line the loss counts each person once:"
        yield "# objective: {metric: loss, unit: person}"
    yield ""
    yield "# mondrian: within seconds; local: less loss, takes minutes; lattice: one generalization level for"
    yield "# each column, proven optimal."
    # Without these two, local recoding would improve it: by 7 % for 2.4 times the processor time of the whole
    # run, on a million records of 10 columns.
    yield f"algorithm: {flow({'name': 'mondrian'})}"
    yield f"budget: {flow({'seconds': SECONDS})}"


def _objective(proposal: Proposal) -> Iterator[str]:
    if proposal.weights is not None:
        yield "# With this line the loss is the mean over the people whom the records represent:"
        yield f"# objective: {flow({'metric': 'loss', 'weights': proposal.weights})}"


def _attacks(proposal: Proposal) -> Iterator[str]:
    """Yield the attacks: the default ones, unless there are weights, which these do not use."""
    if proposal.weights is None:
        yield "# A few attacks run on the release, in a second or two; the command attack runs all that"
        yield "# apply."
        yield "# attacks: none"
        return
    attacks: list[Any] = ["vulnerability", {"attack": "uniqueness", "weights": proposal.weights}]
    if any(column.role is Role.SENSITIVE for column in proposal.columns):
        attacks.append("homogeneity")
    yield "# These run on the release, quickly; the command attack runs all that apply."
    yield f"attacks: {flow(attacks)}"


def _output(proposal: Proposal, data: Mapping[str, str]) -> Iterator[str]:
    marker = proposal.marker
    if marker is not None:
        # Without a path the release has the format of the input, and only text has a word for a null.
        typed = any(each.released and each.named(data.get("path", "")) for each in TYPED)
        marker = EMPTY if typed else marker
        yield "# How all columns write missing values; without it, recoded columns have <missing>."
        yield f"output: {flow({'missing': marker})}"
