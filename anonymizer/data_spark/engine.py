"""Apache Spark as an engine: what it can do of a config, and the door to its relations and folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anonymizer.config.files import Order
from anonymizer.config.model import Config
from anonymizer.data.engine import Engine, EngineFolder
from anonymizer.data.relation import Relation
from anonymizer.data.source import CSV_FILES, PARQUET_FILES, EngineOptions
from anonymizer.data_spark.options import MASTER, SparkOptions
from anonymizer.errors import ConfigProblem


class Spark(Engine):
    """Counts records where they are, and writes folders of Parquet files."""

    name = "spark"
    program_bytes = 350_000_000
    """Its Java without the heap: classes, compiled code, stacks of threads."""

    def has_option(self, name: str) -> bool:
        """Return whether a name is that of the master or of a setting of Spark."""
        return name == MASTER or name.startswith("spark.")

    def problems(self, config: Config) -> Iterator[ConfigProblem]:
        """Yield what Spark cannot read or write."""
        if config.input.path is None:
            yield ConfigProblem(
                "engine.name", "spark reads files; set input.path, or engine.name: duckdb for a database"
            )
        elif CSV_FILES.named(config.input.path):
            yield ConfigProblem(
                "input.path",
                f"{config.input.path}: spark reads Parquet, a file or a folder; convert it, or set "
                "engine.name: duckdb",
            )
        if config.output.path is None:
            yield ConfigProblem(
                "output.table", "spark writes Parquet; set output.path to a name that ends in .parquet"
            )
        elif not PARQUET_FILES.named(config.output.path):
            yield ConfigProblem(
                "output.path",
                f"{config.output.path}: spark writes Parquet; accepted: a name that ends in .parquet",
            )
        if config.output.order is Order.SHUFFLED:
            yield ConfigProblem("output.order", "shuffled: accepted with spark: sorted")
        if config.algorithm.plug_in.in_groups:
            yield ConfigProblem(
                "algorithm.name",
                f"{config.algorithm.name}: releases two tables, which spark does not write",
            )

    def open(self, location: str, options: EngineOptions) -> Relation:
        """Open Parquet wherever Hadoop finds it; raises as ``open_spark`` does."""
        from anonymizer.data_spark.relation import open_spark  # noqa: PLC0415 - a config is checked without it

        return open_spark(location, SparkOptions.of(options), options.named)

    def folder(
        self, location: str, directory: Path, source: str, options: EngineOptions, *, overwrite: bool
    ) -> EngineFolder:
        """Return a folder on a file system of Hadoop; raises as ``RemoteFolder`` does."""
        from anonymizer.data_spark.release import RemoteFolder  # noqa: PLC0415 - as above

        return RemoteFolder(location, directory, source, options, overwrite=overwrite)
