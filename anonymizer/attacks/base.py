"""What an attack is: what the adversary has goes in, a number with its baseline comes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from anonymizer.errors import InputError
from anonymizer.model.adversary import AnatomyRelease, MechanismKnowledge, Original, PublishedTable
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
