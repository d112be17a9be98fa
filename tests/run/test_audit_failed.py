"""A file that is not what the search promised is never released."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from anonymizer.data.duckdb.writers import DuckQuery
from anonymizer.errors import AuditFailed
from tests.run.commands import Job, call, snapshot
from tests.run.tampering import TAMPERS, Tamper, lying


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job with its release, which tests leave as it is."""
    job = Job(tmp_path_factory.mktemp("made"))
    assert job.run().code == 0
    return job


@pytest.mark.parametrize("existing", [False, True], ids=["first", "with a release"])
@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.__name__)
def test_a_file_written_otherwise_is_found_out(
    tamper: Tamper, existing: bool, made: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = made.copied(tmp_path) if existing else Job(tmp_path).write()
    before = snapshot(tmp_path)
    monkeypatch.setattr(DuckQuery, "copy", lying(DuckQuery.copy, tamper))
    done = call("run", job.file, "--overwrite")
    assert (done.code, done.out) == (1, "")
    assert done.err.count("error: ") == 1
    assert "error: verification failed, so nothing is released: " in done.err
    assert "release.csv" in done.err
    # No message names a temporary path, which is gone when you read it.
    assert done.err.count("release.csv") == done.err.count(str(job.release))
    assert done.err.endswith(". This is an error of the program, not of your data; please report it\n")
    assert "Traceback" not in done.err
    assert snapshot(tmp_path) == before


def test_a_failed_verification_reads_the_same_in_another_process() -> None:
    error = AuditFailed("release.csv: differs")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error).count("verification failed") == 1
