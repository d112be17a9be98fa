"""Policy 0070 of the European Medicines Agency."""

from anonymizer.presets.identifiers import IDENTIFIERS
from anonymizer.presets.preset import Preset
from anonymizer.presets.rules import LeastClass, Removed


class Ema0070(Preset):
    """Policy 0070 of the European Medicines Agency."""

    name = "ema-0070"
    title = "EMA Policy 0070, anonymisation of clinical reports"
    limits = (
        "The guidance is about clinical reports; tables of patients follow it by analogy. 0.09 is usually "
        "read as 11 records; 12 is the smallest class with a risk of at most 0.09."
    )
    rules = (
        Removed(
            "EMA/90915/2016, external guidance on Policy 0070, chapter 3",
            "direct identifiers are removed",
            IDENTIFIERS,
        ),
        LeastClass(
            "EMA/90915/2016, external guidance on Policy 0070, chapter 3, 2016: threshold 0.09",
            "classes of at least 12, a risk of at most 0.09",
            12,
        ),
    )
