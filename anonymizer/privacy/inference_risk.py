"""Inference risk: the share of records whose sensitive value an attack guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from anonymizer.attacks.base import Attack, AttackResult
from anonymizer.attacks.definetti import Definetti, DefinettiSettings, Features
from anonymizer.attacks.inference import Inference, InferenceSettings
from anonymizer.errors import listed
from anonymizer.model.features import Feature, Limit
from anonymizer.model.naming import ColumnName
from anonymizer.plugins import Exact, Rule, Threat, WholeNumber
from anonymizer.privacy.base import AttackModel, TailSettings

CHAINS = 4
"""Markov chains; few, as a search attacks many candidates."""

SWEEPS = 1024
"""Maximum number of sweeps of each chain."""


class Guesser(StrEnum):
    """The attacks that may measure the model."""

    DEFINETTI = "definetti"
    INFERENCE = "inference"


class InferenceRiskSettings(TailSettings):
    """Parameters of the inference constraint: the attack, and those of its options that were given."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of values guessed correctly")]
    attack: Annotated[
        Guesser,
        Field(
            description="definetti: correlations between the classes count; inference: a model of the "
            "release guesses records that were held out of it"
        ),
    ] = Guesser.DEFINETTI
    knowledge: Annotated[
        tuple[ColumnName, ...] | None,
        Field(min_length=1, description="quasi-identifiers that the adversary knows; default: all"),
    ] = None
    features: Annotated[
        Features | None, Field(description="with definetti: as in the attack; default: exact")
    ] = None
    bins: Annotated[
        WholeNumber | None,
        Field(ge=2, description="with definetti: maximum number of bins for numbers; default: 10"),
    ] = None
    prior: Annotated[
        Exact | None, Field(gt=0, description="with definetti: concentration of the prior; default: 1")
    ] = None
    chains: Annotated[
        WholeNumber | None, Field(ge=2, le=100, description="with definetti: independent starts; default: 4")
    ] = None
    sweeps: Annotated[
        WholeNumber | None,
        Field(ge=16, description="with definetti: maximum number of sweeps per chain; default: 1024"),
    ] = None
    targets: Annotated[
        WholeNumber | None,
        Field(
            ge=2,
            description="with inference: maximum number of held-out records, or persons with theirs; "
            "default: 20000",
        ),
    ] = None

    together = (
        Rule(
            lambda own: own.foreign,
            lambda own: (
                f"{listed(own.foreign)} {'go' if len(own.foreign) > 1 else 'goes'} with attack: {own.other}; "
                f"remove {'them' if len(own.foreign) > 1 else 'it'}, or set attack: {own.other}"
            ),
        ),
    )

    @property
    def other(self) -> Guesser:
        """The attack that is not chosen."""
        return next(each for each in Guesser if each is not self.attack)

    @property
    def foreign(self) -> list[str]:
        """Names of the given options that the other attack has alone."""
        own = InferenceSettings if self.attack is Guesser.INFERENCE else DefinettiSettings
        return [name for name in self._options if name not in own.model_fields]

    @property
    def _options(self) -> dict[str, Any]:
        """The options of the attack that were given."""
        return self.model_dump(exclude={"max", "at", "attack"}, exclude_none=True)

    def built(self) -> Attack:
        """Return the attack with its options."""
        if self.attack is Guesser.INFERENCE:
            return Inference(InferenceSettings(**self._options))
        return Definetti(DefinettiSettings(**{"chains": CHAINS, "sweeps": SWEEPS} | self._options))


class InferenceRisk(AttackModel):
    """The share of records whose sensitive value is guessed correctly.

    The adversary knows the original quasi-identifiers and the class or bucket of each record and runs the
    attack ``definetti``, or knows the quasi-identifiers of records that were held out and runs ``inference``;
    the upper end of the 95% interval decides. No release is below the share of its most frequent value. It is
    the share of persons, or other units, where constraints count these. With ``at`` it is the share among the
    guesses of which the adversary is surest.
    """

    name = "inference-risk"
    sensitive = True
    supports = AttackModel.supports | {Feature.UNITS}
    Settings = InferenceRiskSettings
    settings: InferenceRiskSettings
    examples = (
        {"max": 0.9, "attack": "inference"},
        {"max": 0.5, "attack": "definetti"},
        {"max": 0.3, "attack": "inference"},
    )
    mitigates = frozenset({Threat.INFERENCE})

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """Why it cannot be measured on two tables."""
        if self.settings.attack is not Guesser.INFERENCE:
            return super().limits
        what = f"{Guesser.INFERENCE} learns from sensitive values record by record"
        remedy = f"set {Guesser.DEFINETTI}, or algorithm.name to one of {{one_table}}"
        return {**super().limits, Feature.TWO_TABLES: Limit(what, remedy)}

    def attack(self) -> Attack:
        return self.settings.built()

    def worst(self, found: Sequence[AttackResult]) -> float:
        """Return the success of the attack, or the baseline by the most frequent values if that is larger."""
        # An adversary whom the attack misleads can still guess the most frequent value.
        return round(max(max(each.high, float(each.baseline)) for each in found), 12)

    def least(self, found: Sequence[AttackResult]) -> float:
        """Return the baseline, which ``definetti`` counts; that of ``inference`` depends on its folds."""
        if self.settings.attack is Guesser.INFERENCE:
            return 0.0
        return round(max(float(each.baseline) for each in found), 12)
