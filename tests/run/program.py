"""The command in a process of its own, where configs mean what they do in other tests: see conftest."""

import sys
from pathlib import Path

# As in the tests' own process, whose results are compared with its: the checkout, not what is installed.
sys.path.insert(0, str(Path(__file__).parents[2]))

from anonymizer.cli.main import main
from anonymizer.config.search import Defaults

if __name__ == "__main__":
    Defaults.algorithm, Defaults.attacks = "lattice", "none"
    sys.argv[0] = "anonymizer"
    sys.exit(main())
