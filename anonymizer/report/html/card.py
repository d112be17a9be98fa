"""A result in a notebook: the verdict and the promises, no record."""

from __future__ import annotations

from dataclasses import replace

from anonymizer.model.report import Report
from anonymizer.report.facts.gather import Facts
from anonymizer.report.html.page import environment
from anonymizer.report.html.promises import promises
from anonymizer.report.html.verdict import verdict_of


def card(report: Report, facts: Facts) -> str:
    """Return a fragment of HTML without scripts, styles of its own on each element."""
    content = report.to_dict()
    verdict = replace(verdict_of(content, facts), give=(), keep=())
    template = environment().get_template("card.html.jinja")
    return template.render(verdict=verdict, promises=promises(content, facts))
