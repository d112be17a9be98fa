"""What all commands share in talking: results to stdout, messages to stderr.

With ``--json``, stdout holds one JSON object and nothing else. Errors stay on stderr as text; the exit code
tells a script their kind.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, nothing else there.")]


def write_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object on stdout.

    Raises
    ------
    ValueError: the value holds NaN or an infinity, which JSON has no number for.
    """
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def write_line(text: str = "") -> None:
    """Print a line of a result on stdout."""
    typer.echo(text)


def write_error(text: str) -> None:
    """Print an error on stderr; what is not printable in a name or a value is escaped."""
    typer.echo(f"error: {safe_text(text)}", err=True)


def write_warning(text: str) -> None:
    """Print a warning on stderr, as ``write_error`` prints an error."""
    typer.echo(f"warning: {safe_text(text)}", err=True)


def safe_text(text: str) -> str:
    """Return a text with what no terminal should be sent escaped; line ends stay."""
    return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in text)


def messages(*, quiet: bool) -> Console:
    """Return the console for progress on stderr: styled only on a terminal, and without NO_COLOR."""
    from rich.console import Console  # noqa: PLC0415 - only commands with progress need it

    styled = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    return Console(stderr=True, quiet=quiet, force_terminal=styled, highlight=False, markup=False)
