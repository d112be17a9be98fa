"""Adult, the census extract of 1994: records of a file that the user has, as none of it is shipped."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from anonymizer.errors import InputError, listed
from anonymizer.suites.suite import Suite

NEEDED = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
FURTHER = ("salary-class", "income", "class")
"""Names of the column that says who earns more than 50,000."""

SENSITIVE = "occupation"


class Adult(Suite):
    """Records of Adult, another draw for each seed.

    Parameters
    ----------
    path: CSV with a header; hierarchies are in ``hierarchies/NAME.csv`` beside it, or made from the data.

    Raises
    ------
    InputError: it is not Adult, or cannot be read.
    """

    name = "adult"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._records = _read(path)
        names = {_plain(name): name for name in self._records.columns}
        missing = [name for name in NEEDED if name not in names]
        if missing:
            raise InputError(
                f"{path}: no column {listed(missing, 'or')} in its first line; accepted for the suite adult: "
                f"CSV with the columns {listed(NEEDED)}"
            )
        self._roles = {name: names[name] for name in (*NEEDED, *FURTHER) if name in names}
        self.sizes = {"records": min(3_000, len(self._records))}
        self.sensitive = names[SENSITIVE]

    def attributes(self, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Return the columns with their roles and hierarchies."""
        if sizes["records"] > len(self._records):
            raise InputError(
                f"--vary records={sizes['records']}: {self._path} has {len(self._records)} records; "
                "accepted: as many, or fewer"
            )
        found: dict[str, Any] = {name: {"role": "drop"} for name in self._records.columns}
        for plain, name in self._roles.items():
            found[name] = {"role": "quasi-identifier", "hierarchy": self._hierarchy(plain)}
        found[self.sensitive] = {"role": "sensitive"}
        return found

    def _hierarchy(self, plain: str) -> dict[str, Any]:
        beside = self._path.absolute().parent / "hierarchies" / f"{plain}.csv"
        if beside.is_file():
            return {"file": str(beside)}
        return {"intervals": {"width": [5, 10, 20, 40]}} if plain == "age" else {"auto": {}}

    def write(self, path: Path, seed: int, sizes: Mapping[str, int]) -> None:
        """Write records of the file, drawn without replacement."""
        random = np.random.default_rng(seed)
        drawn = random.choice(len(self._records), sizes["records"], replace=False)
        self._records.iloc[np.sort(drawn)].to_csv(path, index=False, lineterminator="\n")


def _plain(name: str) -> str:
    return name.strip().lower().replace("_", "-").replace(".", "-").replace(" ", "-")


def _read(path: Path) -> Any:
    """Return the records, all columns as text."""
    import pandas as pd  # noqa: PLC0415 - other suites need none of it

    try:
        return pd.read_csv(
            path, dtype=str, keep_default_na=False, skipinitialspace=True, sep=None, engine="python"
        )
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}"
    except Exception as error:  # those of the parsers share no base
        fault = f"is not CSV: {error}"
    raise InputError(f"{path}: {fault}; name the file of Adult")
