"""Which record counts as suppressed where cells are blanked: nothing but ``*`` is left, one of it a blank."""

from __future__ import annotations

from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonymizer as an
from tests.fuzz.brute_force import Truth
from tests.fuzz.cases import Case
from tests.fuzz.columns import ROOT, Attribute
from tests.helpers.examples import share

FLAT = {value: (value, ROOT) for value in "uvwx"}
DEEP = {"u": ("u", "g", ROOT), "v": ("v", "g", ROOT), "w": ("w", "h", ROOT), "x": ("x", "h", ROOT)}
NAMED = {value: (value, "any") for value in "uvwx"}
TREES: dict[str, tuple[dict[str, tuple[str, ...]], Any]] = {
    "flat": (FLAT, {ROOT: list("uvwx")}),
    "deep": (DEEP, {ROOT: {"g": ["u", "v"], "h": ["w", "x"]}}),
    "named": (NAMED, {"any": list("uvwx")}),
}


def column(name: str, cells: str, tree: str = "flat", low: int = 0, high: int | None = None) -> Attribute:
    """Return a quasi-identifier with one of the trees."""
    paths, nested = TREES[tree]
    top = len(paths["u"]) - 1
    entry: dict[str, Any] = {"role": "quasi-identifier", "type": "text", "hierarchy": {"tree": nested}}
    high = top if high is None else min(high, top)
    entry["levels"] = {"min": min(low, high), "max": high}
    return Attribute(name, entry, "text", tuple(cells), paths, min(low, high), high)


def asked(first: Attribute, second: Attribute, secret: str, limit: float = 0, **changes: Any) -> Case:
    """Return a run with ``method: cells``."""
    own = Attribute("s", {"role": "sensitive", "type": "text"}, "text", tuple(secret))
    config = {
        "attributes": {each.name: each.entry for each in (first, second, own)},
        "constraints": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2, "attribute": "s"}],
        "reference": "release",
        "suppression": {"limit": limit, "method": "cells", **changes},
        "algorithm": {"name": "lattice"},
        "objective": {"metric": "loss"},
    }
    return Case(0, (first, second, own), config)


def answer(own: Case) -> tuple[dict[str, Any], pd.DataFrame | None]:
    """Return the report, and the release where there is one."""
    frame = pd.DataFrame({each.name: each.cells for each in own.attributes})
    try:
        result = an.anonymize(frame, own.config)
    except an.Infeasible as error:
        return error.report.to_dict(), None
    return result.report.to_dict(), result.data


@pytest.mark.slow
@share(4)
@given(seed=st.integers(0, 2**32))
def test_levels_and_blanks_as_exhaustive_search_finds_them(seed: int) -> None:
    random = Random(seed)
    number = random.randint(3, 5)
    first, second = (
        column(
            name,
            "".join(random.choice("uvwx") for _ in range(number)),
            random.choice(("flat", "flat", "deep", "named")),
            *random.choice(((0, None), (0, None), (0, 0), (1, None))),
        )
        for name in "ab"
    )
    secret = "".join(random.choice("123") for _ in range(number))
    own = asked(first, second, secret, random.choice((0, 0, 0.25, 0.4)), keep_rows=random.random() < 0.3)
    best = Truth(own).best_by_cells()
    report, release = answer(own)
    if best is None:
        assert report["status"] == "infeasible"
        return
    assert report["status"] == "satisfied"
    assert report["search"]["optimal"]
    assert report["search"]["objective"] == pytest.approx(best)
    assert report["search"]["bound"] == pytest.approx(best)
    counted_as_published(own, report, release)


def counted_as_published(own: Case, report: dict[str, Any], release: pd.DataFrame | None) -> None:
    """Compare the counts of the report with those of the release."""
    assert release is not None
    shown, gone = report["release"], own.size - len(release)
    cells = release[["a", "b"]]
    stars = int((cells == ROOT).all(axis=1).sum())
    levels, suppressed = report["recoding"]["levels"], shown["suppressed_records"]
    roots = {each.name: (each.paths or {})["u"][levels[each.name]] == ROOT for each in own.attributes[:2]}
    assert suppressed <= own.limit
    kept = suppressed if gone == 0 else 0
    assert suppressed == (kept or gone)
    # Nothing but the levels may have made a row of stars that does not count as suppressed.
    assert stars == (len(release) if all(roots.values()) else kept)
    blanks = sum(int((cells[name] == ROOT).sum()) - kept for name, root in roots.items() if not root)
    assert shown["suppressed_cells"] == blanks


def test_a_root_and_a_blank_are_a_suppressed_record() -> None:
    """With ``b`` at its root, a record whose ``a`` is blanked shows as little as one that is removed."""
    first, second = column("a", "vvwwx", high=0), column("b", "uvwxu", low=1)
    assert answer(asked(first, second, "12121"))[0]["status"] == "infeasible"
    own = asked(first, second, "12121", 0.2)
    report, release = answer(own)
    assert report["status"] == "satisfied"
    assert (report["release"]["suppressed_records"], report["release"]["suppressed_cells"]) == (1, 0)
    counted_as_published(own, report, release)
    assert report["release"]["rows"] == 4


def test_without_a_limit_blanks_and_roots_do_not_make_a_class() -> None:
    """``*,*`` twice by a blank and a root, beside ``w,*`` twice, would be cheaper and suppresses two."""
    own = asked(column("a", "vxww"), column("b", "vuwu"), "1223")
    report, release = answer(own)
    assert report["search"]["objective"] == pytest.approx(1.0)
    assert report["release"]["suppressed_records"] == report["release"]["suppressed_cells"] == 0
    counted_as_published(own, report, release)
    own = asked(column("a", "vxww"), column("b", "vuwu"), "1223", 0.5)
    report, release = answer(own)
    assert report["search"]["objective"] == pytest.approx(0.75)
    assert report["release"]["suppressed_records"] == 2
    counted_as_published(own, report, release)


def test_suppressed_records_that_stay_look_like_a_root_and_a_blank() -> None:
    own = asked(column("a", "vvwx", high=0), column("b", "uvwx", low=1), "1212", 0.5, keep_rows=True)
    report, release = answer(own)
    assert report["release"]["suppressed_records"] == 2
    assert report["release"]["rows"] == 4
    counted_as_published(own, report, release)


def test_a_root_with_a_label_of_its_own_is_published() -> None:
    """``*,any`` is not a row of stars: its records are a class, which must hold, and count as released."""
    own = asked(column("a", "vvwx", high=0), column("b", "uvwx", "named", low=1), "1212")
    report, release = answer(own)
    assert report["status"] == "satisfied"
    assert (report["release"]["suppressed_records"], report["release"]["suppressed_cells"]) == (0, 2)
    counted_as_published(own, report, release)


def test_at_the_roots_records_are_suppressed_only_within_the_limit() -> None:
    """One of the two q has to go: 2 of 5 records are too many for c = 1/2, 1 of 4 is not."""
    diverse = {"model": "recursive-cl-diversity", "c": 0.5, "l": 2, "attribute": "s"}
    for limit, suppressed in ((0.0, None), (0.4, 1)):
        own = asked(column("a", "uvwxu", low=1), column("b", "uvwxu", low=1), "qpsqr", limit)
        own.config["constraints"] = [{"model": "k-anonymity", "k": 3}, diverse]
        report, release = answer(own)
        assert (report["status"] == "satisfied") == (suppressed is not None)
        if suppressed is not None:
            assert (report["release"]["suppressed_records"], report["search"]["optimal"]) == (
                suppressed,
                True,
            )
            assert release is not None
            assert sorted(release["s"]) == ["p", "q", "r", "s"]
