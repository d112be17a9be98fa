"""The hierarchies that the package includes, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import yaml
from pydantic import ConfigDict, Field, RootModel

from anonymizer.errors import HierarchyError, suggestion
from anonymizer.hierarchy.file import read_rows
from anonymizer.hierarchy.leaves import fitted, identity_in
from anonymizer.hierarchy.source import HierarchySource, Tree, make_source, tree_of_rows
from anonymizer.model.identity import text_identity
from anonymizer.model.table import Column

PACKAGE = "anonymizer.ready_hierarchies"
"""Their place in an installed package; in a checkout, it is the folder ``hierarchies`` at the top."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast loader in C if available: to match a column, all entries are read."""

_BETWEEN = re.compile(r"[\W_]+")


class ReadySettings(RootModel[str]):
    """Name of a shipped hierarchy."""

    model_config = ConfigDict(frozen=True)

    root: str = Field(min_length=1, description="Name of a ready-made hierarchy, such as country.")


class ReadyHierarchy(NamedTuple):
    """A shipped hierarchy: title, description, the source of its facts, and how to build it.

    With ``codes``, its leaves are the first two digits of longer codes; see ``division_code``.
    """

    name: str
    title: str
    about: str
    source: str
    folder: Path
    hierarchy: HierarchySource[Any]
    aliases: Mapping[str, str]
    codes: bool


class ReadySource(HierarchySource[ReadySettings]):
    """A shipped hierarchy that accepts the spellings of the data.

    A value of the data matches a leaf exactly, or in lower case with every run of characters other than
    letters and digits as one space, or by a list of other spellings. The value replaces the leaf that it
    matches, so level 0 publishes the text of the data; several spellings of a leaf become siblings.
    """

    name: ClassVar[str] = "ready"
    Settings = ReadySettings
    rule_built = False

    def build(self, column: Column, folder: Path) -> Tree:  # noqa: ARG002 - shipped files only
        """Return the shipped tree with the data's spellings as leaves.

        Raises
        ------
        HierarchyError: no hierarchy has the name, or it does not fit the column.
        """
        ready = read_ready(self.settings.root)
        tree = fitted(ready.hierarchy.build(column, ready.folder), column, self.describe())
        if ready.codes:
            return _above_codes(tree, column.present)
        if not ready.hierarchy.rule_built:
            _respell(tree, column, ready.aliases)
        return tree

    @property
    def fixed_height(self) -> bool:
        """Whether the shipped hierarchy has the same levels for all data."""
        return read_ready(self.settings.root).hierarchy.fixed_height

    @property
    def masks_right(self) -> bool:
        """Whether the shipped hierarchy masks characters from the right."""
        return read_ready(self.settings.root).hierarchy.masks_right

    def depends_on(self, column: Column) -> dict[str, Any]:
        """Return the properties of the column that the shipped hierarchy depends on."""
        return read_ready(self.settings.root).hierarchy.depends_on(column)

    def levels_of(self, texts: Sequence[str], folder: Path) -> frozenset[int] | None:
        """Return the levels that can have the texts, in a shipped rule by that rule."""
        own = read_ready(self.settings.root).hierarchy
        return own.levels_of(texts, folder) if own.rule_built else super().levels_of(texts, folder)

    def levels_by_text(self, texts: Sequence[str], folder: Path) -> Mapping[str, frozenset[int]] | None:
        """Return the levels that can have each of the texts, in a shipped rule by that rule."""
        own = read_ready(self.settings.root).hierarchy
        return own.levels_by_text(texts, folder) if own.rule_built else super().levels_by_text(texts, folder)

    def as_for(self, column: Column, before: Mapping[str, Any]) -> HierarchySource[Any]:
        """Return this source, or a shipped rule that places values as before."""
        own = read_ready(self.settings.root).hierarchy
        return own.as_for(column, before) if own.rule_built else self

    def files(self, folder: Path) -> list[Path]:  # noqa: ARG002 - shipped files only
        """Return the shipped entry and its files."""
        ready = read_ready(self.settings.root)
        return [ready_folder() / f"{ready.name}.yaml", *ready.hierarchy.files(ready.folder)]

    def describe(self) -> str:
        return f"ready hierarchy '{self.settings.root}'"


def ready_folder() -> Path:
    """Return the folder of the shipped hierarchies."""
    try:
        return Path(str(files(PACKAGE).joinpath("README.md"))).parent
    except ModuleNotFoundError:
        return Path(__file__).resolve().parents[2] / "hierarchies"


def ready_names() -> list[str]:
    """Return the names of the shipped hierarchies, sorted."""
    return sorted(path.stem for path in ready_folder().glob("*.yaml"))


def read_ready(name: str) -> ReadyHierarchy:
    """Read the entry of a shipped hierarchy.

    Raises
    ------
    HierarchyError: no hierarchy has the name.
    """
    return _read(ready_folder(), name)


@cache
def _read(folder: Path, name: str) -> ReadyHierarchy:
    # A run asks for each of its hierarchies ten times.
    names = ready_names()
    if name not in names:
        raise HierarchyError(f"unknown ready hierarchy '{name}'; {suggestion(name, names)}")
    entry = yaml.load((folder / f"{name}.yaml").read_text(encoding="utf-8"), Loader=_LOADER)
    aliases = {}
    if "aliases" in entry:
        rows = read_rows(folder / entry["aliases"], entry["aliases"])
        [(leaves, codes)] = rows.groups
        aliases = {
            normalized(spelling): leaves[code]
            for spelling, code in zip(rows.values, codes.tolist(), strict=True)
        }
    return ReadyHierarchy(
        name=name,
        title=entry["title"],
        about=entry["about"],
        source=entry["source"],
        folder=folder,
        hierarchy=make_source(entry["hierarchy"], f"ready hierarchy '{name}'"),
        aliases=aliases,
        codes=entry.get("codes", False),
    )


def normalized(text: str) -> str:
    """Return a text in lower case, with one space in place of each run of other characters.

    >>> normalized(" Married-civ_spouse!")
    'married civ spouse'
    """
    return _BETWEEN.sub(" ", text_identity(text).casefold()).strip()


# Three digits without a dot could also be a class that has lost its leading zero, unless they begin with one.
_DIVISION_CODE = re.compile(r"\s*(\d\d)(?:\.(\d)\d?|(\d)\d|(?<=0\d)(\d))?\s*", re.ASCII)


def division_code(text: str) -> tuple[str, str] | None:
    """Return the division of a NACE code and its group, the division again if it has none; None for others.

    >>> division_code("01.11"), division_code("0111"), division_code("01.1"), division_code("01")
    (('01', '01.1'), ('01', '01.1'), ('01', '01.1'), ('01', '01'))
    >>> division_code("111"), division_code("1.11"), division_code("01.")
    (None, None, None)
    """
    found = _DIVISION_CODE.fullmatch(text)
    if found is None:
        return None
    division, *digits = found.groups()
    group = "".join(digit for digit in digits if digit)
    return division, f"{division}.{group}" if group else division


def _above_codes(tree: Tree, values: Iterable[str]) -> Tree:
    """Return the tree of codes, with levels for their groups and divisions, given the one of divisions.

    A division is a leaf where no value has it.
    """
    above: dict[str, list[str]] = {}
    for level, label in tree:
        if level == 0:
            node, above[label] = (0, label), [label]
            while parents := list(tree.predecessors(node)):
                [node] = parents
                above[label].append(node[1])
    codes = {value: found for value in values if (found := division_code(value)) and found[0] in above}
    used = {division for division, _ in codes.values()}
    codes |= {division: (division, division) for division in above if division not in used}
    rows = [[value, group, *above[division]] for value, (division, group) in codes.items()]
    *levels, _ = zip(*rows, strict=True)
    return tree_of_rows(levels)


def _respell(tree: Tree, column: Column, aliases: Mapping[str, str]) -> None:
    """Replace leaves by the values of the data that match them."""
    identity, values = identity_in(column), column.present
    # A code such as 1 may be 1.0 in a column of numbers.
    by_value = {identity(spelling): leaf for spelling, leaf in aliases.items()}
    leaf_of = {identity(label): label for level, label in tree if level == 0}
    leaves = [label for level, label in tree if level == 0]
    listed = set(leaves)
    by_text: dict[str, str | None] = {}
    for leaf in leaves:
        key = normalized(leaf)
        by_text[key] = None if key in by_text else leaf  # leaves that differ in spelling alone match exactly
    replaced: dict[str, list[str]] = {}
    for value in values:
        if value not in listed:
            key = normalized(value)
            match = by_text.get(key) or aliases.get(key) or by_value.get(identity(value))
            if match is not None:
                # The leaf may have another spelling of the data already.
                replaced.setdefault(leaf_of.get(identity(match), match), []).append(value)
    kept = listed.intersection(values)
    for leaf, spellings in replaced.items():
        [parent] = tree.predecessors((0, leaf))
        tree.add_edges_from((parent, (0, spelling)) for spelling in spellings)
        if leaf not in kept:
            tree.remove_node((0, leaf))
