"""What every split of a class loses under t-closeness with equal distances, by exact arithmetic."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

from hypothesis import given

from tests import strategies
from tests.helpers.examples import share
from tests.helpers.partitions import Partition
from tests.helpers.problems import constraint
from tests.twins.microdata import Microdata, SensitiveSpec
from tests.twins.search import ConstraintSpec

VALUES = "abcdefgh"


def most_kept(own: Counter[str], everyone: Counter[str], t: Fraction) -> int:
    """Return the most records of a class of which enough match those that the reference expects.

    Of m kept records, at least (1 - t) m are no more than p m of each value.
    """
    total = sum(everyone.values())

    def matched(kept: int) -> Fraction:
        expected = {value: Fraction(kept * count, total) for value, count in everyone.items()}
        return sum((min(Fraction(own[value]), most) for value, most in expected.items()), Fraction(0))

    return next(kept for kept in range(sum(own.values()), -1, -1) if matched(kept) >= (1 - t) * kept)


@share(1)
@given(random=strategies.randoms())
def test_a_class_loses_what_cannot_be_kept_together(random: Random) -> None:
    cells = random.choices(VALUES, [random.choice((1, 1, 3, 9, 40)) for _ in VALUES], k=random.randint(1, 80))
    class_of = [random.choice((0, 0, 0, 1, 2)) for _ in cells]
    numbers = {own: number for number, own in enumerate(dict.fromkeys(class_of))}
    class_of = [numbers[own] for own in class_of]
    own = Partition(Microdata((), (SensitiveSpec("s"),), tuple((cell,) for cell in cells)), class_of)
    t = random.choice((0, 0.05, 0.1, 0.2, 0.25, 0.4, 0.5, 0.9))
    bound = constraint(ConstraintSpec("t-closeness", {"t": t, "distance": "equal"}, "s"), own.data)
    found = bound.certain_losses(own.classes(), own.reference("s")).tolist()
    everyone = Counter(cells)
    for number, certain in enumerate(found):
        group = Counter(cell for cell, each in zip(cells, class_of, strict=True) if each == number)
        assert certain == group.total() - most_kept(group, everyone, Fraction(str(t)))
