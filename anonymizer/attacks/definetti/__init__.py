"""The deFinetti attack: inferring sensitive values from correlations that the release itself reveals.

Features are attribute values: one by one, numbers in bins, or compared with generalized values. An Anatomy
release is attacked with its exact quasi-identifiers. True values serve only to score the guesses.

Posterior probabilities come from Markov chains that run until they converge. In the generative model
features depend on the sensitive value, but not on each other given it. The sensitive values of each class
or bucket are known; a chain samples their assignment to the records. Convergence is judged by potential
scale reduction and effective sample size.
"""

from anonymizer.attacks.definetti.attack import Definetti, DefinettiSettings, Features
from anonymizer.attacks.definetti.chains import LatentAssignment, SideBySide
from anonymizer.attacks.definetti.convergence import (
    effective_draws,
    scale_reduction,
    split_scale_reduction,
)
from anonymizer.attacks.definetti.groups import Groups, groups_of
from anonymizer.attacks.definetti.model import Feature, NaiveBayes, Similar
from anonymizer.attacks.definetti.sampling import Posterior, SamplerSettings, posterior
from anonymizer.attacks.definetti.scores import Expected, Score, expected_accuracy
from anonymizer.attacks.definetti.views import (
    AnatomyFeatures,
    GuessedUnits,
    View,
    compared,
    discretize,
)
from anonymizer.attacks.definetti.worlds import every_world

__all__ = [
    "AnatomyFeatures",
    "Definetti",
    "DefinettiSettings",
    "Expected",
    "Feature",
    "Features",
    "Groups",
    "GuessedUnits",
    "LatentAssignment",
    "NaiveBayes",
    "Posterior",
    "SamplerSettings",
    "Score",
    "SideBySide",
    "Similar",
    "View",
    "compared",
    "discretize",
    "effective_draws",
    "every_world",
    "expected_accuracy",
    "groups_of",
    "posterior",
    "scale_reduction",
    "split_scale_reduction",
]
