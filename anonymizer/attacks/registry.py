"""The attacks by name."""

from __future__ import annotations

from anonymizer.attacks.base import Attack
from anonymizer.plugins import Registry

ATTACKS: Registry[Attack] = Registry("attack", Attack, "anonymizer.attacks", "anonymizer.attacks")
