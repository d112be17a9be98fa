"""``python -m anonymizer``."""

from __future__ import annotations

import sys

from anonymizer.cli.main import main

sys.exit(main())
