"""How many examples a test takes."""

from __future__ import annotations

from hypothesis import settings


def share(divisor: int) -> settings:
    """Return settings with a share of the profile's examples, for tests that run once per plug-in."""
    return settings(max_examples=max(settings().max_examples // divisor, 10))
