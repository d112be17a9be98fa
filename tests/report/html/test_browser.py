"""report.html and compare.html in a browser, offline: no error, no request, no barrier, no sideways scroll.

``pip install '.[browser]'``, then ``python -m pytest -m browser``; CHROMIUM may name its path.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from anonymizer.report.comparison_page import compare_page
from tests.report.comparisons import of_every_kind
from tests.resources import chromium
from tests.run.commands import Job, people

pytestmark = pytest.mark.browser

BARRIERS = ("serious", "critical")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    job = Job(tmp_path_factory.mktemp("browser")).rows(people(300))
    job.config["attacks"] = ["linkage", "vulnerability", "homogeneity", "uniqueness"]
    assert job.run().code == 0
    return job.output / "report.html"


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("browser") / "compare.html"
    path.write_text(compare_page(of_every_kind(), "1.2.3"), encoding="utf-8")
    return path


class Opened:
    """The page in a browser, with what went wrong while it was opened."""

    def __init__(self, browser: Any, path: Path, scheme: str, width: int) -> None:
        self.context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 800}, offline=True
        )
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390])
@pytest.mark.parametrize("name", ["report", "comparison"])
def test_the_page_opens_without_barriers(
    browser: Any, request: pytest.FixtureRequest, name: str, scheme: str, width: int
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    path: Path = request.getfixturevalue(name)
    with Opened(browser, path, scheme, width) as opened:
        assert opened.errors == []
        assert opened.requests == [path.as_uri()]
        wide = opened.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
        opened.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(opened.page).response["violations"]
        barriers = [(each["id"], each["nodes"][0]["html"]) for each in found if each["impact"] in BARRIERS]
        assert barriers == []


def test_axe_would_find_a_barrier(browser: Any, tmp_path: Path) -> None:
    """A test of the test."""
    from axe_playwright_python.sync_playwright import Axe

    bad = tmp_path / "bad.html"
    bad.write_text(
        "<html><body><img src='data:,'><p style='color:#ddd'>pale</p></body></html>", encoding="utf-8"
    )
    with Opened(browser, bad, "light", 800) as opened:
        found = {each["id"] for each in Axe().run(opened.page).response["violations"]}
    assert {"image-alt", "color-contrast", "html-has-lang"} <= found


def test_charts_change_with_the_theme(browser: Any, report: Path) -> None:
    colours = []
    for scheme in ("light", "dark"):
        with Opened(browser, report, scheme, 1100) as opened:
            script = "getComputedStyle(document.querySelector('#losses-patch_6, svg text')).fill"
            colours.append(opened.page.evaluate(script))
    assert colours[0] != colours[1]


@pytest.mark.parametrize(("width", "said"), [(1100, False), (390, True)])
def test_a_chart_that_is_cut_off_says_so(browser: Any, report: Path, width: int, said: bool) -> None:
    with Opened(browser, report, "light", width) as opened:
        box = "document.querySelector('.scroll:has(> svg)')"
        assert opened.page.evaluate(f"{box}.scrollWidth > {box}.clientWidth") == said
        hint = opened.page.evaluate(f"getComputedStyle({box}, '::before').content")
        assert ("sideways" in hint) == said


def test_the_keyboard_reaches_the_verdict_first(browser: Any, report: Path) -> None:
    with Opened(browser, report, "light", 1100) as opened:
        opened.page.keyboard.press("Tab")
        assert opened.page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
        box = opened.page.evaluate("document.activeElement.getBoundingClientRect().left")
        assert box >= 0


def test_print_shows_what_is_folded_away(browser: Any, report: Path) -> None:
    with Opened(browser, report, "dark", 1100) as opened:
        closed = "document.querySelector('details table').checkVisibility({contentVisibilityAuto: true})"
        assert not opened.page.evaluate(closed)
        opened.page.emulate_media(media="print")
        # It takes the browser a frame.
        opened.page.wait_for_function(closed, timeout=10_000)
        ink = opened.page.evaluate("getComputedStyle(document.body).color")
        assert ink == "rgb(27, 35, 48)"
