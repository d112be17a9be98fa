"""Places that Hadoop finds: paths of this machine, and URLs of file systems."""

from __future__ import annotations

import re
from pathlib import Path

_URL = re.compile(r"([a-z][a-z0-9+.-]+):/+")


def is_url(text: str) -> bool:
    """Tell whether a text names a file system, such as ``hdfs://host/people``."""
    return _URL.match(text) is not None


def location_of(path: Path) -> str:
    """Return where Hadoop finds a path; one that was made of a URL has lost a slash.

    >>> location_of(Path("hdfs://host/people.parquet")), location_of(Path("file:///people.parquet"))
    ('hdfs://host/people.parquet', 'file:/people.parquet')
    """
    found = _URL.match(str(path))
    if found is None:
        return path.absolute().as_uri()
    if found[1] == "file":
        return str(path)
    return f"{found[1]}://{str(path)[found.end() :]}"
