"""What anonymizing a DataFrame returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from anonymizer.errors import InputError, suggestion
from anonymizer.model.classes import Released
from anonymizer.model.report import Report
from anonymizer.privacy.base import Constraint
from anonymizer.report.facts import Facts, gather

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Frame = TypeVar("Frame")


@dataclass(frozen=True, eq=False)
class ReportInputs:
    """What the facts of a result are counted from.

    Attributes
    ----------
    released: the recoding with its classes.
    constraints: in the order of the report.
    moving_reference: whether the distribution p is that of the release.
    """

    released: Released
    constraints: tuple[Constraint, ...]
    moving_reference: bool


@dataclass(frozen=True, eq=False)
class Result(Generic[Frame]):
    """A release in memory.

    In a notebook it shows its verdict and promises. The ``plot_*`` methods draw the charts of report.html;
    each takes the Axes to draw onto (without: those of a new figure of pyplot) and returns them.

    Attributes
    ----------
    data: the released records, of the kind that was given, with a new index. Columns keep their type, recoded
        ones where all that is published are values of theirs; else those are text.
    report: what report.json would hold; paths and hashes of files are None.
    sensitive_table: of a release in groups, how many records of each group have which sensitive value;
        ``data`` then has the group of each record instead. None where ``data`` has all columns.
    """

    data: Frame
    report: Report
    _basis: ReportInputs = field(repr=False)
    sensitive_table: Frame | None = None

    @cached_property
    def facts(self) -> Facts:
        """What report.html shows beside the report, counted when it is first asked for."""
        basis = self._basis
        return gather(basis.released, basis.constraints, moving_reference=basis.moving_reference)

    def _repr_html_(self) -> str:
        from anonymizer.report.page import card  # noqa: PLC0415 - only notebooks need it

        return card(self.report, self.facts)

    def plot_attacks(self, *, ax: Axes | None = None) -> Axes:
        """Draw what each attack of the config reached, beside what a guess reaches.

        Raises
        ------
        InputError: the config lists no attack.
        """
        from anonymizer.report.charts import draw_attacks  # noqa: PLC0415 - only plots need it
        from anonymizer.report.sections import dots_of  # noqa: PLC0415

        dots = dots_of(self.report["attacks"])
        if not dots:
            raise InputError("no attack was run; list some under 'attacks' in the config")
        return _named(draw_attacks(_axes(ax), dots), "What each attack reaches")

    def plot_knowledge(self, *, ax: Axes | None = None) -> Axes:
        """Draw the chance of one right guess about who a record is, by number of known attributes.

        Raises
        ------
        InputError: there are too many quasi-identifiers and records to look at every set of them.
        """
        from anonymizer.report.charts import draw_knowledge  # noqa: PLC0415

        if not self.facts.knowing:
            raise InputError("too many sets of quasi-identifiers to look at; run the attack vulnerability")
        return _named(draw_knowledge(_axes(ax), self.facts.knowing), "The more is known, the more is found")

    def plot_losses(self, *, ax: Axes | None = None) -> Axes:
        """Draw how much of each quasi-identifier was lost, from 0 to 1."""
        from anonymizer.report.charts import draw_losses  # noqa: PLC0415

        return _named(draw_losses(_axes(ax), self.facts.losses), "Loss by attribute")

    def plot_distribution(self, attribute: str, *, ax: Axes | None = None) -> Axes:
        """Draw a quasi-identifier before (hollow) and after (filled), rare values together.

        Raises
        ------
        InputError: it is no quasi-identifier, or nothing of it can be shown.
        """
        from anonymizer.report.charts import draw_distribution  # noqa: PLC0415

        by_name = {each.attribute: each for each in self.facts.distributions}
        if attribute not in by_name:
            raise InputError(f"'{attribute}' is no quasi-identifier; {suggestion(attribute, by_name)}")
        shown = by_name[attribute]
        if not shown.labels:
            raise InputError(f"'{attribute}' cannot be drawn: {shown.reason}")
        return _named(draw_distribution(_axes(ax), shown), f"{attribute}, before and after")

    def plot_groups(self, *, ax: Axes | None = None) -> Axes:
        """Draw how many equivalence classes there are of which size.

        Raises
        ------
        InputError: there are too few to tell nothing of single ones.
        """
        from anonymizer.report.charts import draw_groups  # noqa: PLC0415

        if not self.facts.groups:
            raise InputError(f"fewer than {self.facts.smallest} groups, too few to draw")
        return _named(draw_groups(_axes(ax), self.facts.groups), "Groups by size")

    def plot_search(self, *, ax: Axes | None = None) -> Axes:
        """Draw the best objective found so far against candidates looked at, and the proven bound.

        Raises
        ------
        InputError: the algorithm does not look at candidates one after another.
        """
        from anonymizer.report.charts import draw_search, progress_of  # noqa: PLC0415

        progress = progress_of(self.report["steps"], self.report["search"])
        if not progress.best:
            raise InputError(f"{self.report['search']['algorithm']} reports no steps that could be drawn")
        return _named(draw_search(_axes(ax), progress), "How it was found")


def _named(axes: Axes, title: str) -> Axes:
    """Say on a chart what the page says around it: its title, and what its marks are."""
    axes.set_title(title, fontweight="bold")
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(
            handles,
            labels,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.1),
            ncols=len(labels),
            frameon=False,
        )
    return axes


def _axes(ax: Axes | None) -> Axes:
    """Return the axes to draw onto."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # noqa: PLC0415 - half a second that only plots need

    axes: Axes = pyplot.subplots(layout="constrained")[1]
    return axes
