"""Kinds of columns that identify people directly, and sources that several presets cite."""

from anonymizer.presets.rules import Kind

IDENTIFIERS = (
    Kind.NAME,
    Kind.PHONE,
    Kind.FAX,
    Kind.MAIL,
    Kind.SOCIAL_SECURITY,
    Kind.MEDICAL_RECORD,
    Kind.BENEFICIARY,
    Kind.ACCOUNT,
    Kind.LICENCE,
    Kind.VEHICLE,
    Kind.DEVICE,
    Kind.URL,
    Kind.NETWORK,
    Kind.BIOMETRIC,
    Kind.PHOTO,
    Kind.NUMBER,
    Kind.TEXT,
)
"""Left out under every rule."""

HANDBOOK = "Handbook on Statistical Disclosure Control, 2nd edition, August 2024, section {}"
EL_EMAM = (
    "El Emam 2013, Guide to the De-Identification of Personal Health Information, chapter Cell Size "
    "Precedents: {}"
)
