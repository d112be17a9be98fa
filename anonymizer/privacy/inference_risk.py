"""The share of people whose sensitive value is guessed from what a release teaches about its own groups."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import Attack
from anonymizer.attacks.definetti.attack import Definetti, DefinettiSettings
from anonymizer.model.adversary import AdversaryView, Threat
from anonymizer.plugins import Exact
from anonymizer.privacy.base import AttackModel, RiskSettings

CHAINS = 4
"""Independent starts: a search attacks many candidates."""

SWEEPS = 1024
"""Most sweeps of each."""


class Guesser(StrEnum):
    """The attacks that may measure the model."""

    DEFINETTI = "definetti"


class InferenceRiskSettings(RiskSettings):
    """Parameters of the inference constraint."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of values guessed correctly")]
    attack: Annotated[Guesser, Field(description="attack that guesses them")] = Guesser.DEFINETTI


class InferenceRisk(AttackModel):
    """The share of people whose sensitive value is guessed right.

    The adversary knows the class or group of everybody and their original quasi-identifiers, and runs the
    attack ``definetti``; the upper end of its 95 % interval decides. No release is below the share of its
    most frequent value.
    """

    name = "inference-risk"
    sensitive = True
    Settings = InferenceRiskSettings
    settings: InferenceRiskSettings
    mitigates = frozenset({Threat.INFERENCE})

    def attack(self) -> Attack:
        """Return the deFinetti attack."""
        return Definetti(DefinettiSettings(chains=CHAINS, sweeps=SWEEPS))

    def measured(self, scene: AdversaryView, random: np.random.Generator) -> float:
        """Return what the attack reached at most, or the most frequent value of each group if that is more.

        Parameters
        ----------
        random: the source of all randomness.
        """
        # Who is misled by what the groups teach could have guessed by counting alone.
        found = self.attack().run(scene, random)
        return round(max(float(share) for each in found for share in (each.high, each.baseline)), 12)
