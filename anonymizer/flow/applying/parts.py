"""What a release that goes on consists of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from anonymizer.data.relation import Relation
from anonymizer.model.table import SensitiveAttribute


@dataclass(frozen=True, eq=False)
class Sources:
    """What a release that goes on consists of.

    Attributes
    ----------
    earlier: the earlier release.
    path: of it.
    new: the input.
    attributes: the sensitive ones, over the values of both.
    names: the quasi-identifiers and, last, the sensitive attributes.
    """

    earlier: Relation
    path: Path
    new: Relation
    attributes: tuple[SensitiveAttribute, ...]
    names: tuple[str, ...]
