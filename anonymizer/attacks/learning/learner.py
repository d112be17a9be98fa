"""What a learner is: pairs go in, the weights that link most of them come out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from anonymizer.attacks.learning.pairs import Pairs
from anonymizer.model.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class Fit:
    """The best weights that were found.

    Attributes
    ----------
    weights: allowed in the family, with total 1, shape (weights,), float64.
    right: originals that they link rightly; nearer to a masked record than to all others, ties not counted.
    bound: proven: no weights of the family link more rightly.
    """

    weights: FloatArray
    right: int
    bound: int

    @property
    def proven(self) -> bool:
        """Whether no weights of the family link more."""
        return self.right == self.bound


class Learner(ABC):
    """Looks for the weights of a family that link most originals rightly."""

    @abstractmethod
    def fit(self, pairs: Pairs, random: np.random.Generator) -> Fit:
        """Return the best weights found, at least as good as equal ones.

        Parameters
        ----------
        random: the source of all randomness.
        """
