"""The package as it is shipped and imported."""

from __future__ import annotations

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import anonymizer
from tests.run.commands import Job, python

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


def test_every_folder_of_the_package_is_shipped() -> None:
    folders = {path.parent.relative_to(ROOT) for path in (ROOT / "anonymizer").rglob("*.py")}
    modules = {".".join(folder.parts) for folder in folders}
    assert set(SETTINGS["packages"]) - set(SETTINGS["package-dir"]) == modules


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in (ROOT / "anonymizer").rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_ready_hierarchies_are_shipped() -> None:
    assert SETTINGS["package-dir"] == {"anonymizer.ready_hierarchies": "hierarchies"}
    assert "anonymizer.ready_hierarchies" in SETTINGS["packages"]
    patterns = SETTINGS["package-data"]["anonymizer.ready_hierarchies"]
    shipped = {path for pattern in patterns for path in (ROOT / "hierarchies").glob(pattern)}
    modules = set((ROOT / "hierarchies").glob("*.py"))
    assert {path for path in (ROOT / "hierarchies").iterdir() if path.is_file()} == shipped | modules


def test_types_are_shipped() -> None:
    assert (ROOT / "anonymizer" / "py.typed").is_file()
    assert SETTINGS["package-data"]["anonymizer"] == ["py.typed"]


def test_all_names_are_there_and_nothing_else_is_promised() -> None:
    assert anonymizer.__all__ == sorted(anonymizer.__all__)
    for name in anonymizer.__all__:
        assert getattr(anonymizer, name).__name__ == name
    eager = {"AnonymizerError", "AnonymizerWarning", "AuditFailed", "Infeasible", "InputError"}
    assert set(anonymizer._HOMES) | eager == set(anonymizer.__all__)


def test_tab_shows_the_public_names_and_nothing_else() -> None:
    script = "import anonymizer; print(dir(anonymizer)); print([n for n in vars(anonymizer) if n[0] != '_'])"
    listed, defined = map(ast.literal_eval, python("-c", script).out.splitlines())
    assert listed == anonymizer.__all__
    # Completion by static analysis shows what the module itself defines; submodules are packages of it.
    submodules = {"distribution", "errors", "plugins", "system"}
    assert set(defined) <= set(listed) | submodules


def test_importing_loads_the_errors_and_nothing_that_is_installed() -> None:
    script = "import sys; before = set(sys.modules); import anonymizer; print(*set(sys.modules) - before)"
    loaded = python("-c", script).out.split()
    assert {name for name in loaded if name.startswith("anonymizer")} == {"anonymizer", "anonymizer.errors"}
    assert {name.partition(".")[0] for name in loaded} <= {"anonymizer", *sys.stdlib_module_names}


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'anonymizer' has no attribute 'anonymise'"):
        anonymizer.anonymise  # noqa: B018


@pytest.mark.slow
def test_a_run_does_without_pandas(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    script = (
        "import sys; from anonymizer.cli.main import main; code = main(sys.argv[1:]); "
        "sys.exit('pandas' if 'pandas' in sys.modules else code)"
    )
    done = python("-c", script, "run", job.file)
    assert done.code == 0, done.err


def test_templates_of_the_page_are_shipped() -> None:
    page = ROOT / "anonymizer" / "report"
    shipped = {
        path for pattern in SETTINGS["package-data"]["anonymizer.report"] for path in page.glob(pattern)
    }
    assert shipped == {path for path in (page / "templates").rglob("*") if path.is_file()}
    assert len(shipped) >= 4
