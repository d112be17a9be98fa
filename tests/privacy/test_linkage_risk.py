"""What the linkage constraint takes for a measure."""

from __future__ import annotations

from decimal import Decimal

from anonymizer.attacks.base import AttackResult
from anonymizer.privacy.linkage_risk import LinkageRisk, LinkageRiskSettings


def test_the_upper_end_of_an_estimate_decides() -> None:
    """Also where a guess succeeds less often, and of several attackers that of whom it is highest."""
    model = LinkageRisk(LinkageRiskSettings(max=Decimal("0.3")))
    found = [
        AttackResult("linkage", {}, success, 0.1, 0.1, high, 400)
        for success, high in ((0.25, 0.31), (0.28, 0.29))
    ]
    assert model.worst(found) == 0.31
    assert not model.holds(model.worst(found))
    assert model.holds(model.worst(found[1:]))
