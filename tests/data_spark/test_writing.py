"""What cannot be written is told as such, whoever says so."""

from __future__ import annotations

import errno
import os

import pytest

from anonymizer.data_spark.session import writing
from anonymizer.errors import OutputError


@pytest.mark.spark
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError("part-00000 cannot be renamed"), "part-00000 cannot be renamed"),
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
    ],
)
def test_what_the_system_refuses(error: OSError, reason: str) -> None:
    said = f"release: cannot be written: {reason}"
    with pytest.raises(OutputError, match=said), writing("release"):
        raise error
