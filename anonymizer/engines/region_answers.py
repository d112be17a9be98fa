"""What an engine with SQL sums up of regions, and its columns as answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anonymizer.model.arrays import CodeArray, IntArray
from anonymizer.model.classes import GroupStatistic
from anonymizer.model.out_of_core import RegionSums, SensitiveCounts


def traces_sql(traces: Sequence[GroupStatistic]) -> list[str]:
    """Return SQL for traces as t0, t1, …, of the numbers c0, c1, … that combinations are written as."""
    return [f"{own.reduction}(c{own.column}) AS t{place}" for place, own in enumerate(traces)]


def region_sums(found: Mapping[str, IntArray], traces: Sequence[GroupStatistic]) -> RegionSums:
    """Return sums by region and code, whose columns are called as in ``RegionSums``, but traces t0, t1, …"""
    told = [found[f"t{place}"] for place in range(len(traces))]
    return RegionSums(found["region"], found["code"], found["combinations"], found["records"], told)


def counts_by_values(found: Mapping[str, IntArray], attributes: int) -> SensitiveCounts:
    """Return records by region and so many sensitive attributes, whose codes are the columns s0, s1, …"""
    codes: CodeArray = np.empty((len(found["region"]), attributes), dtype=np.int32)
    for place in range(attributes):
        codes[:, place] = found[f"s{place}"]
    return SensitiveCounts(found["region"], codes, found["records"])
