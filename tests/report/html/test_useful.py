"""Measures of utility on the page, in the shape in which the report has them."""

from __future__ import annotations

from typing import Any

from anonymizer.report.page import utility_section

FAR = {"total_variation": 0.4, "earth_movers": None}
ENTRIES: list[dict[str, Any]] = [
    {
        "measure": "marginal-distance",
        "attributes": ["age", "sex"],
        "value": 0.1,
        "untouched": 0.0,
        "suppressed": 0.4,
        "smaller_is_better": True,
        "details": {
            "attributes": [
                {"attribute": "sex", "total_variation": 0.05, "earth_movers": None, "suppressed": FAR},
                {"attribute": "age", "total_variation": 0.15, "earth_movers": 0.1, "suppressed": FAR},
            ]
        },
    },
    {
        "measure": "query-error",
        "attributes": ["age", "sex"],
        "value": 0.3,
        "untouched": 0.0,
        "suppressed": 2.5,
        "smaller_is_better": True,
        "details": {"ecdf": [[0.0, 0.1], [0.3, 0.5], [2.0, 1.0]]},
    },
    {
        "measure": "pair-distance",
        "attributes": ["age", "sex"],
        "value": 0.2,
        "untouched": 0.0,
        "suppressed": 0.5,
        "smaller_is_better": True,
        "details": {"farthest": [{"attributes": ["age", "sex"], "total_variation": 0.2, "suppressed": 0.5}]},
    },
    {
        "measure": "prediction",
        "attributes": ["age", "sex"],
        "value": 0.5,
        "untouched": 0.6,
        "suppressed": 0.25,
        "smaller_is_better": False,
        "details": {"predicted": "diagnosis"},
    },
]


def test_every_measure_is_drawn_between_input_and_nothing() -> None:
    section = utility_section({"utility": ENTRIES})
    assert section is not None
    overview, marginals, errors = section.charts
    assert overview.data.rows[3] == ("prediction: diagnosis", "0.5", "0.6", "0.25", "large")
    assert [row[0] for row in marginals.data.rows] == ["age", "sex"]
    assert "age changed most: for 15\xa0%" in marginals.finding
    assert "off by at most 30\xa0%" in errors.finding
    assert section.grids[0].rows == (("age and sex", "0.2", "0.5"),)
    assert len({chart.svg for chart in section.charts}) == 3


def test_what_was_not_measured_has_no_section() -> None:
    assert utility_section({}) is None
    assert utility_section({"utility": []}) is None
