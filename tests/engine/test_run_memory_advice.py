"""What a run's measured memory is good for, from its folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from memory_scene import sdxl_plan, write_run

from gui.engine.runs.events import Troubled
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_advice import expected_memory, memory_advice
from gui.engine.runs.memory_lesson import learn_from_run
from gui.engine.runs.records import Manifest


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "home" / "runs" / "r")


def made(run: RunFolder, tmp_path: Path, process_gib: float, total_gib: float = 24.0) -> RunFolder:
    write_run(run, sdxl_plan(tmp_path), process_gib=process_gib, total_gib=total_gib)
    return run


def test_that_room_is_good_for_a_larger_batch_and_no_checkpointing(run: RunFolder, tmp_path: Path) -> None:
    advice = memory_advice(made(run, tmp_path, 8.2))
    assert advice is not None
    assert advice.kind == "room"
    assert "left over" in advice.sentence
    by_name = {each.id: each for each in advice.advised.advice}
    assert by_name["larger-batch"].changes["dataset.batch_size"] > 1
    assert "learning rate" in by_name["larger-batch"].reason


def test_that_a_run_that_needs_more_than_was_forecast_leaves_less(run: RunFolder, tmp_path: Path) -> None:
    little = memory_advice(made(run, tmp_path, 8.2))
    other = RunFolder(tmp_path / "home" / "runs" / "s")
    much = memory_advice(made(other, tmp_path, 14.0))
    assert little is not None and much is not None

    def batch(advice) -> int:
        found = (each.changes.get("dataset.batch_size") for each in advice.advised.advice)
        return next((size for size in found if size), 1)

    assert batch(much) < batch(little)


def test_that_a_full_gpu_says_what_would_make_room(run: RunFolder, tmp_path: Path) -> None:
    advice = memory_advice(made(run, tmp_path, 9.95, total_gib=10.0))
    assert advice is not None
    assert advice.kind == "tight"
    assert "next to nothing" in advice.sentence
    assert advice.advised.changes


def test_that_a_spill_is_named(run: RunFolder, tmp_path: Path) -> None:
    made(run, tmp_path, 9.95, total_gib=10.0)
    with run.events.open("a") as events:
        events.write(Troubled(t=30.0, id="memory-spill", sentence="…").model_dump_json() + "\n")
    advice = memory_advice(run)
    assert advice is not None
    assert "spills over" in advice.sentence


@pytest.mark.parametrize("changes", [{"memory": None}, {"practice": True}])
def test_that_runs_without_a_forecast_advise_nothing(run: RunFolder, tmp_path: Path, changes) -> None:
    made(run, tmp_path, 8.2)
    Manifest.read(run.manifest).model_copy(update=changes).write(run.manifest)
    assert memory_advice(run) is None


def test_that_figures_beyond_all_memory_count_as_not_told(run: RunFolder, tmp_path: Path) -> None:
    made(run, tmp_path, 8.2)
    said = memory_advice(run)
    assert said is not None
    mad = re.sub(r'"allocated_peak":\d+', '"allocated_peak":' + "9" * 40, run.memory.read_text())
    run.memory.write_text(mad)
    without = memory_advice(run)
    assert without is not None and without.kind == said.kind
    forecast = re.sub(r'"activation":\s*[\d.]+', '"activation":1e400', run.manifest.read_text())
    run.manifest.write_text(forecast)
    assert learn_from_run(run, Manifest.read(run.manifest), (), 200) is None


def test_that_nothing_is_said_before_the_first_figures(run: RunFolder, tmp_path: Path) -> None:
    made(run, tmp_path, 8.2)
    run.metrics.write_text("")
    assert memory_advice(run) is None


def test_that_what_was_expected_is_read_from_the_record(run: RunFolder, tmp_path: Path) -> None:
    assert expected_memory(run) is None
    expected = expected_memory(made(run, tmp_path, 8.2))
    assert expected is not None
    assert expected.forecast.peak is not None
    assert expected.forecast.peak.likely == pytest.approx(8.3, abs=1.5)
