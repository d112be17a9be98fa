"""``hierarchy build``: from rules, from columns of the data, small values merged."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from anonymizer.cli.main import main
from anonymizer.hierarchy.builder import BUILDERS, rule_of
from anonymizer.hierarchy.source import compile_tree, merge_small, tree_of_rows
from anonymizer.model.table import ValueType
from tests.helpers.messages import exchange

DATA = "icd,age,town,county,state\n" + "".join(
    f"{row}\n"
    for row in (
        *["J45,17,Ulm,Alb,BW"] * 5,
        *["J10,18,Ulm,Alb,BW"] * 2,
        *["J11,64.5,Bonn,Rhein,NW"],
        *["S52,65,Bonn,Rhein,NW"] * 3,
        *["S53,80,Koeln,Rhein,NW"] * 3,
        ",,,,",
    )
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "icd.csv").write_text("J1*,flu,respiratory\nJ*,asthma,respiratory\n*,other,other\n")
    (tmp_path / "ages.csv").write_text("<18,minor\n18..64,adult\n>64,elder\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def build(column: str, by: str, *options: str) -> int:
    words = ["hierarchy", "build", "--data", "data.csv", "--column", column, "--by", by, "-o", "h.csv"]
    return main([*words, *options])


def rows(folder: Path) -> list[list[str]]:
    with (folder / "h.csv").open(newline="") as stream:
        return list(csv.reader(stream))


def test_rules_by_pattern(folder: Path) -> None:
    assert build("icd", "rules=icd.csv") == 0
    assert rows(folder) == [
        ["J10", "flu", "respiratory", "*"],
        ["J11", "flu", "respiratory", "*"],
        ["J45", "asthma", "respiratory", "*"],
        ["S52", "other", "other", "*"],
        ["S53", "other", "other", "*"],
    ]


def test_rules_by_comparison(folder: Path) -> None:
    assert build("age", "rules=ages.csv") == 0
    assert [row[:2] for row in rows(folder)] == [
        ["17", "minor"],
        ["18", "adult"],
        ["64.5", "elder"],
        ["65", "elder"],
        ["80", "elder"],
    ]


@pytest.mark.parametrize(
    ("rule", "inside", "outside"),
    [
        ("<18", ["17", "17.9", "-5"], ["18", "18.0", "19"]),
        ("<= 18", ["18", "17"], ["18.01"]),
        (">18", ["18.01"], ["18", "17"]),
        (">=-1.5", ["-1.5", "0"], ["-1.51"]),
        ("0.1..0.3", ["0.1", "0.3", "0.30"], ["0.09", "0.301"]),
        ("1?", ["10", "19"], ["1", "100"]),
    ],
)
def test_comparisons_are_exact(rule: str, inside: list[str], outside: list[str]) -> None:
    found = rule_of(rule, ValueType.NUMBER)
    assert [found.matches(text) for text in inside + outside] == [True] * len(inside) + [False] * len(outside)


def test_a_comparison_is_a_pattern_among_texts() -> None:
    assert rule_of("<18", ValueType.TEXT).matches("<18")
    assert not rule_of("<18", ValueType.TEXT).matches("17")


def test_columns_of_the_data(folder: Path) -> None:
    assert build("town", "columns=county,state") == 0
    assert sorted(rows(folder)) == [
        ["Bonn", "Rhein", "NW", "*"],
        ["Koeln", "Rhein", "NW", "*"],
        ["Ulm", "Alb", "BW", "*"],
    ]


def test_small_values_are_merged(folder: Path) -> None:
    assert build("icd", "values", "--merge-below", "3") == 0
    assert {row[0]: row[1] for row in rows(folder)} == {
        "J45": "J45",
        "J10": "other",
        "J11": "other",
        "S52": "S52",
        "S53": "S53",
    }
    assert build("icd", "rules=icd.csv", "--merge-below", "3", "--overwrite") == 0
    # J10 and J11 are the whole of their group; the others are not small.
    assert {row[0]: row[1:] for row in rows(folder)} == {
        "J45": ["J45", "asthma", "respiratory", "*"],
        "J10": ["flu, other", "flu", "respiratory", "*"],
        "J11": ["flu, other", "flu", "respiratory", "*"],
        "S52": ["S52", "other", "other", "*"],
        "S53": ["S53", "other", "other", "*"],
    }


def test_a_copy_of_a_hierarchy_with_small_values_merged(folder: Path) -> None:
    assert build("icd", "rules=icd.csv") == 0
    (folder / "h.csv").rename(folder / "first.csv")
    assert build("icd", "like=first.csv", "--merge-below", "4") == 0
    merged = {row[0]: row[1] for row in rows(folder)}
    assert (merged["S52"], merged["S53"]) == ("other, other", "other, other")
    assert main(["hierarchy", "validate", "h.csv", "--data", "data.csv", "--column", "icd"]) == 0


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("column", "by"),
    [
        ("icd", "rule=icd.csv"),
        ("icd", "auto=3"),
        ("icd", "order"),
        ("icd", "rules=none.csv"),
        ("icd", "rules=ages.csv"),
        ("icd", "rules=bad.csv"),
        ("town", "columns=county,none"),
        ("town", "columns=county,town"),
        ("county", "columns=town"),
        ("icd", "mask=up"),
        ("age", "intervals=5,12"),
        ("icd", "like=nothing"),
    ],
)
def test_wrong_usage_is_one_message(
    column: str, by: str, folder: Path, capsys: pytest.CaptureFixture[str], message: SnapshotAssertion
) -> None:
    (folder / "bad.csv").write_text("J*,a\nS*,b,c\n")
    assert build(column, by) == 2
    assert exchange(f"--column {column} --by {by}", capsys.readouterr().err.rstrip()) == message
    assert not (folder / "h.csv").exists()


def test_every_builder_is_shown_by_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hierarchy", "build", "--help"]) == 0
    said = "".join(capsys.readouterr().out.split())
    assert set(BUILDERS) == {
        *("auto", "columns", "date", "frequency", "intervals", "like", "mask", "order", "rules", "values")
    }
    for kind in BUILDERS.values():
        assert "".join(kind.usage().split()) in said


def obvious(paths: list[tuple[str, ...]], records: dict[str, int], least: int) -> dict[str, frozenset[str]]:
    """Return what each value is merged with, itself included, one parent after the other."""
    under: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in paths:
        ends = (path[start:] for start in range(1, len(path) + 1))
        shared = next((end for end in ends if sum(each[-len(end) :] == end for each in paths) > 1), path[1:])
        under[shared].append(path[0])
    found = {}
    for values in under.values():
        values.sort(key=lambda value: (records.get(value, 0), [path[0] for path in paths].index(value)))
        together: list[str] = []
        for value in values:
            few = sum(records.get(each, 0) for each in together) < least
            if records.get(value, 0) < least or (together and few):
                together.append(value)
        for value in values:
            found[value] = frozenset(together if value in together and len(values) > 1 else [value])
    return found


@given(
    groups=st.lists(st.integers(0, 3), min_size=1, max_size=9),
    counts=st.lists(st.integers(0, 6), min_size=9, max_size=9),
    least=st.integers(1, 8),
)
def test_merging_is_as_said(groups: list[int], counts: list[int], least: int) -> None:
    values = [f"v{place}" for place in range(len(groups))]
    names = [f"g{group}" for group in groups]
    # Group 0 is padding: a value directly under the root.
    names = [value if name == "g0" else name for value, name in zip(values, names, strict=True)]
    tree = compile_tree(tree_of_rows([values, names]), "test")
    records = dict(zip(values, counts, strict=False))
    merged = compile_tree(merge_small(tree, records, least), "test")
    assert merged.height == tree.height + 1
    labels = {
        merged.labels[leaf]: merged.labels[node]
        for leaf, node in zip(merged.ancestors[0], merged.ancestors[1], strict=True)
    }
    paths = [(value, name, "*") for value, name in zip(values, names, strict=True)]
    wanted = obvious(paths, records, least)
    for value in values:
        same = frozenset(each for each in values if labels[each] == labels[value])
        assert same == wanted[value], (labels, wanted)
        if len(same) > 1:
            assert sum(records[each] for each in same) >= min(
                least, sum(records[each] for each in values if wanted[each] == same)
            )
    sizes = Counter(labels.values())
    assert all(label in values or number > 1 for label, number in sizes.items())


def test_show_draws_a_picture(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "g.csv").write_text('a $x$,"good <b>&",*\nb,"good <b>&",*\nc,bad,*\nd,bad,*\ne,bad,*\n')
    assert main(["hierarchy", "show", "g.csv", "--svg", "g.svg", "--children", "2"]) == 0
    assert capsys.readouterr().out == "Drew g.svg. 3 levels, 5 leaves\n"
    picture = (folder / "g.svg").read_text()
    for label in ("a $x$", "good &lt;b&gt;&amp;", "bad", "... 1 more"):
        assert f">{label}<" in picture
    assert ">e<" not in picture
    assert not re.search(r"(href|src)=.http|url\(.?http|<image", picture)
    assert main(["hierarchy", "show", "g.csv", "--svg", "g.svg"]) == 2
    assert "g.svg: exists" in capsys.readouterr().err
    assert main(["hierarchy", "show", "g.csv", "--svg", "g.csv", "--overwrite"]) == 2
    assert "never modified" in capsys.readouterr().err
    assert main(["hierarchy", "show", "g.csv", "--svg", "two.svg", "--children", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"levels": 3, "leaves": 5, "problems": []}
    assert (folder / "two.svg").read_text() == picture
