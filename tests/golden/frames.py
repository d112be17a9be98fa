"""Runs by the Python interface, on DataFrames of several kinds."""

from __future__ import annotations

from typing import Any

import pandas as pd

import anonymizer as an
from tests.golden.cases import IDENTIFIER, INSENSITIVE, NUMBERS, SENSITIVE, UNDECIDED, config
from tests.golden.record import Case, Told
from tests.golden.tables import COLUMNS, people

CONFIG = {key: value for key, value in config().items() if key != "input"}
QUASI = ["age", "zip", "sex"]


def frame(records: int = 60, seed: int = 1) -> pd.DataFrame:
    """Return people with types."""
    made = pd.DataFrame(people(records, seed), columns=list(COLUMNS))
    return made.astype({"age": "int64", "wage": "float64", "sex": "category"})


def changed(**changes: Any) -> dict[str, Any]:
    """Return the config with other sections."""
    return {**CONFIG, **changes}


def anonymize_pandas(told: Told) -> None:
    given = frame().set_index("name", drop=False)
    result = an.anonymize(given, CONFIG)
    told.table("data", result.data)
    told.report("report", result.report.to_dict())
    print(result.report.status, given.equals(frame().set_index("name", drop=False)))


def anonymize_polars(told: Told) -> None:
    import polars as pl

    result = an.anonymize(pl.from_pandas(frame()), CONFIG)
    print(type(result.data).__module__.split(".")[0], result.data.schema)
    told.table("data", result.data.to_pandas())


def anonymize_arrow(told: Told) -> None:
    import pyarrow as pa

    table = pa.Table.from_pandas(frame())
    result = an.anonymize(table, changed(suppression={"limit": 0.3}, algorithm={"name": "mondrian"}))
    print(type(result.data).__name__, result.data.schema)
    told.table("data", result.data.to_pandas())


def anonymize_anatomy(told: Told) -> None:
    asked = changed(algorithm={"name": "anatomy"}, constraints=[{"model": "l-diversity", "l": 2}], seed=3)
    result = an.anonymize(frame(), asked)
    told.table("data", result.data)
    told.table("sensitive", result.sensitive_table)
    told.table("attacked", an.attack(result.data, frame(), asked, sensitive_table=result.sensitive_table))
    told.table(
        "checked",
        an.check(
            result.data,
            quasi_identifiers=QUASI,
            sensitive=["illness"],
            sensitive_table=result.sensitive_table,
        ),
    )


def anonymize_means(told: Told) -> None:
    asked = config({**NUMBERS, "algorithm": {"name": "microaggregation"}})
    result = an.anonymize(frame(), {key: value for key, value in asked.items() if key != "input"})
    told.table("data", result.data)


def notebook(told: Told) -> None:
    import re

    result = an.anonymize(frame(), CONFIG)
    shown = re.sub(r"<(style|svg)\b.*?</\1>|<[^>]*>", " ", result._repr_html_(), flags=re.DOTALL)
    print("\n".join(line.strip() for line in shown.splitlines() if line.strip()))


def infeasible(told: Told) -> None:
    an.anonymize(frame(), changed(constraints=[{"model": "k-anonymity", "k": 61}]))


def undecided(told: Told) -> None:
    an.anonymize(frame(), {key: value for key, value in config(UNDECIDED).items() if key != "input"})


def check(told: Told) -> None:
    told.table("measures", an.check(frame(), quasi_identifiers=QUASI, sensitive=["illness", "job"]))
    told.table("alone", an.check(frame(), quasi_identifiers=["age"]))


def attack(told: Told) -> None:
    first = an.anonymize(frame(), CONFIG).data
    second = an.anonymize(frame(), changed(constraints=[{"model": "k-anonymity", "k": 6}])).data
    told.table("alone", an.attack(first, None, CONFIG))
    told.table("with originals", an.attack(first, frame(), CONFIG))
    asked = changed(attacks=["intersection", {"attack": "linkage", "overlap": 0.5}])
    told.table("with a second", an.attack(first, frame(), asked, second_df=second))


def measure_utility(told: Told) -> None:
    data = an.anonymize(frame(), CONFIG).data
    told.table("utility", an.measure_utility(data, frame(), CONFIG))


def compare(told: Told) -> None:
    compared = an.compare(
        frame(), CONFIG, algorithms=["lattice", "mondrian"], vary={"constraints.0.k": [2, 4, 99]}
    )
    told.table("runs", compared)
    print(compared.attrs["headline"], compared.attrs["attack"], *compared.attrs["remarks"], sep="\n")


def refused(told: Told) -> None:
    def several() -> Any:
        yield lambda: an.anonymize(frame(), {**CONFIG, "sed": 1, "suppression": {"limit": 3}})
        yield lambda: an.anonymize(frame().drop(columns="age"), CONFIG)
        yield lambda: an.anonymize([1, 2, 3], CONFIG)
        yield lambda: an.anonymize(frame().iloc[:0], CONFIG)
        yield lambda: an.anonymize(frame(), "nowhere.yaml")
        yield lambda: an.check(frame(), quasi_identifiers="age")
        yield lambda: an.check(frame(), quasi_identifiers=["agee"])
        yield lambda: an.check(frame(), quasi_identifiers=["age"], sensitive=["age"])
        yield lambda: an.attack(frame(), None, changed(attacks=["linkage"]))
        yield lambda: an.compare(frame(), CONFIG, algorithms="lattice")
        yield lambda: an.load_config("job.json", ["suppression.limit=2"])

    for call in several():
        try:
            print("accepted", call())
        except an.AnonymizerError as error:
            print(type(error).__name__, error.exit_code, error)


def insensitive_types(told: Told) -> None:
    attributes = {**CONFIG["attributes"], "wage": INSENSITIVE, "born": SENSITIVE, "job": IDENTIFIER}
    given = frame().assign(born=lambda made: pd.to_datetime(made["born"]))
    given.loc[3, "wage"] = None
    constraints = [{"model": "k-anonymity", "k": 3}]
    result = an.anonymize(given, changed(attributes=attributes, constraints=constraints))
    told.table("data", result.data)


FUNCTIONS = (
    anonymize_pandas,
    anonymize_polars,
    anonymize_arrow,
    anonymize_anatomy,
    anonymize_means,
    notebook,
    infeasible,
    undecided,
    check,
    attack,
    measure_utility,
    compare,
    refused,
    insensitive_types,
)


def frames() -> list[Case]:
    """Return a case for each function."""
    return [Case(each.__name__.replace("_", "-"), {}, [each]) for each in FUNCTIONS]
