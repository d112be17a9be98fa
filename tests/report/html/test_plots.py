"""A result in a notebook: what it shows of itself, and the charts that it draws."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import anonymizer as an
from anonymizer.report.charts import draw_knowledge
from anonymizer.report.facts import RiskByKnowledge
from anonymizer.report.notebook import draw_on
from tests.run.commands import COLUMNS, CONFIG, people

PLOTS = ("attacks", "knowledge", "losses", "groups", "search")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    mpl.use("Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def people_frame() -> pd.DataFrame:
    return pd.DataFrame(people(300), columns=list(COLUMNS))


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    made: dict[str, Any] = {key: deepcopy(each) for key, each in CONFIG.items() if key != "input"}
    return {**made, "attacks": ["linkage", "vulnerability"]}


@pytest.fixture(scope="module")
def result(people_frame: pd.DataFrame, config: dict[str, Any]) -> Any:
    return an.anonymize(people_frame, config)


def test_a_result_shows_its_verdict_and_no_record(result: Any) -> None:
    shown = result._repr_html_()
    assert len(shown.encode()) < 10_000
    assert "Both constraints are satisfied" in shown
    assert "k-anonymity" in shown
    assert "<script" not in shown
    assert "it was measured again before it was returned" in shown
    assert not any(untrue in shown for untrue in ("disk", "file"))
    for name in ("person 1", "note 1"):
        assert name not in shown
    assert repr(result).startswith("SATISFIED")


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_draws_onto_the_axes_given_or_makes_some(name: str, result: Any) -> None:
    plot = getattr(result, f"plot_{name}")
    _, given = pyplot.subplots()
    figures = pyplot.get_fignums()
    assert plot(ax=given) is given
    assert given.has_data()
    assert pyplot.get_fignums() == figures
    made = plot()
    assert isinstance(made, Axes)
    assert made is not given
    made.figure.canvas.draw()


@pytest.mark.parametrize(
    ("name", "marks"), [("attacks", ["guess without the release", "attack"]), ("losses", [])]
)
def test_a_plot_says_what_it_shows(name: str, marks: list[str], result: Any) -> None:
    axes = getattr(result, f"plot_{name}")()
    legend = axes.get_legend()
    assert axes.get_title()
    assert [text.get_text() for text in legend.get_texts()] == marks if marks else legend is None


def test_the_ends_of_both_lines_are_read_where_they_are_equal() -> None:
    figure, axes = pyplot.subplots(figsize=(7.8, 2.6))
    known = [RiskByKnowledge(number, 1.0, 1.0, ("a",), 1.0) for number in (1, 2)]
    draw_on(axes, draw_knowledge(known))
    figure.canvas.draw()
    first, second = (text.get_window_extent() for text in axes.texts)
    assert not first.overlaps(second)


def test_an_attribute_is_drawn_by_its_name(result: Any) -> None:
    axes = result.plot_distribution("sex")
    assert axes.get_title() == "sex, before and after"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["input", "release"]
    assert {text.get_text() for text in axes.get_yticklabels()} <= {"F", "M", "others", "*"}
    with pytest.raises(an.InputError, match="'sexx' is not a quasi-identifier; did you mean 'sex'"):
        result.plot_distribution("sexx")


def test_drawing_leaves_settings_and_data_as_they_were(result: Any) -> None:
    settings, data = dict(mpl.rcParams), result.data.copy()
    result.plot_losses()
    result._repr_html_()
    assert dict(mpl.rcParams) == settings
    pd.testing.assert_frame_equal(result.data, data)


def test_what_cannot_be_drawn_says_why(people_frame: pd.DataFrame, config: dict[str, Any]) -> None:
    bare = an.anonymize(people_frame.head(60), {**config, "attacks": [], "objective": {"metric": "ncp"}})
    assert "Information loss by ncp is 0." in bare._repr_html_()
    axes = bare.plot_attacks()
    assert "attacks: [vulnerability, uniqueness]" in axes.texts[0].get_text()
    assert (axes.get_title(), axes.axison) == ("What each attack reaches", False)
    assert "No attack was run" in bare._repr_html_()
