"""What the name of a column says: its subject, and from that who could know its values.

One table in ten languages, ``words.yaml``, has the words. Subjects come in order, and the first whose words
are in a name decides: a place named after health is a place, and the income of a household is an income.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any

import yaml

from anonymizer.model.table import Role

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")
_NOT_DECOMPOSED = str.maketrans(
    {
        **{"ø": "o", "ł": "l", "ı": "i", "đ": "d", "æ": "ae", "œ": "oe", "ß": "ss"},
        **{"Ø": "O", "Ł": "L", "Đ": "D", "Æ": "AE", "Œ": "OE"},
    }
)


class Ground(StrEnum):
    """Who could know the values of a column, or what they are for."""

    IDENTIFIER = "identifier"
    OUTSIDE = "known outside"
    FEW = "known to few"
    WEIGHT = "survey weight"
    KEY = "key of a person or household"


LONG_ENOUGH = 6
"""Minimum length of several words written as one that are found inside of others."""


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a column's name, in lower case and without accents.

    >>> words_of("dateOfBirth"), words_of("marital-status"), words_of("HTTPCode2"), words_of("Prénom")
    (('date', 'of', 'birth'), ('marital', 'status'), ('http', 'code', '2'), ('prenom',))
    """
    return tuple(part.casefold() for part in _PARTS.findall(_without_accents(name)))


def _without_accents(name: str) -> str:
    decomposed = unicodedata.normalize("NFKD", name.translate(_NOT_DECOMPOSED))
    return "".join(each for each in decomposed if not unicodedata.combining(each))


NUMBERS = ("no", "nr", "num", "number", "nbr", "code", "key", "ref")
"""Words for numbers."""


def split_terms(text: str) -> list[str]:
    """Return the terms of a text, separated by commas.

    >>> split_terms("date of birth, =case&")[:3]
    ['date of birth', '=caseno', '=casenr']
    """
    terms = filter(None, (" ".join(term.split()) for term in text.split(",")))
    return [term.replace("&", each) for term in terms for each in (NUMBERS if "&" in term else ("",))]


@dataclass(frozen=True)
class Words:
    """Words that names of columns are searched for.

    Attributes
    ----------
    terms: separated by commas. A term fits whole words of a name; with ``*`` at an end also the beginning or
        end of a longer word, with ``=`` only the whole name, with ``$`` only its end. Several words also fit
        when they are written as one. ``#`` is a number, ``&`` each word of ``NUMBERS``. Accents do not count.
    """

    terms: str

    def fit(self, name: str) -> bool:
        """Return whether a name has one of the terms.

        >>> Words("age, diagnos*, *hispanic*, =last, date of birth").fit("patient_age")
        True
        >>> [Words("age, =last, date of birth").fit(name) for name in ("page", "last_visit", "DateofBirth")]
        [False, False, True]
        """
        words = words_of(name)
        spaced = f" {' '.join(words)} "
        text = f"{spaced}|{''.join(words)}|"
        anywhere, within, patterns = self._parts
        return (
            any(part in text for part in anywhere)
            or any(part in spaced for part in within)
            or any(pattern.search(text) for pattern in patterns)
        )

    @cached_property
    def _parts(self) -> tuple[list[str], list[str], list[re.Pattern[str]]]:
        """Texts to find in `` words of a name |wordsofaname|``, texts to find before the ``|``, and patterns.

        Only numbers need patterns, which take long to compile.
        """
        anywhere: list[str] = []
        within: list[str] = []
        patterns = []
        for term in split_terms(self.terms):
            for part, inside in _parts(term):
                if "#" in part:
                    end = r"(?=[^|]*\|[^|]*\|)" if inside else ""
                    patterns.append(re.compile(f"{_pattern(part)}{end}"))
                else:
                    (within if inside else anywhere).append(part)
        return anywhere, within, patterns


def _pattern(part: str) -> str:
    return re.escape(part).replace(r"\#", r"\d+")


def _parts(term: str) -> list[tuple[str, bool]]:
    """Return texts to find in `` words of a name |wordsofaname|``, and whether only before the ``|``."""
    bare = _without_accents(term.strip("=$*")).casefold()
    joined = bare.replace(" ", "")
    if term.startswith("="):
        return [(f"|{joined}|", False)]
    if term.endswith("$"):
        return [(f" {bare} |", False)]
    left, right = ("" if term.startswith("*") else " "), ("" if term.endswith("*") else " ")
    found = [(f"{left}{bare}{right}", not left and not right)]
    if " " in bare:
        # Few letters in a row are also parts of other words: "hba" is in "math background".
        ends = [""] if len(_pattern(joined)) >= LONG_ENOUGH else [" ", "|"]
        found += [(f"{before}{joined}{after}", False) for before in ends for after in ends]
    return found


@cache
def word_lists() -> Mapping[str, Any]:
    """Return the lists of ``words.yaml`` by name; it is read when they are first needed."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    text = files(__package__).joinpath("words.yaml").read_text(encoding="utf-8")
    lists: Mapping[str, Any] = yaml.load(text, Loader=loader)
    return lists


@cache
def terms_of(name: str) -> tuple[str, ...]:
    """Return the terms of a list of ``words.yaml`` that is one text."""
    return tuple(split_terms(word_lists()[name]))


@dataclass(frozen=True, eq=False)
class WordList:
    """A list of ``words.yaml`` that names of columns are searched for.

    Attributes
    ----------
    name: of the list.
    """

    name: str

    def fit(self, name: str) -> bool:
        """Return whether a name has one of the terms, and none of those that mean something else.

        >>> [WordList("job").fit(name) for name in ("education", "Ausbildung", "job_reduction")]
        [True, True, False]
        """
        terms, others = self._words
        return terms.fit(name) and not others.fit(name)

    @cached_property
    def _words(self) -> tuple[Words, Words]:
        given = word_lists()[self.name]
        texts = dict(given) if isinstance(given, Mapping) else {"any": given}
        others = Words(texts.pop("not", ""))
        return Words(", ".join(texts.values())), others


BARE_WEIGHT = WordList("weight")
GIVEN_AND_FAMILY_NAMES = WordList("given and family names")
NAMES = WordList("name")
BIRTH = WordList("birth")
SEX = WordList("sex")
PERSON_KEYS = WordList("person key")
NUMBERED_PEOPLE = WordList("numbered people")
HOUSEHOLD_KEYS = WordList("household key")
HOMES = WordList("home")
ORGANISATIONS = WordList("organisation")
SMALL_PLACES = WordList("small place")
UNORDERED = WordList("unordered")


_NUMBER_WORDS = (*NUMBERS, "id", "ids", "nummer", "numero", "kod", "cod", "codigo", "codice", "kennung")
_JOINED = re.compile(rf"(?:{'|'.join((*NUMBERS, 'id', 'nummer'))})$|^(?:id|num|cod|code)(?=.{{3}})")


@lru_cache(maxsize=4096)
def without_number(name: str) -> str:
    """Return the words of a name without those for a number, which also begin or end other words.

    >>> without_number("PostID"), without_number("idhogar"), without_number("staffno"), without_number("id")
    ('post', 'hogar', 'staff', '')
    """
    words = (word for word in words_of(name) if word not in _NUMBER_WORDS)
    return " ".join(_JOINED.sub("", word) if len(word) > SHORTEST else word for word in words)


SHORTEST = 5
"""Minimum length less one of a word that a word for a number begins or ends."""


@cache
def _other_things() -> tuple[tuple[str, Words], ...]:
    return tuple((thing, Words(terms)) for thing, terms in word_lists()["other things"].items())


SERVING = ("a doctor", "a manager", "a teacher", "an interviewer", "a seller", "an employer")
"""Others that a number may be of beside a word for the persons of the records, as in patient_doctor."""


@lru_cache(maxsize=4096)
def thing_of(name: str) -> str | None:
    """Return what a number is of by its name, if not of a person or a household that records are about.

    >>> thing_of("PostID"), thing_of("family_doctor_id"), thing_of("county_fips"), thing_of("patient_id")
    ('a position', 'a doctor', 'a county', None)
    """
    bare = without_number(name)
    found = next((thing for thing, words in _other_things() if words.fit(name) or words.fit(bare)), None)
    if found not in SERVING and (PERSON_KEYS.fit(name) or HOUSEHOLD_KEYS.fit(name) or HOMES.fit(name)):
        return None
    return found or ("a place" if subject_of(name) is PLACE else None)


def numbers_people(name: str) -> bool:
    """Return whether a column numbers the persons that records are about, by its name.

    A bare ``id`` may number records, and the number of a visit of a patient numbers visits.

    >>> [numbers_people(name) for name in ("StaffID", "personid", "id", "patient_visit_id")]
    [True, True, False, False]
    """
    if without_number(name) in ("", "case", "seqn"):
        return False
    people = NUMBERED_PEOPLE.fit(name) or NUMBERED_PEOPLE.fit(without_number(name))
    return (people or PERSON_KEYS.fit(name)) and thing_of(name) is None


@dataclass(frozen=True, eq=False)
class Subject:
    """What columns with some words in their name are about.

    Attributes
    ----------
    words: that names of such columns have.
    what: the subject, as in "name suggests a place".
    ground: who could know such values.
    role: that a column gets.
    """

    words: WordList
    what: str
    ground: Ground
    role: Role

    def named(self, name: str) -> bool:
        """Return whether the name of a column has a word of the subject."""
        return self.words.fit(name)


def _known(words: str, what: str) -> Subject:
    """Return a subject whose values others may know."""
    return Subject(WordList(words), what, Ground.OUTSIDE, Role.QUASI_IDENTIFIER)


def _sensitive(words: str, what: str) -> Subject:
    """Return a subject whose values must not be inferred."""
    return Subject(WordList(words), what, Ground.FEW, Role.SENSITIVE)


SURVEY_WEIGHT = Subject(WordList("survey weight"), "a survey weight", Ground.WEIGHT, Role.WEIGHT)
PLACE = _known("place", "a place")
EVENT_DATE = _known("event date", "a date of an event")
GRADE_REACHED = _known("grade reached", "education")
SEXUAL_LIFE = _sensitive("sexual life", "sexual life")
MONEY = _sensitive("money", "money")
RESULTS = _sensitive("results", "results or an outcome")
CONDUCT = _sensitive("conduct", "conduct")
HEALTH = _sensitive("health", "health")
BELIEFS = _sensitive("beliefs", "beliefs")
ANSWER = Subject(WordList("answer"), "an answer or a measurement", Ground.FEW, Role.INSENSITIVE)
FAMILY = _known("family", "family")
JOB = _known("job", "job or education")
DEMOGRAPHY = _known("demography", "demography")
AGE = _known("age", "an age")
SEEN = _known("seen", "what others see")
MOMENT = _known("moment", "a time of an event")

SUBJECTS = (
    *(PLACE, EVENT_DATE, GRADE_REACHED, SEXUAL_LIFE, MONEY, RESULTS, CONDUCT, HEALTH, BELIEFS, ANSWER),
    *(FAMILY, JOB, DEMOGRAPHY, AGE, SEEN, MOMENT),
)
"""Subjects of columns in the order in which they are asked for."""


@lru_cache(maxsize=4096)
def subject_of(name: str) -> Subject | None:
    """Return the first subject with a word in the name of a column; None if there is none.

    >>> subject_of("health_region").what, subject_of("household_income").what, subject_of("anything")
    ('a place', 'money', None)
    """
    return next((each for each in SUBJECTS if each.named(name)), None)
