"""Releases whose texts other software has spelled differently: attacks reach the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import product
from typing import Any

import pandas as pd
import pytest

import anonymizer as an

TOWNS = {"Köln": "Süd-West", "Bonn": "Süd-West", "Aachen": "Norden ä", "Münster": "Norden ä"}
SEXES = ("männlich", "weiblich")

CONFIG: dict[str, Any] = {
    "attributes": {
        "town": {
            "role": "quasi-identifier",
            "hierarchy": {
                "tree": {
                    "*": {
                        place: [t for t in TOWNS if TOWNS[t] == place]
                        for place in dict.fromkeys(TOWNS.values())
                    }
                }
            },
        },
        "sex": {"role": "quasi-identifier"},
        "age": {"role": "quasi-identifier", "type": "integer"},
        "ill": {"role": "sensitive"},
    },
    "constraints": [{"model": "k-anonymity", "k": 1}],
    "attacks": ["intersection", "release-linkage", "vulnerability", "linkage"],
}

Spelling = Callable[[int, str], str]


def decomposed(row: int, text: str) -> str:
    del row
    return unicodedata.normalize("NFD", text)


def padded(row: int, text: str) -> str:
    del row
    return f"{text} "


def half(row: int, text: str) -> str:
    return f" {text}" if row % 2 else unicodedata.normalize("NFD", text)


def original() -> pd.DataFrame:
    people = product(TOWNS, SEXES)
    rows = [(town, sex, str(20 + 10 * (row % 2)), f"ill {row}") for row, (town, sex) in enumerate(people)]
    return pd.DataFrame(rows, columns=["town", "sex", "age", "ill"])


def by_town(records: pd.DataFrame) -> pd.DataFrame:
    return records.assign(sex="*", age="[20, 30]")


def by_place(records: pd.DataFrame) -> pd.DataFrame:
    return records.assign(town=records["town"].map(TOWNS))


def respelled(records: pd.DataFrame, spell: Spelling) -> pd.DataFrame:
    return records.apply(
        lambda own: [spell(row, text) for row, text in enumerate(own)] if own.name != "ill" else own
    )


@pytest.mark.quick(2)
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("spell", [decomposed, padded, half])
def test_attacks_do_not_depend_on_spelling(spell: Spelling, known: bool) -> None:
    first, second = by_town(original()), by_place(original())
    own = original() if known else None
    config = CONFIG if known else CONFIG | {"attacks": ["release-linkage", "vulnerability"]}
    plain = an.attack(first, own, config, second_df=second, force=True)
    assert plain["success"].max() == (1 if known else 0.5)
    for one, other in ((first, respelled(second, spell)), (respelled(first, spell), second)):
        found = an.attack(one, own, config, second_df=other, force=True)
        pd.testing.assert_frame_equal(found.drop(columns="seconds"), plain.drop(columns="seconds"))
