"""A run on a data frame, and its result: a release in memory, with its report and charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from anonymizer.adversary.candidate import adversary_of
from anonymizer.commands.save import Savable, in_python
from anonymizer.config.attribute import Treatment, treatment_of
from anonymizer.config.model import Config
from anonymizer.errors import InputError, plural, shown, suggestion
from anonymizer.hierarchy.source import to_networkx
from anonymizer.job.job import Finished, Job
from anonymizer.job.sinks import FrameSink
from anonymizer.job.source import frame_source, run_as_spelled
from anonymizer.model.arrays import count
from anonymizer.model.classes import Released
from anonymizer.model.feature_rows import Stage
from anonymizer.model.naming import in_spelling_of
from anonymizer.model.recoding import GROUP
from anonymizer.model.report import Report
from anonymizer.model.spelling import suggested
from anonymizer.model.table import QuasiIdentifier, SensitiveAttribute, Table
from anonymizer.model.warning import ordered
from anonymizer.people.released import with_person_records
from anonymizer.plan.engine import engine_options, reading_release
from anonymizer.plan.plan import plan_of
from anonymizer.privacy.base import Constraint
from anonymizer.report.charts import (
    draw_attacks,
    draw_distribution,
    draw_groups,
    draw_knowledge,
    draw_losses,
    draw_search,
    progress_of,
)
from anonymizer.report.columns import HEAD, columns_row
from anonymizer.report.exposure import but_of, in_one_line
from anonymizer.report.facts import Facts, attribute_losses, gather
from anonymizer.report.page import card, dots_of, page

if TYPE_CHECKING:
    import networkx
    import pandas
    from matplotlib.axes import Axes


Frame = TypeVar("Frame")


@dataclass(frozen=True, eq=False)
class ReportInputs:
    """The data that the facts of a result are counted from.

    Attributes
    ----------
    released: the recoding with its classes.
    constraints: in the order of the report.
    moving_reference: whether the distribution p is that of the release.
    table: the searched one; None if it is generalized, as the full one does not fit in memory.
    files: what the release is written from.
    """

    released: Released
    constraints: tuple[Constraint, ...]
    moving_reference: bool
    table: Table | None
    files: Savable


@dataclass(frozen=True, eq=False, repr=False)
class Result(Generic[Frame]):
    """A release in memory.

    Printed, it shows its verdict, its loss and what became of the columns; a notebook shows its verdict and
    constraints. The ``plot_*`` methods draw the charts of report.html; each
    draws onto the given Axes, by default those of a new pyplot figure, and returns them.

    Attributes
    ----------
    data: the released records, in a DataFrame of the input's kind with a new index. Columns keep their type;
        a recoded column becomes text if a published value is not of its type.
    report: the content of report.json; paths and hashes of files are None.
    sensitive_table: of an Anatomy release, the number of records of each group with each sensitive value;
        ``data`` then has the group of each record instead. None if ``data`` has all columns.
    """

    data: Frame
    report: Report
    _basis: ReportInputs = field(repr=False)
    sensitive_table: Frame | None = None

    @cached_property
    def facts(self) -> Facts:
        """The facts that report.html shows in addition to the report, counted on first use."""
        basis = self._basis
        return gather(basis.released, basis.constraints, moving_reference=basis.moving_reference)

    @property
    def columns(self) -> pandas.DataFrame:
        """What the recipient sees: a row for each column of the input, as report.html shows it.

        ``example`` is the most frequent published value, ``changed`` the share of the released records with
        another value than in the input, and ``finding`` what the release shows beyond its constraints. A
        cell is None where that is not known, or too few records have it.
        """
        import pandas as pd  # noqa: PLC0415 - the command line does without it

        rows = [columns_row(each) for each in self.report["columns"]]
        return pd.DataFrame(rows, columns=list(HEAD), dtype=object)

    @property
    def scenarios(self) -> dict[str, str]:
        """What the adversary of each scenario reaches at most, in one sentence."""
        entries: dict[str, Any] = self.report.to_dict().get("scenarios", {})
        return {name: each["sentence"] for name, each in entries.items()}

    @property
    def hierarchies(self) -> dict[str, networkx.DiGraph[Any]]:
        """The hierarchies of the quasi-identifiers, and of sensitive attributes with one, as networkx trees.

        Nodes are ``(level, label)`` with the attributes ``label``, ``level``, ``leaves`` (values under the
        node) and ``count`` (input records under it); edges lead from parent to child. In a config, a tree is
        a ``hierarchy`` again.
        """
        table = self._basis.table or self._basis.released.table
        every: list[QuasiIdentifier | SensitiveAttribute] = [*table.quasi_identifiers, *table.sensitive]
        return {each.name: tree_of_attribute(each) for each in every if each.hierarchy is not None}

    def __repr__(self) -> str:
        """Return the verdict, the loss, and the columns by what the run did with them."""
        content = self.report.to_dict()
        lines = [in_one_line(content)]
        worst = but_of(content)
        lines += [] if worst is None else [f"  remedy: {worst['remedy']}"]
        metric, loss = content["config"]["objective"]["metric"], content["search"]["objective"]
        lines.append(f"  {metric} {loss:.4g}; {plural(content['release']['rows'], 'record')}")
        by_treatment: dict[str, list[str]] = {each: [] for each in Treatment}
        losses = attribute_losses(self._basis.released)
        kept = {each.name for each in losses if each.level == 0 or each.loss == 0}
        for name, settings in content["config"]["attributes"].items():
            by_treatment[Treatment.UNCHANGED if name in kept else treatment_of(settings)].append(name)
        lines += [f"  {each}: {', '.join(names)}" for each, names in by_treatment.items() if names]
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return the page report.html of the release, which is internal."""

        return page(self.report, self.facts)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> Report:
        """Write the release and its reports into a folder, as the command ``run`` does.

        The release is written as it was verified, in the format of ``output`` of the config, and read back;
        later changes of ``data`` are not in it.

        Parameters
        ----------
        folder: receives ``share/`` with the release and its public report, and internal reports.
        overwrite: whether an earlier release there may be replaced.

        Returns
        -------
        The report of the files, with their paths and hashes.

        Raises
        ------
        InputError: the folder cannot be written, or has an earlier release.
        AuditFailed: the files, read back, hold other records.
        """
        if not isinstance(folder, str | PurePath):
            raise InputError(f"save: {shown(folder)}; accepted: the path of a folder")
        with in_python():
            return self._basis.files.save(self.report, self.facts, Path(folder), overwrite=overwrite)

    def beliefs(self, persons: Any, *, seed: int = 0) -> pandas.DataFrame:
        """Return what an adversary who knows the originals' quasi-identifiers believes about some persons.

        Parameters
        ----------
        persons: a mapping of quasi-identifiers of one person, as in ``{"age": 43, "sex": "F"}``, or a
            DataFrame with a row for each. Other columns of the input may be among them. Of a person who fits
            several classes, the mean over their records is returned.
        seed: of the chains.

        Returns
        -------
        One row for each person, sensitive attribute and value in their class or bucket: ``random_worlds``,
        the share there; ``definetti`` with ``low`` and ``high``; ``inference``, by naive Bayes trained on the
        release (missing for Anatomy), which gives the rest to values that the class lacks.

        Raises
        ------
        InputError: nobody has these values, everybody who has is suppressed, or the input lacks a column.
        """
        import pandas as pd  # noqa: PLC0415 - the command line does without it

        from anonymizer.commands.beliefs import beliefs_about  # noqa: PLC0415
        from anonymizer.data.frame_kinds import frame_kind  # noqa: PLC0415

        rows: Sequence[Mapping[Any, Any]] = (
            [persons]
            if isinstance(persons, Mapping)
            else frame_kind(persons).to_pandas(persons).to_dict("records")
        )
        columns = [*self.report["config"]["attributes"], GROUP]
        rows = [in_spelling_of(columns, {str(name): value for name, value in row.items()}) for row in rows]
        _refuse_unknown(rows[0] if rows else (), columns)
        named = {f"row {row}": _texts(own) for row, own in enumerate(rows, start=1)}
        if self._basis.table is None:
            raise InputError("beliefs: the distinct rows of the input do not fit in memory; use more memory")
        view = adversary_of(self._basis.table, self._basis.released.recoding)
        return pd.DataFrame([asdict(each) for each in beliefs_about(view, named, seed=seed)])

    def _repr_html_(self) -> str:

        return card(self.report, self.facts)

    def plot_attacks(self, *, ax: Axes | None = None) -> Axes:
        """Draw the success of each attack in the config, next to its baseline; without attacks, say so."""
        from anonymizer.report.notebook import plotted  # noqa: PLC0415

        dots, title = dots_of(self.report["attacks"]), "What each attack reaches"
        return plotted(ax, title, draw_attacks(dots) if dots else NO_ATTACKS)

    def plot_knowledge(self, *, ax: Axes | None = None) -> Axes:
        """Draw the probability that one guess re-identifies a record, by number of known attributes.

        Raises
        ------
        InputError: there are too many sets of quasi-identifiers to evaluate.
        """
        from anonymizer.report.notebook import plotted  # noqa: PLC0415

        if not self.facts.knowing:
            raise InputError("too many sets of quasi-identifiers to evaluate; run the attack vulnerability")
        return plotted(ax, "The more is known, the more is found", draw_knowledge(self.facts.knowing))

    def plot_losses(self, *, ax: Axes | None = None) -> Axes:
        """Draw how much of each quasi-identifier was lost, from 0 to 1."""
        from anonymizer.report.notebook import plotted  # noqa: PLC0415

        return plotted(ax, "Loss by attribute", draw_losses(self.facts.losses))

    def plot_distribution(self, attribute: str, *, ax: Axes | None = None) -> Axes:
        """Draw a quasi-identifier before (hollow) and after (filled), with rare values combined.

        Raises
        ------
        InputError: it is not a quasi-identifier, or its distribution cannot be shown.
        """
        from anonymizer.report.notebook import plotted  # noqa: PLC0415

        by_name = {each.attribute: each for each in self.facts.distributions}
        if attribute not in by_name:
            raise InputError(
                f"'{attribute}' is not a quasi-identifier; {suggestion(str(attribute), by_name)}"
            )
        drawn = by_name[attribute]
        if not drawn.labels:
            raise InputError(f"'{attribute}' cannot be drawn: {drawn.reason}")
        return plotted(ax, f"{attribute}, before and after", draw_distribution(drawn))

    def plot_groups(self, *, ax: Axes | None = None) -> Axes:
        """Draw the number of equivalence classes by size.

        Raises
        ------
        InputError: there are so few classes that the chart could disclose a single one.
        """
        from anonymizer.report.notebook import plotted  # noqa: PLC0415

        if not self.facts.groups:
            raise InputError(f"fewer than {self.facts.smallest} groups, too few to draw")
        return plotted(ax, "Groups by size", draw_groups(self.facts.groups))

    def plot_search(self, *, ax: Axes | None = None) -> Axes:
        """Draw the best objective so far by number of candidates, and the proven bound.

        An algorithm that does not report single candidates has no such chart; it then says so.
        """
        from anonymizer.report.notebook import plotted  # noqa: PLC0415

        title, search = "How it was found", self.report["search"]
        progress = progress_of(self.report["steps"], search)
        if progress.best:
            return plotted(ax, title, draw_search(progress))
        return plotted(ax, title, NO_STEPS.format(search["algorithm"], search["objective"]))


def tree_of_attribute(attribute: QuasiIdentifier | SensitiveAttribute) -> networkx.DiGraph[Any]:
    """Return the hierarchy of an attribute as a tree of networkx."""
    hierarchy, leaf, column = attribute.hierarchy, attribute.leaf, attribute.column
    assert hierarchy is not None, "the attribute has one"
    assert leaf is not None, "so has each value a place in it"
    return to_networkx(hierarchy, count(leaf.astype(np.int64), column.counts, hierarchy.leaves))


def _refuse_unknown(names: Iterable[Any], columns: Sequence[str]) -> None:
    """Refuse names that no column of the input has, as they say nothing about a person."""
    for name in map(str, names):
        if name not in columns:
            raise InputError(f"beliefs: the input has no column '{name}'; {suggested(name, columns)}")


def _texts(person: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the values of a person as texts; a missing one is None."""
    return {
        str(name): None if value is None or value != value else str(value)  # noqa: PLR0124 - NaN
        for name, value in person.items()
    }


NO_ATTACKS = "No attack was run.\nAdd some to the config, such as\nattacks: [vulnerability, uniqueness]"
"""In place of the chart of attacks."""


NO_STEPS = (
    "{} does not report the candidates of its search;\nit found {:.4g}.\n"
    "To see a search, set algorithm: {{name: lattice}} or {{name: local}}"
)
"""In place of the chart of a search."""


def _run_on_frame(frame: pandas.DataFrame, config: Config) -> tuple[Finished, FrameSink]:
    options = engine_options(config)
    if options.engine is not None:
        raise InputError(f"engine.name: {options.engine} reads files; for a DataFrame set memory or duckdb")
    sink = FrameSink(reading_release(options, config))
    return Job(plan_of(config), options).run(frame_source(frame), sink), sink


def anonymize_frame(
    frame: pandas.DataFrame, config: Config, warnings: Sequence[str] = ()
) -> Result[pandas.DataFrame]:
    """Search, build a release, measure it again, and report.

    Parameters
    ----------
    warnings: about the config, for the report.

    Raises
    ------
    InputError: the config does not fit the frame.
    Infeasible: no release satisfies the constraints, or none was found in the budget.
    AuditFailed: the DataFrame differs from the release that was found.
    """
    config.require(Stage.FRAME)
    done, sink = run_as_spelled(config, partial(_run_on_frame, frame))
    prepared = done.found.prepared
    problem = prepared.problem
    table = problem.table if problem.source is None else None
    own = with_person_records(prepared, done.found.promised)
    files = Savable.of(config, done, sink.frames)
    basis = ReportInputs(own, prepared.constraints, problem.moving_reference, table, files)
    first, *others = sink.frames
    content = done.report.to_dict()
    report = Report({**content, "warnings": ordered([*content["warnings"], *warnings])})
    return Result(first, report, basis, *others)
