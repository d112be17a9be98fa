"""Everything that is registered stands on the page of its kind."""

from __future__ import annotations

import pytest

from anonymizer.cli.main import COMMANDS
from anonymizer.config.files import Order
from anonymizer.config.plugin_sections import (
    attacks,
    hierarchy_sources,
    loss_metrics,
    privacy_models,
    search_algorithms,
    utility_measures,
)
from anonymizer.hierarchy.ready import ready_names
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"
DOCUMENTED = {
    "loss-metrics.md": [*loss_metrics()],
    "hierarchies.md": [*hierarchy_sources()],
    "config.md": [*search_algorithms()],
    "command-line.md": [f"anonymizer {command}" for command in COMMANDS],
    "releases.md": [each.value for each in Order],
    "utility.md": [*utility_measures()],
}

HEADINGS = (
    "Holds iff",
    "Source",
    "Missing values",
    "Merging",
    "Verified",
    "Choosing",
    "Stops",
    "Does not stop",
)


@pytest.mark.parametrize("page", DOCUMENTED)
def test_kind_is_not_empty(page: str) -> None:
    assert DOCUMENTED[page]


@pytest.mark.parametrize(
    ("page", "plug_in"), [(page, each) for page in DOCUMENTED for each in DOCUMENTED[page]]
)
def test_plug_in_is_on_its_page(page: str, plug_in: str) -> None:
    assert f"`{plug_in}" in (REFERENCE / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("model", privacy_models())
def test_model_has_its_page(model: str) -> None:
    """With its source, what it stops and what not."""
    page = (ROOT / "docs" / "models" / f"{model}.md").read_text(encoding="utf-8")
    for heading in HEADINGS:
        assert f"**{heading}**" in page, heading
    for parameter in privacy_models()[model].Settings.model_fields:
        assert f"`{parameter}`" in page, parameter


@pytest.mark.parametrize("attack", attacks())
def test_attack_has_its_page(attack: str) -> None:
    """With what stops it and what it does not show."""
    page = (ROOT / "docs" / "attacks" / f"{attack}.md").read_text(encoding="utf-8")
    for heading in ("Success", "Stopped by", "Does not show"):
        assert f"**{heading}**" in page, heading
    for parameter in attacks()[attack].Settings.model_fields:
        assert f"`{parameter}" in page, parameter


def test_every_model_and_attack_is_introduced_on_the_page_of_its_kind() -> None:
    for kind, names in (("models", privacy_models()), ("attacks", attacks())):
        page = (ROOT / "docs" / kind / "README.md").read_text(encoding="utf-8")
        assert [each for each in names if f"`{each}`" not in page] == []


@pytest.mark.parametrize("ready", ready_names())
def test_ready_hierarchy_is_listed(ready: str) -> None:
    assert f"`{ready}`" in (REFERENCE / "hierarchies.md").read_text(encoding="utf-8")
