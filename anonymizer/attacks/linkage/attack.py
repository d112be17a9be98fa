"""Record linkage: the share of released records that an adversary with original records links correctly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any, Self

import numpy as np
from pydantic import Discriminator, Field, Tag, WithJsonSchema, model_validator

from anonymizer.attacks.base import (
    LINKED,
    NOTE,
    TAILS,
    AlignedSettings,
    Attack,
    AttackResult,
    MostExposed,
    Named,
    UnitSettings,
    about_records,
    clopper_pearson,
    draw_sample,
    known_columns,
    target_of,
    targets_of,
    unit_is_known,
)
from anonymizer.attacks.linkage.assignment import AssignmentLinking
from anonymizer.attacks.linkage.classifier import ClassifierLinking
from anonymizer.attacks.linkage.directions import directed
from anonymizer.attacks.linkage.distances import (
    ComparisonSpace,
    Coverage,
    Distance,
    Distancing,
    ErrorRates,
    Euclidean,
    LargestRank,
    Likelihood,
    Linked,
    Linking,
    Mahalanobis,
    Parametrized,
    RankDistance,
    SwapPartners,
    SwappedDistance,
    comparison_space,
)
from anonymizer.attacks.linkage.families import FAMILIES, Metric, WeightedMean
from anonymizer.attacks.linkage.learned import Exact, LearnedLinking
from anonymizer.attacks.linkage.linkers import NearestLinking, ProbabilisticLinking
from anonymizer.attacks.linkage.local_search import Fast
from anonymizer.attacks.linkage.portfolio import PortfolioLinking, strongest
from anonymizer.attacks.linkage.sinkhorn import SinkhornLinking
from anonymizer.attacks.links import links_of_pairs, located
from anonymizer.attacks.tail import Ranking, exposing
from anonymizer.errors import InputError, listed, suggestion
from anonymizer.model.adversary import AdversaryView, Links, Original, PublishedTable
from anonymizer.model.arrays import FloatArray, IntArray, count, numbered
from anonymizer.model.naming import ColumnName
from anonymizer.model.owners import OwnedRecords
from anonymizer.plugins import Exact as Decimals
from anonymizer.plugins import Rule, Settings, Threat, WholeNumber

WORK = 1 << 30
"""Maximum number of compared values; with more, targets are sampled."""

QUICK = 1 << 28
"""The same where nobody asked for the attack."""

QUICK_TARGETS = 2_000
"""The most of them then."""

LEAST = 100
"""Minimum number of sampled targets."""

LEFT_OUT = (
    "Each record was linked by itself; attacks: [{attack: linkage, linkage: portfolio}] also tries to link "
    "all of them together, and learns."
)
"""What is said where nobody asked for the attack."""

FALSE_LINKS, MISSED_LINKS = 0.001, 0.05
"""Default error rates of probabilistic linkage."""

DISTANCES: Mapping[str, type[Distance]] = {
    **{
        each.name: each
        for each in (Euclidean, Mahalanobis, RankDistance, LargestRank, SwapPartners, Coverage)
    },
    **dict.fromkeys(FAMILIES, Euclidean),
}
"""All distances by name; with equal weights, the families order pairs as the Euclidean distance."""


class LinkageMethod(StrEnum):
    """Methods of linkage."""

    NEAREST = "nearest"
    ASSIGNMENT = "assignment"
    PROBABILISTIC = "probabilistic"
    LEARNED = "learned"
    SINKHORN = "sinkhorn"
    CLASSIFIER = "classifier"
    PORTFOLIO = "portfolio"


WITHOUT_DISTANCE = (LinkageMethod.PROBABILISTIC, LinkageMethod.CLASSIFIER, LinkageMethod.PORTFOLIO)
"""Methods that take no distance: they compare otherwise, or by several."""


BY_DISTANCE: Mapping[LinkageMethod, Callable[[Distancing], Linking]] = {
    LinkageMethod.NEAREST: NearestLinking,
    LinkageMethod.ASSIGNMENT: AssignmentLinking,
    LinkageMethod.SINKHORN: SinkhornLinking,
}
"""Methods that link by any distance."""


class DistanceName(StrEnum):
    """Distances between records."""

    EUCLIDEAN = "euclidean"
    MAHALANOBIS = "mahalanobis"
    RANK = "rank"
    LARGEST_RANK = "largest-rank"
    SWAP_PARTNERS = "swap-partners"
    COVERAGE = "coverage"
    LIKELIHOOD = "likelihood"
    WEIGHTED_MEAN = "weighted-mean"
    OWA = "owa"
    BILINEAR = "bilinear"
    CHOQUET = "choquet"


class Standardisation(StrEnum):
    """The scales of numbers."""

    EACH = "each"
    ORIGINAL = "original"


ErrorRate = Annotated[
    Decimals,
    Field(gt=0, lt=1),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
]
"""A share of the adversary's values, neither none nor all."""


class KnownValues(Settings):
    """What the adversary knows of the originals, and how well; a value has at most one error."""

    of: Annotated[
        tuple[ColumnName, ...] | None,
        Field(min_length=1, description="quasi-identifiers that the adversary knows; default: all"),
    ] = None
    noise: Annotated[ErrorRate | None, Field(description="share of wrong values: those of other records")] = (
        None
    )
    missing: Annotated[ErrorRate | None, Field(description="share of unknown values")] = None
    year: Annotated[
        ErrorRate | None,
        Field(description="share of dates that are a year off, and of numbers that are one off"),
    ] = None
    typing: Annotated[ErrorRate | None, Field(description="share of values with one wrong character")] = None
    coding: Annotated[
        ErrorRate | None,
        Field(description="share of values classified as another one with the same parent in the hierarchy"),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _in_plain_words(cls, data: Any) -> Any:
        for key, value in data.items() if isinstance(data, Mapping) else ():
            if key not in cls.model_fields:
                raise ValueError(f"unknown key '{key}'; {suggestion(str(key), cls.model_fields)}")
            if key != "of" and value is not None and not _is_share(value):
                raise ValueError(f"{key} is {value!r}; accepted: a number > 0 and < 1")
        return data

    together = (
        Rule(
            lambda own: own.rates.correct < 0, "the rates of errors add up to more than 1; use smaller ones"
        ),
    )

    @property
    def rates(self) -> ErrorRates:
        """The error rates."""
        given = self.model_dump(exclude={"of"}, exclude_none=True)
        return ErrorRates(**{name: float(rate) for name, rate in given.items()})


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and 0 < value < 1


_COLUMNS = {"type": "array", "items": {"type": "string"}, "minItems": 1}

Knowledge = Annotated[
    Annotated[tuple[ColumnName, ...], Field(min_length=1), Tag("columns")]
    | Annotated[KnownValues, Tag("values")],
    Discriminator(lambda given: "values" if isinstance(given, Mapping | KnownValues) else "columns"),
    WithJsonSchema(
        {
            "anyOf": [
                _COLUMNS,
                {
                    "type": "object",
                    "properties": {
                        "of": _COLUMNS,
                        **{
                            name: {
                                "type": "number",
                                "exclusiveMinimum": 0,
                                "exclusiveMaximum": 1,
                                "description": str(field.description),
                            }
                            for name, field in KnownValues.model_fields.items()
                            if name != "of"
                        },
                    },
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
"""The known quasi-identifiers, or a mapping that says how well they are known, too."""

KNOWLEDGE = (
    "quasi-identifiers that the adversary knows, default: all; or a mapping such as {of: [age, sex], noise: "
    "0.05, missing: 0.1} with the shares of wrong or unknown values"
)


LEARNABLE = (*FAMILIES, DistanceName.LIKELIHOOD)
"""The distances that can be learned."""


def _without_distance(method: LinkageMethod, why: str) -> Rule:
    """Return the rule that a method of linkage gets no distance."""
    return Rule(
        lambda own: own.linkage is method and own.distance is not None,
        f"linkage: {method} {why}; remove distance",
    )


class LinkageSettings(AlignedSettings, UnitSettings):
    """The records that the adversary holds and the method of linkage."""

    knowledge: Annotated[Knowledge | None, Field(description=KNOWLEDGE)] = None
    linkage: Annotated[LinkageMethod, Field(description="method of linking records")] = LinkageMethod.NEAREST
    distance: Annotated[
        DistanceName | None, Field(description="distance between records; default: euclidean")
    ] = None
    overlap: Annotated[
        Decimals, Field(gt=0, le=1, description="share of the original records that the adversary holds")
    ] = Decimal(1)
    noise: Annotated[
        Decimals | None,
        Field(
            gt=0,
            lt=1,
            description="share of the adversary's values that are wrong: those of other records",
        ),
    ] = None
    standardise: Annotated[
        Standardisation,
        Field(
            description="scale of numbers: each file by its own mean and standard deviation, or both by "
            "those of the original"
        ),
    ] = Standardisation.EACH
    targets: Annotated[
        WholeNumber | None,
        Field(
            ge=1, description="maximum number of records to link; default: all, or as many as can be compared"
        ),
    ] = None
    swap_range: Annotated[
        Decimals | None,
        Field(
            gt=0,
            le=100,
            description="with rank: the swap range that the adversary knows, in percent of the records",
        ),
    ] = None
    metric: Annotated[bool, Field(description="with learned and bilinear: restrict the forms to metrics")] = (
        False
    )
    proof: Annotated[
        Decimals | None,
        Field(
            gt=0,
            description="with learned: seconds to spend on a proven upper bound over all weights; default: "
            "no proof",
        ),
    ] = None
    false_links: Annotated[
        Decimals | None,
        Field(
            gt=0,
            lt=1,
            description="with probabilistic: admissible share of non-matching pairs declared links",
        ),
    ] = None
    missed_links: Annotated[
        Decimals | None,
        Field(
            gt=0,
            lt=1,
            description="with probabilistic: admissible share of matching pairs declared non-links",
        ),
    ] = None

    together = (
        Rule(
            lambda own: own.linkage is not LinkageMethod.PROBABILISTIC and own.tolerates_errors,
            "false_links and missed_links need linkage: probabilistic; remove them",
        ),
        _without_distance(LinkageMethod.PORTFOLIO, "tries several distances"),
        _without_distance(LinkageMethod.CLASSIFIER, "compares by several distances"),
        _without_distance(LinkageMethod.PROBABILISTIC, "compares by agreement, not by a distance"),
        Rule(
            lambda own: own.learns and own.distance not in (None, *LEARNABLE),
            f"linkage: learned cannot learn distance {{own.distance}}; accepted: {', '.join(LEARNABLE)}",
        ),
        Rule(lambda own: own.proof is not None and not own.learns, "proof needs linkage: learned; remove it"),
        about_records(
            lambda own: own.draws_or_matches,
            "overlap, noise, aligned and key apply only to records; remove them, or set unit: {RECORD}",
        ),
        Rule(
            lambda own: own.swap_range is not None and own.distance is not DistanceName.RANK,
            "swap_range needs distance: rank; set distance: rank",
        ),
        Rule(
            lambda own: own.metric and not (own.learns and own.distance is DistanceName.BILINEAR),
            "metric needs linkage: learned and distance: bilinear; remove it",
        ),
        Rule(
            lambda own: own.noise is not None and isinstance(own.knowledge, KnownValues),
            "noise is given beside knowledge, which has a key noise of its own; give noise only inside "
            "knowledge, as in knowledge: {{noise: 0.1}}",
        ),
    )

    @property
    def learns(self) -> bool:
        """Whether the distance is learned from true links."""
        return self.linkage is LinkageMethod.LEARNED

    @property
    def tolerates_errors(self) -> bool:
        """Whether shares of false links or of missed ones are admissible."""
        return self.false_links is not None or self.missed_links is not None

    @property
    def draws_or_matches(self) -> bool:
        """Whether records are drawn or changed one by one, or linked otherwise than by their values."""
        return self.overlap < 1 or bool(self.rates.given()) or self.aligned or self.key is not None

    @property
    def named(self) -> Named:
        return replace(super().named, known=self.names or ())

    @property
    def names(self) -> tuple[str, ...] | None:
        """The known quasi-identifiers; None for all."""
        return self.knowledge.of if isinstance(self.knowledge, KnownValues) else self.knowledge

    @property
    def rates(self) -> ErrorRates:
        """The error rates of the adversary's values."""
        if isinstance(self.knowledge, KnownValues):
            return self.knowledge.rates
        return ErrorRates(noise=float(self.noise or 0))

    @property
    def by(self) -> DistanceName:
        """The distance; by default Euclidean, or the weighted mean if learned."""
        simplest = (
            DistanceName.WEIGHTED_MEAN if self.linkage is LinkageMethod.LEARNED else DistanceName.EUCLIDEAN
        )
        return self.distance or simplest


def _method(knowledge: Mapping[str, Any]) -> str:
    if "attacker" in knowledge:
        return f"the best of several attackers: {knowledge['attacker']}"
    return ", ".join(str(knowledge[key]) for key in ("linkage", "distance") if knowledge.get(key))


ERRORS = {
    "noise": "wrong",
    "missing": "unknown",
    "year": "a year or one off",
    "typing": "mistyped",
    "coding": "classified differently",
}
"""The errors of ``ErrorRates`` in words."""


class Linkage(Attack):
    """The expected share of released records that are linked correctly.

    The adversary holds a share ``overlap`` of the original records and links them by the attributes in
    ``knowledge``. Equally near records are equally likely, so a tie of n counts 1/n. The baseline is
    1 / records: a guess without the released values.

    Where it is known whose the records are, it is the expected share of persons, households or other units of
    whom a record is linked to any record of the same unit. Links into one class lead to different records
    there, whichever members they are of; those into different classes are independent.

    Attributes
    ----------
    at_most: of a constraint, which asks for the success alone, and whether it is more than this share; None
        for everything that a report shows.
    ranked: whether the most exposed are asked for.
    """

    name = "linkage"
    threat = Threat.LINKAGE
    Settings = LinkageSettings
    settings: LinkageSettings
    examples = ({"linkage": "nearest", "distance": "euclidean", "overlap": 0.25},)
    at_most: float | None = None
    ranked: bool = True
    unasked = True
    requires = (*LINKED, unit_is_known)

    @classmethod
    def at_once(cls) -> Self:
        """Return the attackers of the portfolio that link each record by itself."""
        found = cls(LinkageSettings(linkage=LinkageMethod.PORTFOLIO))
        found.quick = True
        return found

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:
        """Return how many of the held records the adversary links to the right released one."""
        held, by = float(knowledge["overlap"]), known_columns(knowledge)
        if "unit" in knowledge:
            what = target_of(knowledge)
            return (
                f"An adversary who holds the original records with {by} links a record of {success} of the "
                f"{targets_of(knowledge)} to a released record of the same {what} ({_method(knowledge)}); "
                f"by chance {guess}."
            )
        share = "the original records" if held == 1 else f"{100 * held:.3g} % of the original records"
        rates = [f"{100 * knowledge[name]:.3g} % {how}" for name, how in ERRORS.items() if name in knowledge]
        by += f" ({listed(rates)} of the values)" if rates else ""
        return (
            f"An adversary who holds {share} with {by} links {success} of them to the right released record "
            f"({_method(knowledge)}); by chance {guess}."
        )

    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Link the records that the adversary holds."""
        original = self.required_original(adversary)
        links, rates = self.settings.links(original), self.settings.rates
        if not rates.given():
            found = self._attacked(adversary, original, links, random)
            return [strongest({name: own for name, (_, own) in found.items()})]
        # Of one draw of the errors, more links than allowed prove nothing yet.
        linking = self._linking(None if self.at_most is None else 1.0)
        draws = []
        for _ in range(linking.draws):
            known = with_errors(original, links, rates, random)
            draws.append(self._attacked(adversary, known, known.links, random, linking))
        return [
            strongest(
                {
                    name: pooled([each[name][1] for each in draws], together=linked.together)
                    for name, (linked, _) in draws[0].items()
                    if all(name in each for each in draws)
                }
            )
        ]

    def _attacked(
        self,
        adversary: AdversaryView,
        original: Original,
        links: Links,
        random: np.random.Generator,
        drawing: Linking | None = None,
    ) -> dict[str, tuple[Linked, AttackResult]]:
        """Return the links and the result of each attacker, by name.

        Parameters
        ----------
        drawing: the linking if errors are drawn several times, so that each time links a part of the targets.
        """
        names = original.known(self.settings.names)
        owned = None if self.settings.draws_or_matches else adversary.owned_by(self.settings.unit)
        # Where units are counted, weights that link too many records may not link too many units.
        linking = drawing or self._linking(self.at_most if self.at_most is None or owned is None else 1.0)
        held, own = self._drawn(original, links, random)
        each = self.settings.standardise is Standardisation.EACH
        space = directed(comparison_space(adversary.release, original, names, held, own, each=each))[0]
        space = replace(space, ranked=self.ranked)
        case = _Case(adversary.release, original, links, space, owned, drawing is not None)
        most = self.settings.targets or max(linking.most(space, WORK), LEAST)
        if self.quick:
            most = min(max(linking.most(space, QUICK), LEAST), QUICK_TARGETS)
        if drawing is not None:
            most = max(-(-min(most, space.truth.records) // linking.draws), LEAST)
        case = case.sampled(most, random)
        each_linked = linking.each(case.space, random).items()
        return {name: (linked, self._found(case, linked)) for name, linked in each_linked}

    def _found(self, case: _Case, linked: Linked) -> AttackResult:
        """Return the result by records, or by units if they are counted."""
        found = self._of_records(case, linked)
        return found if case.owned is None else self._of_units(case, linked, found)

    def _of_units(self, case: _Case, linked: Linked, found: AttackResult) -> AttackResult:
        """Return the share of units of whom a record is linked to a record of the same unit.

        Parameters
        ----------
        found: the result by records.
        """
        assert case.owned is not None, "units are counted"
        owned, space, number = case.owned, case.space, case.owned.number
        rows, classes = case.places(owned)
        place = space.truth.of_pairs(rows, classes)
        own_records, sizes = numbered([classes, owned.target], len(rows))[0], space.sizes[classes]
        first = np.unique(own_records, return_index=True)[1]

        def found_by(right: FloatArray) -> FloatArray:
            return owned.by_any(first, reached_in(own_records, right, sizes)[first])

        ends = [found_by(right[place]) for right in linked.outcomes]
        success = float(ends[1].mean())
        of_ties = [float(units.mean()) for units in ends]
        low, high = _interval(min(of_ties), max(of_ties), number, estimated=case.estimates(linked))
        ceiling = float(found_by(1 / sizes).mean())
        of_members = numbered([classes, owned.members], len(rows))[0]
        alike = np.bincount(of_members)[of_members]
        one_link = np.minimum(linked.outcomes[1][place] * alike, 1.0)
        # The share of members whom their best link finds, as `vulnerability` does.
        best = owned.found(of_members, one_link, once=True)[1]
        details = {
            **found.details,
            "each_guess": best,
            "of_records": float(found.success),
            "estimated": low < high,
        }
        details.pop("bound", None)  # of records, which are linked more rarely
        known, baseline = {**found.knowledge, "unit": owned.unit}, Fraction(1, number)
        result = AttackResult(self.name, known, success, baseline, low, high, number, details)

        def ranked(own: Linked, right: FloatArray) -> Ranking:
            return Ranking.of(_sure_of_units(owned, space, own, rows), found_by(right[place]))

        chance = blind_on_units(owned, case.release.records)
        return self._exposed(case, result, linked, ranked, Ranking.of(chance, chance), ceiling)

    def _linking(self, at_most: float | None) -> Linking:
        method = self.settings.linkage
        probabilistic = ProbabilisticLinking(
            float(self.settings.false_links or FALSE_LINKS), float(self.settings.missed_links or MISSED_LINKS)
        )
        likelihood = Parametrized(Likelihood, self.settings.rates)
        if method is LinkageMethod.LEARNED:
            return self._learned(at_most)
        if method is LinkageMethod.PORTFOLIO:
            return PortfolioLinking(likelihood, probabilistic, at_most, quick=self.quick)
        if method in BY_DISTANCE:
            return BY_DISTANCE[method](self._distancing())
        return probabilistic if method is LinkageMethod.PROBABILISTIC else ClassifierLinking(likelihood)

    def _learned(self, at_most: float | None) -> Linking:
        seconds = self.settings.proof
        learner = Fast() if seconds is None else Exact(float(seconds))
        if self.settings.by is DistanceName.LIKELIHOOD:
            return LearnedLinking(WeightedMean, learner, self._distancing(), at_most)
        family = Metric if self.settings.metric else FAMILIES[self.settings.by]
        return LearnedLinking(family, learner, at_most=at_most)

    def _distancing(self) -> Distancing:
        if self.settings.swap_range is not None:
            return Parametrized(SwappedDistance, self.settings.swap_range)
        if self.settings.by is DistanceName.LIKELIHOOD:
            return Parametrized(Likelihood, self.settings.rates)
        return DISTANCES[self.settings.by]

    def _drawn(self, original: Original, links: Links, random: np.random.Generator) -> tuple[IntArray, Links]:
        """Return the held records of each original row, shape (rows,), and the links of those released."""
        linked = np.bincount(links.original, weights=links.counts, minlength=len(original.counts))
        lost = original.counts - linked.astype(np.int64)
        number = round(self.settings.overlap * original.records)
        if number < 1:
            raise InputError(
                f"{original.source}: overlap {self.settings.overlap} of {original.records} records "
                "rounds to zero records; use a larger value"
            )
        own = draw_sample(np.concatenate([links.counts, lost]), number, random)
        targets = Links(links.original, links.release, own[: len(links.counts)])
        if not targets.records:
            raise InputError(
                f"{original.source}: none of the {number} records that the adversary has is in the release; "
                "use a larger overlap"
            )
        released = np.bincount(links.original, weights=targets.counts, minlength=len(lost))
        return released.astype(np.int64) + own[len(links.counts) :], targets

    def _of_records(self, case: _Case, linked: Linked) -> AttackResult:
        """Return the share of records that are linked correctly."""
        space, adversary_records = case.space, case.release.records
        targets = space.truth.records
        least, success, most = (float(right @ space.truth.counts) / targets for right in linked.outcomes)
        low, high = _interval(least, most, targets, estimated=case.estimates(linked))
        details: dict[str, Any] = {
            "truth": self.settings.truth(case.original).value,
            "held_records": int(space.records.sum()),
            "sampled": targets < space.held.records,
            "estimated": low < high,
            "without_original": adversary_records - case.links.records,
            "left_out": {name: list(columns) for name, columns in case.original.unmatched_columns.items()},
        }
        if self.quick:
            details[NOTE] = LEFT_OUT
        baseline = Fraction(1, adversary_records)
        known, every = self._knowledge(space), details | linked.details
        result = AttackResult(self.name, known, success, baseline, low, high, targets, every)

        def ranked(own: Linked, right: FloatArray) -> Ranking:
            assert own.doubt is not None, "it was asked for"
            return Ranking.of(-own.doubt, right, space.truth.counts, 1 / (1 + own.doubt))

        return self._exposed(case, result, linked, ranked, None, space.ceiling)

    def _exposed(
        self,
        case: _Case,
        result: AttackResult,
        linked: Linked,
        ranked: Callable[[Linked, FloatArray], Ranking],
        blind: Ranking | None,
        ceiling: float,
    ) -> AttackResult:
        """Return a result with the success among the most exposed, if it is asked for.

        Parameters
        ----------
        ranked: returns the targets by the doubts of links, and their success by the chances of true links.
        blind: the same without the release.
        """
        result = replace(result, ceiling=max(ceiling, float(result.success)))
        if not case.space.ranked:
            return result
        tail = {}
        for share in TAILS:
            own = linked.tails.get(share, linked)
            honest = own.others or own
            ends = [ranked(own, right) for right in own.outcomes]
            estimated = case.estimates(linked) or honest is not own
            found = exposing(result, ranked(honest, honest.right), blind, further=ends, estimated=estimated)
            tail[share] = found.tail[share]
        return replace(result, tail=tail)

    def _knowledge(self, space: ComparisonSpace) -> dict[str, Any]:
        """Return what the adversary knows, and how records are linked."""
        knowledge: dict[str, Any] = {
            "attributes": list(space.names),
            "linkage": self.settings.linkage.value,
            "overlap": float(self.settings.overlap),
        }
        if self.settings.linkage not in WITHOUT_DISTANCE:
            knowledge["distance"] = self.settings.by.value
        if self.settings.swap_range is not None:
            knowledge["swap_range"] = float(self.settings.swap_range)
        knowledge |= self.settings.rates.given()
        if self.settings.standardise is not Standardisation.EACH:
            knowledge["standardise"] = self.settings.standardise.value
        return knowledge


@dataclass(frozen=True, eq=False)
class _Case:
    """Both files as the adversary compares them, and the targets.

    Attributes
    ----------
    links: from original to released records, of all records.
    owned: the targets' records; None if records are counted.
    drawn: whether errors of the adversary were drawn.
    """

    release: PublishedTable
    original: Original
    links: Links
    space: ComparisonSpace
    owned: OwnedRecords | None
    drawn: bool

    def estimates(self, linked: Linked) -> bool:
        """Return whether a result holds for some records, or comes from an approximate method.

        Of drawn errors only all draws together are an estimate, see ``pooled``.
        """
        if self.drawn:
            return False
        return linked.estimated or self.space.truth.records < self.links.records

    def places(self, owned: OwnedRecords) -> tuple[IntArray, IntArray]:
        """Return the original and the class in the space of each record, shape (records,) each."""
        names = self.space.names
        own, published = (
            [each.names.index(name) for name in names] for each in (self.original, self.release)
        )
        rows = self.original.codes[owned.original][:, own].astype(np.int64)
        texts = self.release.codes[owned.release][:, published].astype(np.int64)
        return (
            located(rows, self.space.originals.astype(np.int64)),
            located(texts, self.space.classes.astype(np.int64)),
        )

    def sampled(self, most: int, random: np.random.Generator) -> _Case:
        """Return the case with at most so many records as targets; the adversary holds the same records."""
        truth = self.space.truth
        if most >= truth.records:
            return self
        if self.owned is None:
            drawn = draw_sample(truth.counts, most, random)
            targets = links_of_pairs(truth.original, truth.release, drawn)
            return replace(self, space=self.space.targeting(targets))
        owned = drawn_owners(self.owned, most, random)
        ones = np.ones(len(owned.release), dtype=np.int64)
        targets = links_of_pairs(*self.places(owned), ones)
        return replace(self, space=self.space.targeting(targets), owned=owned)


def _sure_of_units(owned: OwnedRecords, space: ComparisonSpace, linked: Linked, rows: IntArray) -> FloatArray:
    """Return how sure an adversary is to find each unit by any of its known records, shape (units,).

    Parameters
    ----------
    rows: original of each record in the space, shape (records,), int64.
    """
    assert linked.doubt is not None, "it was asked for"
    doubt = np.full(len(space.records), np.inf)
    doubt[space.truth.original] = linked.doubt
    one = numbered([owned.target, rows], len(rows))[1]
    return owned.by_any(one, 1 / (1 + doubt[rows[one]]))


def blind_on_units(owned: OwnedRecords, records: int) -> FloatArray:
    """Return the chance to find each unit by random links of all of its records, shape (units,)."""
    everybody = np.full(len(owned.target), records)
    right = reached_in(owned.target, 1 / everybody, everybody)
    one = np.unique(owned.target, return_index=True)[1]
    return owned.by_any(one, right[one])


def reached_in(own: IntArray, right: FloatArray, sizes: IntArray) -> FloatArray:
    """Return the probability that a link of the unit's records in a class finds any of these.

    Each record is linked to another one of the class, so that of g links to n records, m of them the
    unit's, all miss with C(n - m, g) / C(n, g), if all lead to the class.

    Parameters
    ----------
    own: number of the unit and class of each record, shape (records,), int64.
    right: probability that a record is linked to a certain one of its class, shape (records,).
    sizes: records of its class, shape (records,), int64.
    """
    number = np.bincount(own)
    order = np.lexsort((-right, own))
    taken = np.empty_like(own)
    taken[order] = np.arange(len(own)) - (np.cumsum(number) - number)[own[order]]
    chance = np.minimum(right * sizes, 1.0) * number[own] / (sizes - taken)
    with np.errstate(divide="ignore"):
        missed = np.bincount(own, weights=np.log1p(-np.minimum(chance, 1.0)))
    found: FloatArray = -np.expm1(missed)[own]
    return found


FEW_DRAWS = {2: 4.8, 3: 4.8, 4: 2.6, 5: 2.0}
"""Squared quotients of the 97.5 % quantiles of Student's t and the normal distribution, by number of draws.

Of two draws, which tell next to nothing of their variance, the one of three.
"""


def pooled(draws: Sequence[AttackResult], *, together: bool) -> AttackResult:
    """Return the result over several draws of the adversary's errors, which have the ends of ties each.

    Where the draws differ by more than the successes of independent targets would, they are worth as many
    fewer targets; where one error moves the links of others, as in an assignment, their variance is taken for
    that of few draws.

    Source: the effective sample size, Kish, "Survey Sampling" (Wiley 1965).

    Parameters
    ----------
    together: whether the link of one record depends on those of others.
    """
    targets = np.array([each.records for each in draws])
    ends = [(float(each.success), each.low, each.high) for each in draws]
    success, low, high = np.average(ends, axis=0, weights=targets).tolist()
    number = int(targets.sum())
    independent = success * (1 - success) / float(targets.mean())
    between = float(np.var([own for own, _, _ in ends], ddof=1))
    between *= FEW_DRAWS[len(draws)] if together else 1.0
    worth = max(int(number / max(between / independent, 1.0)), 1) if independent > 0 else number
    low, high = _interval(low, high, worth, estimated=True)
    first = draws[0].details
    details = first | {
        "sampled": bool(first["sampled"]) and number < first["held_records"],
        "estimated": low < high,
        "draws": [own for own, _, _ in ends],
    }
    records = min(number, first["held_records"])
    tail = {
        share: _pooled_tail([each.tail[share] for each in draws], worth / number) for share in draws[0].tail
    }
    ceiling = max(float(np.mean([each.ceiling or 0.0 for each in draws])), success)
    return replace(
        draws[0],
        success=success,
        low=low,
        high=high,
        records=records,
        details=details,
        tail=tail,
        ceiling=ceiling,
    )


def _pooled_tail(draws: Sequence[MostExposed], worth: float) -> MostExposed:
    """Return the success among the most exposed over several draws of errors.

    Parameters
    ----------
    worth: of a target, as one of several independent ones.
    """
    targets = np.array([each.targets for each in draws])
    ends = [(float(each.success), each.low, each.high) for each in draws]
    success, low, high = np.average(ends, axis=0, weights=targets).tolist()
    number = max(int(targets.sum() * worth), 1)
    low, high = _interval(low, high, number, estimated=True)
    return replace(
        draws[0], success=success, low=low, high=high, ends=(low, high), targets=int(targets.sum())
    )


def _interval(least: float, most: float, targets: int, *, estimated: bool) -> tuple[float, float]:
    """Return the ends of an interval: those of ties, wider if the targets or their errors are a sample."""
    if not estimated:
        return least, most
    return clopper_pearson(least * targets, targets)[0], clopper_pearson(most * targets, targets)[1]


def drawn_owners(owned: OwnedRecords, most: int, random: np.random.Generator) -> OwnedRecords:
    """Return all records of some units, drawn until there are at most so many records."""
    order = random.permutation(owned.number)
    records = np.bincount(owned.target, minlength=owned.number)[order]
    taken = np.zeros(owned.number, dtype=bool)
    taken[order[: max(int((np.cumsum(records) <= most).sum()), 1)]] = True
    return owned.at(taken[owned.target])


def with_errors(original: Original, links: Links, rates: ErrorRates, random: np.random.Generator) -> Original:
    """Return original records as the adversary knows them, some values off or unknown, with their links.

    Parameters
    ----------
    links: of the records to the release.
    rates: of errors; each value has its own.
    random: the source of all randomness.
    """
    linked = np.repeat(links.original, links.counts)
    lost = original.counts - count(linked, np.ones(len(linked), dtype=np.int64), len(original.counts))
    rows = np.concatenate([linked, np.repeat(np.arange(len(lost)), lost)])
    codes = original.codes[rows]
    for column, meaning in enumerate(original.meanings):
        codes[:, column] = rates.drawn(meaning, codes[:, column], codes[:, column].copy(), random)
    row_of, first = numbered((codes + 1).T, len(codes))
    each = np.ones(len(rows), dtype=np.int64)
    release = np.repeat(links.release, links.counts)
    return replace(
        original,
        codes=codes[first],
        sensitive={},
        counts=count(row_of, each, len(first)),
        links=links_of_pairs(row_of[: len(linked)], release, each[: len(linked)]),
    )
