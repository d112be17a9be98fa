"""How the texts of a file write numbers: with a decimal point, or with a decimal comma."""

from __future__ import annotations

import re
from dataclasses import dataclass

POINT_SIGN, COMMA_SIGN = ".", ","

_COMMA = re.compile(
    "[+-]?(?:"
    "[0-9]+,?[0-9]*(?:[eE][+-]?[0-9]+)?|,[0-9]+(?:[eE][+-]?[0-9]+)?"
    # Nothing stands between thousands behind a leading zero: ``0.500`` has a decimal point.
    "|[1-9][0-9]{0,2}(?:(?:[.][0-9]{3})+|(?:[ \u00a0\u202f][0-9]{3})+)(?:,[0-9]*)?)"
)
_BETWEEN_THOUSANDS = str.maketrans({".": None, " ": None, "\u00a0": None, "\u202f": None, ",": "."})


@dataclass(frozen=True)
class Numerals:
    """A way to write numbers.

    With a decimal comma, points or blanks may stand between thousands: ``1.234,5`` and ``1 234,5``.

    Attributes
    ----------
    decimal: what stands before the fraction, ``.`` or ``,``.
    """

    decimal: str = POINT_SIGN

    def plain(self, text: str) -> str | None:
        """Return a number with a decimal point and nothing between thousands; None for what is no number.

        With a decimal point a text is returned as it is, and whether it is a number is left to the reader.

        >>> COMMA.plain("1.234,5"), COMMA.plain("2254,25"), COMMA.plain("7"), COMMA.plain("1.5")
        ('1234.5', '2254.25', '7', None)
        """
        if self.decimal == POINT_SIGN:
            return text
        return text.translate(_BETWEEN_THOUSANDS) if _COMMA.fullmatch(text) else None

    def written(self, plain: str) -> str:
        """Return a number that has a decimal point as it is written here.

        >>> COMMA.written("39.5"), POINT.written("39.5")
        ('39,5', '39.5')
        """
        return plain.replace(POINT_SIGN, self.decimal)

    def number(self, text: str) -> float | None:
        """Return a number as it is written here as a float; None for what is none."""
        plain = self.plain(text)
        try:
            return None if plain is None else float(plain)
        except ValueError:
            return None


POINT = Numerals()
COMMA = Numerals(COMMA_SIGN)
