"""A file that is not what the search promised is never released."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.release.publishable import FromRecords, FromTable
from tests.flow.commands import Job, call, snapshot
from tests.flow.tampering import TAMPERS, Tamper, lying


@pytest.mark.parametrize("existing", [False, True], ids=["first", "with a release"])
@pytest.mark.parametrize("tamper", TAMPERS, ids=lambda tamper: tamper.__name__)
def test_a_file_written_otherwise_is_found_out(
    tamper: Tamper, existing: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(tmp_path).write()
    if existing:
        assert call("run", job.file).code == 0
    before = snapshot(tmp_path)
    for kind in (FromRecords, FromTable):
        monkeypatch.setattr(kind, "write", lying(kind.write, tamper))
    done = call("run", job.file, "--overwrite")
    assert (done.code, done.out) == (1, "")
    assert done.err.count("error: ") == 1
    assert "release.csv" in done.err
    assert "Traceback" not in done.err
    assert snapshot(tmp_path) == before
