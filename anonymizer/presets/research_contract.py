"""Files for researchers under a contract."""

from anonymizer.presets.identifiers import EL_EMAM, HANDBOOK, IDENTIFIERS
from anonymizer.presets.preset import Preset
from anonymizer.presets.rules import LeastClass, Removed


class ResearchContract(Preset):
    """Files for researchers under a contract."""

    name = "research-contract"
    title = "Research file under a contract"
    limits = (
        "The contract has to forbid identification. Rules that need counts of the population (2 and 4) are "
        "not checked."
    )
    rules = (
        Removed(
            HANDBOOK.format("3.7, rule 1 for researchers"),
            "direct identifiers are not released",
            IDENTIFIERS,
        ),
        LeastClass(
            EL_EMAM.format("cell size of five"),
            "classes of at least 5, a risk of at most 0.2",
            5,
        ),
    )
