"""What Spark says of failures, as messages that name the file or the setting."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from anonymizer.distribution import installing
from anonymizer.engines.spark.launch import PYTHON
from anonymizer.engines.spark.session import reason_of
from anonymizer.errors import DataError, InputError, OutputError

_LACKING = re.compile(r"No module named '([^']+)'")
_PATH = re.compile(r"((?:[a-z0-9+.-]+):/[^\s,;'\"]+)")
_TYPE = re.compile(r"Illegal Parquet type: (.+?)\.? SQLSTATE|The data type (\w+) is not supported")
_MEMORY = ("java.lang.OutOfMemoryError", "Java heap space", "GC overhead limit exceeded")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what Spark raises while it reads an input into an error of ours.

    Parameters
    ----------
    name: what messages call the input.

    Raises
    ------
    DataError: a file cannot be read; the message names it.
    InputError: the memory does not suffice, or the cluster fails.
    """
    classes = _raised()
    try:
        with _quiet():
            yield
    except classes as error:
        told = whole_text(error)
        _refuse_memory(told)
        _refuse_workers(told)
        _refuse_type(name, told)
        if "FAILED_READ_FILE" in told or "not a Parquet file" in told or "MALFORMED_RECORD" in told:
            found = _PATH.search(told)
            file = found[1].rstrip(".") if found else name
            raise DataError(
                f"{file}: not a Parquet file, or a damaged one; write it again, or take it out of the folder"
            ) from None
        raise DataError(f"{name}: cannot be read: {reason_of(error)}") from None


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Turn what Spark raises while it writes into an error of ours.

    Raises
    ------
    OutputError: naming what cannot be written, and why.
    """
    classes = _raised()
    try:
        with _quiet():
            yield
    except OSError as error:
        raise OutputError(f"{name}: cannot be written: {error.strerror or error}") from None
    except classes as error:
        _refuse_memory(whole_text(error))
        raise OutputError(f"{name}: cannot be written: {reason_of(error)}") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Let Spark not warn of versions of pandas, which nothing here uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def whole_text(error: BaseException) -> str:
    """Return all that is told of an error, with the stack and the causes of one of Java's."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return str(error)
    told = [str(error)]
    while java is not None:
        told.append(str(java.toString()))
        java = java.getCause()
    return "\n".join(told)


def _refuse_memory(told: str) -> None:
    if any(each in told for each in _MEMORY):
        raise InputError(
            "engine.memory_limit: not enough for this input; allow more, such as 8GB, or set "
            "engine.options.spark.executor.memory on a cluster"
        ) from None
    if "spark.driver.maxResultSize" in told:
        raise InputError(
            "engine.options.spark.driver.maxResultSize: too small for the distinct combinations; set more, "
            "such as 4g, or fewer quasi-identifiers"
        ) from None


def _refuse_workers(told: str) -> None:
    lacking = _LACKING.search(told)
    if lacking is not None:
        raise InputError(
            f"engine spark: its workers have no Python package '{lacking[1]}'; run {installing('spark')} "
            f"there, with the version that is here, or name the Python that has it by {PYTHON}"
        ) from None
    if "PYTHON_VERSION_MISMATCH" in told or "Cannot run program" in told:
        raise InputError(
            f"engine spark: its workers need the version of Python that runs here; name it by {PYTHON}"
        ) from None


def _refuse_type(name: str, told: str) -> None:
    found = _TYPE.search(told)
    if found is not None:
        raise DataError(
            f"{name}: holds a column of type {found[1] or found[2]}, which Spark cannot read; write it as "
            "text, moments in microseconds, or set engine.name to duckdb"
        ) from None


def _raised() -> tuple[type[Exception], ...]:
    from py4j.protocol import Py4JError  # noqa: PLC0415 - comes with the extra
    from pyspark.errors import PySparkException  # noqa: PLC0415

    return PySparkException, Py4JError
