"""The distribution that this package comes from, and others on the path whose package has the same name.

On the package index, ``anonymizer`` and ``nemo-anonymizer`` are other projects with a package of this name.
This one is on no index, so that no message may send anybody there for it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PathDistribution, entry_points
from pathlib import Path

PACKAGE = __name__.partition(".")[0]
"""The name of this package, of its folder and of its command."""

COMMAND = f"{PACKAGE}.cli.main:main"
"""The entry point of the command; no other distribution has it."""

FOLDER = Path(__file__).resolve().parent


@cache
def own_distribution() -> Distribution | None:
    """Return the installed distribution of this package; None in a source tree that is not installed."""
    commands = entry_points(group="console_scripts", name=PACKAGE)
    return next((each.dist for each in commands if each.value == COMMAND), None)


def own_version() -> str:
    """Return the version of this package; ``of a source tree`` if it is not installed."""
    found = own_distribution()
    return "of a source tree" if found is None else version_of(found)


def version_of(found: Distribution) -> str:
    """Return the version of a distribution without parsing the rest of its metadata, often a long README."""
    _, line, rest = (found.read_text("METADATA") or "").partition("\nVersion: ")
    return rest.partition("\n")[0].strip() if line else found.version


def installing(extra: str) -> str:
    """Return how to install the packages of an extra, with a command: from the checkout, or by their names.

    This distribution is on no package index: whoever registers its name there first would be installed.

    >>> installing("sql").split()[:2]
    ['run:', 'pip']
    """
    needed = [f"{FOLDER.parent}[{extra}]"] if in_checkout() else packages_of(extra)
    if not needed:
        return f"install the packages that its pyproject.toml lists for {extra}"
    return f"run: {shlex.join(['pip', 'install', *needed])}"


def packages_of(extra: str) -> list[str]:
    """Return what an extra of the installed distribution requires, as ``pip install`` takes it."""
    found = own_distribution()
    marker = re.compile(rf"""\bextra\s*==\s*["']{re.escape(extra)}["']""")
    every = [each.partition(";") for each in (found and found.requires) or ()]
    return [needed.strip() for needed, _, condition in every if marker.search(condition)]


def reinstalling() -> str:
    """Return what repairs this package after another distribution has replaced some of its files."""
    options = ["pip", "install", "--force-reinstall", "--no-deps"]
    origin = FOLDER.parent if in_checkout() else _installed_from()
    if origin is None:
        return "install this one again from its wheel, with the options --force-reinstall --no-deps"
    return f"run: {shlex.join([*options, str(origin)])}"


def _installed_from() -> Path | None:
    """Return the wheel or folder that pip has installed this distribution from, if it is still there."""
    from urllib.parse import urlsplit  # noqa: PLC0415 - few need it, and it takes long
    from urllib.request import url2pathname  # noqa: PLC0415 - the same

    found = own_distribution()
    try:
        url = urlsplit(json.loads((found and found.read_text("direct_url.json")) or "{}").get("url", ""))
    except ValueError:
        return None
    path = Path(url2pathname(url.path))
    return path if url.scheme == "file" and path.exists() else None


def in_checkout(folder: Path = FOLDER) -> bool:
    """Return whether a folder of this package is in a checkout: next to its pyproject.toml."""
    try:
        with (folder.parent / "pyproject.toml").open("rb") as file:
            project = tomllib.load(file).get("project", {})
    except (OSError, tomllib.TOMLDecodeError):
        return False
    return bool(project.get("scripts", {}).get(PACKAGE) == COMMAND)


@dataclass(frozen=True)
class Namesake:
    """Another distribution that has a package of the same name.

    Attributes
    ----------
    name, version: of the distribution.
    folder: that holds its package.
    mixed: whether this package is in the same folder, so that files of one have replaced files of the other.
    """

    name: str
    version: str
    folder: Path
    mixed: bool

    def __str__(self) -> str:
        both = f"{self.folder}: the distribution {self.name} {self.version} also has a package '{PACKAGE}'"
        if self.mixed:
            return (
                f"{both}, and files of one replace files of the other; run: pip uninstall {self.name}; "
                f"then {reinstalling()}"
            )
        return f"{both}, which Python may import instead of this one; run: pip uninstall {self.name}"


def namesakes() -> list[Namesake]:
    """Return the other distributions on the path that have a package of this one's name, in its order.

    Only folders that hold such a package are searched, which takes milliseconds. pip does not warn of them.
    """
    found: list[Namesake] = []
    for folder in dict.fromkeys(map(Path, sys.path)):
        package = folder / PACKAGE
        if package.is_dir() or package.with_suffix(".py").is_file():
            mixed = package.is_dir() and package.resolve() == FOLDER
            found += [Namesake(each.name, each.version, folder, mixed) for each in _claiming(folder)]
    return found


def _claiming(folder: Path) -> Iterator[Distribution]:
    """Yield the other distributions of a folder that claim the package."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(each.name for each in entries if each.name.endswith((".dist-info", ".egg-info")))
    except OSError:
        names = []
    paths = [folder / name for name in names]
    for path in paths:
        if _claims(path) and COMMAND.encode() not in _content(path / "entry_points.txt"):
            yield PathDistribution(path)


def _claims(path: Path) -> bool:
    """Return whether a distribution lists the package among its files, or else among its packages."""
    files = b"\n" + _content(path / "RECORD")
    if len(files) > 1:
        return f"\n{PACKAGE}/".encode() in files or f"\n{PACKAGE}.py,".encode() in files
    return PACKAGE.encode() in _content(path / "top_level.txt").split()


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
