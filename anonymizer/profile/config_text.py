"""A proposal as a commented config in YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import yaml

from anonymizer.config.attribute import Role
from anonymizer.config.document import scalar
from anonymizer.config.section import plain
from anonymizer.model.table import POINT
from anonymizer.profile.column_statistics import EMPTY
from anonymizer.profile.proposal import LIMIT, ColumnProposal, Proposal

WIDTH = 108
NOTHING: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
SECONDS = 30
"""Budget of the search."""

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def config_text(
    proposal: Proposal, data: str, encoding: str, further: Mapping[str, Mapping[str, Any]] = NOTHING
) -> str:
    """Return the text of a config.

    Parameters
    ----------
    data: path of the data file, relative to the folder of the config.
    encoding: of its text.
    further: sections that the config is to have at its end.
    """
    sections = [
        _head(proposal),
        _input(proposal, data, encoding),
        _attributes(proposal),
        _constraints(proposal),
        _search(),
        _attacks(proposal),
        *([f"{name}: {flow(section)}"] for name, section in further.items()),
    ]
    return "\n".join("".join(f"{line}\n" for line in section) for section in sections)


def _head(proposal: Proposal) -> Iterator[str]:
    together = proposal.together
    yield from _comment(
        f"Drafted by `anonymizer init` from {proposal.rows:,} records of {len(proposal.columns)} columns. "
        "The proposed roles follow from measurements; correct them where you know better."
    )
    yield from _comment(
        f"Together, the quasi-identifiers make {together.alone:,} records unique; {together.below:,} are in "
        f"classes of fewer than k = {together.k} records."
    )


def _input(proposal: Proposal, data: str, encoding: str) -> Iterator[str]:
    for warning in proposal.warnings:
        yield from _comment(f"Warning: {warning}")
    yield "input:"
    yield f"  path: {text(data)}"
    if proposal.separator not in (None, ","):
        yield f"  separator: {text(str(proposal.separator))}"
    if encoding != "utf-8":
        yield f"  encoding: {text(encoding)}"
    if proposal.numerals != POINT:
        yield f"  decimal: {text(proposal.numerals.decimal)}   # as in 2254,25"
    if set(proposal.missing) - {EMPTY}:
        yield f"  missing: {flow(list(proposal.missing))}   # read as missing"


def _attributes(proposal: Proposal) -> Iterator[str]:
    yield "# identifier: dropped; quasi-identifier: may be known, generalized until all constraints hold;"
    yield "# sensitive: must not be inferred; insensitive: released unchanged."
    yield "attributes:"
    for column in proposal.columns:
        yield from _attribute(column)


def _attribute(column: ColumnProposal) -> Iterator[str]:
    doubt = "  <- uncertain, please check" if column.doubtful else ""
    if column.role is not column.verdict.role:
        doubt = f"  (chosen; proposed: {column.verdict.role})"
    yield from _comment(column.reason + doubt, "  ")
    section = flow(column.settings(column.role))
    if column.role is Role.QUASI_IDENTIFIER and column.draft is not None:
        yield from _comment(column.draft.reason, "  ")
    yield f"  {text(column.name)}: {section}"
    if column.role is Role.IDENTIFIER and column.draft is not None:
        general = flow(column.settings(Role.QUASI_IDENTIFIER))
        yield f"  # to keep it in a coarser form: {general}"


def _constraints(proposal: Proposal) -> Iterator[str]:
    yield "# All must be satisfied on the released file."
    yield "constraints:"
    for model, reason in proposal.constraints:
        yield from _comment(reason, "  ")
        yield f"  - {flow(model)}"


def _search() -> Iterator[str]:
    yield f"# Records in classes that violate a constraint are suppressed, at most {float(LIMIT):.0%} of all."
    yield f"suppression: {flow({'limit': LIMIT})}"
    yield ""
    yield "# mondrian: within seconds; local: less loss, takes minutes; lattice: one generalization level for"
    yield "# each column, proven optimal."
    yield f"algorithm: {flow({'name': 'mondrian'})}"
    yield f"budget: {flow({'seconds': SECONDS})}"


def _attacks(proposal: Proposal) -> Iterator[str]:
    """Yield the attacks that are counted from the classes alone, within a second for a million records."""
    attacks = ["vulnerability", "uniqueness"]
    if any(column.role is Role.SENSITIVE for column in proposal.columns):
        attacks.append("homogeneity")
    yield "# These run on the release, quickly. Others, such as linkage, take longer: if a config lists none,"
    yield "# `anonymizer attack` runs all that apply."
    yield f"attacks: {flow(attacks)}"


def _comment(words: str, indent: str = "") -> list[str]:
    safe = "".join(each if each.isprintable() else " " for each in words)
    return wrap(
        safe, WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ", break_on_hyphens=False
    )


def flow(value: Any) -> str:
    """Return a value as YAML on one line.

    >>> flow({"role": "x", "width": [5, 0.5], "name": "a b", "yes": "null"})
    '{role: x, width: [5, 0.5], name: "a b", yes: "null"}'
    """
    match plain(value):
        case Mapping() as section:
            return "{" + ", ".join(f"{text(str(key))}: {flow(item)}" for key, item in section.items()) + "}"
        case list() as items:
            return "[" + ", ".join(flow(item) for item in items) + "]"
        case str() as words:
            return text(words)
        case number:
            return str(number)


def text(words: str) -> str:
    """Return a text as a YAML scalar that is read back as that text, in quotes where it has to be.

    >>> text("native-country"), text("1e5"), text("a: b"), text("")
    ('native-country', '"1e5"', '"a: b"', '""')
    """
    if _PLAIN.fullmatch(words) and scalar(words) == words:
        return words
    return yaml.safe_dump(words, default_style='"', allow_unicode=True, width=2**31).rstrip("\n")
