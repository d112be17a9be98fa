"""Random searches that must not lose what they held: ``python -m tests.fuzz.held --problems 2000 --seed 1``.

Small problems, constraints, attackers as constraints, and budgets, searched by each algorithm. A release
loses no more than

- each candidate that a step of the search accepted,
- Mondrian's with the same constraints, attackers and kind of budget, where ``auto`` or ``local`` searched,
- the start: everybody at the highest levels, where that may be released;

one of stars alone is proven the best, or the report says that nothing better was found. No bound is above a
release that is known. Ends with 1 if anything was found; ``--case`` repeats one problem by its number.

With ``--brute`` the tables have at most eight records, and each outcome is compared with the best of all
releases (``tests/fuzz/every_release.py``).
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from random import Random
from typing import Any

from anonymizer.adversary.candidate import adversary_of
from anonymizer.errors import InputError
from anonymizer.model.recoding import Outcome, Recoding, Status
from anonymizer.privacy.base import ReleaseConstraint
from anonymizer.report.exposure import unproven_end
from anonymizer.search.base import SEARCH_ALGORITHMS, AttackCheck, Control, SearchProblem
from tests import strategies
from tests.fuzz.every_release import Best, best_of
from tests.helpers import build
from tests.helpers.problems import problem
from tests.twins.loss import LOSS_TWINS
from tests.twins.microdata import Microdata
from tests.twins.search import ConstraintSpec, ProblemSpec

CASES_OF_A_SEED = 1_000_000

ALGORITHMS = ("lattice", "mondrian", "local", "auto")

NO_WORSE = ("local", "auto")
"""Those that promise to lose no more than Mondrian."""

AGAIN = 2
"""Repetitions after which a loss under a budget of time counts: clocks differ from run to run."""

EACH = 100
"""Problems after which the counts so far are printed."""

CONSTRAINTS: dict[str, tuple[dict[str, Any], ...]] = {
    "k-anonymity": tuple({"k": k} for k in (2, 3, 5, 10)),
    "l-diversity": ({"l": 2}, {"l": 3}),
    "entropy-l-diversity": ({"l": 1.5}, {"l": 2}),
    "recursive-cl-diversity": ({"c": 2, "l": 2}, {"c": 3, "l": 3}),
    "t-closeness": tuple({"t": t} for t in (0.2, 0.3, 0.4, 0.5)),
    "basic-beta-likeness": tuple({"beta": beta} for beta in (1, 2, 3)),
    "enhanced-beta-likeness": tuple({"beta": beta} for beta in (1, 2)),
    "delta-disclosure": (
        *({"delta": delta, "absent": "ignored"} for delta in (1, 1.5)),
        {"delta": 1.5, "absent": "violates"},
    ),
}
"""Constraints and their parameters."""

LOOSE = {
    "k-anonymity": ({"k": 2}, {"k": 3}),
    "l-diversity": ({"l": 2},),
    "recursive-cl-diversity": ({"c": 2, "l": 2},),
}
"""Those that tables of a few records can satisfy."""

GUESSES = ("0.05", "0.1", "0.2", "0.3", "0.5")
OF_FEW = ("0.3", "0.4", "0.5", "0.6")
VALUES = ("0.5", "0.6", "0.7", "0.8", "0.9")


@dataclass(frozen=True)
class Drawn:
    """A problem with its algorithm and budget.

    Attributes
    ----------
    spec: the problem without attackers, in plain Python.
    attackers: models and parameters of the constraints that attacks measure.
    budget: limits of the search by their names in ``Control``.
    """

    spec: ProblemSpec
    attackers: tuple[ConstraintSpec, ...]
    algorithm: str
    budget: dict[str, float]
    bare: frozenset[str] = frozenset()

    def asked(self) -> SearchProblem:
        """Return the problem with attackers that remember nothing."""
        own = problem(self.spec)
        columns = tuple(
            replace(each, by_range=each.name in self.bare) for each in own.table.quasi_identifiers
        )
        own = replace(own, table=replace(own.table, quasi_identifiers=columns))
        constraints = [
            ReleaseConstraint(attribute=each.attribute, model=build.model(each.model, each.parameters))
            for each in self.attackers
        ]
        return replace(
            own, gate=AttackCheck(constraints, seen=adversary_of) if constraints else AttackCheck()
        )

    def control(self) -> Control:
        """Return the budget, which begins now."""
        return Control(**self.budget)  # type: ignore[arg-type]

    @property
    def timed(self) -> bool:
        """Whether a clock ends the search."""
        return "cpu_seconds" in self.budget

    def __str__(self) -> str:
        names = [
            f"{each.model} {dict(each.parameters)}" for each in (*self.spec.constraints, *self.attackers)
        ]
        table = f"{len(self.spec.data.records)} x {len(self.spec.data.quasi_identifiers)}"
        return (
            f"{self.algorithm} {self.budget or 'no budget'}, {table}, {self.spec.metric}: {'; '.join(names)}"
        )


def draw(number: int, *, brute: bool = False) -> Drawn:
    """Return a random problem; of few records and a cell metric where all releases are compared."""
    random = strategies.Seeded(number)
    data = table(random, random.randint(4, 8) if brute else int(30 * (400 / 30) ** random.random()))
    attackers = drawn_attackers(random, data, at_least=int(brute))
    counted = tuple(each for each in attackers if each.model == "vulnerability")
    constraints = (*drawn_constraints(random, data, small=brute), *counted)
    sizes = [own.parameters["k"] for own in constraints if own.model == "k-anonymity"]
    metrics = ("loss", "ncp", "precision") if brute else tuple(sorted(LOSS_TWINS))
    spec = ProblemSpec(
        data,
        constraints,
        "loss" if random.random() < 0.7 else random.choice(metrics),
        "arithmetic-mean" if brute or random.random() < 0.9 else random.choice(strategies.AGGREGATES),
        random.choice((0, 0, 1, 5, 10)) * len(data.records) // 100 if not brute else random.choice((0, 0, 1)),
        not brute and random.random() < 0.3,
        not brute and random.random() < 0.2,
        min(sizes, default=None),
    )
    bare = (
        frozenset()
        if brute
        else frozenset(
            own.name
            for own in data.quasi_identifiers
            if own.numeric and own.height == 1 and None not in own.paths and random.random() < 0.5
        )
    )
    attacked = tuple(each for each in attackers if each not in counted)
    return Drawn(spec, attacked, random.choice(ALGORITHMS), drawn_budget(random), bare)


def table(random: Random, records: int) -> Microdata:
    """Return a table of some records with 2 to 5 quasi-identifiers and up to 2 sensitive attributes."""
    small = records <= 8
    width = random.randint(2, 3 if small else 5)
    heights = [random.randint(1, 2 if small else 3) for _ in range(width)]
    if small:
        # Columns without levels may be published as intervals, of which not all releases are tried.
        heights[0] = 2
    own = [strategies.quasi_identifier(random, place, height) for place, height in enumerate(heights)]
    if not any(each.weight for each in own):
        own[0] = replace(own[0], weight=1.0)
    secret = [strategies.sensitive(random, name) for name in ("s", "t")[: random.choice((0, 1, 1, 2))]]
    columns = [strategies._cells(random, list(each.paths or {}), records) for each in (*own, *secret)]
    return Microdata(tuple(own), tuple(secret), tuple(zip(*columns, strict=True)))


def drawn_constraints(random: Random, data: Microdata, *, small: bool) -> tuple[ConstraintSpec, ...]:
    """Return one constraint to five, each model at most once; the first is mostly k-anonymity."""
    names = list(CONSTRAINTS)[1:] if data.sensitive else []
    number = random.choice((0, 0, 1) if small else (0, 0, 1, 1, 2, 4))
    chosen = random.sample(names, min(number, len(names)))
    if not chosen or random.random() < 0.8:
        chosen = ["k-anonymity", *chosen]
    found = []
    for name in chosen:
        values = LOOSE.get(name, CONSTRAINTS[name]) if small else CONSTRAINTS[name]
        attribute = None if name == "k-anonymity" else random.choice(data.sensitive).name
        found.append(ConstraintSpec(name, random.choice(values), attribute))
    return tuple(found)


def drawn_attackers(random: Random, data: Microdata, at_least: int = 0) -> tuple[ConstraintSpec, ...]:
    """Return none to two constraints that attackers measure, or that count their best guesses."""
    kinds = ["linkage", "learned", "vulnerability"] + ["inference", "values"] * bool(data.sensitive)
    number = max(random.choice((0, 0, 1, 1, 1, 2)), at_least)
    return tuple(attacker(random, data, kind) for kind in random.sample(kinds, number))


def attacker(random: Random, data: Microdata, kind: str) -> ConstraintSpec:
    """Return a constraint that an attacker measures."""
    most = {"max": random.choice(GUESSES if len(data.records) > 8 else OF_FEW)}
    if kind == "linkage":
        return ConstraintSpec("linkage-risk", most)
    if kind == "learned":
        return ConstraintSpec("linkage-risk", {**most, "linkage": "learned"})
    if kind == "vulnerability":
        return ConstraintSpec("vulnerability", {**most, "target": "re-identification"})
    values, attribute = {"max": random.choice(VALUES)}, random.choice(data.sensitive).name
    if kind == "values":
        return ConstraintSpec("vulnerability", {**values, "target": "attribute-inference"}, attribute)
    return ConstraintSpec("inference-risk", {**values, "attack": "inference"}, attribute)


def drawn_budget(random: Random) -> dict[str, float]:
    """Return limits of a search."""
    kind = random.choice(("steps", "steps", "time", "time", "none"))
    if kind == "steps":
        return {"steps": random.randint(1, 50)}
    return {"cpu_seconds": 0.01 * 100 ** random.random()} if kind == "time" else {}


# ------------------------------------------------------------------------ judging


def searched(drawn: Drawn, name: str, **parameters: Any) -> tuple[SearchProblem, Outcome] | None:
    """Return the problem and the outcome of an algorithm; None if it does not carry the problem out."""
    plug_in, own = SEARCH_ALGORITHMS[name], drawn.asked()
    try:
        return own, plug_in(plug_in.Settings.model_validate(parameters)).search(own, drawn.control())
    except InputError:
        return None


def more(one: float | None, other: float | None) -> bool:
    """Return whether a loss is above another by more than rounding; None is no release."""
    if other is None:
        return False
    return one is None or one > other + 1e-9 * max(1, abs(other))


def start_of(own: SearchProblem) -> float | None:
    """Return the loss of everybody at the highest levels; None where that may not be released."""
    columns = tuple(replace(each, minimum=each.maximum) for each in own.table.quasi_identifiers)
    top = replace(own, table=replace(own.table, quasi_identifiers=columns), gate=AttackCheck())
    try:
        found = SEARCH_ALGORITHMS["lattice"]().search(top, Control())
    except InputError:
        return None
    if found.recoding is None or own.gate.first_violated(top.table, found.recoding):
        return None
    return found.objective


class Judge:
    """What is wrong with the outcomes of a problem."""

    def __init__(self, drawn: Drawn, tally: Counter[str]) -> None:
        self._drawn = drawn
        self._tally = tally

    def findings(self) -> list[str]:
        """Return what is wrong; under a budget of time, each time that the search ran."""
        found = self._once()
        for _ in range(AGAIN if self._drawn.timed and found else 0):
            again = {each.split(":")[0] for each in self._once()}
            found = [each for each in found if each.split(":")[0] in again]
            if not found:
                self._tally["timed: once and not again"] += 1
                break
        return found

    def _once(self) -> list[str]:
        both = searched(self._drawn, self._drawn.algorithm)
        if both is None:
            self._tally[f"refused: {self._drawn.algorithm}"] += 1
            return []
        own, outcome = both
        self._tally[f"{self._drawn.algorithm}: {outcome.status.value}"] += 1
        found = [*self._promised(own, outcome), *self._steps(outcome)]
        found += self._start(own, outcome)
        if self._drawn.algorithm in NO_WORSE:
            found += self._mondrian(outcome)
        return found + self._stars(outcome)

    def _promised(self, own: SearchProblem, outcome: Outcome) -> list[str]:
        """Return what is wrong with the claims of an outcome."""
        if (outcome.recoding is None) != (outcome.status is not Status.SATISFIED):
            return [f"status: {outcome.status} and {outcome.recoding}"]
        if outcome.recoding is None:
            return []
        found = []
        loss = own.loss(outcome.recoding, "the release")
        if abs(loss - (outcome.objective or 0.0)) > 1e-9 * max(1, abs(loss)):
            found.append(f"loss: {outcome.objective} is {loss}")
        if broken := own.gate.first_violated(own.table, outcome.recoding):
            found.append(f"attackers: {broken}")
        if more(outcome.bound, outcome.objective) and outcome.bound is not None:
            found.append(f"bound: {outcome.bound} is above {outcome.objective}")
        return found

    def _steps(self, outcome: Outcome) -> list[str]:
        accepted = [each.objective for each in outcome.steps if each.accepted and each.objective is not None]
        self._tally["compared with accepted steps"] += bool(accepted)
        least = min(accepted, default=None)
        return [f"steps: {outcome.objective} after {least}"] if more(outcome.objective, least) else []

    def _start(self, own: SearchProblem, outcome: Outcome) -> list[str]:
        start = start_of(own)
        if start is None:
            return []
        self._tally["compared with the start"] += 1
        if outcome.status is Status.INFEASIBLE or more(outcome.objective, start):
            return [f"start: {outcome.status.value} {outcome.objective}, and the start loses {start}"]
        return []

    def _mondrian(self, outcome: Outcome) -> list[str]:
        found = []
        # By default Mondrian publishes intervals of bare numbers, as auto does and local does not.
        labels = {} if self._drawn.algorithm == "auto" else {"labels": "hierarchy"}
        both = searched(self._drawn, "mondrian", **labels)
        if both is None or both[1].recoding is None:
            return found
        other = both[1].objective
        self._tally["compared with Mondrian"] += 1
        if more(outcome.objective, other):
            chosen = outcome.chosen[0]
            found.append(
                f"Mondrian {chosen}: {outcome.status.value} {outcome.objective}, and it loses {other}"
            )
        along_trees = (outcome.chosen[0] or self._drawn.algorithm) == "local" and not self._drawn.bare
        if along_trees and outcome.best_possible is not None and more(outcome.best_possible, other):
            found.append(f"bound: {outcome.best_possible} is above Mondrian's {other}")
        return found

    def _stars(self, outcome: Outcome) -> list[str]:
        """Return whether one class of all is neither proven nor said to be all that was found."""
        recoding, loss = outcome.recoding, outcome.objective
        if recoding is None or not loss or not one_class(recoding):
            return []
        self._tally[f"all alike: {'proven' if outcome.optimal else 'said'}"] += 1
        content = {
            "loss": {"loss": loss},
            "release": {"classes": 1},
            "search": {
                "optimal": outcome.optimal,
                "seconds": outcome.seconds,
                "steps": len(outcome.steps),
                "evaluated": outcome.evaluated,
            },
            "config": {"budget": self._drawn.budget},
        }
        said = unproven_end(content)
        return [] if outcome.optimal or (said and "nothing better was found" in said) else ["stars: not said"]


def one_class(recoding: Recoding) -> bool:
    """Return whether all released records are published alike."""
    return len(recoding.class_sizes()) == 1


# ------------------------------------------------------------------------ all releases


def compared(drawn: Drawn, tally: Counter[str]) -> list[str]:
    """Return what is wrong with an outcome beside the best of all releases."""
    both = searched(drawn, drawn.algorithm)
    if both is None:
        tally["refused"] += 1
        return []
    own, outcome = both
    name = outcome.chosen[0] or drawn.algorithm
    best: Best | None = best_of(drawn.spec, drawn.attackers, own, outcome, name)
    if best is None:
        tally["too many releases"] += 1
        return []
    found = []
    if not best.valid:
        tally["invalid"] += 1
        found.append("invalid: the release violates a constraint")
    if outcome.recoding is None:
        tally[f"none found, {'none exists' if best.objective is None else 'one exists'}"] += 1
        if outcome.status is Status.INFEASIBLE and best.objective is not None:
            found.append(f"infeasible: a release loses {best.objective}")
        return found
    least = best.objective if best.objective is not None else outcome.objective
    assert least is not None
    if outcome.bound is not None and outcome.bound > least + 1e-9:
        tally["bound above the optimum"] += 1
        found.append(f"bound: {outcome.bound} is above the optimum {least}")
    optimal = not more(outcome.objective, least)
    tally["optimal" if optimal else f"gap {'true' if outcome.bound is not None else 'not claimed'}"] += 1
    tally[f"{drawn.algorithm}: {'optimal' if optimal else 'above the optimum'}"] += 1
    if outcome.optimal and not optimal:
        found.append(f"optimal: {outcome.objective} is claimed to be, {least} is")
    return found


def judged(number: int, tally: Counter[str], *, brute: bool) -> list[str]:
    """Return what is wrong with one problem."""
    drawn = draw(number, brute=brute)
    try:
        return compared(drawn, tally) if brute else Judge(drawn, tally).findings()
    except Exception:  # whatever escapes, of the package or the judge, is to be looked at
        return [traceback.format_exc()]


def main(words: Sequence[str] | None = None) -> int:
    """Search by the words of the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.held", description=__doc__)
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--case", type=int, help="judge one problem alone, by the number that a finding prints"
    )
    parser.add_argument("--brute", action="store_true", help="compare with all releases of tiny tables")
    parser.add_argument("--seconds", type=float, default=inf, help="of processor time, after which it ends")
    own = parser.parse_args(words)
    first = own.seed * CASES_OF_A_SEED
    numbers = range(first, first + own.problems) if own.case is None else [own.case]
    tally: Counter[str] = Counter()
    found, done = [], 0
    for number in numbers:
        if time.process_time() > own.seconds:
            break
        wrong = judged(number, tally, brute=own.brute)
        done += 1
        if wrong:
            found.append(number)
            print(f"FOUND in case {number}: {draw(number, brute=own.brute)}", *wrong, sep="\n  ", flush=True)
        if done % EACH == 0:
            print(f"{done:,}: {dict(sorted(tally.items()))}", file=sys.stderr, flush=True)
    for name, times in sorted(tally.items()):
        print(f"{times:8,}  {name}")
    print(f"{done:,} problems in {time.process_time():.0f} s of processor time; found: {found or 'nothing'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
