"""The roles and grounds that columns are proposed by themselves."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.model.table import Role, ValueType
from anonymizer.profile.detection import findings
from anonymizer.profile.knowledge import SUBJECTS, Ground, Words, readable, subject_of, word_lists, words_of
from anonymizer.profile.proposal import RULES, RoleProposal, role_of
from tests.profile.columns import column
from tests.profile.known_columns import cases, values

LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "pl", "sv", "tr", "zh", "ja", "ko", "ru", "uk", "el", "ar"),
    *("he", "hu", "cs", "ro", "da", "nb", "fi"),
)


def proposal(name: str, shown: list[object], kind: ValueType | None = None) -> RoleProposal:
    """Return the proposal for a column, as a file with it gets it."""
    facts = column(name, shown, kind)
    return role_of(facts, findings(facts))


@pytest.mark.parametrize(("name", "kind", "role", "ground"), cases(), ids=str)
def test_columns_of_public_data_sets(name: str, kind: str, role: str, ground: str) -> None:
    found = proposal(name, values(kind))
    assert (found.role.value, found.ground.value) == (role, ground), found.reason


@pytest.mark.parametrize(
    ("shown", "role"),
    [
        (["M", "F"], "quasi-identifier"),
        (["female", "Male", "Other"], "quasi-identifier"),
        (["männlich", "weiblich", "divers"], "quasi-identifier"),
        (["m", "w", "d"], "quasi-identifier"),
        (["M", "F", "Q"], "insensitive"),
        (["a", "b"], "insensitive"),
    ],
)
def test_sexes_are_known_by_their_values(shown: list[object], role: str) -> None:
    assert proposal("c7", shown * 100).role == role


@pytest.mark.parametrize(
    ("shown", "subject"), [([0, 1, 2, 3, 4], "job or education"), (list(range(1, 28)), "a place")]
)
def test_few_codes_named_estado_are_of_activity_and_not_of_states(shown: list[object], subject: str) -> None:
    found = proposal("ESTADO", shown * 50)
    assert found.role is Role.QUASI_IDENTIFIER
    assert f"name suggests {subject}" in found.reason


def test_the_number_of_a_dwelling_in_argentina_is_a_key() -> None:
    found = proposal("CODUSU", [f"TQRMNO{number // 3:08}" for number in range(300)])
    assert (found.role, found.ground, found.doubtful) == (Role.IDENTIFIER, Ground.KEY, False)


def test_days_written_as_numbers_are_those_of_events() -> None:
    days = [240_100 + 100 * month + day for month in range(6) for day in range(1, 28)]
    found = proposal("c7", days * 3)
    assert (found.role, found.doubtful) == (Role.QUASI_IDENTIFIER, True)


def test_every_subject_that_people_name_has_words_in_24_languages() -> None:
    few = {"education", "an age"}
    for subject in SUBJECTS:
        languages = [each for each in word_lists()[subject.words.name] if each != "not"]
        assert tuple(languages) == LANGUAGES or subject.what in few


def test_every_rule_is_a_sentence() -> None:
    for rule in RULES:
        assert str(rule.__doc__).partition("\n")[0].endswith("."), rule


@pytest.mark.parametrize("name", ["wage", "income", "FEDTAX"])
def test_amounts_that_nearly_all_differ_are_protected_and_pointed_at(name: str) -> None:
    found = proposal(name, [f"{20_000 + number * number / 7:.2f}" for number in range(400)])
    assert (found.role, found.doubtful) == (Role.SENSITIVE, True)


def test_amounts_that_many_records_have_are_protected_and_no_doubt() -> None:
    found = proposal("wage", [1_000 + 50 * (number % 40) for number in range(400)])
    assert (found.role, found.doubtful) == (Role.SENSITIVE, False)


@pytest.mark.parametrize("name", ["weight", "Gewicht", "poids", "wt"])
def test_the_numbers_tell_whether_a_weight_is_of_a_body_or_of_a_record(name: str) -> None:
    for kind, role in (("kilograms", "insensitive"), ("weights", "weight"), ("normal weights", "weight")):
        assert proposal(name, values(kind)).role == role


def test_places_that_number_organisations_are_no_keys_of_persons() -> None:
    shown: list[object] = [100 + number % 60 for number in range(900)]
    assert proposal("school_id", shown).role is Role.QUASI_IDENTIFIER
    assert proposal("person_id", shown).ground is Ground.KEY


@pytest.mark.parametrize("name", ["patient_no", "PatNr", "MemberCode", "CustomerNumber", "Patientennummer"])
def test_a_number_of_people_is_a_key_in_every_form(name: str) -> None:
    assert proposal(name, [f"P{number // 3:05d}" for number in range(900)]).ground is Ground.KEY


def test_hashes_that_repeat_are_keys_whatever_their_name() -> None:
    found = proposal("c7", [f"{number // 3:032x}" for number in range(900)])
    assert (found.role, found.ground, found.doubtful) == (Role.IDENTIFIER, Ground.KEY, True)


def test_numbers_of_one_length_that_repeat_are_keys_unless_they_are_round() -> None:
    assert proposal("c7", values("numbers of persons")).ground is Ground.KEY
    round_numbers: list[object] = [100_000 + 1_000 * (number // 3) for number in range(900)]
    assert proposal("c7", round_numbers).ground is Ground.FEW


def test_texts_of_many_kinds_may_be_places() -> None:
    found = proposal("c7", values("places"))
    assert (found.role, found.doubtful) == (Role.QUASI_IDENTIFIER, True)
    assert proposal("c7", values("words")).role is Role.INSENSITIVE


def test_years_of_the_last_generations_are_dates_of_events() -> None:
    found = proposal("c7", values("birth years"))
    assert (found.role, found.ground, found.doubtful) == (Role.QUASI_IDENTIFIER, Ground.OUTSIDE, True)
    assert proposal("c7", [1_900 + 10 * (number % 40) for number in range(900)]).ground is Ground.FEW


def test_remarks_are_dropped_even_if_there_are_few_and_notes_in_numbers_are_marks() -> None:
    few: list[object] = ["late", "see Ana", "none"] * 100
    assert proposal("remarks", few).role is Role.IDENTIFIER
    assert proposal("note", few).role is Role.IDENTIFIER
    assert proposal("Note", values("1-5")).role is Role.SENSITIVE
    assert proposal("remarks", values("yes/no")).role is Role.INSENSITIVE


def test_answers_are_known_to_few_and_no_doubt() -> None:
    for kind in ("yes/no", "0/1", "1-5", "codes", "measures", "exact"):
        found = proposal("c7", values(kind))
        assert (found.role, found.ground, found.doubtful) == (Role.INSENSITIVE, Ground.FEW, False)
    assert proposal("c7", values("words")).doubtful


def test_dates_are_known_outside_even_of_a_diagnosis() -> None:
    found = proposal("date_of_diagnosis", values("dates"))
    assert (found.role, found.ground) == (Role.QUASI_IDENTIFIER, Ground.OUTSIDE)


def test_a_certain_identifier_beats_its_name() -> None:
    mails: list[object] = [f"a{number}@example.org" for number in range(50)]
    assert proposal("city", mails).role is Role.IDENTIFIER


@pytest.mark.parametrize(
    ("terms", "fitting", "others"),
    [
        ("age", ["age", "Patient.Age", "AGE_2"], ["language", "ages", "page"]),
        ("diagnos*", ["diagnosis", "main_diagnose"], ["undiagnosed"]),
        ("*hispanic*", ["ihispanic", "hispanics"], ["his panic room"]),
        ("*inc", ["hhinc", "inc"], ["include", "incident"]),
        ("=last", ["last", "LAST"], ["last_visit", "blast"]),
        ("year$", ["year", "survey_year"], ["year_of_what", "years"]),
        ("date of birth", ["date_of_birth", "DateOfBirth", "dateofbirth"], ["birth_of_date"]),
        ("=q #", ["q1", "Q_17"], ["q", "q1a", "iq1"]),
        ("prénom", ["prenom", "Prénom", "PRÉNOM"], ["nom"]),
        ("straße, yaş", ["strasse", "yas", "YAŞ"], ["ya"]),
    ],
)
def test_terms(terms: str, fitting: list[str], others: list[str]) -> None:
    words = Words(terms)
    assert all(words.fit(name) for name in fitting)
    assert not any(words.fit(name) for name in others)


def fits_by_pattern(terms: str, name: str) -> bool:
    """Whether a name has a term, by one regular expression a term."""
    words = words_of(name)
    text = f" {' '.join(words)} |{''.join(words)}|"
    return any(re.search(pattern, text) for term in terms.split(",") for pattern in patterns(term.strip()))


def patterns(term: str) -> list[str]:
    bare = re.escape("".join(words_with_spaces(term.strip("=$*")))).replace(r"\#", r"\d+")
    joined = bare.replace(r"\ ", "")
    if term.startswith("="):
        return [rf"\|{joined}\|"]
    if term.endswith("$"):
        return [rf" {bare} \|"]
    left, right = ("" if term.startswith("*") else " "), ("" if term.endswith("*") else " ")
    within = "" if left or right else r"(?=[^|]*\|[^|]*\|)"
    found = [f"{left}{bare}{right}{within}"]
    if r"\ " in bare:
        found.append(joined if len(joined) >= 6 else rf"[ |]{joined}[ |]")
    return found


def words_with_spaces(term: str) -> str:
    return " ".join("#" if word == "#" else "".join(words_of(word)) for word in term.split())


ends = st.sampled_from(["", "*", "=", "$"])
some_words = st.lists(
    st.sampled_from(["age", "a", "ge", "birth", "of", "#", "hb", "é"]), min_size=1, max_size=3
)
some_terms = st.builds(
    lambda left, words, right: (
        f"{'' if left == '$' else left}{' '.join(words)}{'' if right == '=' else right}"
    ),
    ends,
    some_words,
    ends,
)
some_names = st.lists(
    st.sampled_from(["age", "a", "ge", "birth", "of", "7", "hb", "e", "É", "_", " ", "Of"]), max_size=6
)


@given(st.lists(some_terms, min_size=1, max_size=3), some_names.map("".join))
def test_terms_are_found_as_by_patterns(terms: list[str], name: str) -> None:
    assert Words(", ".join(terms)).fit(name) == fits_by_pattern(", ".join(terms), name)


def test_names_without_words_have_no_subject() -> None:
    assert words_of("...") == ()
    assert subject_of("...") is None
    assert subject_of("人口") is None
    assert not readable("人口")


def test_parts_of_words_are_no_reason() -> None:
    assert subject_of("Developer_with_stats_math_background") is None
    for name in ("WorkLifeBalance", "work_life_balance", "YearsSinceLastPromotion"):
        assert proposal(name, values("1-5")).role is not Role.SENSITIVE


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("c7", "alcohol, cocaine, heroin"),
        ("type", "influenza, pneumonia, asthma, other"),
        ("item 7", "Arthritis, Krebs, Schlaganfall"),
        ("method", "Pesticide, Other poison, Hanging, Drowning, Others, unspecified"),
        ("group", "republican, democrat, independent"),
        ("kind", "catholic, protestant, muslim, none"),
        ("c7", "smoker, ex-smoker, never"),
    ],
)
def test_values_about_health_beliefs_or_conduct_are_sensitive_under_every_name(name: str, words: str) -> None:
    found = proposal(name, words.split(", ") * 40)
    assert (found.role, found.ground) == (Role.SENSITIVE, Ground.FEW), found.reason


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("c7", "Medical, Technical, Marketing, Sales"),
        ("c7", "yes, no"),
        ("c7", "Europe, Asia, Africa"),
        ("city", "Drugstore Town, Cancer City"),
    ],
)
def test_other_values_say_nothing_about_health(name: str, words: str) -> None:
    assert proposal(name, words.split(", ") * 40).role is not Role.SENSITIVE


@pytest.mark.parametrize("name", ["pcs", "mcs", "cesd", "phq9", "substance", "rx", "bleed"])
def test_scores_and_states_of_health_are_sensitive(name: str) -> None:
    shown: list[object] = [f"{6 + number * 56 / 450:.6f}" for number in range(450)]
    assert proposal(name, shown).role is Role.SENSITIVE


def test_exact_numbers_of_a_wide_range_are_no_coordinates() -> None:
    shown: list[object] = [f"{6 + number * 56 / 450:.6f}" for number in range(450)]
    assert proposal("c7", shown).role is Role.INSENSITIVE
    near: list[object] = [f"{51 + number * 4 / 450:.6f}" for number in range(450)]
    assert proposal("c7", near).role is Role.IDENTIFIER


def test_words_that_end_in_age_are_ages_only_if_the_values_can_be() -> None:
    assert proposal("massage_cl", values("0/1")).role is Role.INSENSITIVE
    assert proposal("buyerage", values("ages")).role is Role.QUASI_IDENTIFIER
    assert proposal("buyerage", ["18-29", "30-49", "50+"] * 40).role is Role.QUASI_IDENTIFIER
    assert proposal("yardage", [number * 7 for number in range(300)]).role is Role.INSENSITIVE


def test_conservation_is_no_belief() -> None:
    assert subject_of("conservation") is None
    assert subject_of("conservative") is not None


def test_whole_numbers_without_two_equal_ones_are_keys() -> None:
    keys: list[object] = [2 * number + number % 2 for number in range(400)]
    assert proposal("kid", keys).role is Role.IDENTIFIER
    assert proposal("income", [17 * number for number in range(60)]).role is Role.SENSITIVE
    assert proposal("c7", [7_919 * number for number in range(100)]).role is Role.INSENSITIVE


@pytest.mark.parametrize("name", ["job_equal_opp_employer", "has_email_address"])
def test_short_words_of_others_are_no_reason(name: str) -> None:
    found = proposal(name, values("0/1"))
    assert found.role is not Role.SENSITIVE
    assert "place" not in found.reason


def test_weights_that_differ_more_than_bodies_weigh_records() -> None:
    shown: list[object] = [f"{25 * 1.02**number:.3f}" for number in range(360)]
    assert proposal("weight", shown).role is Role.WEIGHT


@pytest.mark.parametrize(
    ("shown", "uncertain"),
    [
        ([f"{19 + 1.3 * number % 400:.2f}" for number in range(360)], True),  # of a survey, or in pounds
        ([1_000 + number * 37 % 900 for number in range(360)] * 2, True),  # of a survey, or in grams
        ([f"{45 + number % 70}.{number % 10}" for number in range(360)], False),  # in kilograms
        ([90 + number % 200 for number in range(360)], False),  # in pounds
    ],
)
def test_weights_that_may_be_of_bodies_or_of_records_are_uncertain(
    shown: list[object], uncertain: bool
) -> None:
    found = proposal("weight", shown)
    assert (found.role, found.weighs) == (Role.INSENSITIVE, uncertain)
    assert found.doubtful or not uncertain
    assert ("either weights of bodies or sampling weights" in found.reason) is uncertain
    assert not proposal("mass", shown).weighs


def test_numbers_of_stays_are_no_places() -> None:
    assert proposal("hospital", [number % 9 for number in range(300)]).role is Role.SENSITIVE
    assert proposal("hospital", [1 + number % 9 for number in range(300)]).role is Role.QUASI_IDENTIFIER


def test_codes_before_the_words_of_a_family_do_not_hide_it() -> None:
    words = ["1. Never Married", "2. Married", "3. Widowed", "4. Divorced", "5. Separated"]
    assert proposal("maritl", words * 40).role is Role.QUASI_IDENTIFIER


def test_a_bare_wgt_is_of_bodies_or_records_by_its_numbers() -> None:
    assert proposal("Wgt", [100 + number % 90 for number in range(300)]).role is Role.INSENSITIVE
    assert proposal("wgt", values("weights")).role is Role.WEIGHT


def test_reduced_is_no_education() -> None:
    assert subject_of("reduced") is None
    assert subject_of("meduc") is not None


def test_participation_is_no_party() -> None:
    assert subject_of("participation") is None
    assert subject_of("party") is not None


@pytest.mark.parametrize("name", ["Term", "diagnosis", "x"])
def test_many_texts_that_nearly_all_differ_are_left_out_whatever_they_are_about(name: str) -> None:
    found = proposal(name, [f"flu on day {number}, then cancer" for number in range(100)])
    assert found.role is Role.IDENTIFIER
    assert proposal(name, ["flu", "cancer", "asthma"] * 40).role is not Role.IDENTIFIER
    few: list[object] = [f"flu {number}" for number in range(20)]
    assert proposal("diagnosis", few).role is Role.SENSITIVE


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("bwght", "sensitive"),
        ("raceth", "quasi-identifier"),
        ("reg661", "quasi-identifier"),
        ("marry", "quasi-identifier"),
        ("injtype", "sensitive"),
        ("felon", "sensitive"),
    ],
)
def test_short_names_of_economists(name: str, role: str) -> None:
    assert proposal(name, [0, 1] * 50).role == role
