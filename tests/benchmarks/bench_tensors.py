"""Measures the check of a large model file beside merely reading it, and the memory that it takes.

Run it as ``python tests/benchmarks/bench_tensors.py [--gib 2] [--kinds F32 BF16 F16]``; it prints one
JSON document. Each file is made in a temporary folder and deleted again. Speeds are in GB/s:

- ``disk``: from the disk, its pages dropped from memory before (Linux), as when old files are examined;
- ``memory``: from the system's memory, as right after a save; the best of several turns, taken in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from gui.engine.trainer.tensor_scan import CHUNK_BYTES  # noqa: E402 -- run from anywhere
from gui.engine.trainer.tensors import check_tensors  # noqa: E402

GIB = 1 << 30
TENSOR_BYTES = 64 << 20
TURNS = 5

# Linux keeps its own account: what getrusage tells a child includes what its parent used.
PEAK = """
import re, sys
from pathlib import Path
from gui.engine.trainer.tensors import check_tensors
assert check_tensors(Path(sys.argv[1])).finite
print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def numbers(kind: str) -> bytes:
    """Return the bytes of one tensor of ordinary weights."""
    size = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}.get(kind, 1)
    values = np.random.default_rng(0).standard_normal(TENSOR_BYTES // max(size, 2), np.float32) * 0.02
    if kind == "F16":
        return values.astype(np.float16).tobytes()
    if kind == "BF16":
        return (values.view(np.uint32) >> 16).astype(np.uint16).tobytes()
    if kind == "F64":
        return values.astype(np.float64).tobytes()[:TENSOR_BYTES]
    if kind == "F32":
        return values.tobytes()[:TENSOR_BYTES]
    return np.random.default_rng(0).integers(0, 0x70, TENSOR_BYTES, np.uint8).tobytes()


def write_model(path: Path, kind: str, size: int) -> None:
    """Write a model file of so many bytes, and see it onto the disk."""
    data = numbers(kind)
    per_number = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}.get(kind, 1)
    header = json.dumps(
        {
            f"model.diffusion_model.block.{i}.weight": {
                "dtype": kind,
                "shape": [TENSOR_BYTES // per_number],
                "data_offsets": [i * TENSOR_BYTES, (i + 1) * TENSOR_BYTES],
            }
            for i in range(size // TENSOR_BYTES)
        }
    ).encode()
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        for _ in range(size // TENSOR_BYTES):
            file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> None:
    """Merely read the file, in the same pieces."""
    buffer = bytearray(CHUNK_BYTES)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def check(path: Path) -> None:
    """Check the file."""
    assert check_tensors(path).finite


def forget(path: Path) -> bool:
    """Drop the file's pages from memory; return whether that is possible."""
    if not hasattr(os, "posix_fadvise"):
        return False
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return True


def speed(work: Callable[[Path], None], path: Path) -> float:
    """Return GB/s of one turn."""
    start = time.perf_counter()
    work(path)
    return path.stat().st_size / (time.perf_counter() - start) / 1e9


def compare(path: Path, *, turns: int, before: Callable[[Path], object]) -> dict[str, float]:
    """Read and check in turn; return the best of each and their ratio."""
    reading, checking = 0.0, 0.0
    for _ in range(turns):
        before(path)
        reading = max(reading, speed(read, path))
        before(path)
        checking = max(checking, speed(check, path))
    return {
        "read_gb_s": round(reading, 2),
        "check_gb_s": round(checking, 2),
        "ratio": round(checking / reading, 2),
    }


def peak_mb(path: Path) -> int | None:
    """Return the memory that a process of its own takes for the check, on Linux."""
    if sys.platform != "linux":
        return None
    command = [sys.executable, "-c", PEAK, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return round(int(done.stdout) / 1024)


def measure(kind: str, folder: Path, size: int) -> dict[str, Any]:
    """Measure one kind of number."""
    path = folder / "model.safetensors"
    try:
        write_model(path, kind, size)
        disk = compare(path, turns=2, before=forget) if forget(path) else None
        memory = compare(path, turns=TURNS, before=lambda _path: None)
        return {"disk": disk, "memory": memory, "peak_rss_mb": peak_mb(path)}
    finally:
        path.unlink(missing_ok=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gib", type=float, default=2.0)
    parser.add_argument("--kinds", nargs="+", default=["F32", "BF16", "F16"])
    options = parser.parse_args()
    size = int(options.gib * GIB)
    with tempfile.TemporaryDirectory(prefix="bench-tensors-") as folder:
        kinds = {kind: measure(kind, Path(folder), size) for kind in options.kinds}
    print(json.dumps({"file_gib": options.gib, "cpus": os.cpu_count(), "kinds": kinds}, indent=2))


if __name__ == "__main__":
    main()
