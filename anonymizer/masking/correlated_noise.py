"""Correlated noise: errors that are correlated as the attributes are."""

from __future__ import annotations

import numpy as np

from anonymizer.masking.base import Given
from anonymizer.masking.noise import Noise
from anonymizer.model.arrays import FloatArray


class CorrelatedNoise(Noise):
    """Adds to each record a normal error whose covariances are those of the attributes times a share squared.

    The correlations of the attributes are kept, as they are not by independent errors.

    Source: Kim, A method for limiting disclosure in microdata based on random noise and transformation
    (Proceedings of the ASA Section on Survey Research Methods, 1986).

    Parameters
    ----------
    share: standard deviation of the error divided by that of the attribute, 0 or more.
    """

    def _errors(self, given: Given) -> FloatArray:
        # With X = QR for the centred records, R'R are their covariances times the records.
        triangle = np.linalg.qr(
            (given.values - given.values.mean(axis=0)) / np.sqrt(len(given.values)), mode="r"
        )
        errors: FloatArray = given.random.standard_normal((len(given.values), len(triangle))) @ triangle
        return errors
