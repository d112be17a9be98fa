"""The earlier release and new records as one file, and that file as it was read back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from anonymizer.audit.count import classes_of
from anonymizer.audit.measure import measure
from anonymizer.audit.together import unpromised_together
from anonymizer.core.arrays import IntArray
from anonymizer.core.released import Released
from anonymizer.core.table import SensitiveAttribute
from anonymizer.engines.base import CsvDialect, EngineOptions, Groups, Projection, Relation
from anonymizer.engines.open import open_together
from anonymizer.errors import AuditFailed
from anonymizer.flow.verify import Audited, check_columns, check_measurements
from anonymizer.privacy.constraint import CountedConstraint
from anonymizer.release.formats import Csv, release_format
from anonymizer.release.order import SORTED, RowOrder
from anonymizer.release.publishable import Publishable
from anonymizer.release.write import write_release


@dataclass(frozen=True, eq=False)
class WithEarlier(Publishable):
    """New records beside those of the earlier release, in one order, so that nothing tells which is which.

    Attributes
    ----------
    earlier: path of the earlier release.
    sha256: of that file when it was read.
    new: what is published of the new records.
    scratch: a folder for a temporary file.
    """

    earlier: Path
    sha256: str
    new: Publishable
    scratch: Path
    options: EngineOptions

    def write(self, path: Path, order: RowOrder) -> None:
        """Write all records.

        Raises
        ------
        OutputError: the file cannot be written.
        DataError: a column holds another type in the new records, or the earlier file has changed.
        """
        # In the format of the earlier file, so that both have the same types.
        kind = release_format(self.earlier)
        new = self.scratch / f"new{''.join(self.earlier.suffixes[-2:])}"
        self.new.write(new, SORTED)
        dialect = CsvDialect(kind.separator if isinstance(kind, Csv) else None)
        with open_together(self.earlier, new, dialect, self.options, self.sha256) as every:
            kept = np.ones(every.rows, dtype=np.bool_)
            write_release(every, Projection(every.columns, {}, kept), path, order)
        new.unlink()


@dataclass(frozen=True, eq=False)
class Sources:
    """What a release that goes on consists of.

    Attributes
    ----------
    earlier: the earlier release.
    new: the input.
    attributes: the sensitive ones, over the values of both.
    """

    earlier: Relation
    new: Relation
    attributes: tuple[SensitiveAttribute, ...]


def verify_combined(
    release: Relation, sources: Sources, promised: Released, constraints: Sequence[CountedConstraint]
) -> tuple[Audited, IntArray]:
    """Measure a release that was read back, and find in it the earlier records and what was promised.

    Parameters
    ----------
    promised: the recoding of the new records.

    Returns
    -------
    What the release is, and the sizes of its classes, shape (classes,), int64.

    Raises
    ------
    AuditFailed: a record is lost or changed, or a constraint does not hold.
    DataError: it has a value that neither has.
    """
    earlier, table = sources.earlier, promised.table
    check_columns(release, earlier.columns)
    names = [*(each.name for each in table.quasi_identifiers), *table.sensitive_names]
    groups = release.group_counts(names)
    classes = classes_of(release.name, groups, sources.attributes)
    measurements = measure(classes, constraints)
    check_measurements(release.name, measurements)
    _check_records(release, groups, sources, promised, names)
    return Audited(release.sha256, release.rows, classes.number, measurements), classes.sizes


def _check_records(
    release: Relation, groups: Groups, sources: Sources, promised: Released, names: Sequence[str]
) -> None:
    """Check that the records are those of the earlier release and what is published of the new ones.

    Parameters
    ----------
    groups: of the release, by the columns ``names``.

    Raises
    ------
    AuditFailed: one is lost, added or changed.
    """
    earlier = sources.earlier
    added = int(promised.table.counts[~promised.recoding.removed].sum())
    if release.rows != earlier.rows + added:
        raise AuditFailed(
            f"{release.name}: {release.rows:,} records, expected {earlier.rows:,} of the earlier release "
            f"and {added:,} new ones"
        )
    before = earlier.group_counts(names)
    wrong = unpromised_together(release.name, groups, before, promised.recoding, sources.attributes)
    if wrong:
        raise AuditFailed(
            f"{release.name}: {wrong:,} records are neither of the earlier release nor as published"
        )
    for name in release.columns:
        if name not in names:
            _check_untouched(release, sources, name, sources.new.rows - added)


def _check_untouched(release: Relation, sources: Sources, name: str, removed: int) -> None:
    """Check that a column has every value of the earlier release, and of the new ones all but the removed.

    Raises
    ------
    AuditFailed: it has not.
    """

    def counted(relation: Relation) -> Counter[str]:
        found: Counter[str] = Counter()
        for text, records in relation.dictionary(name):
            # A null and an empty text are two entries, which a CSV file cannot tell apart.
            found[text or ""] += records
        return found

    found = counted(release)
    rest = found.copy()
    rest.subtract(counted(sources.earlier))
    surplus = Counter(rest)
    surplus.subtract(counted(sources.new))
    lost = -sum(number for number in surplus.values() if number < 0)
    if min(rest.values(), default=0) < 0 or max(surplus.values(), default=0) > 0 or lost != removed:
        raise AuditFailed(f"{release.name}: column '{name}' does not hold the values that were put in")
