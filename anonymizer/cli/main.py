"""The command line: finds the command, and turns errors into messages and exit codes."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from traceback import print_exception
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from anonymizer.cli.output import (
    end_with_command,
    hold_streams,
    with_usable_paths,
    write_error,
    write_line,
    write_warning,
)
from anonymizer.distribution import namesakes, own_version
from anonymizer.errors import AnonymizerError, InputError, Interrupted, suggestion
from anonymizer.system import memory_fault, work_runs_on

INTERRUPTED = Interrupted.exit_code

GARBAGE = 200_000
"""New objects after which Python collects garbage in a process of the command line.

Imports make 90,000.
"""

# Command-line libraries differ in where they keep this class; its subclass is public in all of them.
_UsageError: type[Any] = typer.BadParameter.__mro__[1]


class Entry(NamedTuple):
    """A command: module and name of a function or a ``typer.Typer``, and its line of help."""

    module: str
    name: str
    help: str


COMMANDS = {
    "init": Entry("anonymizer.cli.init", "init", "Profile a data file and draft a config for it."),
    "run": Entry("anonymizer.cli.run", "run", "Anonymize a file by a config and verify the written release."),
    "check": Entry("anonymizer.cli.check", "check", "Measure privacy models on a file without changing it."),
    "attack": Entry("anonymizer.cli.attack", "attack", "Run disclosure attacks on a release."),
    "audit": Entry("anonymizer.cli.audit", "audit", "Verify a release from the file and its public report."),
    "dossier": Entry("anonymizer.cli.dossier", "dossier", "Write a dossier of a release for people to sign."),
    "compare": Entry(
        "anonymizer.cli.compare", "compare", "Compare algorithms and settings on a file: risk, loss and time."
    ),
    "benchmark": Entry(
        "anonymizer.cli.benchmark",
        "benchmark",
        "Measure search algorithms on made-up data, for researchers.",
    ),
    "hierarchy": Entry("anonymizer.cli.hierarchy", "hierarchy_app", "Show, validate or build a hierarchy."),
    "schema": Entry("anonymizer.cli.init", "schema", "Print the JSON Schema of the config, for editors."),
}


class LazyGroup(TyperGroup):
    """Lists commands by name and help, and imports only the one that runs."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]  # noqa: ARG002
        """Return the names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> TyperCommand | None:  # type: ignore[override]  # noqa: ARG002
        """Return a command for the list, with its name and line of help."""
        entry = COMMANDS.get(cmd_name)
        return TyperCommand(cmd_name, help=entry.help) if entry else None

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        """Import the command in the arguments."""
        name = args[0]
        if name not in COMMANDS:
            raise _UsageError(f"no command '{name}'; {suggestion(name, COMMANDS)}", ctx=ctx)
        return name, load_command(name), args[1:]


def load_command(name: str) -> Any:
    """Import a command and return it, ready to be invoked."""
    entry = COMMANDS[name]
    found = getattr(import_module(entry.module), entry.name)
    if not isinstance(found, typer.Typer):
        only = typer.Typer(add_completion=False)
        only.command(name)(with_usable_paths(found))
        found = only
    command = typer.main.get_command(found)
    _make_plain(command)
    return command


def _make_plain(command: Any) -> None:
    """Make help and errors of a command plain text, for pipes and logs."""
    command.rich_markup_mode = None
    command.no_args_is_help = False
    for each in getattr(command, "commands", {}).values():
        _make_plain(each)


# Commands inherit the names of the option for help from the group.
app = typer.Typer(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        write_line(f"anonymizer {own_version()}")
        raise typer.Exit


@app.callback()
def anonymizer(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Anonymize files about people: provably optimal recoding, privacy verified on the written file."""
    if context.invoked_subcommand is None:
        write_line(context.get_help())


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    args: words after the program's name. Default: those of this process; its streams are then prepared, and
        the process ends with it.
    """
    code = _exit_code(args)
    if args is None and work_runs_on():
        # Python would abort with the solver's thread, which nothing stops, and with a code of its own.
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(code)
    if args is None:
        # Python would look for garbage among all that was imported: a tenth of the time of a small run.
        gc.freeze()
    return code


def _exit_code(args: Sequence[str] | None) -> int:
    try:
        return _answered(args)
    except Exception as error:
        from anonymizer.plugins import plug_in_at_fault  # noqa: PLC0415 - most errors are explained

        whose = plug_in_at_fault(error)
        if whose is None:
            raise
        print_exception(error)
        what = f"{type(error).__name__}: {error}"
        write_error(f"{whose} failed: {what}; report it to its authors, or leave it out of the config")
        return InputError.exit_code


def _answered(args: Sequence[str] | None) -> int:
    """Run the command line; return the exit code, after an error that is explained too."""
    try:
        if args is None:
            # Imported modules stay: collecting garbage among them takes time and finds nothing.
            gc.set_threshold(GARBAGE)
            hold_streams()
            end_with_command()
            _check_namesakes()
        command: Any = typer.main.get_command(app)
        code = command.main(args=args, prog_name="anonymizer", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:
            # Some versions of typer turn a keyboard interrupt into this code without a message.
            raise KeyboardInterrupt
    except AnonymizerError as error:
        write_error(str(error))
        return error.exit_code
    except _UsageError as error:
        return _misused(error)
    except (KeyboardInterrupt, typer.Abort):
        write_error("interrupted")
        return INTERRUPTED
    except (MemoryError, RuntimeError, ImportError, OSError) as error:
        lacking = memory_fault(error)
        if lacking is None and not isinstance(error, OSError):
            raise
        write_error(_refused_by_system(error) if isinstance(error, OSError) and not lacking else str(lacking))
        return InputError.exit_code
    except ValueError as error:
        if not _is_of_path(error):
            raise
        what = "holds a NUL byte" if "null" in str(error) else "is not UTF-8"
        write_error(f"a path {what}; accepted: paths in UTF-8 without NUL bytes")
        return InputError.exit_code
    return code if isinstance(code, int) else 0


def _is_of_path(error: ValueError) -> bool:
    """Return whether Python refused to pass a path to the system."""
    return "embedded null" in str(error) or "surrogates not allowed" in str(error)


def _refused_by_system(error: OSError) -> str:
    """Return the reason of the system, with the file if known."""
    reason = error.strerror or str(error) or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename is not None else reason


def _check_namesakes() -> None:
    """Warn of other distributions whose package has this name.

    Raises
    ------
    InputError: files of another one have replaced files of this one.
    """
    for each in namesakes():
        if each.mixed:
            raise InputError(str(each))
        write_warning(str(each))


def _misused(error: Any) -> int:
    message = str(error.format_message()).rstrip(".")
    message = message.replace("Value error, embedded null byte", "holds a NUL byte")
    path = error.ctx.command_path if error.ctx is not None else "anonymizer"
    write_error(f"{message[:1].lower()}{message[1:]} (help: {path} --help)")
    exit_code: int = error.exit_code
    return exit_code
