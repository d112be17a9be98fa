"""The distribution is not called as its package, and others that have a package of that name are noticed."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from anonymizer import distribution
from anonymizer.distribution import namesakes
from anonymizer.report.build import environment
from tests.run.commands import Done, python

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


class Installed:
    """A distribution as ``importlib.metadata`` finds it."""

    name = "the-name"
    requires = ("numpy>=2", "pyarrow>=16; extra == 'sql'", "adbc >=1 ; extra=='sql'", "x; extra == 'sql2'")

    def __init__(self, url: str | None = None) -> None:
        self.url = url

    def read_text(self, file: str) -> str | None:
        if file == "direct_url.json":
            return None if self.url is None else json.dumps({"url": self.url})
        return f"Metadata-Version: 2.1\nName: {self.name}\nVersion: 7.8.9\n\n{file}\nVersion: 0\n"


def write_distribution(
    folder: Path, name: str, *, record: str | None = None, top_level: str | None = None, command: str = ""
) -> None:
    """Write what an installer notes of a distribution."""
    notes = folder / f"{name}-0.0.6.dist-info"
    notes.mkdir(parents=True)
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.6\n",
        "RECORD": record,
        "top_level.txt": top_level,
        "entry_points.txt": f"[console_scripts]\nanonymizer = {command}\n",
    }
    for path, content in files.items():
        if content is not None:
            (notes / path).write_text(content, encoding="utf-8")


def found_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(sys, "path", [str(folder)])
    return [each.name for each in namesakes()]


def test_the_name_is_not_that_of_the_package_and_stands_in_one_place() -> None:
    assert PROJECT["name"] != "anonymizer"
    assert PROJECT["scripts"] == {"anonymizer": distribution.COMMAND}
    needed = [each for extra in PROJECT["optional-dependencies"].values() for each in extra]
    own = [each for each in needed if "anonymizer" in each]
    assert own
    assert all(each.startswith(f"{PROJECT['name']}[") for each in own)
    files = (ROOT / "anonymizer").rglob("*.py")
    assert [path for path in files if PROJECT["name"] in path.read_text(encoding="utf-8")] == []


def test_an_extra_of_a_wheel_is_installed_by_the_names_of_its_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The distribution itself is on no index, where anybody could register its name."""
    monkeypatch.setattr(distribution, "own_distribution", Installed)
    monkeypatch.setattr(distribution, "in_checkout", lambda: False)
    assert distribution.installing("sql") == "run: pip install 'pyarrow>=16' 'adbc >=1'"
    assert distribution.own_version() == environment()["anonymizer"] == "7.8.9"


@pytest.mark.parametrize("extra", ["frames", "spark", "sql"])
def test_the_packages_of_an_extra_are_those_of_the_project(
    extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if distribution.own_distribution() is None:
        pytest.skip("the package is not installed")
    monkeypatch.setattr(distribution, "in_checkout", lambda: False)
    program, verb, *words = shlex.split(distribution.installing(extra).removeprefix("run: "))
    assert (program, verb) == ("pip", "install")
    assert sorted(words) == sorted(PROJECT["optional-dependencies"][extra])


def test_without_metadata_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "own_distribution", lambda: None)
    monkeypatch.setattr(distribution, "in_checkout", lambda: False)
    assert distribution.installing("sql") == "install the packages that its pyproject.toml lists for sql"


def test_this_package_is_installed_again_from_where_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = "pip install --force-reinstall --no-deps"
    assert distribution.reinstalling() == f"run: {again} {ROOT}"
    monkeypatch.setattr(distribution, "in_checkout", lambda: False)
    wheel = tmp_path / "a wheel.whl"
    monkeypatch.setattr(distribution, "own_distribution", lambda: Installed(wheel.as_uri()))
    gone = "install this one again from its wheel, with the options --force-reinstall --no-deps"
    assert distribution.reinstalling() == gone
    wheel.touch()
    assert distribution.reinstalling() == f"run: {again} '{wheel}'"
    for url in (None, "https://example.org/a.whl"):
        monkeypatch.setattr(distribution, "own_distribution", lambda url=url: Installed(url))
        assert distribution.reinstalling() == gone


def test_versions_are_those_of_all_metadata() -> None:
    found = list(metadata.distributions())
    assert found
    assert {each.name: distribution.version_of(each) for each in found} == {
        each.name: each.version for each in found
    }


def test_an_extra_of_a_checkout_is_installed_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distribution, "own_distribution", Installed)
    assert distribution.in_checkout()
    assert distribution.installing("spark") == f"run: pip install '{ROOT}[spark]'"


@pytest.mark.parametrize(
    "content", [None, "[project]\nname = 'other'", "[project.scripts]\nanonymizer = 'x:y'", "["]
)
def test_what_is_no_checkout(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "pyproject.toml").write_text(content, encoding="utf-8")
    assert not distribution.in_checkout(tmp_path / "anonymizer")


@pytest.mark.parametrize(
    ("notes", "claims"),
    [
        ({"record": "anonymizer/__init__.py,sha256=x,1\n"}, True),
        ({"record": "a/b.py,,\nanonymizer/core.py,,\n"}, True),
        ({"record": "anonymizer.py,,\n"}, True),
        ({"record": "anonymizer_other/__init__.py,,\nlib/anonymizer/x.py,,\n"}, False),
        ({"record": "__editable__.pth,,\n", "top_level": "anonymizer\n"}, False),
        ({"top_level": "anonymizer\n"}, True),
        ({"top_level": "anonymizers\n"}, False),
        ({"record": "anonymizer/__init__.py,,\n", "command": distribution.COMMAND}, False),
    ],
)
def test_who_claims_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notes: dict[str, str], claims: bool
) -> None:
    (tmp_path / "anonymizer").mkdir()
    write_distribution(tmp_path, "stranger", **notes)
    assert found_in(tmp_path, monkeypatch) == (["stranger"] if claims else [])


NEMO = "".join(f"anonymizer/{name}.py,sha256=x,1\n" for name in ("__init__", "__main__", "config/__init__"))
"""Files of nemo-anonymizer, which has a command of this name, too."""


def test_another_vendor_that_has_this_package_and_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "anonymizer").mkdir()
    command = "anonymizer.interface.cli.main:main"
    write_distribution(tmp_path, "nemo-anonymizer", record=NEMO, command=command)
    assert found_in(tmp_path, monkeypatch) == ["nemo-anonymizer"]
    (noticed,) = namesakes()
    assert "the distribution nemo-anonymizer 0.0.6 also has a package 'anonymizer'" in str(noticed)


def test_what_repairs_a_folder_of_two_packages_is_on_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a wheel of this package, too, whose name anybody could register."""
    (tmp_path / "anonymizer").mkdir()
    write_distribution(tmp_path, "nemo-anonymizer", record=NEMO, command="anonymizer.interface.cli.main:main")
    monkeypatch.setattr(distribution, "FOLDER", tmp_path / "anonymizer")
    monkeypatch.setattr(distribution, "own_distribution", Installed)
    monkeypatch.setattr(distribution, "in_checkout", lambda: False)
    assert found_in(tmp_path, monkeypatch) == ["nemo-anonymizer"]
    (noticed,) = namesakes()
    assert str(noticed).endswith(
        "files of one replace files of the other; run: pip uninstall nemo-anonymizer; then install this one "
        "again from its wheel, with the options --force-reinstall --no-deps"
    )


def test_a_folder_without_such_a_package_is_not_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_distribution(tmp_path, "stranger", record="anonymizer/__init__.py,,\n")
    looked: list[object] = []
    monkeypatch.setattr(os, "scandir", looked.append)
    assert found_in(tmp_path, monkeypatch) == []
    assert looked == []


def version(folder: Path, path: Path | None = None) -> Done:
    """Ask for the version in a folder, with another one on the path of Python."""
    done = subprocess.run(
        [sys.executable, "-m", "anonymizer", "--version"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(path or "")},
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_the_command_warns_of_a_package_elsewhere(tmp_path: Path) -> None:
    write_distribution(tmp_path, "stranger", record="anonymizer/__init__.py,,\n")
    (tmp_path / "anonymizer").mkdir()
    (tmp_path / "anonymizer" / "__init__.py").write_text("", encoding="utf-8")
    done = version(ROOT, tmp_path)
    assert done.code == 0
    assert done.out.startswith("anonymizer ")
    assert done.err == (
        f"warning: {tmp_path}: the distribution stranger 0.0.6 also has a package 'anonymizer', which Python "
        "may import instead of this one; run: pip uninstall stranger\n"
    )


def test_the_command_does_not_start_in_a_folder_of_two_packages(tmp_path: Path) -> None:
    write_distribution(tmp_path, "stranger", record="anonymizer/__init__.py,,\n")
    (tmp_path / "anonymizer").symlink_to(ROOT / "anonymizer")
    done = version(tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error: {tmp_path}: the distribution stranger 0.0.6 also has a package 'anonymizer', and files of "
        "one replace files of the other; run: pip uninstall stranger; then run: "
        f"pip install --force-reinstall --no-deps {ROOT}\n"
    )


def test_the_version_is_not_that_of_another_distribution(tmp_path: Path) -> None:
    write_distribution(tmp_path, "anonymizer", record="anonymizer/__init__.py,,\n")
    asked = "from anonymizer.report.build import environment; print(environment()['anonymizer'])"
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    done = python("-c", asked, env=variables)
    # One that is installed by the stranger's name is not found behind it.
    assert done.out.strip() in {distribution.own_version(), "of a source tree"}, done.err
