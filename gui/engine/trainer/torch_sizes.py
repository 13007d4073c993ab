"""How much fetching torch takes; imports nothing, so that the set-up can read it before all packages."""

from __future__ import annotations

import platform
import sys

# Sums of torch's own wheel and of all that it needs, in MB (10^6 bytes), for Python 3.12, from the
# index's own figures. On Linux the index's torch is the CUDA build: torch 527 MB, NVIDIA's libraries
# 2.0 GB, triton 198 MB.
TORCH_MB: dict[tuple[str, str], float] = {
    ("linux", "x86_64"): 2741,
    ("linux", "aarch64"): 2868,
    ("win32", "amd64"): 133,
    ("darwin", "arm64"): 122,
}
CPU_TORCH_MB = 203
"""Where pip is set up to find the CPU build on Linux."""

UNPACKED = 2.6
"""Room that installed packages take, as a multiple of their wheels (on Linux 1.4 GB came from 0.37)."""


def this_platform(system: str = sys.platform, machine: str = "") -> tuple[str, str]:
    """Return what the figures are kept by."""
    return system, (machine or platform.machine()).lower()
