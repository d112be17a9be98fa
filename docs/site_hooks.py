"""Pages of the project that stand outside docs/ and are part of the site: mkdocs calls these functions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
CONTENTS = ROOT / "docs" / "README.md"
OUTSIDE = ("examples/*.yaml", "examples/README.md", "hierarchies/README.md", "benchmarks/*.md")
_LINK = re.compile(r"\[([^\]]+)\]\(([^)\s#]+\.md)\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_TIGHT_LIST = re.compile(r"^(?!\s|#|- |\d+\. |\|)(.*\S)\n(?=- |1\. )", re.MULTILINE)
_LEAVING = re.compile(r"\]\((?:\.\./)+(?=(?:examples|hierarchies|benchmarks)/)")
_SOURCE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(anonymizer/[^)]+\.py)\)")


def on_config(config: Any, **_: Any) -> Any:
    """Take the order of the pages from the table of contents, so that it stands in one place."""
    config.nav = contents(CONTENTS.read_text(encoding="utf-8"))
    return config


def contents(text: str) -> list[dict[str, Any]]:
    """Return a table of contents as navigation: its headings, and the pages that are linked below each."""
    _, *parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    sections = zip(parts[::2], parts[1::2], strict=True)
    pages = {
        title: [{label: page} for label, page in _LINK.findall(body) if not page.startswith("..")]
        for title, body in sections
    }
    return [{"Contents": "README.md"}, *({title: found} for title, found in pages.items() if found)]


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add what pages link to and what stands beside docs/."""
    for pattern in OUTSIDE:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links that leave docs/ lead to the page that the site has; let lists begin without a blank line.

    The site has no source files: links to these become text and path.
    """
    depth = page.file.src_uri.count("/")
    markdown = _SOURCE.sub(r"\1 (`\2`)", markdown)
    parts = _FENCE.split(_LEAVING.sub("](" + "../" * depth, markdown))
    return "".join(part if part.startswith("```") else _TIGHT_LIST.sub(r"\1\n\n", part) for part in parts)
