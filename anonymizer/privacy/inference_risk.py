"""Inference risk: the share of records whose sensitive value the deFinetti attack guesses."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from anonymizer.attacks.base import Attack, AttackResult
from anonymizer.attacks.definetti import Definetti, DefinettiSettings
from anonymizer.model.adversary import Threat
from anonymizer.plugins import Exact
from anonymizer.privacy.base import AttackModel, RiskSettings

CHAINS = 4
"""Markov chains; few, as a search attacks many candidates."""

SWEEPS = 1024
"""Maximum number of sweeps of each chain."""


class Guesser(StrEnum):
    """The attacks that may measure the model."""

    DEFINETTI = "definetti"


class InferenceRiskSettings(RiskSettings):
    """Parameters of the inference constraint."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of values guessed correctly")]
    attack: Annotated[Guesser, Field(description="attack that guesses them")] = Guesser.DEFINETTI


class InferenceRisk(AttackModel):
    """The share of records whose sensitive value is guessed correctly.

    The adversary knows the original quasi-identifiers and the class or bucket of each record, and runs the
    attack ``definetti``; the upper end of its 95% interval decides. No release is below the share of its most
    frequent value.
    """

    name = "inference-risk"
    sensitive = True
    Settings = InferenceRiskSettings
    settings: InferenceRiskSettings
    mitigates = frozenset({Threat.INFERENCE})

    def attack(self) -> Attack:
        """Return the deFinetti attack."""
        return Definetti(DefinettiSettings(chains=CHAINS, sweeps=SWEEPS))

    def worst(self, found: Sequence[AttackResult]) -> float:
        """Return the success of the attack, or the baseline by the most frequent values if that is larger."""
        # An adversary whom the attack misleads can still guess the most frequent value.
        return round(max(float(share) for each in found for share in (each.high, each.baseline)), 12)
