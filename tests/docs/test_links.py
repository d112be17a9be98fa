"""Links between pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, name, pages, prose

_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def links(page: Path) -> list[str]:
    return [target for target in _LINK.findall(prose(page)) if "://" not in target]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_there_are_links() -> None:
    assert sum(len(links(page)) for page in pages()) >= 30


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert file.is_relative_to(ROOT), target
        if anchor:
            assert anchor in anchors(file), target


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=name)
def test_every_page_can_be_reached(page: Path) -> None:
    """From the table of contents, or it is the table itself."""
    contents = ROOT / "docs" / "README.md"
    reached = {(contents.parent / target.partition("#")[0]).resolve() for target in links(contents)}
    assert page == contents or page in reached
