"""Safe Harbor of the Privacy Rule of HIPAA."""

from anonymizer.presets.preset import Preset
from anonymizer.presets.rules import Kind, OldestAge, Removed, ThreeDigits, Years

SECTION = "45 CFR 164.514(b)(2)(i)({}), 14 August 2002"
GUIDANCE = "OCR guidance on de-identification, 26 November 2012"

SMALL = (
    "036",
    "059",
    "063",
    "102",
    "203",
    "556",
    "692",
    "790",
    "821",
    "823",
    "830",
    "831",
    "878",
    "879",
    "884",
    "890",
    "893",
)
"""Areas of 20,000 people or fewer by the Census of 2000, as the guidance lists them."""


def _removed(letter: str, *kinds: Kind) -> Removed:
    return Removed(SECTION.format(letter), f"{' and '.join(kinds)} are removed", kinds)


class HipaaSafeHarbor(Preset):
    """The 18 identifiers are removed; the rule itself asks for no privacy model."""

    name = "hipaa-safe-harbor"
    title = "HIPAA Safe Harbor, 45 CFR 164.514(b)(2)"
    limits = (
        "The rule asks for no privacy model; k below is the usual draft. Whether you know that somebody "
        "could still be identified, (b)(2)(ii), and what a column without a telling name or form is, you "
        "have to judge."
    )
    rules = (
        _removed("A", Kind.NAME),
        _removed("B", Kind.PLACE),
        ThreeDigits(
            f"{SECTION.format('B')}; areas by the Census of 2000, {GUIDANCE}",
            "of ZIP codes at most three digits, 000 for areas of 20,000 people or fewer",
            SMALL,
        ),
        Years(SECTION.format("C"), "of dates only the year, and none that tells an age over 89"),
        OldestAge(SECTION.format("C"), "ages over 89 as one category of age 90 or older"),
        _removed("D", Kind.PHONE),
        _removed("E", Kind.FAX),
        _removed("F", Kind.MAIL),
        _removed("G", Kind.SOCIAL_SECURITY),
        _removed("H", Kind.MEDICAL_RECORD),
        _removed("I", Kind.BENEFICIARY),
        _removed("J", Kind.ACCOUNT),
        _removed("K", Kind.LICENCE),
        _removed("L", Kind.VEHICLE),
        _removed("M", Kind.DEVICE),
        _removed("N", Kind.URL),
        _removed("O", Kind.NETWORK),
        _removed("P", Kind.BIOMETRIC),
        _removed("Q", Kind.PHOTO),
        _removed("R", Kind.NUMBER, Kind.TEXT),
    )
