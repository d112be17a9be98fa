"""What ``anonymizer attack`` does and prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonymizer.adversary.files import adversary_from_files, answers_of_files
from anonymizer.adversary.original import original_of_files
from anonymizer.adversary.release import as_in_config
from anonymizer.cli.output import above_live_line, messages, progress_monitor, stop_on_interrupt, write_line
from anonymizer.cli.summary import attack_lines
from anonymizer.commands.beliefs import attack_of, beliefs_about, hidden_of, persons_of
from anonymizer.commands.check import refused_second, view_of_pair
from anonymizer.config.load import load_config
from anonymizer.errors import InputError, Interrupted
from anonymizer.job.assessment import attack_in_turn, origin_warning, skipped_attacks
from anonymizer.job.source import open_as, open_foreign_release
from anonymizer.model.report import to_json
from anonymizer.people.warnings import attack_warnings, records_warnings
from anonymizer.plan.plan import plan_of
from anonymizer.release.anatomy import find_anatomy_files
from anonymizer.report.build import attack_entry

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


@dataclass(frozen=True)
class Files:
    """The files that the options name: the release, and what the adversary is given beside it."""

    release: Path
    original: Path | None
    second: Path | None
    control: Path | None


def attack_release(
    config: Path, files: Files, target: str | None, *, force: bool, quiet: bool, json: bool
) -> None:
    """Run attacks of a config on a release, or find what to believe about a target.

    Parameters
    ----------
    force: accept an original that less than half of the release could come from.
    """
    loaded = load_config(config)
    plan = plan_of(loaded)
    results = _Results(json=json)
    with (
        results.ending(),
        stop_on_interrupt(at_once=True) as stopped,
        progress_monitor(stopped, quiet=quiet) as watch,
        ExitStack() as stack,
    ):
        watch.phase(
            "reading "
            + " and ".join(each.name for each in (files.release, files.original, files.second) if each)
        )
        source = None if files.original is None else stack.enter_context(open_as(loaded, files.original))
        opened = _Opened(stack, loaded, plan, files.release, source)
        view = opened.view(files.second, watch.phase)
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
        if files.control is not None:
            watch.phase(f"the three questions, with {files.control.name} as control")
        answers = opened.answers(view, files.control)
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
        for warning in records_warnings(plan.counting, plan.assessment, self._counted, answers):
            self.warn(warning, "Warning: ")

    def add(self, attacked: Attacked) -> None:
        """Print the results of an attack that ended."""
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
        if path not in self.files:
            self.files[path] = self.stack.enter_context(open_foreign_release(path, self.config))
        return self.files[path]

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The files of the release: one, or the two of Anatomy."""
        pair = find_anatomy_files(self.release)
        return (self.release,) if pair is None else (pair.records, pair.values)

    def records(self, path: Path) -> Relation:
        """Open a file with the columns of the original records."""
        return self.stack.enter_context(open_as(self.config, path))

    def view(self, other: Path | None, phase: Callable[[str], None]) -> AdversaryView:
        """Return the view of the adversary, with a second release if there is one.

        Parameters
        ----------
        phase: receives what is done once the files are open.
        """
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
        if control is None:
            return []
        if self.source is None:
            raise InputError("--control: needs the original records for comparison; add --original")
        return answers_of_files(self.plan, view, self.file(self.release), self.source, self.records(control))
