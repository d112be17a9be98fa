"""Run a golden case in a folder of its own and say what came of it, without what differs from run to run.

Only the command (as ``python -m anonymizer``) and the public names of the package are used, so that
everything behind them may move. What is kept of a run: exit codes, printed text as it is, and of every file
that it leaves a digest, in parts, so that you see whether numbers, words or records changed; texts are those
of ``wording.py``. Left out are times, versions, the path of the folder, and hashes of files, which are
compared with the files instead.
"""

from __future__ import annotations

import contextlib
import csv
import gc
import gzip
import hashlib
import io
import json
import math
import os
import re
import runpy
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest import mock

from anonymizer.config.search import Defaults
from anonymizer.report.build import PACKAGES
from tests.golden.wording import Leaves, Lines, Page, digest

# What cases mean that name no algorithm and no attacks, also where they run in a process of their own.
Defaults.algorithm, Defaults.attacks = "lattice", "none"

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "examples"

DROPPED = frozenset({"seconds", "bound_seconds", "environment"})
"""Keys of reports whose values are of the machine or the moment."""

SENTENCE = 4
"""Words from which on a text in a report is kept as it is."""

TIME = re.compile(r"\b\d[\d,]*(?:\.\d+)? (?:s|ms|seconds?|minutes?)\b")
LEFT = re.compile(r"  (?:\d+:)?\d+:\d\d left$", re.MULTILINE)
RUNNING = re.compile(r"^\d+/\d+  running\b.*\n?", re.MULTILINE)
"""Progress of a comparison between two results, which a quick machine does not show."""

VERSION = version("anonymizer-engine")
"""Of the package, which takes two milliseconds to look up."""

RUN_TIME = re.compile(r"^([* ]  \d+ .*  )\d+(?:\.\d+)?$")
"""How long each run of a comparison took: the last number of its line."""

DEPENDED = re.compile(rf"\b(Python|{'|'.join(PACKAGES)}) \d[\w.+]*")
"""The versions on a page that a result depends on, which report.json has under ``environment``."""

HASH = re.compile(r"\b[0-9a-f]{64}\b")
TEXTS = frozenset({".yaml", ".yml", ".txt", ".md"})

SETTING = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
"""What the words of a command may depend on beside its arguments."""


@dataclass(frozen=True)
class Case:
    """What to write into an empty folder, and what to run there, one after the other.

    Parameters
    ----------
    files: text or bytes by name; a function writes what takes a library, such as a Parquet file.
    steps: arguments of the command; or a function that uses the Python interface and prints or tells.
    shuffled: whether rows are released in any order.
    """

    name: str
    files: Mapping[str, str | bytes | Callable[[Path], object]]
    steps: Sequence[Sequence[str] | Callable[[Told], object]]
    shuffled: bool = False
    slow: bool = False


@dataclass
class Told:
    """What a function of a case wants to be kept."""

    kept: dict[str, Any] = field(default_factory=dict)

    def table(self, name: str, frame: Any) -> None:
        """Keep a DataFrame of pandas: its types, and its cells as JSON has them, but for times."""
        frame = frame.drop(columns=[column for column in frame.columns if "seconds" in str(column)])
        self.kept[name] = {
            "types": [f"{column}: {kind}" for column, kind in frame.dtypes.items()],
            "index": str(list(frame.index) == list(range(len(frame)))),
            "cells": json.loads(frame.to_json(orient="split", date_format="iso", default_handler=str))[
                "data"
            ],
        }

    def report(self, name: str, report: Mapping[str, Any]) -> None:
        """Keep a report or another nest of mappings and lists."""
        self.kept[name] = json.loads(json.dumps(report, default=str))


def run_case(case: Case, folder: Path, full: Path | None = None) -> dict[str, Any]:
    """Run a case in an empty folder.

    Parameters
    ----------
    full: a folder where the normalised texts are written that the digests are of.

    Returns
    -------
    ``steps`` and ``files``, as ``Wording.encoded`` takes them.
    """
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    before = {name: path.read_bytes() for name, path in _found(folder)}
    digester = Digester(folder, full, case.shuffled)
    with _setting(folder):
        steps = [_step(step, digester) for step in case.steps]
    after = dict(_found(folder))
    files: dict[str, Any] = {name: "REMOVED" for name in before if name not in after}
    for name, path in after.items():
        if path.parent.name == "runs":
            # Results that compare keeps, named by all that they depend on, versions included.
            kept = path.parent.relative_to(folder).as_posix()
            files[kept] = files.get(kept, 0) + 1
        elif before.get(name) != path.read_bytes():
            files[digester.plain(name)] = digester.file(name, path)
    return {"steps": steps, "files": dict(sorted(files.items()))}


def _found(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path


@contextlib.contextmanager
def _setting(folder: Path) -> Iterator[None]:
    """Work in a folder, with a terminal of known width; leave the process as it was."""
    garbage = gc.get_threshold()
    environment = {name: text for name, text in os.environ.items() if name not in {"FORCE_COLOR", "LINES"}}
    try:
        with contextlib.chdir(folder), mock.patch.dict(os.environ, environment | SETTING, clear=True):
            yield
    finally:
        gc.set_threshold(*garbage)


def _step(step: Sequence[str] | Callable[[Told], object], digester: Digester) -> dict[str, Any]:
    """Run one step and return what it printed and how it ended."""
    if callable(step):
        return _python(step, digester)
    args = [arg.replace("SHIPPED", str(SHIPPED)) for arg in step]
    code, out, err = _command(args)
    done: dict[str, Any] = {"command": f"anonymizer {shlex.join(step)}", "exit": code}
    name = digester.step()
    if out.startswith("{") and ("--json" in args or args == ["schema"]):
        done["json"] = digester.report(json.loads(out), f"{name}.json")
    else:
        done["out"] = digester.lines(out)
    done["err"] = digester.lines(err)
    digester.keep(f"{name}.txt", out + err)
    return {key: value for key, value in done.items() if value != Lines(())}


def _python(step: Callable[[Told], object], digester: Digester) -> dict[str, Any]:
    """Run a function that uses the Python interface."""
    out, told = io.StringIO(), Told()
    ended = "done"
    with contextlib.redirect_stdout(out):
        try:
            step(told)
        except Exception as error:
            ended = f"{type(error).__name__}: {error}"
            if hasattr(error, "report"):
                told.report("report", error.report.to_dict())
    name = digester.step()
    done: dict[str, Any] = {"python": step.__name__, "exit": digester.lines(ended)}
    done["out"] = digester.lines(out.getvalue())
    for key, value in told.kept.items():
        done[key] = digester.report(value, f"{name}-{key}.json")
    return {key: value for key, value in done.items() if value != Lines(())}


def _command(args: Sequence[str]) -> tuple[int | str, str, str]:
    """Run a command as ``python -m anonymizer`` does, in this process, where it takes a tenth of the time."""
    out, err = io.StringIO(), io.StringIO()
    code: int | str = 0
    with (
        mock.patch.object(sys, "argv", ["anonymizer", *args]),
        # Progress in a pipe depends on how busy the machine is.
        mock.patch("anonymizer.cli.output.PATIENCE", math.inf),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            runpy.run_module("anonymizer", run_name="__main__")
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        except BaseException as error:
            code = f"TRACEBACK {type(error).__name__}: {error}"
    return code, out.getvalue(), err.getvalue()


class Digester:
    """Makes digests of what is in a folder, and writes down what they are of where asked to."""

    def __init__(self, folder: Path, full: Path | None, shuffled: bool) -> None:
        self._folder, self._full, self._shuffled = folder, full, shuffled
        self._steps = 0

    def step(self) -> str:
        """Return a name for the output of the next step."""
        self._steps += 1
        return f"step{self._steps}"

    def keep(self, name: str, text: str) -> None:
        """Write a text down where a folder for it was given."""
        if self._full is not None:
            path = self._full / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.plain(text), encoding="utf-8")

    def plain(self, text: str) -> str:
        """Return a text without paths of this machine, versions and times."""
        for place, name in ((str(self._folder.resolve()), "$DIR"), (str(self._folder), "$DIR")):
            text = text.replace(place, name)
        text = text.replace(str(SHIPPED), "SHIPPED").replace(VERSION, "$VERSION")
        return RUNNING.sub("", LEFT.sub("", TIME.sub("# s", text)))

    def lines(self, text: str) -> Lines:
        """Return the lines of a text."""
        return Lines(tuple(RUN_TIME.sub(r"\1#", line.rstrip()) for line in self.plain(text).splitlines()))

    def report(self, content: Any, name: str) -> Leaves:
        """Return the numbers, the words and the sentences of a report."""
        numbers, words, sentences = [], [], []
        for path, leaf in self._leaves(content):
            if not isinstance(leaf, str):
                numbers.append((path, _number(leaf)))
            elif len(leaf.split()) >= SENTENCE and "config." not in path:
                sentences.append(f"{path}: {leaf}")
            else:
                words.append((path, leaf))
        self.keep(name, "\n".join([*map(" ".join, [*numbers, *words]), *sentences, ""]))
        return Leaves(tuple(numbers), tuple(words), tuple(sentences))

    def _leaves(self, content: Any, path: str = "") -> Iterator[tuple[str, Any]]:
        """Yield every leaf of nested mappings and lists with its path."""
        if isinstance(content, dict):
            for key, value in content.items():
                if key not in DROPPED:
                    yield from self._leaves(value, f"{path}.{key}".lstrip("."))
            if not content:
                yield path, "{}"
        elif isinstance(content, list):
            yield f"{path}.length", len(content)
            for place, value in enumerate(content):
                yield from self._leaves(value, f"{path}[{place}]")
        else:
            yield path, self._named(content) if isinstance(content, str) else content

    def _named(self, text: str) -> str:
        """Return a text in which hashes of files that are here are their names."""
        if not HASH.search(text):
            return self.plain(text)
        hashes = {hashlib.sha256(path.read_bytes()).hexdigest(): name for name, path in _found(self._folder)}
        return HASH.sub(lambda found: f"hash of {hashes.get(found[0], found[0])}", self.plain(text))

    def file(self, name: str, path: Path) -> Any:
        """Return the digest of a file, as its kind allows."""
        if path.suffix == ".json":
            return self.report(json.loads(path.read_text(encoding="utf-8")), f"{name}.txt")
        if path.suffix == ".html":
            return self._page(path.read_text(encoding="utf-8"), name)
        if path.suffix in TEXTS:
            self.keep(name, path.read_text(encoding="utf-8"))
            return self.lines(path.read_text(encoding="utf-8"))
        if path.suffix == ".svg":
            return "drawn"
        return self._records(name, path)

    def _records(self, name: str, path: Path) -> str:
        """Return the digest of a table; order and line ends count."""
        if path.suffix == ".parquet":
            text = _parquet_text(path)
        elif path.suffix in {".duckdb", ".db"}:
            text = self._named(_database_text(path))
        else:
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            text = content.decode("utf-8", errors="backslashreplace")
        if path.name == "compare.csv":
            text = _without_times(text)
        found = text.splitlines(keepends=True)
        if self._shuffled:
            found = [found[0], *sorted(found[1:])]
        self.keep(name, "".join(found))
        return f"{len(found)} lines {digest(found)}"

    def _page(self, text: str, name: str) -> Page:
        """Return the texts that a page shows under each of its headings."""
        reader = PageReader()
        reader.feed(text)
        self.keep(f"{name}.txt", "\n".join(f"# {key}\n{' '.join(said)}" for key, said in reader.said.items()))
        shown = {
            self.plain(heading): tuple(DEPENDED.sub(r"\1 $VERSION", self._named(each)) for each in said)
            for heading, said in reader.said.items()
        }
        # The table of a comparison has times among other numbers, which compare.csv has too.
        return Page(tuple(shown.items()), figures=not name.endswith("compare.html"))


class PageReader(HTMLParser):
    """Collects the visible words of a page by heading; pictures are left out."""

    HIDDEN = frozenset({"style", "script", "svg", "head"})
    HEADINGS = frozenset({"h1", "h2"})

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, list[str]] = {"top": []}
        self._hidden = 0
        self._heading: list[str] | None = None
        self._section = "top"

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in self.HIDDEN
        if tag in self.HEADINGS:
            self._heading = []

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in self.HIDDEN
        if tag in self.HEADINGS and self._heading is not None:
            self._section = " ".join(self._heading)
            self.said.setdefault(self._section, [])
            self._heading = None

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        text = " ".join(data.split())
        if text:
            (self.said[self._section] if self._heading is None else self._heading).append(text)


def _number(leaf: float | bool | None) -> str:
    """Return a leaf as text; of a fraction nine digits, which no order of adding changes."""
    if not isinstance(leaf, float):
        return str(leaf)
    if math.isfinite(leaf) and abs(leaf) < 1e-12:
        return "0"
    return f"{leaf:.9g}"


def _parquet_text(path: Path) -> str:
    """Return the schema and the rows of a Parquet file."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    lines = [f"{name}: {kind}" for name, kind in zip(table.schema.names, table.schema.types, strict=True)]
    metadata = sorted(key.decode() for key in table.schema.metadata or {})
    return "\n".join(
        [
            *lines,
            f"metadata {metadata}",
            *(str(list(row)) for row in zip(*table.to_pydict().values(), strict=True)),
        ]
    )


def _database_text(path: Path) -> str:
    """Return tables of a DuckDB file: their columns, comments, and rows as they are stored."""
    import duckdb

    lines = []
    with duckdb.connect(path, read_only=True) as connection:
        listed = connection.sql(
            "SELECT schema_name, table_name, comment FROM duckdb_tables() ORDER BY ALL"
        ).fetchall()
        for schema, name, comment in listed:
            rows = connection.sql(f'SELECT * FROM "{schema}"."{name}"')
            lines.append(f"{schema}.{name} {comment} {rows.columns} {rows.dtypes}")
            lines.extend(map(str, rows.fetchall()))
    return "\n".join(lines)


def _without_times(text: str) -> str:
    """Return a CSV table without its columns of seconds."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    kept = [place for place, name in enumerate(rows[0]) if "seconds" not in name]
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([[row[place] for place in kept] for row in rows])
    return stream.getvalue()
