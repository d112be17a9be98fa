"""Spark that cannot be started: one clear message each, without starting it."""

from __future__ import annotations

import ast
import builtins
import inspect
import logging
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from anonymizer.data_spark import session
from anonymizer.data_spark.options import SparkOptions
from anonymizer.data_spark.session import _not_of_py4j, check_java, check_master, open_session
from anonymizer.distribution import installing
from anonymizer.errors import InputError
from tests.helpers.messages import exchange


def fake_java(folder: Path, script: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    return java


def told(options: SparkOptions) -> str:
    with pytest.raises(InputError) as refused:
        open_session(options)
    assert refused.value.exit_code == 2
    return str(refused.value)


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def without(name: str, *others: Any) -> Any:
        if name.partition(".")[0] == "pyspark":
            raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
        return original(name, *others)

    for module in [name for name in sys.modules if name.partition(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", without)
    assert told(SparkOptions("local[1]")) == (
        f"engine spark: pyspark is not installed; {installing('spark')}"
    )


PRIVATE = {
    "SparkContext": {"_gateway", "_jvm", "_active_spark_context"},
    "SparkSession": {"_instantiatedSession"},
    "of a session": {"_jvm", "_jsc"},
}
"""What ``data_spark.session`` asks of Spark's private parts, and no other module does."""


def test_private_parts_of_spark_are_as_expected() -> None:
    """Ending our own Java depends on them; where Spark renames one, setting it would silently do nothing."""
    pyspark, sql = pytest.importorskip("pyspark"), pytest.importorskip("pyspark.sql")
    launch = pytest.importorskip("pyspark.java_gateway").launch_gateway
    assert PRIVATE["SparkContext"] <= set(vars(pyspark.SparkContext))
    assert PRIVATE["SparkSession"] <= set(vars(sql.SparkSession))
    assert all(
        f"self.{name} = " in inspect.getsource(sql.SparkSession.__init__) for name in PRIVATE["of a session"]
    )
    assert "_jvm" in inspect.signature(pyspark.SparkConf).parameters
    assert "popen_kwargs" in inspect.signature(launch).parameters


def test_private_parts_of_spark_are_used_in_one_module() -> None:
    names = set().union(*PRIVATE.values())
    room = Path(session.__file__).parent
    used = {
        (path.name, node.attr)
        for path in room.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith(("_jvm", "_jsc", "_jdf", "_jspark", "_gateway", "_active_spark", "_inst"))
    }
    assert used == {("session.py", name) for name in names}


def test_py4j_does_not_print_an_interrupt(caplog: pytest.LogCaptureFixture) -> None:
    """It logs by the root logger, from this file."""
    said = "logging.exception('KeyboardInterrupt while sending command.')"
    root = logging.getLogger()
    root.addFilter(_not_of_py4j)
    try:
        exec(compile(said, "py4j/java_gateway.py", "exec"), {"logging": logging})
        logging.getLogger().error("told")
    finally:
        root.removeFilter(_not_of_py4j)
    assert caplog.messages == ["told"]


def test_missing_java_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, message: SnapshotAssertion
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError) as refused:
        check_java()
    assert exchange("no java on the path", refused.value) == message


def test_a_home_without_java_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, message: SnapshotAssertion
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError) as refused:
        check_java()
    assert exchange("an empty JAVA_HOME", refused.value, tmp_path) == message


@pytest.mark.parametrize(
    "printed", ['openjdk version "11.0.2" 2019-01-15', 'java version "1.8.0_292"', "what?"]
)
def test_a_wrong_java_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, printed: str, message: SnapshotAssertion
) -> None:
    fake_java(tmp_path, f"echo '{printed}' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError) as refused:
        check_java()
    assert exchange(printed, refused.value, tmp_path) == message


@pytest.mark.parametrize("version", ["17.0.15", "21.0.1", "25"])
def test_newer_java_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str) -> None:
    fake_java(tmp_path, f"""echo 'openjdk version "{version}"' >&2""")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check_java()


@pytest.mark.parametrize("master", ["locl", "cluster:7077", "spark:cluster", "mesos://cluster:5050"])
def test_a_master_of_no_kind_is_named_with_those_there_are(master: str) -> None:
    with pytest.raises(InputError) as refused:
        check_master(master)
    message = str(refused.value)
    assert message.startswith(f"engine.options.master: {master}; accepted: local[4], ")
    assert "spark://host:7077" in message


@pytest.mark.parametrize(
    "master",
    [
        None,
        "local",
        "local[*]",
        "local-cluster[2,1,1024]",
        "spark://a:7077,b:7077",
        "yarn",
        "k8s://https://host",
    ],
)
def test_every_kind_of_master_is_accepted(master: str | None) -> None:
    check_master(master)


@pytest.mark.spark(shared=False)
def test_an_unreachable_master_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    message = told(SparkOptions(master))
    assert f"engine.options.master: {master} cannot be reached" in message
    assert "check the address" in message


@pytest.mark.parametrize(
    "settings",
    [
        {"sparc.memory": "1g"},
        {"spark.sql.ansi.enabled": "false"},
        {"spark.sql.session.timeZone": "Europe/Paris"},
        {"spark.master": "yarn"},
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, str], message: SnapshotAssertion) -> None:
    with pytest.raises(InputError) as refused:
        SparkOptions(None, settings)
    assert exchange(settings, refused.value) == message


def test_what_answers_depend_on_is_always_set(tmp_path: Path) -> None:
    given = SparkOptions("yarn", {"spark.executor.memory": "2g"}).properties(tmp_path)
    assert given["spark.sql.ansi.enabled"] == "true"
    assert given["spark.sql.session.timeZone"] == "UTC"
    assert given["spark.executor.memory"] == "2g"
    assert given["spark.master"] == "yarn"
    assert "spark.driver.host" not in given


def test_what_runs_on_this_machine_listens_to_it_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("MASTER", "SPARK_CONF", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    alone = SparkOptions()
    assert alone.properties(tmp_path)["spark.master"] == "local[*]"
    assert alone.properties(tmp_path)["spark.driver.bindAddress"] == "127.0.0.1"
    assert alone.environment == {"SPARK_LOCAL_IP": "127.0.0.1"}
    monkeypatch.setenv("SPARK_CONF", str(tmp_path))
    assert SparkOptions().resolved_master() is None
    assert "spark.driver.bindAddress" not in SparkOptions().properties(tmp_path)
    assert SparkOptions("local-cluster[2,1,1024]").environment != {}
    assert SparkOptions("spark://host:7077").environment == {}
