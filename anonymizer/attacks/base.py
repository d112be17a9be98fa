"""The interface of attacks: adversary knowledge in, success rate with baseline out.

An attack may need links from original to released records. If targets are drawn, the success rate is an
estimate with a confidence interval.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from anonymizer.model.adversary import (
    AdversaryView,
    Links,
    Original,
    Threat,
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


class NoParameters(PlugInSettings):
    """The parameters of an attack that has none."""


class Attack(ABC):
    """An adversary with a method.

    Class attributes
    ----------------
    name: as in the config.
    Settings: its parameters.
    threat: what it measures in the table of threats, None for nothing there; every attack must say so.
    of_release_alone: whether its findings are a function of the release and its parameters, the same with
        and without original records, a recipe or randomness; an audit repeats such an attack.
    """

    name: ClassVar[str]
    Settings: ClassVar[type[PlugInSettings]] = NoParameters
    threat: ClassVar[Threat | None]
    of_release_alone: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Refuse an attack that does not say which threat it measures: a report would pass over it."""
        super().__init_subclass__()
        if isinstance(getattr(cls, "name", None), str) and not hasattr(cls, "threat"):
            raise TypeError(f"{cls.__qualname__}: has no threat; set one of Threat, or None")

    @classmethod
    def threat_of(cls, knowledge: Mapping[str, Any]) -> Threat | None:  # noqa: ARG003 - a few need it
        """Return the threat that one entry of a report measures.

        Parameters
        ----------
        knowledge: of the entry, as ``AttackResult.knowledge``.
        """
        return cls.threat

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
        bool, Field(description="row i of the release comes from row i of the original, as in masked data")
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
            return "an original with as many rows as the release, because of aligned: true"
        if not self.aligned and scene.original.truth is Truth.UNKNOWN:
            return (
                "links from original to released records: no published value stands for the values of an "
                "original record; if row i of the release comes from row i of the original, set aligned: true"
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
