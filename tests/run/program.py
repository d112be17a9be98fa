"""The command in a process of its own, where configs mean what they do in other tests: see conftest."""

import sys

from anonymizer.cli.main import main
from anonymizer.config.search import Defaults

if __name__ == "__main__":
    Defaults.algorithm, Defaults.attacks = "lattice", "none"
    sys.argv[0] = "anonymizer"
    sys.exit(main())
