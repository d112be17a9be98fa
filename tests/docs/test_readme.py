"""The two commands of the README are the ones that are run elsewhere."""

from __future__ import annotations

import re
import tomllib

from tests.docs.pages import ROOT, blocks, pages

INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q"
RUN = f"{INSTALL} . && .venv/bin/anonymizer run examples/sample.yaml -o release"
TEST = f"{INSTALL} '.[test]' && .venv/bin/python -m pytest"


def commands() -> list[str]:
    return [line for block in blocks(ROOT / "README.md", "sh") for line in block.text.splitlines()]


def test_readme_has_both_commands() -> None:
    assert commands()[:2] == [RUN, TEST]


def test_ci_runs_the_test_command_word_for_word() -> None:
    assert TEST in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_sample_config_is_there() -> None:
    assert (ROOT / RUN.split()[-3]).is_file()


def test_python_version_is_the_required_one() -> None:
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "requires-python"
    ]
    assert f"Python {required.removeprefix('>=')}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_pages_name_no_place_of_a_machine() -> None:
    for page in pages():
        assert not re.search(r"(?<![\w.])/(home|tmp|work|root|Users)/", page.read_text(encoding="utf-8")), (
            page
        )


def installed_words() -> list[tuple[str, str]]:
    """Return each word after ``pip install`` in pages, commands and the code, with its file."""
    files = [*pages(), ROOT / ".ci" / "run", *(ROOT / "anonymizer").rglob("*.py")]
    found = []
    for path in files:
        for said in re.findall(r"\bpip install ([^`\n;&]*)", path.read_text(encoding="utf-8")):
            words = [word.strip("'\"") for word in said.split() if not word.startswith("-")]
            found += [(path.name, word) for word in words]
    return found


def test_only_this_checkout_is_installed() -> None:
    """The distribution is on no index; what messages say, tests/test_distribution.py knows."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    accepted = {".", *(f".[{extra}]" for extra in project["optional-dependencies"]), ".[browser,dev]"}
    words = installed_words()
    assert len(words) >= 10
    assert [each for each in words if each[1] not in accepted] == []
    assert [
        page for page in pages() if f"install {project['name']}" in page.read_text(encoding="utf-8")
    ] == []


def test_no_extra_is_named_as_that_of_the_package() -> None:
    for path in [*pages(), *(ROOT / "anonymizer").rglob("*.py"), ROOT / "pyproject.toml"]:
        assert not re.search(r"(?<![\w.-])anonymizer\[", path.read_text(encoding="utf-8")), path
