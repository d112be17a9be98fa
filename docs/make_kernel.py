"""Compile the kernels to WebAssembly: ``python docs/make_kernel.py``.

Needs clang and lld with the target wasm32; whoever does not change a ``kernel.c`` needs neither, as the
compiled modules are part of the package. Each carries a checksum of its source, which a test compares.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from zlib import crc32

PACKAGE = Path(__file__).parents[1] / "anonymizer"
VECTORS = ["-msimd128"]
"""Without them, what adds up counts or costs takes twice as long."""

SOURCES = {
    "attacks/definetti/kernel.c": VECTORS,
    "search/local/neighbours/kernel.c": VECTORS,
    "search/partition/kernel.c": [],
}
"""The source of each kernel and its own options."""

OPTIONS = ["--target=wasm32", "-O3", "-nostdlib", "-ffreestanding", "-ffp-contract=off", "-Wall", "-Werror"]
LINKER = ["-Wl,--no-entry", "-Wl,--strip-all", "-Wl,--export=__heap_base"]


def main() -> None:
    """Write each module beside its source."""
    for name, own in SOURCES.items():
        source = PACKAGE / name
        defined = f"-DCHECKSUM={crc32(source.read_bytes())}LL"
        target = source.with_suffix(".wasm")
        subprocess.run(["clang", *OPTIONS, *own, *LINKER, defined, "-o", target, source], check=True)


if __name__ == "__main__":
    main()
