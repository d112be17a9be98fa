"""What keeps Spark's driver small, without starting it."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.data_spark.options import DEFAULT_JAVA, EXTRA_JAVA, KEPT, LEAST_HEAP, SparkOptions

CLUSTER = "local-cluster[2,1,1024]"
HEAP = "1000MiB"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("MASTER", "SPARK_CONF", "SPARK_CONF_DIR", "SPARK_HOME", "MALLOC_ARENA_MAX")
    for name in (*names, "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"):
        monkeypatch.delenv(name, raising=False)


def given(master: str | None = CLUSTER, limit: str | None = HEAP, **settings: str) -> dict[str, str]:
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return SparkOptions(master, named, limit).properties(Path("/scratch"))


@pytest.mark.parametrize("master", [CLUSTER, "spark://host:7077", "yarn", "k8s://https://host"])
def test_a_driver_of_a_cluster_stays_small(master: str) -> None:
    found = given(master)
    assert found["spark.driver.memory"] == "1000m"
    assert "-Xmn100m" in found[DEFAULT_JAVA]
    assert "-XX:+UseSerialGC" in found[DEFAULT_JAVA]
    assert KEPT.items() <= found.items()


@pytest.mark.parametrize("master", [None, "local", "local[*]", "local[4, 2]"])
def test_a_driver_that_does_the_work_is_left_as_spark_has_it(master: str | None) -> None:
    found = given(master)
    assert found["spark.driver.memory"] == "1000m"
    assert DEFAULT_JAVA not in found
    assert not KEPT.keys() & found.keys()
    assert "MALLOC_ARENA_MAX" not in SparkOptions(master, {}, HEAP).environment


def test_without_a_limit_spark_decides() -> None:
    found = given(limit=None)
    assert "spark.driver.memory" not in found
    assert DEFAULT_JAVA not in found
    assert not KEPT.keys() & found.keys()


def test_the_heap_is_never_too_small_to_start() -> None:
    assert given(limit="1MB")["spark.driver.memory"] == f"{LEAST_HEAP}m"


def test_settings_of_the_user_win() -> None:
    kept = {
        "spark_driver_memory": "2g",
        "spark_ui_retainedJobs": "7",
        "spark_driver_defaultJavaOptions": "-Da=b",
    }
    found = given(**kept)
    assert found["spark.driver.memory"] == "2g"
    assert found["spark.ui.retainedJobs"] == "7"
    assert found[DEFAULT_JAVA] == "-Da=b"


def test_options_of_java_are_joined_with_those_of_the_user() -> None:
    found = given(spark_driver_extraJavaOptions="-Xmn200m")
    assert found[EXTRA_JAVA] == "-Xmn200m"
    assert "-Xmn100m" in found[DEFAULT_JAVA]


def test_there_are_no_two_garbage_collectors(monkeypatch: pytest.MonkeyPatch) -> None:
    found = given(spark_driver_extraJavaOptions="-Da=b -XX:+UseG1GC")
    assert DEFAULT_JAVA not in found
    assert KEPT.items() <= found.items()
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+UseZGC")
    assert DEFAULT_JAVA not in given()


@pytest.mark.parametrize("what", ["default", "extra"])
@pytest.mark.parametrize("place", ["SPARK_CONF", "SPARK_CONF_DIR", "SPARK_HOME", "file"])
def test_options_of_java_in_files_of_spark_stand(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: str, what: str
) -> None:
    folder = tmp_path / "conf" if place == "SPARK_HOME" else tmp_path
    folder.mkdir(exist_ok=True)
    path = folder / "spark-defaults.conf"
    name, value = ("SPARK_CONF", path) if place == "file" else (place, tmp_path)
    monkeypatch.setenv(name, str(value))
    path.write_text(f"spark.driver.cores 1\n  spark.driver.{what}JavaOptions=-Da=b\n")
    assert DEFAULT_JAVA not in given()
    path.write_text("# spark.driver.extraJavaOptions -Da=b\nspark.executor.extraJavaOptions -Da=b\n")
    assert DEFAULT_JAVA in given()


def test_variables_of_the_user_win(monkeypatch: pytest.MonkeyPatch) -> None:
    options = SparkOptions(CLUSTER, {}, HEAP)
    assert options.environment["MALLOC_ARENA_MAX"] == "2"
    monkeypatch.setenv("MALLOC_ARENA_MAX", "5")
    assert "MALLOC_ARENA_MAX" not in options.environment
