"""What a preset asks of a draft: columns that are left out, and settings of others, each with its source."""

from __future__ import annotations

from dataclasses import replace

from anonymizer.model.table import LEFT_OUT, Role, ValueType
from anonymizer.presets.preset import Preset
from anonymizer.presets.rules import Change, Column, Kind, Removed, Rule
from anonymizer.profile.hierarchies import FEW, match_listed
from anonymizer.profile.kinds import kinds_of
from anonymizer.profile.knowledge import Ground
from anonymizer.profile.proposal import Asked, Choices, ColumnProposal, Proposal, RoleProposal

UNKNOWN = (
    "its name says nothing and its values could be names, places or codes; give it a role if they are not"
)


def asked_by(preset: type[Preset], proposal: Proposal, choices: Choices) -> Asked:
    """Return what a preset asks of a proposal; a role that the user chose stays."""
    asked = choices.asked
    roles, settings, rules = dict(asked.roles), dict(asked.settings), dict(asked.rules)
    for each in proposal.columns:
        rule, change, why = _changed(preset, each, unreadable=not proposal.names.most)
        if rule is None or change is None:
            continue
        rules[each.name] = f"{rule.asks} ({rule.source})"
        if change.settings is not None:
            settings[each.name] = change.settings
        elif each.role not in LEFT_OUT and each.name not in choices.roles:
            roles[each.name] = RoleProposal(Role.DROP, Ground.IDENTIFIER, f"left out: {why}")
    return replace(asked, roles=roles, settings=settings, rules=rules)


def _changed(
    preset: type[Preset], column: ColumnProposal, *, unreadable: bool
) -> tuple[Rule | None, Change | None, str]:
    """Return the first rule that concerns a column, what it makes of it, and why."""
    given = _described(column, unreadable=unreadable)
    for rule in preset.rules:
        change = rule.change(given)
        if change is not None:
            return rule, change, ", ".join(given.kinds)
    last = next((rule for rule in preset.rules if _unknown(rule)), None)
    if last is not None and unreadable and not given.kinds and _may_be_anything(column):
        return last, Change(), UNKNOWN
    return None, None, ""


def _unknown(rule: Rule) -> bool:
    return isinstance(rule, Removed) and Kind.PLACE in rule.kinds


def _may_be_anything(column: ColumnProposal) -> bool:
    facts = column.facts
    told = column.role is Role.SENSITIVE or match_listed(facts) is not None
    return facts.type is ValueType.TEXT and facts.distinct > FEW and not told


def _described(column: ColumnProposal, *, unreadable: bool) -> Column:
    section = column.settings(Role.QUASI_IDENTIFIER)
    further: dict[str, object] = {key: section[key] for key in ("type", "format", "pivot") if key in section}
    if further.get("type") != ValueType.DATE.value and column.facts.dated:
        further = {}
    kinds = kinds_of(column.facts, unreadable=unreadable)
    return Column(column.name, kinds, column.facts.texts, column.role, further)
