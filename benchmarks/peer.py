"""Every measure of pycanon on a CSV file, timed one by one; runs in an environment that has only pycanon.

Started with the file and the name of the sensitive attribute; all other columns are quasi-identifiers. Prints
one JSON object: the versions, and for each function its result and its seconds.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from typing import Any

import pandas as pd
from pycanon import anonymity  # type: ignore[import-not-found, unused-ignore]

MEASURES = (
    "k_anonymity",
    "alpha_k_anonymity",
    "l_diversity",
    "entropy_l_diversity",
    "recursive_c_l_diversity",
    "basic_beta_likeness",
    "enhanced_beta_likeness",
    "t_closeness",
    "delta_disclosure",
)


def plain(value: Any) -> Any:
    """Return a result without the types of numpy."""
    return [float(each) for each in value] if isinstance(value, tuple) else float(value)


def main() -> None:
    path, sensitive = sys.argv[1:]
    records = pd.read_csv(path, dtype=str, keep_default_na=False)
    others = [name for name in records.columns if name != sensitive]
    # The first call of a process pays for what is set up on use; that is not the measure's own time.
    anonymity.delta_disclosure(records.head(100), others, [sensitive])
    found = {}
    for name in MEASURES:
        arguments = (others,) if name == "k_anonymity" else (others, [sensitive])
        start = time.perf_counter()
        value = getattr(anonymity, name)(records, *arguments)
        found[name] = {"value": plain(value), "seconds": time.perf_counter() - start}
    versions = {name: version(name) for name in ("pycanon", "pandas", "numpy")}
    print(json.dumps({"versions": versions, "measures": found}))


if __name__ == "__main__":
    main()
