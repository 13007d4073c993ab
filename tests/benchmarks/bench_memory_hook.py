"""What watching memory costs: the hook in the trainer, and ten looks a second at the driver.

Prints one JSON document. The trainer's share is measured on the real ``torch.cuda.memory_stats`` where
torch is installed, on counters of the size that CUDA's allocator keeps; no GPU is needed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any
from unittest import mock

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1] / "fake_nvml")]

from gui.engine.hardware.gpu import GpuMonitor  # noqa: E402 - the paths come first
from gui.engine.resources import resource_path  # noqa: E402
from gui.engine.runs.memory_hook import with_hook  # noqa: E402
from gui.engine.runs.processes import RUN_MARKER  # noqa: E402

POOLS, KINDS = ("all", "large_pool", "small_pool"), ("current", "peak", "allocated", "freed")
STATS = ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes")
STATS += ("active_bytes", "inactive_split_bytes", "requested_bytes")
LOOKS_A_SECOND = 4


def counters() -> dict[str, Any]:
    """Return what ``torch._C._cuda_memoryStats`` returns, by its shape."""
    values = dict.fromkeys(KINDS, 1 << 30)
    told: dict[str, Any] = {name: {pool: dict(values) for pool in POOLS} for name in STATS}
    return {**told, "num_alloc_retries": 0, "num_ooms": 0, "num_sync_all_streams": 0, "max_split_size": -1}


def hook_look_seconds(folder: str, times: int = 2000) -> float | None:
    """Return what one look of the hook takes, on one GPU."""
    try:
        import torch
    except ImportError:
        return None
    place = resource_path("launcher", "in_trainer", "kohya_preflight_memory.py")
    spec = importlib.util.spec_from_file_location("hook_under_test", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hook = module.Hook(folder)
    with (
        mock.patch.object(torch.cuda, "is_initialized", lambda: True),
        mock.patch.object(torch.cuda.memory, "is_initialized", lambda: True, create=True),
        mock.patch.object(torch.cuda.memory, "memory_stats_as_nested_dict", lambda device=None: counters()),
        mock.patch.object(torch._C, "_cuda_getDeviceCount", lambda: 1, create=True),
    ):
        hook.look()
        began = time.process_time()
        for _ in range(times):
            hook.look()
        return (time.process_time() - began) / times


def start_seconds(folder: str, *, hooked: bool, times: int = 15) -> float:
    """Return what an interpreter takes that does nothing."""
    plain = {**os.environ, RUN_MARKER: folder}
    environment = with_hook(plain) if hooked else plain
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)
        taken.append(time.perf_counter() - began)
    return median(taken)


def driver_look_seconds(folder: Path, *, thorough: bool, times: int = 300) -> float | None:
    """Return what one look at two GPUs takes through nvidia-ml-py, on a stand-in for the driver."""
    import ctypes

    import fake_nvml
    import pynvml

    if fake_nvml.why_not():
        return None
    gpus = fake_nvml.FakeNvml(fake_nvml.build(folder / "nvml"), folder / "state")
    gpus.set(count=2, processes="4242:1000000")
    os.environ["FAKE_NVML"] = str(gpus.state)
    pynvml.nvmlLib = ctypes.CDLL(str(gpus.library))
    monitor = GpuMonitor()
    monitor.sample()
    began = time.process_time()
    for _ in range(times):
        monitor.sample(thorough=thorough)
    return (time.process_time() - began) / times


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        look = hook_look_seconds(name)
        quick, full = (driver_look_seconds(Path(name), thorough=thorough) for thorough in (False, True))
        share = None if look is None else LOOKS_A_SECOND * look * 100
        cost = None if quick is None or full is None else (9 * quick + full) * 100
        print(
            json.dumps(
                {
                    "hook_look_microseconds": None if look is None else round(look * 1e6, 1),
                    "hook_percent_of_a_processor": None if share is None else round(share, 4),
                    "interpreter_start_ms": {
                        "plain": round(start_seconds(name, hooked=False) * 1e3, 2),
                        "hooked": round(start_seconds(name, hooked=True) * 1e3, 2),
                    },
                    "driver_quick_look_microseconds": None if quick is None else round(quick * 1e6, 1),
                    "driver_thorough_look_microseconds": None if full is None else round(full * 1e6, 1),
                    "ten_looks_a_second_percent_of_a_processor": None if cost is None else round(cost, 3),
                    "one_look_a_second_percent_of_a_processor": None
                    if full is None
                    else round(full * 100, 3),
                }
            )
        )


if __name__ == "__main__":
    main()
