"""How many examples a test takes."""

from __future__ import annotations

import os

from hypothesis import settings

USUAL = 15
"""Examples of the profile that is not thorough."""

IN_CI = bool(os.environ.get("CI"))
"""Where the same examples are drawn every time, so that further ones soon find nothing new."""

LEAST = 6 if IN_CI else 10
"""Fewest examples of a test that takes a share."""

COSTLY = 20 if IN_CI else 100
"""Most examples of a property test that :func:`costly` is for; more than the quick tests try."""


def share(divisor: int) -> settings:
    """Return settings with a share of the profile's examples, for tests that run once per plug-in."""
    return settings(max_examples=max(settings().max_examples // divisor, LEAST))


def quickly(number: int, quick: int) -> settings:
    """Return settings with a number of examples, with fewer among the quick tests, and with a third in CI."""
    thorough = max(number // 3, quick) if IN_CI else number
    return settings(max_examples=thorough if settings().max_examples > USUAL else quick, deadline=None)


def costly(divisor: int = 1) -> settings:
    """Return settings with a share of the profile's examples, at most ``COSTLY``.

    Such a test takes 20 ms or more of processor time per example, or runs once for each of many plug-ins.
    Thirty such tests had taken almost half of the time of all property tests.
    """
    return settings(max_examples=min(max(settings().max_examples // divisor, LEAST), COSTLY))
