"""Settings of text: encodings that can be read back, and files that are not text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import anonymizer as an
from anonymizer.config.load import load_config
from anonymizer.data.relation import encode_file
from anonymizer.data.source import reads_back
from anonymizer.errors import OutputError

KNOWN = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "latin-1",
    "cp1252",
    "cp037",
    "shift_jis",
    "hz",
]
UNREADABLE = ["idna", "punycode", "undefined", "rot13", "base64", "no such encoding", "", "a\0b"]


def config(**sections: Any) -> dict[str, Any]:
    constraints = [{"model": "k-anonymity", "k": 2}]
    return {"attributes": {"q": "quasi-identifier"}, "constraints": constraints, **sections}


@pytest.mark.parametrize("encoding", KNOWN)
def test_an_encoding_that_can_be_read_back_is_accepted(encoding: str) -> None:
    assert reads_back(encoding)
    load_config(config(input={"path": "a.csv", "encoding": encoding}, output={"encoding": encoding}))


@pytest.mark.parametrize("encoding", UNREADABLE)
@pytest.mark.parametrize("section", ["input", "output"])
def test_an_encoding_that_cannot_be_read_back_is_refused(section: str, encoding: str) -> None:
    with pytest.raises(an.InputError, match=f"{section}.encoding: .*accepted: a text encoding"):
        load_config(config(**{section: {"path": "a.csv", "encoding": encoding}}))


@pytest.mark.parametrize(("encoding", "text"), [("shift_jis", "¥5"), ("cp932", "5 ¢"), ("euc_jp", "a¥")])
def test_a_character_that_is_read_as_another_is_refused(encoding: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(OutputError, match=f"encoding {encoding} writes '[¥¢]' .* like another character"):
        encode_file(path, encoding)


@pytest.mark.parametrize("encoding", ["hz", "iso2022_jp", "utf-7", "utf-16", "shift_jisx0213"])
def test_what_an_encoding_writes_is_read_back(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    text = "a,中\nb,~中"
    path.write_text(text, encoding="utf-8")
    encode_file(path, encoding)
    assert path.read_text(encoding=encoding) == text


@pytest.mark.parametrize("setting", [{"separator": ";"}, {"encoding": "latin-1"}])
def test_settings_of_text_are_refused_where_nothing_is_text(setting: dict[str, str]) -> None:
    with pytest.raises(an.InputError, match="applies to text files only; remove it"):
        load_config(config(input={"path": "a.parquet", **setting}))
    people = {"path": "b.parquet", "population": "c.parquet"}
    with pytest.raises(an.InputError, match="applies to text files only; remove it"):
        load_config(config(input={**people, **setting}))
    load_config(config(input={"path": "a.parquet", "control": "c.csv", **setting}))
    load_config(config(input=setting))
