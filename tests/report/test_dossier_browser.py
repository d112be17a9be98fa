"""dossier.html in a browser: no barrier, no request, at most six A4 pages, however much there is to say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml

from anonymizer.commands.dossier_forms import LONGEST_ANSWER, LONGEST_DECISION, LONGEST_REASON
from anonymizer.presets.preset import PRESETS
from tests.docs.pages import ROOT
from tests.report.html.test_browser import BARRIERS, Opened
from tests.report.test_dossier import check_numbers
from tests.resources import chromium
from tests.run.commands import call

pytestmark = [pytest.mark.browser, pytest.mark.defaults]

MOST_PAGES = 6
RECORDS = 800
WORDS = "The office has weighed the risk against the use and finds it small enough for this recipient. "


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a release of the sample and one of the hospital's config, of few records."""
    folder = tmp_path_factory.mktemp("releases")
    with (ROOT / "examples" / "sample.csv").open(encoding="utf-8") as stream:
        (folder / "sample.csv").write_text("".join(islice(stream, RECORDS + 1)), encoding="utf-8")
    for name in ("sample", "hospital"):
        config = shutil.copy(ROOT / "examples" / f"{name}.yaml", folder)
        done = call("run", config, "-o", folder / name, "--quiet", "--set", "algorithm.name=mondrian")
        assert done.code == 0, done.err
    return folder


def pages_of(browser: Any, path: Path) -> int:
    """Print a page to PDF, and return the number of its pages."""
    with Opened(browser, path, "light", 1100) as opened:
        printed: bytes = opened.page.pdf(prefer_css_page_size=True)
    return len(re.findall(rb"/Type\s*/Page\b", printed))


def dossier(folder: Path, template: str) -> Path:
    (folder / "dossier.yaml").unlink(missing_ok=True)
    done = call("dossier", folder, "--template", template)
    assert done.code == 0, done.err
    return folder / "dossier.html"


def fill(folder: Path) -> None:
    """Answer everything at the greatest length."""
    path = folder / "dossier.yaml"
    given = yaml.safe_load(path.read_text(encoding="utf-8"))
    long, middle, short = (
        (WORDS * 10)[:longest] for longest in (LONGEST_ANSWER, LONGEST_DECISION, LONGEST_REASON)
    )
    for key, own in given.items():
        if own == "":
            given[key] = "2029-01-31" if key in ("decided_on", "expires") else long
    given["answers"] = dict.fromkeys(given["answers"], long)
    given["columns"] = dict.fromkeys(given["columns"], short)
    given["open_points"] = [{"point": each["point"], "decision": middle} for each in given["open_points"]]
    path.write_text(json.dumps(given), encoding="utf-8")
    assert call("dossier", folder).code == 0


@pytest.mark.parametrize("template", ["general", "hipaa-expert", "ema-0070"])
@pytest.mark.parametrize("name", ["sample", "hospital"])
def test_a_dossier_prints_to_at_most_six_pages(
    name: str, template: str, browser: Any, releases: Path
) -> None:
    path = dossier(releases / name, template)
    assert 2 <= pages_of(browser, path) <= MOST_PAGES
    check_numbers(releases / name, template)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390])
@pytest.mark.parametrize("name", ["sample", "hospital"])
def test_a_dossier_opens_without_barriers(
    name: str, width: int, scheme: str, browser: Any, releases: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    path = dossier(releases / name, "ema-0070")
    with Opened(browser, path, scheme, width) as opened:
        assert opened.errors == []
        assert opened.requests == [path.as_uri()]
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(opened.page).response["violations"]
        barriers = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in BARRIERS]
        assert barriers == []


def longest(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report with more of everything than six pages hold."""
    many = deepcopy(report)
    for key, times in (("attacks", 6), ("constraints", 10)):
        many[key] = [deepcopy(each) for each in report[key] for _ in range(times)]
    many["columns"] = [
        each | {"column": f"{each['column']} of wave {number}", "finding": ["singles out over 99 % of them"]}
        for each in report["columns"]
        for number in range(20)
    ]
    many["warnings"] = [f"{number}: {each}" for each in (*report["warnings"], WORDS) for number in range(40)]
    finding = {"because": "make 'a' and 'b' known", "remedy": "x", "kind": "unit"}
    many["exposure"]["findings"] = [finding | {"sentence": f"{number} {WORDS[:-2]}"} for number in range(30)]
    many["exposure"]["sentence"] = WORDS
    many["scenarios"] = {
        f"intruder {number}": {
            "sentence": WORDS,
            "known": ["age", "sex"],
            "sets": 1,
            "recipient": None,
            "constraints": deepcopy(report["constraints"]),
        }
        for number in range(12)
    }
    many["three_questions"] = [
        {"question": name, "sentence": f"{number}: {WORDS}"}
        for name in ("singling-out", "linkability", "inference")
        for number in range(9)
    ]
    rule = PRESETS["hipaa-expert"].rules[0]
    departs = {"column": "age", "asks": rule.asks, "has": WORDS, "source": rule.source}
    many["preset"] = {"name": "hipaa-expert", "title": "t", "departures": [departs] * 30}
    unit = {"column": "id", "units": 999, "records": 9999, "lost": 9, "lost_at_most": 99}
    many["units"] = {f"unit {number}": unit for number in range(9)}
    measure = {"attributes": ["age"], "value": 0.1, "untouched": 0.0, "suppressed": 1.0, "details": {}}
    many["utility"] = [
        measure | {"measure": f"measure {number}", "smaller_is_better": True} for number in range(30)
    ]
    return many


OWN = {
    "name": "own",
    "title": WORDS[:90],
    "dated": "2026-01-01",
    "about": WORDS * 3,
    "preset": "hipaa-expert",
    "criteria": [
        {"key": f"c{n}", "name": "C", "asks": WORDS, "source": WORDS, "attacks": ["linkage", "inference"]}
        for n in range(4)
    ],
    "questions": [{"key": f"q{number}", "asks": WORDS, "source": WORDS} for number in range(4)],
    "signatures": ["Prepared by", "Reviewed by", "Decided by"],
}


@pytest.mark.parametrize("template", ["general", "hipaa-expert", "ema-0070", "own"])
def test_the_longest_dossier_prints_to_six_pages(
    template: str, browser: Any, releases: Path, tmp_path: Path
) -> None:
    many = longest(json.loads((releases / "sample" / "report.json").read_text(encoding="utf-8")))
    (tmp_path / "report.json").write_text(json.dumps(many), encoding="utf-8")
    own = tmp_path / "own.yaml"
    own.write_text(json.dumps(OWN), encoding="utf-8")
    path = dossier(tmp_path, str(own) if template == "own" else template)
    fill(tmp_path)
    assert pages_of(browser, path) <= MOST_PAGES
    page = path.read_text(encoding="utf-8")
    for what in ("points", "columns", "findings", "rows", "attacks", "scenarios", "measures"):
        assert f"more {what}" in page
    record = json.loads((tmp_path / "decisions.json").read_text(encoding="utf-8"))
    assert len(record["columns"]) == len(many["columns"])
    assert len(record["open_points"]) > 60


def test_blanks_are_lines_in_print(browser: Any, releases: Path) -> None:
    path = dossier(releases / "sample", "general")
    with Opened(browser, path, "dark", 1100) as opened:
        opened.page.emulate_media(media="print")
        style = "getComputedStyle(document.querySelector('.answers .blank'))"
        assert opened.page.evaluate(f"{style}.borderBottomStyle") == "dotted"
        assert opened.page.evaluate("document.querySelector('.answers .blank').clientWidth") > 500
        assert opened.page.evaluate("getComputedStyle(document.body).color") == "rgb(22, 32, 44)"
