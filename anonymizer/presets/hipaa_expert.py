"""Expert determination of the Privacy Rule of HIPAA, with a convention for "very small"."""

from anonymizer.presets.identifiers import IDENTIFIERS
from anonymizer.presets.preset import Preset
from anonymizer.presets.rules import LeastClass, Removed


class HipaaExpert(Preset):
    """Expert determination of the Privacy Rule of HIPAA, with a convention for "very small"."""

    name = "hipaa-expert"
    title = "HIPAA expert determination, 45 CFR 164.514(b)(1)"
    limits = (
        "The rule asks an expert for a very small risk and names no number; nor does the OCR "
        "guidance of 26 November 2012. 11 is a convention. An expert has to determine the risk "
        "and document it, (b)(1)(ii)."
    )
    rules = (
        Removed(
            "45 CFR 164.514(b)(1), 14 August 2002",
            "direct identifiers are removed",
            IDENTIFIERS,
        ),
        LeastClass(
            "CMS cell size suppression policy, version of 26 January 2024: no cell of 1 to 10",
            "classes of at least 11, a risk of at most 1/11 = 0.09",
            11,
        ),
    )
