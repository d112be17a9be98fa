"""How the engine of a run reads its files.

Spark writes folders of Parquet files; settings that it does not support are refused.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from anonymizer.config.model import Config
from anonymizer.config.search import ENGINE_OPTIONS
from anonymizer.data.source import CSV_FILES, EngineOptions, KeyColumns, MissingTexts, RewrittenNumbers
from anonymizer.errors import ConfigError, ConfigProblem, suggestion
from anonymizer.model.feature_rows import Stage
from anonymizer.model.labels import MISSING, NumberColumns, NumberLabels
from anonymizer.model.table import COMMA, LEFT_OUT, Role, ValueType
from anonymizer.plan.memory import (
    DATABASE_SHARE,
    free_memory,
    plugged_engine,
    spill_directory,
)


def engine_options(config: Config) -> EngineOptions:
    """Return the limits that the config sets for the engine.

    Raises
    ------
    ConfigError: options are unknown to the engine, or not for it.
    """
    options = config.engine.options
    plugged = plugged_engine(config)
    own = {name: options[name] for name in options if plugged is not None and plugged.has_option(name)}
    problems = [
        ConfigProblem(f"engine.options.{name}", f"unknown option; {suggestion(name, ENGINE_OPTIONS)}")
        for name in options
        if name not in ENGINE_OPTIONS and name not in own
    ]
    problems += config.problems_at(Stage.START)
    if problems:
        raise ConfigError(config.source, problems)
    threads, combinations = options.get("threads"), options.get("combinations")
    limit, marker = config.engine.memory_limit, config.output.missing
    return EngineOptions(
        None if limit is None else f"{int(free_memory(config) * DATABASE_SHARE)}B",
        None if threads is None else int(threads),
        spill_directory(config),
        None if combinations is None else int(combinations),
        None if plugged is None else plugged.name,
        tuple(
            sorted(
                (name, str(value).lower() if isinstance(value, bool) else str(value))
                for name, value in own.items()
            )
        ),
        frozenset(config.attributes),
        config.input.strict_header,
        None if marker is None else _codes_as_nulls(config, marker),
        rewritten_numbers(config),
        frozenset(config.attributes),
        key_columns(config),
    )


def _codes_as_nulls(config: Config, marker: str) -> MissingTexts:
    """Return how the input of a config is read whose release has one marker of missing values."""
    as_text = [name for name, each in config.attributes.items() if each.type is ValueType.TEXT]
    codes, numerals = (*config.input.missing, MISSING), config.input.numerals
    return MissingTexts(marker, codes=codes, as_text=frozenset(as_text), numerals=numerals)


def key_columns(config: Config) -> KeyColumns | None:
    """Return the columns that say whose records the input has; None without any."""
    given = config.input
    names = tuple(dict.fromkeys(given.unit_columns.values()))
    return KeyColumns(names, given.missing, given.numerals) if names else None


def rewritten_numbers(config: Config) -> RewrittenNumbers | None:
    """Return which numbers of the input get the decimal sign of the release; None if they keep theirs."""
    if config.output.decimal is None:
        return None
    known = {name: each.type for name, each in config.attributes.items() if each.role not in LEFT_OUT}
    columns = frozenset(name for name, kind in known.items() if kind is not None and kind.numeric)
    weights = frozenset(config.with_role(Role.WEIGHT))
    judged = frozenset(name for name, kind in known.items() if kind is None) - weights
    given, released, absent = config.input.numerals, config.numerals, config.input.missing
    text = CSV_FILES.named(str(config.output.path))
    stored = frozenset(known if text else config.with_role(Role.QUASI_IDENTIFIER))
    stored = stored if released == COMMA else frozenset()
    return RewrittenNumbers(given, released, columns | weights, judged, absent, stored)


def reading_release(options: EngineOptions, config: Config, path: Path | None = None) -> EngineOptions:
    """Return the options for reading a release of a config.

    Parameters
    ----------
    path: of the release; None for what the config writes.
    """
    given = config.output.missing
    options = replace(options, numbers=None, spelling=released_names(config), keys=None)
    if given is None:
        return options
    texts = (given,) if CSV_FILES.named(str(path or config.output.path)) else ()
    # An empty field in place of a label is read by the label that the report gives it.
    recoded = frozenset(
        name
        for name in config.with_role(Role.QUASI_IDENTIFIER)
        if config.attributes[name].number_labels is NumberLabels.RANGE
    )
    return replace(options, missing=MissingTexts(given, texts, recoded))


def released_names(config: Config) -> frozenset[str]:
    """Return the names of columns in a release, and those of the columns that it leaves out."""
    low_high = NumberLabels.LOW_HIGH
    paired = [name for name, own in config.attributes.items() if own.number_labels is low_high]
    pairs = (each for name in paired for each in NumberColumns(name, low_high).columns)
    return frozenset({*config.attributes, *pairs})
