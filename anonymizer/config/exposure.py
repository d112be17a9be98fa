"""The thresholds of findings about a release, and the findings and warnings that somebody has read."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, ClassVar

from pydantic import Field

from anonymizer.config.section import JsonSchema, Section, ShortSection
from anonymizer.errors import shown, suggestion
from anonymizer.exposure.finding import ROWS_ARE_PERSONS, Kind
from anonymizer.exposure.measure import Thresholds
from anonymizer.plugins import Exact, accepts

Share = Annotated[Exact, Field(ge=0, le=1)]


class ExposureSettings(Section):
    """Shares above which a run ends as SATISFIED, BUT."""

    unique: Share = Field(
        default=Decimal("0.05"),
        description="units that are alone with their published quasi-identifiers and insensitive columns",
    )
    computed: Share = Field(
        default=Decimal("0.05"), description="units that a column singles out or shows which others compute"
    )
    undone: Share = Field(
        default=Decimal("0.05"), description="records whose coarsened value a finer column names"
    )
    predicts: Share = Field(
        default=Decimal("0.95"),
        description="right guesses of a sensitive value by an insensitive column; here as many are enough",
    )
    unit: Share = Field(
        default=Decimal("0.05"),
        description="records that columns put together again with those of their unit",
    )
    rare_values: Share = Field(
        default=Decimal(0),
        description="units with a value of an unchanged column that fewer than k have",
    )

    def thresholds(self) -> Thresholds:
        """Return the shares as numbers."""
        return Thresholds(**{name: float(getattr(self, name)) for name in type(self).model_fields})


def _is_finding(given: str) -> bool:
    kind, _, column = given.partition(":")
    return given == ROWS_ARE_PERSONS or (kind in set(Kind) and bool(column))


def _no_finding(given: str) -> str:
    kind = given.partition(":")[0]
    if kind in set(Kind):
        return f"{shown(given)} names no column; accepted: {kind}:COLUMN"
    return f"{shown(given)}; {suggestion(kind, [ROWS_ARE_PERSONS, *Kind])}"


class Acknowledgement(ShortSection):
    """A warning or finding that somebody has read; in short, its name."""

    short: ClassVar[str] = "finding"
    finding: Annotated[str, accepts(_is_finding, _no_finding)] = Field(
        description="rows-are-persons: no person has two records; or the kind of a finding and a column, "
        "such as singled-out:hours_per_week, which says that nobody outside knows these hours"
    )
    because: str | None = Field(default=None, min_length=1, description="the reason, for the report")
    by: str | None = Field(default=None, min_length=1, description="who read it, for the report")

    @classmethod
    def config_form(cls, own: dict[str, Any]) -> Any:
        """Return the name alone where nothing else is set."""
        return own["finding"] if len(own) == 1 else own

    @classmethod
    def forms(cls, frame: JsonSchema) -> list[JsonSchema]:
        kinds = "|".join(Kind)
        return [{"type": "string", "pattern": f"^({ROWS_ARE_PERSONS}|({kinds}):.+)$"}, frame]

    @property
    def column(self) -> str | None:
        """The column of the finding; None for a warning."""
        return self.finding.partition(":")[2] or None
