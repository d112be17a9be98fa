"""Everything that is registered stands on the page of its kind."""

from __future__ import annotations

import pytest

from anonymizer.cli.main import COMMANDS
from anonymizer.config.plugins import hierarchy_sources, loss_metrics, privacy_models, search_algorithms
from anonymizer.hierarchy.ready import ready_names
from anonymizer.release.order import ROW_ORDERS
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"
DOCUMENTED = {
    "privacy-models.md": [*privacy_models()],
    "loss-metrics.md": [*loss_metrics()],
    "hierarchies.md": [*hierarchy_sources()],
    "config.md": [*search_algorithms()],
    "command-line.md": [f"anonymizer {command}" for command in COMMANDS],
    "releases.md": [*ROW_ORDERS],
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
def test_model_has_its_section(model: str) -> None:
    """With its source, what it stops and what not."""
    page = (REFERENCE / "privacy-models.md").read_text(encoding="utf-8")
    _, _, section = page.partition(f"\n## {model}\n")
    section = section.partition("\n## ")[0]
    for heading in HEADINGS:
        assert f"**{heading}**" in section, heading
    for parameter in privacy_models()[model].Settings.model_fields:
        assert f"`{parameter}`" in section, parameter


@pytest.mark.parametrize("ready", ready_names())
def test_ready_hierarchy_is_listed(ready: str) -> None:
    assert f"`{ready}`" in (REFERENCE / "hierarchies.md").read_text(encoding="utf-8")
