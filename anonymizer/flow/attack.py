"""Attacks on a release: those of the config, or all that apply."""

from __future__ import annotations

from anonymizer.attacks.base import Attack, Finding, Scene
from anonymizer.attacks.registry import ATTACKS
from anonymizer.config.model import Config
from anonymizer.flow.timed import Kind, Timed, timed

ATTACKING: Kind[Attack] = Kind("attacks", "attack", ATTACKS)


def run_attacks(config: Config, scene: Scene) -> list[Timed[Finding]]:
    """Run the attacks of a config; without any, all that apply with their defaults.

    Raises
    ------
    InputError: the config names an attack that lacks something, or a column that the release has not.
    """
    attacks = ATTACKING.chosen(config, scene)
    return timed(attacks, config.seed, lambda attack, random: attack.run(scene, random))


def not_run(config: Config, scene: Scene) -> dict[str, str]:
    """Return what each attack lacks that does not apply; nothing where the config says which to run."""
    return ATTACKING.lacking(config, scene)
