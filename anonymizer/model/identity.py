"""When two texts are one value, and when they only look alike.

A text may meet a text from another place: a key from another record, a code of ``input.missing``, a leaf of a
hierarchy file, the name of a column in a config. In a column of numbers or dates both are compared by value
(``anonymizer.data.table.key_of``). Everywhere else, they are one value if their identities are equal. Texts
with different identities may still look the same to a reader; a warning counts these.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# Characters of the property Default_Ignorable_Code_Point that are not of the category Cf.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2065\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000\U000e0002-\U000e001f\U000e0080-\U000e0fff]"
)
_SPACE = re.compile(r"\s+")
_FINAL = re.compile(r"\s*[.,;:!?…。]+$")
_THOUSANDS = re.compile(r"(?<=\d)[,'’ ](?=\d{3}(?!\d))")
_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")
_ZERO_FRACTION = re.compile(r"(?<=\d)[.,]0+(?!\d)")

WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The characters that ``str.strip`` removes, for engines that are told which."""

_DRAWN_ALIKE = str.maketrans("асеһіјкорѕтухԛԝ" + "αεικνορτυχ", "acehijkopstyxqw" + "aeikvoptux")
"""From small letters of Cyrillic and of Greek to the Latin ones that fonts draw like them."""


def text_identity(text: str) -> str:
    """Return the text by which a value that is not a number or a date is compared: trimmed, and in NFC.

    >>> text_identity(" Ko\\u0308ln") == text_identity("K\\u00f6ln")
    True
    """
    trimmed = text.strip()
    return trimmed if trimmed.isascii() else unicodedata.normalize("NFC", trimmed)


def identity_pattern(text: str) -> str:
    """Return a pattern of the texts with the identity of a text, the same in Python's ``re``, RE2 and Java.

    >>> [bool(re.fullmatch(identity_pattern("N.A"), text)) for text in ("N.A", " N.A\\t", "NNA")]
    [True, True, False]
    """
    own = text_identity(text)
    forms = sorted({own, unicodedata.normalize("NFD", own)})
    return f"[{WHITE_SPACE}]*(?:{'|'.join(map(re.escape, forms))})[{WHITE_SPACE}]*"


def appearance(text: str) -> str:
    """Return a text that is equal for texts that a reader takes for one.

    Capitals, compatible characters and ignorable ones (NFKC_Casefold), runs of white space, the kind of a
    dash, final punctuation, leading zeros, separators of thousands, and letters of other scripts that look
    like Latin ones make no difference.

    >>> appearance("Flu.") == appearance("  flu"), appearance("P007") == appearance("p7")
    (True, True)
    """
    # Source: Unicode 15, section 3.13, D146 (toNFKC_Casefold).
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text.strip()).casefold())
    if not folded.isascii():
        kept = (each for each in _IGNORABLE.sub("", folded) if unicodedata.category(each) != "Cf")
        dashed = "".join("-" if unicodedata.category(each) == "Pd" else each for each in kept)
        folded = unicodedata.normalize("NFC", dashed).translate(_DRAWN_ALIKE)
    spaced = _SPACE.sub(" ", folded).strip()
    ended = _FINAL.sub("", spaced) or spaced
    return _LEADING_ZEROS.sub("", _ZERO_FRACTION.sub("", _THOUSANDS.sub("", ended)))


def looking_alike(texts: Iterable[str]) -> list[list[str]]:
    """Return the groups of two or more texts that differ in identity and look the same, each sorted.

    Texts of one identity count once, as the smallest of them.
    """
    groups: dict[str, dict[str, str]] = {}
    for text in sorted(texts):
        groups.setdefault(appearance(text), {}).setdefault(text_identity(text), text)
    return [sorted(group.values()) for group in groups.values() if len(group) > 1]
