"""Draws docs/report.png, the top of the page that a run of the sample writes. It needs Chromium.

python docs/make_picture.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import anonymizer as an

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "report.png"
SIZE = (1000, 1250)
"""Width and height, in pixels."""


def main() -> None:
    """Run the sample and draw its page."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        sys.exit("docs/make_picture.py: no Chromium; install one, such as with apt-get install chromium")
    with TemporaryDirectory() as name:
        an.run(ROOT / "examples" / "sample.yaml", Path(name) / "release")
        subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--hide-scrollbars",
                "--force-color-profile=srgb",
                f"--window-size={SIZE[0]},{SIZE[1]}",
                f"--screenshot={PICTURE}",
                (Path(name) / "release" / "report.html").as_uri(),
            ],
            check=True,
            capture_output=True,
        )


if __name__ == "__main__":
    main()
