"""Background knowledge: values that an adversary rules out for some people, and records that they know."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Self

import numpy as np
from pydantic import ConfigDict, Field, model_validator

from anonymizer.errors import InputError, listed, plural, suggestion
from anonymizer.model.adversary import PublishedTable
from anonymizer.model.arrays import BoolArray, IntArray
from anonymizer.model.classes import SensitiveCounts
from anonymizer.plugins import Exact, Settings, WholeNumber


class Facts(Settings):
    """Facts about the target: values that it does not have, and other records of its class."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    excluded: Annotated[
        tuple[str, ...],
        Field(alias="not", min_length=1, description="values that the target does not have"),
    ] = ()
    where: Annotated[
        dict[str, str] | None,
        Field(min_length=1, description="published values of the people about whom this is known"),
    ] = None
    share: Annotated[Exact, Field(gt=0, le=1, description="share of the people about whom it is known")] = (
        Decimal(1)
    )
    records: Annotated[
        WholeNumber, Field(ge=0, description="other records of the class that the adversary knows")
    ] = 0

    @model_validator(mode="after")
    def _say_something(self) -> Self:
        if not self.excluded and not self.records:
            raise ValueError("needs not: [VALUE], or records: a number; facts of neither are none")
        if self.where is not None and not self.excluded:
            raise ValueError("where goes with not: [VALUE]; add it, or remove where")
        return self

    def of_all(self) -> Self:
        """Return the same facts about everybody, for the baseline of an adversary without classes."""
        return self.model_copy(update={"where": None})

    def words(self) -> str:
        """Return the facts as words after 'Somebody who knows ...'."""
        parts = []
        if self.excluded:
            values = listed([f"'{each}'" for each in self.excluded])
            known = "" if self.share == 1 else f" {float(self.share):.0%} of the time"
            who = (
                ""
                if self.where is None
                else " where " + listed([f"{a} is {b}" for a, b in self.where.items()])
            )
            parts.append(f"can rule out {values}{who}{known}")
        if self.records:
            parts.append(f"knows {plural(self.records, 'other record')} of the class")
        return " and " + " and ".join(parts)

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
    records: other records of the class that the adversary knows.
    """

    counts: SensitiveCounts
    excluded: BoolArray
    share: Fraction
    records: int

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
        texts = counts.attribute.column.texts
        for value in facts.excluded:
            if value not in texts:
                what = f"{release.source}: facts: '{value}' is not a value of {counts.attribute.column.name}"
                raise InputError(f"{what}; {suggestion(value, texts)}")
        about = np.ones(len(counts.starts) - 1, dtype=bool)
        for name, label in (facts.where or {}).items():
            if name not in release.names:
                raise InputError(
                    f"{release.source}: facts: where: '{name}' is not a quasi-identifier; "
                    f"{suggestion(name, release.names)}"
                )
            position = release.names.index(name)
            labels = [each or "" for each in release.labels[position]]
            if label not in labels:
                what = f"{release.source}: facts: where: no record publishes '{label}' in {name}"
                raise InputError(f"{what}; {suggestion(label, labels)}")
            those = release.codes[:, position] == labels.index(label)
            all_those = np.ones(len(about), dtype=bool)
            all_those[class_of[~those]] = False
            about &= all_those
        ruled = np.isin(counts.values, [texts.index(value) for value in facts.excluded])
        return cls(counts, ruled & about[counts.owners], Fraction(facts.share), facts.records)

    def certain(self) -> Fraction:
        """Return the number of records whose value is certain; the known records are those that tell most.

        A record's value v is certain iff the class has at most ``records`` other records with a value that is
        neither v nor ruled out. Facts are true: nobody rules out the value that a record has.
        """
        entries = self.counts.counts
        own = self.counts.owners
        sizes = np.add.reduceat(entries, self.counts.starts[:-1])
        left = np.add.reduceat(np.where(self.excluded, 0, entries), self.counts.starts[:-1])
        plain = sizes[own] - entries <= self.records
        told = np.where(self.excluded, plain, left[own] - entries <= self.records)
        with_facts, without = int(entries[told].sum()), int(entries[plain].sum())
        return self.share * with_facts + (1 - self.share) * without

    def guessed(self) -> Fraction:
        """Return the expected number of records whose value is guessed; the known records are the best ones.

        The guess is the most frequent value of the other records that is not ruled out; a tie of n counts
        1/n.
        """
        everything = np.zeros(len(self.excluded), dtype=bool)
        without = self._guessed(everything, ~everything)
        known = self._guessed(self.excluded, ~self.excluded) + self._guessed(everything, self.excluded)
        return self.share * known + (1 - self.share) * without

    def _guessed(self, excluded: BoolArray, targets: BoolArray) -> Fraction:
        """Return the expected number of some entries' records that are guessed.

        A record with a value v of count c is guessed if removing the known records from the more frequent
        values makes v one of the most frequent; what is left over of them breaks ties.

        Parameters
        ----------
        excluded: values that are ruled out, shape (entries,), bool.
        targets: entries whose records are targets, shape (entries,), bool.
        """
        place = np.flatnonzero(~excluded)
        owners, sizes = self.counts.owners[place], self.counts.counts[place]
        order = np.lexsort((-sizes, owners))
        owners, sizes, place = owners[order], sizes[order], place[order]
        if not len(sizes):
            return Fraction(0)
        first = np.searchsorted(owners, owners)
        # The last entry of the same class with an equal count.
        keys = owners * (int(sizes.max()) + 1) + (int(sizes.max()) - sizes)
        last = np.searchsorted(keys, keys, side="right") - 1
        sums = np.concatenate([[0], np.cumsum(sizes)])
        rivals = last - first
        excess = sums[last + 1] - sums[first] - (rivals + 1) * sizes
        spare = self.records - excess
        tied = 1 + np.maximum(rivals - np.maximum(spare, 0), 0)
        right = (spare >= 0) & targets[place]
        found = np.bincount(tied[right], weights=sizes[right])
        return sum((Fraction(int(each), ties) for ties, each in enumerate(found) if each), Fraction(0))
