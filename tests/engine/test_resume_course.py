"""The count of steps after resuming is the trainer's own, whatever the flags."""

from __future__ import annotations

import math
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from gui.engine.runs.launched import LaunchedSettings
from gui.engine.runs.run_course import CourseReader
from gui.engine.trainer.events import Setting, Step
from gui.engine.trainer.output import OutputParser
from gui.engine.trainer.resume_course import Course, ResumeSetting
from gui.engine.trainer.resume_ways import best_way, is_lengthless
from gui.engine.trainer.saved_state import StateNumbers

RECORDINGS = Path(__file__).parents[1] / "data" / "recordings"


def trained(setting: ResumeSetting) -> Course | None:
    """Go through the trainer's loop batch by batch (train_network.py:1252-1275, 1340-1346, 1401-1460)."""
    initial_step, per_epoch = setting.begins_at, math.ceil(setting.batches / setting.accumulation)
    num_train_epochs = math.ceil(setting.whole / per_epoch)
    if initial_step > 0 and not setting.whole > initial_step:
        return None
    epoch_to_start = 0
    if initial_step > 0:
        if setting.skips:
            initial_step *= setting.accumulation
            epoch_to_start = initial_step // per_epoch
        else:
            epoch_to_start = initial_step // per_epoch
            initial_step = 0
    global_step = 0
    if initial_step > 0:
        initial_step -= epoch_to_start * setting.batches
        global_step = initial_step
    first = global_step
    for _epoch in range(epoch_to_start, num_train_epochs):
        batches = list(range(setting.batches))
        if initial_step > 0:
            batches, initial_step = batches[initial_step - 1 :], 1
        gathered = 0
        for place, _batch in enumerate(batches):
            if initial_step > 0:
                initial_step -= 1
                continue
            gathered += 1
            if gathered % setting.accumulation == 0 or place == len(batches) - 1:
                global_step += 1
            if global_step >= setting.whole:
                break
    return Course(global_step - first, first, epoch_to_start + 1)


@given(
    whole=st.integers(1, 60),
    batches=st.integers(1, 12),
    accumulation=st.integers(1, 3),
    begins_at=st.integers(0, 70),
    skips=st.booleans(),
)
def test_that_a_network_is_trained_for_as_many_steps_as_the_trainer_does(
    whole: int, batches: int, accumulation: int, begins_at: int, skips: bool
) -> None:
    setting = ResumeSetting(whole, batches, accumulation, begins_at, skips)
    course, real = setting.course(), trained(setting)
    if skips and accumulation > 1 and course is not None and real is not None:
        # What is left of an epoch begins amid a group of batches; the count is off by one at most.
        assert abs(course.steps - real.steps) <= 1
        assert course[1:] == real[1:]
    else:
        assert course == real


def test_that_a_recorded_training_of_the_trainer_went_as_it_is_worked_out() -> None:
    """The state of step 3 of an epoch of ten, gone on from with skip_until_initial_step."""
    parser = OutputParser()
    events = [*parser.feed((RECORDINGS / "i_resume_skip" / "combined.bin").read_bytes()), *parser.finish()]
    words = {"network_module": ("networks.lora",), "resume": ("/s",), "skip_until_initial_step": ()}
    reader = CourseReader(LaunchedSettings(arguments=words, resumed=True), StateNumbers(counted=3))
    for event in events:
        if isinstance(event, Setting):
            reader.take(event.name, event.value)
    assert reader.course is not None
    steps = [event for event in events if isinstance(event, Step)]
    assert (reader.course.steps, reader.course.whole) == (len(steps), 10)
    assert reader.course.done(3) == 3


def test_that_full_trainings_do_all_steps_anew() -> None:
    assert ResumeSetting(90, 10, begins_at=70, skips=True, counts=False).course() == Course(90, 0, 1)


def test_that_a_count_ends_where_the_remainder_of_an_epoch_and_the_steps_say() -> None:
    course = ResumeSetting(54, 9, begins_at=21, skips=True).course()
    assert course is not None
    assert (course.steps, course.counts_from, course.ends_at, course.first_epoch) == (33, 3, 36, 3)


@given(
    epochs=st.integers(1, 8),
    batches=st.integers(1, 12),
    accumulation=st.integers(1, 3),
    done=st.integers(1, 100),
    counted=st.none() | st.integers(0, 100),
    lengthless=st.booleans(),
)
def test_that_the_way_on_does_what_remains_or_whole_epochs(
    epochs: int, batches: int, accumulation: int, done: int, counted: int | None, lengthless: bool
) -> None:
    per_epoch = math.ceil(batches / accumulation)
    setting = ResumeSetting(epochs * per_epoch, batches, accumulation)
    remaining = setting.whole - done
    way = best_way(setting, done, counted, lengthless=lengthless)
    if remaining < 1:
        assert way is None
        return
    assert way is not None
    if lengthless or accumulation == 1 or done % per_epoch == 0:
        assert way.course.steps == remaining
    else:
        assert way.course.steps > 0 and way.course.steps % per_epoch == 0
        assert abs(way.course.steps - remaining) < per_epoch
    begins_at = way.changes["initial_step"]
    real = ResumeSetting(
        way.changes.get("max_train_steps", setting.whole),
        batches,
        accumulation,
        (counted or 0) if begins_at is None else begins_at,
        way.changes["skip_until_initial_step"] is True,
    )
    assert real.course() == way.course


def test_that_a_full_training_with_a_schedule_of_its_length_has_no_way_on() -> None:
    setting = ResumeSetting(100, 10, counts=False)
    assert best_way(setting, 40, 40, lengthless=False) is None
    way = best_way(setting, 40, 40, lengthless=True)
    assert way is not None
    assert way.changes == {"max_train_steps": 60, "max_train_epochs": None}


def test_that_the_last_epoch_is_done_whole_rather_than_one_of_before_again() -> None:
    way = best_way(ResumeSetting(1900, 200), 250, 250, lengthless=False)
    assert way is not None
    assert way.changes["skip_until_initial_step"] is True
    assert way.course.steps == 1750


def test_that_schedules_that_need_no_length_are_known() -> None:
    def told(scheduler: str, optimizer: str = "adamw", **more: bool) -> bool:
        return is_lengthless(scheduler, optimizer, **{"foreign": False, "warmup_share": False, **more})

    assert all(told(name) for name in ("", "constant", "constant_with_warmup", "adafactor:1e-4"))
    assert told("cosine", "radamschedulefree")
    assert not told("cosine")
    assert not told("constant", foreign=True)
    assert not told("constant_with_warmup", warmup_share=True)
