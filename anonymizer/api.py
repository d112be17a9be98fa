"""The calls of the Python interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from warnings import warn

import pandas as pd

from anonymizer.adversary.files import adversary_from_files, answers_of_files
from anonymizer.attacks.three_questions import Answer
from anonymizer.audit.audit import audit_release
from anonymizer.audit.case import ReleaseAudit
from anonymizer.commands.calls import checked_call
from anonymizer.commands.check import check_names, check_pair_names, refused_second, view_of_pair
from anonymizer.commands.compare import compare_frame
from anonymizer.commands.frame import Result, anonymize_frame, tree_of_attribute
from anonymizer.commands.init import Draft, Goals, draft_frame, exact_columns, unnamed_warnings
from anonymizer.commands.planning import combined, planned
from anonymizer.commands.run import release_folder
from anonymizer.commands.run import run as run_config
from anonymizer.commands.save import in_python
from anonymizer.config.load import as_texts, load_config, variations
from anonymizer.config.model import Config
from anonymizer.data.frame_kinds import frame_kind
from anonymizer.data.open import OPTIONS, open_frame
from anonymizer.data.relation import Relation
from anonymizer.data.source import EngineOptions
from anonymizer.data.table import read_columns
from anonymizer.errors import AnonymizerWarning, InputError
from anonymizer.job.assessment import measures_of, origin_warning, run_attacks
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.naming import Spellings
from anonymizer.model.report import Report
from anonymizer.model.table import Role
from anonymizer.people.warnings import attack_warnings, records_warnings
from anonymizer.plan.engine import key_columns, reading_release, rewritten_numbers
from anonymizer.plan.plan import Plan, plan_of
from anonymizer.presets.preset import PRESETS
from anonymizer.report.build import ATTACK_KEYS, UTILITY_KEYS, attack_entry, utility_entry
from anonymizer.report.comparison_table import records
from anonymizer.report.exposure import findings_of
from anonymizer.report.preset import departs_of
from anonymizer.utility.comparison import comparison_of

if TYPE_CHECKING:
    import networkx

Configured = Config | Mapping[str, Any] | str | Path
"""A config, a mapping with its keys, or the path of its file."""


Frame = TypeVar("Frame")
"""A DataFrame of pandas or polars, an Arrow table, or an object that exports an Arrow stream."""


@checked_call
def anonymize(  # noqa: PLR0913 - one for each decision
    df: Frame,
    config: Configured | None = None,
    *,
    qi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    identifier: Sequence[str] = (),
    drop: Sequence[str] = (),
    person: str | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the name in the literature
    t: float | None = None,
    limit: float | None = None,
) -> Result[Frame]:
    """Anonymize a DataFrame, by a config or by the names of its quasi-identifiers.

    An ``AnonymizerWarning`` says what the release shows beyond its constraints, one for each finding, and
    which columns are released unchanged although you did not name them.

    Parameters
    ----------
    df: the records: a DataFrame of pandas or of another library that narwhals knows, such as polars, an Arrow
        table, or an object that exports an Arrow stream. It is not changed.
    config: with a role for every column; of ``input`` only ``missing``, ``decimal`` and the columns of units
        are used.
    qi: instead of a config, the quasi-identifiers. Everything else is as ``init`` drafts it, the roles of
        columns that you do not name too; ``warnings`` of the report say what became of these.
    sensitive: with ``qi``, the sensitive attributes.
    identifier: with ``qi``, columns that identify by themselves; they are left out.
    drop: with ``qi``, columns to leave out for another reason.
    person: with ``qi``, the column that says whose records these are; constraints then count persons.
    k: with ``qi``, the minimum size of a class; default: 5.
    l: with ``qi``, the minimum number of distinct values of each sensitive attribute in a class.
    t: with ``qi``, the maximum distance of each sensitive attribute in a class from the whole release; with
        ``l`` or ``t``, no other constraints on sensitive attributes are drafted.
    limit: with ``qi``, the maximum share of records that may be suppressed; default: 0.02.

    Returns
    -------
    The released records, of the kind of ``df`` (an Arrow table for a stream), and the report.

    Raises
    ------
    InputError: the config is wrong or does not fit the records, or ``df`` is of another kind.
    Infeasible: no release satisfies the constraints, or none was found in the budget; has the report.
    AuditFailed: the release, measured again, differs from what the search found.
    """
    kind = frame_kind(df)
    frame = kind.to_pandas(df)
    warnings: list[str] = []
    unnamed: list[str] = []
    roles = _roles(qi, sensitive, identifier, drop)
    goals = Goals(k, l, t, limit)
    if config is None:
        if not list(qi):
            raise InputError("anonymize: give a config, or quasi-identifiers as qi=['age', ...]")
        draft = draft_frame(frame, roles, person, goals)
        chosen = roles if person is None else {*roles, person}
        named = set(map(Spellings(draft["attributes"]).of, chosen))
        warnings, unnamed = unnamed_warnings(draft, named), exact_columns(draft, named)
        config = draft
    elif roles or person is not None or goals != Goals():
        raise InputError(
            "anonymize: give either a config, or qi, sensitive, identifier, drop, person, k, l, t and limit; "
            "a config contains these"
        )
    result = anonymize_frame(frame, load_config(config), warnings)
    second = None if result.sensitive_table is None else kind.from_pandas(result.sensitive_table)
    _warn_of(result.report, unnamed)
    released: Any = replace(result, data=kind.from_pandas(result.data), sensitive_table=second)
    return released  # type: ignore[no-any-return]


CALLER = 4
"""Frames from ``warn`` to the caller: ``_warn_of``, the function, and what checks its arguments."""


def _warn_of(report: Report, unnamed: Sequence[str] = ()) -> None:
    """Warn of what a release shows, and of columns that were released although nobody named them."""
    if unnamed:
        what = "released unchanged, although you did not name them"
        remedy = "name them as qi, sensitive, identifier or drop, or accept the draft of an.init"
        warn(f"{', '.join(map(repr, unnamed))}: {what}; {remedy}", AnonymizerWarning, stacklevel=CALLER)
    for line in departs_of(report.to_dict())[1:]:
        warn(f"departs from {report['preset']['name']}: {line.strip()}", AnonymizerWarning, stacklevel=CALLER)
    for each in findings_of(report.to_dict()):
        warn(f"{each['sentence']}; remedy: {each['remedy']}", AnonymizerWarning, stacklevel=CALLER)


@checked_call
def run(config: Configured, folder: str | Path | None = None, *, overwrite: bool = False) -> Report:
    """Anonymize the file of a config, and write the release into a folder, as the command ``run`` does.

    An ``AnonymizerWarning`` says what the release shows beyond its constraints, one for each finding.

    Parameters
    ----------
    folder: receives ``share/`` with the release and its public report, and internal reports; default, for a
        config in a file: next to it and named after it.
    overwrite: whether an earlier release there may be replaced.

    Raises
    ------
    InputError: the config, the input or the folder is wrong.
    Infeasible: no release satisfies the constraints, or none was found in the budget; has the report.
    AuditFailed: the written file differs from the release that was found.
    """
    loaded = load_config(config)
    if folder is None and not isinstance(config, str | Path):
        raise InputError(
            "run: a config that is not in a file has no default folder; give one, such as 'release'"
        )
    directory = release_folder(Path(str(config))) if folder is None else Path(folder)
    with in_python():
        report = run_config(loaded, directory, overwrite=overwrite)
    _warn_of(report)
    return report


@checked_call
def audit(path: str | Path, report: str | Path | None = None, key: str | Path | None = None) -> ReleaseAudit:
    """Verify a release from the file and its report alone, as the command ``audit`` does.

    Parameters
    ----------
    path: the released file; for Anatomy, either of its two files.
    report: its report; default: ``report.public.json`` next to it.
    key: file with the publisher's public key; a release that is not signed with it is not verified.

    Returns
    -------
    The audit: ``verified``, ``constraints``, ``findings``, ``not_checked`` and ``signature``, as with
    ``--json``.

    Raises
    ------
    InputError: the release or the report is missing, or is not one; or the key cannot be used.
    """
    return audit_release(Path(path), *(None if each is None else Path(each) for each in (report, key)))


@checked_call
def init(  # noqa: PLR0913 - one for each decision
    df: Any,
    *,
    qi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    identifier: Sequence[str] = (),
    drop: Sequence[str] = (),
    person: str | None = None,
    k: int | None = None,
    l: int | None = None,  # noqa: E741 - the name in the literature
    t: float | None = None,
    limit: float | None = None,
    preset: str | None = None,
) -> Draft:
    """Profile a DataFrame, propose a role for each column, and draft a config.

    Parameters
    ----------
    df: the records, of any kind that ``anonymize`` takes.
    qi: quasi-identifiers, whatever would be proposed.
    sensitive, identifier, drop, person: likewise, as for ``anonymize``.
    k, l, t, limit: what the draft asks for, as for ``anonymize``.
    preset: the named rule that the draft follows, such as ``hipaa-safe-harbor``.

    Returns
    -------
    The config as a mapping to edit; ``anonymize`` accepts it. ``columns`` gives the reason for each role.

    Raises
    ------
    InputError: ``df`` is of another kind, lacks a column, or has nothing to protect.
    """
    roles = _roles(qi, sensitive, identifier, drop)
    return draft_frame(
        frame_kind(df).to_pandas(df),
        roles,
        person,
        Goals(k, l, t, limit),
        None if preset is None else PRESETS[preset],
    )


def _roles(
    qi: Sequence[str], sensitive: Sequence[str], identifier: Sequence[str], drop: Sequence[str]
) -> dict[str, Role]:
    """Return the roles of named columns.

    Raises
    ------
    InputError: a column with two roles.
    """
    given = {
        "qi": (Role.QUASI_IDENTIFIER, qi),
        "sensitive": (Role.SENSITIVE, sensitive),
        "identifier": (Role.IDENTIFIER, identifier),
        "drop": (Role.DROP, drop),
    }
    found: dict[str, tuple[str, Role]] = {}
    for argument, (role, names) in given.items():
        for name in names:
            earlier, _ = found.setdefault(name, (argument, role))
            if earlier != argument:
                raise InputError(f"'{name}' is in {earlier} and in {argument}; name it in only one of them")
    return {name: role for name, (_, role) in found.items()}


@checked_call
def build_hierarchy(values: Iterable[Any], source: Any, **attribute: Any) -> networkx.DiGraph[Any]:
    """Build the hierarchy of a column, and return it as a networkx tree.

    Parameters
    ----------
    values: of the column, such as a Series.
    source: as ``hierarchy`` in a config, such as ``{"intervals": {"width": [5, 10]}}`` or a networkx tree.
        Relative paths start from the current folder.
    attribute: further keys of the attribute in a config, such as ``type``.

    Returns
    -------
    The tree with edges from parent to child. Nodes are ``(level, label)`` with the attributes ``label``,
    ``level``, ``leaves`` (values under the node) and ``count`` (records under it). In a config, it is a
    ``hierarchy`` again.

    Raises
    ------
    InputError: the source is wrong, or lacks a value.
    """
    name = str(getattr(values, "name", None) or "values")
    own = {"role": Role.QUASI_IDENTIFIER.value, "hierarchy": source, **attribute}
    config = {"attributes": {name: own}, "constraints": [{"model": "k-anonymity", "k": 1}]}
    plan = plan_of(load_config(config))
    with ExitStack() as stack:
        relation = _opened(stack, pd.DataFrame({name: list(values)}))
        read = read_columns(relation, plan.columns.requests([name]), plan.columns.missing)
    (placed,) = plan.columns.quasi_identifiers({name: read[name].column})
    return tree_of_attribute(placed)


@checked_call
def check(
    df: Any,
    *,
    qi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    person: str | None = None,
    sensitive_table: Any | None = None,
    quasi_identifiers: Sequence[str] = (),
) -> pd.DataFrame:
    """Measure ``vulnerability``, and the privacy models that judge every class, on a DataFrame.

    Models about a population, such as k-map, and models that an attack measures are left out.

    Parameters
    ----------
    df: the records, of any kind that ``anonymize`` takes; for Anatomy, the quasi-identifier table.
    qi: the quasi-identifiers.
    person: column that says whose records these are; models then count persons, too.
    sensitive_table: the sensitive table of an Anatomy release.
    quasi_identifiers: an earlier name of ``qi``.

    Returns
    -------
    A DataFrame of pandas, one row per measure, with columns model, attribute, parameters, measured,
    worst_classes. ``attrs["warnings"]`` has the warnings, such as one about a key of persons that repeats.

    Raises
    ------
    InputError: a column is missing or has two roles.
    """
    with ExitStack() as stack:
        relation, values = _opened(stack, df), _opened_if_given(stack, sensitive_table)
        known, hidden = [*qi, *(name for name in quasi_identifiers if name not in qi)], list(sensitive)
        if values is None:
            found = check_names(relation, known, hidden, person)
        else:
            found = check_pair_names((relation, values), known, hidden)
    columns = ["model", "attribute", "parameters", "measured", "worst_classes"]
    table = pd.DataFrame([asdict(each) for each in found.measures], columns=columns)
    if found.warnings:
        table.attrs["warnings"] = found.warnings
    return table


@checked_call
def measure_utility(release_df: Any, original_df: Any, config: Configured) -> pd.DataFrame:
    """Measure the utility of a release by the measures of a config; if it lists none, by all that apply.

    Parameters
    ----------
    release_df: the released records.
    original_df: the original records.

    Returns
    -------
    One row per finding; its columns are the keys of an entry of the report's ``utility``.

    Raises
    ------
    InputError: the requirements of a measure in the config are not met, or a DataFrame lacks a column.
    """
    loaded = load_config(config)
    plan = plan_of(loaded)
    with ExitStack() as stack:
        release = _opened(stack, release_df, reading_release(OPTIONS, loaded))
        original = _opened(stack, original_df, _of_input(loaded))
        comparison = comparison_of(adversary_from_files(plan, release, original))
        measured = measures_of(plan.assessment, comparison)
    entries = [utility_entry(each.finding, each.seconds) for each in measured]
    return pd.DataFrame(entries, columns=UTILITY_KEYS)


@checked_call
def compare(
    df: Any,
    config: Configured,
    *,
    algorithms: Sequence[str] = (),
    vary: Mapping[str, Iterable[Any]] | None = None,
    max_risk: float | None = None,
) -> pd.DataFrame:
    """Anonymize a DataFrame by several algorithms and settings in turn, and compare the results.

    Parameters
    ----------
    algorithms: names; if empty, that of the config, or, if ``vary`` is empty too, all that suit it.
    vary: values to try for config keys, such as ``{"constraints.0.k": [2, 5]}``; every combination is run.
    max_risk: largest acceptable risk, to name one run; None for what the constraints of the config allow.

    Returns
    -------
    One row per run: the varied values, ``status``, ``unbeaten``, the loss metrics, and success, interval and
    baseline of each attack common to all releases. ``attrs`` has ``headline``, ``attack`` (which compares the
    runs), ``remarks`` and ``advice``.

    Raises
    ------
    InputError: the config is wrong under some algorithm or value, or no run could use the DataFrame.
    """
    found = compare_frame(
        frame_kind(df).to_pandas(df),
        planned(config, list(algorithms), combined(variations(as_texts(vary or {})))),
    )
    made = pd.DataFrame(records(found)).drop(columns="command")
    found = replace(found, max_risk=max_risk)
    advice = None if found.advice is None else [found.advice.because, *found.advice.neighbors()]
    made.attrs = {"headline": found.headline(), "attack": found.attack, "remarks": list(found.remarks())}
    made.attrs["advice"] = advice
    return made


@checked_call
def attack(
    release_df: Any,
    original_df: Any | None,
    config: Configured,
    *,
    second_df: Any | None = None,
    control_df: Any | None = None,
    sensitive_table: Any | None = None,
    force: bool = False,
) -> pd.DataFrame:
    """Run the attacks of a config on a release; if it lists none, run all that apply.

    Parameters
    ----------
    release_df: the released records, of any kind that ``anonymize`` takes.
    original_df: records that the adversary holds; None if the adversary has the release only.
    second_df: a second release of the same data subjects.
    control_df: records of other people, held out of the release; needs ``original_df``.
    sensitive_table: the sensitive table of an Anatomy release; ``release_df`` is then the other one.
    force: attack even if less than half of the release could come from ``original_df``, or it lacks
        quasi-identifiers.

    Returns
    -------
    A DataFrame of pandas, one row per finding; its columns are the keys of an entry of the report's
    ``attacks``. ``attrs["warnings"]`` says where persons with several records were not counted, and with
    ``original_df`` how many records of the release could come from it. With ``control_df``,
    ``attrs["three_questions"]`` has an entry each for singling out, linkability and inference, with what
    succeeds on the records that were held out.

    Raises
    ------
    InputError: the requirements of an attack in the config are not met, a DataFrame lacks a column, or the
        release cannot stem from ``original_df``.
    """
    loaded = load_config(config)
    plan, options = plan_of(loaded), reading_release(OPTIONS, loaded)
    with ExitStack() as stack:
        release = _opened(stack, release_df, options)
        second, values = (_opened_if_given(stack, each, options) for each in (second_df, sensitive_table))
        given = _of_input(loaded)
        known, held = (_opened_if_given(stack, each, given) for each in (original_df, control_df))
        view = _adversary_view(plan, release, known, second, values)
        uncounted = attack_warnings(plan, known, view)
        warning = origin_warning(plan.assessment, view, force=force)
        answers: list[Answer] = []
        if held is not None:
            if known is None:
                raise InputError("control_df needs the original records for comparison; give original_df")
            answers = answers_of_files(plan, view, release, known, held)
        attacked = run_attacks(plan.assessment, view)
    entries = [attack_entry(each.finding, each.seconds) for each in attacked]
    found = pd.DataFrame(entries, columns=ATTACK_KEYS)
    warnings = [*uncounted, *([] if warning is None else [warning])]
    if view.holders is not None:
        by = [(each.by, each.finding.knowledge) for each in attacked]
        warnings += records_warnings(plan.counting, plan.assessment, by, answers)
    if warnings:
        found.attrs["warnings"] = warnings
    if answers:
        found.attrs["three_questions"] = [each.entry() for each in answers]
    return found


def _adversary_view(
    plan: Plan,
    release: Relation,
    original: Relation | None,
    second: Relation | None,
    values: Relation | None,
) -> AdversaryView:
    """Return the view of an adversary with one release or two, or with both tables of an Anatomy release."""
    if values is None:
        return adversary_from_files(plan, release, original, second, plan.assessment.weights)
    if second is not None:
        raise refused_second("sensitive_table")
    return view_of_pair(plan, (release, values), original, plan.assessment.weights)


def _of_input(config: Config) -> EngineOptions:
    """Return the options for original records, whose numbers are read in the notation of the release."""
    names = frozenset(config.attributes)
    return replace(OPTIONS, numbers=rewritten_numbers(config), spelling=names, keys=key_columns(config))


def _opened(stack: ExitStack, frame: Any, options: EngineOptions = OPTIONS) -> Relation:
    """Open a DataFrame of any kind until the stack closes."""
    return stack.enter_context(open_frame(frame_kind(frame).to_pandas(frame), options))


def _opened_if_given(stack: ExitStack, frame: Any, options: EngineOptions = OPTIONS) -> Relation | None:
    return None if frame is None else _opened(stack, frame, options)
