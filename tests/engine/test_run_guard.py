"""The guard's policies, and how steps find their own loss."""

from __future__ import annotations

import math

import pytest

from gui.engine.plan.model import NonfinitePolicy
from gui.engine.runs.guard import CONFIRM_STEPS, TRACKER_PATIENCE_SECONDS, Decision, Guard
from gui.engine.runs.stepjoin import StepJoin
from gui.engine.runs.thinning import Thinner
from gui.engine.trainer.events import Epoch, Error, Progress, Step, TrainerEvent, Warned
from gui.engine.trainer.tracker import TrackerPoint

NAN = math.nan


def action(decision: Decision | None) -> str | None:
    return decision.event.action if decision else None


def test_that_stop_stops_at_the_first_bad_bar() -> None:
    guard = Guard("stop", has_tracker=False)
    decision = guard.bar_nonfinite(7, NAN, 0.0)
    assert decision is not None and decision.stop
    assert (decision.event.step, guard.now().state) == (7, "stopped")
    assert "nan" in decision.event.sentence and "7" in decision.event.sentence


@pytest.mark.parametrize(
    ("value", "word"), [(NAN, "nan"), (None, "nan"), (math.inf, "inf"), (-math.inf, "-inf")]
)
def test_that_the_value_is_named(value: float | None, word: str) -> None:
    decision = Guard("stop", has_tracker=False).bar_nonfinite(1, value, 0.0)
    assert decision is not None and f" {word} " in decision.event.sentence


@pytest.mark.parametrize("policy", ["stop", "warn"])
def test_that_one_word_is_enough(policy: NonfinitePolicy) -> None:
    guard = Guard(policy, has_tracker=True)
    assert guard.bar_nonfinite(3, NAN, 0.0) is not None
    assert guard.bar_nonfinite(4, NAN, 0.1) is None
    assert guard.own_loss(4, NAN, 0.1) is None


def test_that_stop_also_hears_the_tracker() -> None:
    decision = Guard("stop", has_tracker=True).own_loss(3, math.inf, 0.0)
    assert decision is not None and decision.stop


def test_that_warn_never_stops() -> None:
    decision = Guard("warn", has_tracker=True).bar_nonfinite(3, NAN, 0.0)
    assert decision is not None and not decision.stop and decision.event.action == "warn"


def test_that_confirm_counts_steps_in_a_row() -> None:
    guard = Guard("confirm", has_tracker=True)
    assert action(guard.bar_nonfinite(3, NAN, 0.0)) == "watch"
    actions = [action(guard.own_loss(3 + n, NAN, 0.0)) for n in range(CONFIRM_STEPS)]
    assert actions == [None] * (CONFIRM_STEPS - 1) + ["stop"]


def test_that_confirm_lets_single_steps_pass() -> None:
    guard = Guard("confirm", has_tracker=True)
    told = []
    for step in range(1, 40):
        told.append(action(guard.own_loss(step, NAN if step % 4 < 2 else 0.1, step)))
    assert "stop" not in told
    assert told.count("watch") == told.count("recovered") > 5


def test_that_two_batches_of_a_step_count_once() -> None:
    guard = Guard("confirm", has_tracker=True)
    told = [action(guard.own_loss(1, NAN, 0.0)) for _ in range(5)]
    assert told == ["watch", None, None, None, None]
    assert action(guard.own_loss(1, 0.1, 0.0)) is None, "a good batch does not heal a bad one of its step"


def test_that_a_gap_breaks_the_row() -> None:
    guard = Guard("confirm", has_tracker=True)
    assert [action(guard.own_loss(step, NAN, 0.0)) for step in (1, 2, 4, 5)] == ["watch", None, None, None]


def test_that_losses_from_before_the_trouble_heal_nothing() -> None:
    guard = Guard("confirm", has_tracker=True)
    guard.bar_nonfinite(9, NAN, 0.0)
    assert guard.own_loss(8, 0.1, 0.0) is None
    assert action(guard.own_loss(9, 0.1, 0.0)) == "recovered"


def test_that_a_silent_tracker_is_not_waited_for() -> None:
    guard = Guard("confirm", has_tracker=True)
    guard.bar_nonfinite(3, NAN, 10.0)
    assert guard.tick(10.0 + TRACKER_PATIENCE_SECONDS / 2) is None
    decision = guard.tick(10.0 + TRACKER_PATIENCE_SECONDS)
    assert decision is not None and decision.stop
    assert guard.now().acts_as == "stop"


def test_that_a_slow_training_with_a_tracker_is_waited_for() -> None:
    guard = Guard("confirm", has_tracker=True)
    guard.bar_nonfinite(3, NAN, 10.0)
    guard.own_loss(3, NAN, 10.2)
    assert guard.tick(500.0) is None, "step 3 is heard of, and step 4 is not done yet"
    guard.step_done(4, 501.0)
    guard.own_loss(4, 0.2, 501.1)
    assert guard.now().state == "quiet"


def test_that_confirm_falls_back_to_stop_without_a_tracker() -> None:
    guard = Guard("confirm", has_tracker=False)
    assert "tensorboard" in guard.now().sentence
    decision = guard.bar_nonfinite(3, NAN, 0.0)
    assert decision is not None and decision.stop


def test_that_accepting_ends_the_watch_for_good() -> None:
    guard = Guard("confirm", has_tracker=True)
    assert not guard.accept(), "there is nothing to accept yet"
    guard.bar_nonfinite(3, NAN, 0.0)
    assert guard.accept() and not guard.accept()
    assert [guard.own_loss(step, NAN, 0.0) for step in range(3, 20)] == [None] * 17
    assert guard.tick(100.0) is None
    assert guard.now().accepted


# --- steps and their own loss --------------------------------------------------------------------


def point(step: int, tag: str, value: float) -> TrackerPoint:
    return TrackerPoint(step, tag, value, 0.0)


def losses(events: list[TrainerEvent]) -> list[float | None]:
    return [event.loss for event in events if isinstance(event, Step)]


def test_that_a_step_waits_for_its_loss_and_so_does_what_follows() -> None:
    join = StepJoin(has_tracker=True)
    join.add(Step(step=1, total=9), 0.0)
    join.add(Epoch(epoch=2, total=2), 0.0)
    assert join.events(0.1) == []
    assert join.learn([point(1, "loss/current", 0.5), point(1, "lr/unet", 1e-4)]) == [(1, 0.5)]
    ready = join.events(0.1)
    assert [type(event) for event in ready] == [Step, Epoch] and losses(ready) == [0.5]
    (row,) = join.rows(0.1)
    assert (row.loss, row.lr) == (0.5, {"unet": 1e-4})


def test_that_a_step_does_not_wait_long() -> None:
    join = StepJoin(has_tracker=True)
    join.add(Step(step=1, total=9), 0.0)
    assert losses(join.events(0.31)) == [None]
    assert join.rows(0.31) == [], "its row can wait longer than its event"
    join.learn([point(1, "loss/current", 0.5)])
    assert [row.loss for row in join.rows(0.4)] == [0.5]
    join.add(Step(step=2, total=9), 1.0)
    join.events(2.0)
    assert [row.loss for row in join.rows(4.1)] == [None]


def test_that_nothing_waits_without_a_tracker() -> None:
    join = StepJoin(has_tracker=False)
    join.add(Step(step=1, total=9), 0.0)
    assert losses(join.events(0.0)) == [None]
    assert len(join.rows(0.0)) == 1


def test_that_the_bad_batch_of_a_step_is_the_one_that_is_kept() -> None:
    join = StepJoin(has_tracker=True)
    join.learn([point(1, "loss/current", NAN), point(1, "loss/current", 0.5)])
    join.add(Step(step=1, total=9), 0.0)
    (loss,) = losses(join.events(0.0))
    assert loss is not None and math.isnan(loss)


def test_that_rows_already_written_are_not_written_again() -> None:
    join = StepJoin(has_tracker=True, rows_done=2)
    join.learn([point(n, "loss", n / 10) for n in (1, 2, 3)])
    for n in (1, 2, 3):
        join.add(Step(step=n, total=9), 0.0)
    join.events(0.0, all_of_them=True)
    assert [(row.step, row.loss) for row in join.rows(0.0, all_of_them=True)] == [(3, 0.3)]


def test_that_validations_get_rows_at_their_steps_whichever_way_they_are_counted() -> None:
    join = StepJoin(has_tracker=True)
    join.add(Step(step=8, total=16), 0.0)
    join.learn(
        [
            point(8, "loss/validation/step_average", 1.07),
            point(1, "loss/validation/epoch_average", 1.06),
            point(8, "loss/validation/step_divergence", 0.1),
        ]
    )
    assert [(row.step, row.loss) for row in join.validations()] == [(8, 1.07), (8, 1.06)]
    assert join.validations() == [], "each is told once"


def test_that_validations_of_an_adopted_run_are_not_told_again() -> None:
    join = StepJoin(has_tracker=True, rows_done=8)
    join.learn([point(step, "loss/validation/step_average", 1.0) for step in (4, 8, 12)])
    assert [row.step for row in join.validations()] == [8, 12], "at the last step nobody knows"


# --- thinning ------------------------------------------------------------------------------------


def test_that_a_bar_is_noted_at_each_twentieth() -> None:
    thinner = Thinner()
    kept = [n for n in range(1001) if thinner.keep(Progress(name="caching", done=n, total=1000))]
    assert len(kept) == 21 and kept[0] == 0 and kept[-1] == 1000


def test_that_bars_without_a_total_and_new_bars_are_noted() -> None:
    thinner = Thinner()
    assert thinner.keep(Progress(name="a", done=3, total=None))
    assert thinner.keep(Progress(name="b", done=3, total=None))
    assert not thinner.keep(Progress(name="b", done=3, total=None))


def test_that_a_flood_of_warnings_has_an_end() -> None:
    thinner = Thinner()
    kept = sum(thinner.keep(Warned(message=f"warning {n}")) for n in range(5000))
    assert kept == 1000
    assert not thinner.keep(Error(message="one more"))
    assert thinner.keep(Step(step=1, total=2))
