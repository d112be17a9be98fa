"""Arrays of original and masked numbers, as the literature on learned linkage compares them."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.linkage.pairs import Targets
from anonymizer.model.arrays import FloatArray


def targets_of(original: FloatArray, masked: FloatArray) -> Targets:
    """Return the targets of two arrays; original i belongs to masked record i.

    Equal masked records are a class. Further masked records have no original.

    Parameters
    ----------
    original: shape (records, attributes), finite, in the units of the comparison.
    masked: shape (at least as many records, attributes), in the same units.
    """
    classes, class_of, sizes = np.unique(masked, axis=0, return_inverse=True, return_counts=True)
    return Targets(
        lambda targets: original[targets, None, :] - classes[None, :, :],
        original.shape[1],
        class_of.reshape(-1)[: len(original)].astype(np.int64),
        np.ones(len(original), dtype=np.int64),
        sizes.astype(np.int64),
        np.ones(len(classes)),
    )


def deviations(original: FloatArray) -> FloatArray:
    """Return the standard deviation of each attribute, 1 if it is constant, shape (attributes,)."""
    # Rounding can make the deviation of equal numbers nonzero.
    varies = original.max(axis=0) > original.min(axis=0)
    return np.where(varies, original.std(axis=0), 1.0)


def standardised(records: FloatArray) -> FloatArray:
    """Return records less their mean, in standard deviations of their own, shape (records, attributes)."""
    found: FloatArray = (records - records.mean(axis=0)) / deviations(records)
    return found
