"""What a release is good for: the measures of the config, or all that apply."""

from __future__ import annotations

from anonymizer.config.model import Config
from anonymizer.flow.timed import EvaluatorKind, Timed, run_timed
from anonymizer.utility.base import UTILITY_MEASURES, Comparison, Measure, UtilityFinding

MEASURING: EvaluatorKind[Measure] = EvaluatorKind("utility", "measure", UTILITY_MEASURES)


def measures_of(config: Config, comparison: Comparison) -> list[Timed[UtilityFinding]]:
    """Take the measures of a config; without any, all that apply with their defaults.

    Raises
    ------
    InputError: the config names a measure that lacks something.
    """
    measures = MEASURING.chosen(config, comparison)
    return run_timed(measures, config.seed, lambda measure, random: measure.measure(comparison, random))
