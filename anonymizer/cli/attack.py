"""``anonymizer attack``: run disclosure attacks on a release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonymizer.cli.output import Json, Quiet, above_live_line, messages, stop_on_interrupt, write_line
from anonymizer.errors import InputError, Interrupted

if TYPE_CHECKING:
    from anonymizer.attacks.base import Attack
    from anonymizer.attacks.beliefs import Belief
    from anonymizer.attacks.three_questions import Answer
    from anonymizer.config.model import Config
    from anonymizer.data.relation import Relation
    from anonymizer.job.assessment import Attacked
    from anonymizer.model.adversary import AdversaryView
    from anonymizer.plan.plan import Plan

COMPARING = "finding the records that each published row may stem from"
"""Phase between reading the files and the attacks."""

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
    from anonymizer.cli.output import progress_monitor  # noqa: PLC0415 - --help needs none of it
    from anonymizer.config.load import load_config  # noqa: PLC0415
    from anonymizer.job.assessment import attack_in_turn, origin_warning, skipped_attacks  # noqa: PLC0415
    from anonymizer.job.source import open_as  # noqa: PLC0415
    from anonymizer.people.warnings import attack_warnings  # noqa: PLC0415
    from anonymizer.plan.plan import plan_of  # noqa: PLC0415

    loaded = load_config(config)
    plan = plan_of(loaded)
    results = _Results(json=json)
    with (
        results.ending(),
        stop_on_interrupt(at_once=True) as stopped,
        progress_monitor(stopped, quiet=quiet) as watch,
        ExitStack() as stack,
    ):
        watch.phase("reading " + " and ".join(each.name for each in (release, original, second) if each))
        source = None if original is None else stack.enter_context(open_as(loaded, original))
        opened = _Opened(stack, loaded, plan, release, source)
        view = opened.view(second, watch.phase)
        for warning in attack_warnings(plan, source, view):
            results.warn(warning, "Warning: ")
        results.warn(origin_warning(plan.assessment, view, force=force))
        if target is not None:
            watch.phase(f"beliefs about target {target}")
            results.believe(opened.beliefs(view, target))
            return
        for name, what in {} if quiet else skipped_attacks(plan.assessment, view).items():
            with above_live_line():
                messages(quiet=quiet).print(f"not run: {name} needs {what}", soft_wrap=True)
        if control is not None:
            watch.phase(f"the three questions, with {control.name} as control")
        answers = opened.answers(view, control)
        for attacked in attack_in_turn(plan.assessment, view, watch):
            results.add(attacked)
        if view.holders is not None:
            results.count_records(plan, answers)
        results.answer(answers)


class _Results:
    """The results so far: printed one by one, or in JSON at the end."""

    def __init__(self, *, json: bool) -> None:
        self._json = json
        self._entries: list[dict[str, Any]] = []
        self._counted: list[tuple[Attack, dict[str, Any]]] = []
        self._warnings: list[str] = []
        self._beliefs: list[dict[str, Any]] | None = None
        self._answers: list[dict[str, Any]] = []

    def answer(self, answers: list[Answer]) -> None:
        """Print the answers to the three questions."""
        self._answers = [each.entry() for each in answers]
        for each in () if self._json else answers:
            write_line(each.sentence)

    def believe(self, found: list[Belief]) -> None:
        """Print beliefs about targets."""
        self._beliefs = [asdict(each) for each in found]
        for line in () if self._json else belief_lines(found):
            write_line(line)

    def warn(self, warning: str | None, title: str = "") -> None:
        """Print a warning after a title, if there is one."""
        if warning is None:
            return
        self._warnings.append(warning)
        if not self._json:
            write_line(f"{title}{warning}")

    def count_records(self, plan: Plan, answers: list[Answer]) -> None:
        """Print the warning about attacks that counted records where others counted persons."""
        from anonymizer.people.warnings import records_warnings  # noqa: PLC0415 - --help needs none of it

        for warning in records_warnings(plan.counting, plan.assessment, self._counted, answers):
            self.warn(warning, "Warning: ")

    def add(self, attacked: Attacked) -> None:
        """Print the results of an attack that ended."""
        from anonymizer.cli.summary import attack_lines  # noqa: PLC0415 - --help needs none of it
        from anonymizer.report.build import attack_entry  # noqa: PLC0415

        entries = [attack_entry(each.finding, each.seconds) for each in attacked.found or ()]
        self._entries += entries
        self._counted += [(each.by, each.finding.knowledge) for each in attacked.found or ()]
        for line in () if self._json else attack_lines(entries):
            write_line(line)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Print the JSON at the end, also of an interrupt after the first result.

        Raises
        ------
        Interrupted: the user ended the attacks.
        """
        try:
            yield
        except KeyboardInterrupt:
            if not self._entries:
                raise
            self._print({"interrupted": True})
            raise Interrupted("interrupted; the other attacks were not run") from None
        self._print({})

    def _print(self, further: dict[str, Any]) -> None:
        from anonymizer.model.report import to_json  # noqa: PLC0415

        if self._json:
            said: dict[str, Any] = {"warnings": self._warnings} if self._warnings else {}
            if self._beliefs is not None:
                said["beliefs"] = self._beliefs
            if self._answers:
                said["three_questions"] = self._answers
            write_line(to_json({"attacks": self._entries, **said, **further}).rstrip())


def belief_lines(found: list[Belief]) -> Iterator[str]:
    """Yield a line for each target, attribute and value."""
    for each in found:
        inferred = "" if each.inference is None else f", by a model of the release {each.inference:.4f}"
        drawn = "" if each.low == each.high else f" [{each.low:.4f}, {each.high:.4f}]"
        yield (
            f"{each.target}: {each.sensitive} {each.value}: random worlds {each.random_worlds:.4f}, "
            f"deFinetti {each.definetti:.4f}{drawn}{inferred}"
        )


@dataclass(frozen=True)
class _Opened:
    """A release under attack; files stay open until the stack closes.

    Attributes
    ----------
    source: the original records, None without.
    files: the released files that are open.
    """

    stack: ExitStack
    config: Config
    plan: Plan
    release: Path
    source: Relation | None
    files: dict[Path, Relation] = field(default_factory=dict)

    def file(self, path: Path) -> Relation:
        """Return a released file, opened once."""
        from anonymizer.job.source import open_foreign_release  # noqa: PLC0415 - --help needs none of it

        if path not in self.files:
            self.files[path] = self.stack.enter_context(open_foreign_release(path, self.config))
        return self.files[path]

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The files of the release: one, or the two of Anatomy."""
        from anonymizer.release.anatomy import find_anatomy_files  # noqa: PLC0415 - --help needs none of it

        pair = find_anatomy_files(self.release)
        return (self.release,) if pair is None else (pair.records, pair.values)

    def records(self, path: Path) -> Relation:
        """Open a file with the columns of the original records."""
        from anonymizer.job.source import open_as  # noqa: PLC0415 - --help needs none of it

        return self.stack.enter_context(open_as(self.config, path))

    def view(self, other: Path | None, phase: Callable[[str], None]) -> AdversaryView:
        """Return the view of the adversary, with a second release if there is one.

        Parameters
        ----------
        phase: receives what is done once the files are open.
        """
        from anonymizer.adversary.files import adversary_from_files  # noqa: PLC0415
        from anonymizer.commands.check import refused_second, view_of_pair  # noqa: PLC0415

        if other is not None and len(self.paths) > 1:
            raise refused_second(str(self.release))
        first, *values = map(self.file, self.paths)
        second = None if other is None else self.file(other)
        phase(COMPARING)
        if values:
            return view_of_pair(self.plan, (first, values[0]), self.source, self.plan.assessment.weights)
        return adversary_from_files(self.plan, first, self.source, second, self.plan.assessment.weights)

    def beliefs(self, view: AdversaryView, target: str) -> list[Belief]:
        """Return the beliefs about a row of the original, or of the release, or the records of a file."""
        from anonymizer.adversary.original import original_of_files  # noqa: PLC0415
        from anonymizer.adversary.release import as_in_config  # noqa: PLC0415
        from anonymizer.commands.beliefs import attack_of, beliefs_about, hidden_of, persons_of  # noqa: PLC0415

        plan, names, known = self.plan, view.release.names, None
        hidden: list[str] = []
        if target.isascii() and target.isdigit():
            table = self.source or self.file(self.paths[0])
            relation = as_in_config(plan.assessment, table)
            persons = persons_of(relation, names, [int(target)], None if self.source is None else plan)
            if self.source is None and len(self.paths) == 1:
                hidden = hidden_of(plan.columns, relation, int(target))
        elif not Path(target).is_file():
            raise InputError(f"--target: '{target}' is neither a row number nor a file")
        else:
            relation = as_in_config(plan.assessment, self.records(Path(target)))
            persons = persons_of(relation, names, plan=plan)
            if self.source is None and view.grouped is None:
                opened = as_in_config(plan.assessment, self.file(self.release))
                known = original_of_files(plan, view.release, opened, relation)
        return beliefs_about(view, persons, attack_of(plan.assessment), plan.goal.seed, known, hidden, plan)

    def answers(self, view: AdversaryView, control: Path | None) -> list[Answer]:
        """Return the answers to the three questions; none without held-out records."""
        from anonymizer.adversary.files import answers_of_files  # noqa: PLC0415

        if control is None:
            return []
        if self.source is None:
            raise InputError("--control: needs the original records for comparison; add --original")
        return answers_of_files(self.plan, view, self.file(self.release), self.source, self.records(control))
