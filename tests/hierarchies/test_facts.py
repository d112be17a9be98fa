"""What the shipped value trees say: groups as many as their source has, values where they belong."""

from __future__ import annotations

import pytest

from tests.hierarchies.ready_files import lookup, parents


@pytest.mark.parametrize(
    ("name", "level", "groups"),
    [
        ("country", 2, 6),  # five regions of M49 and Antarctica
        ("country", 1, 23),  # 22 M49 areas and Antarctica
        ("us-state", 1, 10),  # nine divisions and the island areas
        ("us-state", 2, 5),
        ("occupation", 2, 10),  # major groups of ISCO-08
        ("industry", 1, 21),  # sections of NACE Rev. 2
        ("industry", 2, 10),
        ("nace", 1, 21),
        ("icd10", 2, 22),
        ("education", 2, 3),
    ],
)
def test_groups_are_as_many_as_the_source_has(name: str, level: int, groups: int) -> None:
    found = {above[level - 1] for above in parents(name).values()}
    assert len(found) == groups


def test_occupations_have_43_sub_major_groups() -> None:
    above = parents("occupation").values()
    major = {chain[1] for chain in above}
    assert len({chain[0] for chain in above} - major) == 43


@pytest.mark.parametrize(
    ("name", "value", "ancestors"),
    [
        ("country", "United-States", ["Northern America", "Americas", "*"]),
        ("country", "USA", ["Northern America", "Americas", "*"]),
        ("country", "England", ["Northern Europe", "Europe", "*"]),
        ("country", "Holand-Netherlands", ["Western Europe", "Europe", "*"]),
        ("country", "Trinadad&Tobago", ["Caribbean", "Americas", "*"]),
        ("country", "Outlying-US(Guam-USVI-etc)", ["Micronesia", "Oceania", "*"]),
        ("country", "Hong", ["Eastern Asia", "Asia", "*"]),
        ("country", "South", ["Eastern Asia", "Asia", "*"]),
        ("country", "Columbia", ["South America", "Americas", "*"]),
        ("country", "NA", ["Southern Africa", "Africa", "*"]),
        ("country", "DEU", ["Western Europe", "Europe", "*"]),
        ("country", "el-salvador", ["Central America", "Americas", "*"]),
        ("us-state", "TX", ["West South Central", "South", "*"]),
        ("us-state", "new york", ["Middle Atlantic", "Northeast", "*"]),
        ("us-state", "02", ["Pacific", "West", "*"]),
        (
            "occupation",
            "512",
            [
                "Personal service workers",
                "Service and sales workers",
                "Low-skilled white-collar workers",
                "*",
            ],
        ),
        ("occupation", "Armed-Forces", ["Armed forces occupations"] * 2 + ["Armed forces", "*"]),
        ("nace", "62.01", ["62.0", "62", *["Information and communication"] * 2, "Services", "*"]),
        ("nace", "0111", ["01.1", "01", *["Agriculture, forestry and fishing"] * 2, "Agriculture", "*"]),
        ("industry", "62", ["Information and communication"] * 2 + ["Services", "*"]),
        (
            "education",
            "HS-grad",
            ["Upper secondary or post-secondary non-tertiary education", "Medium", "*"],
        ),
        ("education", "7th-8th", ["Primary education or less", "Low", "*"]),
        (
            "employment-status",
            "Without-pay",
            ["Contributing family workers", "Self-employment", "Employed", "*"],
        ),
        ("marital-status", "Married-civ-spouse", ["Married or in a partnership", "*"]),
        ("relationship-to-head", "Own-child", ["Child", "Relative", "*"]),
        ("race-ethnicity", "Black", ["Black or African American", "Black or African American", "*"]),
        ("language", "de", ["Germanic", "Indo-European", "*"]),
        ("language", "ger", ["Germanic", "Indo-European", "*"]),
        ("religion", "Mormon", ["Other Christian", "Christianity", "*"]),
        ("blood-type", "AB-", ["AB", "*"]),
        ("blood-type", "o", ["O", "*"]),
        ("sex", "f", ["*"]),
    ],
)
def test_values_as_files_spell_them(name: str, value: str, ancestors: list[str]) -> None:
    assert lookup(name, value) == ancestors


@pytest.mark.parametrize(
    ("code", "block", "chapter"),
    [
        ("A09", "A00-A09 Intestinal infectious diseases", "I "),
        ("C50", "C50 Malignant neoplasm of breast", "II "),
        ("D50", "D50-D53 Nutritional anaemias", "III "),
        ("E11", "E10-E14 Diabetes mellitus", "IV "),
        ("I21", "I20-I25 Ischaemic heart diseases", "IX "),
        ("J45", "J40-J47 Chronic lower respiratory diseases", "X "),
        ("Y09", "X85-Y09 Assault", "XX "),
        ("Z99", "Z80-Z99 Persons with potential health hazards related to family", "XXI "),
        ("U07", "U00-U49 Provisional assignment of new diseases", "XXII "),
    ],
)
def test_diagnoses_stand_in_their_block(code: str, block: str, chapter: str) -> None:
    above = parents("icd10")[code]
    assert above[0].startswith(block)
    assert above[1].startswith(chapter)


def test_blocks_of_diagnoses_hold_the_codes_that_they_name() -> None:
    for code, (block, *_) in parents("icd10").items():
        first, _, last = block.split(" ")[0].partition("-")
        assert first <= code <= (last or first)
