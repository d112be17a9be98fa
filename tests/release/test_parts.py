"""Records of one combination that are published in several ways: which goes where depends on no order."""

from __future__ import annotations

from random import Random

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.data.frames import FrameQuery
from anonymizer.data.open import open_frame
from anonymizer.model.measure import Measure
from anonymizer.model.recoding import NodeRecoding
from anonymizer.model.table import QuasiIdentifier, Table
from anonymizer.release.query import project
from tests import strategies
from tests.helpers import build
from tests.helpers.examples import share

PATHS = {"a": ("a", "*"), "b": ("b", "*")}


def release(records: list[tuple[str, str]], parts: dict[str, list[int]]) -> list[tuple[str, str]]:
    """Publish the records with every second part of a value as ``*``, the third of each removed."""
    column, codes = build.column("q", [value for value, _ in records], numeric=False)
    tree, leaf = build.hierarchy(PATHS, "q")
    own = QuasiIdentifier(
        column, tree, np.array([leaf[text] for text in column.texts], dtype=np.int32), 1.0, 0, 1
    )
    searched = Table((own,), (), np.arange(column.size, dtype=np.int32)[:, None], Measure(column.counts))
    owner = np.repeat(np.arange(column.size), [len(parts[text]) for text in column.texts])
    counts = np.array([count for text in column.texts for count in parts[text]], dtype=np.int64)
    number = np.concatenate([np.arange(len(parts[text])) for text in column.texts])
    nodes = np.where(number == 1, 0, own.nodes(0)[owner]).astype(np.int32)[:, None]
    gone = number == 2
    recoding = NodeRecoding(searched.split(owner, counts), nodes, gone, gone, owner)
    frame = pd.DataFrame({"q": [q for q, _ in records], "n": [n for _, n in records]})
    with open_frame(frame) as relation:
        projection = project(relation, codes, recoding, ["q", "n"])
        query = relation.records_query(projection)
        assert isinstance(query, FrameQuery)
        data = query.frame()
    return list(zip(data["q"], data["n"], strict=True))


@share(5)
@given(
    records=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("uvw")), min_size=1, max_size=12),
    random=strategies.randoms(),
)
def test_parts_have_their_sizes_and_no_order_matters(records: list[tuple[str, str]], random: Random) -> None:
    parts = {}
    for value in sorted({value for value, _ in records}):
        left, own = sum(value == other for other, _ in records), []
        while left:
            own.append(random.randint(1, left) if len(own) < 2 else left)
            left -= own[-1]
        parts[value] = own
    found = release(records, parts)
    assert found == release(random.sample(records, len(records)), parts)
    whole = {value: own[0] for value, own in parts.items()}
    kept_suppressed = sum(own[1] for own in parts.values() if len(own) > 1)
    assert sum(value == "*" for value, _ in found) == kept_suppressed
    assert all(sum(value == other for other, _ in found) == size for value, size in whole.items())
    assert (
        not pd.Series([n for _, n in found])
        .value_counts()
        .sub(pd.Series([n for _, n in records]).value_counts(), fill_value=0)
        .gt(0)
        .any()
    )
