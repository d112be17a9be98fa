"""The counts over a CSV text do not depend on where its chunks end, and agree with a parser."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from anonymizer.data.csv import Tally
from tests.data.files import texts

pieces = st.lists(st.sampled_from(["a", "é", '"', '""', ",", "\n", "\r\n", "\r"]), max_size=12).map("".join)


def _counted(chunks: list[bytes]) -> tuple[int, int, bool]:
    tally = Tally(",")
    for chunk in chunks:
        tally.add(chunk)
    return tally.size, tally.separators, tally.plain


@given(pieces)
def test_chunks_may_end_anywhere(text: str) -> None:
    data = text.encode()
    whole = _counted([data])
    assert _counted([data[i : i + 1] for i in range(len(data))]) == whole
    for cut in range(len(data)):
        assert _counted([data[:cut], data[cut:]]) == whole


@given(st.lists(st.lists(texts, min_size=3, max_size=3), min_size=1, max_size=5))
def test_separators_in_quotes_do_not_count(records: list[list[str]]) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(records)
    _, separators, plain = _counted([written.getvalue().encode()])
    assert separators == 2 * len(records)
    assert plain is not any("\r" in text for record in records for text in record)


def test_what_is_not_plain() -> None:
    for text in ['a"b\n', '"a" ,b\n', ' "a"\n', '"a\n', "a\nb\r\n", "a\rb\n"]:
        assert not _counted([text.encode()])[2], text
    for text in ["a,b\n", "a\r\nb\r\n", "a\rb\r", '"a","b"\n', '"a""b"\n', '""\n', '\ufeff"a"\n']:
        assert _counted([text.encode()])[2], text
