"""The one Spark session of a process: its Java, its start, and its failures as messages.

Spark is started within a time limit and off the terminal. A message names the file or the setting at fault.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import socket
import subprocess
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.data.memory import SpillFolder
from anonymizer.data_spark.options import EVERY_CORE, SparkOptions
from anonymizer.distribution import installing
from anonymizer.errors import DataError, InputError, OutputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST = 17
"""Version of Java from which on Spark 4 runs."""

SECONDS = 60
"""For Java to tell its version."""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_REMEDY = (
    f"install Java {OLDEST} or later (such as the package openjdk-17-jre-headless), or set JAVA_HOME to it"
)


def check_java() -> None:
    """Check that there is a Java for Spark.

    Raises
    ------
    InputError: there is none, or one that is too old.
    """
    java = _java()
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"engine spark: {java} cannot be run: {error}; {_REMEDY}") from None
    found = _VERSION.search(told.stderr + told.stdout)
    if found is None:
        raise InputError(f"engine spark: {java} does not tell its version; {_REMEDY}")
    if int(found[1]) < OLDEST:
        raise InputError(f"engine spark: {java} is Java {found[1]}, too old; {_REMEDY}")


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    if home:
        path = Path(home) / "bin" / "java"
        if not path.is_file():
            raise InputError(f"engine spark: JAVA_HOME is {home}, which has no bin/java; {_REMEDY}")
        return str(path)
    found = shutil.which("java")
    if found is None:
        raise InputError(f"engine spark: Java is not installed; {_REMEDY}")
    return found


CONNECT_SECONDS = 10.0
"""For a standalone master to accept a connection."""

START_SECONDS = 300.0
"""For Spark to start and for a cluster to give the first process that works."""

END_SECONDS = 20.0
"""For the process of Java to end by itself."""

STANDALONE_PORT = 7077
"""Of a standalone master where the address has none."""


def start(options: SparkOptions, scratch: Path) -> SparkSession:
    """Start Spark and let it do something, so that it surely works.

    Parameters
    ----------
    scratch: a folder for what it keeps on this machine's disk, its log among it.

    Raises
    ------
    InputError: the extra or Java is missing, the master cannot be reached, or nothing works in time.
    """
    launch = _Launch(options, scratch, *_classes())
    logging.getLogger().addFilter(_not_of_py4j)
    # Spark says so of versions of pandas, which nothing here hands it, whenever it first looks.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    check_java()
    check_master(options.resolved_master())
    _check_reachable(options.resolved_master())
    # A thread, because Spark waits for some masters without end, and takes Ctrl-C for itself in the main one.
    threading.Thread(target=launch.run, daemon=True).start()
    try:
        done = launch.done.wait(START_SECONDS)
    except BaseException:
        launch.abandon()
        raise
    if launch.spark is not None:
        return launch.spark
    error = launch.error
    if isinstance(error, InputError):
        launch.abandon()
        raise error
    why = launch.reason(error) if done and error is not None else f"nothing works after {START_SECONDS:.0f} s"
    launch.abandon()
    raise InputError(
        f"engine.options.master: {launch.master}: {why}; check the address, and that the cluster has free "
        "workers"
    )


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Tell whether a message is to be printed: Py4J logs each Ctrl-C with a stack, by everybody's logger."""
    return record.module != "java_gateway"


_own: list[Any] = []
"""Connections to processes of Java that were started here."""


def end(spark: SparkSession) -> None:
    """Stop Spark, and the process of Java if it was started here.

    A next Spark in that process would go on with the folders and the memory of the one before.
    """
    context = spark.sparkContext
    gateway = context._gateway
    with suppress(Exception):
        context.cancelAllJobs()
    with suppress(Exception):
        spark.stop()
    if gateway not in _own:
        return
    _end_own(gateway, type(context), type(spark))


def _end_own(gateway: Any, context: Any, session: Any) -> None:
    """End a process of Java that was started here, and let the next Spark start one of its own."""
    with suppress(ValueError):
        _own.remove(gateway)
    with suppress(Exception):
        gateway.shutdown()
    _wait_for(gateway.proc)
    context._gateway = context._jvm = context._active_spark_context = None
    session._instantiatedSession = None


def _wait_for(java: subprocess.Popen[bytes]) -> None:
    """Wait until a process of Java has ended, which it does when nobody can write to it any more."""
    if java.stdin is not None:
        with suppress(OSError):
            java.stdin.close()
    try:
        java.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        java.kill()
        java.wait()


class _Launch:
    """One attempt to start Spark.

    Attributes
    ----------
    spark: once it works.
    error: why it does not.
    done: set when it works or does not.
    master: that is tried.
    """

    def __init__(
        self, options: SparkOptions, scratch: Path, conf: Any, context: Any, gateway: Any, session: Any
    ) -> None:
        self._options = options
        self._asked = list(options.properties(scratch).items())
        self._log = scratch / "spark.log"
        self._conf, self._context, self._launch_gateway, self._session = conf, context, gateway, session
        self._gateway: Any = None
        self._given_up = False
        self.spark: SparkSession | None = None
        self.error: Exception | None = None
        self.done = threading.Event()
        self.master = options.resolved_master() or "the master of Spark's files"

    def run(self) -> None:
        """Start it, and note what came of it."""
        try:
            spark = self._started()
            spark.range(1).count()
            self.spark = spark
        except Exception as error:  # whatever Spark, Java or a cluster says
            self.error = error
        finally:
            self.done.set()

    def _started(self) -> SparkSession:
        with self._log.open("wb") as log, _submit_arguments(), _environment(self._options.environment):
            conf = self._conf(loadDefaults=False).setAll(self._asked)
            running = self._context._gateway
            streams = {"stdout": log, "stderr": log}
            self._gateway = running or self._launch_gateway(conf, popen_kwargs=streams)
            if running is None:
                _own.append(self._gateway)
        if self._given_up:
            self.abandon()
        whole = self._conf(_jvm=self._gateway.jvm).setAll(self._asked)
        if not whole.contains("spark.master"):
            whole.setMaster(EVERY_CORE)
        self.master = str(whole.get("spark.master"))
        spark: SparkSession = self._session(self._context(conf=whole, gateway=self._gateway))
        for name, value in self._asked:
            # A second session of one process has the static settings of the first.
            if name.startswith("spark.sql."):
                with suppress(Exception):
                    spark.conf.set(name, value)
        return spark

    def abandon(self) -> None:
        """End what was started here, or is about to be; a Java that ran already is not ours to end."""
        self._given_up = True
        if self._gateway not in _own:
            return
        self._gateway.proc.kill()
        _end_own(self._gateway, self._context, self._session)

    def reason(self, error: Exception) -> str:
        """Return what went wrong in one line: the last error that Java tells, or Python's."""
        with suppress(OSError):
            lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
            telling = [
                line.strip().removeprefix("Caused by: ")
                for line in lines
                if line.startswith(("Error", "Exception", "Caused by")) or "Exception: " in line
            ]
            if telling:
                return telling[-1]
        return str(error).strip().split("\n", 1)[0]


def _classes() -> tuple[Any, Any, Callable[..., Any], Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pyarrow  # noqa: F401, PLC0415 - what Spark and this process exchange
            from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - 0.4 s that only this engine needs
            from pyspark.java_gateway import launch_gateway  # noqa: PLC0415
            from pyspark.sql import SparkSession  # noqa: PLC0415
    except ImportError as error:
        raise InputError(f"engine spark: {error.name} is not installed; run: {installing('spark')}") from None
    return SparkConf, SparkContext, launch_gateway, SparkSession


def check_master(master: str | None) -> None:
    """Check that a master is of a kind that Spark knows, which Spark itself tells only after it has started.

    Raises
    ------
    InputError: naming the master, and the kinds there are.
    """
    if master is None or master == "yarn" or master.startswith(("local", "spark://", "k8s://")):
        return
    raise InputError(
        f"engine.options.master: {master}; accepted: local[4], local[*], "
        f"spark://host:{STANDALONE_PORT}, yarn or k8s://…"
    )


def _check_reachable(master: str | None) -> None:
    """Check that a standalone master listens, which Spark itself would ask for a minute."""
    scheme, _, rest = (master or "").partition("://")
    if scheme != "spark":
        return
    problems = []
    for address in rest.split(","):
        host, _, port = address.rpartition(":")
        try:
            with socket.create_connection((host or address, int(port or STANDALONE_PORT)), CONNECT_SECONDS):
                return
        except (OSError, ValueError) as error:
            problems.append(f"{address}: {error}")
    raise InputError(
        f"engine.options.master: {master} cannot be reached ({'; '.join(problems)}); check the address, and "
        "that the master runs"
    )


@contextmanager
def _submit_arguments() -> Iterator[None]:
    """Let Spark read the settings that SPARK_CONF names: a file of properties, or a folder with its files."""
    given = os.environ.get("SPARK_CONF")
    if not given:
        yield
        return
    path = Path(given)
    if path.is_dir():
        name, value = "SPARK_CONF_DIR", str(path)
    elif path.is_file():
        name, value = "PYSPARK_SUBMIT_ARGS", f"--properties-file {shlex.quote(str(path))} pyspark-shell"
    else:
        raise InputError(
            f"SPARK_CONF: {given}: no such file; accepted: a properties file of Spark, or a folder"
        )
    with _environment({name: value}):
        yield


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Let processes that are started meanwhile have some variables."""
    before = dict(os.environ)
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name in wanted:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]


class Session:
    """A Spark that is shared by all who opened it, and stopped when the last of them closes it.

    Parameters
    ----------
    options: how it is started.

    Raises
    ------
    InputError: the extra or Java is missing, the master cannot be reached, or there is no folder for what it
        keeps on disk.
    """

    def __init__(self, options: SparkOptions) -> None:
        self.options = options
        self.users = 0
        self._spill = SpillFolder(options.temp_directory)
        self._scratch = self._spill.path
        try:
            self.spark: SparkSession = start(options, self._scratch)
        except BaseException:
            self._spill.remove()
            raise

    @property
    def jvm(self) -> Any:
        """Spark's own classes, for files on whatever file system they are."""
        return self.spark._jvm

    @property
    def hadoop(self) -> Any:
        """The settings of Hadoop, which file systems are found by."""
        return self.spark._jsc.hadoopConfiguration()

    def file_system(self, location: str) -> tuple[Any, Any]:
        """Return Hadoop's file system of a location, and its path there."""
        path = self.jvm.org.apache.hadoop.fs.Path(location)
        return path.getFileSystem(self.hadoop), path

    def stop(self) -> None:
        """End it, with all that it keeps on disk."""
        end(self.spark)
        self._spill.remove()


_open: list[Session] = []


def open_session(options: SparkOptions) -> Session:
    """Return the running Spark, started where there is none; every call needs one of ``close_session``.

    Raises
    ------
    InputError: it cannot be started, or one runs already that was started otherwise.
    """
    if not _open:
        _open.append(Session(options))
    session = _open[0]
    if session.options != options:
        raise InputError(
            "engine.options: Spark runs in this process already, with other options; end it first"
        )
    session.users += 1
    return session


def close_session(session: Session) -> None:
    """Give one use of a session back; the last one stops it."""
    session.users -= 1
    if session.users <= 0 and session in _open:
        _open.remove(session)
        session.stop()


def reason_of(error: Exception) -> str:
    """Return the first line of what Spark or Java says."""
    told = str(error)
    java = getattr(error, "java_exception", None)
    if java is not None:
        told = str(java.getMessage() or java.toString())
    return told.strip().split("\n", 1)[0]


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
