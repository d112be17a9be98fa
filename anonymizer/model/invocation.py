"""The commands that the program prints, in words that a shell takes as they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from anonymizer.system import shell_words

PROGRAM = "anonymizer"
"""The name of the command."""


def command(*words: str) -> str:
    """Return a command of this program as it is typed into a shell.

    >>> command("audit", "my release.csv")
    "anonymizer audit 'my release.csv'"
    """
    return shell_words([PROGRAM, *words])


def path_word(path: str) -> str:
    """Return a path as an argument, which is not taken for an option.

    >>> path_word("-a.yaml"), path_word("desk/a.yaml")
    ('./-a.yaml', 'desk/a.yaml')
    """
    return f"./{path}" if path.startswith("-") else path


def release_beside(config: str, number: int) -> str:
    """Return the folder beside a config for one of several releases: no command stands in the way of another.

    >>> release_beside("a/b.yaml", 2)
    'a/b-release-2'
    """
    path = PurePath(config)
    return path.with_name(f"{path.stem}-release-{number}").as_posix()


@dataclass(frozen=True)
class RunCommand:
    """A run as it was asked for on the command line, to be printed with changes.

    Attributes
    ----------
    config: path of the config from the current folder.
    output: folder of the release as given; None for the default one.
    overrides: of config values, as for ``--set``, the later ones over the earlier ones.
    overwrite: whether an earlier release is replaced.
    strict: whether a release that shows too much beyond its constraints is refused.
    """

    config: str
    output: str | None = None
    overrides: tuple[str, ...] = ()
    overwrite: bool = False
    strict: bool = False

    def changed(self, *overrides: str) -> RunCommand:
        """Return the same run with more config values replaced.

        >>> RunCommand("a.yaml", overrides=("seed=1", "constraints.0.k=9")).changed("seed=2").overrides
        ('constraints.0.k=9', 'seed=2')
        """
        again = {_plain_key(each) for each in overrides} - {None}
        kept = (each for each in self.overrides if _plain_key(each) not in again)
        return replace(self, overrides=(*kept, *overrides))

    def replacing(self) -> RunCommand:
        """Return the same run, to be repeated where it has left a release."""
        return replace(self, overwrite=True)

    def beside(self, number: int) -> RunCommand:
        """Return the run from the folder of the config, with a release of its own and wherever this one goes.

        >>> print(RunCommand("a/b.yaml", "out", ("seed=1",), overwrite=True).beside(2))
        anonymizer run b.yaml -o b-release-2 --set seed=1
        """
        config = PurePath(self.config).name
        return RunCommand(config, release_beside(config, number), self.overrides, strict=self.strict)

    def __str__(self) -> str:
        """Return the command.

        >>> print(RunCommand("a/b.yaml", "out", ("seed=1",)).changed("constraints.0.k=3").replacing())
        anonymizer run a/b.yaml -o out --set seed=1 --set constraints.0.k=3 --overwrite
        """
        words = ["run", path_word(self.config)]
        words += [] if self.output is None else ["-o", path_word(self.output)]
        for override in self.overrides:
            words += ["--set", override]
        words += ["--overwrite"] if self.overwrite else []
        return command(*words, *(["--strict"] if self.strict else []))


def _plain_key(override: str) -> str | None:
    """Return the key of an override; None for one that may hold a ``=``, or adds an entry."""
    key = override.partition("=")[0]
    return None if '"' in key or key.endswith("+") else key


def suggested_runs(run: RunCommand | None, suggestions: Sequence[str], lead: str = "works") -> list[str]:
    """Return a line for each change of the config that helps, and one with the command that makes it.

    Parameters
    ----------
    run: that is changed; None where no command started it.
    lead: the first word.

    >>> suggested_runs(RunCommand("a.yaml"), ["constraints.0.k=3"])
    ['  works: --set constraints.0.k=3', '    anonymizer run a.yaml --set constraints.0.k=3']
    """
    lines = []
    for each in suggestions:
        lines.append(f"  {lead}: --set {each}")
        lines += [] if run is None else [f"    {run.changed(each)}"]
    return lines
