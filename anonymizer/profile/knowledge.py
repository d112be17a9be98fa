"""What the name of a column says: its subject, and from that who could know its values.

One table in 24 languages, ``words.yaml``, has the words. Subjects come in order, and the first whose words
are in a name decides: a place named after health is a place, and the income of a household is an income.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

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
    """Return a text without marks above, below and beside letters; the syllables of Korean stay whole."""
    if name.isascii():
        return name
    decomposed = unicodedata.normalize("NFKD", name.translate(_NOT_DECOMPOSED))
    bare = "".join(each for each in decomposed if unicodedata.category(each)[0] != "M")
    return unicodedata.normalize("NFC", bare)


def plain(text: str) -> str:
    """Return a text in small letters, without accents and spaces around it.

    >>> plain(" Männlich "), plain("Ж"), plain("여자")
    ('mannlich', 'ж', '여자')
    """
    return _without_accents(text).casefold().strip()


_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Letters of Chinese, Japanese, Korean, Thai, Lao and Khmer, whose words follow each other without spaces."""


def unspaced(text: str) -> bool:
    """Return whether a text has letters of a script in which words follow each other without spaces.

    >>> unspaced("患者年齢"), unspaced("возраст")
    (True, False)
    """
    return not text.isascii() and _UNSPACED.search(text) is not None


def number_of_words(text: str) -> float:
    """Return the number of words of a text; of a script without spaces, two letters count as a word.

    >>> number_of_words("no pain today"), number_of_words("昨日から頭が痛い")
    (3, 4.0)
    """
    if not unspaced(text):
        return len(text.split())
    letters = len(_UNSPACED.findall(text))
    return letters / 2 + len(_UNSPACED.sub(" ", text).split())


NUMBERS = ("no", "nr", "num", "number", "nbr", "code", "key", "ref")
"""Words for numbers."""


def split_terms(text: str) -> list[str]:
    """Return the terms of a text, separated by commas.

    >>> split_terms("date of birth, =case&")[:3]
    ['date of birth', '=caseno', '=casenr']
    """
    terms = filter(None, (" ".join(term.split()) for term in text.split(",")))
    return [term.replace("&", each) for term in terms for each in (NUMBERS if "&" in term else ("",))]


_ONE_WORD = re.compile(r" [^ |]+ ")


class Parts(NamedTuple):
    """What terms are searched for as.

    Attributes
    ----------
    whole: words of a name.
    anywhere: texts in `` words of a name |wordsofaname|``.
    within: texts before the ``|``.
    patterns: of the whole text.
    """

    whole: set[str]
    anywhere: list[str]
    within: list[str]
    patterns: list[re.Pattern[str]]

    def latin(self) -> Parts:
        """Return the parts without those that have letters of other scripts."""
        anywhere, within = (list(filter(str.isascii, own)) for own in (self.anywhere, self.within))
        return Parts(self.whole, anywhere, within, self.patterns)


@dataclass(frozen=True)
class Words:
    """Words that names of columns are searched for.

    Attributes
    ----------
    terms: separated by commas. A term fits whole words of a name; with ``*`` at an end also the beginning or
        end of a longer word, with ``=`` only the whole name, with ``$`` only its end. Several words also fit
        when they are written as one, and words of a script without spaces everywhere in a name. ``#`` is a
        number, ``&`` each word of ``NUMBERS``. Accents do not count.
    """

    terms: str

    def fit(self, name: str) -> bool:
        """Return whether a name has one of the terms.

        >>> Words("age, diagnos*, *hispanic*, =last, date of birth").fit("patient_age")
        True
        >>> [Words("age, =last, date of birth").fit(name) for name in ("page", "last_visit", "DateofBirth")]
        [False, False, True]
        >>> Words("年齢, =性").fit("患者年齢"), Words("年齢, =性").fit("可能性")
        (True, False)
        """
        words = words_of(name)
        spaced = f" {' '.join(words)} "
        text = f"{spaced}|{''.join(words)}|"
        parts = self._latin_parts if text.isascii() else self._parts
        return (
            not parts.whole.isdisjoint(words)
            or any(part in text for part in parts.anywhere)
            or any(part in spaced for part in parts.within)
            or any(pattern.search(text) for pattern in parts.patterns)
        )

    @cached_property
    def _latin_parts(self) -> Parts:
        """The parts that a name without letters of other scripts may have."""
        return self._parts.latin()

    @cached_property
    def _parts(self) -> Parts:
        """The texts and patterns of all terms; only numbers need patterns, which take long to compile."""
        parts = Parts(set(), [], [], [])
        for term in split_terms(self.terms):
            for part, inside in _parts(term):
                if "#" in part:
                    end = r"(?=[^|]*\|[^|]*\|)" if inside else ""
                    parts.patterns.append(re.compile(f"{_pattern(part)}{end}"))
                elif _ONE_WORD.fullmatch(part):
                    parts.whole.add(part.strip())
                else:
                    (parts.within if inside else parts.anywhere).append(part)
        return parts


def _pattern(part: str) -> str:
    return re.escape(part).replace(r"\#", r"\d+")


def _parts(term: str) -> list[tuple[str, bool]]:
    """Return texts to find in `` words of a name |wordsofaname|``, and whether only before the ``|``."""
    bare = _without_accents(term.strip("=$*")).casefold()
    joined = bare.replace(" ", "")
    if term.startswith("="):
        return [(f"|{joined}|", False)]
    if unspaced(bare):
        return [(f"{joined}|" if term.endswith("$") else joined, False)]
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
    """Return the terms of a list of ``words.yaml`` that is one text, in small letters and without accents."""
    return tuple(plain(term) for term in split_terms(word_lists()[name]))


@cache
def pairs_of(name: str) -> tuple[frozenset[str], ...]:
    """Return the pairs of values of a list of ``words.yaml``, in small letters and without accents."""
    return tuple(frozenset(map(plain, pair.split())) for pair in word_lists()[name])


def ends_with(words: Sequence[str], what: str) -> bool:
    """Return whether the last word of a name is in a list, or ends with a word of a script without spaces.

    >>> ends_with(("record", "no"), "number"), ends_with(("患者番号",), "identifier at the end")
    (True, True)
    """
    if not words:
        return False
    last, terms = words[-1], terms_of(what)
    return last in terms or (unspaced(last) and any(unspaced(each) and last.endswith(each) for each in terms))


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
WEAK = WordList("weak")
OF_ONE_KIND = WordList("of one kind")
OTHER_EVENT = WordList("other event")
YEARS_OF_AGE = WordList("years of age")

SENTENCE = 6
"""Number of words from which on a name is a sentence; fewer if they are written with spaces, or ask."""


def is_sentence(name: str) -> bool:
    """Return whether the name of a column is a question or a sentence.

    >>> is_sentence("What is your age?"), is_sentence("years_since_last_promotion")
    (True, False)
    """
    words = len(words_of(name))
    return words >= SENTENCE or (words >= SENTENCE - 1 and " " in name.strip()) or (words > 1 and "?" in name)


ASKED = 4
"""Maximum number of words from the one that asks to what it asks for, as in "what US state or territory"."""


@lru_cache(maxsize=4096)
def telling_part(name: str) -> str:
    """Return the words of the name of a column that say what it is about.

    In a sentence, words such as "state" are often part of another thing, so they count only if it asks for
    them.

    >>> telling_part("home_state"), telling_part("Is the insurance private or state-provided?")
    ('home_state', 'is the insurance private or provided')
    >>> telling_part("What state do you live in?")
    'what state do you live in'
    """
    if not is_sentence(name):
        return name
    words, asking = words_of(name), terms_of("asking")
    weak = frozenset(terms_of("weak"))
    kept = (
        word
        for place, word in enumerate(words)
        if word not in weak or any(each in asking for each in words[max(place - ASKED, 0) : place])
    )
    return " ".join(kept)


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

    def perhaps(self, name: str) -> bool:
        """Return whether the name of a column is one word that alone is not enough.

        >>> PLACE.perhaps("Country"), PLACE.perhaps("country_of_birth"), PLACE.perhaps("zip")
        (True, False, False)
        """
        return len([word for word in words_of(name) if not word.isdigit()]) == 1 and WEAK.fit(name)


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
    telling = telling_part(name)
    return next((each for each in SUBJECTS if each.named(telling)), None)


_READ = (
    *("name", "sex", "numbered people", "organisation", "survey weight", "weight", "unordered"),
    "plain",
)
"""Lists of words for names, besides those of the subjects."""

_READ_BY_DETECTORS = (
    *("given and family names", "birth", "person key", "household key", "home", "geographic coordinates"),
    *("free text", "telephone numbers", "postal addresses", "identifier", "identifier at the end", "number"),
)
"""Lists that say what identifies people."""


@cache
def _known_words() -> tuple[WordList | Words, ...]:
    return tuple(map(WordList, (*_READ, *_READ_BY_DETECTORS)))


@lru_cache(maxsize=4096)
def readable(name: str) -> bool:
    """Return whether the name of a column has a word of ``words.yaml``, in any of its languages.

    >>> [readable(name) for name in ("patient_age", "患者番号", "возраст", "zqr", "ལོ")]
    [True, True, True, False, False]
    """
    if subject_of(name) is not None or any(each.fit(name) for each in _known_words()):
        return True
    return is_sentence(name) and any(each.named(name) for each in SUBJECTS)
