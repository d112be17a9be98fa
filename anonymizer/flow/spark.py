"""What a config may not ask of Spark, which counts records where they lie and writes folders of Parquet."""

from __future__ import annotations

from collections.abc import Iterator

from anonymizer.config.files import URL, Order
from anonymizer.config.model import Config
from anonymizer.errors import ConfigProblem


def problems_without_spark(config: Config) -> Iterator[ConfigProblem]:
    """Give what of a config with another engine only Spark can do."""
    for key, path in (("input.path", config.input.path), ("output.path", config.output.path)):
        if path is not None and URL.match(path):
            yield ConfigProblem(key, f"{path}: is on another file system, which engine.name: spark reaches")


def problems_with_spark(config: Config) -> Iterator[ConfigProblem]:
    """Give what of a config with the engine spark cannot be, before anything is started."""
    if config.input.path is None:
        yield ConfigProblem(
            "engine.name", "spark reads files; set input.path, or engine.name: duckdb for a database"
        )
    elif config.input.path.lower().endswith((".csv", ".csv.gz", ".tsv", ".tsv.gz")):
        yield ConfigProblem(
            "input.path",
            f"{config.input.path}: spark reads Parquet, a file or a folder; convert it, or set "
            "engine.name: duckdb",
        )
    if config.output.path is None:
        yield ConfigProblem(
            "output.table", "spark writes Parquet; set output.path to a name that ends in .parquet"
        )
    elif not config.output.path.lower().endswith(".parquet"):
        yield ConfigProblem(
            "output.path",
            f"{config.output.path}: spark writes Parquet; accepted: a name that ends in .parquet",
        )
    if config.output.order is Order.SHUFFLED:
        yield ConfigProblem("output.order", "shuffled: accepted with spark: sorted")
    if config.algorithm.plug_in.in_groups:
        yield ConfigProblem(
            "algorithm.name", f"{config.algorithm.name}: releases two tables, which spark does not write"
        )
