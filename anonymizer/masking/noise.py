"""What methods that add noise have in common."""

from __future__ import annotations

from abc import abstractmethod

from anonymizer.masking.base import Given, Masking, require
from anonymizer.model.arrays import FloatArray


class Noise(Masking):
    """Adds a random error to every value.

    Parameters
    ----------
    share: standard deviation of the error divided by that of the attribute, 0 or more.
    """

    def __init__(self, share: float) -> None:
        require(share >= 0, f"share = {share}; accepted: 0 or more")
        self._share = share

    def _masked(self, given: Given) -> FloatArray:
        masked: FloatArray = given.values + self._share * self._errors(given)
        return masked

    @abstractmethod
    def _errors(self, given: Given) -> FloatArray:
        """Return errors as large as the attributes' deviations, shape (records, attributes)."""
