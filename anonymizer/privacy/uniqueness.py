"""Uniqueness: the share of records that are the only ones with their published values."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from anonymizer.attacks.base import Attack, KnownSets
from anonymizer.attacks.uniqueness import Uniqueness, UniquenessSettings
from anonymizer.model.features import Feature
from anonymizer.plugins import Exact
from anonymizer.privacy.base import AttackModel, RiskSettings


class UniqueSettings(KnownSets, RiskSettings):
    """Parameters of the uniqueness constraint."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of records that are unique")]


class UniquenessModel(AttackModel):
    """The share of released records that are unique by the known quasi-identifiers.

    Measured by the attack ``uniqueness``: with ``knowledge`` by these, with ``subsets: all`` by the set that
    makes most records unique. It claims no success of linking, which depends on classes of two or more too.
    Where units are counted, it is the share of those who are alone in a class of one of their records.
    """

    name = "uniqueness"
    sensitive = False
    supports = AttackModel.supports | {Feature.UNITS}
    Settings = UniqueSettings
    settings: UniqueSettings
    mitigates = frozenset()
    examples = ({"max": 0.5}, {"max": 0.1}, {"max": 0, "subsets": "all"})

    @property
    def allowed_success(self) -> None:
        """None: a share of unique records limits no other attack."""
        return None

    def attack(self) -> Attack:
        """Return the attack that counts unique records."""
        return Uniqueness(UniquenessSettings(**self.settings.model_dump(exclude={"max"}, exclude_none=True)))
