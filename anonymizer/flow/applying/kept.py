"""What is kept of a recoding, so that further records can get it: recoding.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from anonymizer.config.attribute import Role
from anonymizer.config.model import Config
from anonymizer.errors import InputError
from anonymizer.flow.applying.applied import Applied, applied_levels, levels_of
from anonymizer.flow.applying.cuts import KeptCuts, applied_cuts, keep_cuts
from anonymizer.flow.applying.encoding import encoded
from anonymizer.flow.placing import NO_SOURCES
from anonymizer.flow.prepare import Job
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.outcome import Outcome
from anonymizer.model.recoding import FullDomainRecoding
from anonymizer.model.table import QuasiIdentifier, Table


class StoredRecoding(BaseModel):
    """A recoding without the records that it was found for.

    Attributes
    ----------
    version: of this shape.
    levels: the generalization level of each quasi-identifier; None where regions were cut.
    cuts: of regions; None where there are levels.
    depends_on: what each quasi-identifier's hierarchy depended on beside the values themselves, such as the
        length of the longest one where shorter ones are padded.
    """

    version: Literal[1] = Field(default=1, alias="schema")
    levels: dict[str, int] | None = None
    cuts: KeptCuts | None = None
    depends_on: dict[str, dict[str, Any]]

    @cached_property
    def encoded(self) -> bytes:
        """The bytes of recoding.json; the same recoding gives the same.

        A million regions take seconds, so they are made once and for all.
        """
        content = self.model_dump(by_alias=True, exclude_none=True, exclude={"cuts", "depends_on"})
        if self.cuts is not None:
            content["cuts"] = dict(self.cuts)
        return b"".join(encoded({**content, "depends_on": self.depends_on})) + b"\n"

    def spellings(self, name: str) -> list[str] | None:
        """Return spellings of values that cuts tell apart; None where no value may be published as it is."""
        if self.cuts is not None:
            return self.cuts.leaves(name)
        return [] if self.levels is not None and self.levels.get(name) == 0 else None

    def finest(self, attributes: Sequence[QuasiIdentifier]) -> list[int]:
        """Return levels of generalization at which records that are recoded alike may be one.

        Raises
        ------
        InputError: the recoding does not fit the hierarchies.
        """
        if self.cuts is not None:
            return self.cuts.finest(attributes)
        return levels_of(self.levels or {}, attributes)

    def applied_to(self, table: Table) -> Applied:
        """Return what becomes of the combinations of a table.

        Raises
        ------
        InputError: the recoding does not fit its hierarchies.
        """
        if self.cuts is not None:
            return applied_cuts(self.cuts, table)
        return applied_levels(self.levels or {}, table)


def store_recoding(
    config: Config,
    job: Job,
    outcome: Outcome,
    sources: Mapping[str, HierarchySource[Any]] = NO_SOURCES,
) -> StoredRecoding | None:
    """Return what is kept of a recoding; None where it is of no use for other records.

    Parameters
    ----------
    sources: hierarchies that were used in place of the config's.
    """
    recoding, levels, cuts = outcome.recoding, None, None
    if outcome.cuts is not None:
        cuts = keep_cuts(outcome.cuts, job.problem.table.quasi_identifiers)
    # A subclass publishes something else than the levels alone, such as groups.
    elif type(recoding) is FullDomainRecoding:
        names = [each.name for each in recoding.table.quasi_identifiers]
        levels = dict(zip(names, recoding.levels, strict=True))
    else:
        return None
    depends_on = {}
    for read in job.encoded.columns:
        name, settings = read.column.name, config.attributes[read.column.name]
        if settings.role is Role.QUASI_IDENTIFIER and settings.hierarchy is not None:
            source = sources.get(name) or settings.hierarchy.build()
            depends_on[name] = source.depends_on(read.column)
    return StoredRecoding(levels=levels, cuts=cuts, depends_on=depends_on)


def parse_kept(name: str, content: bytes) -> StoredRecoding:
    """Return what recoding.json holds.

    Parameters
    ----------
    name: what messages call the file.

    Raises
    ------
    InputError: it is none.
    """
    try:
        kept = StoredRecoding.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise InputError(f"{name}: is no recoding of an earlier run, see {where}") from None
    if (kept.levels is None) == (kept.cuts is None):
        raise InputError(f"{name}: is no recoding of an earlier run: it has neither levels nor cuts, or both")
    return kept
