"""jinja2 is for pages, matplotlib for plots in notebooks: nothing else waits for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.run.commands import Job, python

HEAVY = ("matplotlib", "jinja2")


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "--help"], ["check", "{input}", "--qi", "age,sex"]], ids=" ".join
)
def test_commands_without_a_page_import_none_of_it(arguments: list[str], tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    script = (
        "import sys; from anonymizer.cli.main import main; code = main(sys.argv[1:]); "
        f"sys.exit(str([name for name in {HEAVY} if name in sys.modules] or '') if code == 0 else code)"
    )
    done = python("-c", script, *(each.format(input=job.input) for each in arguments))
    assert done.err.strip() == ""


@pytest.mark.slow
def test_the_page_of_a_run_needs_no_matplotlib(tmp_path: Path) -> None:
    job = Job(tmp_path).write()
    script = (
        "import sys; from anonymizer.cli.main import main; code = main(sys.argv[1:]); "
        "sys.exit(code or ('matplotlib is loaded' if 'matplotlib' in sys.modules else 0))"
    )
    done = python("-c", script, "run", job.file, "--quiet")
    assert done.code == 0, done.err
    assert "<svg" in (job.output / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_importing_the_interface_imports_none_of_it() -> None:
    script = f"import anonymizer as an, sys; an.anonymize; print([m for m in {HEAVY} if m in sys.modules])"
    assert python("-c", script).out.strip() == "[]"
