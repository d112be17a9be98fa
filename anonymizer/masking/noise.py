"""Noise addition: independent normal errors, or errors with the correlations of the attributes."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from anonymizer.masking.base import Masking, MaskingInput, require
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

    def _masked(self, given: MaskingInput) -> FloatArray:
        return given.values + self._share * self._errors(given)

    @abstractmethod
    def _errors(self, given: MaskingInput) -> FloatArray:
        """Return errors with the standard deviations of the attributes, shape (records, attributes)."""


class AdditiveNoise(Noise):
    """Adds to each value an independent normal error in proportion to its attribute's standard deviation.

    Source: Brand, Microdata protection through noise addition (Inference Control in Statistical Databases,
    LNCS 2316, 2002), masking by uncorrelated noise.

    Parameters
    ----------
    share: standard deviation of the error divided by that of the attribute, 0 or more.
    """

    def _errors(self, given: MaskingInput) -> FloatArray:
        errors: FloatArray = given.random.standard_normal(given.values.shape) * given.values.std(axis=0)
        return errors


class CorrelatedNoise(Noise):
    """Adds to each record a normal error whose covariances are those of the attributes times a share squared.

    This keeps the correlations of the attributes, unlike independent errors.

    Source: Kim, A method for limiting disclosure in microdata based on random noise and transformation
    (Proceedings of the ASA Section on Survey Research Methods, 1986).

    Parameters
    ----------
    share: standard deviation of the error divided by that of the attribute, 0 or more.
    """

    def _errors(self, given: MaskingInput) -> FloatArray:
        # With X = QR for the centred records, R'R is their covariance matrix.
        triangle = np.linalg.qr(
            (given.values - given.values.mean(axis=0)) / np.sqrt(len(given.values)), mode="r"
        )
        errors: FloatArray = given.random.standard_normal((len(given.values), len(triangle))) @ triangle
        return errors
