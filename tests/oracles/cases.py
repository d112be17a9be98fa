"""The known answers on Adult: rows of the shared files, and the problems that they describe."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from io import StringIO
from typing import Any

from anonymizer.loss.base import LossMetric
from anonymizer.model.table import Table
from anonymizer.privacy.base import PRIVACY_MODELS, ClassConstraint
from anonymizer.search.base import SearchProblem
from tests.helpers import adult, build
from tests.shared import shared

RECORDS = 30162
WHOLE = {"k", "l", "p"}
NOT_OPTIMAL = {
    "AnonymizationTCloseness-10": "called optimal; with these models a valid node has a lower score",
    "AnonymizationTCloseness-11": "called optimal; with these models a valid node has a lower score",
}
"""Cases of which only the score at their levels is a fact, against what the file says."""


@dataclass(frozen=True)
class Case:
    """One row of a file of known answers."""

    row: dict[str, str]

    @property
    def name(self) -> str:
        """Name of the case."""
        return self.row["case"]

    @property
    def kind(self) -> tuple[str, str, str]:
        """What makes up the score: metric, whether it is the monotone form, aggregate."""
        return self.row["metric"], self.row["monotonic"], self.row["aggregate"]

    @property
    def factor(self) -> float:
        """The gs_factor."""
        return float(self.row["gs_factor"])

    @property
    def levels(self) -> tuple[int, ...]:
        """The levels whose score is known."""
        return tuple(map(int, self.row["levels"].split(",")))

    @property
    def score(self) -> list[float]:
        """The score; several numbers for a vector."""
        return [float(part) for part in self.row["score"].strip("[]").split(",")]

    @property
    def limit(self) -> int:
        """Records that may be suppressed; all of them where only a node's score is asked."""
        return int(Fraction(self.row.get("suppression_limit", "1")) * RECORDS)

    @cached_property
    def table(self) -> Table:
        """Adult with the case's attributes."""
        names = tuple(self.row["quasi_identifiers"].split(","))
        return adult.table(names, tuple(filter(None, [self.row["sensitive"]])))

    @property
    def weighted(self) -> bool:
        """Whether the score has attribute weights, which the file does not name (they reproduce it)."""
        series, _, number = self.name.rpartition("-")
        return series == "UtilityMetricsLoss" and int(number) >= 50

    @property
    def best(self) -> bool:
        """Whether no valid node has a lower score."""
        return self.row["optimal"] == "True" and self.name not in NOT_OPTIMAL

    @property
    def k(self) -> int | None:
        """The k of the case's k-anonymity."""
        return dict(models(self.row["models"])).get("k-anonymity", {}).get("k")

    def problem(self, metric: LossMetric) -> SearchProblem:
        """Return the case as a search is asked it."""
        constraints = []
        for name, parameters in models(self.row["models"]):
            attribute = self.row["sensitive"] if PRIVACY_MODELS[name].sensitive else None
            constraints.append(ClassConstraint(attribute, model=build.model(name, parameters)))
        return SearchProblem(
            self.table,
            tuple(constraints),
            (),
            metric,
            self.limit,
            keep_rows=False,
            moving_reference=False,
            k=self.k,
        )


def models(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the models of a case: ``name:key=value,key=value`` separated by semicolons."""
    found = []
    for part in text.split(";"):
        name, _, rest = part.partition(":")
        pairs = dict(pair.split("=") for pair in rest.split(","))
        found.append((name, {key: int(value) if key in WHOLE else value for key, value in pairs.items()}))
    return found


def read(file: str) -> list[Case]:
    """Return the cases of a file."""
    text = shared("oracles", file).read_text()
    return [Case(row) for row in csv.DictReader(StringIO(text), delimiter="\t")]
