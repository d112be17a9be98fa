"""Config files that cannot be read."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.config import document
from anonymizer.config import document as yaml_text
from anonymizer.config.document import OversizedConfig, read_document
from anonymizer.config.load import load_config
from anonymizer.errors import ConfigError, InputError
from tests.helpers.messages import exchange


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_document(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.yaml", b""),
        ("c.yaml", b"# only a comment\n"),
        ("c.json", b" \n"),
        ("c.yaml", b"- a\n- b\n"),
        ("c.json", b'"text"'),
        ("c.yaml", b"a: 1\nb: \xff\n"),
        ("c.yaml", b"a: 1\nb: [1\n"),
        ("c.yaml", b"a: \x07\n"),
        ("c.yaml", b"a: 1\nb: 2\na: 3\n"),
        ("c.yaml", b"a: {b: 1, b: 2}\n"),
        ("c.yaml", b"a: !!python/object/apply:os.system [ls]\n"),
        ("c.yaml", b"a: &x [*x]\n"),
        ("c.yaml", b"[1, 2]: 3\n"),
        ("c.yaml", b"b: 1\na: " + b"9" * 5000),
        ("c.yaml", b"a: 1e999999999"),
        ("c.yaml", b"a: 1e99999999999999999999"),
        ("c.json", b'{"a":\n' + b"9" * 302 + b"}"),
        ("c.json", b'{"a":\n1e-999999999}'),
        ("c.toml", b"b = 1\na = 1e999999999"),
        ("c.toml", b"a = " + b"9" * 5000),
        ("c.toml", b"a = 0x" + b"f" * 300),
        ("c.yaml", b"a:\n  - " + b"[" * 99),
        ("c.yaml", b"[" * 100000),
        ("c.json", b"[" * 100000),
        ("c.json", b'{"a":\n' + b"[" * 100 + b"]" * 100 + b"}"),
        ("c.toml", b"a = " + b"[" * 5000),
        ("c.toml", b"b = 1\na" + b".a" * 100000 + b" = 1"),
        ("c.json", b'{"a": "\\ud800"}'),
        ("c.toml", b"a = 1\na = 2\n"),
        ("c.toml", b"a = \n"),
        ("c.json", b'{"a": 1,\n "b": }'),
        ("c.json", b'{"a": {"b": 1, "b": 2}}'),
    ],
    ids=lambda each: repr(each)[:30],
)
def test_content_that_is_no_config(
    tmp_path: Path, name: str, content: bytes, message: SnapshotAssertion
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    # Parsers differ from version to version in what they say of syntax.
    said = re.sub(r"(not valid \w+): .*", r"\1: ...", refusal(path))
    assert exchange(f"{name}: {content[:40]!r}", said, tmp_path) == message


def test_what_is_just_within_the_bounds_is_read(tmp_path: Path) -> None:
    for name, content in (
        ("c.yaml", "a: {n}\nd: {e}\nl: {d}\n"),
        ("c.json", '{{"a": {n}, "d": {e}, "l": {d}}}'),
        ("c.toml", "a = {n}\nd = {e}\nl = {d}\n"),
    ):
        path = tmp_path / name
        text = content.format(n="9" * 300, e="1e-400", d="[" * 99 + "]" * 99)
        path.write_text(text, encoding="utf-8")
        data = read_document(path).data
        assert (data["a"], data["d"]) == (10**300 - 1, Decimal("1e-400"))


BOMB = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x, x]"]
    + [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in pairwise("abcdefg")]
)
"""Seven lines that stand for five million texts."""


def test_aliases_are_counted_before_anything_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(*_: object) -> None:
        raise AssertionError("data are made of a text that is beyond the bounds")

    monkeypatch.setattr(yaml_text._Builder, "value", built)
    path = tmp_path / "c.yaml"
    path.write_text(BOMB, encoding="utf-8")
    assert "line 6: aliases repeat more than 100,000 keys and values; " in refusal(path)


@pytest.mark.parametrize(
    ("bound", "least", "text"),
    [
        # The mapping, three keys, a list of two, and the same list twice more.
        ("MOST_VALUES", 13, "a: &a [1, 2]\nb: *a\nc: *a\n"),
        ("MOST_REPEATED", 6, "a: &a [1, 2]\nb: *a\nc: *a\n"),
        ("MOST_KEYS", 3, "a: 1\nb: 2\nc: 3\n"),
        ("DEEPEST", 3, "a: {b: [c]}\n"),
    ],
)
def test_a_text_of_yaml_is_counted_exactly(
    bound: str, least: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_text, bound, least)
    yaml_text.parse_yaml(text, "c.yaml")
    monkeypatch.setattr(yaml_text, bound, least - 1)
    with pytest.raises(OversizedConfig):
        yaml_text.parse_yaml(text, "c.yaml")


@pytest.mark.parametrize(
    ("bound", "least", "data"),
    [
        ("MOST_VALUES", 9, {"a": [1, 2], "b": {"c": 3}}),
        ("MOST_KEYS", 2, {"a": 1, "b": {"c": 1}}),
        ("DEEPEST", 3, {"a": {"b": [1]}}),
    ],
)
def test_data_are_counted_as_a_text_of_yaml_is(
    bound: str, least: int, data: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, bound, least)
    document.check_size("config", data)
    monkeypatch.setattr(document, bound, least - 1)
    with pytest.raises(OversizedConfig):
        document.check_size("config", data)


def test_long_texts_count_as_what_they_weigh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MOST_VALUES", 20)
    yaml_text.parse_yaml("a: " + "x" * 10_000, "c.yaml")
    with pytest.raises(OversizedConfig):
        yaml_text.parse_yaml("a: " + "x" * 20_000, "c.yaml")


def test_a_mapping_that_holds_itself_is_refused() -> None:
    config: dict[str, object] = {"seed": 1}
    config["input"] = {"path": config}
    with pytest.raises(ConfigError, match="nested too deeply"):
        load_config(config)


@pytest.mark.parametrize("name", ["adlut.yaml", "no/c.yaml", "folder.yaml", "data.csv", "config"])
def test_a_path_without_a_config(name: str, tmp_path: Path, message: SnapshotAssertion) -> None:
    (tmp_path / "adult.yaml").touch()
    (tmp_path / "folder.yaml").mkdir()
    assert exchange(name, refusal(tmp_path / name), tmp_path) == message


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(b"\xef\xbb\xbfseed: 3\n")
    assert read_document(path).data == {"seed": 3}


def test_json_with_tabs_loads_without_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{\n\t"seed":\t3\n}')
    assert read_document(path).data == {"seed": 3}


def test_dates_in_toml_are_text(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("a = 2021-03-01\n[b]\nc = [2021-03-01T10:00:00]\n")
    assert read_document(path).data == {"a": "2021-03-01", "b": {"c": ["2021-03-01T10:00:00"]}}


def test_problems_are_config_errors(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("a: 1\na: 2\nb: 1\nb: 2\n")
    with pytest.raises(ConfigError) as caught:
        read_document(path)
    assert [problem.line for problem in caught.value.problems] == [2, 4]
