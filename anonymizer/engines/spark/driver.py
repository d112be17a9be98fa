"""What keeps the driver's Java small, where it plans the work and processes of a cluster do it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

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
