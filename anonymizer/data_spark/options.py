"""Spark settings in a config: the master, any of Spark's own settings, and a small driver.

The Java process of the driver plans the work and stays small; processes of the cluster do the work.
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
"""Spark puts these before the user's own, of which Java heeds the last."""

EXTRA_JAVA = "spark.driver.extraJavaOptions"

YOUNG_SHARE = 10
"""The heap is so many times what it has for new objects: few outlive a question to Spark."""

JAVA = (
    # One thread, and no tables beside the heap; the heap grows with what is in use, and shrinks with it.
    "-XX:+UseSerialGC -Xms64m -XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=40 -XX:-ShrinkHeapInSteps",
    # Plans are made once each: compiling their code for speed takes more than it gives.
    "-XX:TieredStopAtLevel=1",
)
"""What Java is told beside the sizes of its heap."""

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
"""How long Spark keeps what it has done, which is for pages that nobody opens, how many idle threads, and how
much is set aside at once, by the driver for every small table that is sent to all processes."""

ENVIRONMENT: Mapping[str, str] = {"MALLOC_ARENA_MAX": "2"}
"""Memory beside the heap comes from two pools, not from eight for each core that never give any back."""

_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
_JAVA_VARIABLES = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS")
_LINE = re.compile(r"^\s*spark\.driver\.(default|extra)JavaOptions\b", re.MULTILINE)


def small_driver(heap: int, settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings for a driver that leaves the work to others.

    Options of Java stand before the user's extra ones. They are left out where the user names a garbage
    collector, as Java takes no two, or where Spark's own files have options for the driver.

    Parameters
    ----------
    heap: of Java, in MiB.
    settings: the user's, by their names in Spark.
    """
    said = [settings.get(name, "") for name in (DEFAULT_JAVA, EXTRA_JAVA)]
    said += [os.environ.get(name, "") for name in _JAVA_VARIABLES]
    if _COLLECTOR.search(" ".join(said)) or _LINE.search(_files()):
        return dict(KEPT)
    own = f"{' '.join(JAVA)} -Xmn{heap // YOUNG_SHARE}m"
    return {**KEPT, DEFAULT_JAVA: own}


def _files() -> str:
    """Return the text of the file with settings that Spark will read, as far as the environment names it."""
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
"""What decides how values are read, compared and written, so that no site's defaults change an answer."""

QUIET: Mapping[str, str] = {
    "spark.app.name": "anonymizer",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""What a config may set otherwise."""

LOCAL_SHUFFLE = "16"
"""Pieces of a shuffle on one machine, where Spark's own 200 take longer to plan than to do."""

LEAST_HEAP = 472
"""MiB of the driver's Java without which Spark does not start."""

EVERY_CORE = "local[*]"
"""The master where nobody names another."""

FILES = ("SPARK_CONF", "SPARK_CONF_DIR", "SPARK_HOME")
"""Variables that say where files with settings of Spark are, which may name a master."""

LOCAL = re.compile(r"local(\[.*\]|-cluster\[.*\])?$")

ONE_PROCESS = re.compile(r"local(\[.*\])?$")
"""Masters of which the driver does all the work itself."""


@dataclass(frozen=True)
class SparkOptions:
    """How Spark is started.

    Attributes
    ----------
    master: such as ``local[4]`` or ``spark://host:7077``; None for what Spark's own files say, else all cores
        of this machine.
    settings: by their names, which begin with ``spark.``.
    memory_limit: of the heap of the driver's Java; None for Spark's own.
    temp_directory: for what Spark keeps on this machine's disk; None for the system's.
    """

    master: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    memory_limit: str | None = None
    temp_directory: Path | None = None

    @classmethod
    def of(cls, engine: EngineOptions) -> SparkOptions:
        """Return the options of an engine that is Spark."""
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
                    f"engine.options.{name}: {value}; it is always {FIXED[name]}, as answers depend on it; "
                    "remove the key"
                )

    def resolved_master(self) -> str | None:
        """Return the master that is asked for here or by the environment; None where Spark's files say it."""
        given = self.master or os.environ.get("MASTER")
        if given or any(os.environ.get(name) for name in FILES):
            return given or None
        return EVERY_CORE

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that Spark is started with."""
        chosen = {"SPARK_LOCAL_IP": "127.0.0.1"} if self._on_this_machine else {}
        if self._plans_alone:
            chosen |= {name: value for name, value in ENVIRONMENT.items() if name not in os.environ}
        return chosen

    @property
    def _on_this_machine(self) -> bool:
        """Whether its processes are of this machine, and talk to each other and to nobody else."""
        master = self.resolved_master()
        return master is not None and LOCAL.match(master) is not None

    @property
    def _plans_alone(self) -> bool:
        """Whether the driver is to stay small, and others surely do the work."""
        master = self.resolved_master()
        return self.memory_limit is not None and master is not None and not ONE_PROCESS.match(master)

    def properties(self, scratch: Path) -> dict[str, str]:
        """Return all settings that Spark is started with.

        Parameters
        ----------
        scratch: a folder for what Spark keeps on this machine's disk.
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
    """Return an amount of memory in whole mebibytes; at least what Spark starts with.

    >>> _heap("1.5GB"), _heap("512 MiB"), _heap("100MB")
    (1430, 512, 472)
    """
    found = re.fullmatch(r"([0-9.]+) ?([KMGT]?)(i?)B", limit)
    if found is None:
        raise InputError(f"engine.memory_limit: {limit}; accepted: an amount such as 4GB")
    unit = (1024 if found[3] else 1000) ** " KMGT".index(found[2] or " ")
    return max(int(float(found[1]) * unit / 2**20), LEAST_HEAP)
