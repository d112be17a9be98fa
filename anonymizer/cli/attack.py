"""``anonymizer attack``: run disclosure attacks on a release."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anonymizer.cli.output import Json, Quiet

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
ControlOption = Annotated[
    Path | None,
    typer.Option(
        "--control",
        help="Records of other people, held out of the release: with --original, also answer the three "
        "questions of European law, with these as control.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="ROW|FILE",
        help="Instead of attacks: what to believe about one row of the original (without one, of RELEASE), "
        "or about each record of a file with quasi-identifiers.",
    ),
]
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Accept an original that less than half of RELEASE could come from."),
]


def attack(  # noqa: PLR0913, PLR0917 - one for each option
    release: Annotated[Path, typer.Argument(help="The released file; for Anatomy, either of its two files.")],
    config: ConfigOption,
    original: OriginalOption = None,
    second: SecondOption = None,
    control: ControlOption = None,
    target: TargetOption = None,
    force: ForceOption = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run the attacks of CONFIG on RELEASE; if it lists none, run all that apply.

    Each line shows the share of targets for which the attack succeeds, and the baseline, a guess without
    the release; it appears when the attack ends. Attacks that do not apply are listed on stderr. With
    --original, the first line says how many records of RELEASE could come from that file; if fewer than half
    can, the command ends with an error unless --force is given. Ctrl-C ends the attacks, with the results so
    far. With --control, a sentence each for singling out, linkability and inference: how often an attack
    succeeds on the records of the release, and on those that were held out. With --target, each line
    shows the probability of one sensitive value under random worlds, by deFinetti's attack and by a model of
    the release.
    """
    from anonymizer.cli.attacking import Files, attack_release  # noqa: PLC0415 - --help needs none of it

    files = Files(release, original, second, control)
    attack_release(config, files, target, force=force, quiet=quiet, json=json)
