"""How much memory there is: of the machine, or of the control groups that this process is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from anonymizer.data.memory import memory_of_machine, parse_memory_setting

V2 = "0::/system.slice/own.scope\n"
V1 = "5:devices:/\n4:cpu,memory:/docker/abc\n0::/\n"


def system(tmp_path: Path, groups: str, limits: dict[str, str]) -> Path:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(groups)
    for name, text in limits.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("groups", "limits", "expected"),
    [
        (V2, {"system.slice/own.scope/memory.max": "5000000"}, 5_000_000),
        # A group may use no more than the one that it is in.
        (V2, {"system.slice/own.scope/memory.max": "max", "system.slice/memory.max": "7000000"}, 7_000_000),
        (V2, {"system.slice/own.scope/memory.max": "9000000", "memory.max": "8000000"}, 8_000_000),
        # What a container sees of itself: its own group is the root of what is mounted.
        ("0::/\n", {"memory.max": "6000000"}, 6_000_000),
        (V1, {"memory/docker/abc/memory.limit_in_bytes": "4000000"}, 4_000_000),
        (V1, {"memory/memory.limit_in_bytes": "3000000"}, 3_000_000),
    ],
)
def test_limits_of_containers(tmp_path: Path, groups: str, limits: dict[str, str], expected: int) -> None:
    assert memory_of_machine(system(tmp_path, groups, limits)) == expected


@pytest.mark.parametrize(
    ("groups", "limits"),
    [
        (V2, {"memory.max": "max"}),
        (V1, {"memory/memory.limit_in_bytes": str(2**63 - 4096)}),
        (V2, {}),
        ("\nno groups\n", {"memory.max": "6000000"}),
    ],
)
def test_without_a_limit_it_is_the_machine_s(tmp_path: Path, groups: str, limits: dict[str, str]) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    whole = memory_of_machine(nothing)
    assert memory_of_machine(system(tmp_path, groups, limits)) == whole
    assert 100 * 1024**2 < whole < 2**50


def test_amounts_as_the_database_tells_them() -> None:
    assert [parse_memory_setting(text) for text in ("0 bytes", "1.0 KiB", "2.5 GiB")] == [0, 1024, 5 * 2**29]
