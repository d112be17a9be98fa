"""Bayes vulnerability by bvmlib for every set of attributes; runs in an environment that has only bvmlib.

Started with the file, the name of the sensitive attribute and those of the quasi-identifiers. Prints one JSON
object: the versions, and for each set its seconds and the posterior vulnerabilities.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version
from itertools import combinations
from typing import Any

import pandas as pd
from bvmlib.bvm import BVM  # type: ignore[import-not-found, unused-ignore]


def posterior(results: Any) -> float:
    """Return the posterior of a table with one row."""
    return float(results["Posterior"].iloc[0])


def main() -> None:
    path, sensitive, *names = sys.argv[1:]
    records = pd.read_csv(path, dtype=str, keep_default_na=False)[[*names, sensitive]]
    found = []
    for size in range(1, len(names) + 1):
        for known in combinations(names, size):
            start = time.perf_counter()
            model = BVM(records)
            model.qids(list(known))
            model.sensitive([sensitive])
            results = model.assess()
            seconds = time.perf_counter() - start
            found.append(
                {
                    "attributes": list(known),
                    "seconds": seconds,
                    "re-identification": posterior(results["re_id"]),
                    "attribute-inference": posterior(results["att_inf"]),
                }
            )
    versions = {name: version(name) for name in ("bvmlib", "pandas", "numpy")}
    print(json.dumps({"versions": versions, "subsets": found}))


if __name__ == "__main__":
    main()
