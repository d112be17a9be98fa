"""The interface of masking methods: numbers in, masked numbers of the same shape out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import InputError
from anonymizer.model.arrays import FloatArray

if TYPE_CHECKING:
    import pandas as pd

Data = TypeVar("Data", "pd.DataFrame", NDArray[Any])
"""Records by attributes: a DataFrame of numeric columns, or a two-dimensional array of numbers."""


@dataclass(frozen=True, eq=False)
class MaskingInput:
    """The records that a method masks.

    Attributes
    ----------
    values: shape (records, attributes), float64, finite.
    names: of the attributes; their positions for arrays.
    random: the source of all randomness.
    """

    values: FloatArray
    names: list[Any]
    random: np.random.Generator


class Masking(ABC):
    """A method that replaces the numbers of a file; masked record i comes from record i."""

    def mask(self, data: Data, seed: int = 0) -> Data:
        """Return the masked records, of the type and with the labels of ``data``.

        Parameters
        ----------
        data: shape (records, attributes), finite numbers. It is not modified.
        seed: of all randomness; the same seed and data give the same result.

        Raises
        ------
        InputError: the data are not two-dimensional, have no records, contain other values than finite
            numbers, or lack an attribute that the method names.
        """
        import pandas as pd  # noqa: PLC0415 - searches cluster records without it

        if isinstance(data, pd.DataFrame):
            values = self._masked(
                MaskingInput(_of_frame(data), list(data.columns), np.random.default_rng(seed))
            )
            return pd.DataFrame(values, index=data.index, columns=data.columns)
        values = _finite(np.asarray(data))
        return self._masked(MaskingInput(values, list(range(values.shape[1])), np.random.default_rng(seed)))

    @abstractmethod
    def _masked(self, given: MaskingInput) -> FloatArray:
        """Return the masked values, shape (records, attributes), without changing the given ones."""


def _of_frame(data: pd.DataFrame) -> FloatArray:
    import pandas as pd  # noqa: PLC0415 - as above

    texts = [str(name) for name, kind in data.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]
    if texts:
        named = ", ".join(f"'{name}'" for name in texts)
        raise InputError(f"masking: column {named} is not numeric; accepted: numeric columns")
    return _finite(data.to_numpy(dtype=np.float64, na_value=np.nan))


def _finite(values: NDArray[Any]) -> FloatArray:
    if values.ndim != 2 or not values.size:
        raise InputError(f"masking: data of shape {values.shape}; accepted: records by attributes, not empty")
    try:
        numbers: FloatArray = values.astype(np.float64, order="C")
    except (TypeError, ValueError):
        raise InputError("masking: a value is not a number; accepted: numbers") from None
    if not np.isfinite(numbers).all():
        raise InputError("masking: a value is missing or infinite; accepted: finite numbers")
    return numbers


def require(condition: bool, what: str) -> None:
    """Refuse a parameter.

    Raises
    ------
    InputError: the condition is false; ``what`` is its message.
    """
    if not condition:
        raise InputError(f"masking: {what}")
