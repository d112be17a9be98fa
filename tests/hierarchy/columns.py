"""Columns and trees for the tests of this room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from anonymizer.hierarchy.source import HierarchySource, compile_tree, make_source
from anonymizer.model.labels import MISSING, in_natural_order
from anonymizer.model.table import Column, Hierarchy, ValueType

NOWHERE = Path("no folder is read")


def _number(kind: ValueType, text: str) -> float:
    return float(date.fromisoformat(text).toordinal()) if kind is ValueType.DATE else float(text)


def column(values: Iterable[str | None], kind: ValueType = ValueType.TEXT) -> Column:
    """A column of records, None where one misses its value; distinct values in their natural order."""
    counted = Counter(values)
    absent = counted.pop(None, 0)
    key: Any = {
        ValueType.TEXT: str,
        ValueType.INTEGER: int,
        ValueType.NUMBER: Decimal,
        ValueType.DATE: date.fromisoformat,
    }[kind]
    texts = sorted((text for text in counted if text is not None), key=key)
    texts = in_natural_order(texts) if kind is ValueType.TEXT else texts
    counts = [counted[text] for text in texts]
    numbers = None if kind is ValueType.TEXT else [_number(kind, text) for text in texts]
    if absent:
        texts, counts = [*texts, MISSING], [*counts, absent]
        numbers = None if numbers is None else [*numbers, np.nan]
    return Column(
        "c",
        kind,
        tuple(texts),
        np.array(counts, dtype=np.int64),
        None if numbers is None else np.array(numbers),
        len(texts) - 1 if absent else None,
    )


def source(**mapping: Any) -> HierarchySource[Any]:
    return make_source(mapping, "test")


def compiled(data: Column, **mapping: Any) -> Hierarchy:
    return compile_tree(source(**mapping).build(data, NOWHERE), "test")


def chains(hierarchy: Hierarchy) -> dict[str, list[str]]:
    """Labels of every leaf from level 0 up to the root, by the leaf."""
    labels = hierarchy.labels
    return {labels[nodes[0]]: [labels[node] for node in nodes] for nodes in hierarchy.ancestors.T.tolist()}


def above(data: Column, **mapping: Any) -> dict[str, list[str]]:
    """What a source publishes for each value at levels 1, 2, ..., the top left out."""
    return {leaf: chain[1:-1] for leaf, chain in chains(compiled(data, **mapping)).items()}


def nested_tree(children: Sequence[Any], name: Hashable = "*") -> nx.DiGraph:
    """A networkx tree of a nested sequence; labels differ everywhere."""
    graph = nx.DiGraph()
    graph.add_node(name)
    for place, below in enumerate(children):
        part = nested_tree(below, f"{name}.{place}")
        graph.update(part)
        graph.add_edge(name, f"{name}.{place}")
    return graph


def integers(smallest: int = 1) -> st.SearchStrategy[Column]:
    values = st.integers(-(10**6), 10**6).map(str)
    return st.lists(values, min_size=smallest).map(lambda texts: column(texts, ValueType.INTEGER))


def decimals(smallest: int = 1) -> st.SearchStrategy[Column]:
    values = st.decimals(-1000, 1000, places=3).map(lambda value: str(value.normalize() + 0))
    return st.lists(values, min_size=smallest).map(lambda texts: column(texts, ValueType.NUMBER))


def dates(smallest: int = 1) -> st.SearchStrategy[Column]:
    values = st.dates().map(date.isoformat)
    return st.lists(values, min_size=smallest).map(lambda texts: column(texts, ValueType.DATE))


def texts(smallest: int = 1) -> st.SearchStrategy[Column]:
    values = st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
    )
    short = st.sampled_from(["a", "b", "c", "d", "a..b", "{a, b}", "*", "{*, a}", "a (2)", "*a", "*b"])
    return st.lists(values | short, min_size=smallest).map(column)
