"""Compile the kernel that changes classes to WebAssembly: ``python docs/make_kernel.py``.

Needs clang and lld with the target wasm32; whoever does not change ``kernel.c`` needs neither, as the
compiled module is part of the package. It carries a checksum of its source, which a test compares.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from zlib import crc32

SOURCE = Path(__file__).parents[1] / "anonymizer/search/partition/kernel.c"
OPTIONS = ["--target=wasm32", "-O3", "-nostdlib", "-ffreestanding", "-ffp-contract=off", "-Wall", "-Werror"]
LINKER = ["-Wl,--no-entry", "-Wl,--strip-all", "-Wl,--export=__heap_base"]


def main() -> None:
    """Write the module beside its source."""
    defined = f"-DCHECKSUM={crc32(SOURCE.read_bytes())}LL"
    target = SOURCE.with_suffix(".wasm")
    subprocess.run(["clang", *OPTIONS, *LINKER, defined, "-o", target, SOURCE], check=True)


if __name__ == "__main__":
    main()
