"""The reference is up to date with what it describes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from anonymizer.attacks.base import ATTACKS
from anonymizer.cli.main import COMMANDS, load_command
from anonymizer.commands.run import run
from anonymizer.config.load import load_config
from anonymizer.errors import AnonymizerError, Infeasible
from anonymizer.loss.base import LOSS_METRICS
from anonymizer.model.recoding import Status
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"
FREE = ("config", "attributes", "recoding.levels", "parameters", "packages", "candidate")
"""Entries whose keys are names of the user's columns, or stand elsewhere in the reference."""


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_config_page_is_generated() -> None:
    page = (REFERENCE / "config.md").read_text(encoding="utf-8")
    assert script("make_config_reference").with_tables(page) == page, (
        "run python docs/make_config_reference.py"
    )


def test_grid_of_features_is_generated() -> None:
    page = (REFERENCE / "combinations.md").read_text(encoding="utf-8")
    assert script("make_feature_grid").with_tables(page) == page, "run python docs/make_feature_grid.py"


INDEX = script("make_index")


@pytest.mark.parametrize("page", INDEX.PAGES)
def test_lists_and_numbers_of_plug_ins_are_generated(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert INDEX.PAGES[page](text) == text, "run python docs/make_index.py"


def test_numbers_and_models_of_a_page_are_written_anew() -> None:
    stale = "| 3 attacks, such as any; 1 measures of lost information"
    assert INDEX.front(stale).startswith(
        f"| {len(ATTACKS)} attacks, such as any; {len(LOSS_METRICS)} measures"
    )
    page = INDEX.persons(INDEX.BEGIN.format(name="records") + "\n- none\n" + INDEX.END)
    assert "`marketer-risk`" in page.splitlines()[1]
    assert "`prosecutor-risk`" in page.splitlines()[2]
    assert "none" not in page


def keys(value: Any, path: str = "") -> set[str]:
    if isinstance(value, dict):
        if path.rpartition(".")[2] in FREE or path in FREE:
            return set()
        return {key for own in value for key in (own, *keys(value[own], f"{path}.{own}".lstrip(".")))}
    if isinstance(value, list):
        return {key for item in value for key in keys(item, path)}
    return set()


def reports(folder: Path) -> list[dict[str, Any]]:
    """Return the report of a release and that of a problem that has none."""
    minimal = ROOT / "examples" / "minimal.yaml"
    found = [run(load_config(minimal, ["attacks=none"]), folder).to_dict()]
    with pytest.raises(Infeasible) as raised:
        run(load_config(minimal, ["constraints.0.k=17"]), folder / "none")
    return [*found, raised.value.report.to_dict()]


def test_report_page_has_every_key(tmp_path: Path) -> None:
    page = (REFERENCE / "report.md").read_text(encoding="utf-8")
    found = reports(tmp_path)
    assert [each["status"] for each in found] == [Status.SATISFIED, Status.INFEASIBLE]
    missing = sorted(key for key in set().union(*map(keys, found)) if f"`{key}`" not in page)
    assert not missing


def options(command: Any) -> set[str]:
    own = {
        max(parameter.opts, key=len) for parameter in command.params if parameter.param_type_name == "option"
    }
    return own.union(*(options(each) for each in getattr(command, "commands", {}).values()))


@pytest.mark.parametrize("command", COMMANDS)
def test_command_line_page_has_every_option(command: str) -> None:
    page = (REFERENCE / "command-line.md").read_text(encoding="utf-8")
    _, _, section = page.partition(f"\n## `anonymizer {command}`\n")
    section = section.partition("\n## ")[0]
    general = page.partition("\n## ")[0]
    found = options(load_command(command))
    assert found
    for option in found:
        assert f"`{option}" in section + general, option


def test_command_line_page_has_every_exit_code() -> None:
    page = (REFERENCE / "command-line.md").read_text(encoding="utf-8")
    pending, codes = [AnonymizerError], {0}
    while pending:
        error = pending.pop()
        codes.add(error.exit_code)
        pending += error.__subclasses__()
    for code in codes:
        assert f"\n| {code} |" in page
