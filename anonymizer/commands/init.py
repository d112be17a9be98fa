"""From a data file to a config that runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from anonymizer.commands.trial import Losing, Trial, Tried, loss_of, mended_draft, trial_of
from anonymizer.commands.ways import of_use
from anonymizer.config.attribute import Treatment, treatment_of
from anonymizer.config.document import YAML_SUFFIXES, parse_yaml
from anonymizer.config.files import InputSettings
from anonymizer.config.load import check_columns, load_config
from anonymizer.config.model import Config, Origin
from anonymizer.config.section import plain
from anonymizer.config.written import draft_text
from anonymizer.data.open import DIALECT, input_suffixes, open_file, open_frame, unite_keys
from anonymizer.data.relation import Relation
from anonymizer.data.source import (
    CsvDialect,
    EngineOptions,
    KeyColumns,
    TableName,
    is_url,
    location_of,
    split_suffix,
)
from anonymizer.errors import DataError, InputError, OutputError
from anonymizer.job.advice import MANY, forecast
from anonymizer.job.source import frame_source, input_source, open_rows
from anonymizer.job.table import prepare
from anonymizer.model.table import LEFT_OUT, Role
from anonymizer.model.units import HOUSEHOLD, PERSON
from anonymizer.people.draft import UNITS, DraftedUnits, find_units, with_units
from anonymizer.people.keys import household_note, keys_by_name, warnings_of
from anonymizer.plan.bands import put_in_bands
from anonymizer.plan.plan import plan_of
from anonymizer.presets.preset import Preset
from anonymizer.presets.rules import LeastClass
from anonymizer.profile.combinations import combinations_of
from anonymizer.profile.config_text import config_text
from anonymizer.profile.hierarchy_files import HierarchyFile, hierarchy_files
from anonymizer.profile.preset_draft import asked_by
from anonymizer.profile.proposal import (
    LIMIT,
    NO_CHOICES,
    Choices,
    ColumnProposal,
    Decide,
    Proposal,
    as_proposed,
    propose,
)
from anonymizer.profile.spellings import key_warnings
from anonymizer.profile.ways import ways_note
from anonymizer.system import real_path, write_whole

if TYPE_CHECKING:
    import pandas


SPARK_SECTIONS = {"engine": {"name": "spark"}, "output": {"path": "release.parquet"}}
"""Sections of the config of an input that Spark reads."""

_OPTIONS = {
    "set input.encoding: ": "give --encoding ",
    "input.encoding": "--encoding",
    "input.separator": "--separator",
    "input.path": "the path",
}
"""Options and arguments of ``init`` in place of keys of a config."""


@dataclass(frozen=True)
class Goals:
    """What the user asks of a draft; None for what is proposed.

    Attributes
    ----------
    k: minimum size of a class.
    l: minimum number of distinct values of each sensitive attribute in a class.
    t: maximum distance of each sensitive attribute in a class from the whole release.
    limit: maximum share of the records that may be suppressed.
    rule: of a preset about the size of classes, which a k of the user replaces.
    """

    k: int | None = None
    l: int | None = None  # noqa: E741 - the name in the literature
    t: float | None = None
    limit: float | Decimal | None = None
    rule: LeastClass | None = None

    @property
    def most_suppressed(self) -> Decimal:
        """The limit of suppression, of the draft if none is asked for."""
        return LIMIT if self.limit is None else Decimal(str(self.limit))

    def asked_of(self, proposal: Proposal, relation: Relation) -> Proposal:
        """Return a proposal with the constraints that are asked for.

        Raises
        ------
        InputError: nothing is sensitive that a constraint could be for.
        """
        (first, why), *others = proposal.constraints
        k = self.k if self.rule is None or self.k is not None else min(self.rule.k, relation.rows)
        if k is not None and k != first["k"]:
            known = [each.name for each in proposal.columns if each.role is Role.QUASI_IDENTIFIER]
            proposal = replace(proposal, joint=combinations_of(relation).joint(known, int(k)))
            first, why = (
                {**first, "k": int(k)},
                why.replace(f"{first['k']} records", f"{k} records"),
            )
        if self.rule is not None:
            why = f"{why}; rule: {self.rule.asks} ({self.rule.source})"
        if self.l is not None or self.t is not None:
            others = list(self._of_sensitive(proposal))
        return replace(proposal, constraints=((first, why), *others))

    def _of_sensitive(self, proposal: Proposal) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Yield the constraints on sensitive attributes; one with a single value has nothing to vary."""
        sensitive = [each for each in proposal.columns if each.role is Role.SENSITIVE]
        if not sensitive:
            asked = "l-diversity" if self.l is not None else "t-closeness"
            raise InputError(f"{asked} needs a sensitive attribute; name one as sensitive")
        asked_of = {"l-diversity": ("l", self.l), "t-closeness": ("t", self.t)}
        for column in sensitive:
            for model, (key, value) in asked_of.items():
                if value is not None and column.facts.distinct > 1:
                    yield {"model": model, key: value, "attribute": column.name}, f"{key} as you asked"


NO_GOALS = Goals()


def _following(
    choices: Choices, goals: Goals, draft: Callable[[Choices, Goals], Proposal]
) -> tuple[Choices, Goals, Proposal]:
    """Return a draft with what its preset asks, and the choices and goals that it is from."""
    if choices.preset is None:
        return choices, goals, draft(choices, goals)
    goals = replace(goals, rule=choices.preset.least_class())
    choices = replace(choices, asked=asked_by(choices.preset, draft(choices, goals), choices))
    return choices, goals, draft(choices, goals)


class Draft(dict[str, Any]):
    """A config that ``init`` drafts for a DataFrame: a mapping to edit, with the reason for each role.

    ``anonymize`` accepts it, edited or not. Its keys are those of a config.

    >>> import pandas, anonymizer
    >>> people = pandas.DataFrame({"age": [30, 31, 31], "illness": ["flu", "flu", "asthma"]})
    >>> draft = anonymizer.init(people, qi=["age"])
    >>> draft["attributes"]["illness"]
    {'role': 'sensitive', 'type': 'text'}

    Attributes
    ----------
    warnings: what to look at before you run it, such as texts that can be read in two ways.
    """

    def __init__(self, proposal: Proposal, goals: Goals = NO_GOALS) -> None:
        content, _ = parse_yaml(config_text(proposal, {}, "utf-8", limit=goals.most_suppressed), "draft")
        super().__init__({key: plain(each) for key, each in content.items() if each})
        self._proposal = proposal
        first = [each for each in (proposal.names.note, ways_note(proposal.ways)) if each is not None]
        self.warnings = [*first, *proposal.warnings]

    @property
    def columns(self) -> pandas.DataFrame:
        """One row per column: the drafted role, why, whether to check it, and counts of values."""
        import pandas as pd  # noqa: PLC0415 - the command line does without it

        rows = [
            (each.role.value, each.remark, each.uncertain, each.facts.distinct, each.facts.missing)
            for each in self._proposal.columns
        ]
        names = ["role", "reason", "doubtful", "distinct", "missing"]
        return pd.DataFrame(rows, columns=names, index=[each.name for each in self._proposal.columns])

    def to_yaml(self) -> str:
        """Return the draft as it is now as the text of a config file, with the reason above each column.

        To run it on a file, add ``input: {path: FILE}``.
        """
        return draft_text(self, {each.name: each.reason for each in self._proposal.columns})


def draft_frame(
    frame: pandas.DataFrame,
    roles: Mapping[str, Role],
    person: str | None = None,
    goals: Goals = NO_GOALS,
    preset: type[Preset] | None = None,
) -> Draft:
    """Profile a DataFrame and draft a config for it.

    Parameters
    ----------
    roles: of columns, as the user decides.
    person: the column that says whose records these are; None to look for one.
    goals: what is asked of the draft.
    preset: the rule that the draft follows; None without one.

    Raises
    ------
    DataError: the DataFrame lacks a column of ``roles``, or has nothing to protect.
    """
    with open_frame(frame) as relation:
        choices, goals, first = _following(
            Choices(roles, person=person, preset=preset), goals, partial(_proposed, relation, as_proposed)
        )

        def draft(choices: Choices) -> Proposal:
            return _proposed(relation, as_proposed, choices, goals)

        def tried(proposal: Proposal) -> Trial | None:
            return trial_of(load_config(Draft(proposal, goals)), frame_source(frame))

        def losing(proposal: Proposal, sections: Mapping[str, Any]) -> float | None:
            config = load_config(with_sections(Draft(proposal, goals), sections))
            return loss_of(config, frame_source(frame))

        proposal, was_tried = _mended(first, choices, draft, tried, losing)
        if _worth_trying(proposal, was_tried=was_tried):
            proposal = _tried(proposal, load_config(Draft(proposal, goals)), relation)
    return Draft(proposal, goals)


def unnamed_warnings(draft: Draft, named: Collection[str]) -> list[str]:
    """Return what becomes of the columns that the user did not name, a warning for each role."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, own in draft["attributes"].items():
        if name not in named:
            became: str = treatment_of(own)
            became += " under its constraints" if own["role"] == Role.SENSITIVE else ""
            found.setdefault((own["role"], became), []).append(name)
    roles = list(map(str, Role))
    return [
        f"columns that you did not name are {became} ({role}, as init proposes): "
        f"{', '.join(map(repr, names))}"
        for (role, became), names in sorted(found.items(), key=lambda each: roles.index(each[0][0]))
    ]


def exact_columns(draft: Draft, named: Collection[str]) -> list[str]:
    """Return the columns that are released unchanged although the user did not name them."""
    unnamed = {name: own for name, own in draft["attributes"].items() if name not in named}
    return [name for name, own in unnamed.items() if treatment_of(own) is Treatment.UNCHANGED]


@dataclass(frozen=True)
class Drafted:
    """A config that was drafted from a proposal and written to a file."""

    path: Path
    config: Config
    proposal: Proposal


def init(  # noqa: PLR0913 - one for each decision
    data: Path,
    output: Path | None = None,
    dialect: CsvDialect = DIALECT,
    *,
    overwrite: bool = False,
    decide: Decide = as_proposed,
    rows: InputSettings | None = None,
    choices: Choices = NO_CHOICES,
    goals: Goals = NO_GOALS,
    phase: Callable[[str], None] = lambda _: None,
) -> Drafted:
    """Profile a data file and write a config for it, completely or not at all.

    Parameters
    ----------
    data: a file or a folder of Parquet files; Spark reads a URL and will run its config.
    output: the config file; default: the name of the data with ``.yaml``, in its folder, or for a URL in the
        working directory.
    overwrite: whether an existing file may be replaced.
    decide: returns the role of each doubtful column.
    rows: rows of a database, which are read instead of ``data``.
    choices: roles that the user sets, and how cautious the others are.
    goals: what the user asks of the draft.
    phase: receives the name of each phase as it begins.

    Raises
    ------
    DataError: the file cannot be read, or has nothing to protect.
    OutputError: the config cannot be written, or exists already.
    """
    path = output or (config_path(data) if rows is None else rows_config_path(rows))
    remote = rows is None and is_url(str(data))
    _check_output(path, data, overwrite)
    phase(f"reading {data.name}" if rows is None or rows.url is None else "reading the database")
    with _opened(data, dialect, rows) as relation:
        phase("profiling")
        written = partial(
            config_text,
            data=_named(data, path, rows),
            encoding=dialect.encoding,
            further=SPARK_SECTIONS if remote else {},
            limit=goals.most_suppressed,
        )
        answers = decide if decide is as_proposed else Answers(decide)
        if rows is None and not remote:
            choices = replace(choices, files=_files_beside(data, relation, path))
        choices, goals, first = _following(choices, goals, partial(_proposed, relation, answers))

        def draft(choices: Choices) -> Proposal:
            return _proposed(relation, answers, choices, goals)

        def tried(proposal: Proposal) -> Trial | None:
            phase("trying the draft")
            config = checked_config(written(proposal), path)
            return None if remote else trial_of(config, input_source(config))

        def losing(proposal: Proposal, sections: Mapping[str, Any]) -> float | None:
            config = checked_config(written(proposal), path, sections)
            return loss_of(config, input_source(config))

        proposal, was_tried = _mended(first, choices, draft, tried, losing)
        content = written(proposal)
        config = checked_config(content, path)
        check_columns(config.attributes, relation.columns, relation.name, config.source)
        if _worth_trying(proposal, was_tried=was_tried):
            phase("trying the draft")
            proposal = _tried(proposal, config, relation)
            content = written(proposal)
    write_whole(path, content)
    return Drafted(path, config, proposal)


def _files_beside(data: Path, relation: Relation, config: Path) -> dict[str, HierarchyFile]:
    """Return the hierarchy files beside a data file, with their paths as the config names them."""
    found = hierarchy_files(data, config_path(data).stem, relation.columns)
    return {column: HierarchyFile(_relative(path, config), config.parent) for column, path in found.items()}


def _mended(
    first: Proposal,
    choices: Choices,
    draft: Callable[[Choices], Proposal],
    tried: Tried,
    losing: Losing,
) -> tuple[Proposal, bool]:
    """Return a draft that shows little and loses at most half if possible, and whether it was tried."""
    proposal, choices, trial = mended_draft(first, choices, draft, tried)
    if trial is None:
        return proposal, False
    return of_use(proposal, choices, trial, draft, tried, losing), True


def with_sections(config: Mapping[str, Any], sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with some sections replaced, and some columns."""
    attributes = {**config["attributes"], **sections.get("attributes", {})}
    return {**config, **sections, "attributes": attributes}


class Answers:
    """The answers of the user to questions about columns, each asked once."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._known: dict[str, Role] = {}

    def __call__(self, column: ColumnProposal) -> Role:
        """Return the role of a doubtful column."""
        if column.name not in self._known:
            self._known[column.name] = self._decide(column)
        return self._known[column.name]


def _proposed(relation: Relation, decide: Decide, choices: Choices, goals: Goals) -> Proposal:
    """Return the proposal for an open input, with the key of persons, and warnings about other such keys.

    Raises
    ------
    DataError: the input lacks a column that the user chose, or has nothing to protect.
    """
    choices = choices.named_as(relation.columns)
    if choices.person is not None:
        relation.position(choices.person)
        choices = replace(choices, roles={choices.person: Role.IDENTIFIER, **choices.roles})
    found = DraftedUnits()

    def settle(columns: list[ColumnProposal], missing: Sequence[str]) -> list[ColumnProposal]:
        nonlocal found
        person = choices.person
        found = find_units(relation, columns, person, {*choices.roles} - {person}, missing)
        columns, found = with_units(relation, columns, found, missing)
        return columns

    proposal = goals.asked_of(propose(relation, decide, choices, settle), relation)
    if (width := _width(proposal)) > WIDEST:
        untried = _UNTRIED.format(width=width, widest=WIDEST)
        proposal = replace(proposal, warnings=(*proposal.warnings, untried))
    counted = {found.person, found.household, *dict(found.units).values()}
    further = [(each, each) for each in sorted(choices.asked.units - counted)]
    proposal = replace(
        proposal,
        counted=(
            *([(PERSON, found.person)] if found.person is not None and relation.ordered else []),
            *([(HOUSEHOLD, found.household)] if found.household is not None else []),
            *found.units,
            *further,
        ),
        preset=choices.preset,
        constraints=(*found.constrained(proposal.constraints), *map(_of_unit, dict(further))),
    )
    told = _of_keys(relation, proposal, found, asked=choices.person is None)
    return replace(proposal, warnings=(*proposal.warnings, *told))


def _of_unit(key: str) -> tuple[dict[str, Any], str]:
    """Return the constraint on the units of a key, with its reason."""
    why = f"every class has records of at least {UNITS} values of {key}, which its columns would put together"
    return {"model": "k-anonymity", "k": UNITS, "unit": key}, why


def _of_keys(relation: Relation, proposal: Proposal, found: DraftedUnits, *, asked: bool) -> list[str]:
    """Return what a draft does with keys that repeat, and what to do about the others.

    Parameters
    ----------
    asked: whether the key of persons was looked for, not named by the user.
    """
    drafted = dict(proposal.counted).values()
    told = [
        *(each.drafted() for each in found.keys if each.name == proposal.person and asked),
        *(each.drafted_household(UNITS) for each in found.keys if each.name == proposal.household),
        *(each.drafted_unit(UNITS) for each in found.keys if each.name in dict(proposal.units).values()),
    ]
    others = [each for each in found.keys if each.name not in drafted]
    roles = {column.name: column.role for column in proposal.columns}
    if proposal.person is None:
        alike = key_warnings(relation, {}, keys_by_name(roles.items()))
        return [*told, *warnings_of(others, proposal.joint.k), *alike]
    homes = [each.name for each in others if each.household and roles[each.name] in LEFT_OUT]
    unite_keys(relation, KeyColumns((proposal.person, *homes), proposal.missing, proposal.numerals))
    told += key_warnings(relation, {PERSON: proposal.person})
    absent = {"", *proposal.missing}
    return told + [household_note(relation, proposal.person, home, absent) for home in homes]


TRIED = 10_000_000
"""Maximum number of cells, rows times quasi-identifiers, of a draft that is tried."""

WIDEST = 100
"""Maximum number of quasi-identifiers of a draft that is tried: each takes statements of its own to read."""

_UNTRIED = (
    "{width} quasi-identifiers is a lot: 'init' tries out drafts with up to {widest}, so it cannot estimate "
    "how much a release from this draft would lose; drop the columns that recipients do not need"
)


def _worth_trying(proposal: Proposal, *, was_tried: bool) -> bool:
    """Return whether a draft has many quasi-identifiers, of which it is worth to know which cost most."""
    width = _width(proposal)
    if was_tried and not any(way.taken and not way.left_out for way in proposal.ways):
        return False
    return MANY <= width <= WIDEST and width * proposal.rows <= TRIED


def _width(proposal: Proposal) -> int:
    return sum(column.role is Role.QUASI_IDENTIFIER for column in proposal.columns)


def _tried(proposal: Proposal, config: Config, relation: Relation) -> Proposal:
    """Return a proposal with a warning if its first run would lose much, or would be refused.

    Parameters
    ----------
    relation: the input, whose columns are put in bands in place.
    """
    plan = plan_of(config).for_a_look()
    try:
        put_in_bands(plan.columns, relation)
        found = forecast(prepare(plan, relation).problem)
    except (DataError, InputError) as error:
        return replace(proposal, warnings=(*proposal.warnings, f"'run' refuses this draft: {error}"))
    return proposal if found is None else replace(proposal, warnings=(*proposal.warnings, found.warning()))


def config_path(data: Path) -> Path:
    """Return the default path of the config of a data file: in its folder, with its name.

    >>> str(config_path(Path("a/people.csv.gz")))
    'a/people.yaml'

    Raises
    ------
    DataError: the path names no file.
    """
    name = data.name
    if not name:
        raise DataError(f"{data}: is a directory; name a file in it")
    stem, suffix = split_suffix(name, input_suffixes())
    folder = Path() if is_url(str(data)) else data.parent
    return folder / f"{stem if suffix else data.stem}.yaml"


def rows_config_path(rows: InputSettings) -> Path:
    """Return the default path of the config of rows of a database.

    >>> str(rows_config_path(InputSettings(database="data/clinic.duckdb", table="visits")))
    'data/clinic.yaml'
    >>> str(rows_config_path(InputSettings(url="postgresql://ana@db/clinic", table="main.visits")))
    'visits.yaml'

    Raises
    ------
    OutputError: a query on a server has no name, or the name of a table is not that of a file.
    """
    if (file := rows.database or rows.path) is not None:
        return config_path(Path(file))
    name = "" if rows.table is None else TableName.parse(rows.table).name
    if not _FILE_NAME.fullmatch(name):
        raise OutputError(
            "the config has no default name for this input; give one with -o, such as -o config.yaml"
        )
    return Path(f"{name}.yaml")


_FILE_NAME = re.compile(r"\w[\w .-]*", re.ASCII)


def _named(data: Path, config: Path, rows: InputSettings | None) -> dict[str, str]:
    """Return the keys of ``input`` that say where the data are."""
    if rows is None:
        remote = is_url(str(data))
        return {"path": location_of(data) if remote else _relative(data, config)}
    keys = {"url": rows.url, "table": rows.table, "query": rows.query}
    for place in ("database", "path"):
        if (file := getattr(rows, place)) is not None:
            keys = {place: _relative(Path(file), config), **keys}
    return {key: value for key, value in keys.items() if value is not None}


def _opened(data: Path, dialect: CsvDialect, rows: InputSettings | None) -> Relation:
    """Open the file or the rows; messages name options of ``init`` instead of keys of a config."""
    try:
        if rows is not None:
            return open_rows(rows)
        return open_file(data, dialect, EngineOptions(named=frozenset()))
    except DataError as error:
        message = str(error)
        for key, option in _OPTIONS.items():
            message = message.replace(key, option)
        raise DataError(message) from None


def check_name(path: Path) -> None:
    """Check the name of a config.

    Raises
    ------
    OutputError: it is not that of a YAML file.
    """
    if path.suffix.lower() not in YAML_SUFFIXES:
        raise OutputError(f"{path}: the config is written in YAML; accepted: a name ending in .yaml or .yml")


def _check_output(path: Path, data: Path, overwrite: bool) -> None:
    check_name(path)
    if not path.parent.is_dir():
        raise OutputError(f"{path}: no folder '{path.parent}'; create it, or name another file with -o")
    if not os.path.lexists(path):
        return
    if data.exists() and path.exists() and path.samefile(data):
        raise OutputError(f"{path}: is the data file, which is never modified; name another file with -o")
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file with -o")
    if not overwrite:
        raise OutputError(f"{path}: exists; replace it with --overwrite, or name another file with -o")


def _relative(data: Path, config: Path) -> str:
    """Return the path of the data relative to the folder of the config."""
    target = real_path(data.parent) / data.name
    return Path(os.path.relpath(target, real_path(config.parent))).as_posix()


def checked_config(content: str, path: Path, sections: Mapping[str, Any] = MappingProxyType({})) -> Config:
    """Return the config in a text, with some sections replaced.

    Raises
    ------
    InputError: the text cannot be parsed, such as with a column name that cannot be a YAML key.
    """
    parsed, _ = parse_yaml(content, str(path))
    config = Config.model_validate(with_sections(parsed, sections) if sections else parsed)
    if config.input.path is None and config.input.table is None and config.input.query is None:
        raise InputError(f"{path}: names no input")
    return config.located(Origin(str(path), path.parent))
