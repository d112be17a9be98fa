"""The Java that Spark runs on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from anonymizer.errors import InputError

OLDEST = 17
"""Version of Java from which on Spark 4 runs."""

SECONDS = 60
"""For Java to tell its version."""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_REMEDY = (
    f"install Java {OLDEST} or later (such as the package openjdk-17-jre-headless), or set JAVA_HOME to it"
)


def check_java() -> None:
    """Check that there is a Java for Spark.

    Raises
    ------
    InputError: there is none, or one that is too old.
    """
    java = _java()
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"engine spark: {java} cannot be run: {error}; {_REMEDY}") from None
    found = _VERSION.search(told.stderr + told.stdout)
    if found is None:
        raise InputError(f"engine spark: {java} does not tell its version; {_REMEDY}")
    if int(found[1]) < OLDEST:
        raise InputError(f"engine spark: {java} is Java {found[1]}, too old; {_REMEDY}")


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home:
        path = Path(home) / "bin" / "java"
        if not path.is_file():
            raise InputError(f"engine spark: JAVA_HOME is {home}, which has no bin/java; {_REMEDY}")
        return str(path)
    found = shutil.which("java")
    if found is None:
        raise InputError(f"engine spark: Java is not installed; {_REMEDY}")
    return found
