"""The program of a worker process: one run, whose release does not outlive it.

It reads one line of JSON from standard input, the job, and writes one to standard output, how the run ended.
Standard input stays open as long as whoever started it lives; at its end the run is given up.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, TextIO

from anonymizer.config.load import load_config
from anonymizer.config.model import Config, Origin
from anonymizer.flow.comparing.ended import run_to_result
from anonymizer.flow.run import run

PATIENCE = 5.0
"""Seconds for cleaning up when whoever started the run is gone."""


def job_of(config: Config, folder: Path) -> dict[str, Any]:
    """Return the job of a run.

    Parameters
    ----------
    folder: where its release may stand until it was verified.
    """
    return {
        "config": config.to_dict(),
        "name": config.source,
        "beside": str(config.folder.absolute()),
        "folder": str(folder),
    }


def main() -> None:
    """Do the run that standard input asks for."""
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with, args=(sys.stdin,), daemon=True).start()
    answer = _own_output()
    config = load_config(job["config"]).located(Origin(job["name"], Path(job["beside"])))
    with tempfile.TemporaryDirectory(dir=job["folder"]) as folder:
        found = run_to_result(lambda: run(config, Path(folder) / "release"))
    with answer:
        json.dump(found.to_dict(), answer)


def _own_output() -> TextIO:
    """Return standard output for the answer alone; what libraries print there goes to standard error."""
    own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return own


def _end_with(stream: TextIO) -> None:
    """Wait for the end of a stream, then end this process, by force if it takes long."""
    stream.read()
    _thread.interrupt_main()
    threading.Event().wait(PATIENCE)
    os._exit(1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(1)
