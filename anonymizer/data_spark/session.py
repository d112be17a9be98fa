"""The one Spark session of a process: its Java, its start, and messages about its failures.

Spark has to start within a time limit, and prints nothing on the terminal.
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
"""Oldest version of Java that runs Spark 4."""

SECONDS = 60
"""Time limit for Java to print its version."""

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')
_REMEDY = (
    f"install Java {OLDEST} or later (such as the package openjdk-17-jre-headless), or set JAVA_HOME to its "
    "folder"
)


def check_java() -> None:
    """Check that Java is installed, and new enough for Spark.

    Raises
    ------
    InputError: it is not.
    """
    java = _java()
    try:
        printed = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"engine spark: {java} cannot be run: {error}; {_REMEDY}") from None
    found = _VERSION.search(printed.stderr + printed.stdout)
    if found is None:
        raise InputError(f"engine spark: {java} does not print its version; {_REMEDY}")
    if int(found[1]) < OLDEST:
        raise InputError(f"engine spark: {java} is Java {found[1]}, which is too old; {_REMEDY}")


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
"""Time limit for a standalone master to accept a connection."""

START_SECONDS = 300.0
"""Time limit for Spark to start and for a cluster to provide the first worker."""

END_SECONDS = 20.0
"""Time limit for the Java process to end before it is killed."""

STANDALONE_PORT = 7077
"""Default port of a standalone master."""


def start(options: SparkOptions, scratch: Path) -> SparkSession:
    """Start Spark and run a first job.

    Parameters
    ----------
    scratch: folder for its log and its temporary files on this machine.

    Raises
    ------
    InputError: the extra or Java is missing, the master cannot be reached, or nothing works in time.
    """
    launch = _Launch(options, scratch, *_classes())
    logging.getLogger().addFilter(_not_of_py4j)
    # Spark warns about the version of pandas, although it gets no pandas data here.
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    check_java()
    check_master(options.resolved_master())
    _check_reachable(options.resolved_master())
    # A thread, as Spark waits for some masters forever, and handles Ctrl-C itself in the main thread.
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
    why = launch.reason(error) if done and error is not None else f"no worker after {START_SECONDS:.0f} s"
    launch.abandon()
    raise InputError(
        f"engine.options.master: {launch.master}: {why}; check the address, and that the cluster has free "
        "workers"
    )


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Return whether to print a message: Py4J logs each Ctrl-C with a stack, by the root logger."""
    return record.module != "java_gateway"


_own: list[Any] = []
"""Connections to Java processes started by this process."""


def end(spark: SparkSession) -> None:
    """Stop Spark, and its Java process if this process started it.

    The next Spark in that Java process would reuse folders and memory of this one.
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
    """End a Java process of this process, so that the next Spark starts a new one."""
    with suppress(ValueError):
        _own.remove(gateway)
    with suppress(Exception):
        gateway.shutdown()
    _wait_for(gateway.proc)
    context._gateway = context._jvm = context._active_spark_context = None
    session._instantiatedSession = None


def _wait_for(java: subprocess.Popen[bytes]) -> None:
    """Close the input of a Java process, on which it ends, and wait for its end."""
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
    spark: the session, once it works.
    error: reason of the failure.
    done: set on success and on failure.
    master: the one that is tried.
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
        """Start it, and set ``spark`` or ``error``."""
        try:
            spark = self._started()
            spark.range(1).count()
            self.spark = spark
        except Exception as error:  # Spark, Java and clusters raise anything
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
            # A second session of the process would keep the SQL settings of the first.
            if name.startswith("spark.sql."):
                with suppress(Exception):
                    spark.conf.set(name, value)
        return spark

    def abandon(self) -> None:
        """End what this process has started or is starting; a Java process that ran before goes on."""
        self._given_up = True
        if self._gateway not in _own:
            return
        self._gateway.proc.kill()
        _end_own(self._gateway, self._context, self._session)

    def reason(self, error: Exception) -> str:
        """Return the reason of a failure in one line: the last error in Java's log, or Python's."""
        with suppress(OSError):
            lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
            errors = [
                line.strip().removeprefix("Caused by: ")
                for line in lines
                if line.startswith(("Error", "Exception", "Caused by")) or "Exception: " in line
            ]
            if errors:
                return errors[-1]
        return str(error).strip().split("\n", 1)[0]


@contextmanager
def needing() -> Iterator[None]:
    """Replace the error of an import in the block by one that says what to install.

    Raises
    ------
    InputError: the extra is missing.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ImportError as error:
        raise InputError(f"engine spark: {error.name} is not installed; {installing('spark')}") from None


def _classes() -> tuple[Any, Any, Callable[..., Any], Any]:
    with needing():
        import pyarrow  # noqa: F401, PLC0415 - for the exchange with Spark
        from pyspark import SparkConf, SparkContext, java_gateway, sql  # noqa: PLC0415 - takes 0.4 s
    return SparkConf, SparkContext, java_gateway.launch_gateway, sql.SparkSession


def check_master(master: str | None) -> None:
    """Check that Spark knows the kind of a master; Spark itself checks it only after its start.

    Raises
    ------
    InputError: it does not.
    """
    if master is None or master == "yarn" or master.startswith(("local", "spark://", "k8s://")):
        return
    raise InputError(
        f"engine.options.master: {master}; accepted: local[4], local[*], "
        f"spark://host:{STANDALONE_PORT}, yarn or k8s://…"
    )


def _check_reachable(master: str | None) -> None:
    """Check that a standalone master listens; Spark itself would try for a minute."""
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
    """Let Spark read the settings in SPARK_CONF: a properties file, or a folder with Spark's files."""
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
    """Set environment variables for processes that are started in the block."""
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
    """A Spark that all relations share; the last one that closes it stops it.

    Parameters
    ----------
    options: for its start.

    Raises
    ------
    InputError: the extra or Java is missing, the master cannot be reached, or no folder can be made for
        temporary files.
    """

    def __init__(self, options: SparkOptions) -> None:
        self.options = options
        self.users = 0
        self._spill = SpillFolder(options.temp_directory)
        try:
            self.spark: SparkSession = start(options, self._spill.path)
        except BaseException:
            self._spill.remove()
            raise

    @property
    def jvm(self) -> Any:
        """The classes of Spark and Hadoop in Java."""
        return self.spark._jvm

    @property
    def hadoop(self) -> Any:
        """The settings of Hadoop, file systems among them."""
        return self.spark._jsc.hadoopConfiguration()

    def file_system(self, location: str) -> tuple[Any, Any]:
        """Return Hadoop's file system of a location, and its path there."""
        path = self.jvm.org.apache.hadoop.fs.Path(location)
        return path.getFileSystem(self.hadoop), path

    def stop(self) -> None:
        """End Spark and remove its temporary files."""
        end(self.spark)
        self._spill.remove()


_open: list[Session] = []


def open_session(options: SparkOptions) -> Session:
    """Return the running Spark, or start it; each call needs a call of ``close_session``.

    Raises
    ------
    InputError: it cannot be started, or it runs with other options.
    """
    if not _open:
        _open.append(Session(options))
    session = _open[0]
    if session.options != options:
        raise InputError(
            "engine.options: Spark already runs in this process with other options; end it first"
        )
    session.users += 1
    return session


def close_session(session: Session) -> None:
    """Close a session that ``open_session`` returned; the last call stops Spark."""
    session.users -= 1
    if session.users <= 0 and session in _open:
        _open.remove(session)
        session.stop()


def reason_of(error: Exception) -> str:
    """Return the first line of a message of Spark or Java."""
    java = getattr(error, "java_exception", None)
    message = str(error) if java is None else str(java.getMessage() or java.toString())
    return message.strip().split("\n", 1)[0]


_PATH = re.compile(r"((?:[a-z0-9+.-]+):/[^\s,;'\"]+)")
_TYPE = re.compile(r"Illegal Parquet type: (.+?)\.? SQLSTATE|The data type (\w+) is not supported")
_DAMAGED = ("FAILED_READ_FILE", "not a Parquet file", "MALFORMED_RECORD")
_MEMORY = ("java.lang.OutOfMemoryError", "Java heap space", "GC overhead limit exceeded")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn errors of Spark while it reads an input into errors of this package.

    Parameters
    ----------
    name: of the input in messages.

    Raises
    ------
    DataError: the input, or a file of it, cannot be read.
    InputError: the memory limit is too low.
    """
    classes = _raised()
    try:
        with _quiet():
            yield
    except classes as error:
        text = whole_text(error)
        _refuse_memory(text)
        kind = _TYPE.search(text)
        if kind is not None:
            raise DataError(
                f"{name}: has a column of type {kind[1] or kind[2]}, which Spark cannot read; write it as "
                "text or, if it holds times, in microseconds; or set engine.name: duckdb"
            ) from None
        if any(each in text for each in _DAMAGED):
            found = _PATH.search(text)
            file = found[1].rstrip(".") if found else name
            raise DataError(
                f"{file}: not a Parquet file, or a damaged one; write it again, or take it out of the folder"
            ) from None
        raise DataError(f"{name}: cannot be read: {reason_of(error)}") from None


@contextmanager
def writing(name: str) -> Iterator[None]:
    """Turn errors of Spark while it writes into errors of this package.

    Parameters
    ----------
    name: of the release in messages.

    Raises
    ------
    OutputError: the release cannot be written.
    InputError: the memory limit is too low.
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
    """Silence Spark's warnings about versions of pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def whole_text(error: BaseException) -> str:
    """Return the whole text of an error, with the causes of a Java exception."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return str(error)
    texts = [str(error)]
    while java is not None:
        texts.append(str(java.toString()))
        java = java.getCause()
    return "\n".join(texts)


def _refuse_memory(text: str) -> None:
    if any(each in text for each in _MEMORY):
        raise InputError(
            "engine.memory_limit: too low for this input; raise it, for example to 8GB, or raise "
            "engine.options.spark.executor.memory on a cluster"
        ) from None
    if "spark.driver.maxResultSize" in text:
        raise InputError(
            "engine.options.spark.driver.maxResultSize: too low for the distinct rows; raise it, for example "
            "to 4g, or use fewer quasi-identifiers"
        ) from None


def changed(name: str) -> DataError:
    """Return the error for an input that changed between two readings."""
    return DataError(f"{name}: changed while it was being read; run again when no other program writes to it")


def _raised() -> tuple[type[Exception], ...]:
    from py4j.protocol import Py4JError  # noqa: PLC0415 - comes with the extra
    from pyspark.errors import PySparkException  # noqa: PLC0415

    return PySparkException, Py4JError
