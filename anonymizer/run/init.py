"""From a data file to a config that runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from anonymizer.config.document import YAML_SUFFIXES, Document, parse_yaml
from anonymizer.config.load import check_columns
from anonymizer.config.model import Config, Origin
from anonymizer.data.open import DIALECT, open_file
from anonymizer.data.relation import Relation
from anonymizer.data.source import CsvDialect, EngineOptions, is_url, location_of, split_suffix
from anonymizer.errors import DataError, InputError, OutputError
from anonymizer.profile.config_text import config_text
from anonymizer.profile.proposal import Decide, Proposal, as_proposed, propose
from anonymizer.system import write_whole

SPARK_SECTIONS = {"engine": {"name": "spark"}, "output": {"path": "release.parquet"}}
"""Of a config for what Spark reads."""

_OPTIONS = {"input.encoding": "--encoding", "input.separator": "--separator", "input.path": "the path"}
"""What sets what a config would set."""


@dataclass(frozen=True)
class Drafted:
    """A config that was drafted.

    Attributes
    ----------
    path: where it stands.
    config: what it says.
    proposal: what it was made of.
    """

    path: Path
    config: Config
    proposal: Proposal


def init(
    data: Path,
    output: Path | None = None,
    dialect: CsvDialect = DIALECT,
    *,
    overwrite: bool = False,
    decide: Decide = as_proposed,
    phase: Callable[[str], None] = lambda _: None,
) -> Drafted:
    """Profile a data file and write a config for it, whole or not at all.

    Parameters
    ----------
    data: a file or a folder of Parquet files; where it is a URL, Spark reads it and is to run the config.
    output: the config file; default: the name of the data with ``.yaml``, beside it, or of what is on another
        file system in the working directory.
    overwrite: whether an earlier file there may be replaced.
    decide: asked for the role of each doubtful column.
    phase: told what begins.

    Raises
    ------
    DataError: the file cannot be read, or nothing in it remains to protect.
    OutputError: the config cannot be written, or stands there already.
    """
    path = output if output is not None else config_path(data)
    remote = is_url(str(data))
    _check_output(path, data, overwrite)
    phase(f"reading {data.name}")
    with _opened(data, dialect) as relation:
        phase("profiling")
        proposal = propose(relation, decide)
        named = location_of(data) if remote else _relative(data, path)
        content = config_text(proposal, named, dialect.encoding, SPARK_SECTIONS if remote else {})
        config = _checked(content, path)
        check_columns(config.attributes, relation.columns, relation.name, config.source)
    write_whole(path, content)
    return Drafted(path, config, proposal)


def config_path(data: Path) -> Path:
    """Return where the config of a data file goes by default: beside it, by its name.

    >>> str(config_path(Path("a/people.csv.gz")))
    'a/people.yaml'

    Raises
    ------
    DataError: the path names no file.
    """
    name = data.name
    if not name:
        raise DataError(f"{data}: is a directory; name a file in it")
    stem, suffix = split_suffix(name)
    folder = Path() if is_url(str(data)) else data.parent
    return folder / f"{stem if suffix else data.stem}.yaml"


def _opened(data: Path, dialect: CsvDialect) -> Relation:
    """Open the file; what stands in a config elsewhere is an option or an argument here."""
    try:
        return open_file(data, dialect, EngineOptions(named=frozenset()))
    except DataError as error:
        message = str(error)
        for key, option in _OPTIONS.items():
            message = message.replace(key, option)
        raise DataError(message) from None


def _check_output(path: Path, data: Path, overwrite: bool) -> None:
    if path.suffix.lower() not in YAML_SUFFIXES:
        raise OutputError(f"{path}: the config is written in YAML; accepted: a name ending in .yaml or .yml")
    if not path.parent.is_dir():
        raise OutputError(f"{path}: no folder '{path.parent}'; make it, or name another file with -o")
    if not os.path.lexists(path):
        return
    if data.exists() and path.exists() and path.samefile(data):
        raise OutputError(f"{path}: is the data file, which is never modified; name another file with -o")
    if path.is_dir():
        raise OutputError(f"{path}: is a folder; name a file with -o")
    if not overwrite:
        raise OutputError(f"{path}: exists; replace it with --overwrite, or name another file with -o")


def _relative(data: Path, config: Path) -> str:
    """Return the path of the data as the config names it: relative to the folder that the config is in."""
    target = data.parent.resolve() / data.name
    return Path(os.path.relpath(target, config.parent.resolve())).as_posix()


def _checked(content: str, path: Path) -> Config:
    """Read the text of the config back.

    Raises
    ------
    InputError: it cannot be read, as with a column whose name no YAML key can hold.
    """
    parsed, lines = parse_yaml(content, str(path))
    document = Document(str(path), path.parent, parsed, lines)
    config = Config.model_validate(document.data)
    if config.input.path is None:
        raise InputError(f"{path}: names no input")
    return config.located(Origin(document.name, document.folder))
