"""The scenarios of a config in a report: what each adversary knows, what was measured, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from anonymizer.errors import listed
from anonymizer.model.classes import Measurement
from anonymizer.model.units import RECORD
from anonymizer.privacy.base import Constraint

VOWELS = "aeiouAEIOU"
DETERMINERS = {"a", "all", "an", "any", "each", "every", "no", "some", "the"}
"""With which the name of a scenario is no noun for one adversary, as in *any three*."""


def scenario_entries(
    scenarios: Mapping[str, Mapping[str, Any]],
    constraints: Sequence[Constraint],
    measurements: Sequence[Measurement],
) -> dict[str, Any] | None:
    """Return the ``scenarios`` entry of a report; None without scenarios or measurements.

    Parameters
    ----------
    scenarios: of the config, in plain types.
    constraints: of the config, with those of scenarios.
    measurements: of these, in their order; empty without a release.
    """
    if not scenarios or not measurements:
        return None
    entries = {}
    for name, settings in scenarios.items():
        own = [each for each in constraints if each.scenario == name]
        measured = [each for of, each in zip(constraints, measurements, strict=True) if of.scenario == name]
        entries[name] = scenario_facts(name, settings, own) | {
            "constraints": [asdict(each) for each in measured]
        }
    return entries


def scenario_facts(
    name: str, settings: Mapping[str, Any], constraints: Sequence[Constraint]
) -> dict[str, Any]:
    """Return what the config says about a scenario, and the sentence about it.

    Parameters
    ----------
    constraints: of the scenario.
    """
    return {
        "sentence": _sentence(name, settings, constraints),
        "known": settings["known"],
        "sets": len(constraints[0].knowledge or ()),
        "recipient": settings.get("recipient"),
    }


def _sentence(name: str, settings: Mapping[str, Any], constraints: Sequence[Constraint]) -> str:
    """Return what the adversary of a scenario reaches at most, with the thresholds of the config."""
    made = dict.fromkeys(each.model.promise(each.attribute, each.unit or RECORD) for each in constraints)
    promises = [own for own in made if not any(other.startswith(f"{own} and ") for other in made)]
    known = knowledge_in_words(settings["known"])
    given = settings.get("recipient")
    if given is not None:
        return f"{given}, who knows {known}, {listed(promises)}."
    noun = name.replace("_", " ").replace("-", " ")
    who = f"A{'n' if noun[:1] in VOWELS else ''} {noun}"
    if noun.split()[0] in DETERMINERS:
        who = f"An adversary ({noun})"
    return f"{who} who knows {known} {listed(promises)}."


def knowledge_in_words(known: Any) -> str:
    """Return the known columns of a scenario in words.

    >>> knowledge_in_words(["age", "sex"]), knowledge_in_words({"any": 2, "of": ["age", "sex", "zip"]})
    ('age and sex', 'any 2 of age, sex and zip')
    """
    if isinstance(known, Mapping):
        return f"any {known['any']} of {listed(known['of'])}"
    return listed(known)


def of_all_knowledge(
    constraints: Sequence[Constraint], measurements: Sequence[Measurement]
) -> list[Measurement]:
    """Return the measurements of the constraints outside scenarios; none without a release."""
    if not measurements:
        return []
    return [each for of, each in zip(constraints, measurements, strict=True) if of.scenario is None]
