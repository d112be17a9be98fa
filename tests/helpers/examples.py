"""How many examples a test takes."""

from __future__ import annotations

from hypothesis import settings

USUAL = 50
"""Examples of the profile that is not thorough."""


COSTLY = 100
"""Most examples of a property test that :func:`costly` is for."""


def share(divisor: int) -> settings:
    """Return settings with a share of the profile's examples, for tests that run once per plug-in."""
    return settings(max_examples=max(settings().max_examples // divisor, 10))


def quickly(number: int, quick: int) -> settings:
    """Return settings with a number of examples, and with fewer among the quick tests."""
    return settings(max_examples=number if settings().max_examples > USUAL else quick, deadline=None)


def costly(divisor: int = 1) -> settings:
    """Return settings with a share of the profile's examples, at most ``COSTLY``.

    Such a test takes 20 ms or more of processor time per example, or runs once for each of many plug-ins.
    Thirty such tests had taken almost half of the time of all property tests.
    """
    return settings(max_examples=min(max(settings().max_examples // divisor, 10), COSTLY))
