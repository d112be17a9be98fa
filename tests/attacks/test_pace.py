"""How long an attack takes is said once its first steps are measured; it ends when the user wants that."""

from __future__ import annotations

import pytest

from anonymizer.attacks.pace import AttackStopped, Pace, follow, paced, rounded, step


class Clock:
    """Seconds that pass as a test says."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def said_of(steps: int, seconds: float, *, at_most: bool = False) -> list[str]:
    """Return what is said of a loop whose steps take so many seconds."""
    clock, said = Clock(), list[str]()
    with follow(Pace(("definetti", 30_000), said.append, lambda: False, clock)):
        for done in range(steps):
            step(said, done, steps, at_most=at_most)
            clock.now += seconds
    return said


def test_the_first_steps_give_the_estimate() -> None:
    assert said_of(100, 0.4) == ["definetti: about 40 s for 30,000 records"]
    assert said_of(1000, 0.4) == ["definetti: about 7 min for 30,000 records"]
    assert said_of(100, 0.4, at_most=True) == ["definetti: at most 40 s for 30,000 records"]


def test_what_takes_less_than_ten_seconds_has_none() -> None:
    assert said_of(100, 0.09) == []
    assert said_of(1, 60) == []


def test_each_loop_is_measured_from_its_own_beginning() -> None:
    clock, said = Clock(), list[str]()
    with follow(Pace(("linkage", 1000), said.append, lambda: False, clock)):
        quick, slow = object(), object()
        step(quick, 0, 2)
        clock.now += 0.5
        step(slow, 50, 60)
        clock.now += 2
        step(slow, 51, 60)
    assert said == ["linkage: about 20 s for 1,000 records"]


def test_the_sizes_of_steps_count() -> None:
    clock, said = Clock(), list[str]()
    with follow(Pace(("linkage", 1000), said.append, lambda: False, clock)):
        for item in paced([(900, "long"), (100, "short")], 1000):
            clock.now += 9 if item == "long" else 1
    assert said == []


def test_an_attack_ends_at_its_next_step() -> None:
    done: list[str] = []
    items = paced([(1, "first"), (1, "second")], 2)
    with follow(Pace(("linkage", 9), done.append, lambda: bool(done))):
        done.append(next(items))
        with pytest.raises(AttackStopped):
            next(items)
    assert done == ["first"]


def test_without_somebody_who_follows_nothing_happens() -> None:
    assert list(paced([(1, "only")], 1)) == ["only"]


@pytest.mark.parametrize(
    ("seconds", "words"), [(10.1, "10 s"), (119, "120 s"), (120, "2 min"), (3600, "60 min")]
)
def test_a_duration_is_said_as_people_say_it(seconds: float, words: str) -> None:
    assert rounded(seconds) == words
