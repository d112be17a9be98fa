"""Spark settings in a config: the master, any of Spark's own settings, and a small driver.

The Java process of the driver only plans, in little memory; processes of the cluster do the work.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from anonymizer.data.source import EngineOptions
from anonymizer.errors import InputError

DEFAULT_JAVA = "spark.driver.defaultJavaOptions"
"""Options that Spark puts before the user's own; of equal options Java uses the last."""

EXTRA_JAVA = "spark.driver.extraJavaOptions"

YOUNG_SHARE = 10
"""Size of the heap divided by its part for new objects; most of these end with the question to Spark."""

JAVA = (
    # One thread, and no tables outside the heap, which grows and shrinks with its use.
    "-XX:+UseSerialGC -Xms64m -XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=40 -XX:-ShrinkHeapInSteps",
    # Each plan runs once: optimizing its code takes longer than it saves.
    "-XX:TieredStopAtLevel=1",
)
"""Options of Java other than the sizes of its heap."""

KEPT: Mapping[str, str] = {
    "spark.cleaner.periodicGC.interval": "30s",
    "spark.buffer.pageSize": "4m",
    "spark.sql.execution.arrow.localRelationThreshold": "8m",
    "spark.sql.codegen.cache.maxEntries": "100",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "1000",
    "spark.sql.ui.retainedExecutions": "5",
    "spark.sql.broadcastExchange.maxThreadThreshold": "16",
    "spark.sql.resultQueryStage.maxThreadThreshold": "16",
    "spark.sql.shuffleExchange.maxThreadThreshold": "16",
}
"""Limits of Spark's history (for web pages that are off), idle threads, and buffers of the driver."""

ENVIRONMENT: Mapping[str, str] = {"MALLOC_ARENA_MAX": "2"}
"""Two pools of memory outside the heap, instead of eight for each core, which never return memory."""

_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
_JAVA_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
_LINE = re.compile(r"^\s*spark\.driver\.(default|extra)JavaOptions\b", re.MULTILINE)


def small_driver(heap: int, settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings for a driver that only plans.

    Options of Java come before the user's extra ones. They are left out if the user sets a garbage collector,
    as Java accepts one only, or if Spark's own files have options for the driver.

    Parameters
    ----------
    heap: of Java, in MiB.
    settings: of the user, by their names in Spark.
    """
    given = [settings.get(name, "") for name in (DEFAULT_JAVA, EXTRA_JAVA)]
    given += [os.environ.get(name, "") for name in _JAVA_VARIABLES]
    if _COLLECTOR.search(" ".join(given)) or _LINE.search(_files()):
        return dict(KEPT)
    own = f"{' '.join(JAVA)} -Xmn{heap // YOUNG_SHARE}m"
    return {**KEPT, DEFAULT_JAVA: own}


def _files() -> str:
    """Return the text of Spark's own file of settings, empty if the environment names none."""
    given = os.environ.get("SPARK_CONF", "")
    home = os.environ.get("SPARK_HOME")
    folders = [given, os.environ.get("SPARK_CONF_DIR", ""), home and str(Path(home) / "conf")]
    places = [Path(given)] * bool(given) + [Path(each) / "spark-defaults.conf" for each in folders if each]
    found = (each for each in places if each.is_file())
    first = next(found, None)
    return "" if first is None else first.read_text(encoding="utf-8", errors="replace")


MASTER = "master"
"""The option that says where Spark runs; the others are Spark's settings by their names."""

FIXED: Mapping[str, str] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.datetime.java8API.enabled": "false",
    "spark.sql.execution.arrow.pyspark.fallback.enabled": "false",
}
"""Settings for reading, comparing and writing values, so that no default of a site changes an answer."""

QUIET: Mapping[str, str] = {
    "spark.app.name": "anonymizer",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Each expression and each step of a plan would ask Java four times to remember the line that made it.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
"""Settings that a config may change."""

LOCAL_SHUFFLE = "16"
"""Partitions of a shuffle on one machine; Spark's default of 200 takes longer to plan than to do."""

LEAST_HEAP = 472
"""Smallest heap of the driver's Java in MiB with which Spark starts."""

EVERY_CORE = "local[*]"
"""The default master."""

FILES = ("SPARK_CONF", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables with the place of Spark's own files of settings, which may set a master."""

LOCAL = re.compile(r"local(\[.*\]|-cluster\[.*\])?$")

ONE_PROCESS = re.compile(r"local(\[.*\])?$")
"""Masters without processes other than the driver."""


@dataclass(frozen=True)
class SparkOptions:
    """How Spark is started.

    Attributes
    ----------
    master: such as ``local[4]`` or ``spark://host:7077``; None for that of Spark's own files, or else all
        cores of this machine.
    settings: by their names, which begin with ``spark.``.
    memory_limit: of the heap of the driver's Java; None for Spark's default.
    temp_directory: for Spark's files on this machine; None for the system's.
    """

    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    memory_limit: str | None = None
    temp_directory: Path | None = None

    @classmethod
    def of(cls, engine: EngineOptions) -> SparkOptions:
        """Return the options of Spark among those of an engine."""
        given = dict(engine.settings)
        return cls(given.pop(MASTER, None), given, engine.memory_limit, engine.temp_directory)

    def __post_init__(self) -> None:
        for name, value in self.settings.items():
            if not name.startswith("spark."):
                raise InputError(
                    f"engine.options.{name}: unknown option of the engine spark; accepted: {MASTER}, and "
                    "settings of Spark, whose names begin with spark."
                )
            if name == "spark.master":
                raise InputError(f"engine.options.spark.master: set engine.options.{MASTER} instead")
            if name in FIXED and value.lower() != FIXED[name].lower():
                raise InputError(
                    f"engine.options.{name}: {value}; must be {FIXED[name]}, because results depend on it; "
                    "remove the key"
                )

    def resolved_master(self) -> str | None:
        """Return the master of the config or the environment; None if Spark's own files may set it."""
        given = self.master or os.environ.get("MASTER")
        if given or any(os.environ.get(name) for name in FILES):
            return given or None
        return EVERY_CORE

    @property
    def environment(self) -> Mapping[str, str]:
        """Environment variables for the start of Spark."""
        chosen = {"SPARK_LOCAL_IP": "127.0.0.1"} if self._on_this_machine else {}
        if self._plans_alone:
            chosen |= {name: value for name, value in ENVIRONMENT.items() if name not in os.environ}
        return chosen

    @property
    def _on_this_machine(self) -> bool:
        """Whether all processes of Spark are on this machine."""
        master = self.resolved_master()
        return master is not None and LOCAL.match(master) is not None

    @property
    def _plans_alone(self) -> bool:
        """Whether the driver has a memory limit, and other processes do the work."""
        master = self.resolved_master()
        return self.memory_limit is not None and master is not None and not ONE_PROCESS.match(master)

    def properties(self, scratch: Path) -> dict[str, str]:
        """Return all settings for the start of Spark.

        Parameters
        ----------
        scratch: folder for Spark's files on this machine.
        """
        chosen = {**QUIET, "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri()}
        master = self.resolved_master()
        if self._on_this_machine:
            chosen |= {"spark.driver.host": "localhost", "spark.driver.bindAddress": "127.0.0.1"}
            chosen |= {"spark.local.dir": str(scratch), "spark.sql.shuffle.partitions": LOCAL_SHUFFLE}
        if master is not None:
            chosen["spark.master"] = master
        if self.memory_limit is not None:
            heap = _heap(self.memory_limit)
            chosen["spark.driver.memory"] = f"{heap}m"
            if self._plans_alone:
                chosen |= small_driver(heap, self.settings)
        return {**chosen, **self.settings, **FIXED}


def _heap(limit: str) -> int:
    """Return an amount of memory in whole MiB, at least ``LEAST_HEAP``.

    >>> _heap("1.5GB"), _heap("512 MiB"), _heap("100MB")
    (1430, 512, 472)
    """
    found = re.fullmatch(r"([0-9.]+) ?([KMGT]?)(i?)B", limit)
    if found is None:
        raise InputError(f"engine.memory_limit: {limit}; accepted: an amount such as 4GB")
    unit = (1024 if found[3] else 1000) ** " KMGT".index(found[2] or " ")
    return max(int(float(found[1]) * unit / 2**20), LEAST_HEAP)
