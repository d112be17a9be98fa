"""compare.html: whole, alone, and with every run on it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from anonymizer.report.comparison import Comparison, Risk, RunStatus
from anonymizer.report.comparison_page import compare_page, draw_frontier, frontier_chart, label_groups
from anonymizer.report.comparison_table import lines
from anonymizer.report.drawing import NOTEBOOK, Marks
from tests.report.comparisons import comparison, counted, of_every_kind, run, without

SVG = "{http://www.w3.org/2000/svg}"


class Page(HTMLParser):
    """Collects ids, references and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value for key, value in attrs if key == "id" and value is not None]
        self.links += [value for key, value in attrs if key in ("href", "src") and value is not None]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def found() -> Comparison:
    return of_every_kind()


@pytest.fixture(scope="module")
def page(found: Comparison) -> str:
    return compare_page(found, "1.2.3")


def test_it_says_that_it_is_internal_and_why(page: str) -> None:
    assert re.search(r"Internal\..*compare\.csv.*small counts.*Keep them", Page(page).text)


def test_it_needs_nothing_else_and_has_no_id_twice(page: str) -> None:
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert [link for link in parsed.links if not link.startswith("#")] == []
    assert {link[1:] for link in parsed.links} <= set(parsed.ids)
    assert len(parsed.ids) == len(set(parsed.ids))
    assert not re.search(r"url\((?!#)", page)
    assert parsed.tags.count("h1") == parsed.tags.count("main") == 1


def test_it_is_the_same_for_the_same_comparison(found: Comparison, page: str) -> None:
    assert compare_page(comparison(*found.runs), "1.2.3") == page


def test_it_says_what_matters_first(page: str) -> None:
    assert "<h1>Pareto-optimal: runs 1 and 2; among them, lower risk means higher loss.</h1>" in page


def test_no_run_is_dropped_and_no_value_revealed(page: str) -> None:
    text = " ".join(Page(page).text.split())
    assert "4 undecided: the budget ended" in text
    assert "5 infeasible: no release <of> this family" in text
    assert "6 refused: it does not fit the input" in text
    assert "secret" not in page
    assert "desk" not in page


def test_the_recommended_come_with_their_commands(page: str) -> None:
    commands = re.findall(r"<code>(anonymizer run [^<]*)</code>", page)
    assert commands == [
        "anonymizer run job.yaml -o job-release-2 --set constraints.0.k=2",
        "anonymizer run job.yaml -o job-release-1 --set constraints.0.k=1",
    ]


def test_the_chart_has_each_number_once_in_colours_of_the_page(found: Comparison) -> None:
    chart = frontier_chart(found)
    assert chart is not None
    root = ElementTree.fromstring(chart.svg)
    texts = ["".join(each.itertext()).strip() for each in root.iter(f"{SVG}text")]
    for number in ("1", "2", "3", "4", "undecided", "better", "lattice", "mondrian"):
        assert texts.count(number) == 1, texts
    assert root.attrib["role"] == "img"
    assert "3 releases" in root.attrib["aria-label"]
    assert not re.search(r"#0[0-9]0[0-9]0[0-9]", chart.svg)
    assert "var(--after)" in chart.svg
    assert [row[0] for row in chart.data.rows] == ["2", "1", "3"]


def test_without_any_release_it_says_so() -> None:
    text = Page(compare_page(comparison(without(1, RunStatus.INFEASIBLE)), "1")).text
    assert "None of 1 runs has a release." in text
    assert "No run has a release." in text
    assert "Relax a constraint" in text


def test_releases_in_groups_have_a_panel_of_their_own(found: Comparison, page: str) -> None:
    assert "Anatomy releases" not in page
    made = run(7, 0.0, counted(0.9))
    assert made.measured is not None
    own = replace(made.measured, algorithm="anatomy", query_error=0.25)
    other = comparison(*found.runs, replace(made, algorithm="anatomy", measured=own))
    assert "Anatomy releases" in compare_page(other, "1")
    chart, before = frontier_chart(other), frontier_chart(found)
    assert chart is not None
    assert before is not None
    assert chart.svg == before.svg


def test_releases_in_groups_alone_are_releases() -> None:
    made = run(1, 0.0, counted(0.9))
    assert made.measured is not None
    own = replace(made.measured, algorithm="anatomy", query_error=0.25)
    alone = comparison(replace(made, algorithm="anatomy", measured=own), without(2, RunStatus.INFEASIBLE))
    text = Page(compare_page(alone, "1")).text
    assert "2 runs on people.csv, 60 records; 1 found a release" in text
    assert "No run has a release" not in text
    assert "Anatomy releases by query error. Each command" in text
    assert "Pareto-optimal, Anatomy releases by query error:" in [*lines(alone)]


def test_points_that_are_close_share_a_label() -> None:
    chain = [(1, 0.50, 0.5, False), (2, 0.51, 0.5, False), (3, 0.525, 0.5, False), (4, 0.9, 0.5, True)]
    assert [each[0] for each in label_groups(chain)] == ["1, 2, 3", "4"]


def test_algorithms_differ_by_shape_and_undecided_ones_by_a_hollow_point() -> None:
    runs = (
        replace(run(1, 0.3, Risk(0.1, 0.05, 0.2, 0.01)), algorithm="local"),
        run(2, 0.4, counted(0.3, 0.01)),
        without(3, RunStatus.UNDECIDED, bound=0.2),
    )
    chart = draw_frontier(comparison(*runs), NOTEBOOK)
    drawn = {tuple(each.x): each for each in chart.elements if isinstance(each, Marks) and len(each.x)}
    local, lattice = drawn[(0.1,)], drawn[(0.3,)]
    assert local.shape != lattice.shape
    assert local.fill != lattice.fill
    (hollow,) = (each for each in drawn.values() if each.fill == "none")
    assert hollow.shape == local.shape
    assert list(hollow.y) == [0.2]
    assert chart.x.low == chart.y.low == 0
