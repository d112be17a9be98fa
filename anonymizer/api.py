"""The calls of the Python interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anonymizer.config.load import as_texts, load_config, variations
from anonymizer.config.model import Config
from anonymizer.data.frames import frame_kind
from anonymizer.data.open import open_frame
from anonymizer.data.relation import Relation
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView
from anonymizer.report.build import ATTACK_KEYS, UTILITY_KEYS, attack_entry, utility_entry
from anonymizer.report.comparison_table import records
from anonymizer.run.adversary import adversary_from_files
from anonymizer.run.assessment import measures_of, origin_warning, run_attacks
from anonymizer.run.check import check_names, check_pair_names, refused_second, scene_of_pair
from anonymizer.run.compare import compare_frame, planned
from anonymizer.run.job import anonymize_frame
from anonymizer.run.plan import Plan, plan_of
from anonymizer.run.result import Result
from anonymizer.utility.comparison import comparison_of

if TYPE_CHECKING:
    import pandas

Configured = Config | Mapping[str, Any] | str | Path
"""A config, a mapping with its keys, or the path of its file."""


Frame = TypeVar("Frame")
"""A DataFrame of pandas or polars, an Arrow table, or what exports an Arrow stream."""


def anonymize(df: Frame, config: Configured) -> Result[Frame]:
    """Anonymize a DataFrame.

    Parameters
    ----------
    df: the records, a DataFrame of pandas or of another library that narwhals knows, such as polars, an Arrow
        table, or what exports an Arrow stream; it is not changed.
    config: with a role for every column; of ``input`` only ``missing`` and ``decimal`` are looked at.

    Returns
    -------
    The released records, of the kind that was given (an Arrow table for a stream), and the report.

    Raises
    ------
    InputError: the config is wrong or does not fit the DataFrame, or it is none.
    Infeasible: no release satisfies the constraints, or none was found in the budget; has the report.
    AuditFailed: the release, measured again, is not what the search promised.
    """
    kind = frame_kind(df)
    result = anonymize_frame(kind.to_pandas(df), load_config(config))
    second = None if result.sensitive_table is None else kind.from_pandas(result.sensitive_table)
    given_back: Any = replace(result, data=kind.from_pandas(result.data), sensitive_table=second)
    return given_back  # type: ignore[no-any-return]


def check(
    df: Any,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    sensitive_table: Any | None = None,
) -> pandas.DataFrame:
    """Measure every privacy model on a DataFrame as it is.

    Parameters
    ----------
    df: the records, of any kind that ``anonymize`` takes.

    Returns
    -------
    A DataFrame of pandas, one row per measure, with columns model, attribute, parameters, measured,
    worst_classes.

    Raises
    ------
    InputError: a column is missing or has two roles.
    """
    import pandas as pd  # noqa: PLC0415 - the command line does without it

    with ExitStack() as stack:
        relation, values = _opened(stack, df, sensitive_table)
        assert relation is not None
        known = _names("quasi_identifiers", quasi_identifiers)
        hidden = _names("sensitive", sensitive)
        if values is None:
            measures = check_names(relation, known, hidden).measures
        else:
            measures = check_pair_names((relation, values), known, hidden).measures
    columns = ["model", "attribute", "parameters", "measured", "worst_classes"]
    return pd.DataFrame([asdict(each) for each in measures], columns=columns)


def _names(parameter: str, given: Sequence[str]) -> Sequence[str]:
    """Return names as they were given; a text alone would be taken for a list of its letters."""
    if isinstance(given, str):
        raise InputError(f"{parameter}: '{given}'; accepted: a list of names, such as ['{given}']")
    return given


def measure_utility(release_df: Any, original_df: Any, config: Configured) -> pandas.DataFrame:
    """Measure what a release is still good for: the measures of a config; without any, all that apply.

    Parameters
    ----------
    release_df: the released records.
    original_df: the records that it was made from.

    Returns
    -------
    One row per finding; its columns are the keys of an entry of the report's ``utility``.

    Raises
    ------
    InputError: the config asks for a measure that lacks something, or a DataFrame lacks a column.
    """
    import pandas as pd  # noqa: PLC0415 - the command line does without it

    plan = plan_of(load_config(config))
    first, second = (frame_kind(frame).to_pandas(frame) for frame in (release_df, original_df))
    with open_frame(first) as release, open_frame(second) as original:
        measured = measures_of(plan, comparison_of(adversary_from_files(plan, release, original)))
    entries = [utility_entry(each.finding, each.seconds) for each in measured]
    return pd.DataFrame(entries, columns=UTILITY_KEYS)


def compare(
    df: Any,
    config: Configured,
    *,
    algorithms: Sequence[str] = (),
    vary: Mapping[str, Iterable[Any]] | None = None,
) -> pandas.DataFrame:
    """Anonymize a DataFrame by several algorithms and settings, one after the other, and compare.

    Parameters
    ----------
    algorithms: names; none for that of the config, or all that suit it when nothing varies either.
    vary: values to try for config keys, such as ``{"constraints.0.k": [2, 5]}``; every combination is run.

    Returns
    -------
    One row per run: what varies, ``status``, ``unbeaten``, the loss metrics, and of each attack common to all
    releases its success, interval and baseline. ``attrs`` has ``headline``, ``attack`` (the one that runs are
    compared by) and ``remarks``.

    Raises
    ------
    InputError: the config is wrong under some algorithm or value, or no run could use the DataFrame.
    """
    import pandas as pd  # noqa: PLC0415 - the command line does without it

    found = compare_frame(
        frame_kind(df).to_pandas(df),
        planned(config, _names("algorithms", algorithms), variations(as_texts(vary or {}))),
    )
    made = pd.DataFrame(records(found)).drop(columns="command")
    made.attrs = {"headline": found.headline(), "attack": found.attack, "remarks": list(found.remarks())}
    return made


def attack(
    release_df: Any,
    original_df: Any | None,
    config: Configured,
    *,
    second_df: Any | None = None,
    sensitive_table: Any | None = None,
    force: bool = False,
) -> pandas.DataFrame:
    """Run the attacks of a config on a release; without any, all that apply.

    Parameters
    ----------
    release_df: the released records, of any kind that ``anonymize`` takes.
    original_df: records that the adversary holds; None for one who has the release alone.
    second_df: another release of the same people.
    sensitive_table: of a release in two tables the second one; ``release_df`` is the first then.
    force: attack though less than half of the release can stem from ``original_df``, or it lacks
        quasi-identifiers.

    Returns
    -------
    A DataFrame of pandas, one row per finding; its columns are the keys of an entry of
    the report's ``attacks``. With ``original_df``, ``attrs["warnings"]`` says how many records of the release
    can stem from it.

    Raises
    ------
    InputError: the config asks for an attack that lacks something, a DataFrame lacks a column, or the release
        cannot stem from ``original_df``.
    """
    import pandas as pd  # noqa: PLC0415 - the command line does without it

    plan = plan_of(load_config(config))
    with ExitStack() as stack:
        opened = _opened(stack, release_df, original_df, second_df, sensitive_table)
        scene = _scene(plan, *opened)
        warning = origin_warning(plan, scene, force=force)
        attacked = run_attacks(plan, scene)
    entries = [attack_entry(each.finding, each.seconds) for each in attacked]
    found = pd.DataFrame(entries, columns=ATTACK_KEYS)
    if warning is not None:
        found.attrs["warnings"] = [warning]
    return found


def _scene(
    plan: Plan,
    release: Relation | None,
    original: Relation | None,
    second: Relation | None,
    values: Relation | None,
) -> AdversaryView:
    """Return what an adversary has who is given one release or two, in a single table or with its values."""
    assert release is not None
    if values is None:
        return adversary_from_files(plan, release, original, second, plan.weights)
    if second is not None:
        raise refused_second("sensitive_table")
    return scene_of_pair(plan, (release, values), original, plan.weights)


def _opened(stack: ExitStack, *frames: Any | None) -> list[Relation | None]:
    """Open DataFrames of any kind as long as the stack is; None stays None."""
    return [
        None if frame is None else stack.enter_context(open_frame(frame_kind(frame).to_pandas(frame)))
        for frame in frames
    ]
