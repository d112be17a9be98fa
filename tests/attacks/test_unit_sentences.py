"""What the attacks on classes say of persons who may have several records."""

from __future__ import annotations

import pytest

from anonymizer.attacks.base import ATTACKS, LINKS, USED

KNOWN = {"attributes": ["age", "sex"], "sensitive": "illness"}
FURTHER = {"homogeneity": {}, "background": {"facts": 1}, "skewness": {}, "similarity": {"level": 1}}


@pytest.mark.parametrize("name", FURTHER)
@pytest.mark.parametrize("linked", [{}, {LINKS: USED}])
@pytest.mark.parametrize("unit", ["person", "household"])
def test_of_units_all_records_are_known_and_one_that_tells_is_enough(
    name: str, linked: dict[str, str], unit: str
) -> None:
    known = {**KNOWN, **FURTHER[name]}
    said = ATTACKS[name].sentence({**known, **linked, "unit": unit}, "3 %", "1 %")
    assert said.startswith(f"An adversary who knows age and sex of every record of a {unit} ")
    assert f" for 3 % of the {unit}s, in at least one of their records; " in said
    alone = ATTACKS[name].sentence(known, "3 %", "1 %")
    assert alone.startswith("An adversary who knows a person's age and sex ")
    assert " for 3 % of the records; " in alone
