"""``anonymizer attack``: what would an adversary learn from this release?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymizer.cli.output import Json, Quiet, messages, write_line

if TYPE_CHECKING:
    from anonymizer.config.model import Config
    from anonymizer.model.adversary import AdversaryView
    from anonymizer.run.plan import Plan

ConfigOption = Annotated[Path, typer.Option("--config", "-c", help="Config with roles, types and attacks.")]
OriginalOption = Annotated[
    Path | None, typer.Option("--original", help="Records that the adversary holds: the original file.")
]
SecondOption = Annotated[
    Path | None, typer.Option("--second", help="Another release of the same people, by the same config.")
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Use an original that most of RELEASE cannot stem from."),
]

SHOWN = ("target", "sensitive", "measure", "attribute", "linkage", "distance")
"""What of an attack's knowledge its line names."""

AIM = 30
"""Characters that its line leaves for that at least."""


def attack(
    release: Annotated[Path, typer.Argument(help="The released file, or one of two.")],
    config: ConfigOption,
    original: OriginalOption = None,
    second: SecondOption = None,
    force: ForceOption = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the attacks of CONFIG on RELEASE; without any, all that apply.

    Each gives the share of targets for whom it succeeds, beside what a guess without the release reaches.
    Those that do not apply are named on stderr. With --original, the first line says how many records of
    RELEASE can stem from it; less than half is refused, which --force overrides.
    """
    from anonymizer.model.report import to_json  # noqa: PLC0415 - --help needs none of it

    entries, lacking, warnings = _entries(release, config, (original, second), force=force)
    if lacking and not quiet:
        console = messages(quiet=quiet)
        for name, what in lacking.items():
            console.print(f"not run: {name} needs {what}", soft_wrap=True)
    if json:
        said = {"warnings": warnings} if warnings else {}
        write_line(to_json({"attacks": entries, **said}).rstrip())
        return
    for line in (*warnings, *lines(entries)):
        write_line(line)


def _entries(
    release: Path, config: Path, others: tuple[Path | None, Path | None], *, force: bool
) -> tuple[list[dict[str, Any]], dict[str, str], list[str]]:
    """Return an entry for each finding, what attacks lack that were not run, and warnings.

    Parameters
    ----------
    others: the original and the second release.
    """
    from anonymizer.config.load import load_config  # noqa: PLC0415
    from anonymizer.report.build import attack_entry  # noqa: PLC0415
    from anonymizer.run.assessment import origin_warning, run_attacks, skipped_attacks  # noqa: PLC0415
    from anonymizer.run.plan import plan_of  # noqa: PLC0415

    loaded = load_config(config)
    plan = plan_of(loaded)
    with ExitStack() as stack:
        scene = _scene(stack, loaded, plan, release, *others)
        warning = origin_warning(plan, scene, force=force)
        attacked, lacking = run_attacks(plan, scene), skipped_attacks(plan, scene)
    entries = [attack_entry(each.finding, each.seconds) for each in attacked]
    return entries, lacking, [] if warning is None else [warning]


def _scene(
    stack: ExitStack, config: Config, plan: Plan, release: Path, original: Path | None, other: Path | None
) -> AdversaryView:
    """Return what adversaries have, its files open as long as the stack is."""
    from anonymizer.release.anatomy import find_anatomy_files  # noqa: PLC0415
    from anonymizer.run.adversary import adversary_from_files  # noqa: PLC0415
    from anonymizer.run.check import open_pair, refused_second, scene_of_pair  # noqa: PLC0415
    from anonymizer.run.engine import engine_options  # noqa: PLC0415
    from anonymizer.run.prepare import open_as, open_foreign_release  # noqa: PLC0415

    options, weights = engine_options(config), plan.weights
    source = None if original is None else stack.enter_context(open_as(config, original))
    pair = find_anatomy_files(release)
    if pair is not None:
        if other is not None:
            raise refused_second(str(release))
        return scene_of_pair(plan, stack.enter_context(open_pair(pair, options)), source, weights)
    first = stack.enter_context(open_foreign_release(config, release))
    second = None if other is None else stack.enter_context(open_foreign_release(config, other))
    return adversary_from_files(plan, first, source, second, weights)


def lines(entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield each attack's number beside its baseline in one line, in columns as wide as the longest needs.

    >>> known = {"attributes": ["age", "zip"], "sensitive": "illness"}
    >>> list(lines([{"attack": "homogeneity", "knowledge": known, "success": 0.25, "baseline": 0.0,
    ...              "low": 0.25, "high": 0.25}]))
    ['homogeneity      illness                          0.25   guess 0']
    """
    wide = max((len(_aim(entry)) for entry in entries), default=0)
    for entry in entries:
        aim = f"{_aim(entry):{max(wide, AIM)}}"
        text = f"{entry['attack']:16} {aim} {entry['success']:6.4g}   guess {entry['baseline']:.3g}"
        if entry["low"] != entry["high"]:
            text += f"   95 % {entry['low']:.4g} to {entry['high']:.4g}"
        yield text


def _aim(entry: dict[str, Any]) -> str:
    """Return what an attack is after, and how."""
    return " ".join(str(entry["knowledge"][key]) for key in SHOWN if entry["knowledge"].get(key))
