"""The deFinetti attack: inferring sensitive values from correlations that the release itself reveals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from anonymizer.attacks.base import (
    TAILS,
    Attack,
    AttackResult,
    KnowledgeSettings,
    Share,
    UnitSettings,
    clopper_pearson,
    subject_of,
    targets_of,
    unit_is_known,
)
from anonymizer.attacks.definetti.groups import Groups
from anonymizer.attacks.definetti.model import NaiveBayes
from anonymizer.attacks.definetti.sampling import Convergence, Posterior, SamplerSettings, posterior
from anonymizer.attacks.definetti.scores import (
    Expected,
    Score,
    attainable,
    best_chance,
    expected_accuracy,
    ranked,
    ranked_by_others,
)
from anonymizer.attacks.definetti.views import (
    AnatomyFeatures,
    FeatureSource,
    GuessedUnits,
    OriginalFeatures,
    Published,
    SimilarFeatures,
    View,
)
from anonymizer.attacks.definetti.worlds import every_world
from anonymizer.attacks.tail import Ranking, exposing
from anonymizer.model.adversary import AdversaryView, Truth
from anonymizer.model.arrays import FloatArray, IntArray
from anonymizer.model.features import NO_LIMITS, Limit
from anonymizer.model.features import Feature as Option
from anonymizer.plugins import Exact, Threat, WholeNumber, needs

VALUES = 1000
"""Maximum number of values of an inferred attribute."""

PAIRS = 1 << 22
"""Maximum number of pairs of a kind of record and a value of its group."""


SWEEPS, LEAST = 2000, 128
"""Default maximum number of sweeps of a chain, and the number that no table is too large for."""

WORK = 1 << 30
"""Pairs that all sweeps of all chains visit by default: half a minute of one processor."""


def affordable_sweeps(pairs: int) -> int:
    """Return the default maximum number of sweeps.

    Parameters
    ----------
    pairs: of records and values that one sweep of all chains visits.

    >>> affordable_sweeps(4 * 90_000), affordable_sweeps(4 * 400_000), affordable_sweeps(4 * (1 << 22))
    (2000, 671, 128)
    """
    return min(SWEEPS, max(WORK // max(pairs, 1), LEAST))


UNCONFIRMED = "as the model expects"
"""The aim in the result of an attack without known true values."""


class Features(StrEnum):
    """The features of records in their groups."""

    PUBLISHED = "published"
    EXACT = "exact"
    SIMILAR = "similar"


class DefinettiSettings(KnowledgeSettings, UnitSettings):
    """The adversary's knowledge, the prior and the effort of sampling."""

    features: Annotated[
        Features | None,
        Field(
            description="published: the released values; exact: the original values; similar: the original "
            "values, compared through the published ones; default: exact with original records, "
            "else published"
        ),
    ] = None
    bins: Annotated[WholeNumber, Field(ge=2, description="maximum number of bins for numeric attributes")] = (
        10
    )
    prior: Annotated[
        Exact, Field(gt=0, description="concentration of the Dirichlet prior of features; 1 is uniform")
    ] = Decimal(1)
    chains: Annotated[WholeNumber, Field(ge=2, le=100, description="independent starts")] = 4
    sweeps: Annotated[
        WholeNumber | None,
        Field(
            ge=16,
            description="maximum number of sweeps per chain; default: 2000, fewer where the release has many "
            "pairs of records and values of their class",
        ),
    ] = None
    tolerance: Annotated[
        Exact,
        Field(gt=1, description="largest R-hat (potential scale reduction factor) accepted as converged"),
    ] = Decimal("1.05")
    draws: Annotated[
        WholeNumber, Field(ge=1, description="effective sample size at which sampling stops")
    ] = 200


class Definetti(Attack):
    """Share of records whose sensitive value is guessed from correlations between groups.

    The release shows the features and the sensitive values of each group (class or bucket), but not which
    record has which value. Under random worlds all assignments are equally likely. But if smokers are more
    often in groups with lung cancer, then in a group of one smoker and one other the smoker is more likely to
    have it. For exchangeable people (de Finetti) the release implies this: features are drawn independently
    with unknown probabilities given each sensitive value, and the posterior of all assignments is sampled.

    The guess is the most probable value; a tie of n counts 1/n. The baseline is the same guess under random
    worlds: the most frequent value of each group. With generalized features all records of a class are equal,
    so success is the baseline.

    Where it is known whose the records are, targets are persons, or other units, of whom the value of a
    record is guessed; records of one person in one class with equal features share a guess. Where some have
    several records, the baseline is at least the share of those who have the most common value.

    The interval covers the share of so many targets (Clopper and Pearson) and the success of each chain; its
    upper end is at least the baseline, as nobody has to trust correlations.

    Source: Kifer, "Attacks on Privacy and deFinetti's Theorem" (SIGMOD 2009, doi:10.1145/1559845.1559861).
    """

    name = "definetti"
    threat = Threat.INFERENCE
    blind = "the success from the class alone"
    Settings = DefinettiSettings
    settings: DefinettiSettings
    examples = ({"sensitive": "illness"},)
    requires = (
        needs(
            f"a sensitive attribute with at most {VALUES} values",
            lambda own, adversary: own._learned(adversary),
        ),
        needs(
            "generalized values, which an Anatomy release does not have",
            lambda own, adversary: own.settings.features is not Features.SIMILAR or adversary.grouped is None,
        ),
        needs(
            "original records that can be matched to released ones, because of features: "
            "{own.settings.features}",
            lambda own, adversary: (
                own.settings.features not in (Features.EXACT, Features.SIMILAR)
                or adversary.grouped is not None
                or _linked(adversary)
            ),
        ),
        lambda own, adversary: own._too_many(adversary),
        unit_is_known,
    )

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how often the value that the release suggests most is right."""
        expected = "is expected to guess" if knowledge.get("target") == UNCONFIRMED else "guesses"
        guesses = f"{expected} {knowledge['sensitive']} correctly in {success} of cases"
        who = f"{subject_of(knowledge)} and learns from all classes of the release"
        if "unit" in knowledge:
            guesses = f"guesses {knowledge['sensitive']} correctly"
            whom = f"for {success} of the {targets_of(knowledge)} (in at least one record)"
            blind = "guessing from each record's class alone, or the same value for everybody,"
            return f"{who} {guesses} {whom}; {blind} is right for at most {guess}."
        return f"{who} {guesses}; from the person's class alone in {guess}."

    @property
    def limits(self) -> Mapping[Option, Limit]:
        """Original values are compared by default."""
        if self.settings.features is not None:
            return NO_LIMITS
        return {
            Option.OUT_OF_CORE: Limit(
                "attacks[{place}]: {attack} of original values (accepted: features: published)"
            )
        }

    def _too_many(self, adversary: AdversaryView) -> str | None:
        """Return the words for more pairs than the attack takes; None if there are fewer."""
        known = adversary.release.known(self.settings.knowledge)
        pairs = max(
            self._knowing(adversary).pairs(adversary, known, name) for name in self._learned(adversary)
        )
        if pairs <= PAIRS:
            return None
        return f"at most {PAIRS:,} pairs of records and values of their class (there are {pairs:,})"

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        self.require(adversary)
        return [self._attack(adversary, name, random) for name in self._learned(adversary)]

    def _learned(self, adversary: AdversaryView) -> list[str]:
        sensitive = adversary.disclosing.sensitive
        return [name for name, own in sensitive.items() if own.attribute.column.size <= VALUES]

    def _attack(self, adversary: AdversaryView, name: str, random: np.random.Generator) -> AttackResult:
        view = self.view(adversary, name)
        owned = adversary.owned_by(self.settings.unit)
        whose = None if owned is None else view.of_units(adversary, owned)
        return self._finding(view, self.chances(view, random), self.features(adversary), name, whose)

    def view(self, adversary: AdversaryView, name: str) -> View:
        """Return the records in their groups, with what the adversary knows of each."""
        known = adversary.release.known(self.settings.knowledge)
        return self._knowing(adversary).view(adversary, known, name)

    def chances(self, view: View, random: np.random.Generator) -> Posterior:
        """Return the posterior probabilities: exact for a small table, else sampled."""
        settings = self.settings
        sweeps = settings.sweeps or affordable_sweeps(int(view.groups.first[-1]) * settings.chains)
        effort = SamplerSettings(
            settings.chains, sweeps, float(settings.tolerance), settings.draws, precise=view.true is None
        )
        features, prior = [own.feature for own in view.codings], float(settings.prior)
        exact = every_world(view.groups, features, prior)
        if exact is not None:
            return exact
        model = NaiveBayes(view.groups, features, prior)
        return posterior(view.groups, model, effort, random.spawn(settings.chains))

    def features(self, adversary: AdversaryView) -> Features:
        """Return the features of records that the attack compares."""
        if adversary.grouped is not None:
            return Features.PUBLISHED
        default = Features.EXACT if _linked(adversary) else Features.PUBLISHED
        return self.settings.features or default

    def _knowing(self, adversary: AdversaryView) -> FeatureSource:
        if adversary.grouped is not None:
            return AnatomyFeatures(self.settings.bins)
        kinds: dict[Features, type[FeatureSource]] = {
            Features.PUBLISHED: Published,
            Features.EXACT: OriginalFeatures,
            Features.SIMILAR: SimilarFeatures,
        }
        return kinds[self.features(adversary)](self.settings.bins)

    def _finding(
        self, view: View, found: Posterior, features: Features, name: str, whose: GuessedUnits | None
    ) -> AttackResult:
        judged = (
            _believed(view.groups, found) if view.true is None else _judged(view, view.true, found, whose)
        )
        details: dict[str, Any] = {
            "features": features.value,
            **judged.details,
            "chains": _chains(found.convergence, judged.by_chain),
            "bins": {own: each.bins for own, each in zip(view.names, view.codings, strict=True) if each.bins},
        }
        # The aim marks a success that is only expected, not counted.
        aim = {"target": UNCONFIRMED} if view.true is None else {}
        whom = {} if whose is None else {"unit": whose.owned.unit}
        knowledge = {"attributes": list(view.names), **aim, "sensitive": name, **whom}
        ends = [judged.low, judged.high, *(judged.by_chain if view.true is not None else ())]
        success, baseline = judged.success, judged.baseline
        # Where correlations mislead, a limit is to hold for those who guess from the class alone, too.
        high = max(*ends, float(baseline))
        result = AttackResult(
            self.name, knowledge, success, baseline, min(ends), high, judged.targets, details
        )
        if view.true is None:
            return replace(_expected_tail(result, view.groups, found), ceiling=1.0)
        own, blind = (
            ranked(view.groups, each, view.true) if whose is None else whose.ranked(each)
            for each in (found.chances, view.groups.shares)
        )
        alone = whose is None or len(whose.entries) == whose.number
        ceiling = max(attainable(view.groups, view.true), float(success)) if alone else 1.0
        return replace(exposing(result, own, blind), ceiling=ceiling)


@dataclass(frozen=True)
class _Judged:
    """The fields of a result that are judged.

    Attributes
    ----------
    by_chain: success of each chain alone.
    """

    success: Share
    baseline: Share
    low: float
    high: float
    targets: int
    by_chain: list[float]
    details: dict[str, Any]


def _judged(view: View, true: IntArray, found: Posterior, whose: GuessedUnits | None) -> _Judged:
    """Judge by the true values, of records or of units."""
    groups, targets = view.groups, int(true.sum()) if whose is None else whose.number

    def success(chances: FloatArray) -> Share:
        return Score.of(groups, chances, true).accuracy if whose is None else whose.success(chances)

    score, blind = (Score.of(groups, chances, true) for chances in (found.chances, groups.shares))
    accuracy = success(found.chances)
    baseline = success(groups.shares) if whose is None else whose.baseline
    low, high = clopper_pearson(float(accuracy) * targets, targets)
    if found.convergence is None:
        low = high = float(accuracy)
    each = [float(success(own)) for own in found.by_chain]
    # The model expects how many records are guessed, not of how many persons one is.
    expected = {"expected": Expected.of(groups, found.by_chain).success} if whose is None else {}
    details: dict[str, Any] = {
        "judged_by": "the true values",
        **expected,
        "abs": 1000 * score.absolute,
        "ssq": 1000 * score.squared,
        "random_worlds": {"abs": 1000 * blind.absolute, "ssq": 1000 * blind.squared},
        "sure": {"records": score.sure, "right": score.sure_right},
    }
    return _Judged(accuracy, baseline, low, high, targets, each, details)


def _believed(groups: Groups, found: Posterior) -> _Judged:
    """Judge by the model's own probabilities, as the true values are unknown."""
    expected = Expected.of(groups, found.by_chain)
    details = {"judged_by": "the model's own chances, which nothing confirms", "expected": expected.success}
    baseline = expected_accuracy(groups, groups.shares)
    low, high = expected.low, expected.high
    if found.convergence is None:
        low = high = expected.success
    return _Judged(expected.success, baseline, low, high, groups.people, expected.by_chain, details)


def _expected_tail(result: AttackResult, groups: Groups, found: Posterior) -> AttackResult:
    """Return a result with the success that chains expect among those of whom the others are surest."""
    every = ranked_by_others(groups, found.by_chain)
    most = Ranking.promised(best_chance(groups, found.chances), groups.counts)
    blind = Ranking.promised(best_chance(groups, groups.shares), groups.counts)
    tail = {}
    for key, own in exposing(result, most, blind).tail.items():
        chances = [float(each.success(TAILS[key])) for each in every]
        success, low = max(float(np.mean(chances)), float(own.baseline)), float(own.baseline)
        ends = (success, success) if found.convergence is None else (low, max(own.high, *chances, success))
        tail[key] = replace(own, success=success, low=ends[0], high=ends[1], ends=ends)
    return replace(result, tail=tail)


def _linked(adversary: AdversaryView) -> bool:
    return adversary.original is not None and adversary.original.truth is not Truth.UNKNOWN


def _chains(found: Convergence | None, accuracy: Sequence[float]) -> dict[str, Any] | None:
    """Return the convergence of the chains for the report, None if nothing was drawn."""
    if found is None:
        return None
    return {
        "number": len(accuracy),
        "settled": found.converged,
        "sweeps": found.sweeps,
        "kept": found.kept,
        "r_hat": {"likelihood": found.likelihood, "chances": found.typical},
        "effective_draws": found.draws,
        "difference": found.difference,
        "success": list(accuracy),
    }
