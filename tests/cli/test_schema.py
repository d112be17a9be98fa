"""``anonymizer schema`` and the frame around all commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from anonymizer.cli import main as frame
from anonymizer.cli.main import COMMANDS, main
from anonymizer.cli.output import messages, write_error, write_json
from anonymizer.config.model import config_schema
from anonymizer.errors import AuditFailed, ConfigError, ConfigProblem, Interrupted

ROOT = Path(__file__).parents[2]


def call(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> tuple[str, str]:
    assert main(args) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.mark.quick(1)
@pytest.mark.parametrize("options", [(), ("--json",), ("--quiet",)])
def test_schema_prints_the_schema_and_nothing_else(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    out, err = call(capsys, "schema", *options)
    assert json.loads(out) == config_schema()
    assert err == ""


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = call(capsys, "--help")
    assert all(f"  {name} " in out for name in COMMANDS)
    assert "\x1b" not in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_in_plain_text(capsys: pytest.CaptureFixture[str], name: str) -> None:
    out, err = call(capsys, name, "--help")
    assert out.startswith(f"Usage: anonymizer {name} ")
    assert err == ""
    assert "\x1b" not in out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_short_option_for_help(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert call(capsys, name, "-h") == call(capsys, name, "--help")


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys) == call(capsys, "-h") == call(capsys, "--help")
    assert call(capsys, "hierarchy", "build", "-h")[0].startswith("Usage: anonymizer hierarchy build ")


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("anonymizer co", {"compare"}),
        ("anonymizer init --li", {"--limit"}),
        ("anonymizer hierarchy b", {"build"}),
        ("anonymizer run --col", {"--columns"}),
    ],
)
def test_completion(monkeypatch: pytest.MonkeyPatch, words: str, completed: set[str]) -> None:
    monkeypatch.setenv("_ANONYMIZER_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert set(run_python("-m", "anonymizer").stdout.split()) == completed


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = call(capsys, "--version")
    assert out.startswith("anonymizer ")


ALL = ", ".join(sorted(COMMANDS))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("schmea",), "error: no command 'schmea'; did you mean 'schema'? (help: anonymizer --help)\n"),
        (
            ("x",),
            f"error: no command 'x'; accepted: {ALL} (help: anonymizer --help)\n",
        ),
        (("schema", "x"), "error: got unexpected extra argument(s) (x) (help: anonymizer schema --help)\n"),
        (("schema", "--nope"), "error: no such option: --nope (help: anonymizer schema --help)\n"),
    ],
)
def test_wrong_usage_is_one_message_and_exit_2(
    capsys: pytest.CaptureFixture[str], args: tuple[str, ...], message: str
) -> None:
    out, err = call(capsys, *args, code=2)
    assert (out, err) == ("", message)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ConfigError("c.yaml", [ConfigProblem("k", "0")]), 2, "error: c.yaml has 1 problem\n  k: 0\n"),
        (
            AuditFailed("the file differs"),
            1,
            "error: verification failed, so nothing is released: the file differs. This is an error of the "
            "program, not of your data; please report it\n",
        ),
        (Interrupted("stopped"), 130, "error: stopped\n"),
    ],
)
def test_errors_become_a_message_and_their_exit_code(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    code: int,
    message: str,
) -> None:
    def failing(name: str) -> None:
        raise error

    monkeypatch.setattr(frame, "load_command", failing)
    out, err = call(capsys, "schema", code=code)
    assert (out, err) == ("", message)


def test_an_interrupt_is_exit_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(frame, "load_command", interrupted)
    assert "Traceback" not in call(capsys, "schema", code=130)[1]


def test_what_is_not_printable_is_escaped_in_errors(capsys: pytest.CaptureFixture[str]) -> None:
    write_error("column 'a\x1b[31m\u202eb'\nsecond line é")
    assert capsys.readouterr().err == "error: column 'a\\x1b[31m\\u202eb'\nsecond line é\n"


def test_json_output_never_holds_what_json_lacks() -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json({"gap": float("nan")})


@pytest.mark.parametrize("variables", [{}, {"NO_COLOR": "1"}, {"FORCE_COLOR": "1"}])
def test_messages_to_a_pipe_are_plain(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    messages(quiet=False).print("search [1/2]", style="bold red")
    assert capsys.readouterr().err == "search [1/2]\n"


def test_quiet_messages_are_silent(capsys: pytest.CaptureFixture[str]) -> None:
    messages(quiet=True).print("search")
    assert capsys.readouterr().err == ""


def run_python(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=ROOT, capture_output=True, text=True, check=False)


def test_help_imports_no_engine() -> None:
    heavy = "('numpy', 'pandas', 'duckdb', 'networkx', 'pydantic', 'rich')"
    script = (
        "import sys; from anonymizer.cli.main import main; main(['--help']); "
        f"sys.exit(str([m for m in {heavy} if m in sys.modules] or ''))"
    )
    done = run_python("-c", script)
    assert done.stderr.strip() == ""


@pytest.mark.slow
def test_schema_imports_no_engine() -> None:
    script = (
        "import sys; from anonymizer.cli.main import main; main(['schema']); "
        "sys.exit(str([m for m in ('pandas', 'duckdb') if m in sys.modules] or ''))"
    )
    done = run_python("-c", script)
    assert done.stderr.strip() == ""


def test_the_module_is_the_command() -> None:
    done = run_python("-m", "anonymizer", "schmea")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no command 'schmea'")


@pytest.mark.slow
def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    command = f"{sys.executable} -m anonymizer schema | head -c 1 >/dev/null"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
