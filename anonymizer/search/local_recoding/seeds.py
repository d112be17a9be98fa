"""Recodings found elsewhere as assignments: every class is published at its lowest common ancestors."""

from __future__ import annotations

import numpy as np

from anonymizer.model.recoding import Recoding
from anonymizer.search.local_recoding.assignment import SUPPRESSED, Assignment
from anonymizer.search.local_recoding.ground import LocalProblem


def assignment_of(ground: LocalProblem, recoding: Recoding) -> Assignment:
    """Return the classes of a recoding of the ground's table, or of that table split."""
    positions = range(ground.trees.attributes)
    published = np.stack([recoding.cells(position).codes for position in positions], axis=1)
    labels = np.unique(published, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    owner = recoding.owners
    return Assignment.of(
        ground,
        ground.atoms.atom_of[owner],
        recoding.table.counts,
        np.where(recoding.suppressed, SUPPRESSED, labels),
    )
