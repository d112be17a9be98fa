"""How the findings of attacks are lined up for the terminal."""

from __future__ import annotations

from typing import Any

from anonymizer.cli.summary import attack_lines


def entry(attack: str, attribute: str) -> dict[str, Any]:
    """Return a finding about an attribute."""
    numbers = {"success": 0.25, "baseline": 0.125, "low": 0.2, "high": 0.3}
    return {"attack": attack, "knowledge": {"measure": "sdid", "attribute": attribute}, **numbers}


def test_numbers_stand_in_a_column_however_long_an_aim_is() -> None:
    shown = list(
        attack_lines([entry("interval", "a"), entry("interval", "a column of a very long name indeed")])
    )
    assert len({line.index("0.25") for line in shown}) == 1
    assert len({len(line) for line in shown}) == 1
    assert all("0.25   baseline 0.125   95% interval 0.2 to 0.3" in line for line in shown)


def test_no_findings_are_no_lines() -> None:
    assert list(attack_lines([])) == []
