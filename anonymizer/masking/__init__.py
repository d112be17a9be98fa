"""Methods that mask numbers, to test record linkage on. They satisfy no privacy model.

>>> import numpy as np
>>> from anonymizer.masking import Microaggregation
>>> data = np.array([[1.0, 10.0], [2.0, 20.0], [9.0, 90.0], [8.0, 80.0]])
>>> Microaggregation(k=2).mask(data)
array([[ 1.5, 15. ],
       [ 1.5, 15. ],
       [ 8.5, 85. ],
       [ 8.5, 85. ]])
"""

from anonymizer.masking.base import Masking
from anonymizer.masking.microaggregation import IndividualRanking, Microaggregation
from anonymizer.masking.noise import AdditiveNoise, CorrelatedNoise
from anonymizer.masking.rank_swapping import RankSwapping

__all__ = [
    "AdditiveNoise",
    "CorrelatedNoise",
    "IndividualRanking",
    "Masking",
    "Microaggregation",
    "RankSwapping",
]
