"""Run a command and print what it took, as JSON; small, because a child inherits its parent's peak memory.

Started with the arguments of the command; prints seconds, CPU seconds, peak memory in bytes, exit code and
the end of what the command wrote to its standard error.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path


def main() -> None:
    with tempfile.TemporaryFile() as said, Path(os.devnull).open("wb") as nowhere:
        actions = [
            (os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, said.fileno(), 2),
        ]
        start = time.perf_counter()
        child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - start
        said.seek(0)
        text = said.read().decode(errors="replace")[-2000:]
    unit = 1 if sys.platform == "darwin" else 1024
    found = {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * unit,
        "code": os.waitstatus_to_exitcode(status),
        "said": text,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
