"""Conformance suites: what every plug-in of a kind has to satisfy, for the authors of plug-ins.

>>> from anonymizer.privacy.k_anonymity import KAnonymity, KAnonymitySettings
>>> from anonymizer.testing import check_privacy_model
>>> check_privacy_model(KAnonymity(KAnonymitySettings(k=2)))
"""

from anonymizer.testing.attack import check_attack
from anonymizer.testing.engine import check_input_format, check_relation
from anonymizer.testing.loss import check_loss_metric
from anonymizer.testing.privacy import check_privacy_model
from anonymizer.testing.search import check_search_algorithm

__all__ = [
    "check_attack",
    "check_input_format",
    "check_loss_metric",
    "check_privacy_model",
    "check_relation",
    "check_search_algorithm",
]
