"""The shipped value trees: every entry is whole, every tree is a tree, every alias leads to one place."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest

from tests.hierarchies.ready_files import FOLDER, NAMES, entry, normalised, parents, rows

EXPECTED = {
    "age",
    "blood-type",
    "country",
    "date",
    "day-of-month",
    "education",
    "employment-status",
    "icd10",
    "income",
    "industry",
    "language",
    "marital-status",
    "nace",
    "occupation",
    "postal-code",
    "race-ethnicity",
    "relationship-to-head",
    "religion",
    "sex",
    "us-state",
    "us-zip3",
}
FILES = [name for name in NAMES if "file" in entry(name)["hierarchy"]]


def test_all_subjects_are_there() -> None:
    assert set(NAMES) == EXPECTED


def test_no_file_is_left_over() -> None:
    named = {"README.md", "__init__.py"}
    for name in NAMES:
        named |= {f"{name}.yaml", entry(name).get("aliases", "README.md")}
        named |= {entry(name)["hierarchy"].get("file", "README.md")}
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == named


@pytest.mark.parametrize("name", NAMES)
def test_entry_has_its_keys(name: str) -> None:
    found = entry(name)
    assert (
        {"title", "about", "source", "hierarchy"}
        <= set(found)
        <= {
            "title",
            "about",
            "source",
            "hierarchy",
            "aliases",
            "codes",
        }
    )
    assert all(isinstance(found[key], str) and found[key].strip() for key in ("title", "about", "source"))
    assert len(found["hierarchy"]) == 1
    assert "aliases" not in found or "file" in found["hierarchy"]


@pytest.mark.parametrize("name", FILES)
def test_file_is_one_tree(name: str) -> None:
    table = rows(entry(name)["hierarchy"]["file"])
    assert len({len(row) for row in table}) == 1
    assert len(table[0]) >= 2
    assert all(cell and cell == cell.strip() for row in table for cell in row)
    assert len({row[0] for row in table}) == len(table)
    assert {row[-1] for row in table} == {"*"}
    for level in range(len(table[0]) - 1):
        above = defaultdict(set)
        for row in table:
            above[row[level]].add(row[level + 1])
        assert {label: found for label, found in above.items() if len(found) > 1} == {}


@pytest.mark.parametrize("name", FILES)
def test_every_level_generalizes(name: str) -> None:
    table = rows(entry(name)["hierarchy"]["file"])
    sizes = [len(set(column)) for column in zip(*table, strict=True)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)


@pytest.mark.parametrize("name", [name for name in FILES if "aliases" in entry(name)])
def test_every_alias_leads_to_a_leaf(name: str) -> None:
    aliases = rows(entry(name)["aliases"])
    leaves = parents(name)
    assert [row for row in aliases if len(row) != 2 or row[1] not in leaves] == []
    spellings = [row[0] for row in aliases]
    assert [text for text in spellings if spellings.count(text) > 1] == []
    assert [text for text in spellings if text in leaves] == []


@pytest.mark.parametrize("name", FILES)
def test_normalised_keys_lead_to_one_place(name: str) -> None:
    places = defaultdict(set)
    for leaf, above in parents(name).items():
        places[normalised(leaf)].add(tuple(above))
    if "aliases" in entry(name):
        for other, leaf in rows(entry(name)["aliases"]):
            places[normalised(other)].add(tuple(parents(name)[leaf]))
    assert "" not in places
    assert {key: found for key, found in places.items() if len(found) > 1} == {}


def test_readme_tells_the_truth() -> None:
    lines = (FOLDER / "README.md").read_text(encoding="utf-8").splitlines()
    entries = [line.strip("|").split("|") for line in lines if line.startswith("| `")]
    table = [[cell.strip() for cell in row] for row in entries]
    assert [row[0].strip("`") for row in table] == NAMES
    for name, title, levels, leaves, aliases, source in table:
        found = entry(name.strip("`"))
        assert (title, source) == (found["title"], found["source"].rstrip("."))
        if "file" in found["hierarchy"]:
            tree = rows(found["hierarchy"]["file"])
            height = len(tree[0]) + (2 if "codes" in found else 0)
            assert (int(levels), int(leaves.replace(",", ""))) == (height, len(tree))
        count = len(rows(found["aliases"])) if "aliases" in found else None
        assert aliases == ("-" if count is None else f"{count:,}")
        widths = found["hierarchy"].get("intervals", {}).get("width")
        assert widths is None or int(levels) == len(widths) + 2


@pytest.mark.parametrize("name", ["age", "income"])
def test_widths_are_nested(name: str) -> None:
    widths = entry(name)["hierarchy"]["intervals"]["width"]
    assert len(widths) > 1
    assert all(wide > narrow and wide % narrow == 0 for narrow, wide in pairwise(widths))
