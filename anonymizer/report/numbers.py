"""Numbers as people read them."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal


def floored(bound: float) -> str:
    """Return a lower bound with two digits, never above it.

    >>> floored(0.1899), floored(0.0446), floored(0.0)
    ('0.18', '0.044', '0')
    """
    exact = Decimal(bound)
    return (
        f"{float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 1), ROUND_FLOOR)):.2g}" if bound else "0"
    )


def percent(share: float) -> str:
    """Return a share for people, with a space that no line ends at.

    >>> percent(0), percent(0.0000339), percent(0.0213), percent(0.3579), percent(1)
    ('0\\xa0%', '0.0034\\xa0%', '2.13\\xa0%', '35.8\\xa0%', '100\\xa0%')
    >>> percent(1e-9), percent(0.9999)
    ('under\\xa00.001\\xa0%', '99.99\\xa0%')
    """
    hundredth = 100 * share
    if 0 < hundredth < 0.001:
        return "under\xa00.001\xa0%"
    digits = 3 if hundredth < 99.95 or share == 1 else 4
    text = f"{hundredth:.{digits}g}" if hundredth >= 1 else f"{hundredth:.2g}"
    return f"{text}\xa0%"
