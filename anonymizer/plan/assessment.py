"""What is asked about a release once it is found: attacks, utility, findings and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonymizer.attacks.base import Attack
from anonymizer.config.exposure import ExposureSettings
from anonymizer.config.model import Config
from anonymizer.errors import InputError
from anonymizer.exposure.measure import Thresholds

if TYPE_CHECKING:
    from anonymizer.utility.base import Measure


@dataclass(frozen=True, eq=False)
class Assessment:
    """What is measured of the release.

    Attributes
    ----------
    config: name of the config in messages.
    attacks, utility: run on the release, in the order of the config.
    unasked: whether the config leaves the choice of attacks to the run.
    exposure: thresholds of findings about the release.
    acknowledged: warnings and findings that somebody has read.
    preset: name of the rule that the release follows; None without one.
    seed: of whatever is random.
    """

    config: str
    attacks: tuple[Attack, ...]
    utility: tuple[Measure, ...]
    unasked: bool
    exposure: Thresholds
    acknowledged: tuple[str, ...]
    preset: str | None
    seed: int

    @property
    def weights(self) -> list[str]:
        """The columns of sampling weights in the settings of attacks, sorted."""
        return sorted({each.named.weights for each in self.attacks if each.named.weights is not None})

    @property
    def foreign_names(self) -> dict[str, str]:
        """The columns of the config by the names that the settings of attacks give them in other files.

        Raises
        ------
        InputError: one name is given to two columns.
        """
        found: dict[str, str] = {}
        for each in self.attacks:
            for name, foreign in each.named.columns.items():
                if found.setdefault(foreign, name) != name:
                    both = f"'{found[foreign]}' and '{name}'"
                    raise InputError(
                        f"{self.config}: attacks: columns: '{foreign}' is the name of {both}; accepted: "
                        "another name for each"
                    )
        return found

    @property
    def key(self) -> str | None:
        """The column of keys in the settings of attacks; None without one.

        Raises
        ------
        InputError: there are several.
        """
        keys = sorted({each.named.key for each in self.attacks if each.named.key is not None})
        if len(keys) > 1:
            every = ", ".join(f"'{each}'" for each in keys)
            raise InputError(f"{self.config}: attacks: key: {every}; accepted: the same for all attacks")
        return next(iter(keys), None)


def assessment_of(config: Config) -> Assessment:
    """Return what a config asks about its release."""
    return Assessment(
        config=config.source,
        attacks=tuple(each.build() for each in config.attacks or ()),
        unasked=config.attacks is None,
        utility=tuple(each.build() for each in config.utility),
        exposure=(config.exposure or ExposureSettings()).thresholds(),
        acknowledged=tuple(each.finding for each in config.acknowledge or ()),
        preset=config.preset,
        seed=config.seed,
    )
