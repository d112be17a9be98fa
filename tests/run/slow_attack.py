"""The command with an attack that waits for a file: ``python -m tests.run.slow_attack attack ...``.

The file is named by the environment variable ``WAITS_FOR``. The attack says on stderr that it waits.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from anonymizer.attacks.base import ATTACKS, Attack, AttackResult
from anonymizer.attacks.pace import paced
from anonymizer.cli.main import main
from anonymizer.model.adversary import AdversaryView

STEPS = 3000


class Waiting(Attack):
    """Waits until a file exists; ends earlier only if the user wants that."""

    name = "waiting"
    threat = None

    def missing_requirement(self, adversary: AdversaryView) -> str | None:
        return None

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        print("waiting", file=sys.stderr, flush=True)
        for _ in paced([(1, None)] * STEPS, STEPS):
            if Path(os.environ["WAITS_FOR"]).exists():
                break
            time.sleep(0.01)
        return [self.counted(adversary, {}, Fraction(1, 2), Fraction(0))]


if __name__ == "__main__":
    ATTACKS.add(Waiting)
    sys.exit(main())
