"""The deFinetti attack: the release itself teaches which of the values of a group go with which people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import AdversaryView, Attack, AttackResult, Share
from anonymizer.attacks.exchangeable.groups import Groups
from anonymizer.attacks.exchangeable.in_groups import AnatomyFeatures
from anonymizer.attacks.exchangeable.model import NaiveBayes
from anonymizer.attacks.exchangeable.posterior import Convergence, Posterior, SamplerSettings, posterior
from anonymizer.attacks.exchangeable.score import Score, expected_accuracy
from anonymizer.attacks.exchangeable.view import (
    FeatureSource,
    OriginalFeatures,
    Published,
    SimilarFeatures,
    View,
)
from anonymizer.attacks.knowing import KnowledgeSettings
from anonymizer.attacks.sampling import clopper_pearson
from anonymizer.errors import InputError
from anonymizer.model.adversary import Truth
from anonymizer.model.arrays import IntArray
from anonymizer.plugins import Exact, WholeNumber

VALUES = 1000
"""Most values of a sensitive attribute that are learned about."""

PAIRS = 1 << 22
"""Most pairs of a kind of people and a value of their group whose chances are held."""


UNCONFIRMED = "as the model expects"
"""The aim of an attack that is not judged by the truth."""


class Features(StrEnum):
    """What is known of people beside their group."""

    PUBLISHED = "published"
    EXACT = "exact"
    SIMILAR = "similar"


class DefinettiSettings(KnowledgeSettings):
    """What the adversary knows, what is assumed, and how long the chances are computed."""

    features: Annotated[
        Features | None,
        Field(
            description="published: what the release says of people; exact: their original values; similar: "
            "the same, as far as they are like the published ones; default: exact with original records, "
            "else published"
        ),
    ] = None
    bins: Annotated[WholeNumber, Field(ge=2, description="most bins that numbers are told apart by")] = 10
    prior: Annotated[
        Exact, Field(gt=0, description="of the Dirichlet distributions of features; 1 is uniform")
    ] = Decimal(1)
    chains: Annotated[WholeNumber, Field(ge=2, le=100, description="independent starts")] = 4
    sweeps: Annotated[WholeNumber, Field(ge=16, description="most sweeps of each chain")] = 2000
    tolerance: Annotated[
        Exact, Field(gt=1, description="potential scale reduction (R-hat) that counts as settled")
    ] = Decimal("1.05")
    draws: Annotated[WholeNumber, Field(ge=1, description="effective draws that are enough")] = 200


class Definetti(Attack):
    """Share of people whose sensitive value is guessed from what the groups teach about each other.

    A group of people with known features has a known set of sensitive values, and who has which is not
    published. Under random worlds each way to deal them out is as likely as any other. But if smokers are
    more often in groups with lung cancer, then in a group of one smoker and one other it is likelier to be
    the smoker's. People being exchangeable (de Finetti), that is what the release implies: features are
    drawn independently with unknown chances for each sensitive value, and the posterior of all ways to deal
    the values out is sampled.

    The guess is the value of highest chance, a tie of n counting 1/n. The baseline is the same under random
    worlds: the most frequent value of each group. In a class of a release without exact values all have the
    same published values, so nothing tells them apart and success is the baseline.

    The interval covers the share of so many targets (Clopper and Pearson) and what each chain by itself
    reaches.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861).
    """

    name = "definetti"
    Settings = DefinettiSettings
    settings: DefinettiSettings

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """A sensitive attribute is needed, and for exact values those of original records."""
        if not self._learned(scene):
            return f"a sensitive attribute with at most {VALUES} values"
        features = self.settings.features
        if features is Features.SIMILAR and scene.grouped is not None:
            return "published nodes that values can be like, which a release in groups has not"
        if features in (Features.EXACT, Features.SIMILAR) and scene.grouped is None and not _linked(scene):
            return f"original records that became released ones, which features: {features} asks for"
        known = scene.release.known(self.settings.knowledge)
        pairs = max(self._knowing(scene).pairs(scene, known, name) for name in self._learned(scene))
        if pairs > PAIRS:
            return (
                f"at most {PAIRS:,} pairs of people and values of their class, of which there are {pairs:,}"
            )
        return None

    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Learn about each sensitive attribute."""
        lacking = self.missing_requirement(scene)
        if lacking is not None:
            raise InputError(f"{scene.release.source}: the attack definetti needs {lacking}")
        return [self._attack(scene, name, random) for name in self._learned(scene)]

    def _learned(self, scene: AdversaryView) -> list[str]:
        sensitive = scene.disclosing.sensitive
        return [name for name, own in sensitive.items() if own.attribute.column.size <= VALUES]

    def _attack(self, scene: AdversaryView, name: str, random: np.random.Generator) -> AttackResult:
        known = scene.release.known(self.settings.knowledge)
        view = self._knowing(scene).view(scene, known, name)
        settings = self.settings
        effort = SamplerSettings(settings.chains, settings.sweeps, float(settings.tolerance), settings.draws)
        model = NaiveBayes(view.groups, [own.feature for own in view.told], float(settings.prior))
        found = posterior(view.groups, model, effort, random.spawn(settings.chains))
        return self._finding(view, found, self._features(scene), name)

    def _features(self, scene: AdversaryView) -> Features:
        if scene.grouped is not None:
            return Features.PUBLISHED
        default = Features.EXACT if _linked(scene) else Features.PUBLISHED
        return self.settings.features or default

    def _knowing(self, scene: AdversaryView) -> FeatureSource:
        if scene.grouped is not None:
            return AnatomyFeatures(self.settings.bins)
        kinds: dict[Features, FeatureSource] = {
            Features.PUBLISHED: Published(),
            Features.EXACT: OriginalFeatures(self.settings.bins),
            Features.SIMILAR: SimilarFeatures(self.settings.bins),
        }
        return kinds[self._features(scene)]

    def _finding(self, view: View, found: Posterior, features: Features, name: str) -> AttackResult:
        judged = _believed(view.groups, found) if view.true is None else _judged(view, view.true, found)
        details: dict[str, Any] = {
            "features": features.value,
            **judged.details,
            "chains": _settling(found.settling, judged.by_chain),
            "bins": {own: told.bins for own, told in zip(view.names, view.told, strict=True) if told.bins},
        }
        # A number that nothing confirms is not to be taken for one that was counted.
        aim = {"target": UNCONFIRMED} if view.true is None else {}
        knowledge = {"attributes": list(view.names), **aim, "sensitive": name}
        ends = [judged.low, judged.high, *judged.by_chain]
        success, baseline = judged.success, judged.baseline
        return AttackResult(
            self.name, knowledge, success, baseline, min(ends), max(ends), judged.targets, details
        )


@dataclass(frozen=True)
class _Judged:
    """What the chances of values are worth; the fields are those of a finding.

    Attributes
    ----------
    by_chain: success of each chain by itself.
    """

    success: Share
    baseline: Share
    low: float
    high: float
    targets: int
    by_chain: list[float]
    details: dict[str, Any]


def _judged(view: View, true: IntArray, found: Posterior) -> _Judged:
    """Judge by the truth."""
    groups, targets = view.groups, int(true.sum())
    score = Score.of(groups, found.chances, true)
    blind = Score.of(groups, groups.shares, true)
    low, high = clopper_pearson(float(score.accuracy) * targets, targets)
    if found.settling is None:
        low = high = float(score.accuracy)
    each = [float(Score.of(groups, own, true).accuracy) for own in found.by_chain]
    details: dict[str, Any] = {
        "judged_by": "the true values",
        "expected": expected_accuracy(groups, found.chances),
        "abs": 1000 * score.absolute,
        "ssq": 1000 * score.squared,
        "random_worlds": {"abs": 1000 * blind.absolute, "ssq": 1000 * blind.squared},
        "sure": {"records": score.sure, "right": score.sure_right},
    }
    return _Judged(score.accuracy, blind.accuracy, low, high, targets, each, details)


def _believed(groups: Groups, found: Posterior) -> _Judged:
    """Take the model at its word, where the truth is not at hand."""
    success = expected_accuracy(groups, found.chances)
    each = [expected_accuracy(groups, own) for own in found.by_chain]
    details = {"judged_by": "the model's own chances, which nothing confirms", "expected": success}
    baseline = expected_accuracy(groups, groups.shares)
    return _Judged(success, baseline, success, success, groups.people, each, details)


def _linked(scene: AdversaryView) -> bool:
    return scene.original is not None and scene.original.truth is not Truth.UNKNOWN


def _settling(settling: Convergence | None, accuracy: Sequence[float]) -> dict[str, Any] | None:
    """Return how far the chains agreed, None where nothing was drawn."""
    if settling is None:
        return None
    return {
        "number": len(accuracy),
        "settled": settling.settled,
        "sweeps": settling.sweeps,
        "kept": settling.kept,
        "r_hat": {"likelihood": settling.likelihood, "chances": settling.typical},
        "effective_draws": settling.draws,
        "difference": settling.difference,
        "success": list(accuracy),
    }
