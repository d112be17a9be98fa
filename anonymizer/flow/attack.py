"""Attacks on a release: those of the config, or all that apply."""

from __future__ import annotations

import numpy as np

from anonymizer.attacks.base import ATTACKS, AdversaryView, Attack, AttackResult
from anonymizer.config.model import Config
from anonymizer.errors import InputError
from anonymizer.flow.timed import EvaluatorKind, Timed, run_timed
from anonymizer.model.adversary import Original

ATTACKING: EvaluatorKind[Attack] = EvaluatorKind("attacks", "attack", ATTACKS)


def run_attacks(config: Config, scene: AdversaryView) -> list[Timed[AttackResult]]:
    """Run the attacks of a config; without any, all that apply with their defaults.

    Raises
    ------
    InputError: the config names an attack that lacks something, or a column that the release has not.
    """
    attacks = ATTACKING.chosen(config, scene)
    return run_timed(attacks, config.seed, lambda attack, random: attack.run(scene, random))


def skipped_attacks(config: Config, scene: AdversaryView) -> dict[str, str]:
    """Return what each attack lacks that does not apply; nothing where the config says which to run."""
    return ATTACKING.lacking(config, scene)


def origin_warning(config: Config, scene: AdversaryView, *, force: bool) -> str | None:
    """Return how many records of a release can stem from the original; None without an original.

    A record of the release can stem from one record of the original whose values its own stand for; no two
    stem from the same one. Where the config says that rows are aligned, row i stems from row i.

    Parameters
    ----------
    force: whether an original is accepted that lacks quasi-identifiers, or that less than half of the release
        can stem from.

    Raises
    ------
    InputError: it is such an original, and not forced.
    """
    original, release = scene.original, scene.release
    if original is None:
        return None
    lacking = [f"'{name}'" for name in release.names if name not in original.names]
    if lacking and not force:
        columns = f"column{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}"
        raise InputError(
            f"{original.source}: lacks the quasi-identifier {columns} of {release.source}; give the file "
            "that the release was made from, or compare by the others with --force (Python: force=True)"
        )
    if original.aligned_links is not None and any(
        getattr(each.settings, "aligned", False) for each in config.attacks
    ):
        return f"row i of {release.source} is taken to stem from row i of {original.source} (aligned: true)"
    stemming, records = original.links.records, release.records
    if 2 * stemming < records and not force:
        raise InputError(
            f"{original.source}: only {stemming:,} of {records:,} records of {release.source} can stem from "
            f"its records; give the file that the release was made from{_if_masked(original)}, or use this "
            "one with --force (Python: force=True)"
        )
    return (
        f"{stemming:,} of {records:,} records of {release.source} can stem from a record of {original.source}"
    )


def _if_masked(original: Original) -> str:
    """Return what would do where the release has numbers that no original has, such as means."""
    masked = any((~np.isnan(each.low) & (each.sizes == 0)).any() for each in original.meanings)
    if not masked or original.aligned_links is None:
        return ""
    return ", or set aligned: true in the attacks if row i of the release is row i of the original"
