"""Additive noise: a normal error for every value."""

from __future__ import annotations

from anonymizer.masking.base import Given
from anonymizer.masking.noise import Noise
from anonymizer.model.arrays import FloatArray


class AdditiveNoise(Noise):
    """Adds to each value an independent normal error in proportion to its attribute's standard deviation.

    Source: Brand, Microdata protection through noise addition (Inference Control in Statistical Databases,
    LNCS 2316, 2002), masking by uncorrelated noise.

    Parameters
    ----------
    share: standard deviation of the error divided by that of the attribute, 0 or more.
    """

    def _errors(self, given: Given) -> FloatArray:
        errors: FloatArray = given.random.standard_normal(given.values.shape) * given.values.std(axis=0)
        return errors
