"""Write sample.csv: a made-up register of 30,000 patients, the same bytes from the same seed.

python examples/make_sample.py [--seed 3] [--records 30000] [--output examples/sample.csv]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from anonymizer.suites.sample import SEED, write

RECORDS = 30_000


def main() -> None:
    """Write the file that the command line asks for."""
    parser = argparse.ArgumentParser(description="Write the synthetic sample.")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("sample.csv"))
    options = parser.parse_args()
    write(options.output, options.seed, options.records)


if __name__ == "__main__":
    main()
