"""``anonymizer attack``: what would an adversary learn from this release?"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from anonymizer.cli.output import Json, Quiet, write_line

ConfigOption = Annotated[Path, typer.Option("--config", "-c", help="Config with roles, types and attacks.")]
OriginalOption = Annotated[
    Path | None, typer.Option("--original", help="Records that the adversary holds: the original file.")
]
SecondOption = Annotated[
    Path | None, typer.Option("--second", help="Another release of the same people, by the same config.")
]


def attack(
    release: Annotated[Path, typer.Argument(help="The released file.")],
    config: ConfigOption,
    original: OriginalOption = None,
    second: SecondOption = None,
    quiet: Quiet = False,  # noqa: ARG001 - it shows no progress anyway
    json: Json = False,
) -> None:
    """Run the attacks of CONFIG on RELEASE; without any, all that apply.

    Each gives the share of targets for whom it succeeds, beside what a guess without the release reaches.
    """
    from anonymizer.core.report import to_json  # noqa: PLC0415 - --help needs none of it

    entries = _entries(release, config, original, second)
    if json:
        write_line(to_json({"attacks": entries}).rstrip())
        return
    for entry in entries:
        write_line(line(entry))


def _entries(release: Path, config: Path, original: Path | None, second: Path | None) -> list[dict[str, Any]]:
    from anonymizer.config.load import load_config  # noqa: PLC0415
    from anonymizer.flow.attack import run_attacks  # noqa: PLC0415
    from anonymizer.flow.prepare import engine_options, open_as, open_release  # noqa: PLC0415
    from anonymizer.flow.scene import scene_of_files  # noqa: PLC0415
    from anonymizer.flow.weights import weight_columns  # noqa: PLC0415
    from anonymizer.report.attacks import attack_entry  # noqa: PLC0415

    loaded = load_config(config)
    options = engine_options(loaded)
    with ExitStack() as stack:
        first = stack.enter_context(open_release(release, options))
        other = None if second is None else stack.enter_context(open_release(second, options))
        source = None if original is None else stack.enter_context(open_as(loaded, original))
        attacked = run_attacks(loaded, scene_of_files(loaded, first, source, other, weight_columns(loaded)))
    return [attack_entry(each.finding, each.seconds) for each in attacked]


def line(entry: dict[str, Any]) -> str:
    """Return an attack's number beside its baseline in one line.

    >>> known = {"attributes": ["age", "zip"], "sensitive": "illness"}
    >>> line({"attack": "homogeneity", "knowledge": known, "success": 0.25, "baseline": 0.0, "low": 0.25,
    ...       "high": 0.25})
    'homogeneity      illness                          0.25   guess 0'
    """
    known = entry["knowledge"]
    aim = " ".join(
        str(known[key]) for key in ("target", "sensitive", "linkage", "distance") if known.get(key)
    )
    text = f"{entry['attack']:16} {aim:30} {entry['success']:6.4g}   guess {entry['baseline']:.3g}"
    if entry["low"] != entry["high"]:
        text += f"   95 % {entry['low']:.4g} to {entry['high']:.4g}"
    return text
