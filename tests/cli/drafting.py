"""Small files, and the configs drafted for them."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from random import Random

from tests.run.commands import Done, call

COLUMNS = ("age", "sex", "colour", "diagnosis")


def rows(records: int = 200) -> list[tuple[str, ...]]:
    random = Random(2)
    colours = ("Paris, France", "Rome; Italy", 'the "old" town', "Bonn")
    return [
        (str(random.randrange(20, 60)), random.choice("FM"), random.choice(colours), random.choice("ABCD"))
        for _ in range(records)
    ]


def text(columns: tuple[str, ...] = COLUMNS, separator: str = ",", records: int = 200) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows([columns, *rows(records)])
    return stream.getvalue()


def drafted(folder: Path, content: bytes | str, name: str = "people.csv", *args: str) -> tuple[Done, Path]:
    """Write a file, draft a config, and return what was said and where the config stands."""
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    return call("init", folder / name, *args), folder / f"{name.split('.', maxsplit=1)[0]}.yaml"


def assert_runs(config: Path) -> None:
    """Check that a config runs as it stands, and that something is left of the values."""
    done = call("run", config, "--json")
    assert done.code == 0, done.err
    assert done.json["status"] == "satisfied"
    assert done.json["loss"]["loss"] < 1
