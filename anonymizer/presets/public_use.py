"""Public use files, by a convention of statistical offices."""

from anonymizer.presets.identifiers import EL_EMAM, HANDBOOK, IDENTIFIERS
from anonymizer.presets.preset import Preset
from anonymizer.presets.rules import Kind, LeastClass, Removed


class PublicUse(Preset):
    """Public use files, by a convention of statistical offices."""

    name = "public-use"
    title = "Public use file"
    limits = (
        "Rules that need counts of the population (7 and 8), and the ban of sensitive variables (5), are not "
        "checked."
    )
    rules = (
        Removed(
            HANDBOOK.format("3.7, rule 2 for the general public"),
            "direct identifiers are not released",
            IDENTIFIERS,
        ),
        Removed(
            HANDBOOK.format("3.7, rule 2 for the general public"),
            "regional variables, nationality, country of birth and ethnicity are not released",
            (Kind.PLACE, Kind.STATE, Kind.POSTAL_CODE, Kind.ORIGIN),
        ),
        Removed(
            HANDBOOK.format("3.2"),
            "dates of birth are not released",
            (Kind.BIRTH,),
        ),
        LeastClass(
            EL_EMAM.format("11 for public release in the United States"),
            "classes of at least 11",
            11,
        ),
    )
