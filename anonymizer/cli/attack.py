"""``anonymizer attack``: run disclosure attacks on a release."""

from __future__ import annotations

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
    Path | None,
    typer.Option(
        "--original", help="The original file, for attacks in which the adversary holds these records."
    ),
]
SecondOption = Annotated[
    Path | None,
    typer.Option(
        "--second", help="A second release of the same data subjects, described by the same config."
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Accept an original that less than half of RELEASE can stem from."),
]


def attack(
    release: Annotated[Path, typer.Argument(help="The released file; for Anatomy, either of its two files.")],
    config: ConfigOption,
    original: OriginalOption = None,
    second: SecondOption = None,
    force: ForceOption = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the attacks of CONFIG on RELEASE; if it lists none, run all that apply.

    Each line shows the share of targets for which the attack succeeds, and the baseline, a guess without
    the release. Attacks that do not apply are listed on stderr. With --original, the first line says how
    many records of RELEASE can stem from that file; if fewer than half can, the command ends with an error
    unless --force is given.
    """
    from anonymizer.cli.summary import attack_lines  # noqa: PLC0415 - --help needs none of it
    from anonymizer.model.report import to_json  # noqa: PLC0415

    entries, lacking, warnings = _entries(release, config, (original, second), force=force)
    if lacking and not quiet:
        console = messages(quiet=quiet)
        for name, what in lacking.items():
            console.print(f"not run: {name} needs {what}", soft_wrap=True)
    if json:
        said = {"warnings": warnings} if warnings else {}
        write_line(to_json({"attacks": entries, **said}).rstrip())
        return
    for line in (*warnings, *attack_lines(entries)):
        write_line(line)


def _entries(
    release: Path, config: Path, others: tuple[Path | None, Path | None], *, force: bool
) -> tuple[list[dict[str, Any]], dict[str, str], list[str]]:
    """Return an entry per result, the missing requirement of each attack that was not run, and warnings.

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
    """Return the adversary's view; its files stay open as long as the stack."""
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
