"""The deFinetti attack on Adult, compared with the figures of Kifer (SIGMOD 2009)."""

from __future__ import annotations

import pytest

from anonymizer.attacks.definetti import Score
from tests.shared import shared

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("least", "absolute", "squared", "accuracy"),
    [
        (2, (530, 600), (315, 350), (0.74, 0.78)),
        (3, (920, 980), (520, 580), (0.57, 0.60)),
        (4, (1150, 1250), (670, 750), (0.40, 0.48)),
    ],
)
def test_figures_of_the_paper(
    least: int, absolute: tuple[int, int], squared: tuple[int, int], accuracy: tuple[float, float]
) -> None:
    shared("data", "adult_full", "data.csv.gz")
    from benchmarks import definetti

    frame = definetti.records()
    assert len(frame) == 30_162
    case = definetti.grouped(frame, definetti.by_size, least, seed=3)
    found = definetti.attacked(case, 2, 384, seed=4)
    score = Score.of(case.groups, found.chances, case.true)
    assert absolute[0] <= 1000 * score.absolute <= absolute[1]
    assert squared[0] <= 1000 * score.squared <= squared[1]
    assert accuracy[0] <= score.accuracy <= accuracy[1]
    blind = Score.of(case.groups, case.groups.shares, case.true)
    assert blind.accuracy == pytest.approx(1 / least, abs=1e-4)
    assert 1000 * blind.absolute == pytest.approx(2000 * (1 - 1 / least), abs=0.1)
    assert 1000 * blind.squared == pytest.approx(1000 * (1 - 1 / least), abs=0.1)
    # 30,162 is divided by 2 and 3; with 4, two people are left over.
    sizes = set(case.groups.sizes.tolist())
    assert sizes == ({4, 5} if least == 4 else {least})
