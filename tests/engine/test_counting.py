"""A run that goes on from a state counts its own steps, whatever its trainer's names and tracker count."""

from __future__ import annotations

from pathlib import Path

from saved_runs import saved_run

from gui.engine.paths import Home
from gui.engine.runs.board import Board
from gui.engine.runs.counting import Counting
from gui.engine.runs.launched import launched_settings
from gui.engine.runs.ledger import Ledger
from gui.engine.trainer.events import Setting, Step
from gui.engine.trainer.saved_state import StateNumbers
from gui.engine.trainer.tracker import TrackerPoint

HEADER = (
    Setting(name="num batches per epoch", value=9),
    Setting(name="device", value="cuda"),
    Setting(name="total optimization steps", value=54),
)


def counting_of(tmp_path: Path, state: StateNumbers | None, **arguments: object) -> tuple[Counting, Board]:
    out = {"output_dir": str(tmp_path / "out"), "network_module": "networks.lora"}
    run = saved_run(Home(tmp_path / "home"), {**out, **arguments}, resumed_from=state)
    board = Board("r")
    return Counting(Ledger(run, board), launched_settings(run), state), board


def test_that_a_resumed_run_knows_its_steps_once_the_trainer_has_said_how_much_it_trains(
    tmp_path: Path,
) -> None:
    state = StateNumbers(counted=21, scheduled=21)
    counting, board = counting_of(tmp_path, state, resume="/s", skip_until_initial_step=True)
    points = [TrackerPoint(4, "loss/current", 0.5, 0.0)]
    assert (counting.run_step(4), counting.of_run(points)) == (4, points)
    for event in HEADER:
        counting.take(event)
    assert counting.course is not None
    assert counting.run_step(4) == 1
    assert [point.step for point in counting.of_run(points)] == [1]
    assert board.notices["continues"] == "Continues at step 21 of 54: 33 steps are to be done."
    counting.take(Setting(name="total optimization steps", value=99))
    assert counting.course.whole == 54
    board.take(Step(step=11, total=51, t=1.0))
    board.take(Step(step=12, total=51, t=2.0))
    status = board.status(guard=None, elapsed_seconds=None)
    assert (status.step, status.total, status.begun_at, status.whole) == (12, 33, 21, 54)
    board.move_to("running")
    assert board.status(guard=None, elapsed_seconds=None).remaining_seconds == 21.0


def test_that_a_new_training_counts_as_it_is(tmp_path: Path) -> None:
    counting, board = counting_of(tmp_path, None)
    for event in HEADER:
        counting.take(event)
    points = [TrackerPoint(4, "loss/current", 0.5, 0.0)]
    assert counting.course is None and not board.notices
    assert (counting.run_step(4), counting.of_run(points)) == (4, points)
    board.take(Step(step=1, total=54))
    assert board.status(guard=None, elapsed_seconds=None).total == 54


def test_that_a_state_that_says_nothing_leaves_the_trainers_own_total(tmp_path: Path) -> None:
    counting, board = counting_of(tmp_path, StateNumbers(), resume="/s")
    for event in HEADER:
        counting.take(event)
    assert counting.course is not None and not board.notices
    board.take(Step(step=1, total=54))
    assert board.status(guard=None, elapsed_seconds=None).total == 54


def test_that_an_epoch_to_begin_with_wins_over_the_state(tmp_path: Path) -> None:
    state = StateNumbers(counted=21, scheduled=21)
    counting, _board = counting_of(tmp_path, state, resume="/s", initial_epoch=3)
    for event in HEADER:
        counting.take(event)
    assert counting.course is not None
    assert (counting.course.steps, counting.course.whole) == (36, 57)
