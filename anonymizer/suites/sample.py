"""The sample: a made-up register of patients, the same bytes from the same seed.

Nobody in it exists. The model is log-linear: every value of a column has a weight, which is a product
of small integers chosen by the values of earlier columns, and a record draws its value in proportion to the
weights. Integers and one uniform number a draw are all that is used, so that no platform rounds differently.
The weights are in sample_model.py. ``examples/sample.csv`` has 30,000 records of seed 3.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.suites.sample_model import (
    AGE_LOW,
    AGE_WEIGHT,
    AGE_WIDTH,
    AREA,
    COUNTRY,
    DIAGNOSIS,
    EDUCATION,
    HOURS,
    HOURS_FEW,
    HOURS_MANY,
    INCOME,
    INCOME_BY_AGE,
    INCOME_BY_EDUCATION,
    INCOME_BY_HOURS,
    LOCAL,
    MANUAL,
    MARITAL,
    MISSING,
    OCCUPATION,
    REGION,
    WOMEN,
)
from anonymizer.suites.suite import Suite

Codes = NDArray[np.int64]
Weights = NDArray[np.int64]
Texts = NDArray[np.object_]

SEED = 3
"""Of the shipped file."""

FIRST_DAY = date(2023, 1, 1)
HEADER = [
    "person_id", "age", "sex", "marital_status", "education", "country_of_birth", "postal_code", "occupation",
    "income_class", "diagnosis", "hours_per_week", "admission_date",
]  # fmt: skip
"""Columns of the file, in order."""


class Draw:
    """Draws values in proportion to integer weights."""

    def __init__(self, seed: int, records: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))
        self.records = records

    def below(self, limits: Codes | int) -> Codes:
        """Return a whole number from 0 to just below the limit of each record, shape (records,), int64."""
        return np.floor(self._generator.random(self.records) * limits).astype(np.int64)

    def code(self, weights: Weights) -> Codes:
        """Return a position for each record; ``weights`` has shape (records, values) or (values,), int64."""
        ends = np.cumsum(np.atleast_2d(weights), axis=1)
        return np.asarray((self.below(ends[:, -1])[:, None] >= ends).sum(axis=1), dtype=np.int64)


def table(by_value: Mapping[str, tuple[int, ...]]) -> Weights:
    """Return weights by group and value, shape (groups, values), from groups listed by value."""
    return np.array(list(by_value.values()), dtype=np.int64).T


def texts(values: Iterable[str], codes: Codes) -> Texts:
    """Return the text of each record's value, shape (records,)."""
    found: Texts = np.array(list(values), dtype=object)[codes]
    return found


def age_in(draw: Draw, band: Codes) -> Codes:
    """Return ages in years; in the last group the older are the fewer."""
    width = np.array(AGE_WIDTH)[band]
    one, other = draw.below(width), draw.below(width)
    years = np.where(band == len(AGE_LOW) - 1, np.minimum(one, other), one)
    return np.asarray(np.array(AGE_LOW)[band] + years, dtype=np.int64)


def marital_status(draw: Draw, band: Codes, sex: Codes, age: Codes) -> Codes:
    """Women are widowed three times as often; nobody is married before 18."""
    weights = table(MARITAL)[band]
    weights[:, 4] *= np.where(sex == 0, 3, 1)
    weights[age < 18, 1:] = 0
    return draw.code(weights)


def postal_code(draw: Draw) -> tuple[Codes, Texts]:
    """Return the region of each record, its first digit, and its five-digit postal code."""
    region, area, local = (draw.code(np.array(weights)) for weights in (REGION, AREA, LOCAL))
    number = region * 10_000 + (area * 37 + region * 7 + 11) % 100 * 100 + (local * 29 + area * 13 + 5) % 100
    return region, texts([f"{code:05d}" for code in range(100_000)], number)


def country_of_birth(draw: Draw, band: Codes, region: Codes) -> Codes:
    """People of the two largest regions come from abroad more often, those of the last two less often."""
    abroad = np.where((region == 1) | (region == 6), 3, np.where(region >= 8, 1, 2))
    weights = table(COUNTRY)[band] * abroad[:, None]
    weights[:, 0] = table(COUNTRY)[band, 0] * 2
    return draw.code(weights)


def education(draw: Draw, band: Codes, region: Codes, age: Codes) -> Codes:
    """Degrees are more frequent in the two largest regions; below 20 there is nothing past secondary."""
    weights = table(EDUCATION)[band] * 2
    weights[age < 20, 4:] = 0
    weights[:, 6:] += weights[:, 6:] // 2 * ((region == 1) | (region == 6))[:, None]
    return draw.code(weights)


def diagnosis(draw: Draw, band: Codes, sex: Codes, manual: NDArray[np.bool_]) -> Codes:
    """Diagnoses depend on age and sex; people in manual work have back pain three times as often."""
    rows = list(DIAGNOSIS.values())
    by_age = np.array([row[0] for row in rows], dtype=np.int64).T
    by_sex = np.array([row[1:3] for row in rows], dtype=np.int64).T
    weights = by_age[band] * by_sex[sex]
    weights[:, list(DIAGNOSIS).index("back pain")] *= np.where(manual, 3, 1)
    return draw.code(weights)


def admission_date(draw: Draw, diagnosed: Codes) -> Texts:
    """Return ISO dates in two years; the season depends on the diagnosis."""
    seasons = np.array([row[3] for row in DIAGNOSIS.values()], dtype=np.int64)[diagnosed]
    day = draw.below(2) * 365 + draw.code(seasons) * 91 + draw.below(91)
    return texts([(FIRST_DAY + timedelta(days=offset)).isoformat() for offset in range(2 * 366)], day)


def hours_per_week(draw: Draw, band: Codes, sex: Codes) -> Codes:
    """Women work part time more often, the young and those past 65 mostly."""
    few = np.array([6, 3, 3, 3, 4, 9, 10])[band] + np.where((sex == 0) & (band > 0) & (band < 5), 3, 0)
    weights = 2 * few[:, None] * np.array(HOURS_FEW) + (13 - few)[:, None] * np.array(HOURS_MANY)
    weights[:, 0] *= np.where(band >= 5, 12, 1)
    return np.asarray(np.array(HOURS)[draw.code(weights)], dtype=np.int64)


def income_class(draw: Draw, band: Codes, group: Codes, hours: Codes) -> Codes:
    """Income grows with education, age and hours; those without hours have a pension or benefits."""
    worked = np.array(INCOME_BY_HOURS)[(hours > 0) * 1 + (hours >= 30)]
    return draw.code(np.array(INCOME_BY_EDUCATION)[group] * np.array(INCOME_BY_AGE)[band] * worked)


def make(seed: int, records: int) -> list[NDArray[Any]]:
    """Return the columns of the file in the order of ``HEADER``, each of shape (records,)."""
    draw = Draw(seed, records)
    band = draw.code(np.array(AGE_WEIGHT))
    age = age_in(draw, band)
    sex = (draw.below(100) >= np.array(WOMEN)[band]).astype(np.int64)
    married = marital_status(draw, band, sex, age)
    region, postal = postal_code(draw)
    country = country_of_birth(draw, band, region)
    educated = education(draw, band, region, age)
    group = np.array([0, 0, 0, 1, 2, 2, 3, 3, 3])[educated]
    work = table(OCCUPATION)
    occupied = draw.code(work[0] * work[1 + group] * work[5 + sex])
    hours = hours_per_week(draw, band, sex)
    income = income_class(draw, band, group, hours)
    ill = diagnosis(draw, band, sex, np.isin(occupied, [list(OCCUPATION).index(name) for name in MANUAL]))
    columns: dict[str, NDArray[Any]] = dict(zip(HEADER, [
        100_000 + np.arange(records), age, texts("FM", sex), texts(MARITAL, married),
        texts(EDUCATION, educated), texts(COUNTRY, country), postal, texts(OCCUPATION, occupied),
        texts(INCOME, income), texts(DIAGNOSIS, ill), hours, admission_date(draw, ill),
    ], strict=True))  # fmt: skip
    for name, share in MISSING.items():
        columns[name] = np.where(draw.below(1000) < share, "", columns[name].astype(object))
    return list(columns.values())


def write(path: Path, seed: int, records: int) -> None:
    """Write the file, comma-separated UTF-8 with a header."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(zip(*make(seed, records), strict=True))


class Sample(Suite):
    """Patients as in the shipped sample, which has 30,000 records."""

    name = "sample"
    sizes = {"records": 3_000}
    first_seed = SEED
    sensitive = "diagnosis"

    def attributes(self, sizes: Mapping[str, int]) -> dict[str, Any]:  # noqa: ARG002 - one set of columns
        """Return the columns with their roles and hierarchies."""
        return {name: dict(own) for name, own in ATTRIBUTES.items()}

    def write(self, path: Path, seed: int, sizes: Mapping[str, int]) -> None:
        """Write a table."""
        write(path, seed, sizes["records"])


ATTRIBUTES: dict[str, dict[str, Any]] = {
    "person_id": {"role": "identifier"},
    "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"ready": "age"}},
    "sex": {"role": "quasi-identifier", "hierarchy": {"ready": "sex"}},
    "marital_status": {"role": "quasi-identifier", "hierarchy": {"ready": "marital-status"}},
    "education": {"role": "quasi-identifier", "hierarchy": {"ready": "education"}},
    "country_of_birth": {"role": "quasi-identifier", "hierarchy": {"ready": "country"}},
    "postal_code": {
        "role": "quasi-identifier",
        "type": "text",
        "hierarchy": {"ready": "postal-code"},
        "weight": 2,
    },
    "occupation": {"role": "quasi-identifier", "hierarchy": {"ready": "occupation"}},
    "diagnosis": {"role": "sensitive"},
    "income_class": {"role": "drop"},
    "hours_per_week": {"role": "drop"},
    "admission_date": {"role": "drop"},
}
"""Those of ``examples/sample.yaml``."""
