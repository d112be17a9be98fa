"""What workers lack, told in one message."""

from __future__ import annotations

import pytest

from anonymizer.errors import InputError


@pytest.mark.spark
@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("ModuleNotFoundError: No module named 'anonymizer'", "have no Python package 'anonymizer'"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version", "version of Python that runs"),
        ('java.io.IOException: Cannot run program "python3"', "version of Python that runs"),
    ],
)
def test_what_workers_lack_is_named(told: str, said: str) -> None:
    from pyspark.errors import PySparkException

    from anonymizer.data_spark.session import reading

    with pytest.raises(InputError, match=said), reading("people"):
        raise PySparkException(told)
