"""How many examples a test takes."""

from __future__ import annotations

from hypothesis import settings

USUAL = 50
"""Examples of the profile that is not thorough."""


def share(divisor: int) -> settings:
    """Return settings with a share of the profile's examples, for tests that run once per plug-in."""
    return settings(max_examples=max(settings().max_examples // divisor, 10))


def quickly(number: int, quick: int) -> settings:
    """Return settings with a number of examples, and with fewer among the quick tests."""
    return settings(max_examples=number if settings().max_examples > USUAL else quick, deadline=None)


def many() -> settings:
    """Return settings with 1,000 examples where the profile is thorough, for what all else rests on."""
    usual = settings().max_examples
    return settings(max_examples=1000 if usual > USUAL else usual)
