"""A run's memory, phase by phase, as its folder tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gui.engine.runs.folder import RunFolder
from gui.engine.runs.measured_memory import measured_memory
from gui.engine.runs.memory_hook import MemoryRow
from gui.engine.runs.metrics import GpuRow, HostRow
from gui.engine.trainer.events import Phase


def write(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(row.model_dump_json() + "\n" for row in rows))


def gpu(t: float | None, peak: int, **more: Any) -> GpuRow:
    values = {
        "index": 0,
        "uuid": "GPU-a",
        "total_bytes": 99,
        "peak_process_bytes": peak,
        "peak_used_bytes": peak,
    }
    return GpuRow(t=t, **{**values, **more})


def torch(phase: str, peak: int, **more: Any) -> MemoryRow:
    values: dict[str, Any] = {"event": "phase", "pid": 1, "device": 0}
    return MemoryRow(phase=phase, allocated_peak=peak, reserved_peak=peak + 1, **{**values, **more})


def test_that_each_phase_has_its_own_peaks_over_all_its_stretches(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    phases = [("caching-latents", 10), ("training", 20), ("sampling", 30), ("training", 40), ("done", 50)]
    write(run.events, [Phase.model_validate({"phase": name, "t": t}) for name, t in phases])
    metrics = [
        gpu(5, 1),
        gpu(12, 7),
        gpu(21, 7),
        gpu(25, 3),
        gpu(35, 9),
        gpu(45, 4, shared_bytes=6),
        gpu(None, 99),
    ]
    write(run.metrics, [HostRow(tree_rss_bytes=1, tree_processes=1), *metrics])
    hooked = [torch("caching-latents", 6), torch("training", 2), torch("training", 3, retries=1)]
    write(
        run.memory,
        [*hooked, MemoryRow(phase="done", event="no-cuda", pid=2), torch("done", 50, peaks="process")],
    )
    (one,) = measured_memory(run).gpus
    told = {
        peaks.phase: (peaks.seconds, peaks.process, peaks.allocated, peaks.reserved) for peaks in one.phases
    }
    assert told == {
        "loading": (10.0, 1, None, None),
        "caching-latents": (10.0, 7, 6, 7),
        "training": (15.0, 4, 3, 4),
        "sampling": (10.0, 9, None, None),
        "done": (0, None, None, None),
    }
    training = one.phase("training")
    assert training is not None and (training.short, training.shared, training.used) == (True, 6, 4)
    assert (one.total, one.phase("saving")) == (99, None)


def test_that_a_run_that_measured_nothing_has_no_gpus(tmp_path: Path) -> None:
    assert measured_memory(RunFolder(tmp_path)).gpus == ()
