"""Records written as recoded by Spark together with those of an earlier release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from anonymizer.data.relation import RecodedRows, UnionDifference
from anonymizer.engines.spark.failures import reading, writing
from anonymizer.engines.spark.files_in_order import Files
from anonymizer.engines.spark.recoded import SparkRecodedWriter
from anonymizer.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from anonymizer.engines.spark.relation import SparkRelation


class SparkBesideWriter(SparkRecodedWriter):
    """Writes folders of Parquet files, sorted by what is published, the records of both in one order.

    Parameters
    ----------
    relation: whose records are recoded; stays the caller's.
    earlier: whose records are written as they are; stays the caller's.
    """

    def __init__(self, relation: SparkRelation, earlier: SparkRelation) -> None:
        super().__init__(relation)
        self._earlier = earlier

    def write_folder(self, rows: RecodedRows, location: str, title: str) -> None:
        """Write a folder wherever Hadoop finds it; raises as ``write_parquet`` does, and

        Raises
        ------
        DataError: a column holds another type in the two.
        """
        with writing(title), reading(self._relation.name):
            new, before = self._labelled(rows, self._joined(rows)), self._before(rows)
            self._check_alike(rows.columns, dict(before.dtypes), dict(new.dtypes))
            published = {f"p{place}": name for place, name in enumerate(rows.columns)}
            records = int(rows.counts[rows.kept].sum()) + self._earlier.rows
            files = Files(before.unionByName(new), self._order(rows), published, records)
            files.write(self._relation.session, location, title)

    def checksum(self, rows: RecodedRows) -> int:
        """Sum up a hash of each record, those that are recoded and the earlier ones."""
        return super().checksum(rows) + self._earlier.recoded_writer.own_checksum(rows.labels)

    def _before(self, rows: RecodedRows) -> DataFrame:
        """Return the earlier records: columns as p0, p1, … and the keys of those released unchanged."""
        earlier, columns = self._earlier, list(enumerate(rows.columns))
        return earlier.frame.selectExpr(
            *(f"{earlier.texts_of(name).key} AS s{at}" for at, name in columns if name not in rows.labels),
            *(f"c{earlier.position(name)} AS p{at}" for at, name in columns),
        )

    def _check_alike(self, columns: Sequence[str], kinds: dict[str, str], found: dict[str, str]) -> None:
        for place, name in enumerate(columns):
            one, other = kinds[f"p{place}"], found[f"p{place}"]
            if one != other:
                raise DataError(
                    f"{self._relation.name}: column '{name}' holds {other}, in {self._earlier.name} {one}; "
                    "write both inputs with one type for it"
                )


def compared(whole: DataFrame, first: DataFrame, second: DataFrame) -> UnionDifference:
    """Return how the texts of a column differ from those of two parts that it should hold.

    Parameters
    ----------
    whole, first, second: each text once as ``k``, with its records as r, a and b.
    """
    every = whole.join(first, on="k", how="full").join(second, on="k", how="full")
    counted = every.selectExpr(*(f"coalesce({name}, 0) AS {name}" for name in "rab"))
    found = counted.selectExpr(
        "sum(greatest(a - r, 0))", "sum(greatest(r - a - b, 0))", "sum(greatest(a + b - r, 0))"
    ).collect()[0]
    return UnionDifference(int(found[0]), int(found[1]), int(found[2]))
