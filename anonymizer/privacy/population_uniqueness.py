"""Population uniqueness."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from anonymizer.attacks.uniqueness import ESTIMATORS, SampleClasses
from anonymizer.model.classes import ClassView
from anonymizer.model.features import Feature, Limit
from anonymizer.model.table import SensitiveAttribute
from anonymizer.plugins import Exact
from anonymizer.privacy.base import WHO, PrivacyModel, ReleaseRisk, RiskSettings, as_shown


class EstimatorName(StrEnum):
    """How population uniques are found."""

    COUNT = "count"
    NEGATIVE_BINOMIAL = "negative-binomial"
    ZAYATZ = "zayatz"
    PITMAN = "pitman"
    COPULA = "copula"


class Among(StrEnum):
    """The records of which a share is unique in the population."""

    RECORDS = "records"
    SAMPLE_UNIQUES = "sample-uniques"


class PopulationUniquenessSettings(RiskSettings):
    """Parameters of population uniqueness."""

    max: Annotated[Exact, Field(ge=0, le=1, description="maximum share of records that are unique")]
    estimator: Annotated[
        EstimatorName,
        Field(
            description="pitman (default), zayatz, negative-binomial: from class sizes and the number of "
            "people; copula: for each record from its values; count: classes of one person in the population"
        ),
    ] = EstimatorName.PITMAN
    of: Annotated[
        Among,
        Field(
            description="records (default): share of all records; sample-uniques: share of those that are "
            "unique in the release"
        ),
    ] = Among.RECORDS


class PopulationUniqueness(ReleaseRisk):
    """The expected share of records whose person is the only one in the population with their values.

    With ``of: sample-uniques`` it is P(population unique | sample unique), 0 without a sample unique. Where
    persons have several records, a sample unique is a class of one person.

    ``count`` counts classes with N_E = 1, which is exact with a table of the population. The estimators are
    those of the attack ``uniqueness``: of a table they know the number of people alone. With a table an
    estimate is at least the count, which is then known.
    """

    name = "population-uniqueness"
    supports = ReleaseRisk.supports - {Feature.APPLY}
    sensitive = False
    Settings = PopulationUniquenessSettings
    settings: PopulationUniquenessSettings
    examples = (
        {"max": 0.5, "estimator": "count", "of": "records"},
        {"max": 0.1, "estimator": "negative-binomial", "of": "sample-uniques"},
        {"max": 0.01, "estimator": "zayatz", "of": "records"},
        {"max": 0, "estimator": "pitman", "of": "sample-uniques"},
    )
    mitigates = WHO
    needs_population = True
    measured_by_default = False

    @classmethod
    def probes(cls, attribute: SensitiveAttribute | None) -> list[PrivacyModel]:
        """Return a probe for each estimator, of all records and of the unique ones."""
        given = [{"max": 1, "estimator": each, "of": own} for own in Among for each in EstimatorName]
        return [cls(PopulationUniquenessSettings.model_validate(each)) for each in given]

    @property
    def limits(self) -> Mapping[Feature, Limit]:
        """Why estimates fail: they compare the sizes of classes with people."""
        own = self.settings.estimator
        if own is EstimatorName.COUNT:
            return super().limits
        what = f"estimator {own.value} assumes that each record is a person"
        remedy = (
            "set estimator: count or, if each person has one record, remove input.person and set "
            "acknowledge: [rows-are-persons]"
        )
        return {**super().limits, Feature.PERSONS_AMONG_PEOPLE: Limit(what, remedy)}

    @property
    def allowed_success(self) -> None:
        """None: a share of unique records limits no attack."""
        return None

    def risk(self, view: ClassView) -> Fraction:
        """Return the share of the records, or of the unique ones."""
        people = view.people
        unique = (view.sizes if people.persons is None else people.persons) == 1
        few = self.settings.of is Among.SAMPLE_UNIQUES
        records = int(unique.sum()) if few else int(view.sizes.sum())
        if not records:
            return Fraction(0)
        alone = people.scaled <= people.scale
        # A sample unique is a person, of however many records.
        counted = as_shown(int((alone & unique).sum() if few else view.sizes[alone].sum()) / records)
        if self.settings.estimator is EstimatorName.COUNT:
            return counted
        estimate = as_shown(round(ESTIMATORS[self.settings.estimator](self._sample(view)) / records, 12))
        return estimate if people.estimated else max(estimate, counted)

    def _sample(self, view: ClassView) -> SampleClasses:
        """Return the classes as a sample, of which an estimator knows the weights or the number of people.

        A table of the population is only counted, so that the estimate is the one of an adversary who knows
        the number of people alone.
        """
        people = view.people
        each = max(people.total / int(view.sizes.sum()), 1.0)
        expected = people.people if people.estimated else view.sizes.astype(np.float64) * each
        positions = None
        if self.settings.estimator is EstimatorName.COPULA:
            assert view.values is not None, "population and linked records exclude each other"
            positions = view.values.positions(expected)
        return SampleClasses(view.sizes, expected, positions, people.total)
