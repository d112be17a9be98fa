"""What an adversary knows from files alone."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.adversary.original import links_by_originals, original_of_files
from anonymizer.adversary.release import (
    by_config_names,
    read_release,
    view_of_release,
    with_labels,
    with_published_labels,
)
from anonymizer.adversary.two_releases import pair_of_releases
from anonymizer.attacks.three_questions import Answer, worst_answers
from anonymizer.data.relation import Relation
from anonymizer.errors import InputError
from anonymizer.model.adversary import AdversaryView
from anonymizer.model.recoding import COUNT, GROUP
from anonymizer.model.table import Role
from anonymizer.people.population import check_held_out
from anonymizer.plan.bands import put_in_bands
from anonymizer.plan.columns import Columns
from anonymizer.plan.plan import Plan


def adversary_from_files(
    plan: Plan,
    release: Relation,
    original: Relation | None = None,
    second: Relation | None = None,
    weights: Sequence[str] = (),
) -> AdversaryView:
    """Return the view of an adversary with a release, and optionally original records and a second release.

    Links are reconstructed: an original record may be linked to a released one that generalizes its
    quasi-identifiers and has its sensitive values.

    Parameters
    ----------
    plan: roles and hierarchies of the columns.
    weights: columns of the release with sampling weights.

    Raises
    ------
    InputError: the release has no quasi-identifier of the config, or shares none with the original, or is one
        of the two files of an Anatomy release.
    """
    release, original, second = by_config_names(plan.assessment, release, original, second)
    for each in (release, second):
        _refuse_half(plan.columns, each)
    if original is not None:
        put_in_bands(plan.columns, original)
    release = with_published_labels(plan.columns, release)
    second = None if second is None else with_published_labels(plan.columns, second)
    seen = view_of_release(plan.columns, release, weights, plan.counting.pseudonym)
    table, named = seen.release, seen.named
    own = None if original is None else original_of_files(plan, table, release, original)
    if second is None:
        return AdversaryView(table, None, own, named=named)
    other = read_release(plan.columns, second)
    same = None if original is None else original_of_files(plan, other, second, original)
    pair = None
    if not plan.assessment.attacks or any(each.compares_releases for each in plan.assessment.attacks):
        pair = pair_of_releases(
            plan.columns, plan.assessment, (table, release), (other, second), links_by_originals(own, same)
        )
    return AdversaryView(table, other, own, same, pair=pair, named=named)


def answers_of_files(
    plan: Plan, view: AdversaryView, release: Relation, original: Relation, control: Relation
) -> list[Answer]:
    """Return the answers to the three questions of European law, with records that were held out as control.

    Parameters
    ----------
    view: of the release and the original.
    control: records of other people, with the columns of the original.

    Raises
    ------
    InputError: the view is of an Anatomy release, a person is in both files, or they differ in columns.
    """
    if view.original is None or view.grouped is not None:
        raise InputError(
            f"{control.name}: records that were held out are compared with a release of one table, and with "
            "its original records; give both, or leave them out"
        )
    release, original, other = by_config_names(plan.assessment, release, original, control)  # type: ignore[assignment]
    assert other is not None
    check_held_out(plan, original, other)
    put_in_bands(plan.columns, other)
    held_out = original_of_files(
        plan, view.release, with_labels(plan.columns, release), other, first=original
    )
    scenarios = {
        each.scenario: each.knowledge for each in plan.goal.planned if each.scenario and each.knowledge
    }
    return worst_answers(view.release, view.original, held_out, scenarios)


def _refuse_half(columns: Columns, relation: Relation | None) -> None:
    """Refuse a single file of an Anatomy release: it has the column ``group`` and lacks others."""
    if relation is None or GROUP in columns or GROUP not in relation.columns:
        return
    lacking = [name for name in columns.with_role(Role.SENSITIVE) if name not in relation.columns]
    if lacking or COUNT in relation.columns:
        halved = f"the column '{GROUP}' and not '{lacking[0]}'" if lacking else f"'{GROUP}' and '{COUNT}'"
        raise InputError(
            f"{relation.name}: has {halved}, so it is one of the two tables of an Anatomy release; give "
            "both, in Python the records and sensitive_table="
        )
