"""report.html: the report and the facts beside it as one page that needs nothing else."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from anonymizer.model.report import Report
from anonymizer.report.facts.gather import Facts
from anonymizer.report.html.form import form_of
from anonymizer.report.html.glossary import GLOSSARY
from anonymizer.report.html.lost import distribution_charts, groups_chart, losses_chart, metrics, undrawn
from anonymizer.report.html.promises import promises
from anonymizer.report.html.repeat import CONFIG, budget_note, commands, config_text, fingerprints, roles
from anonymizer.report.html.risk import attacks_chart, knowledge_chart, matrix
from anonymizer.report.html.searched import facts_of_search, search_chart
from anonymizer.report.html.useful import useful
from anonymizer.report.html.verdict import verdict_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = "templates"

SECTIONS = (
    ("promises", "Promises"),
    ("risk", "Risk"),
    ("lost", "Loss"),
    ("useful", "Use"),
    ("groups", "Groups"),
    ("search", "Search"),
    ("repeat", "Repeat it"),
    ("glossary", "Words"),
)
"""Sections by id and name."""


def page(report: Report, facts: Facts) -> str:
    """Return the page of a release.

    It has no script and links to nothing; the same report and facts give the same text.

    Parameters
    ----------
    report: the internal report of a satisfied run.
    facts: what it shows beside the report.
    """
    content = report.to_dict()
    template = environment().get_template("page.html.jinja")
    return template.render(
        style=files(__package__).joinpath(TEMPLATES, "page.css").read_text(encoding="utf-8"),
        verdict=verdict_of(content, facts),
        sections=[each for each in SECTIONS if each[0] != "useful" or content.get("utility")],
        promises=promises(content, facts),
        glossary=GLOSSARY,
        version=content["environment"]["anonymizer"],
        utility=useful(content),
        **_charts(content, facts),
        **_texts(content),
    )


def _charts(content: dict[str, Any], facts: Facts) -> dict[str, Any]:
    return {
        "attacks": attacks_chart(content),
        "knowledge": knowledge_chart(facts),
        "matrix": matrix(content),
        "losses": losses_chart(facts),
        "metrics": metrics(content),
        "distributions": distribution_charts(facts),
        "undrawn": undrawn(facts),
        "groups": groups_chart(content, facts),
        "search": search_chart(content),
        "searched": facts_of_search(content),
    }


def _texts(content: dict[str, Any]) -> dict[str, Any]:
    return {
        "measured_on": form_of(content).measured,
        "config_name": CONFIG,
        "config": config_text(content),
        "commands": commands(content),
        "budget_note": budget_note(content),
        "fingerprints": fingerprints(content),
        "roles": roles(content),
    }


@cache
def environment() -> Environment:
    """Return the templates; every value that they show is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - only pages need it

    made = Environment(
        loader=PackageLoader(__package__, TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["with_code"] = with_code
    return made


def with_code(words: str) -> Markup:
    """Return words for a page, what stands between backticks as code.

    >>> with_code("set `k` > 1")
    Markup('set <code>k</code> &gt; 1')
    """
    from markupsafe import Markup, escape  # noqa: PLC0415 - only pages need it

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(words))))
