"""Standard output is off inside and on again after, whatever writes to it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from anonymizer.system import quiet_output


def test_nothing_is_written_inside(capfd: pytest.CaptureFixture[str]) -> None:
    os.write(1, b"before ")
    with quiet_output():
        os.write(1, b"inside ")
        os.write(2, b"error")
    os.write(1, b"after")
    assert capfd.readouterr() == ("before after", "error")


def test_an_exception_turns_it_on_again(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="own"), quiet_output():
        raise ValueError("own")
    os.write(1, b"after")
    assert capfd.readouterr().out == "after"


def test_the_last_thread_turns_it_on_again(capfd: pytest.CaptureFixture[str]) -> None:
    inside, leave = threading.Event(), threading.Event()

    def other() -> None:
        with quiet_output():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with quiet_output():
        thread.start()
        assert inside.wait(10)
    os.write(1, b"one still inside ")
    leave.set()
    thread.join()
    os.write(1, b"after")
    assert capfd.readouterr().out == "after"


def test_without_standard_output_nothing_happens() -> None:
    code = (
        "import os; os.close(1)\n"
        "from anonymizer.system import quiet_output\n"
        "with quiet_output(): pass\n"
        "os.write(2, b'done'); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, check=True)
    assert done.stderr == b"done"
