"""decisions.json: what was asked of a release, what was measured, and what people have decided.

A record for machines, such as those of research environments: the public report, criteria, thresholds,
results, versions and answers. It is internal, as the dossier is. ``decisions.schema.json`` in the folder of
the templates is its JSON Schema.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from anonymizer.model.report import Report
from anonymizer.report.dossier import (
    DATES,
    QUESTIONS,
    Dossier,
    Review,
    acknowledgements,
    evidence,
    facts_of,
    findings,
)
from anonymizer.report.dossier_page import NOT_LEGAL
from anonymizer.report.exposure import in_one_line
from anonymizer.report.page import TEMPLATES
from anonymizer.report.public import public_report

SCHEMA_FILE = "decisions.schema.json"

_OF_ATTACK = (
    *("attack", "knowledge", "success", "baseline", "low", "high", "records", "ceiling"),
    *("tail", "tail_low", "tail_high", "tail_baseline"),
)
_OF_UTILITY = ("measure", "attributes", "value", "untouched", "suppressed", "smaller_is_better")


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a record."""
    text = files(__package__).joinpath(TEMPLATES, SCHEMA_FILE).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def record(dossier: Dossier, review: Review) -> dict[str, Any]:
    """Return the record of a dossier, in plain JSON types."""
    content, template = dossier.content, dossier.template
    release = content["release"]
    second = release.get("sensitive_table")
    smallest = facts_of(content).smallest
    return {
        "schema": 1,
        "note": NOT_LEGAL,
        "release": {
            "path": release["path"],
            "sha256": release["sha256"],
            "sensitive_table_sha256": None if second is None else second["sha256"],
            "report_sha256": dossier.report_sha256,
            "answers_of_this_release": not dossier.changed,
        },
        "template": {key: template.get(key) for key in ("name", "title", "dated", "about", "preset")},
        "answers": _answers(dossier),
        "columns": [_column(each, dossier.answers["columns"]) for each in content["columns"]],
        "criteria": [_criterion(dossier, each) for each in template["criteria"]],
        "thresholds": [
            {
                "asks": each.asks,
                "source": each.source,
                "measured": None if each.measured is None else _plain(each.measured),
                "met": each.met,
            }
            for each in review.thresholds
        ],
        "results": {
            "status": content["status"],
            "interrupted": content["interrupted"],
            "verdict": in_one_line(content),
            "constraints": list(content["constraints"]),
            "scenarios": dict(content.get("scenarios", {})),
            "attacks": [{key: each.get(key) for key in _OF_ATTACK} for each in content["attacks"]],
            "three_questions": list(content.get("three_questions", ())),
            "findings": [
                {"finding": _plain(each.what), "done": _plain(each.done) or None}
                for each in findings(content)
            ],
            "loss": dict(content["loss"]),
            "utility": [{key: each[key] for key in _OF_UTILITY} for each in content.get("utility", ())],
        },
        "acknowledged": [
            {key: each.get(key) for key in ("finding", "because", "by")} for each in acknowledgements(content)
        ],
        "open_points": [{"point": each.what, "decision": each.decision or None} for each in review.points],
        "versions": dict(content["environment"]),
        "public_report": public_report(Report(content), smallest).to_dict(),
    }


def _answers(dossier: Dossier) -> list[dict[str, str | None]]:
    sources = {each["key"]: each.get("source") for each in dossier.template["questions"]}
    core = {**QUESTIONS, **DATES}
    keys = [*core, *(key for key in sources if key not in core)]
    asked = dossier.asked()
    return [
        {
            "key": key,
            "asks": asked[key],
            "source": sources.get(key) or None,
            "answer": dossier.answer(key) or None,
        }
        for key in keys
    ]


def _column(entry: Mapping[str, Any], reasons: Mapping[str, str]) -> dict[str, Any]:
    return {
        "column": entry["column"],
        "role": entry["role"],
        "treatment": entry["treatment"],
        "findings": entry["finding"],
        "reason": reasons.get(entry["column"]) or None,
    }


def _criterion(dossier: Dossier, own: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "key": own["key"],
        "name": own["name"],
        "asks": own["asks"],
        "source": own.get("source") or None,
        "measured": [
            {key: each.get(key) for key in ("attack", "knowledge", "success", "baseline", "low", "high")}
            for each in evidence(dossier, own)
        ],
        "answer": dossier.answer(own["key"]) or None,
    }


def _plain(words: str) -> str:
    """Return words for machines, without spaces that are not broken."""
    return words.replace("\xa0", " ")
