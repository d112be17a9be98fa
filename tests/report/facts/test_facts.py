"""What a page shows, compared with slow counts over the records themselves."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from functools import cache
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anonymizer as an
from anonymizer.report.facts import COARSER, OTHERS, Distribution, group_sizes, share_step
from tests.helpers.slow import slow_but
from tests.run.commands import COLUMNS, CONFIG, people

KNOWN = ["age", "zip", "sex"]
MONDRIAN = {"name": "mondrian", "labels": "interval"}


@cache
def frame(records: int, seed: int) -> pd.DataFrame:
    made = pd.DataFrame(people(records, seed), columns=list(COLUMNS))
    return made.assign(age=made["age"].astype("int64"))


@cache
def result(records: int = 300, seed: int = 1, k: int = 5, algorithm: str = "lattice") -> Any:
    config: dict[str, Any] = {key: deepcopy(each) for key, each in CONFIG.items() if key != "input"}
    config["constraints"] = [{"model": "k-anonymity", "k": k}, {"model": "l-diversity", "l": 2}]
    config["algorithm"] = MONDRIAN if algorithm == "interval" else {"name": algorithm}
    return an.anonymize(frame(records, seed), config)


def sizes_of(data: pd.DataFrame, names: list[str]) -> Counter[tuple[Any, ...]]:
    return Counter(data[names].itertuples(index=False, name=None))


def distribution(of: Any, attribute: str) -> Distribution:
    return next(each for each in of.facts.distributions if each.attribute == attribute)


@pytest.mark.parametrize("seed", slow_but(1, [1, 2]))
@pytest.mark.parametrize("algorithm", slow_but(2, ["lattice", "mondrian", "local"]))
def test_the_histogram_counts_every_group_once(seed: int, algorithm: str) -> None:
    found = result(seed=seed, algorithm=algorithm)
    sizes = [*sizes_of(found.data, KNOWN).values()]
    bins = found.facts.groups
    assert bins[0].low == 5
    assert bins[-1].high is None
    for each in bins:
        inside = [size for size in sizes if size >= each.low and (each.high is None or size <= each.high)]
        assert each.classes == len(inside)
        assert each.classes == 0 or each.classes >= 5
        assert each.share == pytest.approx(sum(inside) / len(found.data), abs=0.026)
    assert sum(each.classes for each in bins) == len(sizes)
    assert found.facts.smallest_class == min(sizes)


def test_groups_smaller_than_the_k_of_a_population_are_counted_too() -> None:
    rows = SimpleNamespace(measure=SimpleNamespace(units={}))
    own = SimpleNamespace(class_sizes=np.repeat([1, 2, 9], 30), kept_suppressed=0, k=8, table=rows)
    bins = group_sizes(own)  # type: ignore[arg-type]
    assert [each.low for each in bins] == [1, 2, 4, 8]
    assert [each.classes for each in bins] == [30, 30, 0, 30]


def test_few_groups_make_no_histogram() -> None:
    found = result(60, 1, 20)
    assert len(sizes_of(found.data, KNOWN)) < 20
    assert found.facts.groups == ()


@pytest.mark.parametrize("algorithm", ["lattice", "mondrian", "interval"])
def test_vulnerability_is_that_of_every_set_of_attributes(algorithm: str) -> None:
    found = result(algorithm=algorithm)
    assert [each.known for each in found.facts.knowing] == [1, 2, 3]
    for each in found.facts.knowing:
        sets = [list(names) for names in combinations(KNOWN, each.known)]
        after = [len(sizes_of(found.data, names)) / len(found.data) for names in sets]
        before = [len(sizes_of(frame(300, 1), names)) / 300 for names in sets]
        assert each.worst == pytest.approx(max(after), rel=0.06)
        assert each.mean == pytest.approx(sum(after) / len(after), rel=0.06)
        assert each.before == pytest.approx(max(before), rel=0.06)
        assert len(sizes_of(found.data, list(each.of))) / len(found.data) == pytest.approx(max(after))


@pytest.mark.parametrize("algorithm", slow_but(3, ["lattice", "mondrian", "interval", "local"]))
def test_losses_average_to_that_of_the_report(algorithm: str) -> None:
    found = result(algorithm=algorithm)
    losses = {each.name: each.loss for each in found.facts.losses}
    assert sum(losses.values()) / 3 == pytest.approx(found.report["loss"]["loss"], abs=0.011)
    assert [*losses.values()] == sorted(losses.values(), reverse=True)
    for each in found.facts.losses:
        assert each.values == frame(300, 1)[each.name].nunique()
        assert each.published == found.data[each.name].nunique()
        assert (each.level is None) == (algorithm != "lattice")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_worst_classes_are_shown_by_number_and_size(seed: int) -> None:
    found = result(400, seed, 3)
    first, second = found.facts.worst
    sizes = sizes_of(found.data, KNOWN)
    least = [size for size in sizes.values() if size == min(sizes.values())]
    assert (first.smallest, first.largest) == (min(sizes.values()), min(sizes.values()))
    assert first.classes == (len(least) if len(least) >= 3 else None)
    distinct = found.data.groupby(KNOWN)["diagnosis"].nunique()
    worst = [sizes[key] for key in distinct.index[distinct == distinct.min()]]
    assert (second.smallest, second.largest) == (min(worst), max(worst))


def test_the_groups_of_anatomy_are_its_classes() -> None:
    config: dict[str, Any] = {key: deepcopy(each) for key, each in CONFIG.items() if key != "input"}
    config["constraints"] = [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 3}]
    config["algorithm"] = {"name": "anatomy"}
    found = an.anonymize(frame(120, 2), config)
    sizes = found.data["group"].value_counts()
    assert sizes.min() >= 3
    least = sizes[sizes == sizes.min()]
    first, _ = found.facts.worst
    assert (first.smallest, first.largest) == (sizes.min(), sizes.min())
    assert first.classes == (len(least) if len(least) >= 3 else None)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nodes_of_the_published_level_are_counted_in_both_files(seed: int) -> None:
    found = result(seed=seed)
    own = frame(300, seed)
    step = share_step(len(found.data), 5) or 1
    for name in KNOWN:
        shown = distribution(found, name)
        level = found.report["recoding"]["levels"][name]
        if not shown.labels:
            assert found.data[name].nunique() == 1
            continue
        texts = own[name].map(lambda value, name=name, level=level: node(name, str(value), level))
        for label, before, after in zip(shown.labels, shown.before, shown.after, strict=True):
            if label == OTHERS:
                continue
            assert before == pytest.approx((texts == label).mean(), abs=step / 2 + 1e-4)
            assert after == pytest.approx((found.data[name] == label).mean(), abs=step / 2 + 1e-4)
            assert (texts == label).sum() >= 5
        assert sum(shown.before) == pytest.approx(1, abs=step * len(shown.labels))
        assert sum(shown.after) == pytest.approx(1, abs=step * len(shown.labels))


def node(name: str, text: str, level: int) -> str:
    """Return the label of a value at a level, as the hierarchies of the config make it."""
    if level == 0 or name == "sex":
        return text
    if name == "zip":
        return text[: len(text) - level] + "*" * level
    width = (10, 20, 40)[level - 1]
    low = int(text) // width * width
    return f"{low}-{low + width - 1}"


def test_intervals_are_counted_along_their_length() -> None:
    found = result(algorithm="interval")
    shown = distribution(found, "age")
    assert shown.entries == "intervals with round ends"
    step = share_step(300, 5) or 1
    ages, ends = frame(300, 1)["age"], [0, *range(25, 60, 5), 1000]
    assert shown.labels[0] == "under 25"
    assert shown.labels[-1] == "55 or more"
    for before, low, high in zip(shown.before, ends, ends[1:], strict=False):
        assert before == pytest.approx(((ages >= low) & (ages < high)).mean(), abs=step / 2 + 1e-4)
    after = Counter[int]()
    for text in found.data["age"]:
        first, last = (
            (float(part) for part in text.strip("[]").split(", ")) if "," in text else (float(text),) * 2
        )
        points = [first] if first == last else np.linspace(first, last + 1, 401)[:-1]
        for point in points:
            after[int(np.searchsorted(ends, point, "right")) - 1] += 1 / len(points)
    for place, share in enumerate(shown.after):
        assert share == pytest.approx(after[place] / len(found.data), abs=step / 2 + 0.01)


def test_what_is_published_coarser_is_said_so() -> None:
    found = result(algorithm="local", k=12)
    coarse = [each for each in found.facts.distributions if COARSER in each.labels]
    assert coarse
    for each in coarse:
        assert each.before[each.labels.index(COARSER)] == 0
        assert sum(each.after) == pytest.approx(1, abs=0.3)


@pytest.mark.slow
def test_extreme_and_rare_values_are_not_named() -> None:
    own = frame(300, 1).copy()
    own.loc[0, "age"], own.loc[1, "zip"] = 91, "9999"
    for algorithm in ("lattice", "interval", "local"):
        config: dict[str, Any] = {key: deepcopy(each) for key, each in CONFIG.items() if key != "input"}
        config["algorithm"] = MONDRIAN if algorithm == "interval" else {"name": algorithm}
        config["attributes"]["age"]["hierarchy"] = {"auto": {}}
        found = an.anonymize(own, config)
        told = {label for each in found.facts.distributions for label in each.labels}
        told -= {*found.data["age"], *found.data["zip"]}
        assert not [label for label in told if "91" in label or "9999" in label], algorithm
