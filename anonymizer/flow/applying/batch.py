"""The new records as a problem whose values stand where equal ones stood in the earlier run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anonymizer.config.attribute import Role
from anonymizer.config.model import Config, Otherwise
from anonymizer.data.relation import Relation
from anonymizer.data.table import Key, ReadColumn, key_of
from anonymizer.errors import DataError
from anonymizer.flow.applying.previous import Previous
from anonymizer.flow.prepare import Job, check_search, job_of, read_attributes
from anonymizer.hierarchy.source import HierarchySource
from anonymizer.model.table import Column


@dataclass(frozen=True, eq=False)
class NewRecords:
    """The records that are to be added.

    Attributes
    ----------
    config: with the types that the earlier run read.
    job: the records as a problem.
    sources: of the hierarchies, which place values as those of the earlier run.
    """

    config: Config
    job: Job
    sources: Mapping[str, HierarchySource[Any]]


def read_new_records(config: Config, previous: Previous, earlier: Relation, relation: Relation) -> NewRecords:
    """Read further records as the earlier run read its own.

    Parameters
    ----------
    earlier: the earlier release.

    Raises
    ------
    InputError: a value is not of the column's type, or stands nowhere in its hierarchy, or the hierarchy
        would be another one for these records, or another recoding may have to be searched which cannot be
        found without every combination in memory.
    """
    typed = _typed(config, previous)
    columns = read_attributes(typed, relation)
    check_columns_of(earlier, relation, typed)
    for name in typed.with_role(Role.QUASI_IDENTIFIER):
        spellings = previous.recoding.spellings(name)
        if spellings is not None:
            columns[name] = _respelled(columns[name], earlier, spellings)
    sources = _sources(typed, previous, columns)
    job = job_of(typed, relation, columns, sources)
    if config.apply is not None and config.apply.otherwise is Otherwise.SEARCH:
        check_search(typed, job)
    return NewRecords(typed, job, sources)


def check_columns_of(earlier: Relation, relation: Relation, config: Config) -> None:
    """Check that the earlier release has the columns that would be released now.

    Raises
    ------
    DataError: it has not.
    """
    dropped = config.with_role(Role.IDENTIFIER)
    expected = {name for name in relation.columns if name not in dropped}
    if set(earlier.columns) != expected:
        raise DataError(
            f"{earlier.name}: has columns {', '.join(earlier.columns)}, of {relation.name} would be released "
            f"{', '.join(sorted(expected))}"
        )


def _typed(config: Config, previous: Previous) -> Config:
    """Return the config with the types of the earlier run, whatever the new values look like."""
    attributes = {
        name: settings.model_copy(update={"type": previous.types.get(name) or settings.type})
        for name, settings in config.attributes.items()
    }
    return config.model_copy(update={"attributes": attributes})


def _respelled(read: ReadColumn, earlier: Relation, spellings: Sequence[str]) -> ReadColumn:
    """Spell values that may be published as they are like the earlier run spelled equal ones.

    Parameters
    ----------
    earlier: the earlier release.
    spellings: further ones.
    """
    column = read.column
    key = key_of(column.type, column.numerals)
    known: dict[Key, str] = {}
    published = [text for text, _ in earlier.dictionary(column.name) if text is not None]
    for text in (*spellings, *published):
        found = key(text)
        if found is not None:
            known.setdefault(found, text)
    texts = [
        *(_spelling(text, column, known) for text in column.present),
        *column.texts[len(column.present) :],
    ]
    return replace(read, column=replace(column, texts=tuple(texts)))


def _spelling(text: str, column: Column, known: Mapping[Key, str]) -> str:
    found = key_of(column.type, column.numerals)(text)
    return text if found is None else known.get(found, text)


def _sources(
    config: Config, previous: Previous, columns: Mapping[str, ReadColumn]
) -> dict[str, HierarchySource[Any]]:
    sources = {}
    for name, before in previous.recoding.depends_on.items():
        settings = config.attributes[name].hierarchy
        assert settings is not None, "the configs have the same hierarchies"
        sources[name] = settings.build().as_for(columns[name].column, before)
    return sources
