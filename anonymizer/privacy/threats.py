"""The seven attacks that privacy models claim to stop.

Source: the attack-by-model table of the overview of Diaz and Garcia; models that it does not list have an
argued row on their page of the reference.
"""

from __future__ import annotations

from enum import StrEnum


class Threat(StrEnum):
    """What an adversary is after."""

    LINKAGE = "linkage"
    RE_IDENTIFICATION = "re-identification"
    HOMOGENEITY = "homogeneity"
    BACKGROUND = "background knowledge"
    SKEWNESS = "skewness"
    SIMILARITY = "similarity"
    INFERENCE = "inference"


WHO = frozenset({Threat.LINKAGE, Threat.RE_IDENTIFICATION})
"""What tells who a record is."""

DIVERSE = frozenset({Threat.HOMOGENEITY, Threat.BACKGROUND})
"""What several sensitive values in a class stop."""
