"""A master that takes connections and never answers; slow."""

from __future__ import annotations

import socket
import time

import pytest

from anonymizer.data_spark import session as launch
from anonymizer.data_spark.options import SparkOptions
from anonymizer.data_spark.session import open_session
from anonymizer.errors import InputError

SECONDS = 12.0


@pytest.mark.spark(shared=False)
def test_a_silent_master_is_left_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "START_SECONDS", SECONDS)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        master = f"spark://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        with pytest.raises(InputError) as refused:
            open_session(SparkOptions(master, {"spark.driver.host": "localhost"}))
        assert time.monotonic() - started < SECONDS + 20
    assert f"engine.options.master: {master}: " in str(refused.value)
    assert "check the address, and that the cluster has free workers" in str(refused.value)
