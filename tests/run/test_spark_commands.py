"""Every command on what Spark reads: a folder of Parquet with partitions, by its URL; slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
import yaml

from anonymizer.commands.init import init
from anonymizer.data.open import open_file
from anonymizer.data_spark.options import SparkOptions
from anonymizer.data_spark.session import close_session, open_session
from anonymizer.errors import DataError
from tests.run.commands import call
from tests.run.spark_runs import PEOPLE
from tests.run.spark_runs import config as config_of
from tests.spark import SETTINGS

RECORDS = 300


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Run Spark as it is started for those who name nothing but a URL."""
    conf = tmp_path_factory.mktemp("conf") / "spark.conf"
    settings = {f"{'spark.' if name == 'master' else ''}{name}": value for name, value in SETTINGS.items()}
    conf.write_text("".join(f"{name} {str(value).lower()}\n" for name, value in settings.items()))
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SPARK_CONF", str(conf))
        session = open_session(SparkOptions())
        yield
        close_session(session)


def people(folder: Path) -> Path:
    query = f"SELECT *, 2020 + note % 3 AS year FROM ({PEOPLE.format(rows=RECORDS)})"
    duckdb.sql(f"COPY ({query}) TO '{folder}/people' (FORMAT parquet, PARTITION_BY (year))")
    return folder / "people"


def test_a_column_in_the_names_of_folders_is_not_lost_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'year=2020' are a column, which Spark reads; .* give file:///"):
        open_file(people(tmp_path))


@pytest.mark.spark(shared=False)
def test_from_a_folder_to_a_release_that_was_attacked(spark: None, tmp_path: Path) -> None:
    url, config = people(tmp_path).as_uri(), tmp_path / "people.yaml"
    written = config_of(tmp_path, {"name": "spark"}, attacks=[])
    written["input"]["path"] = url
    written["attributes"]["year"] = {"role": "quasi-identifier"}
    config.write_text(yaml.safe_dump(written))
    done = call("run", config, "-o", tmp_path / "out", "--json")
    assert done.code == 0, done.err
    assert done.json["input"]["rows"] == RECORDS
    release = tmp_path / "out" / "share" / "release.parquet"
    checked = call("check", url, "-c", config, "--json")
    assert checked.json["rows"] == RECORDS, checked.err
    named = call("check", release.as_uri(), "--qi", "age,zip", "--sensitive", "disease", "--json")
    assert named.json["rows"] == done.json["release"]["rows"], named.err
    config.write_text(yaml.safe_dump({**written, "attacks": ["vulnerability", "linkage"]}))
    attacked = call("attack", release, "-c", config, "--original", url, "--json")
    assert {"vulnerability", "linkage"} <= {each["attack"] for each in attacked.json["attacks"]}, attacked.err
    report = tmp_path / "out" / "share" / "report.public.json"
    audited = call("audit", release.as_uri(), "--report", report, "--json")
    assert audited.json["verified"], audited.json["findings"]


@pytest.mark.spark(shared=False)
def test_it_drafts_what_it_drafts_elsewhere(spark: None, tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    duckdb.sql(f"COPY ({PEOPLE.format(rows=RECORDS)}) TO '{whole}' (FORMAT parquet)")
    here = init(whole, tmp_path / "here.yaml").proposal
    there = init(Path(whole.as_uri()), tmp_path / "there.yaml").proposal
    written = yaml.safe_load((tmp_path / "there.yaml").read_text())
    path, url = (each.replace("file:///", "file:/") for each in (written["input"]["path"], whole.as_uri()))
    assert path == url
    assert written["engine"] == {"name": "spark"}
    run = call("run", tmp_path / "there.yaml", "-o", tmp_path / "out", "--set", "attacks=none", "--json")
    assert run.json["release"]["verified"], run.err
    for one, other in zip(here.columns, there.columns, strict=True):
        assert (one.proposed, one.draft) == (other.proposed, other.draft)
        assert one.facts.entropy == pytest.approx(other.facts.entropy)
    assert here.joint == there.joint
