"""The roles that columns are proposed by themselves."""

from __future__ import annotations

import pytest

from anonymizer.config.attribute import Role
from anonymizer.profile.detection import findings
from anonymizer.profile.proposal import RoleProposal, role_of
from tests.profile.columns import column


def verdict(name: str, shown: list[object]) -> RoleProposal:
    """Return the verdict on a column, as a file with it gets it."""
    facts = column(name, shown)
    return role_of(facts, findings(facts))


@pytest.mark.parametrize("name", ["wage", "income", "FEDTAX"])
def test_amounts_that_nearly_all_differ_are_protected_and_pointed_at(name: str) -> None:
    found = verdict(name, [f"{20_000 + number * number / 7:.2f}" for number in range(400)])
    assert found.role is Role.SENSITIVE
    assert found.doubtful
    assert "400 of them occur once" in found.reason


def test_amounts_that_many_people_have_are_protected_and_no_doubt() -> None:
    found = verdict("wage", [1_000 + 50 * (number % 40) for number in range(400)])
    assert (found.role, found.doubtful) == (Role.SENSITIVE, False)
    assert "recognised" not in found.reason
