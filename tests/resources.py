"""What some tests need of the machine besides Python, each behind a mark of its name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path


def chromium() -> str | None:
    """Return the path of a Chromium, the one of the variable CHROMIUM before all."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def postgres_programs() -> Path | None:
    """Return the folder of the programs of a PostgreSQL server."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).parent
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


def _spark_lacks() -> str:
    if find_spec("pyspark") is None:
        return "needs pyspark, the extra 'spark'"
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    return "" if java else "needs Java 17: there is neither java on the PATH nor JAVA_HOME"


def _postgres_lacks() -> str:
    if find_spec("adbc_driver_postgresql") is None:
        return "needs adbc-driver-postgresql, the extra 'sql'"
    where = "initdb is neither on the PATH nor in /usr/lib/postgresql"
    return "" if postgres_programs() else f"needs a PostgreSQL server: {where}"


def _browser_lacks() -> str:
    if not all(find_spec(each) for each in ("playwright", "axe_playwright_python")):
        return "needs playwright and axe-playwright-python, the extra 'browser'"
    return "" if chromium() else "needs a Chromium on the PATH, or its path in CHROMIUM"


LACKS: Mapping[str, Callable[[], str]] = {
    "spark": _spark_lacks,
    "postgres": _postgres_lacks,
    "browser": _browser_lacks,
}
"""Functions by mark: what this machine lacks of the resource, nothing where it has all."""
