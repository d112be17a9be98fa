"""The calls of the Python interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.config.load import load_config
from anonymizer.config.model import Config
from anonymizer.engines.open import open_frame
from anonymizer.flow.attack import run_attacks
from anonymizer.flow.frame import Result, anonymize_frame
from anonymizer.flow.measure import check_names
from anonymizer.flow.scene import scene_of_files
from anonymizer.flow.weights import weight_columns
from anonymizer.report.attacks import ENTRY_KEYS, attack_entry

if TYPE_CHECKING:
    import pandas

Configured = Config | Mapping[str, Any] | str | Path
"""A config, a mapping with its keys, or the path of its file."""


def anonymize(df: pandas.DataFrame, config: Configured) -> Result:
    """Anonymize a DataFrame.

    Parameters
    ----------
    df: the records; it is not changed.
    config: with a role for every column; ``input`` is not looked at but for ``missing``.

    Returns
    -------
    The released records and the report.

    Raises
    ------
    InputError: the config is wrong or does not fit the DataFrame.
    Infeasible: no release satisfies the constraints, or none was found in the budget; has the report.
    AuditFailed: the release, measured again, is not what the search promised.
    """
    return anonymize_frame(df, load_config(config))


def check(
    df: pandas.DataFrame, *, quasi_identifiers: Sequence[str], sensitive: Sequence[str] = ()
) -> pandas.DataFrame:
    """Measure every privacy model on a DataFrame as it is.

    Returns
    -------
    One row per measure, with columns model, attribute, parameters, measured, worst_classes.

    Raises
    ------
    InputError: a column is missing or has two roles.
    """
    import pandas as pd  # noqa: PLC0415 - the command line does without it

    with open_frame(df) as relation:
        measures = check_names(relation, quasi_identifiers, sensitive).measures
    columns = ["model", "attribute", "parameters", "measured", "worst_classes"]
    return pd.DataFrame([asdict(each) for each in measures], columns=columns)


def attack(
    release_df: pandas.DataFrame,
    original_df: pandas.DataFrame | None,
    config: Configured,
    *,
    second_df: pandas.DataFrame | None = None,
) -> pandas.DataFrame:
    """Run the attacks of a config on a release; without any, all that apply.

    Parameters
    ----------
    release_df: the released records.
    original_df: records that the adversary holds; None for one who has the release alone.
    second_df: another release of the same people.

    Returns
    -------
    One row per finding; its columns are the keys of an entry of the report's ``attacks``.

    Raises
    ------
    InputError: the config asks for an attack that lacks something, or a DataFrame lacks a column.
    """
    import pandas as pd  # noqa: PLC0415 - the command line does without it

    loaded = load_config(config)
    with ExitStack() as stack:
        first, original, second = (
            None if frame is None else stack.enter_context(open_frame(frame))
            for frame in (release_df, original_df, second_df)
        )
        assert first is not None
        attacked = run_attacks(
            loaded, scene_of_files(loaded, first, original, second, weight_columns(loaded))
        )
    return pd.DataFrame([attack_entry(each.finding, each.seconds) for each in attacked], columns=ENTRY_KEYS)
