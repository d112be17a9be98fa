"""Attacks on a release: those of the config, or all that apply."""

from __future__ import annotations

import time
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from anonymizer.attacks.base import Attack, Finding, Scene
from anonymizer.attacks.registry import ATTACKS
from anonymizer.config.model import Config
from anonymizer.errors import InputError


@dataclass(frozen=True)
class Attacked:
    """A finding with the time it took.

    Attributes
    ----------
    seconds: of the attack, those of its other findings included.
    """

    finding: Finding
    seconds: float


def run_attacks(config: Config, scene: Scene) -> list[Attacked]:
    """Run the attacks of a config; without any, all that apply with their defaults.

    Raises
    ------
    InputError: the config names an attack that lacks something, or a column that the release has not.
    """
    attacked = []
    for attack in _chosen(config, scene):
        started = time.monotonic()
        # Each attack has randomness of its own: another beside it changes nothing.
        random = np.random.default_rng([config.seed, crc32(attack.name.encode())])
        findings = attack.run(scene, random)
        seconds = time.monotonic() - started
        attacked += [Attacked(finding, seconds) for finding in findings]
    return attacked


def not_run(config: Config, scene: Scene) -> dict[str, str]:
    """Return what each attack lacks that does not apply; nothing where the config says which to run."""
    if config.attacks:
        return {}
    lacking = {name: plug_in().lacks(scene) for name, plug_in in ATTACKS.items()}
    return {name: what for name, what in lacking.items() if what is not None}


def _chosen(config: Config, scene: Scene) -> list[Attack]:
    if not config.attacks:
        every = [plug_in() for plug_in in ATTACKS.values()]
        return [attack for attack in every if attack.lacks(scene) is None]
    asked: list[Attack] = [each.build() for each in config.attacks]
    for position, attack in enumerate(asked):
        lacking = attack.lacks(scene)
        if lacking is not None:
            what = f"{attack.name} needs {lacking}, which is not there; give it, or remove the attack"
            raise InputError(f"{config.source}: attacks[{position}]: {what}")
    return asked
