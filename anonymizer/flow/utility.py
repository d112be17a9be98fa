"""What a release is good for: the measures of the config, or all that apply."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from anonymizer.config.model import Config
from anonymizer.errors import InputError
from anonymizer.utility.base import Comparison, Measure, UtilityFinding
from anonymizer.utility.registry import UTILITY_MEASURES


@dataclass(frozen=True)
class Measured:
    """A finding with the time it took.

    Attributes
    ----------
    seconds: of the measure, those of its other findings included.
    """

    finding: UtilityFinding
    seconds: float


def measures_of(config: Config, comparison: Comparison) -> list[Measured]:
    """Take the measures of a config; without any, all that apply with their defaults.

    Raises
    ------
    InputError: the config names a measure that lacks something.
    """
    measured = []
    for measure in _chosen(config, comparison):
        started = time.monotonic()
        # Each measure has randomness of its own: another beside it changes nothing.
        random = np.random.default_rng([config.seed, crc32(measure.name.encode())])
        findings = measure.measure(comparison, random)
        seconds = time.monotonic() - started
        measured += [Measured(finding, seconds) for finding in findings]
    return measured


def _chosen(config: Config, comparison: Comparison) -> Sequence[Measure]:
    if not config.utility:
        every = [plug_in() for plug_in in UTILITY_MEASURES.values()]
        return [measure for measure in every if measure.lacks(comparison) is None]
    asked: list[Measure] = [each.build() for each in config.utility]
    for position, measure in enumerate(asked):
        lacking = measure.lacks(comparison)
        if lacking is not None:
            what = f"{measure.name} needs {lacking}, which is not there; give it, or remove the measure"
            raise InputError(f"{config.source}: utility[{position}]: {what}")
    return asked
