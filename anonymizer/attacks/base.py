"""The interface of attacks: adversary knowledge in, success rate with baseline out.

An attack may need links from original to released records. If targets are drawn, the success rate is an
estimate with a confidence interval.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from anonymizer.errors import InputError, listed, plural, suggestion
from anonymizer.model.adversary import AdversaryView, Links, Original, Truth
from anonymizer.model.arrays import BoolArray, IntArray, count, numbered
from anonymizer.model.features import Feature, Supporter
from anonymizer.model.naming import ColumnName, Name
from anonymizer.model.owners import OwnedRecords
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD
from anonymizer.plugins import Applicable, Registry, Rule, Settings, Threat, WholeNumber, exclusive, needs

Share = Fraction | float
"""A share of records; exact if counted, a float if estimated."""


TAILS: Mapping[str, Fraction] = {
    "0.01": Fraction(1, 100),
    "0.05": Fraction(1, 20),
    "0.1": Fraction(1, 10),
}
"""The shares of targets whose success is reported, by their keys in ``tail``."""


@dataclass(frozen=True)
class MostExposed:
    """The success among the targets of whom an adversary is surest.

    Attributes
    ----------
    success: share of them for which the attack succeeds.
    baseline: what an adversary without the release reaches among as many targets of their own choice.
    low, high: ends of the 95% interval, which tell skill from luck: both are ``success`` only if guesses are
        right as often as the adversary expects.
    ends: as ``low`` and ``high`` of a result: both equal ``success`` if it was counted over all records. They
        count against a limit.
    targets: number of these targets.
    """

    success: Share
    baseline: Share
    low: float
    high: float
    ends: tuple[float, float]
    targets: int


@dataclass(frozen=True)
class AttackResult:
    """The result of one attack.

    Attributes
    ----------
    attack: its name.
    knowledge: the adversary's knowledge and aim.
    success: share of targets for which the attack succeeds.
    baseline: success of a guess without the release.
    low, high: ends of the 95% interval; both equal ``success`` if it was counted over all records.
    records: number of targets.
    details: further results, in plain types.
    tail: the success among the targets of whom the adversary is surest, by the keys of ``TAILS``; empty if
        the attack does not rank its targets.
    ceiling: success that no adversary with this knowledge exceeds; 1 where nothing better is known, None for
        a property of the release that is counted, and of which no adversary could make more.
    """

    attack: str
    knowledge: dict[str, Any]
    success: Share
    baseline: Share
    low: float
    high: float
    records: int
    details: dict[str, Any] = field(default_factory=dict)
    tail: Mapping[str, MostExposed] = field(default_factory=dict)
    ceiling: float | None = None

    def among(self, share: str) -> Self:
        """Return the result for the targets of whom the adversary is surest, in place of that for all.

        Parameters
        ----------
        share: a key of ``TAILS``.
        """
        best = self.tail[share]
        low, high = best.ends
        own = replace(self, success=best.success, baseline=best.baseline, records=best.targets)
        return replace(own, low=low, high=high)


@dataclass(frozen=True)
class Named:
    """What the parameters of an attack name of a config, and of the files that it reads.

    Attributes
    ----------
    known: quasi-identifiers that the adversary knows; empty for all.
    columns: names of columns in files where they differ from the config.
    unit: that is counted; None for the default.
    weights: column of sampling weights; None without.
    key: column that tells which records of two files belong together; None without.
    aligned: whether the rows of two files belong together in their order.
    """

    known: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    unit: str | None = None
    weights: str | None = None
    key: str | None = None
    aligned: bool = False


class AttackParameters(Settings):
    """The parameters of an attack that name something of a config."""

    @property
    def named(self) -> Named:
        """What they name."""
        return Named()


class Attack(Applicable, Supporter):
    """A procedure that measures an adversary's success on a release.

    Class attributes
    ----------------
    threat: the threat that the attack measures, None for none of the seven; every attack must set it.
    compares_releases: whether the attack reads two releases in one domain of values.
    needs_recipe: whether the attack needs to know how the release was made.
    of_release_alone: whether the results depend only on the release and the parameters, not on original
        records, a recipe or randomness; a recipient can repeat such attacks.
    blind: what the baseline is the success of, in words.
    examples: ``knowledge`` of results without ``attributes``, by which tests say its sentence.
    unasked: whether a run whose config leaves the choice to it runs the attack.

    Attributes
    ----------
    quick: whether nobody asked for it: it then takes a second at most, and says what it leaves out.
    """

    supports = frozenset({Feature.OUT_OF_CORE})
    threat: ClassVar[Threat | None]
    compares_releases: ClassVar[bool] = False
    needs_recipe: ClassVar[bool] = False
    of_release_alone: ClassVar[bool] = False
    blind: ClassVar[str] = "the success without the release"
    examples: ClassVar[tuple[Mapping[str, Any], ...]] = ({},)
    unasked: ClassVar[bool] = False
    quick: bool = False

    def __init_subclass__(cls) -> None:
        """Refuse an attack without ``threat``: a report would omit it."""
        super().__init_subclass__()
        if isinstance(getattr(cls, "name", None), str) and not hasattr(cls, "threat"):
            raise TypeError(f"{cls.__qualname__}: has no threat; set one of Threat, or None")

    @classmethod
    def threat_of(cls, knowledge: Mapping[str, Any]) -> Threat | None:  # noqa: ARG003 - a few need it
        """Return the threat that an entry of a report measures.

        Parameters
        ----------
        knowledge: ``AttackResult.knowledge`` of the entry.
        """
        return cls.threat

    @classmethod
    def sentence(cls, knowledge: Mapping[str, Any], success: str, guess: str) -> str:  # noqa: ARG003 - of others
        """Return a result as a sentence for readers who do not know the attack.

        Parameters
        ----------
        knowledge: ``AttackResult.knowledge``.
        success, guess: shares in percent; ``guess`` is what an adversary without the release reaches.
        """
        return (
            f"The attack {cls.name} succeeds for {success} of its targets; without the release for {guess}."
        )

    @classmethod
    def at_once(cls) -> Self:
        """Return the attack as a run has it that nobody asked for attacks."""
        found = cls()
        found.quick = True
        return found

    @property
    def named(self) -> Named:
        """What the parameters name of a config."""
        return self.settings.named if isinstance(self.settings, AttackParameters) else Named()

    @property
    def unit(self) -> str | None:
        """Whom the attack counts; records, if a plug-in of others has no such option."""
        return self.settings.unit if isinstance(self.settings, UnitSettings) else RECORD

    @abstractmethod
    def run(self, adversary: AdversaryView, random: np.random.Generator) -> Sequence[AttackResult]:
        """Return the results, one for each sensitive attribute if the attack aims at one at a time.

        Parameters
        ----------
        random: the source of all randomness.

        Raises
        ------
        InputError: a parameter names a column that the release does not have.
        """

    def require(self, adversary: AdversaryView) -> None:
        """Refuse a release that the attack does not apply to.

        Raises
        ------
        InputError: a requirement of the attack is missing.
        """
        lacking = self.missing_requirement(adversary)
        if lacking is not None:
            what = f"the attack {self.name} needs {lacking}; provide this, or remove the attack"
            raise InputError(f"{adversary.release.source}: {what}")

    def required_original(self, adversary: AdversaryView) -> Original:
        """Return the original records of an attack that needs them; raises as ``require``."""
        self.require(adversary)
        assert adversary.original is not None, "it is a requirement"
        return adversary.original

    def counted(
        self,
        adversary: AdversaryView,
        knowledge: dict[str, Any],
        success: Share,
        baseline: Share,
        details: dict[str, Any] | None = None,
        targets: int | None = None,
    ) -> AttackResult:
        """Return an exact result over all records of the release, or over a number of other targets."""
        exact, number = float(success), adversary.release.records if targets is None else targets
        return AttackResult(self.name, knowledge, success, baseline, exact, exact, number, details or {})


class KnowledgeSettings(AttackParameters):
    """What the adversary knows of a target."""

    knowledge: Annotated[
        tuple[ColumnName, ...] | None,
        Field(min_length=1, description="quasi-identifiers that the adversary knows; default: all"),
    ] = None

    @property
    def named(self) -> Named:
        return replace(super().named, known=self.knowledge or ())


class UnitSettings(AttackParameters):
    """Whom the adversary targets."""

    unit: Annotated[
        str | None,
        Field(
            description="who is a target: a record, a person, a household or a name of input.units, reached "
            "through any of their records; default: a person where the persons of the records are known"
        ),
    ] = None

    @property
    def named(self) -> Named:
        return replace(super().named, unit=self.unit)


def about_records(asked: Callable[[Any], Any], words: str) -> Rule:
    """Return the rule that settings which ask for something about records count no other unit.

    Parameters
    ----------
    asked: returns whether settings ask for it.
    words: what is about records, and what to remove; ``{RECORD}`` stands for the unit to set.
    """
    return Rule(lambda own: own.unit not in (None, RECORD) and asked(own), words.replace("{RECORD}", RECORD))


def facts_about_records(given: Callable[[Any], Any]) -> Rule:
    """Return the rule that facts are about records; ``given`` returns whether settings have facts."""
    return about_records(
        given, "facts given as a mapping are about records; set unit: {RECORD}, or remove facts"
    )


class KnownSets(KnowledgeSettings):
    """What the adversary knows of a target: one set of quasi-identifiers, or every possible set."""

    subsets: Annotated[
        Literal["all"] | None, Field(description="all: every set of known quasi-identifiers")
    ] = None
    size: Annotated[
        WholeNumber | None, Field(ge=1, description="with subsets: maximum number of known quasi-identifiers")
    ] = None

    together: ClassVar[tuple[Rule, ...]] = (
        exclusive("knowledge", "subsets"),
        Rule(lambda own: own.size and not own.subsets, "size goes with subsets: all; add it, or remove size"),
    )


class SubsetSettings(KnownSets, UnitSettings):
    """What the adversary knows of a target, and whom it targets."""


class PairingSettings(AttackParameters):
    """How the records of two files belong together, and the names of their columns."""

    aligned: Annotated[
        bool, Field(description="row i of the release comes from row i of the original, as in masked data")
    ] = False
    key: Annotated[
        ColumnName | None,
        Field(
            min_length=1,
            description="column of both files that tells which records are of the same person; within a file "
            "its values differ",
        ),
    ] = None
    columns: Annotated[
        Mapping[ColumnName, Name] | None,
        Field(
            min_length=1,
            description="names of columns in files where they differ from the config, such as {age: AGE}",
        ),
    ] = None

    together: ClassVar[tuple[Rule, ...]] = (exclusive("aligned", "key"),)

    @property
    def named(self) -> Named:
        return replace(super().named, columns=self.columns or {}, key=self.key, aligned=self.aligned)


class AlignedSettings(PairingSettings):
    """The source of links from original to released records."""

    def links(self, original: Original) -> Links:
        """Return the links from original to released rows."""
        if (self.aligned or self.key is not None) and original.aligned_links is not None:
            return original.aligned_links
        return original.links

    def truth(self, original: Original) -> Truth:
        """Return the source of these links."""
        if self.key is not None:
            return Truth.BY_KEY
        return Truth.BY_POSITION if self.aligned else original.truth


class AlignedUnitSettings(AlignedSettings, UnitSettings):
    """The source of links from original to released records, and whom the adversary targets."""

    together: ClassVar[tuple[Rule, ...]] = (
        about_records(
            lambda own: own.by_record,
            "aligned and key apply only to records; remove them, or set unit: {RECORD}",
        ),
    )

    @property
    def by_record(self) -> bool:
        """Whether records are linked otherwise than by their values."""
        return self.aligned or self.key is not None

    def owned(self, adversary: AdversaryView) -> OwnedRecords | None:
        """Return the records of the units that an attack counts; None: it counts records."""
        return None if self.by_record else adversary.owned_by(self.unit)


def unit_is_known(attack: Attack, adversary: AdversaryView) -> str | None:
    """Require that somebody knows whose the original records are, if the attack asks for a unit."""
    return adversary.lacks_unit(attack.unit)


def holders_are_known(attack: Attack, adversary: AdversaryView) -> str | None:
    """Require what ``unit_is_known`` does of an attack on the released rows alone."""
    return adversary.lacks_holders(attack.unit)


DISCLOSING = needs("a sensitive attribute", lambda _, adversary: adversary.disclosing.sensitive)
ORIGINAL = needs("original records", lambda _, adversary: adversary.original is not None)
LINKED = (
    ORIGINAL,
    needs(
        "an original with as many rows as the release, because of aligned: true",
        lambda own, adversary: not own.settings.aligned or adversary.original.aligned_links is not None,
    ),
    needs(
        "two files with the column '{own.settings.key}', because of key",
        lambda own, adversary: own.settings.key is None or adversary.original.aligned_links is not None,
    ),
    needs(
        "links from original to released records, but no released record covers the values of an original "
        "one (if row i of the release comes from row i of the original, set aligned: true)",
        lambda own, adversary: (
            own.settings.aligned
            or own.settings.key is not None
            or adversary.original.truth is not Truth.UNKNOWN
        ),
    ),
)
"""Requirements of links from original to released records, of an attack with ``AlignedSettings``."""
SECOND = needs(
    "a second release (--second of the command attack, or second_df in Python)",
    lambda _, adversary: adversary.second is not None,
)


ATTACKS: Registry[Attack] = Registry("attack", Attack, "anonymizer.attacks", "anonymizer.attacks")

CONFIDENCE = 0.95


NAMED_COLUMNS = 4
"""Maximum number of known columns that a sentence names; of more it names the first ones."""


def subject_of(knowledge: Mapping[str, Any]) -> str:
    """Return the adversary of an attack as the subject of a sentence; one on units knows all their records.

    >>> subject_of({"attributes": ["age", "sex", "zip"]})
    "An adversary who knows a person's age, sex and zip"
    >>> subject_of({"attributes": list("abcdef")})
    "An adversary who knows a person's a, b, c and 3 more columns"
    >>> subject_of({"attributes": ["age", "sex"], "unit": "person"})
    'An adversary who knows age and sex of every record of a person'
    """
    if "unit" in knowledge:
        of_all = f"of every record of a {target_of(knowledge)}"
        return f"An adversary who knows {known_columns(knowledge)} {of_all}"
    return f"An adversary who knows a person's {known_columns(knowledge)}"


def targets_of(knowledge: Mapping[str, Any]) -> str:
    """Return whom an attack counts: records, or units of the name in its knowledge.

    >>> targets_of({}), targets_of({"unit": "person"}), targets_of({"unit": "ward"})
    ('records', 'persons', 'units of ward')
    """
    unit = knowledge.get("unit")
    if unit is None:
        return "records"
    return f"{unit}s" if unit in (PERSON, HOUSEHOLD) else f"units of {unit}"


def target_of(knowledge: Mapping[str, Any]) -> str:
    """Return whom an attack aims at: a record, or a unit of the name in its knowledge."""
    return str(knowledge.get("unit", RECORD))


def known_columns(knowledge: Mapping[str, Any]) -> str:
    """Return the columns that an adversary knows as words; of many, the first ones and a number."""
    names = list(knowledge["attributes"])
    if len(names) > NAMED_COLUMNS:
        first = NAMED_COLUMNS - 1
        names[first:] = [plural(len(names) - first, "more column")]
    return listed(names)


NUMERIC = "a numeric quasi-identifier"
"""What ``chosen`` says that a column is not."""


def chosen(asked: Sequence[str] | None, offered: Sequence[str], source: str, what: str) -> tuple[str, ...]:
    """Return the columns that a parameter names, in the order of those offered; all of these without one.

    Parameters
    ----------
    source: of the columns, for messages.
    what: each of them is.

    Raises
    ------
    InputError: a column is not offered.
    """
    for name in asked or ():
        if name not in offered:
            raise InputError(f"{source}: '{name}' is not {what}; {suggestion(name, offered)}")
    return tuple(name for name in offered if name in (asked or offered))


def guess_of(entry: Mapping[str, Any]) -> float:
    """Return the success of a guess without the release: the baseline, or the base rate if it is higher.

    Parameters
    ----------
    entry: of a report's ``attacks``.
    """
    return max(float(entry["baseline"]), float(entry.get("details", {}).get("base_rate") or 0.0))


def threat_of(entry: Mapping[str, Any]) -> Threat | None:
    """Return the threat that an entry of a report's ``attacks`` measures, None for none of the seven."""
    return ATTACKS[entry["attack"]].threat_of(entry["knowledge"])


LINKS = "links"
"""Key of ``AttackResult.knowledge`` where a release links the records of a person."""

USED, IGNORED = "used", "ignored"
"""Whether an attack uses these links."""


BELOW = "below_baseline"
"""Key of ``AttackResult.details`` where an attack succeeds less often than a guess without the release."""

NOTE = "note"
"""Key of ``AttackResult.details`` for a sentence that readers of the success must know."""


def is_below_baseline(success: Share, baseline: Share) -> bool:
    """Return whether an attack succeeds less often than a guess, so that it does not fit the release.

    >>> is_below_baseline(0.3, 0.4), is_below_baseline(0.1 + 0.2, 0.3), is_below_baseline(0.3, 0.1 + 0.2)
    (True, False, False)
    """
    return float(success) < float(baseline) - ROUNDING


ROUNDING = 1e-9
"""Difference of shares that counted and expected ones have by rounding."""


def marked(results: Sequence[AttackResult], adversary: AdversaryView) -> Sequence[AttackResult]:
    """Return results that say what they ignore: links between records of a person, or a better guess."""
    results = [
        replace(each, details=each.details | {BELOW: True})
        if is_below_baseline(each.success, each.baseline)
        else each
        for each in results
    ]
    if not adversary.linked:
        return results
    return [
        replace(each, knowledge=each.knowledge | {LINKS: each.knowledge.get(LINKS, IGNORED)})
        for each in results
    ]


def with_links(owned: OwnedRecords) -> dict[str, str]:
    """Return what an attack by ``OwnedRecords.class_of`` knows besides: links of records, if any."""
    return {LINKS: USED} if owned.linked else {}


def exact_sum(hits: IntArray, among: IntArray) -> Fraction:
    """Return the exact sum of hits / among, both of shape (terms,), int64."""
    sizes, place = np.unique(among, return_inverse=True)
    sums = count(place, hits, len(sizes))
    terms = (Fraction(hit, size) for hit, size in zip(sums.tolist(), sizes.tolist(), strict=True))
    return sum(terms, Fraction(0))


def best_blind(by_record: Share, target: IntArray, number: int, values: IntArray) -> Share:
    """Return the success of the best blind guess about targets: one for each record, or one for everybody.

    Guesses for each record may prefer the value of a target with many records; one for everybody is the value
    that most targets have. With one record each, the guesses for each record are the result.

    Parameters
    ----------
    by_record: share of targets of whom a blind guess for one of the records is true.
    target: whose each record is, shape (records,), int64.
    number: of targets.
    values: of the sensitive attribute, shape (records,), int64.
    """
    if len(target) == number:
        return by_record
    first = numbered([target, values], len(values))[1]
    return max(by_record, Fraction(int(np.bincount(values[first]).max()), number))


@dataclass(frozen=True, eq=False)
class Targets:
    """The released records of the targets of an attack, one by one.

    Attributes
    ----------
    original, release: row of each record in the two tables, shape (records,), int64.
    target: whose record it is, shape (records,), int64; numbered from 0 by the first of their records.
    number: of targets.
    """

    original: IntArray
    release: IntArray
    target: IntArray
    number: int

    @classmethod
    def drawn(
        cls, links: Links, owned: OwnedRecords | None, most: int, random: np.random.Generator
    ) -> Targets:
        """Return at most so many units with all their records, or linked records if no units are counted."""
        if owned is None:
            return cls.of_records(links, most, random)
        return cls.of_units(owned, most, random)

    @classmethod
    def of_records(cls, links: Links, most: int, random: np.random.Generator) -> Targets:
        """Draw at most so many linked records; each is a target."""
        which = np.repeat(np.arange(len(links.counts)), draw_sample(links.counts, most, random))
        return cls(links.original[which], links.release[which], np.arange(len(which)), len(which))

    @classmethod
    def of_units(cls, owned: OwnedRecords, most: int, random: np.random.Generator) -> Targets:
        """Return all records of at most so many units, drawn at random.

        Where each unit has one record, the draw is that of ``of_records``.
        """
        order = np.lexsort((owned.release, owned.original))
        original, release = owned.original[order], owned.release[order]
        units, number = owned.target, owned.number
        first = np.unique(units[order], return_index=True)[1]
        # By their first records, whose rows are counted as links are.
        place = np.empty(number, dtype=np.int64)
        place[np.argsort(first)] = np.arange(number)
        target, first = place[units[order]], np.sort(first)
        if number > most:
            starts = np.diff(original[first], prepend=-1) | np.diff(release[first], prepend=-1)
            link = np.cumsum(starts != 0) - 1
            drawn = draw_sample(np.bincount(link), most, random)
            (other,) = random.spawn(1)
            by_chance = np.lexsort((other.random(number), link))
            rank = np.arange(number) - np.searchsorted(link, link)
            taken = np.zeros(number, dtype=bool)
            taken[by_chance[rank < drawn[link]]] = True
            kept = taken[target]
            original, release, target = original[kept], release[kept], (np.cumsum(taken) - 1)[target[kept]]
            number = int(taken.sum())
        return cls(original, release, target, number)

    def reached(self, told: BoolArray) -> int:
        """Return the number of targets with a told record, given which records are, shape (records,)."""
        return int(np.count_nonzero(np.bincount(self.target[told])))


def clopper_pearson(successes: float, targets: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the ends of the interval of Clopper and Pearson for a share.

    Unlike Wilson's interval, it keeps its level for rare successes. Successes may be fractions, the expected
    values of ties: they vary less than ties resolved at random, so the interval is wide enough.

    Source: Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial" (Biometrika 26, 1934, doi:10.1093/biomet/26.4.404).
    """
    from scipy.special import betaincinv  # noqa: PLC0415  quick start-up

    tail, failures = (1 - confidence) / 2, max(targets - successes, 0.0)
    low = float(betaincinv(successes, failures + 1, tail)) if successes > 0 else 0.0
    high = float(betaincinv(successes + 1, failures, 1 - tail)) if failures > 0 else 1.0
    return low, high


def draw_sample(counts: IntArray, number: int, random: np.random.Generator) -> IntArray:
    """Draw records without replacement; return the number of each kind, shape as ``counts``, int64.

    Parameters
    ----------
    counts: records of each kind.
    number: of records to draw; all if there are fewer.
    """
    if number >= int(counts.sum()):
        return counts
    return random.multivariate_hypergeometric(counts, number, method="marginals")
