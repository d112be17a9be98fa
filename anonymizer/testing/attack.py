"""The conformance suite of attacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from anonymizer.adversary.candidate import adversary_of
from anonymizer.attacks.base import TAILS, Attack, AttackResult
from anonymizer.attacks.tail import number_of
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.model.table import Table
from anonymizer.testing.samples import fail, numeric_tables, tables

CLOSE = 1e-9
"""Difference of shares that are equal but for rounding."""


def check_attack(attack: Attack | type[Attack], seed: int = 0) -> int:
    """Check an attack on random releases of random tables, by values as they are and by coarser ones.

    Returns
    -------
    The number of releases that it applies to; the others lack something that it needs.

    Raises
    ------
    AssertionError: a result breaks what reports and constraints rely on.
    """
    if isinstance(attack, type):
        attack = attack(attack.Settings())
    applied = 0
    for view in views(seed):
        lacking = attack.missing_requirement(view)
        if lacking is not None:
            if not lacking.strip():
                fail(f"{attack.name}: does not say what it needs")
            continue
        applied += 1
        found, again = (attack.run(view, np.random.default_rng(seed)) for _ in range(2))
        if list(found) != list(again):
            fail(f"{attack.name}: two runs with the same randomness differ")
        for each in found:
            shares = {"success": each.success, "baseline": each.baseline, "low": each.low, "high": each.high}
            for name, own in shares.items():
                if not 0 <= own <= 1:
                    fail(f"{attack.name}: {name} is {own}; expected a share from 0 to 1")
            if not each.low - CLOSE <= each.success <= each.high + CLOSE:
                fail(f"{attack.name}: success {each.success} is not from {each.low} to {each.high}")
            if each.ceiling is not None and not each.success - CLOSE <= each.ceiling <= 1 + CLOSE:
                fail(f"{attack.name}: success {each.success} is above its ceiling {each.ceiling}")
            check_tail(attack, each)
    return applied


def views(seed: int) -> Iterator[AdversaryView]:
    """Yield what adversaries see of random tables at the lowest, the middle and the top levels."""
    for samples in (tables(seed, 6), numeric_tables(seed, 6)):
        for table in samples:
            for part in (0, 1, 2):
                yield _released(table, part)


def _released(table: Table, part: int) -> AdversaryView:
    none = np.zeros(len(table.counts), dtype=bool)
    levels = [own.minimum + (own.maximum - own.minimum) * part // 2 for own in table.quasi_identifiers]
    return adversary_of(table, FullDomainRecoding(table, levels, none, none))


def check_tail(attack: Attack, found: AttackResult) -> None:
    """The most exposed are shares in their intervals, and of no more right guesses than those about all."""
    if found.tail and set(found.tail) != set(TAILS):
        fail(f"{attack.name}: its most exposed are {sorted(found.tail)}; expected {', '.join(TAILS)}")
    for key, best in found.tail.items():
        if not best.low - CLOSE <= best.success <= best.high + CLOSE:
            fail(f"{attack.name}: among {key} {best.success} is not from {best.low} to {best.high}")
        if not (0 <= best.success <= 1 and 0 <= best.baseline <= 1 and 0 <= best.low <= best.high <= 1):
            fail(f"{attack.name}: among {key} is {best}; expected shares from 0 to 1")
        if not 1 <= best.targets <= max(found.records, 1):
            fail(f"{attack.name}: {best.targets} of {found.records} targets are {key} of them")
        if number_of(TAILS[key], found.records) == best.targets:
            right, of_all = best.success * best.targets, max(float(found.success), found.high) * found.records
            if right > of_all + CLOSE * found.records:
                fail(f"{attack.name}: {right} guesses are right among {key}, but {of_all} among all")
