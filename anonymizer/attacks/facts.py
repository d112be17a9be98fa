"""Background knowledge: values that an adversary rules out for some people, and records that they know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field

from anonymizer.errors import InputError, listed, plural, suggestion
from anonymizer.model.adversary import PublishedTable
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray, count
from anonymizer.model.classes import SensitiveCounts
from anonymizer.model.identity import text_identity
from anonymizer.model.labels import exact
from anonymizer.model.naming import ColumnName
from anonymizer.model.table import CODE, Column
from anonymizer.plugins import Exact, Rule, Settings, WholeNumber


def _share(above: float, description: str) -> Any:
    """Return the field of an exact share, whose bounds the JSON schema lacks inside a mapping."""
    bounds: dict[str, Any] = {"exclusiveMinimum": above, "maximum": 1}
    return Field(gt=above, le=1, description=description, json_schema_extra=bounds)


class Facts(Settings):
    """Facts about the target: values that it does not have, and other records of its class."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    excluded: Annotated[
        tuple[str, ...],
        Field(alias="not", min_length=1, description="values that the target does not have"),
    ] = ()
    where: Annotated[
        dict[ColumnName, str] | None,
        Field(min_length=1, description="published values of the people about whom this is known"),
    ] = None
    share: Annotated[Exact, _share(0, "share of the people about whom it is known")] = Decimal(1)
    probability: Annotated[
        Exact, _share(0, "probability that what is known about such a person is right")
    ] = Decimal(1)
    sure: Annotated[Exact, _share(0.5, "probability from which a value counts as certain")] = Decimal(1)
    records: Annotated[
        WholeNumber, Field(ge=0, description="other records of the class that the adversary knows")
    ] = 0

    together = (
        Rule(
            lambda own: not own.excluded and not own.records,
            "needs not: [VALUE], or records: a number; facts of neither are none",
        ),
        Rule(
            lambda own: own.where is not None and not own.excluded,
            "where goes with not: [VALUE]; add it, or remove where",
        ),
        Rule(
            lambda own: own.probability < 1 and not own.excluded,
            "probability goes with not: [VALUE]; add it, or remove probability",
        ),
    )

    def words(self) -> str:
        """Return the facts as words after "An adversary who knows a person's ..."."""
        parts = []
        if self.excluded:
            values = listed([f"'{each}'" for each in self.excluded])
            known = "" if self.share == 1 else f" {float(self.share):.0%} of the time"
            who = (
                ""
                if self.where is None
                else " where " + listed([f"{a} is {b}" for a, b in self.where.items()])
            )
            right = "" if self.probability == 1 else f" with a probability of {float(self.probability):.0%}"
            parts.append(f"can rule out {values}{who}{known}{right}")
        if self.records:
            parts.append(f"knows {plural(self.records, 'other record')} of the class")
        return " and " + " and ".join(parts)

    def certainty(self) -> str:
        """Return what counts as certain, after the subject of a sentence."""
        return "is certain of" if self.sure == 1 else f"is at least {float(self.sure):.0%} sure of"

    def shown(self) -> dict[str, Any]:
        """Return the facts as a config has them, without defaults."""
        return self.model_dump(mode="json", by_alias=True, exclude_defaults=True)


@dataclass(frozen=True, eq=False)
class KnownFacts:
    """Facts about the classes of a release.

    Attributes
    ----------
    excluded: whether the value of each entry is ruled out for its class, shape (entries,), bool.
    share: of the targets about whom the excluded values are known.
    probability: that what is known is right.
    sure: probability from which a value counts as certain.
    records: other records of the class that the adversary knows.
    codes: of the excluded values.
    about: whether the excluded values are known of the targets in each class, shape (classes,), bool.
    targets: records of each entry that are targets, shape (entries,), int64.
    """

    counts: SensitiveCounts
    excluded: BoolArray
    share: Fraction
    probability: Fraction
    sure: Fraction
    records: int
    codes: Sequence[int]
    about: BoolArray
    targets: IntArray

    @classmethod
    def of(
        cls, facts: Facts, counts: SensitiveCounts, release: PublishedTable, class_of: IntArray
    ) -> KnownFacts:
        """Return the facts about the classes of a release.

        Parameters
        ----------
        class_of: class of each row of the release, shape (rows,), int64.

        Raises
        ------
        InputError: a value, an attribute or a published value is not in the release.
        """
        column = counts.attribute.column
        codes = [_code_of(column, value) for value in facts.excluded]
        about = np.ones(len(counts.starts) - 1, dtype=bool)
        for name, label in (facts.where or {}).items():
            if name not in release.names:
                raise InputError(
                    f"facts: where: '{name}' is not a quasi-identifier of the release; "
                    f"{suggestion(name, release.names)}"
                )
            position = release.names.index(name)
            those = release.codes[:, position] == _place_of(release.labels[position], label, name)
            all_those = np.ones(len(about), dtype=bool)
            all_those[class_of[~those]] = False
            about &= all_those
        ruled = np.isin(counts.values, codes)
        return cls(
            counts,
            ruled & about[counts.owners],
            Fraction(facts.share),
            Fraction(facts.probability),
            Fraction(facts.sure),
            facts.records,
            codes,
            about,
            counts.counts,
        )

    def without_classes(self, whole: SensitiveCounts) -> tuple[KnownFacts, KnownFacts]:
        """Return the same facts about the same targets, and about the others, in one class of all records.

        Parameters
        ----------
        whole: of the class.
        """
        size = int(whole.values.max(initial=0)) + 1
        told = self.about[self.counts.owners]
        inside = count(self.counts.values[told], self.counts.counts[told], size)[whole.values]
        of_told = replace(
            self,
            counts=whole,
            excluded=np.isin(whole.values, self.codes),
            about=np.ones(1, dtype=bool),
            targets=inside,
        )
        nothing = np.zeros(len(whole.values), dtype=bool)
        return of_told, replace(of_told, excluded=nothing, targets=whole.counts - inside)

    def certain(self) -> Fraction:
        """Return the expected number of records whose value is certain; the known records tell most.

        A value v of count c is certain iff weight of v >= ``sure`` times the weight of all values that the
        records other than the known ones may have.
        """
        return self._expected(self._certain)

    def guessed(self) -> Fraction:
        """Return the expected number of records whose value is guessed; the known records are the best ones.

        The guess is the value of largest weight among the other records; a tie of n counts 1/n.
        """
        return self._expected(self._guessed)

    def guessed_by_class(self) -> FloatArray:
        """Return the expected number of records of each class whose value is guessed, shape (classes,)."""
        number = len(self.counts.starts) - 1

        def reached(weight: Fraction, targets: BoolArray) -> FloatArray:
            place, tied = self._reached(weight, targets)
            own = self.targets[place] / tied
            return np.bincount(self.counts.owners[place], weights=own, minlength=number).astype(np.float64)

        found: FloatArray = self._mixed(reached, float)
        return found

    def _expected(self, reached: Callable[[Fraction, BoolArray], Fraction]) -> Fraction:
        """Return the expected number of records about which an adversary reaches something.

        What is known of a person is right with ``probability``; else it says nothing, and is heard of people
        with every value alike. So a value that is ruled out is 1 - ``probability`` times as likely as its
        count says. About a person who has such a value, nothing is heard where it would be right.

        Parameters
        ----------
        reached: returns the number among the records of some entries, given the weight of ruled-out values.
        """
        found: Fraction = self._mixed(reached, Fraction)
        return found

    def _mixed(self, reached: Callable[[Fraction, BoolArray], Any], number: Callable[[Fraction], Any]) -> Any:
        everybody = np.ones(len(self.excluded), dtype=bool)
        plain, wrong = Fraction(1), 1 - self.probability
        heard = reached(wrong, ~self.excluded) + number(wrong) * reached(wrong, self.excluded)
        unheard = number(self.probability) * reached(plain, self.excluded)
        return number(self.share) * (heard + unheard) + number(1 - self.share) * reached(plain, everybody)

    def _certain(self, weight: Fraction, targets: BoolArray) -> Fraction:
        """Return the number of some entries' records whose value is certain.

        The known records are those of other values that weigh most.

        Parameters
        ----------
        weight: of a record with an excluded value; of others 1.
        targets: entries whose records are targets, shape (entries,), bool.
        """
        counts, own = self.counts.counts, self.counts.owners
        starts = self.counts.starts[:-1]
        heavy = np.add.reduceat(np.where(self.excluded, 0, counts), starts)[own]
        light = np.add.reduceat(np.where(self.excluded, counts, 0), starts)[own]
        heavy = heavy - np.where(self.excluded, 0, counts)
        light = light - np.where(self.excluded, counts, 0)
        further = np.maximum(self.records - heavy, 0)
        heavy, light = np.maximum(heavy - self.records, 0), np.maximum(light - further, 0)
        of_heavy, of_light = weight.denominator, weight.numerator
        exact = _exact_type(int(counts.sum()), (of_heavy + of_light) * self.sure.denominator)
        others = heavy.astype(exact) * of_heavy + light.astype(exact) * of_light
        own_weight = counts.astype(exact) * _either(self.excluded, of_light, of_heavy, exact)
        odds = self.sure.denominator - self.sure.numerator
        found = (own_weight > 0) & (own_weight * odds >= others * self.sure.numerator)
        return Fraction(int(self.targets[found.astype(bool) & targets].sum()))

    def _guessed(self, weight: Fraction, targets: BoolArray) -> Fraction:
        """Return the expected number of some entries' records that are guessed; see ``_reached``."""
        place, tied = self._reached(weight, targets)
        found = np.bincount(tied, weights=self.targets[place])
        return sum((Fraction(int(each), ties) for ties, each in enumerate(found) if each), Fraction(0))

    def _reached(self, weight: Fraction, targets: BoolArray) -> tuple[IntArray, IntArray]:
        """Return some entries whose records may be guessed, and the number of values that are as good.

        A record is guessed if removing the known records from the values of larger weight makes its own one
        of the largest; what is left over of them breaks ties.

        Parameters
        ----------
        weight: of a record with an excluded value; of others 1.
        targets: entries whose records are targets, shape (entries,), bool.
        """
        counts, a, b = self.counts.counts, weight.numerator, weight.denominator
        exact = _exact_type(int(counts.max()), max(a, b))
        place = np.flatnonzero(targets & ~(self.excluded & (a == 0)))
        own = counts[place]
        excess, rivals = np.zeros(len(place), dtype=np.int64), np.zeros(len(place), dtype=np.int64)
        for light in (False, True) if a else (False,):
            # The count at which a value of this kind weighs as much as the target's, rounded down.
            up = _either(self.excluded[place], 1 if light else a, b if light else 1, exact)
            down = _either(self.excluded[place], 1 if light else b, a if light else 1, exact)
            scaled = own.astype(exact) * up
            level = scaled // down
            ties = (level * down == scaled).astype(bool)
            level = np.minimum(level, int(counts.max()) + 1).astype(np.int64)
            above, number, equal = self._beyond(self.excluded == light, place, level)
            excess += above - number * level
            rivals += np.where(ties, number + equal, 0)
        spare = self.records - excess
        # The target's own value is among those of equal weight.
        tied = 1 + np.maximum(rivals - 1 - np.maximum(spare, 0), 0)
        right = spare >= 0
        return place[right], tied[right]

    def _beyond(
        self, kind: BoolArray, place: IntArray, level: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Return for each target the records and number of larger counts in its class, and of equal ones.

        Parameters
        ----------
        kind: entries that are counted, shape (entries,), bool.
        place: entry of each target, shape (targets,), int64.
        level: count that others are compared with, shape (targets,), int64.
        """
        most = int(self.counts.counts.max()) + 1
        keys = np.sort(self.counts.owners[kind] * most + self.counts.counts[kind])
        sums = np.concatenate([[0], np.cumsum(keys % most)])
        own = self.counts.owners[place] * most
        first = np.searchsorted(keys, own + level, side="left")
        after = np.searchsorted(keys, own + level, side="right")
        end = np.searchsorted(keys, own + most, side="left")
        return sums[end] - sums[after], end - after, after - first


def _code_of(column: Column, value: str) -> int:
    """Return the code of a value that a config names.

    Raises
    ------
    InputError: no record has it.
    """
    code = column.code_of(value)
    if code is None:
        what = f"facts: '{value}' is not a value of {column.name} in the release"
        raise InputError(f"{what}; {suggestion(value, column.texts)}")
    return code


def _place_of(labels: Sequence[str | None], label: str, name: str) -> int:
    """Return the position of a published text that a config names, however it is spelled.

    Raises
    ------
    InputError: no record publishes it.
    """
    known = [text_identity(each or "") for each in labels]
    if text_identity(label) in known:
        return known.index(text_identity(label))
    numbers = [] if any(map(CODE.fullmatch, (*known, label))) else [exact(each) for each in known]
    number = exact(label.strip())
    if number is None or number not in numbers:
        what = f"facts: where: no record publishes '{label}' in {name}"
        raise InputError(f"{what}; {suggestion(label, known)}")
    return numbers.index(number)


def _either(where: BoolArray, one: int, other: int, exact: type[np.int64] | type[object]) -> Any:
    """Return one number where a condition holds and the other elsewhere, of an exact type."""
    return np.array([other, one], dtype=exact)[where.astype(np.int64)]


def _exact_type(number: int, factor: int) -> type[np.int64] | type[object]:
    """Return a type in which products of numbers are exact: int64, or Python's integers."""
    return np.int64 if number * factor < 2**62 else object
