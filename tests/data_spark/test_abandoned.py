"""A start that fails ends what it started, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anonymizer.data_spark import session as launch
from anonymizer.data_spark.options import SparkOptions


class Gateway:
    """Stands for a connection to a process of Java, which waits as long as it may."""

    def __init__(self) -> None:
        self.closed = False
        self.jvm = None
        waiting = [sys.executable, "-c", "import time; time.sleep(100)"]
        self.proc = subprocess.Popen(waiting, stdin=subprocess.PIPE)

    def shutdown(self) -> None:
        """Note the end."""
        self.closed = True


@pytest.mark.parametrize("running", [False, True])
def test_only_a_java_of_its_own_is_ended(
    running: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "_own", [])
    gateway = Gateway()

    class Context:
        """Stands for the class of Spark, which knows the process that runs already."""

        _gateway: Any = gateway if running else None

        def __init__(self, **_: Any) -> None:
            """Take whatever Spark takes."""

    def conf(**_: Any) -> Any:
        return SimpleNamespace(setAll=lambda _: SimpleNamespace(contains=lambda _: True, get=lambda _: "m"))

    class Session:
        """Stands for the class of Spark, which another Spark has taken."""

        def __init__(self, _: Any) -> None:
            raise ValueError("Cannot run multiple SparkContexts at once")

    attempt = launch._Launch(SparkOptions(), tmp_path, conf, Context, lambda *_, **__: gateway, Session)
    attempt.run()
    attempt.abandon()
    assert isinstance(attempt.error, ValueError)
    assert gateway.closed is not running
    # Left unended or unclosed, they would be warned of in whichever test comes next.
    assert (gateway.proc.returncode is None) is running
    assert gateway.proc.stdin is not None
    assert gateway.proc.stdin.closed is not running
    assert Context._gateway is (gateway if running else None)
    assert launch._own == []
    gateway.proc.kill()
    gateway.proc.communicate()
