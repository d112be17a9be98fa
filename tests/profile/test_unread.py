"""Names of columns in the languages of the table, names that cannot be read, and what the values say then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle, islice
from random import Random

import pandas as pd
import pytest

from anonymizer.data.open import open_frame
from anonymizer.model.table import Role
from anonymizer.profile.detection import findings
from anonymizer.profile.knowledge import readable, subject_of, word_lists
from anonymizer.profile.proposal import (
    MOST_UNREAD,
    Choices,
    NamesRead,
    Proposal,
    RoleProposal,
    propose,
    role_of,
)
from tests.profile.columns import column

RECORDS = 300

HEADERS = """
zh|性别|年龄|现住地|职业|诊断结果|姓名
zh|性別|年齡|居住縣市|職業|診斷|患者姓名
ja|性別|年齢|居住都道府県|職種|既往歴|氏名
ko|성별|만나이|거주지역|직업분류|질병명|성명
ru|Пол|Возраст пациента|Место жительства|Профессия|Основной диагноз|ФИО
uk|Стать|Вік|Область проживання|Професія|Захворювання|Прізвище
el|Φύλο|Ηλικία|Τόπος κατοικίας|Επάγγελμα|Διάγνωση|Επώνυμο
ar|الجنس|العمر|المحافظة|المهنة|التشخيص|الاسم الكامل
he|מין|גיל|עיר מגורים|מקצוע|אבחנה|שם משפחה
hu|Nem|Életkor|Lakóhely|Foglalkozás|Betegségek|Vezetéknév
cs|Pohlaví|Věk|Bydliště|Povolání|Diagnóza|Příjmení
ro|Sexul|Vârsta|Localitatea|Ocupația|Diagnostic|Prenume
da|Køn|Alder|Bopælskommune|Stilling|Sygdom|Efternavn
nb|Kjønn|Alder|Bosted|Yrke|Sykdom|Etternavn
fi|Sukupuoli|Ikä|Asuinkunta|Ammatti|Sairaudet|Sukunimi
"""


@pytest.mark.parametrize("line", HEADERS.strip().splitlines())
def test_headers_in_further_languages_and_scripts(line: str) -> None:
    """Sex, age, residence and occupation are known outside, an illness is sensitive, names are left out."""
    _, *names = line.split("|")
    kinds: Sequence[Sequence[object]] = (
        *(["x", "y"], range(18, 90), [f"t{number}" for number in range(9)], ["p", "q", "r"]),
        *(["u", "v", "w"], [f"N{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(290)]),
    )
    expected = [*[Role.QUASI_IDENTIFIER] * 4, Role.SENSITIVE, Role.IDENTIFIER]
    found = []
    for name, values in zip(names, kinds, strict=True):
        facts = column(name, list(islice(cycle(values), RECORDS)))
        found.append(role_of(facts, findings(facts)).role)
        assert readable(name)
    assert found == expected


def proposed(shown: list[object], *, names_read: bool = True, name: str = "zqr") -> RoleProposal:
    facts = column(name, shown)
    return role_of(facts, findings(facts), names_read=names_read)


@pytest.mark.parametrize(
    "shown",
    [
        ["男", "女"],
        ["м", "ж"],
        ["f", "m"],
        ["Άνδρας", "Γυναίκα"],
        ["ذكر", "أنثى"],
        ["nő", "Férfi"],
        ["남", "여"],
    ],
)
def test_sexes_of_many_languages_are_known_by_their_values(shown: list[object]) -> None:
    assert "a sex" in proposed(shown * 50).reason


@pytest.mark.parametrize("pair", [pair.split() for pair in word_lists()["yes and no"]], ids="-".join)
def test_yes_and_no_are_an_answer(pair: list[object]) -> None:
    found = proposed([*pair] * 50)
    assert (found.role, found.doubtful) == (Role.INSENSITIVE, False)
    assert found.reason.endswith("yes or no")


def test_codes_of_even_shares_may_be_sexes_only_where_names_cannot_be_read() -> None:
    even: list[object] = [1, 2, 1] * 60
    assert "perhaps a sex" in proposed(even, names_read=False).reason
    assert "sex" not in proposed(even).reason
    assert "sex" not in proposed([*[1] * 90, 2] * 3, names_read=False).reason


RANDOM = Random(7)
AGES: list[object] = [RANDOM.randint(0, 97) for _ in range(RECORDS)]


def test_whole_numbers_are_ages_where_names_cannot_be_read_or_a_word_agrees() -> None:
    assert "may be ages" in proposed(AGES, names_read=False).reason
    assert "may be ages" in proposed(AGES, name="zqr (yrs)").reason
    assert "ages" not in proposed(AGES).reason


@pytest.mark.parametrize(
    "shown",
    [
        [RANDOM.randint(0, 100) for _ in range(2_000)],  # per cent
        [5 * RANDOM.randint(0, 20) for _ in range(RECORDS)],  # scores
        [int(RANDOM.expovariate(0.2)) for _ in range(RECORDS)],  # counts
        [RANDOM.randint(100, 190) for _ in range(RECORDS)],  # centimetres
        [RANDOM.randint(1, 12) for _ in range(RECORDS)],
    ],
)
def test_shares_scores_and_counts_are_no_ages(shown: list[object]) -> None:
    assert "ages" not in proposed(shown, names_read=False).reason


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (["январь", "май", "июнь", "август", "декабрь"], "months"),
        (["月曜日", "火曜日", "水曜日", "木曜日"], "months or days"),
        (["DE-BY", "DE-BE", "AT-9", "CH-ZH", "FR-75"], "ISO 3166-2"),
        (["DEU", "FRA", "ITA", "ESP", "POL", "NLD", "BEL", "AUT"], "hierarchy country"),
        (["SW1A 1AA", "EC1A 1BB", "M1 1AE", "B33 8TH"], "postal codes"),
        (["00-950", "31-042", "80-001", "02-495"], "postal codes"),
        (["01067", "10115", "20095", "80331"], "postal codes"),
        (["〒100-0001", "150-0002", "530-0001", "060-0001"], "postal codes"),
    ],
)
def test_values_of_places_and_times_speak_without_a_name(shown: list[object], said: str) -> None:
    found = proposed(shown * 20)
    assert (found.role, found.doubtful) == (Role.QUASI_IDENTIFIER, True)
    assert said in found.reason


def test_other_codes_are_no_places() -> None:
    for shown in (
        ["QX-BY", "QY-BE", "ZZ-9", "XQ-ZH"],
        ["10115", "20095", "80331", "50667"],
        ["AB", "CD", "EF", "GH"],
    ):
        assert proposed([*shown] * 20).role is Role.INSENSITIVE


def drafted(choices: Choices | None = None, **columns: list[object]) -> Proposal:
    with open_frame(pd.DataFrame(columns).astype(str)) as relation:
        return propose(relation, choices=choices or Choices())


def roles(proposal: Proposal) -> dict[str, Role]:
    return {each.name: each.role for each in proposal.columns}


def drawn(number: int, make: Callable[[Random], object]) -> list[object]:
    random = Random(number)
    return [make(random) for _ in range(RECORDS)]


def test_names_that_cannot_be_read_make_a_cautious_draft_that_says_so() -> None:
    unread = {f"ლქ{letter}": drawn(place, lambda r: r.choice("abc")) for place, letter in enumerate("აბგ")}
    found = drafted(age=AGES, **unread)
    assert set(roles(found).values()) == {Role.QUASI_IDENTIFIER}
    assert found.names == NamesRead(1, 4)
    assert found.names.note is not None
    assert found.names.note.startswith("The names of 3 of 4 columns could not be read")
    more = drafted(
        age=AGES, sex=drawn(5, lambda r: r.choice("mf")), q1=drawn(6, lambda r: r.choice("xy")), **unread
    )
    assert (more.names.read, more.names.note) == (3, None)
    assert [role for name, role in roles(more).items() if name in unread] == [Role.INSENSITIVE] * 3


def test_a_user_who_names_the_quasi_identifiers_is_told_only() -> None:
    unread = {name: drawn(place, lambda r: r.choice("abc")) for place, name in enumerate(("ლქ", "ლბ"))}
    found = drafted(Choices({"ლქ": Role.QUASI_IDENTIFIER}), **unread)
    assert roles(found)["ლბ"] is Role.INSENSITIVE
    assert "guesses from their values" in str(found.names.note)


def test_of_very_many_unread_columns_only_some_are_kept() -> None:
    names = [f"ლ{first}{second}" for first in "აბგდევზთ" for second in "აბგდევზთ"]
    found = drafted(**{name: drawn(place, lambda r: r.choice("abcd")) for place, name in enumerate(names)})
    kept = [role for role in roles(found).values() if role is Role.QUASI_IDENTIFIER]
    assert len(kept) == MOST_UNREAD
    assert set(roles(found).values()) == {Role.QUASI_IDENTIFIER, Role.DROP}
    assert f"{len(names) - MOST_UNREAD} columns beyond the first {MOST_UNREAD} are left out" in str(
        found.names.note
    )


@pytest.mark.parametrize(
    "value",
    [
        "Dr. Anna Schmidt",
        "Maria Garcia",
        "王小明",
        "山田さん",
        "+49 171 2345678",
        "5551234567",
        "anna@clinic.org",
        "12 Baker Street",
        "Hauptstr. 5",
        "ул. Ленина, д. 5",
        "北京市朝阳区建国路93号",
        "seen by the doctor on call at night",
        "昨日から頭が痛いので来院した患者です",
        "123-45-6789",
    ],
)
def test_the_only_value_of_a_column_is_read_before_it_is_released(value: str) -> None:
    found = proposed([value] * RECORDS)
    assert found.role is Role.IDENTIFIER, found.reason
    assert value not in found.reason


@pytest.mark.parametrize(
    "value", ["5", "2019", "DE", "not applicable", "yes", "flu", "3.5", "baseline", "Wave 3", "10 mg daily"]
)
def test_other_constants_reveal_nothing(value: str) -> None:
    assert proposed([value] * RECORDS).role is Role.INSENSITIVE
    assert proposed(["United States"] * RECORDS, name="country").role is Role.INSENSITIVE


@pytest.mark.parametrize("value", ["checked by M. Schneider", "assessed at home with daughter present"])
def test_the_only_value_of_several_words_is_left_out(value: str) -> None:
    """It may name somebody, and says nothing that differs."""
    assert proposed([value] * RECORDS, name="remark").role is not Role.INSENSITIVE


@pytest.mark.parametrize(("name", "value"), [("location", "12 Baker Street"), ("surgeon", "A. Weber")])
def test_the_only_value_identifies_under_names_of_other_things_too(name: str, value: str) -> None:
    assert proposed([value] * RECORDS, name=name).role is Role.IDENTIFIER
    missing = [value] * 3 + [""] * (RECORDS - 3)
    assert proposed(missing, name=name).role is Role.IDENTIFIER


@pytest.mark.parametrize(
    "shown",
    [
        ["Dr. Anna Schmidt", "Dr. John Miller"],
        ["+49 171 2345678", "+49 30 12345678"],
        ["Maria Garcia", "John Smith"],
    ],
)
def test_a_few_names_and_numbers_of_people_are_found_though_they_repeat(shown: list[object]) -> None:
    assert proposed(shown * 90).role is Role.IDENTIFIER


def test_words_in_a_question_about_something_else_are_no_reason() -> None:
    shown: list[object] = ["private", "provided", "none"] * 40
    for name in (
        "Is your insurance private or state-provided?",
        "Does the plan of your area include a centre nearby",
    ):
        assert "place" not in proposed(shown, name=name).reason
    assert subject_of("What US state or territory do you live in?") is subject_of("state")
    assert subject_of("What is your marital status?") is subject_of("marital_status")


def test_a_weak_word_alone_is_said_as_perhaps() -> None:
    found = proposed([1, 2, 3, 4, 5] * 40, name="Country")
    assert (found.doubtful, "perhaps suggests a place" in found.reason) == (True, True)
    assert "perhaps" not in proposed(["Chad", "Peru", "Mali", "Cuba"] * 40, name="Country").reason


def test_a_genre_is_no_demography_but_a_flag_is() -> None:
    assert proposed([1, 2, 3, 4, 5] * 40, name="Latino").role is Role.INSENSITIVE
    assert proposed([0, 1] * 40, name="Latino").role is Role.QUASI_IDENTIFIER


@pytest.mark.parametrize(
    ("name", "shown", "role", "said"),
    [
        ("grade", ["officer", "enlisted", "warrant"], Role.QUASI_IDENTIFIER, "perhaps suggests job"),
        ("grade", list(range(19)), Role.QUASI_IDENTIFIER, "perhaps suggests job"),
        ("grade", ["A", "B", "C", "D", "F"], Role.SENSITIVE, "perhaps results"),
        ("status", ["single", "married", "divorced", "widowed"], Role.QUASI_IDENTIFIER, "about family"),
        ("status", ["died", "alive"], Role.SENSITIVE, "results"),
        ("status", [0, 1], Role.SENSITIVE, "perhaps results"),
        ("status", ["open", "closed"], Role.INSENSITIVE, "2 values"),
    ],
)
def test_grade_and_status_are_of_what_the_values_say(
    name: str, shown: list[object], role: Role, said: str
) -> None:
    found = proposed(shown * 30, name=name)
    assert found.role is role
    assert said in found.reason


def days(first: int, last: int, time: str = "") -> list[object]:
    random = Random(first)
    return [
        f"{random.randint(first, last)}-{random.randint(1, 12):02d}-{random.randint(10, 28)}{time}"
        for _ in range(500)
    ]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("zqr", days(2100, 2200)),
        ("zqr", days(1940, 2000, "T13:45:00")),
        ("admittime", days(1940, 2000)),
        ("hire_date", days(1940, 2000)),
    ],
)
def test_dates_of_other_events_are_not_called_births(name: str, shown: list[object]) -> None:
    found = proposed(shown, name=name)
    assert "birth" not in found.reason
    assert found.role is Role.QUASI_IDENTIFIER
    assert "births" in proposed(days(1940, 2000)).reason.replace("of birth", "births")
