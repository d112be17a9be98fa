"""The table of what goes with what: a row for each feature, with who has to support it and what it excludes.

Whether an algorithm, a method of suppression, an engine or a model supports a feature is data on its class
(``Supporter``). A row has the words: why not, and what would do instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from anonymizer.config.entries import not_defined
from anonymizer.config.files import URL, Order
from anonymizer.config.plugin_sections import ConstraintSettings, privacy_models, search_algorithms
from anonymizer.config.search import AlgorithmSettings, Attackers, EngineName, Method
from anonymizer.config.sections import ConfigSections, Reference
from anonymizer.data.foreign import elsewhere
from anonymizer.data.relation import REMOTE, engine_named
from anonymizer.data.source import CSV_FILES, FILE_FORMATS, PARQUET_FILES, FileFormat
from anonymizer.model.feature_rows import (
    NO_WORDS,
    Asked,
    Asking,
    Cell,
    Conflict,
    Need,
    Row,
    Side,
    Stage,
    Table,
    Use,
    Words,
)
from anonymizer.model.features import Feature, Storage, Supporter, SuppressionMethod, Task
from anonymizer.model.labels import NumberColumns, NumberLabels
from anonymizer.model.spelling import suggested
from anonymizer.model.table import Role
from anonymizer.model.units import HOUSEHOLD, PERSON, RECORD
from anonymizer.privacy.base import ClassConstraint, ClassModel, Merging


def able_algorithms(feature: Feature) -> list[str]:
    """Return the names of the algorithms that support a feature, with default parameters."""
    return [name for name, each in search_algorithms().items() if feature in each.supports]


def _attacks(config: ConfigSections) -> Iterator[Asked]:
    for place, each in enumerate(config.attacks or ()):
        yield Asked(("attacks", place), each.build(), {"attack": each.attack, "place": str(place)})


def _engine(config: ConfigSections) -> Supporter | EngineName:
    name = config.engine.name
    return EngineName(name) if name in set(EngineName) else engine_named(name)


def _models(config: ConfigSections) -> Iterator[Asked]:
    for place, each in enumerate(config.constraints):
        yield Asked(("constraints", place), each.build(), {"model": each.model})


ALGORITHM: Side[ConfigSections] = Side(
    "algorithms", lambda config: [Asked(("algorithm", "name"), config.algorithm.build())], able_algorithms
)
METHOD: Side[ConfigSections] = Side(
    "methods",
    lambda config: [Asked(("suppression", "method"), SuppressionMethod(config.suppression.method.value))],
    lambda feature: [each.value for each in SuppressionMethod if feature in each.supports],
)
ENGINE: Side[ConfigSections] = Side(
    "engines",
    lambda config: [Asked(("engine", "name"), _engine(config))],
    lambda feature: [each.value for each in EngineName if feature in each.supports],
)
STARTED: Side[ConfigSections] = Side("engines", ENGINE.asked, ENGINE.able, stage=Stage.START)
STORED: Side[ConfigSections] = Side("storage", lambda _: [Asked((), Storage.STORED)], stage=Stage.STORED)
BEYOND: Side[ConfigSections] = Side("storage", lambda _: [Asked((), Storage.BEYOND)], stage=Stage.BEYOND)
FRAME: Side[ConfigSections] = Side("tasks", lambda _: [Asked((), Task.FRAME)], stage=Stage.FRAME)
COMPARE: Side[ConfigSections] = Side("tasks", lambda _: [Asked((), Task.COMPARE)], stage=Stage.COMPARE)
APPEND: Side[ConfigSections] = Side(
    "apply", lambda config: [] if config.apply is None else [Asked(("apply",), config.apply)]
)
MODELS: Side[ConfigSections] = Side("models", _models)
ATTACKS: Side[ConfigSections] = Side("attacks", _attacks)


def _if(used: Callable[[ConfigSections], object], *path: str | int) -> Callable[[ConfigSections], list[Use]]:
    """Return the uses of a feature that has one key."""
    return lambda config: [Use(path)] if used(config) else []


def _unit(named: Callable[[ConfigSections], str | None], *path: str) -> Callable[[ConfigSections], list[Use]]:
    """Return the uses of a key that names a unit."""

    def uses(config: ConfigSections) -> list[Use]:
        unit = named(config)
        return [] if unit is None else [Use(path, {"unit": unit})]

    return uses


def _undefined(*others: str) -> Need[ConfigSections]:
    """Need a unit to be defined, or one of some other names."""

    def lacking(config: ConfigSections, use: Use) -> str | None:
        unit = str(use.words["unit"])
        return None if unit in config.input.unit_columns else not_defined(unit, config.input, *others)

    return Need(lacking)


def _suppressing(method: SuppressionMethod) -> Row[ConfigSections]:
    """Return the row of a method of suppression."""

    def uses(config: ConfigSections) -> list[Use]:
        if config.suppression.method.value != method:
            return []
        own = config.algorithm.plug_in.supports
        accepted = ", ".join(sorted(each for each in SuppressionMethod if each.feature in own))
        return [Use(("suppression", "method"), {"accepted": accepted})]

    what = "algorithm {algorithm} does not support '{method}'"
    text = f"{what}; accepted: {{accepted}}, or algorithm {{algorithms:or}}"
    return Row(method.feature, uses, Cell(ALGORITHM, text, here=True))


def _wrong_unit_columns(config: ConfigSections) -> Iterator[Use]:
    for name, column in config.input.unit_columns.items():
        words = {"unit": name, "column": column}
        if column not in config.attributes:
            own = (name,) if name in (PERSON, HOUSEHOLD) else ("units", name)
            yield Use(("input", *own), words)
        elif config.attributes[column].released:
            yield Use(("attributes", column, "role"), words)


def _unit_column_fault(config: ConfigSections, use: Use) -> str:
    column, unit = str(use.words["column"]), use.words["unit"]
    if column not in config.attributes:
        return f"no column '{column}' in attributes; {suggested(column, config.attributes)}"
    what = f"'{column}' shows which records belong to one {unit}, so it must not be released"
    return f"{what}; accepted: identifier, drop"


def _together(config: ConfigSections) -> list[Use]:
    """Return the use of whose records these are, one by one; pseudonyms keep those of a person together."""
    if config.input.pseudonym is not None:
        key, do = Feature.PSEUDONYMS.value, "link the rows of persons"
    elif config.suppression.whole is not None:
        key, do = Feature.WHOLE.value, "suppress whole units"
    else:
        return []
    return [Use(("engine", "name"), {"key": key, "do": do})]


def _not_attacked(config: ConfigSections, _: Use) -> str | None:
    if any(each.plug_in.by_attack for each in config.constraints):
        return None
    attacked = [name for name, each in privacy_models().items() if each.by_attack]
    what = "no constraint is measured by an attack"
    return f"{what}; add one of {', '.join(attacked)}, or remove the key"


def _needing(config: ConfigSections, need: Callable[[Any], bool]) -> list[int]:
    """Return the places of the constraints whose model needs something."""
    return [place for place, each in enumerate(config.constraints) if need(each.build())]


def _households(config: ConfigSections) -> list[Use]:
    places = _needing(config, lambda model: model.needs_households)
    return [
        Use(("constraints", each, "model"), {"owner": config.constraints[each].model}) for each in places[:1]
    ]


def _no_households(config: ConfigSections, use: Use) -> str | None:
    if config.input.household is not None:
        return None
    what = f"{use.words['owner']} needs to know which records belong to one household"
    return f"{what}; name their column in input.household"


def _population(config: ConfigSections) -> list[Use]:
    places = _needing(config, lambda model: model.needs_population)
    if places:
        asked, these, other = "constraints that count the population", "these constraints", ""
    else:
        owners = _households(config)
        if not owners:
            return []
        places, asked, these = [int(owners[0].path[1])], str(owners[0].words["owner"]), "this constraint"
        other = f"; or use a constraint with unit: {HOUSEHOLD} in place of {asked}"
    return [Use(("constraints", places[0], "model"), {"asked": asked, "these": these, "other": other})]


def _no_population(config: ConfigSections, use: Use) -> str | None:
    weights, place = config.with_role(Role.WEIGHT), int(use.path[1])
    needs = config.constraints[place].build().needs_population
    if not needs or config.input.population is not None or len(weights) == 1:
        return None
    found = f"found {len(weights)}: {', '.join(weights)}" if weights else "found none"
    model = config.constraints[place].model
    return f"{model} needs input.population, or one column with role weight; {found}"


def _no_weights(config: ConfigSections, _: Use) -> str | None:
    name, weights = config.objective.weights, config.with_role(Role.WEIGHT)
    if name in weights:
        return None
    what = "not a column of attributes"
    others = f"use {' or '.join(weights)}, or " if weights else ""
    hint = f"{others}add the column there with role: weight"
    if name in config.attributes:
        what = "not a column with role weight"
        hint = f"accepted: {', '.join(weights)}" if weights else "set role: weight for this column"
    return f"'{name}' is {what}; {hint}"


def _one_table() -> str:
    return ", ".join(name for name, each in search_algorithms().items() if not each.in_groups)


def _scenarios_by_record(config: ConfigSections) -> list[Use]:
    able = Feature.SCENARIOS in config.algorithm.plug_in.supports
    single = config.suppression.method is not Method.CLASSES
    return [Use(("suppression", "method"))] if config.scenarios and able and single else []


def _exact_scenarios(config: ConfigSections) -> Iterator[Use]:
    if Feature.SCENARIOS not in config.algorithm.plug_in.supports:
        return
    for name, scenario in (config.scenarios or {}).items():
        for place, each in enumerate(scenario.models):
            if not _lasts(each, config.unit_of(scenario.counting(each))):
                yield Use(("scenarios", name, "models", place), {"model": each.model})


def _lasts(model: ConstraintSettings, unit: str | None) -> bool:
    """Return whether unions of classes that satisfy a model satisfy it."""
    built = model.build()
    if not isinstance(built, ClassModel):
        return False
    combined = model.quasi_identifiers is not None
    return ClassConstraint(combined=combined, unit=unit, model=built).merging is not Merging.NONE


def _counting(config: ConfigSections) -> list[Use]:
    """Return the use of units other than records by constraints or the suppression limit."""
    words = {"anywhere": lambda: " or ".join(able_algorithms(Feature.UNITS_OUT_OF_CORE))}
    counts = config.counts_units or config.suppression.unit is not None
    return [Use(("constraints",), words)] if counts else []


def _attacked_units(config: ConfigSections) -> Iterator[Use]:
    for place, each in enumerate(config.constraints):
        if each.plug_in.by_attack and config.unit_of(each) is not None:
            yield Use(("constraints", place, "model"), {"model": each.model})


def _needing_recipe(config: ConfigSections) -> Iterator[Use]:
    for place, each in enumerate(config.attacks or ()):
        if each.plug_in.needs_recipe:
            yield Use(("attacks", place), {"attack": each.attack})


def _remote(config: ConfigSections) -> Iterator[Use]:
    for section, path in (("input", config.input.path), ("output", config.output.path)):
        if path is not None and URL.match(path):
            way = elsewhere(path) if section == "input" else None
            way = way or f"{path}: is on another file system; set engine.name: {REMOTE}"
            where, _, instead = way.partition("; ")
            yield Use((section, "path"), {"where": where, "instead": instead})


def _text_file(path: str | None, kind: FileFormat, section: str, *, wanted: bool) -> list[Use]:
    """Return the use of a file that is, or is not, of a kind."""
    other = path is None or kind.named(path) is not wanted
    return [] if other else [Use((section, "path"), {"path": str(path)})]


def _other_file(config: ConfigSections) -> list[Use]:
    """Return the use of an input in a format of an office, or of a plug-in."""
    path = config.input.path
    if path is None or CSV_FILES.named(path) or PARQUET_FILES.named(path):
        return []
    known = any(each.named(path) for each in FILE_FORMATS)
    if not known and config.engine.name not in set(EngineName):
        # Looked for only if another engine would read the file: it loads the engine of this machine.
        from anonymizer.data.open import input_suffixes  # noqa: PLC0415

        known = path.lower().endswith(input_suffixes())
    return [Use(("input", "path"), {"path": path})] if known else []


def _labels(config: ConfigSections, used: Callable[[Any], bool]) -> Iterator[Use]:
    for name, each in config.attributes.items():
        if used(each):
            yield Use(("attributes", name, "labels"), {"column": name, "form": each.number_labels})


def _marked(config: ConfigSections, use: Use) -> str | None:
    if not config.output.missing:
        return None
    return (
        f"'{use.words['form']}' publishes hidden and missing values of '{use.words['column']}' as empty "
        f"fields, so output.missing cannot be '{config.output.missing}'; set output.missing to '', or use "
        "labels: range"
    )


def _taken_column(config: ConfigSections, use: Use) -> str | None:
    name, present = str(use.words["column"]), {name.casefold(): name for name in config.attributes}
    form = config.attributes[name].number_labels
    for column in NumberColumns(name, form).columns:
        other = present.get(column.casefold(), name)
        if other != name:
            return f"'{form}' adds a column '{column}', but there is a column '{other}'; rename that column"
    return None


_EVERY_STEP = (
    "'every-step' needs algorithm {algorithms:or} without suppression.method: cells; accepted here: by-loss"
)

_GROUPS: tuple[tuple[Row[ConfigSections], ...], ...] = (
    tuple(map(_suppressing, SuppressionMethod)),
    (
        Row(
            Feature.EVERY_STEP,
            _if(lambda config: config.attackers is Attackers.EVERY_STEP, "attackers"),
            Cell(ALGORITHM, _EVERY_STEP, here=True),
            Cell(METHOD, _EVERY_STEP, here=True),
            Need(_not_attacked),
            first=True,
        ),
    ),
    (
        Row(
            Feature.OUT_OF_CORE,
            _if(lambda _: True, "engine", "name"),
            Cell(ALGORITHM, "algorithm {algorithm} (accepted: {algorithms})", at=Stage.SEARCH),
            Cell(METHOD, "suppression.method {method} (accepted: {methods})", at=Stage.SEARCH),
            Cell(MODELS, "constraint {model}, whose adversary holds the original records", at=Stage.SEARCH),
            Cell(ATTACKS, "attacks[{place}]: {attack}", at=Stage.SEARCH),
            Cell(
                Feature.UTILITY,
                "utility, which compares the release with the original records",
                at=Stage.SEARCH,
            ),
        ),
        Row(
            Feature.COMBINATIONS,
            _if(lambda config: "combinations" in config.engine.options, "engine", "options", "combinations"),
            Cell(
                STARTED,
                "not an option of engine.name: {engine}, which has no limit; remove it, or set engine.name: "
                "duckdb",
                here=True,
            ),
        ),
        Row(
            Feature.REMOTE,
            _remote,
            Cell(STARTED, "{where}; {instead}", here=True),
        ),
        Row(
            Feature.DATABASE,
            _if(lambda config: config.input.path is None, "engine", "name"),
            Cell(
                STARTED,
                "{engine} reads files; set input.path, or engine.name: duckdb for a database",
            ),
        ),
        Row(
            Feature.TEXT_INPUT,
            lambda config: _text_file(config.input.path, CSV_FILES, "input", wanted=True),
            Cell(
                STARTED,
                "{path}: {engine} reads Parquet, a file or a folder; convert it, or set engine.name: duckdb",
                here=True,
            ),
        ),
        Row(
            Feature.OTHER_INPUT,
            _other_file,
            Cell(
                STARTED,
                "{path}: {engine} reads Parquet, a file or a folder; convert it, or set engine.name: duckdb",
                here=True,
            ),
        ),
        Row(
            Feature.KEEP_ROWS,
            _if(lambda config: config.suppression.keep_rows, "suppression", "keep_rows"),
        ),
        Row(
            Feature.UTILITY,
            _if(lambda config: config.utility, "utility"),
        ),
        Row(
            Feature.TABLE,
            _if(lambda config: config.output.table is not None, "output", "table"),
            Cell(
                STARTED,
                "{engine} writes Parquet; set output.path to a name that ends in .parquet",
                here=True,
            ),
        ),
        Row(
            Feature.TEXT_OUTPUT,
            lambda config: _text_file(config.output.path, PARQUET_FILES, "output", wanted=False),
            Cell(
                STARTED,
                "{path}: {engine} writes Parquet; accepted: a name that ends in .parquet",
                here=True,
            ),
        ),
        Row(
            Feature.APPLY,
            _if(lambda config: config.apply is not None, "apply"),
            Cell(
                ALGORITHM,
                "recodings of '{algorithm}' cannot be applied to new records; accepted: {algorithms}",
            ),
            Cell(METHOD, "method {method} cannot be combined with apply; set suppression.method: {methods}"),
            Cell(
                FRAME,
                "appends to a release in files, not to a DataFrame; remove it, or use anonymizer run",
                here=True,
            ),
            Cell(
                COMPARE,
                "applies an earlier recoding, so there is no search to compare; remove it",
                here=True,
            ),
            Cell(Feature.KEEP_ROWS, "cannot be combined with apply; set keep_rows: false"),
            Cell(Feature.UTILITY, "needs all original records, and apply reads only the new ones; remove it"),
            Cell(Feature.TABLE, "with apply, the release is a file; set output.path instead"),
            Cell(
                MODELS,
                "{model} needs all original records, and the earlier ones are not available; run on all "
                "records without apply",
                at=Stage.APPEND,
            ),
        ),
        Row(
            Feature.INPUT_REFERENCE,
            _if(lambda config: config.reference is Reference.INPUT, "reference"),
            Cell(
                MODELS,
                "{model} compares with all original records, and the earlier ones are not available; run on "
                "all records without apply, with reference: release if you append later",
                at=Stage.APPEND,
            ),
        ),
    ),
    (
        Row(
            Feature.UNIT_COLUMNS,
            _wrong_unit_columns,
            Need(_unit_column_fault),
        ),
        Row(
            Feature.MISSING_PERSON,
            _if(
                lambda config: config.input.missing_person is not None and not config.input.unit_columns,
                "input",
                "missing_person",
            ),
            Need(lambda *_: "needs input.person, household or units; add one, or remove the key"),
        ),
        Row(
            Feature.TOGETHER,
            _together,
            Cell(ENGINE, "engine {engine} does not support {key}; accepted: {engines}; or remove {key}"),
            Cell(
                STORED,
                "{rows}, so the run is out of core and cannot {do}; raise engine.memory_limit or "
                "engine.options.combinations, or remove {key}",
            ),
        ),
        Row(
            Feature.WHOLE,
            _unit(lambda config: config.suppression.whole, "suppression", "whole"),
            _undefined(),
            Cell(
                METHOD,
                "method {method} can suppress some records of a {unit} and keep others; set "
                "suppression.method: {methods}, or remove suppression.whole",
                here=True,
            ),
            Cell(
                ALGORITHM,
                "algorithm {algorithm}{given} can suppress some records of a {unit} and keep others; set "
                "algorithm.name to one of {algorithms}, with default parameters, or remove suppression.whole",
                here=True,
            ),
            Cell(APPEND, "cannot be combined with apply; remove one of the two", here=True),
        ),
        Row(
            Feature.WHOLE_OF_OTHERS,
            _unit(
                lambda config: None if config.suppression.whole == PERSON else config.suppression.whole,
                "suppression",
                "whole",
            ),
        ),
        Row(
            Feature.UNIT_LIMIT,
            _unit(lambda config: config.suppression.unit, "suppression", "unit"),
            _undefined(RECORD),
            Cell(
                METHOD,
                "with method {method}, the limit counts records and cannot count {unit}s; set "
                "suppression.method: {methods}, or unit: record",
                here=True,
            ),
            Cell(
                ALGORITHM,
                "algorithm {algorithm} cannot limit how many {unit}s lose records; set algorithm.name to one "
                "of {algorithms}, or unit: record",
                here=True,
            ),
            Cell(
                APPEND,
                "apply needs to know which records belong to one {unit}, but the earlier release hides this; "
                "set unit: record, or run on all records without apply",
                here=True,
            ),
        ),
        Row(
            Feature.PSEUDONYMS,
            _if(lambda config: config.input.pseudonym is not None, "input", "person"),
            Cell(
                ALGORITHM,
                "{algorithm} cannot release pseudonyms; accepted: {algorithms}; or remove "
                "input.person.release_as",
            ),
            Cell(
                METHOD,
                "method {method} cannot be combined with released pseudonyms; set suppression.method: "
                "{methods}, or remove input.person.release_as",
            ),
            Cell(
                Feature.KEEP_ROWS,
                "a pseudonym would show how many records a suppressed person has; set keep_rows: false, or "
                "remove input.person.release_as",
            ),
            Cell(
                Feature.WHOLE_OF_OTHERS,
                "'{unit}' cannot be combined with released pseudonyms; set suppression.whole: person, or "
                "remove input.person.release_as",
            ),
            Cell(
                APPEND,
                "pseudonyms of an earlier release are unknown; remove apply, or input.person.release_as",
                unless=Feature.UNITS,
            ),
            Cell(
                MODELS,
                "{model} does not consider that a pseudonym links the rows of a person; remove the "
                "constraint, or remove input.person.release_as",
                key="model",
            ),
        ),
        Row(
            Feature.UNITS,
            _if(lambda config: config.counts_units, "constraints"),
            Cell(
                ALGORITHM,
                "{algorithm} counts records only; accepted: {algorithms}; or set unit: record in each "
                "constraint",
            ),
            Cell(
                APPEND,
                "the earlier release does not show which of its records belong to the same persons as new "
                "ones; set unit: record in each constraint, or run on all records without apply",
            ),
        ),
        Row(
            Feature.ATTACKED_UNITS,
            _attacked_units,
            Cell(
                STORED,
                "{input}: {model} can count persons and other units in memory only; set engine.name to "
                "memory, or unit: record",
            ),
        ),
        # Which of their constraints an algorithm supports there, it says itself.
        Row(
            Feature.UNITS_OUT_OF_CORE,
            _counting,
        ),
        Row(
            Feature.STORED_UNITS,
            _counting,
            Cell(
                METHOD,
                "{input}: with suppression.method {method}, constraints can count persons and other units in "
                "memory only; set suppression.method to {methods}, engine.name to memory, or unit: record",
                at=Stage.STORED,
            ),
            Cell(
                ALGORITHM,
                "{input}: algorithm {algorithm} can count persons and other units in memory only; set "
                "algorithm.name to {anywhere}, engine.name to memory, or unit: record",
                at=Stage.STORED,
            ),
        ),
        Row(
            Feature.POPULATION_TABLE,
            _if(lambda config: config.input.population is not None, "input", "population"),
        ),
        Row(
            Feature.DECIMAL,
            lambda config: (
                [Use(("output", "decimal"), {"decimal": config.numerals.decimal})]
                if config.numerals != config.input.numerals
                else []
            ),
            Cell(
                Feature.POPULATION_TABLE,
                "must be equal to input.decimal, which applies to input.population, too; remove "
                "output.decimal",
                here=True,
            ),
            Cell(STARTED, "{decimal!r}: accepted with {engine}: that of the input", here=True),
        ),
        Row(
            Feature.SHUFFLED,
            _if(lambda config: config.output.order is Order.SHUFFLED, "output", "order"),
            Cell(STARTED, "shuffled: accepted with {engine}: sorted", here=True),
        ),
        Row(
            Feature.HOUSEHOLDS,
            _households,
            Need(_no_households),
            Cell(
                Feature.SCENARIOS,
                "{owner} cannot be combined with scenarios; remove scenarios, or the constraint",
                here=True,
            ),
            Cell(
                STORED,
                "{rows}, so the run is out of core, where constraints cannot count households; raise "
                "engine.memory_limit or engine.options.combinations, or use engine memory",
            ),
        ),
        Row(
            Feature.PERSONS_AMONG_PEOPLE,
            _if(lambda config: config.input.person is not None and _population(config), "constraints"),
            Cell(MODELS, "{model} cannot count persons; remove input.person", key="estimator"),
        ),
        Row(
            Feature.POPULATION,
            _population,
            Need(_no_population),
            Cell(ALGORITHM, "{algorithm} does not support {asked}; accepted: {algorithms}{other}"),
            Cell(
                METHOD,
                "method {method} cannot be combined with {asked}; set suppression.method: {methods}",
            ),
            Cell(Feature.KEEP_ROWS, "cannot be combined with {asked}; set keep_rows: false"),
            Cell(APPEND, "cannot be combined with {asked}; remove apply, or {these}"),
            # Only whole classes may lose records; whole units would lose them in several classes.
            Cell(Feature.WHOLE, "cannot be combined with {asked}; remove suppression.whole"),
            Cell(
                BEYOND,
                "{rows}, so the run is out of core, where constraints cannot count the population; raise "
                "engine.memory_limit or engine.options.combinations",
            ),
        ),
        Row(
            Feature.LOSS_WEIGHTS,
            _if(lambda config: config.objective.weights is not None, "objective", "weights"),
            Need(_no_weights),
            Cell(
                APPEND,
                "with apply, the recoding is chosen already; remove objective.weights or the key apply",
                here=True,
            ),
            Cell(
                BEYOND,
                "{rows}, so the run is out of core, where losses cannot be averaged by weights; raise "
                "engine.memory_limit or engine.options.combinations, or remove objective.weights",
            ),
        ),
        Row(
            Feature.LOSS_UNIT,
            _unit(lambda config: config.objective.unit, "objective", "unit"),
            _undefined(RECORD),
            Cell(
                APPEND,
                "with apply, the recoding is chosen already; remove objective.unit or the key apply",
                here=True,
            ),
            Cell(
                BEYOND,
                "{rows}, so the run is out of core, where losses cannot count each {unit} once; raise "
                "engine.memory_limit or engine.options.combinations, or remove objective.unit",
            ),
        ),
        Row(
            Feature.CONTROL,
            _if(lambda config: config.input.control is not None, "input", "control"),
            Cell(
                Feature.TWO_TABLES,
                "held-out people cannot be compared with the two tables of {algorithm}; remove "
                "input.control, or choose another algorithm",
                here=True,
            ),
            Cell(
                APPEND,
                "apply has no originals of the earlier records to compare with held-out people; remove "
                "input.control or the key apply",
                here=True,
            ),
            Cell(
                ENGINE,
                "engine {engine} cannot compare a release with held-out people; accepted: {engines}; or "
                "remove input.control",
            ),
            Cell(
                BEYOND,
                "{rows}, so the run is out of core and cannot compare records with held-out people; raise "
                "engine.memory_limit or engine.options.combinations, or remove input.control",
                at=Stage.COMPARED,
            ),
        ),
        Row(
            Feature.RECIPE,
            _needing_recipe,
            Cell(
                ALGORITHM,
                "{attack} knows only how full-domain recodings are found",
                # Where the user chose another, the attack says so itself; a comparison goes on without it.
                at=Stage.CHOICE,
            ),
        ),
        Row(
            Feature.SCENARIOS_BY_RECORD,
            _scenarios_by_record,
            Cell(
                ALGORITHM,
                "with scenarios, {algorithm} cannot use method {method}; set suppression.method: classes",
                here=True,
            ),
        ),
        Row(
            Feature.SCENARIOS,
            _if(lambda config: config.scenarios, "scenarios"),
            Cell(ALGORITHM, "{algorithm} cannot satisfy scenarios; accepted: {algorithms}"),
            Cell(Feature.KEEP_ROWS, "cannot be combined with scenarios; set keep_rows: false"),
            Cell(APPEND, "scenarios are not checked on appended records; remove scenarios or the key apply"),
            Cell(
                Feature.PSEUDONYMS,
                "pseudonyms cannot be released with scenarios, which do not count linked rows; remove "
                "scenarios, or release_as",
            ),
            Cell(
                MODELS,
                "{model} cannot be combined with scenarios; remove scenarios, or the constraint",
                key="model",
            ),
        ),
        Row(
            Feature.EXACT_SCENARIOS,
            _exact_scenarios,
            Cell(
                ALGORITHM,
                "with {algorithm}, {model} may fail against an adversary who knows only some "
                "quasi-identifiers; set algorithm.name: {algorithms}",
                here=True,
            ),
        ),
        Row(
            Feature.TWO_TABLES,
            lambda config: (
                [Use(("algorithm", "name"), {"one_table": _one_table})]
                if config.algorithm.plug_in.in_groups
                else []
            ),
            Cell(
                MODELS,
                "{model} cannot be measured on two tables; set algorithm.name to one of {one_table}",
                key="attack",
            ),
            Cell(
                STARTED,
                "{algorithm}: releases two tables, which {engine} does not write",
                here=True,
            ),
            Cell(
                Feature.TABLE,
                "algorithm {algorithm} releases two tables; set output.path instead, to write them as files",
                at=Stage.START,
            ),
        ),
    ),
    (
        Row(
            Feature.BANDS,
            lambda config: _labels(config, lambda each: each.bands is not None),
            Cell(
                APPEND,
                "with apply, columns that are not generalized cannot be released in groups; if the earlier "
                "run released this column in groups, run on all records without apply, else remove labels",
                here=True,
            ),
        ),
        Row(
            Feature.NUMBERS,
            lambda config: _labels(config, lambda each: each.number_labels is not NumberLabels.RANGE),
            Cell(
                ALGORITHM,
                "'{form}' does not work with algorithm {algorithm}; set algorithm.name to one of "
                "{algorithms}, or labels: range",
                here=True,
            ),
            Cell(APPEND, "'{form}' cannot be combined with apply; set labels: range", here=True),
            Cell(ENGINE, "'{form}' is not written by engine {engine}; accepted: range", here=True),
            Need(_marked),
            Need(_taken_column, always=True),
            first=True,
        ),
    ),
)

TABLE = Table(_GROUPS, (ALGORITHM, METHOD, ENGINE))
"""What goes with what."""


def conflicts(
    config: ConfigSections, stage: Stage = Stage.CONFIG, words: Words = NO_WORDS
) -> Iterator[Conflict]:
    """Yield what does not go together in a config.

    Parameters
    ----------
    stage: when it is asked.
    words: that are known then, and that texts may name.
    """
    chosen = {
        "algorithm": config.algorithm.name,
        "method": config.suppression.method.value,
        "engine": config.engine.name,
    }
    return Asking(TABLE, config, {**chosen, **words}, stage).conflicts()


def asked_of_algorithm(config: ConfigSections) -> list[Feature]:
    """Return the features of a config that its algorithm has to support, in the order of the table."""
    return [row.feature for row in TABLE.rows.values() if row.asks(ALGORITHM) and any(row.uses(config))]


PROMISES = (
    Feature.SCENARIOS,
    Feature.PSEUDONYMS,
    Feature.WHOLE,
    Feature.UNIT_LIMIT,
    Feature.UNITS,
)
"""What a release promises to recipients beyond its constraints."""


def promises_of(config: ConfigSections) -> list[Feature]:
    """Return what the release of a config promises beyond its constraints."""
    return [each for each in PROMISES if any(TABLE.rows[each].uses(config))]


def suitable_algorithms(config: ConfigSections) -> list[str]:
    """Return the names of the algorithms without a conflict in a config that has none with its own."""
    found = []
    for name in search_algorithms():
        own = AlgorithmSettings.model_validate({"name": name})
        other = config if name == config.algorithm.name else config.model_copy(update={"algorithm": own})
        if not any(conflicts(other)):
            found.append(name)
    return found
