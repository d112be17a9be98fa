"""A written release against the preset that its config names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from anonymizer.data.relation import Relation
from anonymizer.errors import Exposed
from anonymizer.job.verify import Audited
from anonymizer.model.labels import MISSING, SUPPRESSED
from anonymizer.model.report import Report
from anonymizer.model.table import Role
from anonymizer.plan.columns import Columns
from anonymizer.plan.plan import Plan
from anonymizer.presets.preset import PRESETS
from anonymizer.presets.rules import Column, Published
from anonymizer.report.preset import departs_of


def preset_entry(plan: Plan, tables: Sequence[Relation], audited: Audited) -> dict[str, Any] | None:
    """Return the ``preset`` entry of the report; None where the config names none.

    Parameters
    ----------
    tables: of the release, as they are written.
    """
    if plan.assessment.preset is None:
        return None
    preset = PRESETS[plan.assessment.preset]
    columns = tuple(column for table in tables for column in _columns(table, plan.columns))
    least = None if plan.goal.algorithm.in_groups else _least(audited)
    departures = [asdict(each) for each in preset.departures(Published(columns, least))]
    return {"name": preset.name, "title": preset.title, "departures": departures}


def _columns(table: Relation, planned: Columns) -> list[Column]:
    from anonymizer.profile.column_statistics import measure  # noqa: PLC0415 - most runs have no preset
    from anonymizer.profile.kinds import kinds_of  # noqa: PLC0415
    from anonymizer.profile.proposal import NO_CHOICES, NamesRead  # noqa: PLC0415

    measured = measure(table).columns
    unreadable = not NamesRead.of(measured, NO_CHOICES).most
    absent = {SUPPRESSED, MISSING, *planned.missing}
    columns = []
    for facts in measured:
        kinds = kinds_of(facts, unreadable=unreadable)
        # Rules on single values read all of them, detectors a sample.
        texts = (
            facts.texts
            if facts.whole or not kinds
            else [text or "" for text, _ in table.dictionary(facts.name)]
        )
        shown = [text for text in texts if text not in absent]
        role = planned[facts.name].role if facts.name in planned else Role.INSENSITIVE
        columns.append(Column(facts.name, kinds, shown, role))
    return columns


def _least(audited: Audited) -> int:
    """Return the units in the smallest class: by a constraint that counts them, else the records."""
    counted = [
        int(each.measured)
        for each in audited.measurements
        if each.model == "k-anonymity" and each.measured is not None
    ]
    return min(counted) if counted else int(audited.sizes.min(initial=audited.rows))


def refuse_departing(report: Report) -> None:
    """Refuse a release that departs from its preset, before it is in its place.

    Raises
    ------
    Exposed: it does.
    """
    lines = departs_of(report.to_dict())
    if lines:
        raise Exposed(
            f"{lines[0]}; nothing is released. {' '.join(each.strip() for each in lines[1:])}", report
        )
