"""What a benchmark runs on: a table of a seed and a size, its columns, and named constraints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

DATA = "data.csv"
"""Name of the file of a table, in a folder of its own."""

ATTACKS = ("linkage", "homogeneity", "inference", "uniqueness", "vulnerability")


class Suite(ABC):
    """Tables of one kind, with a config.

    Class attributes
    ----------------
    name: on the command line.
    sizes: what the size of a table depends on, with the usual values.
    most: the largest values of these.
    first_seed: of the first repetition; the others have the next ones.
    budget: of each search. Without one the work is counted, so that the same seed gives the same loss.
    sensitive: the sensitive attribute.
    """

    name: ClassVar[str]
    sizes: Mapping[str, int]
    most: ClassVar[Mapping[str, int]] = {"records": 10_000_000, "columns": 500}
    first_seed: ClassVar[int] = 1
    budget: ClassVar[Mapping[str, float]] = {}
    sensitive: str

    @abstractmethod
    def attributes(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return the columns with their roles and hierarchies."""

    @abstractmethod
    def write(self, path: Path, seed: int, sizes: Mapping[str, int]) -> None:
        """Write the table of a seed as CSV; the same seed gives the same bytes."""

    def config(self, seed: int, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return a config for the table of a seed in a file ``DATA``."""
        return {
            "input": {"path": DATA, "missing": ["?", ""]},
            "attributes": self.attributes(sizes),
            "constraints": self.constraints[self.usual],
            "suppression": {"limit": 0.02},
            "acknowledge": ["rows-are-persons"],
            "attacks": list(ATTACKS),
            "budget": dict(self.budget),
            "seed": seed,
        }

    usual: ClassVar[str] = "k+l"
    """Constraints of a run if none are named."""

    @property
    def constraints(self) -> dict[str, list[dict[str, Any]]]:
        """The constraints that a benchmark may have, by name."""
        k = {"model": "k-anonymity", "k": 5}
        several = {
            "l": {"model": "l-diversity", "l": 3, "attribute": self.sensitive},
            "t": {"model": "t-closeness", "t": 0.4, "attribute": self.sensitive, "distance": "equal"},
            "beta": {"model": "enhanced-beta-likeness", "beta": 2, "attribute": self.sensitive},
            "delta": {
                "model": "delta-disclosure",
                "delta": 1.5,
                "absent": "ignored",
                "attribute": self.sensitive,
            },
        }
        linkage = {"model": "linkage-risk", "max": 0.1, "linkage": "learned"}
        return {
            "k": [k],
            **{f"k+{name}": [k, own] for name, own in several.items()},
            "k+linkage": [k, linkage],
            "all": [k, *several.values()],
        }
