"""The interface of attacks: adversary knowledge in, success rate with baseline out.

An attack may need links from original to released records. If targets are drawn, the success rate is an
estimate with a confidence interval.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from anonymizer.errors import InputError
from anonymizer.model.adversary import (
    AnatomyRelease,
    Links,
    MechanismKnowledge,
    Original,
    PublishedTable,
    Truth,
)
from anonymizer.model.arrays import IntArray
from anonymizer.plugins import Registry, Settings
from anonymizer.plugins import Settings as PlugInSettings

Share = Fraction | float
"""Of records; exact where it was counted, a float where it was estimated."""


@dataclass(frozen=True)
class AttackResult:
    """What one attack reached.

    Attributes
    ----------
    attack: its name.
    knowledge: what the adversary knew and aimed at.
    success: share of the targets.
    baseline: what a guess without the release reaches.
    low, high: ends of the 95 % interval; both are ``success`` where it was counted over all records.
    records: targets.
    details: what else was learned, in plain types.
    """

    attack: str
    knowledge: dict[str, Any]
    success: Share
    baseline: Share
    low: float
    high: float
    records: int
    details: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AdversaryView:
    """What the adversary has.

    Attributes
    ----------
    release: as its recipient counts it; of records in groups the exact tuples, without sensitive values.
    second: another release of the same people, None without one.
    original: records that the adversary holds, and what became of them; None without.
    second_original: the same records, and what became of them in the second release; None without.
    recipe: how the release was made, None where that tells nothing or is not known.
    grouped: the release where it is one of records in groups, None for a single table.
    """

    release: PublishedTable
    second: PublishedTable | None = None
    original: Original | None = None
    second_original: Original | None = None
    recipe: MechanismKnowledge | None = None
    grouped: AnatomyRelease | None = None

    @property
    def disclosing(self) -> PublishedTable:
        """The release as it discloses sensitive values: by the classes of equal tuples, or by the groups."""
        return self.release if self.grouped is None else self.grouped.values

    def aimed(self, known: Sequence[str] | None) -> tuple[str, ...] | None:
        """Return the columns of ``disclosing`` that somebody has a class by who knows some quasi-identifiers.

        Raises
        ------
        InputError: a name is no quasi-identifier, or not all are known where records are in groups.
        """
        names = self.release.known(known)
        if self.grouped is None:
            return names
        if names != self.release.names:
            raise InputError(
                f"{self.release.source}: values in groups are told to who knows the group of a target; "
                "remove knowledge from the attack, which then stands for all quasi-identifiers"
            )
        return self.disclosing.names

    def about(self, sensitive: str) -> AdversaryView:
        """Return the scene of somebody who is after one sensitive attribute.

        Parameters
        ----------
        sensitive: its name.
        """
        own = self.release.sensitive
        if sensitive not in own:
            return self
        return replace(self, release=replace(self.release, sensitive={sensitive: own[sensitive]}))


class NoParameters(PlugInSettings):
    """The parameters of an attack that has none."""


class Attack(ABC):
    """An adversary with a method.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    of_release_alone: whether its findings are a function of the release and its parameters, the same with
        and without original records, a recipe or randomness; an audit repeats such an attack.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]] = NoParameters
    of_release_alone: ClassVar[bool] = False

    def __init__(self, settings: PlugInSettings | None = None) -> None:
        self.settings = settings if settings is not None else self.Settings()

    @abstractmethod
    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """Return what the attack would need and the scene has not, None when it applies."""

    @abstractmethod
    def run(self, scene: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Attack, once for each sensitive attribute where there are several to learn.

        Parameters
        ----------
        random: the source of all randomness.

        Raises
        ------
        InputError: a parameter names a column that the release has not.
        """

    def counted(
        self,
        scene: AdversaryView,
        knowledge: dict[str, Any],
        success: Fraction,
        baseline: Fraction,
        details: dict[str, Any] | None = None,
    ) -> AttackResult:
        """Return a finding that was counted over all records of the release."""
        exact = float(success)
        return AttackResult(
            self.name, knowledge, success, baseline, exact, exact, scene.release.records, details or {}
        )


class AlignedSettings(Settings):
    """Where it is known from which record became which."""

    aligned: Annotated[
        bool, Field(description="row i of the release is row i of the original, as masked data have it")
    ] = False

    def links(self, original: Original) -> Links:
        """Return which original combination became which released one."""
        if self.aligned and original.aligned_links is not None:
            return original.aligned_links
        return original.links

    def missing_requirement(self, scene: AdversaryView) -> str | None:
        """Return why a scene does not tell, None when it does."""
        if scene.original is None:
            return "original records"
        if self.aligned and scene.original.aligned_links is None:
            return "an original with as many rows as the release, which aligned: true asks for"
        if not self.aligned and scene.original.truth is Truth.UNKNOWN:
            return (
                "to know which record became which: no published value stands for those of an original "
                "record; where row i of the release is row i of the original, say aligned: true"
            )
        return None


ATTACKS: Registry[Attack] = Registry("attack", Attack, "anonymizer.attacks", "anonymizer.attacks")

CONFIDENCE = 0.95


def clopper_pearson(successes: float, targets: int) -> tuple[float, float]:
    """Return the ends of the 95 % interval of Clopper and Pearson for a share.

    It holds its level for rare successes too, where Wilson's does not. Successes may be fractions: a tie that
    is resolved at random scatters more than its expected value, so the interval is wide enough for that one.

    Source: Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial" (Biometrika 26, 1934, doi:10.1093/biomet/26.4.404).
    """
    from scipy.special import betaincinv  # noqa: PLC0415  quick start-up

    tail, failures = (1 - CONFIDENCE) / 2, max(targets - successes, 0.0)
    low = float(betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures > 0 else 1.0
    return low, high


def draw_sample(counts: IntArray, number: int, random: np.random.Generator) -> IntArray:
    """Draw records without replacement; return how many of each kind, shape as ``counts``, int64.

    Parameters
    ----------
    counts: records of each kind.
    number: to be drawn; all of them when there are no more.
    """
    if number >= int(counts.sum()):
        return counts
    return random.multivariate_hypergeometric(counts, number, method="marginals")
