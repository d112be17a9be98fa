"""The calls of the Python interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.config.load import load_config
from anonymizer.config.model import Config
from anonymizer.engines.open import open_frame
from anonymizer.flow.frame import Result, anonymize_frame
from anonymizer.flow.measure import check_names

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
