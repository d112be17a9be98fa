"""A DuckDB database of this process."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb

from anonymizer.engines.base import EngineOptions
from anonymizer.errors import InputError

T = TypeVar("T")

POLL = 0.05
"""Seconds between two looks at whether the user wants to stop."""


class Database:
    """A database in memory that neither reads the network nor leaves anything on disk.

    Parameters
    ----------
    options: its limits.

    Raises
    ------
    InputError: DuckDB does not accept one of the options.
    """

    def __init__(self, options: EngineOptions) -> None:
        try:
            spill = tempfile.mkdtemp(prefix="anonymizer-", dir=options.temp_directory)
        except OSError as error:
            raise InputError(
                f"engine.options.temp_directory: {options.temp_directory}: {error.strerror}; accepted: "
                "a folder that can be written to"
            ) from None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="duckdb")
        self._remove_spill = weakref.finalize(self, shutil.rmtree, spill, ignore_errors=True)
        config: dict[str, Any] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": spill,
        }
        if options.memory_limit is not None:
            config["memory_limit"] = options.memory_limit
        if options.threads is not None:
            config["threads"] = options.threads
        try:
            self._connection = duckdb.connect(":memory:", config=config)
        except duckdb.Error as error:
            self._remove_spill()
            reason = str(error).split("\n", 1)[0]
            raise InputError(
                f"engine: {reason}; accepted: memory_limit such as 4GB, threads from 1"
            ) from None

    def run(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Execute a statement.

        Raises
        ------
        InputError: the memory does not suffice.
        KeyboardInterrupt: the user stopped it.
        """
        self._finished(lambda: self._connection.execute(statement, parameters).fetchall())

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query; raises as ``run`` does."""
        return self._finished(lambda: self._connection.execute(query).fetchall())

    def arrays(self, query: str) -> dict[str, Any]:
        """Return the columns of a query by name; raises as ``run`` does."""
        return self._finished(lambda: self._connection.execute(query).fetchnumpy())

    @contextmanager
    def holding(self, name: str, arrays: Mapping[str, Any]) -> Iterator[None]:
        """Let arrays of equal length be known as a table."""
        self._connection.register(name, dict(arrays))
        try:
            yield
        finally:
            self._connection.unregister(name)

    @contextmanager
    def holding_stream(self, name: str, stream: Any) -> Iterator[None]:
        """Let a stream of Arrow record batches be known as a table, which can be read once."""
        self._connection.register(name, stream)
        try:
            yield
        finally:
            self._connection.unregister(name)

    def close(self) -> None:
        """Give back memory and temporary files; a second call does nothing."""
        self._worker.shutdown()
        self._connection.close()
        self._remove_spill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _finished(self, call: Callable[[], T]) -> T:
        """Return the result of a call that works in a thread of its own; this one can be interrupted."""
        future = self._worker.submit(call)
        try:
            # A wait without end is not ended by a signal that some other library (polars) catches first.
            while not future.done():
                wait([future], timeout=POLL)
            return future.result()
        except KeyboardInterrupt:
            # A statement that is only about to start takes no notice, so once may not do.
            while not future.done():
                self._connection.interrupt()
                wait([future], timeout=POLL)
            raise
        except duckdb.OutOfMemoryException:
            raise InputError(
                "engine.memory_limit: not enough for this input; allow more, such as 8GB"
            ) from None
