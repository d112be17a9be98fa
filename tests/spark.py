"""Spark for tests of the mark ``spark``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from anonymizer.data.source import EngineOptions
from anonymizer.data_spark.options import SparkOptions
from anonymizer.data_spark.session import Session, close_session, open_session

JAVA = " ".join(
    (
        "-XX:TieredStopAtLevel=1 -XX:CompileThresholdScaling=5 -XX:CICompilerCount=1",
        "-XX:+UseSerialGC -XX:MetaspaceSize=512m -Xmn200m",
        "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -XX:-UsePerfData",
    )
)
"""What tests start Java with.

Nothing runs often enough for code that is optimized, and little often enough to be compiled at all.
Classes are loaded by the ten thousand: room for them spares looking for garbage among them again and again,
and to verify them, which are as they were installed, takes a sixth of a start.
"""

SETTINGS: Mapping[str, Any] = {
    "master": "local[1]",
    "spark.sql.shuffle.partitions": 1,
    "spark.driver.memory": "1g",
    "spark.sql.codegen.wholeStage": False,
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": False,
    "spark.driver.extraJavaOptions": JAVA,
}
"""What tests start Spark with: it is for the fewest seconds."""

AS_USERS: Mapping[str, Any] = {
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": True,
}
"""What users have in place of some of these: compiled expressions, and plans that change as they run."""


def engine(**options: Any) -> dict[str, Any]:
    """Return the section ``engine`` of a config for these tests."""
    return {"name": "spark", "options": {**SETTINGS, **options}}


def options(**others: Any) -> EngineOptions:
    """Return what the section ``engine`` of a config for these tests is opened with."""
    given = {**SETTINGS, **others}
    settings = tuple(sorted((name, _text(value)) for name, value in given.items()))
    return EngineOptions(engine="spark", settings=settings)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_kept: list[Session] = []


@contextmanager
def running(**others: Any) -> Iterator[Session]:
    """Run one Spark for all that is opened meanwhile with the same options.

    Without other options it goes on until a test needs none, as its start takes longer than most tests; see
    ``end_kept``.
    """
    if not others:
        if not _kept:
            _kept.append(open_session(SparkOptions.of(options())))
        yield _kept[0]
        return
    session = open_session(SparkOptions.of(options(**others)))
    try:
        yield session
    finally:
        close_session(session)


def end_kept() -> None:
    """End the Spark that tests share, so that one with other options can start."""
    while _kept:
        close_session(_kept.pop())
