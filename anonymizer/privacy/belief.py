"""Belief: the largest probability of any sensitive value for any person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import CONFIDENCE, Attack, AttackResult
from anonymizer.attacks.definetti import Definetti, DefinettiSettings, Features, GuessedUnits, Posterior, View
from anonymizer.model.features import Feature, Limit
from anonymizer.plugins import Exact, Threat
from anonymizer.privacy.base import AttackModel, RiskSettings
from anonymizer.privacy.inference_risk import CHAINS, SWEEPS


class Believer(StrEnum):
    """How the adversary forms the beliefs."""

    DEFINETTI = "definetti"
    RANDOM_WORLDS = "random-worlds"


class Over(StrEnum):
    """The persons whose beliefs are bounded."""

    EVERY = "every"


class BeliefSettings(RiskSettings):
    """Parameters of the bound on beliefs."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum probability of any value for any person")]
    attack: Annotated[
        Believer,
        Field(
            description="definetti: correlations between the classes count; random-worlds: the share of the "
            "value in the class"
        ),
    ] = Believer.DEFINETTI
    over: Annotated[Over, Field(description="every: the largest belief over all persons")] = Over.EVERY


class LargestBelief(Definetti):
    """The largest probability of any sensitive value for any person."""

    def __init__(self, believer: Believer) -> None:
        super().__init__(DefinettiSettings(chains=CHAINS, sweeps=SWEEPS))
        self._believer = believer

    def chances(self, view: View, random: np.random.Generator) -> Posterior:
        """Return the probabilities; under random worlds, the shares of the values in their group."""
        if self._believer is Believer.RANDOM_WORLDS:
            return Posterior(view.groups.shares, view.groups.shares[None, :], None)
        return super().chances(view, random)

    def _finding(
        self,
        view: View,
        found: Posterior,
        features: Features,
        name: str,
        whose: GuessedUnits | None,
    ) -> AttackResult:
        largest, blind = float(found.chances.max()), float(view.groups.shares.max())
        assert whose is None, "a belief is about a record"
        # The mean belief in a class is the share of the value, so no posterior is below it for all persons.
        high = largest if found.convergence is None else max(largest, _upper_end(found), blind)
        details = {"features": features.value, "settled": getattr(found.convergence, "converged", True)}
        knowledge = {"attributes": list(view.names), "sensitive": name}
        own = self._believer.value
        return AttackResult(
            own, knowledge, largest, blind, largest, min(high, 1.0), view.groups.people, details
        )


def _upper_end(found: Posterior) -> float:
    """Return the upper end of the interval of the probability that all chains together find largest."""
    from scipy.special import stdtrit  # noqa: PLC0415  quick start-up

    own = found.by_chain[:, found.chances.argmax()]
    reach = stdtrit(len(own) - 1, (1 + CONFIDENCE) / 2) * own.std(ddof=1) / np.sqrt(len(own))
    return float(own.mean() + reach)


class Belief(AttackModel):
    """No sensitive value has a probability above ``max`` for any person, by what the release reveals.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861),
    definition 2, with one bound for all persons and values.
    """

    name = "belief"
    sensitive = True
    Settings = BeliefSettings
    settings: BeliefSettings
    examples = (
        {"max": 0.9, "attack": "random-worlds"},
        {"max": 0.5, "attack": "definetti"},
        {"max": 0.3, "attack": "random-worlds"},
    )
    mitigates = frozenset({Threat.INFERENCE, Threat.HOMOGENEITY})

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """A belief is about a record, whoever forms it."""
        what = f"{{model}} with attack: {self.settings.attack} counts records only{{by_default}}"
        return {**super().limits, Feature.UNITS: Limit(what)}

    def attack(self) -> Attack:
        """Return the attack that finds the largest belief."""
        return LargestBelief(self.settings.attack)

    def least(self, found: Sequence[AttackResult]) -> float:
        """Return the largest share of a value in a class, which no largest belief is below."""
        return round(max(float(each.baseline) for each in found), 12)
