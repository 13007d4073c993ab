"""After memory ran out: the forecast is raised to what was needed, and the next-cheapest changes found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memory_asked import PRIOR, TABLES, answer, asked
from memory_scene import teach

from gui.engine.hardware.memory.forecast import forecast
from gui.engine.hardware.memory.forecasts import MemoryForecast
from gui.engine.hardware.memory.ladder import Ways
from gui.engine.hardware.memory.learning import learned
from gui.engine.hardware.memory.observations import MemoryExpectation
from gui.engine.hardware.memory.question import MemoryQuestion
from gui.engine.hardware.memory.raising import Raise, raise_to
from gui.engine.hardware.memory.room import Room
from gui.engine.paths import Home
from gui.engine.quantities import GIB
from gui.engine.runs.alarms import alarms
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.memory_lesson import learn_from_run
from gui.engine.runs.metrics import GpuRow
from gui.engine.runs.records import Manifest, RetryRecord
from gui.engine.runs.retry import try_again
from gui.engine.runs.retry_record import read_retry
from gui.engine.runs.smaller_plan import smaller_plan, smaller_plan_or_none
from gui.engine.runs.status import Cause, GpuNow, RunStatus, Verdict
from gui.engine.trainer.events import Error, Phase
from gui.engine.trainer.installs import practice_install

GPU = "GPU-fa4e-0"
QUESTION = asked(batch=4, checkpointing=False)

STORY = [Phase(phase="loading", t=0.0), Phase(phase="training", t=10.0)]


def message(asked_gib: float, free: float, in_use: float, total: float = 24.0) -> Error:
    text = (
        f"CUDA out of memory. Tried to allocate {asked_gib:.2f} GiB. GPU 0 has a total capacity of "
        f"{total:.2f} GiB of which {free:.2f} GiB is free. Including non-PyTorch memory, this process has "
        f"{in_use:.2f} GiB memory in use. Of the allocated memory {in_use - 1:.2f} GiB is allocated by "
        "PyTorch, and 200.00 MiB is reserved by PyTorch but unallocated."
    )
    return Error(type="torch.OutOfMemoryError", message=text, t=12.0)


def failed_run(
    tmp_path: Path,
    events: list[Any],
    *,
    question: MemoryQuestion = QUESTION,
    room: Room | None = None,
    told: bool = True,
) -> RunFolder:
    run = RunFolder(tmp_path / "home" / "runs" / "r")
    run.path.mkdir(parents=True, exist_ok=True)
    room = room or Room.of(24.0, 23.5, "linux")
    expected = MemoryExpectation(
        question=question, forecast=forecast(question, TABLES, PRIOR), room=room, ways=Ways(bf16=True)
    )
    Manifest(program="1", torch="2.6.0", driver="580", memory=expected if told else None).write(run.manifest)
    run.plan.write_text('schema = 1\nname = "r"\nfamily = "sdxl"\n[dataset]\nbatch_size = 4\n', "utf-8")
    run.events.write_text("".join(event.model_dump_json() + "\n" for event in events), "utf-8")
    cause = Cause(id="cuda-oom", title="The GPU's memory ran out.")
    verdict = Verdict(verdict="failed", reason="error", sentence="It failed.", causes=(cause,))
    RunStatus(name="r", state="ended", verdict=verdict, gpus=(GpuNow(index=0, uuid=GPU),)).write(run.status)
    return run


def test_that_the_forecast_is_raised_to_what_was_needed(tmp_path: Path) -> None:
    before = answer(QUESTION).phase("step")
    needed = before.high + 3.0
    run = failed_run(tmp_path, [*STORY, message(1.0, 0.1, needed - 1.0, total=needed)])
    found = smaller_plan(run)
    assert found is not None and found.phase == "step"
    assert found.needed_gib == pytest.approx(needed, abs=0.02)
    assert found.forecast.phase("step").likely == pytest.approx(needed, abs=0.02)
    assert found.room.free == pytest.approx(needed - 0.9, abs=0.02)


def test_that_what_was_learned_of_the_gpu_that_trained_counts(tmp_path: Path) -> None:
    run = failed_run(tmp_path, [*STORY, message(2.0, 0.5, 23.0)])
    teach(Home(tmp_path / "home"), "GPU-2")
    beside, trained = GpuNow(index=0, uuid=GPU), GpuNow(index=1, uuid="GPU-2", peak_process_bytes=GIB)
    status = RunStatus.read(run.status)
    for gpus, taught in (((beside,), False), ((beside, trained), True)):
        status.model_copy(update={"gpus": gpus}).write(run.status)
        found = smaller_plan(run)
        assert found is not None and bool(found.forecast.phase("step").parts.context != 0.5) is taught


def test_that_what_is_tried_next_fits_what_was_really_there(tmp_path: Path) -> None:
    run = failed_run(tmp_path, [*STORY, message(2.0, 0.5, 23.0)])
    found = smaller_plan(run)
    assert found is not None and found.advised.fits is True
    assert found.changes == {"gradient_checkpointing": True}
    assert found.advised.after_gib <= found.room.usable


def test_that_a_second_try_goes_further_than_the_first(tmp_path: Path) -> None:
    first = smaller_plan(failed_run(tmp_path, [*STORY, message(2.0, 0.5, 11.0, total=12.0)]))
    assert first is not None and first.changes
    less = QUESTION.model_copy(update={"checkpointing": True})
    second = smaller_plan(
        failed_run(
            tmp_path,
            [*STORY, message(1.0, 0.2, 11.5, total=12.0)],
            question=less,
            room=Room.of(12.0, 11.7, "linux"),
        )
    )
    assert second is not None
    assert "gradient_checkpointing" not in second.changes and "dataset.batch_size" in second.changes


def test_that_without_a_message_the_room_counts_as_needed(tmp_path: Path) -> None:
    room = Room.of(80.0, 79.0, "linux")
    found = smaller_plan(failed_run(tmp_path, STORY, room=room))
    assert found is not None and found.needed_gib == 79.0
    assert found.forecast.phase("step").likely == pytest.approx(79.0)


def test_that_a_message_of_old_torch_leaves_the_driver_out_of_its_count(tmp_path: Path) -> None:
    old = (
        "CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 24.00 GiB total capacity; 20.00 GiB already "
        "allocated; 0.50 GiB free; 21.00 GiB reserved in total by PyTorch)"
    )
    found = smaller_plan(failed_run(tmp_path, [*STORY, Error(type="RuntimeError", message=old, t=12.0)]))
    assert found is not None
    assert found.needed_gib == pytest.approx(22.0 + PRIOR.context_gib.mean)


def test_that_a_limit_of_the_process_is_the_room(tmp_path: Path) -> None:
    error = message(1.0, 14.0, 9.5)
    limited = error.model_copy(
        update={"message": error.message.replace("Of the all", "10.00 GiB allowed; Of the all")}
    )
    found = smaller_plan(failed_run(tmp_path, [*STORY, limited]))
    assert found is not None and found.room.free == 10.0


def test_that_other_programs_are_named_first_and_not_where_they_stay(tmp_path: Path) -> None:
    question = asked(batch=1)
    others = [*STORY, message(1.0, 0.2, 6.0, total=24.0)]
    run = failed_run(tmp_path, others, question=question)
    named = smaller_plan(run)
    assert named is not None and named.advised.advice[0].id == "others" and named.by_hand
    staying = smaller_plan(run, others_stay=True)
    assert staying is not None and "others" not in [advice.id for advice in staying.advised.advice]


def test_that_where_nothing_fits_nothing_is_offered(tmp_path: Path) -> None:
    run = failed_run(tmp_path, [*STORY, message(0.1, 0.0, 2.0, total=2.0)], room=Room.of(2.0, 2.0, "linux"))
    found = smaller_plan(run)
    assert found is not None and found.advised.fits is False
    assert "it may still need" in found.steps()[-1]


def test_that_only_such_ends_are_looked_at(tmp_path: Path) -> None:
    run = failed_run(tmp_path, STORY, told=False)
    assert smaller_plan(run) is None
    run = failed_run(tmp_path, STORY)
    RunStatus(name="r", state="ended").write(run.status)
    assert smaller_plan(run) is None
    run.manifest.write_text("{")
    assert smaller_plan_or_none(run) is None


def test_that_the_alarm_says_the_numbers_and_the_changes(tmp_path: Path) -> None:
    run = failed_run(tmp_path, [*STORY, message(2.0, 0.5, 23.0)])
    (alarm,) = alarms(run)
    assert alarm.id == "oom"
    assert "2.0 GiB more were asked for, 0.5 GiB of 24.0 GiB were free, tensors took 22.0 GiB." in alarm.text
    assert alarm.next_steps[0].startswith("gradient_checkpointing: saves about ")


def test_that_running_out_in_a_step_is_learned_as_a_lower_bound(tmp_path: Path) -> None:
    run = failed_run(tmp_path, [*STORY, message(20.0, 0.5, 23.0)])
    row = GpuRow(t=12.0, index=0, uuid=GPU, used_bytes=23 * GIB, total_bytes=24 * GIB)
    run.metrics.write_text(row.model_dump_json() + "\n", "utf-8")
    seen = learn_from_run(run, Manifest.read(run.manifest), (), steps=0)
    assert seen is not None and seen.measured.censored
    assert (seen.measured.allocated, seen.measured.process) == (42.0, 43.0)
    known = learned(Home(tmp_path / "home"), GPU)
    assert known.correction(QUESTION, PRIOR).activation.mean > PRIOR.activation.mean
    elsewhere = failed_run(tmp_path, [STORY[0], message(2.0, 0.5, 23.0), STORY[1]])
    assert learn_from_run(elsewhere, Manifest.read(elsewhere.manifest), (), steps=0) is None


@pytest.mark.parametrize(
    ("total", "words"),
    [(2.0, "No change of the plan alone makes it fit"), (24.0, "is no sd-scripts install")],
)
def test_that_a_try_that_cannot_be_made_says_why_and_is_not_made_again(
    tmp_path: Path, total: float, words: str
) -> None:
    room = Room.of(total, total, "linux")
    run = failed_run(tmp_path, [*STORY, message(0.5, 0.1, total - 0.1, total=total)], room=room)
    allowed = Manifest.read(run.manifest).model_copy(
        update={"retry": RetryRecord(left=1), "trainer": str(tmp_path / "gone"), "trainer_python": "python"}
    )
    assert try_again(run, allowed, None) is None
    retry = read_retry(run)
    assert retry is not None and retry.next is None
    assert retry.sentence.startswith("It is not tried again: ") and words in retry.sentence
    assert alarms(run)[0].done == retry.sentence
    run.retry.write_text("{}", "utf-8")
    assert try_again(run, allowed, None) is None and read_retry(run) is None


def test_that_a_plan_that_would_be_refused_is_not_tried_again(tmp_path: Path) -> None:
    run = failed_run(tmp_path, [*STORY, message(2.0, 0.5, 23.0)])
    run.plan.write_text('schema = 1\nname = "r"\nfamily = "no such family"\n', "utf-8")
    install = practice_install()
    allowed = Manifest.read(run.manifest).model_copy(
        update={
            "retry": RetryRecord(left=1),
            "trainer": str(install.root),
            "trainer_python": str(install.python),
        }
    )
    assert try_again(run, allowed, None) is None
    retry = read_retry(run)
    assert retry is not None and retry.sentence.startswith("It is not tried again: ")


def test_that_nothing_is_raised_that_was_enough() -> None:
    step = answer(QUESTION).phase("step")
    assert raise_to(step, PRIOR, step.likely - 1) == Raise()


@given(st.floats(0.1, 60.0), st.booleans())
def test_that_a_raised_forecast_reaches_what_was_needed(more: float, sure: bool) -> None:
    known = PRIOR
    if sure:
        exact = {
            name: getattr(PRIOR, name).model_copy(update={"deviation": 0.0})
            for name in ("context_gib", "activation", "fragmentation")
        }
        known = PRIOR.model_copy(update=exact)
    step = forecast(QUESTION, TABLES, known).phase("step")
    raised = raise_to(step, known, step.likely + more).applied(known)
    again: MemoryForecast = forecast(QUESTION, TABLES, raised)
    assert again.phase("step").likely == pytest.approx(step.likely + more, rel=1e-6)
