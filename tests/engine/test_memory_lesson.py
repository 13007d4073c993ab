"""What a machine learns from the folder of a run that is over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gui.engine.hardware.memory.figures import load_figures
from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.learning import learned
from gui.engine.hardware.memory.observations import MemoryExpectation, Observation
from gui.engine.hardware.memory.question import MemoryQuestion, NetworkQuestion
from gui.engine.hardware.memory.tables import load_tables
from gui.engine.paths import Home
from gui.engine.quantities import GIB
from gui.engine.runs.events import Troubled
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_hook import MemoryRow
from gui.engine.runs.memory_lesson import learn_from_run
from gui.engine.runs.metrics import GpuRow
from gui.engine.runs.records import Manifest
from gui.engine.runs.status import GpuNow
from gui.engine.trainer.events import Phase

GPU, OTHER = "GPU-fa4e-0", "GPU-fa4e-1"
QUESTION = MemoryQuestion(
    family="sdxl",
    width_px=1024,
    height_px=1024,
    checkpointing=True,
    mixed_precision="bf16",
    network=NetworkQuestion(rank=16),
    latents_cached=True,
)
PRIOR = load_figures().prior("linux")
EXPECTED = MemoryExpectation(question=QUESTION, forecast=forecast(QUESTION, load_tables(), PRIOR))
MANIFEST = Manifest(program="1", torch="2.6.0", driver="580", memory=EXPECTED)

PHASES = [Phase(phase="loading", t=0.0), Phase(phase="training", t=10.0), Phase(phase="saving", t=50.0)]


def gpu(t: float, process: float, uuid: str = GPU, **more: Any) -> GpuRow:
    held = int(process * GIB)
    return GpuRow(
        t=t,
        index=0,
        uuid=uuid,
        used_bytes=held,
        total_bytes=24 * GIB,
        **{"peak_used_bytes": held, "peak_process_bytes": held, **more},
    )


def torch(allocated: float, reserved: float, phase: str = "training", **more: Any) -> MemoryRow:
    figures = {"allocated_peak": int(allocated * GIB), "reserved_peak": int(reserved * GIB)}
    return MemoryRow(phase=phase, pid=5, **{"event": "phase", "device": 0, **figures, **more})


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "home" / "runs" / "r")
    folder.path.mkdir(parents=True)
    return folder


def write(run: RunFolder, metrics: list[Any], memory: list[Any], events: list[Any] = PHASES) -> None:
    for path, rows in ((run.metrics, metrics), (run.memory, memory), (run.events, events)):
        path.write_text("".join(row.model_dump_json() + "\n" for row in rows))


def lesson(run: RunFolder, manifest: Manifest = MANIFEST, steps: int = 9) -> Observation | None:
    return learn_from_run(run, manifest, [GpuNow(index=0, uuid=GPU, name="RTX")], steps)


def test_that_only_the_steps_are_learned_from(run: RunFolder) -> None:
    write(
        run,
        [gpu(5, 20.0), gpu(11, 20.0), gpu(20, 7.9), gpu(30, 8.4), gpu(55, 15.0)],
        [
            torch(14, 15, "caching-latents"),
            torch(7, 7.5),
            torch(7.1, 7.4, event="exit"),
            torch(9, 9, "saving"),
        ],
    )
    seen = lesson(run)
    assert seen is not None
    measured = seen.measured
    assert (measured.allocated, measured.reserved) == (pytest.approx(7.1), pytest.approx(7.5))
    assert (measured.process, measured.censored) == (pytest.approx(8.4), False)
    assert (seen.run, seen.software, seen.family) == ("r", "torch 2.6.0, driver 580", "sdxl")
    known = learned(Home(run.path.parents[1]), GPU)
    assert (known.name, known.observations) == ("RTX", (seen,))


def test_that_the_driver_alone_teaches_too(run: RunFolder) -> None:
    write(run, [gpu(20, 8.4)], [])
    seen = lesson(run)
    assert seen is not None and seen.measured.model_dump(exclude_none=True) == {
        "process": pytest.approx(8.4),
        "censored": False,
    }


def test_that_torch_alone_teaches_where_the_driver_is_blind(run: RunFolder) -> None:
    write(run, [gpu(20, 8.4, peak_process_bytes=None)], [torch(7, 7.5)])
    seen = lesson(run)
    assert seen is not None and (seen.measured.process, seen.measured.allocated) == (None, pytest.approx(7))


@pytest.mark.parametrize(
    ("metrics", "memory", "events"),
    [
        ([gpu(20, 23.6)], [torch(7, 7.5)], PHASES),
        ([gpu(20, 8)], [torch(7, 7.5, retries=1)], PHASES),
        ([gpu(20, 8)], [torch(7, 7.5, ooms=1)], PHASES),
        ([gpu(20, 8)], [torch(7, 7.5)], [*PHASES, Troubled(id="memory-spill", sentence="S.")]),
    ],
)
def test_that_a_run_at_the_limit_is_a_lower_bound(
    run: RunFolder, metrics: list[Any], memory: list[Any], events: list[Any]
) -> None:
    write(run, metrics, memory, events)
    seen = lesson(run)
    assert seen is not None and seen.measured.censored


def test_that_of_several_gpus_the_fullest_is_learned_from_with_its_own_figures(run: RunFolder) -> None:
    write(
        run,
        [gpu(20, 8), gpu(20, 9, OTHER)],
        [torch(6, 6.5, uuid="fa4e-0"), torch(7, 7.5, device=1, uuid="fa4e-1")],
    )
    seen = lesson(run)
    assert seen is not None and seen.measured.allocated == pytest.approx(7)
    assert learned(Home(run.path.parents[1]), OTHER).observations == (seen,)
    write(run, [gpu(20, 8), gpu(20, 9, OTHER)], [torch(6, 6.5)])
    seen = lesson(run)
    assert seen is not None and seen.measured.allocated is None, "whose that was is not known"


def test_that_a_run_that_is_cut_off_in_training_counts_to_its_end(run: RunFolder) -> None:
    write(run, [gpu(20, 8)], [], PHASES[:2])
    assert lesson(run) is not None


UNKNOWN = MemoryExpectation(question=QUESTION, forecast=forecast(MemoryQuestion(family="?"), {}, PRIOR))


@pytest.mark.parametrize("changes", [{"memory": None}, {"practice": True}, {"memory": UNKNOWN}])
def test_that_nothing_is_learned_without_a_forecast(run: RunFolder, changes: dict[str, Any]) -> None:
    write(run, [gpu(20, 8.4)], [torch(7, 7.5)])
    assert lesson(run, MANIFEST.model_copy(update=changes)) is None


def test_that_nothing_is_learned_where_nothing_was_measured(run: RunFolder) -> None:
    assert lesson(run) is None
    write(run, [gpu(20, 8.4)], [torch(7, 7.5)])
    assert lesson(run, steps=1) is None, "the optimizer's state is not there yet"
    write(run, [gpu(20, 8.4)], [torch(7, 7.5, peaks="process")], [Phase(phase="loading", t=1.0)])
    assert lesson(run) is None
    write(run, [gpu(20, 8.4, peak_process_bytes=None)], [torch(7, 7.5, peaks="process")])
    assert lesson(run) is None
    assert not Home(run.path.parents[1]).memory.exists()
