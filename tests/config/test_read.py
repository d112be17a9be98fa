"""Config files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.config.read import read_document
from anonymizer.errors import ConfigError, InputError


def message(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_document(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("c.yaml", b"", "the file is empty; accepted: a mapping with attributes and constraints"),
        ("c.yaml", b"# only a comment\n", "the file is empty; accepted: a mapping"),
        ("c.json", b" \n", "the file is empty; accepted: a mapping"),
        ("c.yaml", b"- a\n- b\n", "a list at the top; accepted: a mapping"),
        ("c.json", b'"text"', "'text' at the top; accepted: a mapping"),
        ("c.yaml", b"a: 1\nb: \xff\n", "line 2: not UTF-8 text (byte 8); save the file as UTF-8"),
        ("c.yaml", b"a: 1\nb: [1\n", "not valid YAML: "),
        ("c.yaml", b"a: \x07\n", "not valid YAML: "),
        ("c.yaml", b"a: 1\nb: 2\na: 3\n", "line 3  a: the key is given twice, first on line 1; keep one"),
        ("c.yaml", b"a: {b: 1, b: 2}\n", "line 1  a.b: the key is given twice, first on line 1; keep one"),
        ("c.yaml", b"a: !!python/object/apply:os.system [ls]\n", "line 1  a: unknown tag "),
        ("c.yaml", b"a: &x [*x]\n", "line 1  a[0]: an alias that contains itself; write the value out"),
        ("c.yaml", b"[1, 2]: 3\n", "a list or mapping as a key; accepted: text"),
        ("c.yaml", b"a: " + b"9" * 5000, "a number with too many digits"),
        ("c.yaml", b"[" * 100000, "nested too deeply"),
        ("c.json", b"[" * 100000, "nested too deeply"),
        ("c.toml", b"a = 1\na = 2\n", "not valid TOML: "),
        ("c.toml", b"a = \n", "not valid TOML: "),
        ("c.json", b'{"a": 1,\n "b": }', "line 2: not valid JSON: "),
        ("c.json", b'{"a": {"b": 1, "b": 2}}', "b: the key is given twice; keep one"),
    ],
)
def test_content_that_is_no_config(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = message(path)
    assert expected in found
    assert found.startswith(f"{path} has 1 problem\n")


def test_a_missing_file_names_its_nearest_neighbour(tmp_path: Path) -> None:
    (tmp_path / "adult.yaml").touch()
    assert message(tmp_path / "adlut.yaml") == (
        f"config {tmp_path / 'adlut.yaml'} does not exist; did you mean 'adult.yaml'?"
    )


def test_a_missing_file_in_a_missing_folder(tmp_path: Path) -> None:
    path = tmp_path / "no" / "c.yaml"
    assert message(path) == f"config {path} does not exist; give the path of a YAML, TOML or JSON file"


def test_a_folder_is_no_config(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.mkdir()
    assert message(path) == f"config {path} is a folder; give a file, such as {path / 'config.yaml'}"


@pytest.mark.parametrize(("name", "kind"), [("data.csv", "'.csv'"), ("config", "no suffix")])
def test_the_suffix_tells_the_format(tmp_path: Path, name: str, kind: str) -> None:
    expected = f"config {tmp_path / name}: {kind}; accepted: a name ending in .yaml, .yml, .toml, .json"
    assert message(tmp_path / name) == f"{expected}; anonymizer init DATA drafts one for a data file"


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
