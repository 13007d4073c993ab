"""What a supervisor tells when a run stalls, slows down, or loses its trainer's folder."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from run_helper import FINISHES, ended, make_run, of_kind, status, wait_until

from gui.engine.runs.board import Board
from gui.engine.runs.events import Troubled, read_events
from gui.engine.runs.folder import RunFolder
from gui.engine.runs.guard import Guard
from gui.engine.runs.ledger import Ledger
from gui.engine.runs.processes import boottime
from gui.engine.runs.session import look_after
from gui.engine.runs.status import TroubleNow
from gui.engine.runs.watchdog import Watchdog
from gui.engine.trainer.events import Epoch, LossNonfinite, Phase, Step


class Scene:
    """A run whose clock the test moves."""

    def __init__(self, folder: Path) -> None:
        self.run = RunFolder(folder)
        self.now = 1000.0
        self.ledger = Ledger(self.run, Board("r"), lambda: self.now)
        self.ledger.started = self.now
        self.ledger.board.move_to("running")
        self.trainer = folder / "sd-scripts"
        self.trainer.mkdir()
        self.dog = Watchdog(self.ledger, self.trainer)

    def wait(self, seconds: float) -> None:
        for _n in range(int(seconds)):
            self.now += 1
            self.dog.look()

    def train(self, steps: int, seconds: float) -> None:
        board = self.ledger.board
        for _n in range(steps):
            self.wait(seconds)
            board.take(Step(step=(board.fact("step") or 0) + 1, total=999))
            self.dog.look()

    def told(self) -> list[Troubled]:
        self.ledger.flush()
        return [event for event in read_events(self.run.events) if isinstance(event, Troubled)]


def swift_clock() -> Callable[[], float]:
    """Return a clock that is thirty times as fast, for supervisors of real processes."""
    began = boottime()
    return lambda: began + 30 * (boottime() - began)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    scene.ledger.board.take(Phase(phase="training"))
    scene.ledger.board.take(Epoch(epoch=1, total=3))
    yield scene
    scene.ledger.close()


def test_that_a_stall_is_in_the_status_while_it_lasts_and_in_the_events_for_ever(scene: Scene) -> None:
    scene.train(40, 2)
    scene.wait(130)
    trouble = TroubleNow(
        id="stalled",
        since=201.0,
        step=40,
        sentence="Nothing has been heard from the trainer for 2 min 01 s, since step 40; a step usually "
        "takes 2 s.",
    )
    assert scene.ledger.status().troubles == (trouble,)
    scene.ledger.board.put(log_bytes=1)
    scene.dog.look()
    assert scene.ledger.status().troubles == ()
    assert [(event.id, event.over, event.t) for event in scene.told()] == [
        ("stalled", False, 201.0),
        ("stalled", True, 210.0),
    ]
    assert scene.told()[1].sentence == "The training goes on again after 2 min 10 s of silence."


def test_that_a_silence_in_loading_names_the_phase(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.wait(1000)
    assert [event.sentence for event in scene.told()] == [
        "Nothing has been heard from the trainer for 15 min 01 s (loading)."
    ]
    scene.ledger.close()


def test_that_a_paused_run_does_not_stall(scene: Scene) -> None:
    scene.train(40, 2)
    scene.ledger.board.move_to("paused")
    scene.wait(5000)
    assert scene.told() == []


def test_that_slowing_down_is_told_in_seconds_a_step(scene: Scene) -> None:
    scene.train(80, 2)
    scene.train(10, 9)
    scene.train(40, 2)
    assert [event.sentence for event in scene.told()] == [
        "The training has slowed down: a step takes 9 s instead of 2 s.",
        "The training is faster again: 2 s a step.",
    ]


def test_that_a_trainer_whose_folder_is_gone_is_told_and_its_return_too(scene: Scene) -> None:
    scene.wait(6)
    away = scene.trainer.rename(scene.trainer.with_name("away"))
    scene.wait(12)
    assert [trouble.id for trouble in scene.ledger.status().troubles] == ["trainer-gone"]
    away.rename(scene.trainer)
    scene.wait(12)
    assert [(event.id, event.over) for event in scene.told()] == [
        ("trainer-gone", False),
        ("trainer-gone", True),
    ]
    assert scene.ledger.status().troubles == ()


@pytest.mark.parametrize("trainer", [None, Path("/never/was/there")])
def test_that_a_trainer_that_was_never_seen_cannot_go(tmp_path: Path, trainer: Path | None) -> None:
    ledger = Ledger(RunFolder(tmp_path), Board("r"))
    Watchdog(ledger, trainer).look()
    assert ledger.status().troubles == ()
    ledger.close()


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_supervisor_sees_the_folder_of_its_trainer_go(tmp_path: Path) -> None:
    trainer = tmp_path / "sd-scripts"
    trainer.mkdir()
    source = FINISHES.replace("header(5)", f"import os; os.rmdir({str(trainer)!r}); header(5); sleep(1)")
    run, order = make_run(tmp_path, source, trainer=str(trainer))
    verdict = look_after(run, order, clock=swift_clock())
    assert verdict is not None and verdict.verdict == "finished"
    assert [event.id for event in of_kind(run, Troubled)] == ["trainer-gone"]
    assert [trouble.id for trouble in status(run).troubles] == ["trainer-gone"]


@pytest.mark.usefixtures("no_leftovers")
def test_that_a_supervisor_tells_of_a_stall_and_that_it_goes_on_again(tmp_path: Path) -> None:
    source = """
        from pathlib import Path
        header(20)
        for n in range(1, 21):
            while n == 15 and not Path(f"{out}/go").exists():
                sleep(0.1)
            step(n, 20, 0.5)
            sleep(0.2)
        save(f"{out}/lora.safetensors")
        saved()
    """
    run, order = make_run(tmp_path, source)
    swift = threading.Thread(
        target=look_after, args=(run, order), kwargs={"clock": swift_clock()}, daemon=True
    )
    swift.start()
    wait_until(lambda: status(run).troubles)
    (trouble,) = status(run).troubles
    assert (trouble.id, trouble.step) == ("stalled", 14)
    (tmp_path / "out" / "go").touch()
    wait_until(lambda: ended(run))
    swift.join()
    assert [(event.id, event.over) for event in of_kind(run, Troubled)] == [
        ("stalled", False),
        ("stalled", True),
    ]
    assert status(run).troubles == ()


def test_that_the_loss_before_the_break_is_kept() -> None:
    board = Board("r")
    nan = float("nan")
    board.take(Step(step=1, total=9, avr_loss=0.3, loss=0.2))
    board.take(LossNonfinite(step=2))
    board.take(Step(step=2, total=9, avr_loss=nan, loss=nan))
    board.take(Step(step=3, total=9, avr_loss=nan, loss=0.7))
    board.take(Step(step=4, total=9, avr_loss=nan, loss=nan))
    status = board.status(guard=None, elapsed_seconds=None)
    assert (status.loss_before, status.finite_loss) == (0.2, 0.7)


def test_that_a_guard_that_waits_for_an_answer_asks() -> None:
    guard = Guard("warn", has_tracker=False)
    assert not guard.now().asks
    guard.bar_nonfinite(7, float("nan"), 0.0)
    assert (guard.now().asks, guard.now().step) == (True, 7)
    guard.accept()
    assert not guard.now().asks
    stopping = Guard("stop", has_tracker=False)
    stopping.bar_nonfinite(7, float("nan"), 0.0)
    assert not stopping.now().asks


def test_that_slower_steps_are_told_with_the_cause_that_was_seen(scene: Scene) -> None:
    scene.dog = Watchdog(scene.ledger, None, slow_cause=lambda: "The GPU is hot.")
    scene.ledger.board.take(Phase(phase="training"))
    scene.train(120, 2)
    scene.train(20, 10)
    (slow,) = scene.told()
    assert (slow.id, slow.cause) == ("slowed", "The GPU is hot.")
    scene.train(120, 2)
    assert [(event.over, event.cause) for event in scene.told()] == [(False, "The GPU is hot."), (True, "")]
