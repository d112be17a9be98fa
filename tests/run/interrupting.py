"""Commands in a process of their own that are interrupted where they say how far they are."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

from tests.run.commands import ROOT, Done, Job

Process = subprocess.Popen[str]


def interrupted(module: str, job: Job, after: Sequence[str], interrupt: Callable[[Process], None]) -> Done:
    """Run a job in a process of its own, and interrupt it.

    Parameters
    ----------
    module: of the command, which is run with the file of the job.
    after: beginnings of lines on stderr that are waited for, one after the other.
    interrupt: called after each of them.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, "run", str(job.file)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    seen = []
    for beginning in after:
        for line in process.stderr:
            seen.append(line)
            if line.startswith(beginning):
                break
        interrupt(process)
    out, err = process.communicate(timeout=60)
    return Done(process.returncode, out, "".join(seen) + err)


def once(process: Process) -> None:
    """Interrupt a process as Ctrl-C does."""
    process.send_signal(signal.SIGINT)
