"""How much memory this process may use: of the machine, or of the container that it runs in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import duckdb

SYSTEM = Path("/")
"""Where the files of the system are."""

OF_MACHINE = 0.8
"""What DuckDB uses of the memory of a machine unless it is told otherwise."""

KIBIBYTES = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB")
"""Units of memory as DuckDB writes them, each 1024 of the one before."""


def memory_of_machine(system: Path = SYSTEM) -> int:
    """Return the bytes of memory that there are for this process and those beside it.

    Parameters
    ----------
    system: where the files of the system are.
    """
    return min([_physical(), *_of_containers(system)])


def parse_memory_setting(setting: str) -> int:
    """Return an amount of memory as DuckDB writes it, in bytes.

    >>> bytes_as_told("512 bytes"), bytes_as_told("1.5 KiB")
    (512, 1536)
    """
    number, unit = setting.split()
    return int(float(number) * 1024 ** KIBIBYTES.index(unit))


@cache
def _physical() -> int:
    """Return the bytes of the machine, on any system, from what DuckDB would use of them."""
    with duckdb.connect(":memory:") as connection:
        ((told,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
    return int(parse_memory_setting(str(told)) / OF_MACHINE)


def _of_containers(system: Path) -> Iterator[int]:
    """Give the limits of the control groups of this process and of those around them, of both versions."""
    try:
        lines = (system / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux, or hidden
        return
    mounted = system / "sys/fs/cgroup"
    for line in lines:
        if line.count(":") < 2:  # of a kernel that only looks like Linux
            continue
        number, controllers, group = line.split(":", 2)
        if "memory" in controllers.split(","):
            yield from _limits(mounted / "memory", group, "memory.limit_in_bytes")
        elif number == "0":
            yield from _limits(mounted, group, "memory.max")
            yield from _limits(mounted / "unified", group, "memory.max")


def _limits(mounted: Path, group: str, name: str) -> Iterator[int]:
    """Give the limits of a group and of all that it is in, as far as they can be seen from in here."""
    own = PurePosixPath(group.lstrip("/"))
    for each in (own, *own.parents):
        try:
            yield int((mounted / each / name).read_text(encoding="ascii"))
        except (OSError, ValueError):  # no such group in here, or no limit: "max"
            continue
